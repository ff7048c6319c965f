//! `message`: text into an agent, once, with the proof its type can give.
//!
//! One sender at a time per agent. A key that was delivered before is not typed again; a key of which that is not
//! known is refused, unless the agent itself tells messages apart. Budget: one tmux process per message.

use std::time::Duration;

use mngr_agents::brand::Brand;
use mngr_agents::deliver::{self, Behind, DeliverError, Delivered, Message, Recipient, TextProblem};
use mngr_agents::kind::Kind;
use mngr_agents::manifest::Framing;
use mngr_host::files::FilesError;
use mngr_host::lock::{LockError, LockWait};
use mngr_host::proc::ExecError;
use mngr_host::tmux::{AgentPane, TmuxError};
use mngr_model::delivery::DeliveryLevel;
use mngr_model::facts::{Detail, ProcessFact};
use mngr_model::layout::AgentLayout;
use mngr_model::state::{StateSource, WaitingReason};
use mngr_model::{AgentName, AgentState};

use crate::again::{LookError, look_again};
use crate::awake::{self, WakeError};
use crate::create::agent_type::{self, ResolvedType};
use crate::fleet::Agent;
use crate::visit::Visit;
use crate::world::World;
use crate::{states, terminal, title};

mod answer;
mod key;
mod log;

pub use answer::{AnswerError, answer};
pub use key::{KeyError, MessageKey};
pub use mngr_agents::codex::server::{Answered, Decision};

use log::{Earlier, LastSent, MessageLog, Trace};

/// How long to wait for other senders to the same agent.
const SENDERS_LIMIT: Duration = Duration::from_secs(60);

/// A message to one agent.
#[derive(Debug, Clone)]
pub struct MessageRequest {
    /// The text as given.
    pub text: String,
    /// Sending the same key again delivers nothing. Without one, every call is a message of its own.
    pub idempotency_key: Option<MessageKey>,
    /// How long to wait for proof beyond "written".
    pub patience: Duration,
    /// Start an agent that has stopped or is done, instead of failing.
    pub start: bool,
}

