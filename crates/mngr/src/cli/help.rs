//! The look of help: the same sections for every verb, however it is asked for.

use clap::Command;

use crate::cli;
use crate::commands::help;

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
  -h, --help  Show this help

EXAMPLES{after-help}
";

/// Help of mngr itself. The verbs are put in by [`top`]: clap knows no groups.
pub(crate) const TOP_TEMPLATE: &str = "\
mngr {version}: {about}

SYNOPSIS
  mngr COMMAND [OPTIONS]
  mngr help COMMAND|TOPIC
";

/// The verbs, in the order in which they are needed.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "MAKE AGENTS AND LOOK AT THEM",
        &["create", "clone", "list", "connect", "capture", "explain", "event", "usage"],
    ),
    ("WORK WITH THEM", &["message", "transcript", "wait", "exec", "pull", "push"]),
    (
        "LIFE AND DEATH",
        &["stop", "start", "rename", "label", "limit", "migrate", "snapshot", "destroy", "undo", "gc"],
    ),
    ("TUTORIALS, TESTS, RECORDINGS", &["tmr", "tutorial", "record", "replay", "view"]),
    ("MNGR ITSELF", &["config", "help"]),
];

/// What most people do first, and where to read on.
const TOP_END: &str = "\
EXAMPLES
  mngr create fix-login claude        an agent in a git worktree of its own
  mngr list                           what all agents are doing
  mngr message fix-login 'go on'      tell one something
  mngr connect fix-login              its terminal; leave with Ctrl-b d
  mngr pull fix-login --merge         its commits, merged into your branch
  mngr destroy fix-login              gone (`mngr undo fix-login`: back)

OPTIONS
  -h, --help     Show this help; after a command, that command's
  -V, --version  Show the version

TOPICS
";

/// Help of the verb these words name; of mngr itself without words. `None` when there is no such verb.
pub(crate) fn of<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let mut command = cli::command();
    if words.is_empty() {
        return Some(top(command));
    }
    let mut name = cli::NAME.to_owned();
    for word in words {
        let found = command.find_subcommand(word.as_ref())?.clone();
        name = format!("{name} {}", found.get_name());
        command = found.bin_name(&name);
        command.build();
    }
    Some(render(command))
}

/// Help of mngr itself: its verbs in groups, first steps, and where to read on.
fn top(command: Command) -> String {
    let widest = command.get_subcommands().map(|verb| verb.get_name().len()).max().unwrap_or_default();
    let mut page = render(command.clone());
    for (heading, verbs) in GROUPS {
        page += &format!("\n{heading}\n");
        for verb in verbs.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let also =
                verb.get_visible_aliases().map(|alias| format!(" (also: {alias})")).collect::<String>();
            page += &format!("  {:<widest$}  {about}{also}\n", verb.get_name());
        }
    }
    let topics = help::topic_names();
    let topics = topics.chunks(5).map(|names| format!("  {}\n", names.join(", "))).collect::<String>();
    format!("{page}\n{TOP_END}{topics}")
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
    fn every_command_is_in_one_group_of_the_top_page_which_fits_a_narrow_terminal() {
        let top = cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        let mut all: Vec<&str> = top.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        let page = of::<&str>(&[]).unwrap();
        assert!(page.contains("\n  list        List agents and what they are doing (also: ls)\n"), "{page}");
        assert!(page.lines().all(|line| line.len() <= 80), "{page}");
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
