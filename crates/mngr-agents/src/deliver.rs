//! Getting a message into an agent, and proof that it got there.
//!
//! The caller holds the agent's message lock. Budget: one tmux process per message.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_host::files::FilesError;
use mngr_host::host::{Host, TerminalMode, WatchRequest};
use mngr_host::interrupt::Interrupted;
use mngr_host::proc::ExecError;
use mngr_host::tmux::{AgentPane, PasteStyle, Tmux, TmuxError};
use mngr_host::watch::WatchError;
use mngr_model::delivery::DeliveryLevel;
use mngr_model::facts::ProgramFacts;
use mngr_model::layout::AgentLayout;
use mngr_model::{AgentRecord, HostPath};

use crate::brand::{Brand, QueuePlaces};
use crate::codex::server::ServerError;
use crate::kind::Kind;
use crate::manifest::Framing;
use crate::ordinary::read_ordinary;
use crate::screen::ScreenError;
use crate::scripted;

mod command;
mod draft;
mod order;
mod pasted;
mod proof;
mod served;

use pasted::Errand;
use proof::Proof;

/// The longest line, with its newline, a terminal in canonical mode hands to its reader; the rest would be dropped.
pub const CANONICAL_LINE_LIMIT: usize = 4096;

/// Why a text cannot be a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    /// There is nothing in it.
    #[error("the message is empty")]
    Empty,
    /// A terminal would act on it instead of passing it on.
    #[error("the message holds the control character `{}` at byte {at}; a terminal would act on it", .character.escape_default())]
    Control {
        /// The character.
        character: char,
        /// Where.
        at: usize,
    },
}

/// The text as it is typed: line ends as `\n`, none at the end, nothing a terminal would act on.
pub fn normalize(text: &str) -> Result<String, TextProblem> {
    let text = text.replace("\r\n", "\n");
    let text = text.strip_suffix('\n').unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(TextProblem::Empty);
    }
    let is_bad = |c: char| c.is_control() && c != '\n' && c != '\t';
    match text.char_indices().find(|(_, c)| is_bad(*c)) {
        Some((at, character)) => Err(TextProblem::Control { character, at }),
        None => Ok(text.to_owned()),
    }
}