/// A delivered message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// How far it certainly got: the highest level the agent's type can prove.
    pub level: DeliveryLevel,
    /// Its key.
    pub key: MessageKey,
    /// An earlier call had delivered it; nothing was typed now.
    pub was_repeated: bool,
    /// The dialog that keeps the agent from it, where one was open by then.
    pub blocked_by: Option<String>,
}

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The text cannot be a message.
    #[error("this text cannot be sent")]
    Text(#[from] TextProblem),
    /// The agent is in a state in which it cannot read.
    #[error("agent `{name}` cannot take messages: it is {state} ({evidence})")]
    NotReceiving {
        /// Its name.
        name: AgentName,
        /// Its state.
        state: AgentState,
        /// Why that is believed.
        evidence: String,
    },
    /// Its process lives, but nothing can be typed into it.
    #[error("agent `{name}` has no terminal: {evidence}")]
    NoTerminal {
        /// Its name.
        name: AgentName,
        /// What is known of it.
        evidence: String,
    },
    /// It runs without a terminal, so it reads nothing that is typed.
    #[error("agent `{name}` runs without a terminal and takes no messages")]
    Headless {
        /// Its name.
        name: AgentName,
    },
    /// Nothing was typed: it would have been taken for an answer.
    #[error("agent `{name}` shows a dialog that has to be answered first ({evidence})")]
    DialogOpen {
        /// Its name.
        name: AgentName,
        /// What is known of it.
        evidence: String,
    },
    /// How to talk to agents of its type is not known.
    #[error("agent `{name}` is of type `{agent_type}`, which is not known here")]
    UnknownType {
        /// Its name.
        name: AgentName,
        /// Its type.
        agent_type: String,
    },
    /// The same key was used for another text.
    #[error("the message key `{key}` was used for another text")]
    KeyReused {
        /// The key.
        key: MessageKey,
    },
    /// A command with the same key ended in the middle.
    #[error("a message with the key `{key}` may have been typed already; it is not typed a second time")]
    Uncertain {
        /// The key.
        key: MessageKey,
    },
    /// The agent could not be started.
    #[error("agent `{name}` could not be started")]
    Wake {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: WakeError,
    },
    /// It cannot be seen any more.
    #[error("the message was not sent")]
    Look(#[from] LookError),
    /// It was destroyed while it was sent to.
    #[error("agent `{name}` was destroyed while the message was on its way (reached: {})", .level.as_str())]
    Destroyed {
        /// Its name.
        name: AgentName,
        /// How far the message certainly got.
        level: DeliveryLevel,
    },
    /// Other senders did not finish in time, or the lock could not be taken.
    #[error("cannot get a turn to send to agent `{name}`")]
    Lock {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: LockError,
    },
    /// The attempt could not be noted, so it was not made.
    #[error("cannot keep the log of messages")]
    Log(#[from] FilesError),
    /// It did not get as far as its type can prove.
    #[error("the message to agent `{name}` was not delivered (reached: {})", .source.level().as_str())]
    Deliver {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: DeliverError,
    },
}

impl SendError {
    /// How far the message certainly got.
    pub fn level(&self) -> DeliveryLevel {
        match self {
            Self::Deliver { source, .. } => source.level(),
            Self::Destroyed { level, .. } => *level,
            _ => DeliveryLevel::Nothing,
        }
    }
}

/// Sends one message to one agent, starting the agent first where that is wanted.
pub fn send(world: &World, agent: &Agent, request: &MessageRequest) -> Result<Sent, SendError> {
    let text = deliver::normalize(&request.text)?;
    if agent.is_host_off() && !request.start {
        let (name, state, evidence) = (agent.name().clone(), agent.state.state, agent.state.evidence.clone());
        return Err(SendError::NotReceiving { name, state, evidence });
    }
    let agent = &awake::with_host(world, agent)
        .map_err(|source| SendError::Wake { name: agent.name().clone(), source })?;
    let _visit = Visit::begin(world, &agent.host);
    let result = take_turn(world, agent, request, &text);
    match result {
        Err(SendError::NotReceiving { name, state, .. }) if request.start && state.is_final() => {
            // Outside the turn: a start may have a message of its own to send.
            awake::wake(world, agent).map_err(|source| SendError::Wake { name, source })?;
            take_turn(world, agent, request, &text)
        }
        other => other,
    }
}

/// Waits for the other senders, then sends to the agent as it is by then.
fn take_turn(world: &World, agent: &Agent, request: &MessageRequest, text: &str) -> Result<Sent, SendError> {
    let layout = agent.host.layout().agent(agent.id());
    let _turn = match agent.host.lock(&layout.message_lock(), LockWait::For(SENDERS_LIMIT)) {
        Ok(lock) => lock,
        Err(source) => {
            // A missing folder means a destroyed agent, which is the better answer.
            look_again(agent, Detail::Basic)?;
            return Err(SendError::Lock { name: agent.name().clone(), source });
        }
    };
    let agent = look_closely(world, look_again(agent, Detail::Full)?);
    if agent.facts.record.headless {
        return Err(SendError::Headless { name: agent.name().clone() });
    }
    let kind = kind_of(world, &agent)?;
    refuse_dialog(&agent)?;
    let log = MessageLog::of(agent.host.as_ref(), &layout);
    let key = match &request.idempotency_key {
        None => MessageKey::random(),
        Some(key) => match log.earlier(key)? {
            Earlier::Delivered { level, text: earlier } if earlier == text => {
                return Ok(Sent { level, key: key.clone(), was_repeated: true, blocked_by: None });
            }
            Earlier::Delivered { .. } => return Err(SendError::KeyReused { key: key.clone() }),
            // Such an agent takes each key once, however often it is typed.
            Earlier::Uncertain if kind.delivery().framing == Framing::Framed => key.clone(),
            Earlier::Uncertain => return Err(SendError::Uncertain { key: key.clone() }),
            Earlier::Nothing => key.clone(),
        },
    };
    let pane = receiving_pane(&agent)?;
    let now = || agent.by_its_clock(world.clock.now());
    let facts = &agent.facts;
    let queue = kind.queue(&facts.record, facts.program.as_ref(), &layout, now());
    let last = queue.as_ref().map(|_| log.last()).transpose()?.flatten();
    let is_said = |last: &LastSent| !kind.is_command(&last.text) && !last.text.starts_with('!');
    let behind = queue.as_ref().zip(last.as_ref().filter(|last| is_said(last)));
    let behind = behind.map(|(queue, last)| Behind { queue, text: &last.text, at: last.at, now: now() });
    let message = Message { text, key: key.as_str(), patience: request.patience, behind };
    if let Err(error) = log.typing(now(), &key, text) {
        if error.is_missing() {
            look_again(&agent, Detail::Basic)?;
        }
        return Err(error.into());
    }
    let outcome = type_into(world, &agent, &pane, &layout, &kind, message);
    let noted = match &outcome {
        Ok(delivered) => {
            let title = title::first_words(&agent, text).filter(|_| !kind.is_command(text));
            log.sent(now(), &key, delivered.level, text, title)
        }
        Err(error) => {
            let reason = crate::error_chain(error);
            log.failed(now(), &key, error.level(), trace_of(error), &reason)
        }
    };
    if let Err(error) = noted {
        // Its log is where its state folder is: in the trash, once it is destroyed.
        if error.is_missing() && matches!(look_again(&agent, Detail::Basic), Err(LookError::Gone { .. })) {
            let level = outcome.as_ref().map_or_else(DeliverError::level, |delivered| delivered.level);
            return Err(SendError::Destroyed { name: agent.name().clone(), level });
        }
        // The message is where it is; only a repetition of the key is no longer told apart.
        world.reporter.warn(&format!("the log of messages is incomplete: {}", crate::error_chain(&error)));
    }
    match outcome {
        Ok(delivered) => {
            if let Some(left) = &delivered.left_aside {
                world.reporter.warn(&left.to_string());
            }
            if let Some(other) = &delivered.ran_as {
                world.reporter.warn(&format!("agent `{}` took this for its command `{other}`", agent.name()));
            }
            let blocked_by = blocking_dialog(world, &agent, &delivered);
            Ok(Sent { level: delivered.level, key, was_repeated: false, blocked_by })
        }
        Err(source) => Err(SendError::Deliver { name: agent.name().clone(), source }),
    }
}

/// A dialog that a hook told of may have been answered since: its terminal tells.
fn look_closely(world: &World, mut agent: Agent) -> Agent {
    agent.state = states::look(world, agent.host.as_ref(), &agent.facts);
    agent
}

fn kind_of(world: &World, agent: &Agent) -> Result<Kind, SendError> {
    let agent_type = &agent.facts.record.agent_type;
    let unknown =
        || SendError::UnknownType { name: agent.name().clone(), agent_type: agent_type.to_string() };
    agent_type::resolve(&world.settings, agent_type).map(ResolvedType::kind).map_err(|_| unknown())
}

fn shows_dialog(agent: &Agent) -> bool {
    matches!(
        agent.state.waiting_reason,
        Some(WaitingReason::Permissions | WaitingReason::Question)
            if agent.facts.record.brand.is_some() || agent.state.source == StateSource::Terminal
    )
}

/// What is known of a dialog that is open now. One that opens later is not waited for: its state tells of it.
fn blocking_dialog(world: &World, agent: &Agent, delivered: &Delivered) -> Option<String> {
    let told = look_again(agent, Detail::Basic).ok().filter(shows_dialog);
    let told = told.map(|agent| look_closely(world, agent)).filter(shows_dialog);
    let covered = || "something else is in the place of its input box".to_owned();
    told.map(|agent| agent.state.evidence).or_else(|| delivered.box_is_covered.then(covered))
}

/// Text typed into a dialog would be an answer to it.
fn refuse_dialog(agent: &Agent) -> Result<(), SendError> {
    if shows_dialog(agent) {
        let evidence = agent.state.evidence.clone();
        return Err(SendError::DialogOpen { name: agent.name().clone(), evidence });
    }
    Ok(())
}

/// The pane whose reader is the agent itself. After the agent's end a shell reads there, and a message would be run.
fn receiving_pane(agent: &Agent) -> Result<AgentPane, SendError> {
    let state = &agent.state;
    let has_ended = agent.facts.agent == ProcessFact::Gone;
    if !state.state.accepts_messages() || has_ended {
        let evidence = state.evidence.clone();
        return Err(SendError::NotReceiving { name: agent.name().clone(), state: state.state, evidence });
    }
    terminal::pane_of(agent)
        .ok_or_else(|| SendError::NoTerminal { name: agent.name().clone(), evidence: state.evidence.clone() })
}

fn type_into(
    world: &World,
    agent: &Agent,
    pane: &AgentPane,
    layout: &AgentLayout,
    kind: &Kind,
    message: Message<'_>,
) -> Result<Delivered, DeliverError> {
    let to = Recipient {
        host: agent.host.as_ref(),
        pane,
        agent: layout,
        record: &agent.facts.record,
        kind,
        program: agent.facts.program.as_ref(),
    };
    // That nobody answers is said before a byte is typed, so trying again cannot type twice.
    let is_silence = |error: &DeliverError| matches!(error, DeliverError::Tmux(tmux) if tmux.is_silence());
    terminal::on_server(world, agent, is_silence, |tmux| deliver::deliver(&to, tmux, message))
}

/// What a failure leaves in the terminal. A tmux that was cut off may have done its work.
fn trace_of(error: &DeliverError) -> Trace {
    match error {
        DeliverError::LineTooLong { .. }
        | DeliverError::Unseen
        | DeliverError::Declared(_)
        | DeliverError::BoxInUse
        | DeliverError::NoBox
        | DeliverError::Server(_)
        | DeliverError::Terminal(_) => Trace::NothingTyped,
        DeliverError::Tmux(error) => match error {
            TmuxError::Gone { .. }
            | TmuxError::NoServer { .. }
            | TmuxError::Elsewhere { .. }
            | TmuxError::OtherSocket { .. }
            | TmuxError::Taken { .. }
            | TmuxError::Unreadable { .. } => Trace::NothingTyped,
            TmuxError::Exec(ExecError::NotFound { .. } | ExecError::NoFolder { .. }) => Trace::NothingTyped,
            TmuxError::ServerExited { .. }
            | TmuxError::Failed { .. }
            | TmuxError::Files(_)
            | TmuxError::Exec(_) => Trace::MaybeTyped,
        },
        DeliverError::AndLeftAside { source, .. } => trace_of(source),
        DeliverError::NotAccepted { .. }
        | DeliverError::UnknownCommand { .. }
        | DeliverError::Unrecorded { .. }
        | DeliverError::Proof(_)
        | DeliverError::Watch(_)
        | DeliverError::Interrupted(_) => Trace::MaybeTyped,
    }
}

#[cfg(test)]
mod tests;
