//! The words a command was called with, without those that may be secrets or somebody's text.
//!
//! A value is shown only where its option says that it is something harmless: a name, a number, a path. All others are told
//! by their length, those of options that are yet to come too.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// What harmless values are called in help.
const HARMLESS: &[&str] = &[
    "A,B",
    "ACTION",
    "ADDRESS",
    "AGENT",
    "AGENT_ID",
    "AGENT[:PATH]",
    "AGENT|@HOST",
    "AGENT|STATE",
    "BRANCH",
    "COLUMNS",
    "COMMAND|TOPIC",
    "COMMIT",
    "CURRENT",
    "DEST",
    "DIR",
    "DOLLARS",
    "DURATION",
    "FACTOR",
    "FIELDS",
    "FILE",
    "FOLDER",
    "FORMAT",
    "GROUP",
    "HOST",
    "ID",
    "ID|PATH",
    "KEY",
    "KIND",
    "LINES",
    "MODE",
    "N",
    "NAME",
    "NEW-NAME",
    "ORDER",
    "PATH",
    "PATHS",
    "PORT",
    "PROJECT",
    "PROVIDER",
    "REVISION",
    "ROLE",
    "RUN",
    "SHELL",
    "SIZE",
    "STATE",
    "STYLE",
    "SUFFIX",
    "TARGET",
    "TYPE",
    "WINDOW",
    "[BASE][:NEW]",
];

/// The words of a command line: the verb, then its options in the order in which they were given. `command` is mngr's own
/// definition with that verb built; building it again would take longer than all the rest.
pub(crate) fn words(command: &Command, path: &str, matches: &ArgMatches) -> Vec<String> {
    let mut words: Vec<String> = path.split('_').map(str::to_owned).collect();
    let verb = words.iter().try_fold(command, |command, word| command.find_subcommand(word));
    let Some(command) = verb else { return words };
    let mut given: Vec<(usize, Vec<String>)> = Vec::new();
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        // Asking for an option that a verb does not have would be a mistake of ours.
        if !matches.try_contains_id(id).unwrap_or(false)
            || matches.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let places = matches.indices_of(id).into_iter().flatten();
        if arg.get_action().takes_values() {
            let values =
                matches.get_raw(id).into_iter().flatten().map(|value| shown(arg, &value.to_string_lossy()));
            given.extend(places.zip(values).map(|(place, value)| (place, spelled(arg, Some(value)))));
        } else {
            given.extend(places.map(|place| (place, spelled(arg, None))));
        }
    }
    given.sort_by_key(|(place, _)| *place);
    words.extend(given.into_iter().flat_map(|(_, words)| words));
    words
}

fn spelled(arg: &Arg, value: Option<String>) -> Vec<String> {
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => Some(format!("--{long}")),
        (None, short) => short.map(|short| format!("-{short}")),
    };
    name.into_iter().chain(value).collect()
}

fn shown(arg: &Arg, value: &str) -> String {
    let called = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    let is_harmless =
        called.is_some_and(|name| HARMLESS.contains(&name)) || !arg.get_possible_values().is_empty();
    if is_harmless { value.to_owned() } else { format!("<{} characters>", value.chars().count()) }
}

#[cfg(test)]
mod tests {
    use crate::cli;

    fn logged(line: &str) -> String {
        let words = line.split(' ').map(|word| word.replace('_', " "));
        let mut command = cli::command();
        let matches = command.try_get_matches_from_mut(words).unwrap();
        let (name, mut leaf) = matches.subcommand().unwrap();
        let mut path = name.to_owned();
        while let Some((name, below)) = leaf.subcommand() {
            path = format!("{path}_{name}");
            leaf = below;
        }
        super::words(&command, &path, leaf).join(" ")
    }

    #[test]
    fn names_and_numbers_are_shown_and_texts_and_values_are_not() {
        assert_eq!(
            logged(
                "mngr create fix --env TOKEN=abc --type command --no-connect -m do_it -- prog --key s3cret"
            ),
            "create fix --env <9 characters> --type command --no-connect --message <5 characters> \
             <4 characters> <5 characters> <6 characters>"
        );
        assert_eq!(logged("mngr message a my_secret"), "message <1 characters> <9 characters>");
        assert_eq!(logged("mngr exec a ls_-l"), "exec <1 characters> <5 characters>");
        assert_eq!(logged("mngr config set a.b secret"), "config set a.b <6 characters>");
        assert_eq!(
            logged("mngr ls -S a=b --limit 3 -v"),
            "list --setting <3 characters> --limit 3 --verbose"
        );
    }
}
