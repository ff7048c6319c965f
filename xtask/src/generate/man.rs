//! A man page for every command (section 1) and for every topic (section 7).

use std::path::PathBuf;

use super::Files;
use super::book::{Book, Page, Topic};
use super::roff::Roff;

/// All pages.
pub(crate) fn pages(book: &Book) -> Files {
    let commands = book.commands.iter().map(|page| (file(&page_name(page), 1), command(book, page)));
    let topics = book.topics.iter().map(|topic| (file(&topic_name(topic), 7), self::topic(book, topic)));
    commands.chain(topics).collect()
}

fn file(name: &str, section: u8) -> PathBuf {
    PathBuf::from(format!("man/{name}.{section}"))
}

/// `mngr-config-set`.
fn page_name(page: &Page) -> String {
    page.name.replace(' ', "-")
}

/// `mngr-exit-codes`.
fn topic_name(topic: &Topic) -> String {
    format!("mngr-{}", topic.name.replace('_', "-"))
}

fn command(book: &Book, page: &Page) -> String {
    let is_top = !page.name.contains(' ');
    let mut roff = Roff::page(&page_name(page), 1, &book.version);
    roff.name(&page_name(page), &page.about);
    roff.heading("SYNOPSIS");
    roff.verbatim(page.synopsis.iter().map(String::as_str));
    roff.heading("DESCRIPTION");
    for paragraph in page.description.iter().skip(usize::from(page.description.len() > 1)) {
        roff.paragraph(paragraph);
    }
    if !page.aliases.is_empty() {
        roff.paragraph(&format!("The command may also be written {}.", page.aliases.join(", ")));
    }
    if !page.commands.is_empty() {
        roff.heading("COMMANDS");
        for below in &page.commands {
            let also = below.aliases.iter().map(|alias| format!(", {alias}")).collect::<String>();
            let about = format!("{} (see {}-{}(1))", below.about, page_name(page), below.name);
            roff.definition(&format!("{}{also}", below.name), &[about]);
        }
    }
    for section in &page.sections {
        roff.heading(&section.heading);
        for option in &section.options {
            roff.definition(&option.term, &option.sentences());
        }
    }
    if is_top {
        roff.heading("TOPICS");
        for topic in &book.topics {
            roff.definition(&format!("{}(7)", topic_name(topic)), std::slice::from_ref(&topic.about));
        }
    }
    if !page.examples.is_empty() {
        roff.heading("EXAMPLES");
        roff.verbatim(page.examples.iter().map(String::as_str));
    }
    roff.heading("EXIT STATUS");
    roff.line("See mngr-exit-codes(7).");
    roff.heading("SEE ALSO");
    roff.line(&see_also(page).join(", "));
    roff.finish()
}

/// The page above this one, and those below.
fn see_also(page: &Page) -> Vec<String> {
    let name = page_name(page);
    let above = page.name.rsplit_once(' ').map(|(above, _)| format!("{}(1)", above.replace(' ', "-")));
    let below = page.commands.iter().map(|below| format!("{name}-{}(1)", below.name));
    let standard = ["tmux(1)", "git(1)"].map(str::to_owned);
    let is_top = above.is_none();
    above.into_iter().chain(below).chain(standard.into_iter().filter(|_| is_top)).collect()
}

fn topic(book: &Book, topic: &Topic) -> String {
    let mut roff = Roff::page(&topic_name(topic), 7, &book.version);
    roff.name(&topic_name(topic), &topic.about);
    roff.heading("DESCRIPTION");
    for part in parts(&topic.text) {
        match part {
            Part::Heading(text) => roff.heading(text),
            Part::Paragraph(lines) => roff.paragraph(&lines.join(" ")),
            Part::Lines(lines) => roff.verbatim(lines),
        }
    }
    if !topic.text.contains(SEE_ALSO) {
        roff.heading("SEE ALSO");
    }
    roff.line("mngr(1)");
    roff.finish()
}

/// The heading under which a topic names others.
const SEE_ALSO: &str = "\nSEE ALSO\n";

/// A piece of a topic's text.
#[derive(Debug, PartialEq, Eq)]
enum Part<'t> {
    /// A line in capitals.
    Heading(&'t str),
    /// Lines that belong together, however long they are.
    Paragraph(Vec<&'t str>),
    /// Indented lines, each of which stands for itself.
    Lines(Vec<&'t str>),
}

/// The pieces of a topic's text, its title left out.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut is_apart = true;
    for line in text.lines().skip(1) {
        let is_heading = !line.is_empty() && line.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
        match (line.strip_prefix("  "), parts.last_mut()) {
            _ if line.is_empty() => {
                is_apart = true;
                continue;
            }
            (None, _) if is_heading => parts.push(Part::Heading(line)),
            (Some(line), Some(Part::Lines(lines))) if !is_apart => lines.push(line),
            (Some(line), _) => parts.push(Part::Lines(vec![line])),
            (None, Some(Part::Paragraph(lines))) if !is_apart => lines.push(line),
            (None, _) => parts.push(Part::Paragraph(vec![line])),
        }
        is_apart = false;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_read_as_headings_paragraphs_and_lines() {
        let text = "TITLE\n\nOne\ntwo.\n\n  a\n  b\n\nMORE\nThree.\n";
        assert_eq!(
            parts(text),
            [
                Part::Paragraph(vec!["One", "two."]),
                Part::Lines(vec!["a", "b"]),
                Part::Heading("MORE"),
                Part::Paragraph(vec!["Three."]),
            ]
        );
    }
}
