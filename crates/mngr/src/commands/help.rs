//! `mngr help`: help of a command, or a page about a topic.

use clap::Args;
use mngr_query::sanitize;

use crate::cli::{common::CommonArgs, help};
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
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows it.
pub(crate) fn run(ctx: &mut Ctx, args: HelpArgs) -> Result<ExitCode, CliError> {
    let console = &ctx.console;
    if args.words.is_empty() {
        let names: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
        let page = help::of::<&str>(&[]).unwrap_or_default();
        console.print_help(&format!("{page}\nTOPICS\n  {}\n", names.join(", ")))?;
        return Ok(ExitCode::Done);
    }
    if let Some(page) = help::of(&args.words) {
        console.print_help(&page)?;
        return Ok(ExitCode::Done);
    }
    let wanted = args.words.join("_").replace('-', "_");
    if let Some((_, page)) = TOPICS.iter().find(|(name, _)| *name == wanted) {
        console.print_help(page)?;
        return Ok(ExitCode::Done);
    }
    let text = format!("No such command or topic: `{}`", sanitize(&args.words.join(" ")));
    Err(CliError::usage(text).hinted("`mngr help` shows all of them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_begins_with_what_it_is_about() {
        for (name, page) in TOPICS {
            assert!(page.starts_with(|c: char| c.is_uppercase()) && page.ends_with('\n'), "{name}");
        }
    }
}