/// Why a message did not get as far as its type can prove.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// Nothing was typed: the terminal would have cut a line.
    #[error(
        "line {line} of the message has {length} bytes; the agent reads line by line and its terminal passes on less \
         than {CANONICAL_LINE_LIMIT}"
    )]
    LineTooLong {
        /// Which line, counted from 1.
        line: usize,
        /// How long it is.
        length: usize,
    },
    /// Nothing was typed: what settings say of the type cannot be used.
    #[error("what the settings say of the agent's type cannot be used")]
    Declared(#[source] ScreenError),
    /// Nothing, or not all, was typed.
    #[error("cannot type into the agent's terminal")]
    Tmux(#[source] TmuxError),
    /// Nothing was typed: the program would have dropped all of it.
    #[error("the message has nothing that can be seen, and the agent drops such characters")]
    Unseen,
    /// Nothing was typed: it would have been put behind what somebody else has typed.
    #[error("somebody has typed something into the agent's input box and not sent it")]
    BoxInUse,
    /// Nothing was typed: there is nothing to type into.
    #[error("the agent shows no input box; a dialog may be open")]
    NoBox,
    /// The terminal could not be examined.
    #[error("cannot examine the agent's terminal")]
    Terminal(#[source] ExecError),
    /// It was typed, but the agent did not say that it took it.
    #[error("the message was {}, but the agent did not accept it within {} s", .level.as_str(), .after.as_secs_f32())]
    NotAccepted {
        /// How far it got.
        level: DeliveryLevel,
        /// How long the proof was waited for.
        after: Duration,
    },
    /// The program has no such command.
    #[error("the agent does not know this command{}", .said.as_ref().map(|said| format!(": it says `{said}`")).unwrap_or_default())]
    UnknownCommand {
        /// What it said, where that is known.
        said: Option<String>,
    },
    /// It went away, and nothing but the screen tells of it.
    #[error("the command was {}, but the agent keeps no record of it: it is not known whether it ran", .level.as_str())]
    Unrecorded {
        /// How far it got.
        level: DeliveryLevel,
    },
    /// It failed, and what somebody had typed before is not back in the box.
    #[error("{left}")]
    AndLeftAside {
        /// Where it is.
        left: LeftAside,
        /// Why the message failed.
        #[source]
        source: Box<DeliverError>,
    },
    /// The agent's server did not take it.
    #[error("the agent's server did not take the message")]
    Server(#[source] ServerError),
    /// The proof could not be read.
    #[error("the message was written, but its acceptance cannot be read")]
    Proof(#[source] FilesError),
    /// The proof could not be watched.
    #[error("the message was written, but its acceptance cannot be watched")]
    Watch(#[source] WatchError),
    /// The user gave up waiting for the proof.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

impl DeliverError {
    /// How far the message certainly got.
    pub fn level(&self) -> DeliveryLevel {
        match self {
            Self::LineTooLong { .. }
            | Self::Unseen
            | Self::Declared(_)
            | Self::BoxInUse
            | Self::NoBox
            | Self::Tmux(_)
            | Self::Server(_)
            | Self::Terminal(_) => DeliveryLevel::Nothing,
            Self::NotAccepted { level, .. } | Self::Unrecorded { level } => *level,
            Self::UnknownCommand { .. } => DeliveryLevel::Submitted,
            Self::AndLeftAside { source, .. } => source.level(),
            Self::Proof(_) | Self::Watch(_) | Self::Interrupted(_) => DeliveryLevel::Written,
        }
    }
}

/// A message on its way.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The normalized text.
    pub text: &'a str,
    /// Tells this submission from every other one.
    pub key: &'a str,
    /// How long to wait for proof beyond "written".
    pub patience: Duration,
    /// The message before it, where this one could overtake that one.
    pub behind: Option<Behind<'a>>,
}

/// A message that came right before another one.
#[derive(Debug, Clone, Copy)]
pub struct Behind<'a> {
    /// Where it is seen whether the program has begun with it.
    pub queue: &'a QueuePlaces,
    /// What it said.
    pub text: &'a str,
    /// When it was about to be typed, by the clock of the agent's host.
    pub at: Timestamp,
    /// When the other one is.
    pub now: Timestamp,
}

impl Message<'_> {
    /// The error of a message that got no further than this.
    fn stuck_at(&self, level: DeliveryLevel) -> DeliverError {
        DeliverError::NotAccepted { level, after: self.patience }
    }
}

/// Where a message goes.
#[derive(Clone, Copy)]
pub struct Recipient<'a> {
    /// The agent's host.
    pub host: &'a dyn Host,
    /// Its terminal.
    pub pane: &'a AgentPane,
    /// Its state folder.
    pub agent: &'a AgentLayout,
    /// Its record.
    pub record: &'a AgentRecord,
    /// Its type.
    pub kind: &'a Kind,
    /// What its program said of itself.
    pub program: Option<&'a ProgramFacts>,
}

/// A half-typed text that could not be seen in the input box again. The program keeps it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "what was typed in the agent's input box was put aside and is not back; `{}` in its terminal brings it back",
    .keys.join(" ")
)]
pub struct LeftAside {
    /// The keys that bring it back.
    pub keys: Vec<String>,
}

/// A delivered message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// How far it certainly got.
    pub level: DeliveryLevel,
    /// A command of the program's own has put something in the place of its input box.
    pub box_is_covered: bool,
    /// What somebody had typed before and is not back in the box.
    pub left_aside: Option<LeftAside>,
    /// The command of another name that the program took it for.
    pub ran_as: Option<String>,
}

impl Delivered {
    fn plainly(level: DeliveryLevel) -> Self {
        Self { level, box_is_covered: false, left_aside: None, ran_as: None }
    }
}

/// Types the message into the agent's pane and waits for the first proof its type can give.
pub fn deliver(to: &Recipient<'_>, tmux: Tmux<'_>, message: Message<'_>) -> Result<Delivered, DeliverError> {
    to.kind.check().map_err(DeliverError::Declared)?;
    if let Some(delivered) = served::deliver(to, message)? {
        return Ok(delivered);
    }
    if to.kind.drops(message.text) {
        return Err(DeliverError::Unseen);
    }
    match to.kind.delivery().framing {
        Framing::Framed => {
            refuse_long_lines(to.host, tmux, to.pane, message.text)?;
            let bytes = scripted::frame(message.key, message.text);
            tmux.paste(to.pane, bytes.as_bytes(), PasteStyle::Typed).map_err(DeliverError::Tmux)?;
            wait_for_acceptance(to.host, to.agent, message)?;
            Ok(Delivered::plainly(DeliveryLevel::Accepted))
        }
        Framing::Pasted if to.kind.has_input_box() => pasted::deliver(Errand { to, tmux, message }),
        framing => blindly(to, tmux, framing, message).map(Delivered::plainly),
    }
}

