//! Panes: what they are, what they show, and putting text into them.

use mngr_model::HostPath;

use crate::random;
use crate::tmux::error::TmuxError;
use crate::tmux::quote::word;
use crate::tmux::server::Tmux;
use crate::tmux::target::{AgentPane, PaneId};

/// What `Cursor` is read from.
const CURSOR_FIELDS: &str = "#{cursor_x} #{cursor_y} #{cursor_flag}";

/// A pane's cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Counted from 0.
    pub column: usize,
    /// Counted from 0.
    pub row: usize,
    /// Whether the program shows it.
    pub is_shown: bool,
}

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
    /// The process of its server.
    pub server: i32,
    /// Its terminal.
    pub tty: HostPath,
    /// Whether a viewer scrolls in it, so that keys would not reach the program.
    pub in_mode: bool,
}

impl PaneFacts {
    /// The pane as it can be addressed.
    pub fn pane(&self) -> AgentPane {
        AgentPane::new(self.id.clone(), self.pid, Some(self.server))
    }
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
/// What a refused paste prints before it says what is there.
const REFUSED: &str = "refused ";

const FIELDS: &str = "#{pane_id}\t#{session_name}\t#{window_index}\t#{pane_pid}\t#{pid}\t#{pane_tty}\t#{pane_in_mode}\t\
                      #{window_name}";

impl Tmux<'_> {
    /// All panes of the server.
    pub fn list_panes(&self) -> Result<Vec<PaneFacts>, TmuxError> {
        let output = self.run(&self.command(None).args(["list-panes", "-a", "-F", FIELDS]))?;
        // Not trimmed: the last field, a window's name, may be empty.
        String::from_utf8_lossy(&output.stdout).lines().map(parse_pane).collect()
    }

    /// The text a pane shows, without blank lines at its end.
    pub fn capture(&self, pane: &AgentPane, range: CaptureRange) -> Result<String, TmuxError> {
        let history = match range {
            CaptureRange::Visible => "",
            CaptureRange::Full => " -S -",
        };
        Ok(text(&self.run_in(pane, &format!("capture-pane -p -t {}{history}", pane.id()))?))
    }

    /// The text a pane shows, with its colours as escape sequences.
    pub fn capture_styled(&self, pane: &AgentPane) -> Result<String, TmuxError> {
        Ok(text(&self.run_in(pane, &format!("capture-pane -p -e -t {}", pane.id()))?))
    }

    /// The same, with the cursor.
    pub fn capture_with_cursor(&self, pane: &AgentPane) -> Result<(String, Cursor), TmuxError> {
        let id = pane.id();
        let command = format!("display-message -p -t {id} '{CURSOR_FIELDS}' ; capture-pane -p -e -t {id}");
        let shown = text(&self.run_in(pane, &command)?);
        let (cursor, screen) = shown.split_once('\n').unwrap_or((shown.as_str(), ""));
        let mut numbers = cursor.split_whitespace().map(|word| word.parse().unwrap_or_default());
        let mut number = || numbers.next().unwrap_or_default();
        let cursor = Cursor { column: number(), row: number(), is_shown: number() != 0 };
        Ok((screen.to_owned(), cursor))
    }

    /// Has the program draw its screen anew: the window is one column narrower for a moment. Who looks at it sees it flicker.
    pub fn redraw_by_size(&self, pane: &AgentPane) -> Result<(), TmuxError> {
        let id = pane.id();
        // tmux fixes the size of a window that it is told to resize: who chose it before chooses it again.
        let command = format!(
            "set-option -w -F -t {id} @mngr-window-size '#{{window-size}}' ; resize-window -t {id} -L 1 ; \
             resize-window -t {id} -R 1 ; set-option -w -F -t {id} window-size '#{{@mngr-window-size}}' ; \
             set-option -w -u -t {id} @mngr-window-size"
        );
        self.run_in(pane, &command)?;
        Ok(())
    }

    /// Presses Enter, for the program and not for a viewer who scrolls.
    pub fn press_enter(&self, pane: &AgentPane) -> Result<(), TmuxError> {
        self.press(pane, &["Enter"])
    }

