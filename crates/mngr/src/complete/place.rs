//! Where the cursor is: in the name of a command or an option, or in a value, and of which.

use clap::{Arg, ArgAction, Command};

use super::candidate::Candidate;
use crate::cli;

/// What stands before the cursor, and what is wanted there.
#[derive(Debug)]
pub(super) struct Place {
    /// The command, built.
    command: Command,
    /// The words that name it, as the program calls them.
    pub(super) verb: Vec<String>,
    /// The arguments before the cursor that belong to no option.
    pub(super) given: Vec<String>,
    /// The options before the cursor, by their ids.
    options: Vec<String>,
    /// What the cursor's word begins with that is no part of the value: `--format=`.
    pub(super) prefix: String,
    /// What is typed of it.
    pub(super) typed: String,
    /// What it can be.
    pub(super) wanted: Wanted,
}

/// What is wanted at the cursor.
#[derive(Debug)]
pub(super) enum Wanted {
    /// Nothing that can be known.
    Nothing,
    /// The name of a command.
    Command,
    /// The name of an option.
    Options,
    /// A value of this option or argument; where the command has commands below it, one of them too.
    Value(Box<Arg>),
}

impl Place {
    /// Reads the words up to the cursor; the last one is under it.
    pub(super) fn find(words: &[String]) -> Self {
        let (typed, before) =
            words.split_last().map_or((String::new(), words), |(last, rest)| (last.clone(), rest));
        let mut place = Self {
            command: cli::command(),
            verb: Vec::new(),
            given: Vec::new(),
            options: Vec::new(),
            prefix: String::new(),
            typed,
            wanted: Wanted::Nothing,
        };
        let mut pending: Option<Arg> = None;
        let mut is_after_dashes = false;
        for word in before {
            if pending.take().is_some() {
                continue;
            }
            if is_after_dashes {
                place.given.push(word.clone());
            } else if word == "--" {
                is_after_dashes = true;
            } else if word.starts_with('-') && word.len() > 1 {
                pending = place.take_option(word);
            } else {
                place.take_word(word);
            }
        }
        place.wanted = place.wanted_by(pending, is_after_dashes);
        place
    }

    /// The names of the commands that may come next.
    pub(super) fn commands(&self) -> Vec<Candidate> {
        if !self.given.is_empty() || !self.prefix.is_empty() {
            return Vec::new();
        }
        let below = self.command.get_subcommands().filter(|below| !below.is_hide_set());
        let about = |below: &Command| below.get_about().map(ToString::to_string).unwrap_or_default();
        below.map(|below| Candidate::new(below.get_name(), about(below))).collect()
    }

    /// The names of the options that may come next: those that are not there yet, or may be given again.
    pub(super) fn options(&self) -> Vec<Candidate> {
        let is_free = |arg: &&Arg| {
            let may_repeat = matches!(arg.get_action(), ArgAction::Append | ArgAction::Count);
            may_repeat || !self.options.iter().any(|id| arg.get_id() == id.as_str())
        };
        let shown = self.command.get_arguments().filter(|arg| !arg.is_hide_set()).filter(is_free);
        let about = |arg: &Arg| arg.get_help().map(ToString::to_string).unwrap_or_default();
        shown.filter_map(|arg| Some(Candidate::new(format!("--{}", arg.get_long()?), about(arg)))).collect()
    }

    /// A word that is no option: a command, as long as one can come, or an argument.
    fn take_word(&mut self, word: &str) {
        let found = if self.given.is_empty() { self.command.find_subcommand(word).cloned() } else { None };
        match found {
            Some(mut found) => {
                found.build();
                self.verb.push(found.get_name().to_owned());
                self.command = found;
            }
            None => self.given.push(word.to_owned()),
        }
    }

    /// An option before the cursor; gives it back when its value is the next word.
    fn take_option(&mut self, word: &str) -> Option<Arg> {
        let (arg, has_value) = match word.strip_prefix("--") {
            Some(long) => {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                (self.long(name)?.clone(), value.is_some())
            }
            None => {
                // Of `-qtNAME` only the last option can have a value.
                let mut letters = word.char_indices().skip(1);
                let found = letters.find_map(|(at, letter)| {
                    let arg = self.short(letter)?;
                    takes_value(arg).then_some((arg, at + letter.len_utf8() < word.len()))
                });
                match found {
                    Some((arg, has_value)) => (arg.clone(), has_value),
                    None => return None,
                }
            }
        };
        self.options.push(arg.get_id().to_string());
        (takes_value(&arg) && !has_value).then_some(arg)
    }

    fn wanted_by(&mut self, pending: Option<Arg>, is_after_dashes: bool) -> Wanted {
        if let Some(arg) = pending {
            return Wanted::Value(Box::new(arg));
        }
        if is_after_dashes {
            // What follows is another program's business, unless the command takes its arguments there too.
            return self.argument(true).map_or(Wanted::Nothing, |arg| Wanted::Value(Box::new(arg)));
        }
        if let Some(long) = self.typed.strip_prefix("--")
            && let Some((name, value)) = long.split_once('=')
        {
            let Some(arg) = self.long(name).cloned() else { return Wanted::Nothing };
            (self.prefix, self.typed) = (format!("--{name}="), value.to_owned());
            return Wanted::Value(Box::new(arg));
        }
        if self.typed.starts_with('-') {
            return Wanted::Options;
        }
        match self.argument(false) {
            Some(arg) => Wanted::Value(Box::new(arg)),
            None if self.given.is_empty() && self.command.has_subcommands() => Wanted::Command,
            None => Wanted::Nothing,
        }
    }

    /// The argument that the next word is.
    fn argument(&self, is_after_dashes: bool) -> Option<Arg> {
        let all: Vec<&Arg> = self.command.get_positionals().filter(|arg| !arg.is_last_set()).collect();
        if is_after_dashes && self.command.get_positionals().any(Arg::is_last_set) {
            return None;
        }
        let place = self.given.len();
        let is_many = |arg: &&&Arg| arg.get_num_args().is_some_and(|count| count.max_values() > 1);
        all.get(place).or_else(|| all.last().filter(is_many)).map(|arg| (*arg).clone())
    }

    fn long(&self, name: &str) -> Option<&Arg> {
        self.command.get_arguments().find(|arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        })
    }

    fn short(&self, letter: char) -> Option<&Arg> {
        self.command.get_arguments().find(|arg| arg.get_short() == Some(letter))
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}
