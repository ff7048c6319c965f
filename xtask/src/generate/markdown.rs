//! The reference for people who read it in the repository or on the web: commands, topics, settings, variables.

use std::path::PathBuf;

use super::book::{Book, Page, Setting};
use super::{Files, NOTE};

/// All pages.
pub(crate) fn pages(book: &Book) -> Files {
    let mut files: Files = book
        .commands
        .iter()
        .filter(|page| !page.slug().is_empty())
        .map(|page| (PathBuf::from(format!("docs/reference/cli/{}.md", page.slug())), command(book, page)))
        .collect();
    files.insert("docs/reference/cli.md".into(), index(book));
    files.insert("docs/reference/topics.md".into(), topics(book));
    files.insert("docs/reference/settings.md".into(), settings(book));
    files.insert("docs/reference/environment.md".into(), environment(book));
    files
}

fn head(title: &str) -> String {
    format!("<!-- {NOTE} -->\n\n# {title}\n")
}

fn index(book: &Book) -> String {
    let mut text = head("Commands");
    text += "\nEvery command takes `--help`, and every one can be asked with `--format json`. The same pages are in\n\
             `man/`, and as data in `mngr help --format json`.\n\n| command | |\n|---|---|\n";
    for page in book.commands.iter().skip(1) {
        let also = page.aliases.iter().map(|alias| format!(" (also `{alias}`)")).collect::<String>();
        text += &format!("| [`{}`](cli/{}.md){also} | {} |\n", page.name, page.slug(), cell(&page.about));
    }
    text
}

fn command(book: &Book, page: &Page) -> String {
    let mut text = head(&page.name);
    text += &format!("\n{}\n\n```text\n{}\n```\n", safe(&page.about), page.synopsis.join("\n"));
    for paragraph in page.description.iter().skip(1) {
        text += &format!("\n{}\n", safe(paragraph));
    }
    if !page.aliases.is_empty() {
        let aliases: Vec<String> = page.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        text += &format!("\nAlso written {}.\n", aliases.join(", "));
    }
    if !page.commands.is_empty() {
        text += "\n## Commands\n\n";
        for below in &page.commands {
            text +=
                &format!("- [`{}`]({}-{}.md): {}\n", below.name, page.slug(), below.name, safe(&below.about));
        }
    }
    for section in &page.sections {
        text += &format!("\n## {}\n\n", title(&section.heading));
        for option in &section.options {
            let said: Vec<String> = option.sentences().iter().map(|sentence| safe(sentence)).collect();
            text += &format!("- `{}`: {}\n", option.term, said.join(". "));
        }
    }
    if !page.examples.is_empty() {
        text += &format!("\n## Examples\n\n```sh\n{}\n```\n", page.examples.join("\n"));
    }
    let words = page.name.split(' ').skip(1).collect::<Vec<_>>().join(" ");
    if book.schemas.outputs.contains_key(&words) {
        text += &format!("\n## Output\n\n[Schema of `--format json`](../schemas/{}.json)\n", page.slug());
    }
    if book.schemas.lines.contains_key(&words) {
        text += &format!("\n[Schema of a line of `--format jsonl`](../schemas/{}.line.json)\n", page.slug());
    }
    text
}

fn topics(book: &Book) -> String {
    let mut text = head("Topics");
    text += "\nWhat `mngr help TOPIC` shows.\n";
    for topic in &book.topics {
        text += &format!("\n## {}\n\n{}\n\n```text\n{}```\n", topic.name, safe(&topic.about), topic.text);
    }
    text
}

fn settings(book: &Book) -> String {
    let mut text = head("Settings");
    text += "\nWhat can be set in `settings.toml`, with `mngr config set KEY VALUE`, `-S KEY=VALUE` or `MNGR__SECTION__KEY`. \
             Where a key\nhas `<name>`, the name is yours. Editors that know JSON schemas check a file with\n\
             [schemas/settings.json](schemas/settings.json). Where settings come from, and which win: `mngr help settings`.\n";
    let mut section = None;
    for setting in &book.settings {
        let own = section_of(setting);
        if section.as_deref() != Some(own.as_str()) {
            text += &match own.as_str() {
                "" => "\n## At the top\n\n".to_owned(),
                own => format!("\n## `[{own}]`\n\n"),
            };
            section = Some(own);
        }
        let default = match &setting.default {
            Some(default) => format!(" Default: `{default}`."),
            None => String::new(),
        };
        text += &format!(
            "- `{}` ({}): {}{default}\n",
            setting.key,
            safe(&setting.kind),
            safe(&joined(&setting.description))
        );
    }
    text
}

/// The table a key is in.
fn section_of(setting: &Setting) -> String {
    setting.key.rsplit_once('.').map(|(section, _)| section.to_owned()).unwrap_or_default()
}

fn environment(book: &Book) -> String {
    let mut text = head("Environment variables");
    text += "\nThe names that mean something to mngr. `MNGR__SECTION__KEY=value` sets any [setting](settings.md).\n\n\
             | variable | |\n|---|---|\n";
    for variable in &book.environment {
        text += &format!("| `{}` | {} |\n", variable.name, cell(&variable.description));
    }
    text
}

/// `COMMON OPTIONS` is `Common options`.
fn title(heading: &str) -> String {
    let mut chars = heading.chars();
    chars.next().map(|first| first.to_string() + &chars.as_str().to_lowercase()).unwrap_or_default()
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cell(text: &str) -> String {
    safe(&joined(text)).replace('|', "\\|")
}

/// Text in which only what stands between backticks has a meaning for Markdown.
fn safe(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(place, part)| {
        if place % 2 == 1 {
            part.to_owned()
        } else {
            part.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_backticks_mean_something() {
        assert_eq!(safe("a_b `c_*d` <e> *"), "a\\_b `c_*d` &lt;e> \\*");
        assert_eq!(title("FILES AND GIT"), "Files and git");
    }
}
