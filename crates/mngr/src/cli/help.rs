//! The look of help: the same sections for every verb, however it is asked for.

use clap::Command;

use crate::cli;

/// Help of one verb.
pub(crate) const VERB_TEMPLATE: &str = "\
SYNOPSIS
  {usage}

DESCRIPTION
{about}

{all-args}

EXAMPLES{after-help}
";

/// Help of a verb that has verbs of its own.
pub(crate) const GROUP_TEMPLATE: &str = "\
SYNOPSIS
  {usage}

DESCRIPTION
{about}

COMMANDS
{subcommands}

OPTIONS
{options}

EXAMPLES{after-help}
";

/// Help of mngr itself.
pub(crate) const TOP_TEMPLATE: &str = "\
mngr {version}: {about}

SYNOPSIS
  mngr COMMAND [OPTIONS]
  mngr help [COMMAND|TOPIC]

COMMANDS
{subcommands}

OPTIONS
{options}

EXAMPLES{after-help}
";

/// What most people do first.
pub(crate) const TOP_EXAMPLES: &str = "  \
  mngr create fix-login -- codex      start an agent in a git worktree of its own
  mngr list                           see what all agents are doing
  mngr message fix-login 'go on'      tell one something
  mngr connect fix-login              watch it in its terminal
  mngr pull fix-login                 bring its branch here
  mngr destroy fix-login              put it away (`mngr undo` brings it back)";

/// Help of the verb these words name; of mngr itself without words. `None` when there is no such verb.
pub(crate) fn of<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let mut command = cli::command();
    let mut name = cli::NAME.to_owned();
    for word in words {
        let found = command.find_subcommand(word.as_ref())?.clone();
        name = format!("{name} {}", found.get_name());
        command = found.bin_name(&name);
        command.build();
    }
    Some(render(command))
}

/// clap's short layout, one line per option where it fits, with the long description.
fn render(mut command: Command) -> String {
    if let Some(about) = command.get_long_about().cloned() {
        command = command.about(about);
    }
    let text = command.render_help().to_string();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        // clap puts a colon after its headings and blank lines before the last part.
        let line = if is_heading(line) { line.trim_end_matches(':') } else { line.trim_end() };
        if line.is_empty() && lines.last().is_some_and(|last| last.is_empty() || is_heading(last)) {
            continue;
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

/// Whether a line of help is the name of a section.
pub(crate) fn is_heading(line: &str) -> bool {
    let name = line.trim_end_matches(':');
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == ' ') && !name.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_all_sections_in_order() {
        let top = cli::command();
        for verb in top.get_subcommands() {
            let help = of(&[verb.get_name()]).unwrap();
            let sections = ["SYNOPSIS\n", "DESCRIPTION\n", "OPTIONS\n", "EXAMPLES\n  mngr "];
            let places: Vec<Option<usize>> = sections.iter().map(|section| help.find(section)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{help}");
        }
    }

    #[test]
    fn nested_commands_are_found_by_their_short_names_too() {
        assert!(of(&["cfg", "get"]).unwrap().contains("mngr config get [OPTIONS] <KEY>"));
        assert!(of(&["config", "nope"]).is_none());
    }

    #[test]
    fn no_two_lines_in_a_row_are_blank() {
        for words in [&[][..], &["list"], &["config"]] {
            assert!(!of(words).unwrap().contains("\n\n\n"), "{words:?}");
        }
    }
}
