//! `mngr help`: help of a command, or a page about a topic. With `--format json` the same as data: the whole command
//! line for programs, for agents, and for the generator of the reference.

mod outputs;
mod report;
pub(crate) mod topics;

use clap::Args;
use mngr_query::{Catalog, sanitize};

use crate::cli::common::CommonArgs;
use crate::cli::page::Page;
use crate::cli::{self, help};
use crate::ctx::{Ctx, Surroundings};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;
use report::{FIELDS, HelpReport};

/// Explain a command or a topic
///
/// Without a word: all commands and topics. With --format json the same as data, for programs: every command with its
/// options and examples, every topic and every variable.
#[derive(Debug, Args)]
#[command(after_help = "  mngr help create\n  \
                        mngr help config set\n  \
                        mngr help states\n  \
                        mngr help --format json")]
pub(crate) struct HelpArgs {
    /// A command, or a topic
    #[arg(value_name = "COMMAND|TOPIC", help_heading = "ARGUMENTS")]
    words: Vec<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows it.
pub(crate) fn run(ctx: &mut Ctx, args: HelpArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(FIELDS);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    if output.is_human() {
        ctx.console
            .print_help(&text_of(&args.words, &ctx.surroundings).ok_or_else(|| no_such_page(&args.words))?)?;
        return Ok(ExitCode::Done);
    }
    let report = match args.words.as_slice() {
        [] => HelpReport::Everything,
        words => match Page::of(words) {
            Some(page) => HelpReport::Command(Box::new(page)),
            None => HelpReport::Topic(topics::find(words).ok_or_else(|| no_such_page(words))?),
        },
    };
    output.show(&ctx.console, &report)?;
    Ok(ExitCode::Done)
}

/// The page of these words; a command comes before a topic of the same name.
fn text_of(words: &[String], surroundings: &Surroundings) -> Option<String> {
    help::here(words, surroundings).or_else(|| topics::find(words).map(|topic| topic.text.to_owned()))
}

fn no_such_page(words: &[String]) -> CliError {
    let typed = words.join(" ");
    let failure = CliError::usage(format!("No such command or topic: `{}`", sanitize(&typed)));
    let failure = match nearest(&typed) {
        Some(near) => failure.hinted(format!("did you mean `mngr help {near}`?")),
        None => failure,
    };
    failure.hinted("`mngr help` shows all of them")
}

/// The command or topic that looks most like the words.
fn nearest(typed: &str) -> Option<String> {
    let pages = Page::all();
    let commands = pages.iter().skip(1).map(|page| page.name.trim_start_matches(cli::NAME).trim());
    let topics = topics::ALL.iter().flat_map(|topic| std::iter::once(&topic.name).chain(topic.aliases));
    let likeness = |name: &str| strsim::jaro_winkler(name, typed);
    let near = commands.chain(topics.copied()).filter(|name| likeness(name) > 0.8);
    near.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).map(str::to_owned)
}

#[cfg(test)]
mod tests;
