//! A command in a few words that hold nothing a user gave: its arguments may be messages, paths or secrets.

use super::Cmd;

/// Options before the subcommand of git and tmux that take a word.
const WITH_VALUE: [&str; 5] = ["-C", "-c", "-L", "-f", "-S"];

/// Subcommands of git whose next word says what is done.
const GROUPS: [&str; 6] = ["bundle", "remote", "stash", "submodule", "worktree", "config"];

impl Cmd {
    /// `git worktree add`, `tmux new-session`; of other programs the name alone.
    pub fn summary(&self) -> String {
        let program = self.program.rsplit('/').next().unwrap_or_default();
        if !matches!(program, "git" | "tmux") {
            return program.to_owned();
        }
        let mut words = self.args.iter().map(String::as_str);
        let verb = loop {
            match words.next() {
                Some(option) if WITH_VALUE.contains(&option) => drop(words.next()),
                Some(option) if option.starts_with('-') => {}
                other => break other,
            }
        };
        let Some(verb) = verb.filter(|verb| is_word(verb)) else { return program.to_owned() };
        match words.next().filter(|next| GROUPS.contains(&verb) && is_word(next)) {
            Some(next) => format!("{program} {verb} {next}"),
            None => format!("{program} {verb}"),
        }
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() < 24
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_is_done_and_not_with_what() {
        let summary = |words: &[&str]| Cmd::from_words(words.iter().copied()).summary();
        assert_eq!(summary(&["git", "-C", "/x", "-c", "a=b", "worktree", "add", "/p"]), "git worktree add");
        assert_eq!(summary(&["tmux", "-u", "-L", "mngr", "send-keys", "-l", "secret"]), "tmux send-keys");
        assert_eq!(summary(&["git", "commit", "-m", "secret"]), "git commit");
        assert_eq!(summary(&["/usr/bin/sh", "-c", "secret"]), "sh");
        assert_eq!(summary(&["curl", "token"]), "curl");
        assert_eq!(summary(&["git"]), "git");
    }
}
