//! The look of help at the terminal: the same sections for every verb, however it is asked for.

use std::collections::BTreeMap;

use mngr_query::sanitize;

use crate::cli::page::{CommandHelp, Page};
use crate::cli::wrap::{wrap, wrap_command};
use crate::commands::help::topics;
use crate::ctx::Surroundings;
use crate::external;

/// How wide a page of help is: a terminal of the usual width, whoever reads it.
pub(crate) const WIDTH: usize = 80;

/// The widest term that still has its text beside it.
const WIDEST_TERM: usize = 26;

/// The verbs, in the order in which they are needed.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "MAKE AGENTS AND LOOK AT THEM",
        &["create", "clone", "list", "connect", "capture", "explain", "event", "observe", "usage"],
    ),
    ("WORK WITH THEM", &["message", "transcript", "wait", "exec", "pull", "push", "git", "rsync", "file"]),
    (
        "LIFE AND DEATH",
        &[
            "stop",
            "start",
            "rename",
            "label",
            "archive",
            "unarchive",
            "limit",
            "migrate",
            "snapshot",
            "destroy",
            "undo",
            "cleanup",
            "gc",
        ],
    ),
    ("TUTORIALS, TESTS, RECORDINGS", &["tmr", "tutorial", "record", "replay", "view"]),
    ("MNGR ITSELF", &["doctor", "config", "plugin", "completion", "help"]),
];

/// What mngr itself takes.
const TOP_OPTIONS: &str = "\
OPTIONS
  -h, --help     Show this help; after a command, that command's
  -V, --version  Show the version
";

/// Help of the verb these words name; of mngr itself without words. `None` when there is no such verb.
pub(crate) fn of<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let page = Page::of(words)?;
    Some(if words.is_empty() { top(&page) } else { render(&page) })
}

/// The same with the verbs of the user's own, where all verbs are shown. Pages that are written down know of none.
pub(crate) fn here<S: AsRef<str>>(words: &[S], surroundings: &Surroundings) -> Option<String> {
    let page = of(words)?;
    let own = if words.is_empty() { external::all(surroundings) } else { BTreeMap::new() };
    if own.is_empty() {
        return Some(page);
    }
    let rows =
        own.into_iter().map(|(verb, program)| (verb, sanitize(&program.to_string_lossy()).into_owned()));
    Some(format!("{page}\nCOMMANDS OF YOUR OWN\n{}", table(rows.collect())))
}

/// Help of mngr itself: its verbs in groups, first steps, and where to read on.
fn top(page: &Page) -> String {
    let indented = |lines: &[String]| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    let usage = page.synopsis.first().cloned().unwrap_or_default();
    let mut text = format!("mngr {}: {}\n\nUsage: {usage}\n", env!("CARGO_PKG_VERSION"), page.about);
    text += &format!("\nNAME\n  {} - {}\n\nSYNOPSIS\n", page.name, page.about);
    text += &indented(&page.synopsis);
    for (heading, verbs) in GROUPS {
        text += &format!("\n{heading}\n");
        let known = verbs.iter().filter_map(|name| page.commands.iter().find(|it| it.name == *name));
        text += &table(known.map(command_row).collect());
    }
    let topics = topics::ALL.iter().map(|topic| (topic.name.to_owned(), topic.about.to_owned()));
    let topics = table(topics.collect());
    text + &format!("\nEXAMPLES\n{}\n{TOP_OPTIONS}\nTOPICS\n{topics}", indented(&page.examples))
}

/// What a person sees who types `mngr` and nothing else: it fits a small terminal, where help would scroll away.
pub(crate) fn first_steps() -> String {
    let Some(page) = Page::of::<&str>(&[]) else { return String::new() };
    let examples: String = page.examples.iter().map(|line| format!("  {line}\n")).collect();
    format!(
        "mngr {}: {}\n\nFIRST STEPS\n{examples}\n\
         `mngr --help` shows all commands, `mngr COMMAND --help` explains one.\n",
        env!("CARGO_PKG_VERSION"),
        page.about,
    )
}

/// The page of a verb.
fn render(page: &Page) -> String {
    let synopsis = page.synopsis.iter().flat_map(|line| wrap(line, WIDTH - 6).into_iter().enumerate());
    let synopsis =
        synopsis.map(|(place, line)| format!("{}{line}\n", if place == 0 { "  " } else { "      " }));
    let name = wrap(&format!("{} - {}", page.name, page.about), WIDTH - 6).join("\n      ");
    let usage =
        page.synopsis.first().map(|line| wrap(&format!("Usage: {line}"), WIDTH - 7).join("\n       "));
    let mut text = usage.map(|line| format!("{line}\n\n")).unwrap_or_default();
    text += &format!("NAME\n  {name}\n\nSYNOPSIS\n{}\nDESCRIPTION\n", synopsis.collect::<String>());
    for (place, paragraph) in page.description.iter().enumerate() {
        let gap = if place == 0 { "" } else { "\n" };
        text += &format!("{gap}{}\n", wrap(paragraph, WIDTH).join("\n"));
    }
    if !page.commands.is_empty() {
        text += "\nCOMMANDS\n";
        text += &table(page.commands.iter().map(command_row).collect());
    }
    for section in &page.sections {
        text += &format!("\n{}\n", section.heading);
        let rows = section.options.iter().map(|option| {
            let indent = if option.short.is_none() && option.long.is_some() { "    " } else { "" };
            (format!("{indent}{}", option.term), option.text())
        });
        text += &table(rows.collect());
    }
    text += "\nEXAMPLES\n";
    for example in page.examples.iter().flat_map(|example| wrap_command(example, WIDTH - 2)) {
        text += &format!("  {example}\n");
    }
    text
}

fn command_row(command: &CommandHelp) -> (String, String) {
    let also = command.aliases.iter().map(|alias| format!(" (also: {alias})")).collect::<String>();
    (command.name.clone(), format!("{}{also}", command.about))
}

/// Terms with their texts beside them, or below where the term is long.
fn table(rows: Vec<(String, String)>) -> String {
    let widths = rows.iter().map(|(term, _)| term.len()).filter(|width| *width <= WIDEST_TERM);
    let column = widths.max().unwrap_or(8) + 2;
    let mut all = String::new();
    for (term, text) in rows {
        let mut lines = wrap(&text, WIDTH - 2 - column).into_iter();
        if term.len() + 2 <= column {
            all += format!("  {term:<column$}{}", lines.next().unwrap_or_default()).trim_end();
            all.push('\n');
        } else {
            all += &format!("  {term}\n");
        }
        for line in lines {
            all += &format!("  {:column$}{line}\n", "");
        }
    }
    all
}

/// Whether a line of help is the name of a section.
pub(crate) fn is_heading(line: &str) -> bool {
    !line.is_empty()
        && line.chars().all(|c| c.is_ascii_uppercase() || c == ' ' || c == ',')
        && !line.starts_with(' ')
}

#[cfg(test)]
mod tests;