    /// Presses Ctrl-C: the pane's terminal sends SIGINT to everything in its foreground.
    pub fn press_interrupt(&self, pane: &AgentPane) -> Result<(), TmuxError> {
        self.press(pane, &["C-c"])
    }

    /// Presses keys, named as tmux names them, one after the other.
    pub fn press<K: AsRef<str>>(&self, pane: &AgentPane, keys: &[K]) -> Result<(), TmuxError> {
        let id = pane.id();
        let keys: Vec<String> = keys.iter().map(|key| word(key.as_ref())).collect();
        // Copy mode is left right before the key: a viewer may have entered it since the text was pasted.
        let press = format!(
            "if-shell -F -t {id} '#{{pane_in_mode}}' 'send-keys -t {id} -X cancel' ; send-keys -t {id} {}",
            keys.join(" ")
        );
        self.run_in(pane, &press)?;
        Ok(())
    }

    /// Puts bytes into the pane's input in one piece, whatever mode a viewer is in. `\n` arrives as Enter.
    ///
    /// A buffer, not keys: keys go to copy mode when a viewer scrolls, are looked up in key tables, and text that ends
    /// in `;` would end the command. The buffer's name is random, so senders do not meet.
    pub fn paste(&self, pane: &AgentPane, bytes: &[u8], style: PasteStyle) -> Result<(), TmuxError> {
        let (id, buffer) = (pane.id(), format!("mngr-{}", random::hex32()));
        // The launch script sets the option before it hands the terminal to a shell. Check and paste are one step of
        // the server, so no text for an ended agent is ever run by that shell, and none reaches another agent.
        let may_paste = format!("#{{&&:{},#{{!=:{ENDED_OPTION},1}}}}", pane.condition());
        let refuse = format!(
            "delete-buffer -b {buffer} ; display-message -p -t {id} '{REFUSED}#{{pid}} #{{pane_pid}}'"
        );
        let flag = match style {
            PasteStyle::Typed => "",
            PasteStyle::Bracketed => " -p",
        };
        let paste = format!("paste-buffer -d{flag} -b {buffer} -t {id}");
        let cmd = self
            .command(None)
            .args(["load-buffer", "-b", &buffer, "-", ";"])
            .args(["if-shell", "-F", "-t", id.as_str(), &may_paste, &paste, &refuse])
            .stdin(bytes);
        match self.run(&cmd) {
            Ok(output) => match output.stdout_text().strip_prefix(REFUSED) {
                None => Ok(()),
                Some(there) => Err(refusal(pane, there)),
            },
            Err(error) => {
                let _ = self.run(&self.command(None).args(["delete-buffer", "-b", &buffer]));
                Err(error)
            }
        }
    }
}

/// Why a paste was refused: the process of the server that answered, then the first process of the pane, if there is one.
fn refusal(pane: &AgentPane, there: &str) -> TmuxError {
    let mut pids = there.split(' ').map(str::parse::<i32>);
    match (pids.next(), pids.next()) {
        (_, Some(Ok(pid))) if pid == pane.pid() => {
            TmuxError::Gone { message: "the agent's program has ended".to_owned() }
        }
        (Some(Ok(answering)), _) => pane.is_not_on(answering),
        _ => TmuxError::Unreadable { answer: there.to_owned(), expected: "whose pane it is" },
    }
}

/// What a pane shows, without blank lines at its end.
fn text(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).trim_end().to_owned()
}

fn parse_pane(line: &str) -> Result<PaneFacts, TmuxError> {
    let parse = || {
        let mut fields = line.splitn(8, '\t');
        Some(PaneFacts {
            id: PaneId::parse(fields.next()?)?,
            session: fields.next()?.to_owned(),
            window_index: fields.next()?.parse().ok()?,
            pid: fields.next()?.parse().ok()?,
            server: fields.next()?.parse().ok()?,
            tty: HostPath::new(fields.next()?),
            in_mode: fields.next()? != "0",
            window: fields.next()?.to_owned(),
        })
    };
    parse().ok_or_else(|| TmuxError::Unreadable { answer: line.to_owned(), expected: "a pane" })
}