/// Into a program whose screen says nothing: its record is the only proof, where it keeps one.
fn blindly(
    to: &Recipient<'_>,
    tmux: Tmux<'_>,
    framing: Framing,
    message: Message<'_>,
) -> Result<DeliveryLevel, DeliverError> {
    let proof = Proof::begin(to, message)?;
    if framing == Framing::Pasted {
        tmux.paste(to.pane, message.text.as_bytes(), PasteStyle::Bracketed).map_err(DeliverError::Tmux)?;
        std::thread::sleep(to.kind.timing().settling(message.text));
        tmux.press_enter(to.pane).map_err(|_| message.stuck_at(DeliveryLevel::Written))?;
    } else {
        refuse_long_lines(to.host, tmux, to.pane, message.text)?;
        let line = format!("{}\n", message.text);
        tmux.paste(to.pane, line.as_bytes(), PasteStyle::Typed).map_err(DeliverError::Tmux)?;
    }
    let Some(mut proof) = proof else { return Ok(DeliveryLevel::Written) };
    if proof.wait(to, message, message.patience)? {
        Ok(DeliveryLevel::Accepted)
    } else {
        Err(message.stuck_at(DeliveryLevel::Written))
    }
}

fn refuse_long_lines(
    host: &dyn Host,
    tmux: Tmux<'_>,
    pane: &AgentPane,
    text: &str,
) -> Result<(), DeliverError> {
    let too_long = text.lines().enumerate().find(|(_, line)| line.len() + 1 >= CANONICAL_LINE_LIMIT);
    let Some((index, line)) = too_long else { return Ok(()) };
    let panes = tmux.list_panes().map_err(DeliverError::Tmux)?;
    let tty: Option<HostPath> =
        panes.into_iter().find(|facts| facts.pid == pane.pid()).map(|facts| facts.tty);
    let mode = match tty {
        Some(tty) => host.terminal_mode(&tty).map_err(DeliverError::Terminal)?,
        // Without its terminal the cautious answer is the right one: nothing typed, nothing cut.
        None => TerminalMode::Canonical,
    };
    match mode {
        TerminalMode::Raw => Ok(()),
        TerminalMode::Canonical => Err(DeliverError::LineTooLong { line: index + 1, length: line.len() }),
    }
}

fn wait_for_acceptance(
    host: &dyn Host,
    agent: &AgentLayout,
    message: Message<'_>,
) -> Result<(), DeliverError> {
    let started = Instant::now();
    let accepted = scripted::accepted_file(agent);
    let folder = accepted.parent().unwrap_or_else(|| agent.root().clone());
    // Watch first, look second: an acceptance in between would otherwise go unseen.
    let request = WatchRequest { folders: vec![folder], processes: Vec::new() };
    let mut watch = host.watch(&request).map_err(DeliverError::Watch)?;
    loop {
        let text = read_ordinary(host.files(), &accepted).map_err(DeliverError::Proof)?;
        let is_destroyed = || Ok::<_, FilesError>(!host.files().exists(agent.root())?);
        if text.is_none() && is_destroyed().map_err(DeliverError::Proof)? {
            // Nobody is left to accept it.
            return Err(DeliverError::NotAccepted {
                level: DeliveryLevel::Written,
                after: started.elapsed(),
            });
        }
        let text = text.unwrap_or_default();
        if String::from_utf8_lossy(&text).lines().any(|line| line == message.key) {
            return Ok(());
        }
        let Some(left) = message.patience.checked_sub(started.elapsed()).filter(|left| !left.is_zero())
        else {
            return Err(DeliverError::NotAccepted { level: DeliveryLevel::Written, after: message.patience });
        };
        watch.wait(left.min(Duration::from_secs(1)))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_refused() {
        for (text, character) in
            [("a\u{3}b", '\u{3}'), ("\u{1b}[A", '\u{1b}'), ("x\u{4}", '\u{4}'), ("a\rb", '\r')]
        {
            assert!(
                matches!(normalize(text), Err(TextProblem::Control { character: c, .. }) if c == character)
            );
        }
        assert_eq!(normalize(" \n"), Err(TextProblem::Empty));
    }

    #[test]
    fn lines_tabs_and_unicode_are_kept_and_one_line_end_is_cut() {
        assert_eq!(normalize("a\r\n\tbé\\\n").unwrap(), "a\n\tbé\\");
        assert_eq!(normalize("-n").unwrap(), "-n");
        assert_eq!(normalize("a\n\n").unwrap(), "a\n");
    }
}
