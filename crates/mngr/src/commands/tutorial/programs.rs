//! The programs a tutorial is about: mngr itself, and those named by `--cli`. What they accept, and what they say of it.

use clap::Command;
use mngr_e2e::tutorial::lint::{Grammars, HelpGrammar, help_text};
use mngr_host::host::Host;

use super::own_grammar::OwnGrammar;
use crate::cli::{self, NAME, help};
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};

/// Learns what programs other than mngr accept.
pub(super) fn learn<'h>(
    ctx: &Ctx,
    host: &'h dyn Host,
    programs: &[String],
) -> Result<Vec<(String, HelpGrammar<'h>)>, CliError> {
    let others = programs.iter().filter(|program| *program != NAME);
    let learn = |program: &String| {
        let grammar = HelpGrammar::learn(host, &called(ctx, program))
            .map_err(|error| CliError::new(ErrorKind::Failed, error))?;
        Ok((program.clone(), grammar))
    };
    others.map(learn).collect()
}

/// These, and mngr's own.
pub(super) fn grammars<'g>(learnt: &'g [(String, HelpGrammar<'g>)]) -> Grammars<'g> {
    let own = Grammars::new().with(NAME, &OwnGrammar);
    learnt.iter().fold(own, |known, (program, grammar)| known.with(program, grammar))
}

/// Everything the programs say about themselves; mngr only when it is meant.
pub(super) fn manual(ctx: &Ctx, host: &dyn Host, programs: &[String]) -> Result<String, CliError> {
    let mut text = String::new();
    if programs.is_empty() || programs.iter().any(|program| program == NAME) {
        text += &own_manual();
    }
    for program in programs.iter().filter(|program| *program != NAME) {
        text += &help_text(host, &called(ctx, program))
            .map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    }
    Ok(text)
}

/// A program is not run where the user stands.
fn called(ctx: &Ctx, program: &str) -> String {
    if program.contains('/') { ctx.surroundings.path(program).to_string() } else { program.to_owned() }
}

fn own_manual() -> String {
    let mut text = page(&[]);
    add_pages(cli::command(), &mut Vec::new(), &mut text);
    text
}

fn add_pages(command: Command, words: &mut Vec<String>, text: &mut String) {
    for verb in command.get_subcommands() {
        // What a verb has is only known when it is built.
        let mut verb = verb.clone();
        verb.build();
        words.push(verb.get_name().to_owned());
        *text += &page(words);
        add_pages(verb, words, text);
        words.pop();
    }
}

fn page(words: &[String]) -> String {
    let command = [&[NAME.to_owned()], words].concat().join(" ");
    format!("## {command} --help\n\n{}\n", help::of(words).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_a_page_for_every_verb() {
        let manual = own_manual();
        for page in ["## mngr --help", "## mngr list --help", "## mngr config set --help"] {
            assert!(manual.contains(page), "{page}");
        }
        assert!(manual.contains("--running") && manual.len() < 220_000, "{}", manual.len());
    }
}
