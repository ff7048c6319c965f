//! A wrong command line, told in our words: the thing that is wrong, what was probably meant, where to read more.

use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use mngr_query::sanitize;

use crate::cli::{NAME, absent, habit, options};
use crate::error::CliError;

/// How much a word must be like another one to be taken for it.
const ALIKE: f64 = 0.8;

/// Tells what clap found. `verb` is the command as typed, for the pointer to its help.
pub(crate) fn from_clap(error: &clap::Error, verb: &[&str]) -> CliError {
    let arg = || text(error, ContextKind::InvalidArg).unwrap_or_default();
    let name = || option_name(&arg());
    let value = || sanitize(&text(error, ContextKind::InvalidValue).unwrap_or_default()).into_owned();
    if error.kind() == ClapKind::UnknownArgument
        && let Some(instead) = absent::advice_below(&full_name(verb), &name())
    {
        return CliError::usage(format!("No such option: {}", name())).hinted(instead).hinted(pointer(verb));
    }
    let failure = match error.kind() {
        ClapKind::InvalidSubcommand => {
            return no_such_command(
                &text(error, ContextKind::InvalidSubcommand).unwrap_or_default(),
                verb,
                error,
            );
        }
        ClapKind::UnknownArgument => match name() {
            option if option.starts_with('-') => CliError::usage(format!("No such option: {option}")),
            word => CliError::usage(format!("Got unexpected argument: `{word}`")),
        },
        ClapKind::InvalidValue => match texts(error, ContextKind::ValidValue) {
            known if known.is_empty() => CliError::usage(format!("Option `{}` needs a value", name())),
            known if value().is_empty() => {
                CliError::usage(format!("Option `{}` needs a value: one of {}", name(), known.join(", ")))
            }
            known => CliError::usage(format!(
                "Invalid value for `{}`: `{}` is not one of {}",
                name(),
                value(),
                known.join(", ")
            )),
        },
        ClapKind::ValueValidation => {
            let quoted = format!("`{}`", value());
            let why = match std::error::Error::source(error) {
                None => quoted,
                Some(why) if why.is::<ParseIntError>() => format!("{quoted} is not a whole number"),
                Some(why) => match sanitize(&why.to_string()).into_owned() {
                    why if why.starts_with(&quoted) => why,
                    why => format!("{quoted}: {why}"),
                },
            };
            CliError::usage(format!("Invalid value for `{}`: {why}", name()))
        }
        ClapKind::ArgumentConflict => {
            let others: Vec<String> =
                texts(error, ContextKind::PriorArg).iter().map(|other| option_name(other)).collect();
            match others.as_slice() {
                [] => CliError::usage(format!("`{}` cannot be used here", name())),
                others => {
                    CliError::usage(format!("`{}` cannot be used with `{}`", name(), others.join("`, `")))
                }
            }
        }
        ClapKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            CliError::usage(format!("Missing argument: {}", missing.join(", ")))
        }
        ClapKind::MissingSubcommand | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let (group, _) = options::deepest(verb.iter().copied());
            let verbs: Vec<&str> = group.get_subcommands().map(clap::Command::get_name).collect();
            CliError::usage(format!("Missing command: one of {}", verbs.join(", ")))
        }
        ClapKind::InvalidUtf8 => CliError::usage("an argument is not valid UTF-8"),
        _ => CliError::usage(first_line(error)),
    };
    let suggested: Vec<String> = texts(error, ContextKind::SuggestedArg)
        .into_iter()
        .chain(texts(error, ContextKind::SuggestedValue))
        .chain(verb_meant(error, verb))
        .collect();
    // Who mistyped an option needs no advice about words that are none.
    let advice = if suggested.is_empty() { hyphen_advice(verb) } else { None };
    let failure = suggested
        .into_iter()
        .fold(failure, |failure, near| failure.hinted(format!("did you mean `{near}`?")));
    let failure = match (error.kind(), advice) {
        (ClapKind::UnknownArgument, Some(advice)) if name().starts_with('-') => failure.hinted(advice),
        _ => failure,
    };
    failure.hinted(pointer(verb))
}

/// How words that begin with `-` are written where they are not meant as options of mngr.
fn hyphen_advice(verb: &[&str]) -> Option<&'static str> {
    match verb {
        [] => Some("options come after the command, as in `mngr list --format json`"),
        ["message" | "msg"] => Some("a text that begins with `-` is given with `-m`, or after `--`"),
        ["exec" | "x"] => Some("put the command in quotes, or after `--`: `mngr exec AGENT -- ls -l`"),
        ["create" | "c"] => {
            Some("the agent's own options come after `--`: `mngr create NAME -- PROGRAM --flag`")
        }
        ["tmr"] => Some("words for the test framework come after `--`: `mngr tmr -- --flag`"),
        _ => None,
    }
}

/// There is no such verb.
fn no_such_command(word: &str, verb: &[&str], error: &clap::Error) -> CliError {
    let failure = CliError::usage(format!("No such command: `{}`", sanitize(word)));
    if let Some(advice) = absent::advice(word).filter(|_| verb.is_empty()) {
        return failure.hinted(advice);
    }
    if let Some(advice) = habit::advice(word).filter(|_| verb.is_empty()) {
        return failure.hinted(advice).hinted(pointer(verb));
    }
    if let Some(instead) = absent::advice_below(&full_name(verb), word) {
        return failure.hinted(instead).hinted(pointer(verb));
    }
    let near = texts(error, ContextKind::SuggestedSubcommand);
    // The likeliest comes last.
    let failure =
        near.last().iter().fold(failure, |failure, near| failure.hinted(format!("did you mean `{near}`?")));
    failure.hinted(pointer(verb))
}

