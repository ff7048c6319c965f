//! Sessions: made whole in one call, ended by exact name.

use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::{AgentId, HostPath};

use crate::errand::{Errand, ErrandDone, ErrandError};
use crate::files::Change;
use crate::host::AwaitedLine;
use crate::proc::{Cmd, Output};
use crate::tmux::error::TmuxError;
use crate::tmux::quote::word;
use crate::tmux::server::{Socket, Tmux};
use crate::tmux::target::{AgentPane, PaneId, SessionName};

/// How often a server that exits while we speak to it is tried again, and after which pause.
const EXIT_RETRIES: u32 = 20;
const EXIT_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// Stands in for the session of an agent that is not on the server.
const NOT_THERE: &str = "this-agent-is-on-another-tmux-server";

/// A further window.
#[derive(Debug, Clone)]
pub struct ExtraWindow {
    /// Its name, where the user gave one.
    pub name: Option<String>,
    /// The words it runs, without a shell in between.
    pub words: Vec<String>,
}

/// Whether a call may start a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerStart {
    /// It may: nobody lives on one that could be reached.
    Allowed,
    /// It must not: agents live on a server that may only have lost its socket. Needs tmux 3.2.
    Forbidden,
}

/// Which sessions of a name count as an agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionClaim {
    /// Only those that were made for it.
    Marked,
    /// Also those that say nothing, as the Python mngr made them.
    NotMarkedOtherwise,
}

/// Whose session it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionOwner {
    /// No server answers.
    NoServer,
    /// There is no session of that name.
    NoSession,
    /// It was made for this agent.
    Agent(AgentId),
    /// It says nothing: the user's own, or one of another program.
    Unmarked,
}

/// A session to be made.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its exact name.
    pub name: SessionName,
    /// The name of its first window.
    pub window: String,
    /// Columns and lines.
    pub size: (u16, u16),
    /// tmux's `window-size`, if not the server's default.
    pub window_size: Option<String>,
    /// Where its processes start.
    pub dir: HostPath,
    /// Variables of every process in the session. They are seen by other users of the machine: no secrets here.
    pub env: Vec<(String, String)>,
    /// The words the first window runs.
    pub words: Vec<String>,
    /// What new windows and splits run.
    pub default_command: String,
    /// Further windows.
    pub extra: Vec<ExtraWindow>,
    /// Variables to be kept out of a server this call may start.
    pub unset: Vec<String>,
    /// The configuration of a server this call may start.
    pub config: HostPath,
    /// Whether this call may start a server.
    pub server: ServerStart,
}

impl NewSession {
    /// Whose session it will be.
    fn agent(&self) -> Option<AgentId> {
        let mark = self.env.iter().find(|(name, _)| name == MNGR_AGENT_ID);
        mark.and_then(|(_, id)| AgentId::parse(id))
    }
}

