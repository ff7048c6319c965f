//! The section `Tutorial block:` of a docstring.
//!
//! It ends before the next label in the first column, such as `Scope:`. A line of a block can look like a label too, so
//! every label is a possible end, and the blocks of the tutorial decide which one is meant.

use super::citation::{Citation, CitationForm, Reading, ReadingKind};
use super::syntax::Literal;

const HEADERS: [&str; 2] = ["Tutorial block:", "Tutorial blocks:"];

/// What the docstring whose text begins at `line` cites.
pub(crate) fn citations(literal: &Literal, line: usize, raw: &'static str) -> Vec<Citation> {
    let as_written = sections(&literal.written);
    let mut written = literal.written_if_other().map(|_| as_written.clone()).unwrap_or_default().into_iter();
    let mut places = as_written.into_iter().map(|section| section.header);
    let mut found = Vec::new();
    for section in sections(&literal.value) {
        let mut readings = section.longer(|text| Reading { kind: ReadingKind::Longer, text });
        if let Some(written) = written.next() {
            let reading = |text| Reading { kind: ReadingKind::Written { raw }, text };
            readings.extend(written.longer(reading));
            readings.push(reading(written.plain()));
        }
        let line = line + places.next().unwrap_or(section.header);
        found.push(Citation { form: CitationForm::Docstring, line, text: section.plain(), readings });
    }
    found
}

#[derive(Clone)]
struct Section {
    /// The line of its header, counted from 0.
    header: usize,
    /// Its lines to the end of the docstring or to the next header.
    lines: Vec<String>,
    /// How many of them there are before each label, and in all.
    ends: Vec<usize>,
}

impl Section {
    fn to(&self, end: usize) -> String {
        self.lines[..end].join("\n")
    }

    fn plain(&self) -> String {
        self.ends.first().map(|end| self.to(*end)).unwrap_or_default()
    }

    /// Beyond the first label; the longest first.
    fn longer<T>(&self, reading: impl Fn(String) -> T) -> Vec<T> {
        self.ends.iter().skip(1).rev().map(|end| reading(self.to(*end))).collect()
    }
}

fn sections(text: &str) -> Vec<Section> {
    let lines = clean(text);
    let headers: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| HEADERS.contains(&line.as_str()))
        .map(|(at, _)| at)
        .collect();
    let ends = headers.iter().skip(1).copied().chain([lines.len()]);
    let section = |(header, end): (&usize, usize)| {
        let lines = lines[header + 1..end].to_vec();
        let labels = lines.iter().enumerate().filter(|(_, line)| is_label(line)).map(|(at, _)| at);
        let ends = labels.chain([lines.len()]).collect();
        Section { header: *header, lines, ends }
    };
    headers.iter().zip(ends).map(section).collect()
}

/// `Scope:` or `Out of scope: ...` in the first column.
fn is_label(line: &str) -> bool {
    let Some((label, _)) = line.split_once(':') else { return false };
    label.starts_with(|c: char| c.is_ascii_uppercase())
        && label.chars().all(|c| c.is_ascii_alphabetic() || c == ' ')
}

/// The lines without what indents all of them but the first, as Python itself cleans a docstring.
fn clean(text: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let common = rest.map(indent).min().unwrap_or_default();
    let cleaned = |(number, line): (usize, &str)| match number {
        0 => line.trim().to_owned(),
        _ => line.get(common..).unwrap_or_default().trim_end().to_owned(),
    };
    text.lines().enumerate().map(cleaned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Citation> {
        let literal = Literal { value: text.to_owned(), written: text.to_owned() };
        citations(&literal, 10, "r")
    }

    #[test]
    fn a_section_ends_at_a_label_or_at_the_next_section() {
        let found =
            read("Summary.\n\n    Tutorial block:\n        # a\n        b\n\n    Scope:\n      - c\n    ");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].text.as_str(), found[0].line), ("    # a\n    b\n", 12));
        let found = read("Tutorial block:\n  a\n  Tutorial block:\n  b\n  ");
        let texts: Vec<&str> = found.iter().map(|citation| citation.text.trim()).collect();
        assert_eq!(texts, ["a", "b"]);
    }

    /// The same cases are in the tests of the plugin.
    #[test]
    fn a_docstring_cites_what_the_plugin_reads_in_it() {
        let cases: Vec<(String, Vec<String>)> =
            serde_json::from_str(include_str!("../../../../python/tests/docstring_cases.json")).unwrap();
        assert!(cases.len() > 10);
        for (docstring, blocks) in cases {
            let dedented = |citation: Citation| {
                let lines = || citation.text.lines().filter(|line| !line.trim().is_empty());
                let common =
                    lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
                let cut = citation.text.lines().map(|line| line.get(common..).unwrap_or_default());
                cut.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
            };
            let found = read(&docstring).into_iter().map(dedented);
            assert_eq!(found.filter(|text| !text.is_empty()).collect::<Vec<_>>(), blocks, "{docstring}");
        }
    }

    #[test]
    fn every_label_is_a_possible_end_and_the_longest_text_comes_first() {
        let found = read("Tutorial block:\n  a\n  Word: x\n  b\n  Scope: y\n  c");
        assert_eq!(found[0].text, "a");
        let longer: Vec<&str> = found[0].readings.iter().map(|reading| reading.text.as_str()).collect();
        assert_eq!(longer, ["a\nWord: x\nb\nScope: y\nc", "a\nWord: x\nb"]);
    }

    #[test]
    fn a_header_must_stand_alone_in_the_first_column() {
        assert_eq!(read("x\n    see Tutorial block:\n      a"), []);
        assert_eq!(read("x\n  y\n    Tutorial block:\n    a"), []);
    }
}
