//! Panes: what they are, what they show, and putting text into them.

use mngr_model::HostPath;

use crate::random;
use crate::tmux::error::TmuxError;
use crate::tmux::server::Tmux;
use crate::tmux::target::{PaneId, SessionName};

/// What tmux says of one pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneFacts {
    /// The pane.
    pub id: PaneId,
    /// Its session.
    pub session: String,
    /// Its window's name.
    pub window: String,
    /// Its window's number.
    pub window_index: u32,
    /// Its first process.
    pub pid: i32,
    /// Its terminal.
    pub tty: HostPath,
    /// Whether a viewer scrolls in it, so that keys would not reach the program.
    pub in_mode: bool,
}

/// How much of a pane to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureRange {
    /// What a viewer sees.
    Visible,
    /// The whole history too.
    Full,
}

/// How the program is told that text is pasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteStyle {
    /// Not at all: as if it were typed.
    Typed,
    /// Between the marks of a bracketed paste, if the program asked for them: line ends are then no Enter.
    Bracketed,
}

/// True once the agent's program has ended: the launch script sets the option. A dead pane, which a user's own server may
/// keep, must not be pasted into either: that crashes tmux 3.3.
const ENDED_OPTION: &str = "#{||:#{pane_dead},#{@mngr_ended}}";
/// What a refused paste prints.
const ENDED_ANSWER: &str = "ended";

const FIELDS: &str =
    "#{pane_id}\t#{session_name}\t#{window_index}\t#{pane_pid}\t#{pane_tty}\t#{pane_in_mode}\t#{window_name}";

impl Tmux<'_> {
    /// All panes of one session, or of the whole server.
    pub fn list_panes(&self, session: Option<&SessionName>) -> Result<Vec<PaneFacts>, TmuxError> {
        let cmd = self.command(None).arg("list-panes");
        let cmd = match session {
            Some(name) => cmd.args(["-s", "-t", &name.session_target()]),
            None => cmd.arg("-a"),
        };
        let output = self.run(&cmd.args(["-F", FIELDS]))?;
        // Not trimmed: the last field, a window's name, may be empty.
        String::from_utf8_lossy(&output.stdout).lines().map(parse_pane).collect()
    }

    /// The text a pane shows, without blank lines at its end.
    pub fn capture(&self, pane: &PaneId, range: CaptureRange) -> Result<String, TmuxError> {
        let mut cmd = self.command(None).args(["capture-pane", "-p", "-t", pane.as_str()]);
        if range == CaptureRange::Full {
            cmd = cmd.args(["-S", "-"]);
        }
        Ok(self.run(&cmd)?.stdout_text())
    }

    /// The text a pane shows, with its colours as escape sequences.
    pub fn capture_styled(&self, pane: &PaneId) -> Result<String, TmuxError> {
        let cmd = self.command(None).args(["capture-pane", "-p", "-e", "-t", pane.as_str()]);
        Ok(self.run(&cmd)?.stdout_text())
    }

    /// Presses Enter, for the program and not for a viewer who scrolls.
    pub fn press_enter(&self, pane: &PaneId) -> Result<(), TmuxError> {
        self.press(pane, &["Enter"])
    }

    /// Presses Ctrl-C: the pane's terminal sends SIGINT to everything in its foreground.
    pub fn press_interrupt(&self, pane: &PaneId) -> Result<(), TmuxError> {
        self.press(pane, &["C-c"])
    }

    /// Presses keys, named as tmux names them, one after the other.
    pub fn press<K: AsRef<str>>(&self, pane: &PaneId, keys: &[K]) -> Result<(), TmuxError> {
        // Copy mode is left right before the key: a viewer may have entered it since the text was pasted.
        let cmd = self
            .command(None)
            .args(["if-shell", "-F", "-t", pane.as_str(), "#{pane_in_mode}"])
            .arg(format!("send-keys -t {pane} -X cancel"))
            .args([";", "send-keys", "-t", pane.as_str()])
            .args(keys.iter().map(|key| key.as_ref().to_owned()));
        self.run(&cmd)?;
        Ok(())
    }

    /// Puts bytes into the pane's input in one piece, whatever mode a viewer is in. `\n` arrives as Enter.
    ///
    /// A buffer, not keys: keys go to copy mode when a viewer scrolls, are looked up in key tables, and text that ends
    /// in `;` would end the command. The buffer's name is random, so senders do not meet.
    pub fn paste(&self, pane: &PaneId, bytes: &[u8], style: PasteStyle) -> Result<(), TmuxError> {
        let buffer = format!("mngr-{}", random::hex32());
        // The launch script sets the option before it hands the terminal to a shell. Check and paste are one step of
        // the server, so no text for an ended agent is ever run by that shell.
        let refuse = format!("delete-buffer -b {buffer} ; display-message -p {ENDED_ANSWER}");
        let flag = match style {
            PasteStyle::Typed => "",
            PasteStyle::Bracketed => " -p",
        };
        let paste = format!("paste-buffer -d{flag} -b {buffer} -t {pane}");
        let cmd = self
            .command(None)
            .args(["load-buffer", "-b", &buffer, "-", ";"])
            .args(["if-shell", "-F", "-t", pane.as_str(), ENDED_OPTION, &refuse, &paste])
            .stdin(bytes);
        match self.run(&cmd) {
            Ok(output) if output.stdout_text() == ENDED_ANSWER => {
                Err(TmuxError::Gone { message: "the agent's program has ended".to_owned() })
            }
            Ok(_) => Ok(()),
            Err(error) => {
                let _ = self.run(&self.command(None).args(["delete-buffer", "-b", &buffer]));
                Err(error)
            }
        }
    }
}

fn parse_pane(line: &str) -> Result<PaneFacts, TmuxError> {
    let parse = || {
        let mut fields = line.splitn(7, '\t');
        Some(PaneFacts {
            id: PaneId::parse(fields.next()?)?,
            session: fields.next()?.to_owned(),
            window_index: fields.next()?.parse().ok()?,
            pid: fields.next()?.parse().ok()?,
            tty: HostPath::new(fields.next()?),
            in_mode: fields.next()? != "0",
            window: fields.next()?.to_owned(),
        })
    };
    parse().ok_or_else(|| TmuxError::Unreadable { answer: line.to_owned(), expected: "a pane" })
}
