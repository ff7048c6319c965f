//! `mngr help`: help of a command, or a page about a topic.

use clap::Args;
use mngr_query::sanitize;

use crate::cli::{self, common::CommonArgs, help};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Pages that are not about one command.
const TOPICS: &[(&str, &str)] = &[
    ("address", include_str!("help/address.txt")),
    ("common", include_str!("help/common.txt")),
    ("environment_variables", include_str!("help/environment_variables.txt")),
    ("exit_codes", include_str!("help/exit_codes.txt")),
    ("filters", include_str!("help/filters.txt")),
    ("format", include_str!("help/format.txt")),
    ("multi_target", include_str!("help/multi_target.txt")),
    ("settings", include_str!("help/settings.txt")),
    ("states", include_str!("help/states.txt")),
];

/// Explain a command or a topic
///
/// Without a word: all commands and topics.
#[derive(Debug, Args)]
#[command(after_help = "  mngr help create\n  mngr help config set\n  mngr help filters")]
pub(crate) struct HelpArgs {
    /// A command, or a topic
    #[arg(value_name = "COMMAND|TOPIC", help_heading = "ARGUMENTS")]
    words: Vec<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows it.
pub(crate) fn run(ctx: &mut Ctx, args: HelpArgs) -> Result<ExitCode, CliError> {
    let console = &ctx.console;
    if let Some(page) = help::of(&args.words) {
        console.print_help(&page)?;
        return Ok(ExitCode::Done);
    }
    let wanted = args.words.join("_").replace('-', "_");
    if let Some((_, page)) = TOPICS.iter().find(|(name, _)| *name == wanted) {
        console.print_help(page)?;
        return Ok(ExitCode::Done);
    }
    let typed = args.words.join(" ");
    let failure = CliError::usage(format!("No such command or topic: `{}`", sanitize(&typed)));
    let failure = match nearest(&typed) {
        Some(near) => failure.hinted(format!("did you mean `{near}`?")),
        None => failure,
    };
    Err(failure.hinted("`mngr help` shows all of them"))
}

/// What pages there are besides those of commands.
pub(crate) fn topic_names() -> Vec<&'static str> {
    TOPICS.iter().map(|(name, _)| *name).collect()
}

/// The command or topic that looks most like the word.
fn nearest(typed: &str) -> Option<String> {
    let top = cli::command();
    let commands = top.get_subcommands().map(clap::Command::get_name);
    let likeness = |name: &str| strsim::jaro_winkler(name, typed);
    let near = commands.chain(topic_names()).filter(|name| likeness(name) > 0.8);
    near.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_page_is_recognised_and_nonsense_is_not() {
        assert_eq!(nearest("crate").as_deref(), Some("create"));
        assert_eq!(nearest("filter").as_deref(), Some("filters"));
        assert_eq!(nearest("xyzzy"), None);
    }

    #[test]
    fn every_topic_begins_with_what_it_is_about() {
        for (name, page) in TOPICS {
            assert!(page.starts_with(|c: char| c.is_uppercase()) && page.ends_with('\n'), "{name}");
        }
    }
}
