//! What the help of a command says, as data: read from the definition of the command line and from nothing else. The
//! help at the terminal, the man pages and the reference are three ways to write it down.

mod option;

use clap::{Arg, Command};
use serde::Serialize;

use crate::cli;
pub(crate) use option::OptionHelp;

/// The section of arguments that are not options.
pub(crate) const ARGUMENTS: &str = "ARGUMENTS";
/// The section of options whose verb names none.
pub(crate) const OPTIONS: &str = "OPTIONS";
/// The section of what every verb takes. It comes last.
pub(crate) const COMMON: &str = "COMMON OPTIONS";

/// The help of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Page {
    /// As it is typed: `mngr config set`.
    pub(crate) name: String,
    /// What its last word may also be.
    pub(crate) aliases: Vec<String>,
    /// What it does, in a line.
    pub(crate) about: String,
    /// How it is called, a line for each way.
    pub(crate) synopsis: Vec<String>,
    /// What it does, paragraph by paragraph; the first one is the line.
    pub(crate) description: Vec<String>,
    /// The commands below it.
    pub(crate) commands: Vec<CommandHelp>,
    /// What it takes, in groups.
    pub(crate) sections: Vec<Section>,
    /// Lines for a shell.
    pub(crate) examples: Vec<String>,
}

/// A command below another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CommandHelp {
    /// The word for it.
    pub(crate) name: String,
    /// Other words for it.
    pub(crate) aliases: Vec<String>,
    /// What it does, in a line.
    pub(crate) about: String,
}

/// Arguments or options that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Section {
    /// In capitals.
    pub(crate) heading: String,
    /// In the order in which the verb declares them.
    pub(crate) options: Vec<OptionHelp>,
}

impl Page {
    /// The page of the command that these words name; `None` when there is no such command.
    pub(crate) fn of<S: AsRef<str>>(words: &[S]) -> Option<Self> {
        let mut command = cli::command();
        let mut name = cli::NAME.to_owned();
        for word in words {
            let mut found = command.find_subcommand(word.as_ref())?.clone();
            name = format!("{name} {}", found.get_name());
            found = found.bin_name(&name);
            found.build();
            command = found;
        }
        Some(Self::read(name, command))
    }

    /// The pages of mngr itself and of all commands, each group before what is below it.
    pub(crate) fn all() -> Vec<Self> {
        let mut pages = Vec::new();
        collect(&[], &mut pages);
        pages
    }

    fn read(name: String, mut command: Command) -> Self {
        let usage = command.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").lines().map(|line| line.trim().to_owned());
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let long = command.get_long_about().map_or_else(|| about.clone(), ToString::to_string);
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let below = command.get_subcommands().filter(|below| !below.is_hide_set());
        Self {
            aliases: command.get_visible_aliases().map(str::to_owned).collect(),
            synopsis: usage.collect(),
            description: long.split("\n\n").map(|paragraph| paragraph.trim().to_owned()).collect(),
            commands: below.map(CommandHelp::read).collect(),
            sections: sections(&command),
            examples: examples.lines().map(|line| dedent(line).to_owned()).collect(),
            name,
            about,
        }
    }
}

impl CommandHelp {
    fn read(command: &Command) -> Self {
        Self {
            name: command.get_name().to_owned(),
            aliases: command.get_visible_aliases().map(str::to_owned).collect(),
            about: command.get_about().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

fn collect(words: &[String], pages: &mut Vec<Page>) {
    let Some(page) = Page::of(words) else { return };
    let below: Vec<String> = page.commands.iter().map(|command| command.name.clone()).collect();
    pages.push(page);
    for name in below {
        collect(&[words, &[name]].concat(), pages);
    }
}

/// Arguments first, what every verb takes last, the groups of the verb's own options between them as they come.
fn sections(command: &Command) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let heading = heading(arg);
        let option = OptionHelp::read(arg);
        match sections.iter_mut().find(|section| section.heading == heading) {
            Some(section) => section.options.push(option),
            None => sections.push(Section { heading, options: vec![option] }),
        }
    }
    sections.sort_by_key(|section| match section.heading.as_str() {
        ARGUMENTS => 0,
        COMMON => 2,
        _ => 1,
    });
    sections
}

fn heading(arg: &Arg) -> String {
    let given = arg.get_help_heading().map(str::to_owned);
    given.unwrap_or_else(|| if arg.is_positional() { ARGUMENTS } else { OPTIONS }.to_owned())
}

/// Examples are written with two spaces before them; what is deeper belongs to the line above.
fn dedent(line: &str) -> &str {
    line.strip_prefix("  ").unwrap_or(line)
}

#[cfg(test)]
mod tests;
