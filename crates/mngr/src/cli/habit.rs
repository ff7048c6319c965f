//! Words that other tools have taught people, and what does that here. A word that is a verb of mngr is none of them.

/// A word people type, and what to say to them.
const HABITS: &[(&[&str], &str)] = &[
    (&["add", "launch", "new", "open", "run", "spawn"], "`mngr create NAME` makes an agent"),
    (&["attach", "enter", "ssh"], "`mngr connect AGENT` shows an agent's terminal"),
    (&["ps", "show", "status", "top"], "`mngr list` shows agents and what they do, `mngr explain AGENT` why"),
    (
        &["log", "logs", "tail"],
        "`mngr capture AGENT` prints its screen, `mngr transcript AGENT` what was said",
    ),
    (
        &["answer", "prompt", "reply", "say", "send", "tell"],
        "`mngr message AGENT TEXT` says something to an agent",
    ),
    (&["end", "kill"], "`mngr stop AGENT` ends an agent and keeps it, `mngr destroy AGENT` puts it away"),
    (
        &["del", "delete", "remove"],
        "`mngr destroy AGENT` puts an agent away; `mngr undo AGENT` brings it back",
    ),
    (&["recover", "restore", "undelete"], "`mngr undo AGENT` brings a destroyed agent back"),
    (&["restart", "resume"], "`mngr start AGENT` starts an agent that is stopped"),
    (&["diff", "fetch", "merge"], "`mngr pull AGENT` brings its branch here, and `--merge` merges it"),
    (&["cp", "copy", "scp"], "`mngr pull AGENT:PATH` and `mngr push AGENT:PATH` copy files"),
    (&["init", "setup"], "there is nothing to prepare: `mngr create NAME` works in any git repository"),
    (&["version"], "`mngr --version` shows it"),
];

/// What to say to somebody who types a word of another tool.
pub(crate) fn advice(word: &str) -> Option<&'static str> {
    HABITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_habit_is_a_verb_and_every_advice_names_one_that_is() {
        let top = crate::cli::command();
        for (words, advice) in HABITS {
            for word in *words {
                assert!(top.find_subcommand(word).is_none(), "{word}");
            }
            for verb in advice.split("`mngr ").skip(1).filter_map(|rest| rest.split([' ', '`']).next()) {
                assert!(verb.starts_with("--") || top.find_subcommand(verb).is_some(), "{verb}");
            }
        }
    }
}