/// The verb that was meant by a word that is no value, where a verb may stand as well (`completion instal`).
fn verb_meant(error: &clap::Error, verb: &[&str]) -> Option<String> {
    let value = text(error, ContextKind::InvalidValue).filter(|_| error.kind() == ClapKind::InvalidValue)?;
    let is_option = text(error, ContextKind::InvalidArg)?.starts_with('-');
    verb.first().filter(|_| !is_option).and_then(|group| verb_like(group, &value))
}

/// A verb as it is called in full: `snap ls` is `snapshot list`.
fn full_name(verb: &[&str]) -> String {
    let name = |to: usize| options::deepest(verb[..to].iter().copied()).0.get_name().to_owned();
    (1..=verb.len()).map(name).collect::<Vec<_>>().join(" ")
}

/// The verb of a group that a word was probably meant to be.
pub(crate) fn verb_like(group: &str, word: &str) -> Option<String> {
    let (command, _) = options::deepest(std::iter::once(group));
    let likeness = |name: &str| strsim::jaro_winkler(name, word);
    let near = command.get_subcommands().map(clap::Command::get_name).filter(|name| likeness(name) > ALIKE);
    near.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).map(str::to_owned)
}

fn pointer(verb: &[&str]) -> String {
    match verb {
        [] => format!("`{NAME} --help` shows all commands"),
        words => format!("`{NAME} {} --help` shows what it takes", words.join(" ")),
    }
}

/// `--limit <N>` is called `--limit`.
fn option_name(shown: &str) -> String {
    let shown = sanitize(shown);
    if shown.starts_with('-') {
        shown.split([' ', '=']).next().unwrap_or_default().to_owned()
    } else {
        shown.into_owned()
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let shown = error.to_string();
    let line = shown.lines().next().unwrap_or_default();
    sanitize(line.trim_start_matches("error: ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(args: &[&str]) -> (String, Vec<String>) {
        let argv = std::iter::once(&NAME).chain(args);
        let error = crate::cli::command().try_get_matches_from(argv).unwrap_err();
        let failure = from_clap(&error, &args[..args.len().min(1)]);
        (failure.source.to_string(), failure.hints)
    }

    #[test]
    fn an_unknown_option_is_named_with_what_was_meant() {
        let (message, hints) = told(&["list", "--sortt", "name"]);
        assert_eq!(message, "No such option: --sortt");
        assert_eq!(hints[0], "did you mean `--sort`?");
        assert_eq!(told(&["list", "-Z"]).0, "No such option: -Z");
    }

    #[test]
    fn words_that_only_look_like_options_are_met_with_how_to_write_them() {
        assert!(told(&["message", "a", "-x"]).1[0].contains("given with `-m`"));
        assert!(told(&["exec", "a", "ls", "-Z"]).1[0].contains("after `--`"));
        let error =
            crate::cli::command().try_get_matches_from([NAME, "--format", "json", "list"]).unwrap_err();
        assert!(from_clap(&error, &[]).hints[0].starts_with("options come after the command"));
    }

    #[test]
    fn a_word_too_many_is_no_option() {
        assert_eq!(told(&["list", "extra"]).0, "Got unexpected argument: `extra`");
    }

    #[test]
    fn a_value_that_does_not_fit_is_named_with_those_that_do() {
        let (message, _) = told(&["config", "path", "--scope", "galaxy"]);
        assert_eq!(message, "Invalid value for `--scope`: `galaxy` is not one of user, project, local");
        let (message, _) = told(&["list", "--limit", "many"]);
        assert_eq!(message, "Invalid value for `--limit`: `many` is not a whole number");
        let (message, _) = told(&["wait", "a", "--timeout", "5x"]);
        assert!(message.starts_with("Invalid value for `--timeout`: `5x` is not a duration"), "{message}");
    }

    #[test]
    fn a_command_of_another_version_is_said_not_to_be_there_yet() {
        let error = crate::cli::command().try_get_matches_from([NAME, "schedule"]).unwrap_err();
        let failure = from_clap(&error, &[]);
        assert_eq!(failure.source.to_string(), "No such command: `schedule`");
        assert_eq!(failure.hints, ["`mngr schedule` is not there yet; cron can run any `mngr` command"]);
    }

    #[test]
    fn an_option_of_another_version_is_met_with_what_to_type_here() {
        let (message, hints) = told(&["x", "--stream", "a", "true"]);
        assert_eq!(message, "No such option: --stream");
        assert!(hints[0].starts_with("output is shown as it comes"), "{hints:?}");
    }

    #[test]
    fn an_option_without_its_value_is_told_with_the_values_there_are() {
        let (message, _) = told(&["config", "path", "--scope"]);
        assert_eq!(message, "Option `--scope` needs a value: one of user, project, local");
    }

    #[test]
    fn a_verb_is_meant_where_a_value_is_expected_too() {
        assert_eq!(told(&["completion", "instal"]).1[0], "did you mean `install`?");
    }

    #[test]
    fn a_mistyped_command_gets_a_suggestion() {
        let error = crate::cli::command().try_get_matches_from([NAME, "lsit"]).unwrap_err();
        assert_eq!(from_clap(&error, &[]).hints[0], "did you mean `list`?");
    }

    #[test]
    fn control_characters_of_a_wrong_word_are_not_printed() {
        let (message, _) = told(&["list", "--\u{1b}[2J"]);
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
}
