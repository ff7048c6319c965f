//! mngr's own command line as a grammar: what it would say about a command, without doing it.

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use clap::{ArgMatches, Command};
use mngr_e2e::tutorial::lint::{Complaint, Expansion, Grammar, Verdict, Word};

use crate::cli::{self, NAME, options, usage};
use crate::error::CliError;
use crate::ui::Format;

/// Knows what mngr accepts.
pub(crate) struct OwnGrammar;

impl Grammar for OwnGrammar {
    fn examine(&self, words: &[Word]) -> Verdict {
        let known = words.iter().take_while(|word| word.is_known()).map(|word| word.text.as_str());
        let (command, verb) = options::deepest(known);
        if words.len() == verb.len() && verb.is_empty() {
            // Bare mngr shows its help.
            return Verdict::Known(Vec::new());
        }
        let (command, rest) =
            if command.has_subcommands() { (cli::command(), words) } else { (command, &words[verb.len()..]) };
        let complaint = match parse(command, rest) {
            Ok(matches) => check_format(&matches).err().map(|error| (error, None)),
            Err(error) if is_pardoned(&error, rest) => None,
            Err(error) => {
                let place = culprit(&error, words);
                Some((usage::from_clap(&error, &verb), place))
            }
        };
        let complaint = complaint.map(|(error, word)| Complaint {
            message: error.source.to_string(),
            hints: error.hints,
            word,
        });
        Verdict::Known(complaint.into_iter().collect())
    }

    fn verb_words(&self, words: &[Word]) -> usize {
        let known = words.iter().take_while(|word| word.is_known()).map(|word| word.text.as_str());
        options::deepest(known).1.len()
    }
}

/// Parses the words; where the value of an option is only known to the shell, any value will do.
fn parse(command: Command, words: &[Word]) -> Result<ArgMatches, clap::Error> {
    let mut command = command;
    let mut relaxed: Vec<String> = Vec::new();
    loop {
        let argv = std::iter::once(NAME).chain(words.iter().map(|word| word.text.as_str()));
        let error = match command.clone().try_get_matches_from(argv) {
            Ok(matches) => return Ok(matches),
            Err(error) => error,
        };
        let is_value = matches!(error.kind(), ClapKind::InvalidValue | ClapKind::ValueValidation);
        let is_unknown = text(&error, ContextKind::InvalidValue).is_some_and(|value| Word::stands_in(&value));
        let option = text(&error, ContextKind::InvalidArg).filter(|_| is_value && is_unknown);
        match option.filter(|option| !relaxed.contains(option)) {
            Some(option) => {
                command = command.mut_args(|arg| match arg.to_string() == option {
                    true => arg.value_parser(clap::value_parser!(String)),
                    false => arg,
                });
                relaxed.push(option);
            }
            None => return Err(error),
        }
    }
}

/// Whether an error may go away when the shell has put in what only it knows.
fn is_pardoned(error: &clap::Error, words: &[Word]) -> bool {
    let is_about_unknown = error.context().any(|(_, value)| match value {
        ContextValue::String(text) => Word::stands_in(text),
        ContextValue::Strings(texts) => texts.iter().any(|text| Word::stands_in(text)),
        _ => false,
    });
    let may_be_more = words.iter().any(|word| word.expansion == Expansion::AnyWords);
    match error.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => true,
        ClapKind::MissingRequiredArgument | ClapKind::MissingSubcommand => may_be_more,
        _ => is_about_unknown,
    }
}

/// The word that an error is about.
fn culprit(error: &clap::Error, words: &[Word]) -> Option<usize> {
    let named = [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let names = named.into_iter().filter_map(|kind| text(error, kind)).filter(|name| !name.is_empty());
    names.map(|name| name.split([' ', '=']).next().unwrap_or_default().to_owned()).find_map(|name| {
        words.iter().position(|word| word.text == name || word.text.starts_with(&format!("{name}=")))
    })
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// `--format` is read after the command line.
fn check_format(matches: &ArgMatches) -> Result<(), CliError> {
    let format = matches.try_get_one::<String>("format").ok().flatten();
    match format.filter(|format| !Word::stands_in(format)) {
        Some(format) => Format::parse(format).map(|_| ()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use mngr_e2e::tutorial::lint::{Grammars, lint_text, verbs};

    use super::*;

    const OWN_TUTORIAL: &str = include_str!("../../../../../tutorial/tutorial.sh");

    fn found(text: &str) -> Vec<String> {
        let report = lint_text(text, 1, &Grammars::new().with(NAME, &OwnGrammar));
        report.findings.iter().map(|it| format!("{}: {}", it.line, it.message)).collect()
    }

    #[test]
    fn what_mngr_accepts_is_accepted() {
        for text in [
            "mngr",
            "mngr --version; mngr --help; mngr list --help; mngr help list",
            "mngr create fix --type command -- sleep --forever",
            "mngr c fix; mngr ls --running; mngr cfg get prefix",
            "mngr list --format '{name}' | xargs mngr stop",
            "mngr wait \"$agent\" --timeout \"$limit\" --state $state",
            "mngr list --limit $n --format=$f",
            "mngr $verb --whatever; mngr config $verb",
            "for a in $(mngr list --ids); do mngr stop $a; done",
            "mngr stop $agents; mngr stop \"$@\"",
            "mngr message fix - <<EOF\nhello\nEOF",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_mngr_does_not_accept_is_told_in_its_own_words_at_the_line() {
        for (text, expected) in [
            ("mngr lsit", "1: No such command: `lsit`"),
            ("a\nmngr list \\\n  --runing", "3: No such option: --runing"),
            ("mngr config sett a b", "1: No such command: `sett`"),
            ("mngr list --limit many", "1: Invalid value for `--limit`: `many` is not a whole number"),
            ("mngr wait a \\\n --timeout 5x", "2: Invalid value for `--timeout`: `5x` is not a duration"),
            (
                "mngr list --format yaml",
                "1: Invalid value for `--format`: `yaml` is not one of human, json, jsonl",
            ),
            ("mngr list --limit", "1: Option `--limit` needs a value"),
            ("mngr rename a", "1: Missing argument"),
            ("mngr config", "1: Missing command"),
            ("mngr rename \"$a\" \"$b\" c", "1: Got unexpected argument: `c`"),
            ("echo $(mngr list --nope)", "1: No such option: --nope"),
        ] {
            let found = found(text);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: {found:?}");
        }
    }

    /// All commands that do something, as they are typed.
    fn leaves(command: &Command, name: &str) -> Vec<String> {
        let below = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let below = below.flat_map(|verb| leaves(verb, &format!("{name} {}", verb.get_name())));
        options::does_something(command).then(|| name.to_owned()).into_iter().chain(below).collect()
    }

    #[test]
    fn our_own_tutorial_shows_every_command() {
        let mut command = cli::command();
        command.build();
        let all = leaves(&command, NAME);
        for known in ["mngr config set", "mngr tmr", "mngr tmr status"] {
            assert!(all.contains(&known.to_owned()), "{known} in {all:?}");
        }
        let shown = verbs(OWN_TUTORIAL, &Grammars::new().with(NAME, &OwnGrammar));
        let missing: Vec<&String> = all.iter().filter(|verb| !shown.contains(verb)).collect();
        assert!(missing.is_empty(), "not in tutorial/tutorial.sh: {missing:?}");
    }
}