impl Tmux<'_> {
    /// The one call that makes the session and prints the pane its program runs in.
    pub fn new_session_command(&self, new: &NewSession) -> Cmd {
        let dir = escape_separator(&escape_format(new.dir.as_str()));
        let (width, height) = (new.size.0.to_string(), new.size.1.to_string());
        let mut cmd = self.command(Some(&new.config));
        if new.server == ServerStart::Forbidden {
            cmd = cmd.arg("-N");
        }
        for name in &new.unset {
            cmd = cmd.env_remove(name);
        }
        cmd = cmd.args([
            "new-session",
            "-d",
            "-P",
            "-F",
            "#{pane_id} #{pane_pid} #{pid}",
            "-s",
            new.name.as_str(),
            "-n",
            &escape_separator(&new.window),
        ]);
        cmd = cmd.args(["-x", &width, "-y", &height, "-c", &dir]);
        for (name, value) in &new.env {
            cmd = cmd.arg("-e").arg(format!("{name}={value}"));
        }
        cmd = cmd.args(new.words.iter().map(|word| escape_separator(word)));
        cmd = cmd.args([
            ";",
            "set-option",
            "-t",
            &new.name.pane_target(),
            "default-command",
            &new.default_command,
        ]);
        if let Some(size) = &new.window_size {
            cmd = cmd.args([
                ";",
                "set-option",
                "-t",
                &new.name.pane_target(),
                "window-size",
                &escape_separator(size),
            ]);
        }
        for window in &new.extra {
            // -d: the agent's window stays the one a viewer sees first.
            cmd = cmd.args([";", "new-window", "-d", "-t", &new.name.pane_target(), "-c", &dir]);
            if let Some(name) = &window.name {
                cmd = cmd.args(["-n", &escape_separator(name)]);
            }
            cmd = cmd.args(window.words.iter().map(|word| escape_separator(word)));
        }
        cmd
    }

    /// Makes the session, in one tmux call, after changes of files that it needs; then waits for a line that its program
    /// writes. Says which pane that runs in, and what the file says. One round trip.
    pub fn new_session(
        &self,
        new: &NewSession,
        changes: &[Change],
        awaited: AwaitedLine<'_>,
    ) -> Result<(AgentPane, Vec<u8>), TmuxError> {
        let done = match self.start_surviving_exit(&self.new_session_command(new), changes, awaited) {
            Ok(done) => done,
            Err(error) => {
                // A later command of the list may have failed: no half-made session stays. A session that was there
                // before is not ours to end, and where a change failed or no server answered there is none.
                let is_none = matches!(
                    error,
                    TmuxError::Taken { .. } | TmuxError::Files(_) | TmuxError::NoServer { .. }
                );
                if let Some(agent) = new.agent().filter(|_| !is_none) {
                    let _ = self.kill_session_of(&new.name, &agent, SessionClaim::Marked);
                }
                return Err(error);
            }
        };
        let answer = done.output.stdout_text();
        let first = answer.lines().next().unwrap_or_default();
        let pane = parse_pane(first)
            .ok_or_else(|| TmuxError::Unreadable { answer: answer.clone(), expected: "a new pane" })?;
        Ok((pane, done.said))
    }

    /// Makes changes, runs a command that may meet a server on its way out, and so may have to start another one, and
    /// waits for a line.
    fn start_surviving_exit(
        &self,
        cmd: &Cmd,
        mut changes: &[Change],
        awaited: AwaitedLine<'_>,
    ) -> Result<ErrandDone, TmuxError> {
        let mut tries = 0;
        loop {
            let done = match self.host.run_errand(&Errand { changes, cmd, then: &[], awaited: Some(awaited) })
            {
                Ok(done) if done.output.success() => return Ok(done),
                Ok(done) => done,
                Err(ErrandError::Files(error)) => return Err(TmuxError::Files(error)),
                Err(ErrandError::Exec(error)) => return Err(TmuxError::Exec(error)),
            };
            match TmuxError::of(&done.output) {
                TmuxError::ServerExited { .. } if tries < EXIT_RETRIES => {
                    tries += 1;
                    changes = &[];
                    std::thread::sleep(EXIT_PAUSE);
                }
                error => return Err(error),
            }
        }
    }

    /// Runs a command that may meet a server on its way out, and so may have to start another one.
    fn run_surviving_exit(&self, cmd: &Cmd) -> Result<Output, TmuxError> {
        let mut tries = 0;
        loop {
            match self.run(cmd) {
                Err(TmuxError::ServerExited { .. }) if tries < EXIT_RETRIES => {
                    tries += 1;
                    std::thread::sleep(EXIT_PAUSE);
                }
                other => return other,
            }
        }
    }

    /// Does something with the session of exactly that name, if it is this agent's, in one step of the server. No such
    /// session, or somebody else's, is success.
    fn run_on_session(
        &self,
        name: &SessionName,
        agent: &AgentId,
        claim: SessionClaim,
        command: &str,
    ) -> Result<(), TmuxError> {
        // A format knows the variables of the session it is about.
        let marked = format!("#{{==:#{{{MNGR_AGENT_ID}}},{agent}}}");
        let condition = match claim {
            SessionClaim::Marked => marked,
            SessionClaim::NotMarkedOtherwise => format!("#{{||:{marked},#{{==:#{{{MNGR_AGENT_ID}}},}}}}"),
        };
        let cmd = self.command(None).args(["if-shell", "-F", "-t", &name.pane_target(), &condition, command]);
        match self.run_surviving_exit(&cmd) {
            Ok(_) => Ok(()),
            Err(error) if error.is_gone() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The names of all sessions of the server; none when there is no server.
    pub fn session_names(&self) -> Result<Vec<SessionName>, TmuxError> {
        match self.run(&self.command(None).args(["list-sessions", "-F", "#{session_name}"])) {
            Ok(output) => {
                Ok(output.stdout_text().lines().filter_map(|name| SessionName::new(name).ok()).collect())
            }
            Err(error) if error.is_gone() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Whose session of exactly that name it is: sessions are marked with their agent when they are made.
    pub fn session_owner(&self, name: &SessionName) -> Result<SessionOwner, TmuxError> {
        let words = ["show-environment", "-t", &name.session_target(), MNGR_AGENT_ID];
        match self.run_surviving_exit(&self.command(None).args(words)) {
            Ok(output) => {
                let text = output.stdout_text();
                let id = text.trim().strip_prefix(MNGR_AGENT_ID).and_then(|rest| rest.strip_prefix('='));
                Ok(id.and_then(AgentId::parse).map_or(SessionOwner::Unmarked, SessionOwner::Agent))
            }
            Err(error) if error.is_silence() => Ok(SessionOwner::NoServer),
            Err(error) if error.is_gone() => Ok(SessionOwner::NoSession),
            Err(TmuxError::Failed { message }) if message.contains("unknown variable") => {
                Ok(SessionOwner::Unmarked)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends a session of this agent. No such session, or somebody else's, is success.
    pub fn kill_session_of(
        &self,
        name: &SessionName,
        agent: &AgentId,
        claim: SessionClaim,
    ) -> Result<(), TmuxError> {
        self.run_on_session(name, agent, claim, &format!("kill-session -t {}", word(&name.session_target())))
    }

    /// Renames a session of this agent. No such session is success: a stopped agent has none.
    pub fn rename_session_of(
        &self,
        from: &SessionName,
        to: &SessionName,
        agent: &AgentId,
        claim: SessionClaim,
    ) -> Result<(), TmuxError> {
        let rename = format!("rename-session -t {} {to}", word(&from.session_target()));
        self.run_on_session(from, agent, claim, &rename)
    }

    /// The command that shows a session in this terminal. `inside` is the value of `TMUX`, if mngr itself runs in a
    /// pane: on the same server the viewer switches, on another one it attaches a second time. It fails if the server that
    /// answers by then does not have the agent's pane.
    pub fn attach_command(
        &self,
        pane: &AgentPane,
        name: &SessionName,
        inside: Option<&str>,
        attach_args: &[String],
    ) -> Cmd {
        let only_there = |cmd: Cmd, show: &str| {
            // tmux has no command that only fails; this one says why.
            let fail = format!("attach-session -t '={NOT_THERE}'");
            let show = format!("{show} -t {}", word(&name.session_target()));
            cmd.args(["if-shell", "-F", "-t", pane.id().as_str(), &pane.condition(), &show, &fail])
        };
        let is_same_server = match (self.socket, inside) {
            (_, None) => false,
            (Socket::Private(socket), Some(tmux)) => socket_name(tmux) == socket,
            (Socket::UserDefault, Some(tmux)) => socket_name(tmux) == "default",
        };
        if let (true, Some(tmux)) = (is_same_server, inside) {
            return only_there(self.command(None).env("TMUX", tmux), "switch-client");
        }
        only_there(self.command(None).args(attach_args.iter().cloned()), "attach-session")
    }
}

/// Reads what a new session prints of its pane.
fn parse_pane(line: &str) -> Option<AgentPane> {
    let mut words = line.split(' ');
    let id = PaneId::parse(words.next()?)?;
    Some(AgentPane::new(id, words.next()?.parse().ok()?, words.next()?.parse().ok()))
}

/// The socket's name in `TMUX=/tmp/tmux-0/name,pid,session`.
fn socket_name(tmux: &str) -> &str {
    tmux.split(',').next().unwrap_or_default().rsplit('/').next().unwrap_or_default()
}

/// tmux expands formats in `-c`, and `#(...)` is a format that runs a program: a folder may be named like that.
fn escape_format(text: &str) -> String {
    text.replace('#', "##")
}

/// tmux takes an argument that ends in `;` as the end of a command.
fn escape_separator(word: &str) -> String {
    match word.strip_suffix(';') {
        Some(head) => format!("{head}\\;"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_ends_in_a_semicolon_does_not_end_the_command() {
        assert_eq!(escape_separator("echo a;"), "echo a\\;");
        assert_eq!(escape_separator(";"), "\\;");
        assert_eq!(escape_separator("a;b"), "a;b");
    }

    #[test]
    fn the_socket_is_read_from_the_variable() {
        assert_eq!(socket_name("/tmp/tmux-0/mngr-ab,123,0"), "mngr-ab");
    }
}
