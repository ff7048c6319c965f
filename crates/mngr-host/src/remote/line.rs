//! How a line of shell reaches another machine: as a command that is run on this one.
//!
//! Nothing here knows what the line says, and nothing is run.

use crate::proc::{Cmd, Exit};

/// How much of what a link said is repeated in a message.
const DETAIL_CHARS: usize = 300;

/// Whether the line runs under a terminal there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// Pipes: every byte arrives as it was sent.
    None,
    /// A terminal as large as ours, which follows ours when it changes.
    Ours,
}

/// A way to run a line of shell on one other machine.
pub trait Line: Send + Sync {
    /// The machine, for messages.
    fn name(&self) -> &str;

    /// The command on this machine that runs the line there, with its input and output. The user's own login shell reads
    /// the line, whatever it is: a line keeps to single quotes without a backslash or a newline inside.
    fn command(&self, line: &str, terminal: Terminal) -> Cmd;

    /// Whether a command of this line that ended like this speaks of the link, and not of the program at its other end.
    fn is_broken_by(&self, exit: Exit) -> bool;

    /// The command for `rsync -e` and `GIT_SSH_COMMAND`, as words.
    fn copy_shell(&self) -> Vec<String>;

    /// The name of the machine as that command wants it: `NAME:PATH` is a place there.
    fn copy_name(&self) -> String;

    /// The POSIX shell to run there.
    fn shell(&self) -> &str {
        "/bin/sh"
    }
}

/// How ssh ends when it does not trust the other side.
const KEY_FAILURE: &str = "Host key verification failed";
/// What ssh says of a host key before it gives up, and what that means.
const KEY_TROUBLES: [(&str, &str); 2] = [
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "its key is not the one that is known"),
    ("host key is known for", "its key is not known; connect once with `ssh`, or pin it with `host_keys`"),
];

/// The last line of what a link said, fit for a message: the other side may have written anything.
pub(super) fn detail_of(said: &str) -> String {
    let trouble = KEY_TROUBLES.iter().find(|(sign, _)| said.contains(sign));
    if let (Some((_, meaning)), true) = (trouble, said.contains(KEY_FAILURE)) {
        return format!("{KEY_FAILURE}: {meaning}");
    }
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason");
    last.chars().filter(|c| !c.is_control()).take(DETAIL_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_link_said_the_last_line_is_shown_without_controls() {
        assert_eq!(detail_of("banner\nssh: \u{1b}[31mrefused\r\n\n"), "ssh: [31mrefused");
        assert_eq!(detail_of("\n"), "it gave no reason");
        let unknown = "No ED25519 host key is known for box and you have requested strict checking.\n\
                       Host key verification failed.\n";
        assert!(detail_of(unknown).contains("its key is not known"), "{}", detail_of(unknown));
        assert_eq!(detail_of(&"x".repeat(10_000)).len(), DETAIL_CHARS);
    }
}
