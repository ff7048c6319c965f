//! Doing something with a pane only if it is the agent's: the proof and the action are one step of the server.
//!
//! A pane's number says nothing by itself: another server gives the same numbers to other panes. The pane's first process
//! does: the caller has seen that it lives and is the agent's, and no other living process has its number.

use crate::proc::Output;
use crate::tmux::error::TmuxError;
use crate::tmux::server::Tmux;
use crate::tmux::target::AgentPane;

/// The first line of an answer, which nothing that a pane shows can come before.
const OWN: &str = "own\n";
const OTHER: &str = "other ";

impl Tmux<'_> {
    /// Runs commands of tmux if the pane is the agent's, and gives what they print. Otherwise nothing is done.
    pub(super) fn run_in(&self, pane: &AgentPane, commands: &str) -> Result<Vec<u8>, TmuxError> {
        let cmd = self
            .command(None)
            .args(["if-shell", "-F", "-t", pane.id().as_str(), &pane.condition()])
            .arg(format!("display-message -p own ; {commands}"))
            .arg(format!("display-message -p '{OTHER}#{{pid}}'"));
        proven(pane, &self.run(&cmd)?)
    }
}

/// What was printed behind the proof.
fn proven(pane: &AgentPane, output: &Output) -> Result<Vec<u8>, TmuxError> {
    if let Some(printed) = output.stdout.strip_prefix(OWN.as_bytes()) {
        return Ok(printed.to_vec());
    }
    let answer = output.stdout_text();
    match answer.strip_prefix(OTHER).and_then(|pid| pid.parse().ok()) {
        Some(answering) => Err(pane.is_not_on(answering)),
        None => Err(TmuxError::Unreadable { answer, expected: "whose pane it is" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::Exit;
    use crate::tmux::target::PaneId;

    fn answer(text: &str) -> Result<Vec<u8>, TmuxError> {
        let pane = AgentPane::new(PaneId::parse("%0").unwrap(), 100, Some(7));
        let output = Output { exit: Exit::Code(0), stdout: text.into(), stderr: Vec::new() };
        proven(&pane, &output)
    }

    #[test]
    fn what_a_pane_shows_is_never_taken_for_a_refusal_nor_for_a_proof() {
        assert_eq!(answer("own\nother 9\n").unwrap(), b"other 9\n");
        assert_eq!(answer("own\n").unwrap(), b"");
        assert!(matches!(answer("other 9\n"), Err(TmuxError::Elsewhere { server: Some(7), answering: 9 })));
        assert!(matches!(answer("other 7\n"), Err(TmuxError::Gone { .. })), "its own server says so");
        assert!(matches!(answer(""), Err(TmuxError::Unreadable { .. })));
    }
}
