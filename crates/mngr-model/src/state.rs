//! What an agent or a host is doing, and what follows from it. How a state is found out is not here.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::background::{BackgroundTask, WakeUp};
use crate::process::ExitStatus;

/// What an agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AgentState {
    /// No process of it is left and it did not end by itself.
    Stopped,
    /// Its process lives and works.
    Running,
    /// Its process lives and waits for somebody.
    Waiting,
    /// It ended, and another program now runs in its terminal.
    Replaced,
    /// Something runs in its terminal, but its type is not known here.
    RunningUnknownAgentType,
    /// It ended by itself, with an exit status.
    Done,
    /// It could not be observed.
    Unknown,
}

/// What a verb may ask of an agent in some state.
impl AgentState {
    /// All states, in the order in which they are documented.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Waiting,
        Self::Done,
        Self::Stopped,
        Self::Replaced,
        Self::RunningUnknownAgentType,
        Self::Unknown,
    ];

    /// The upper-case word used in tables, JSON and filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "STOPPED",
            Self::Running => "RUNNING",
            Self::Waiting => "WAITING",
            Self::Replaced => "REPLACED",
            Self::RunningUnknownAgentType => "RUNNING_UNKNOWN_AGENT_TYPE",
            Self::Done => "DONE",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Whether a process of the agent, or one that took its place, is alive: destroying needs `--force`.
    pub fn is_alive(self) -> bool {
        matches!(self, Self::Running | Self::Waiting | Self::Replaced | Self::RunningUnknownAgentType)
    }

    /// Whether a message can reach the agent's own program.
    pub fn accepts_messages(self) -> bool {
        matches!(self, Self::Running | Self::Waiting)
    }

    /// Whether the agent will not leave this state by itself (what `wait` without a state waits for).
    pub fn is_final(self) -> bool {
        matches!(self, Self::Stopped | Self::Done)
    }
}

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not one of {}", .known.join(", "))]
pub struct UnknownState {
    value: String,
    known: Vec<&'static str>,
}

impl FromStr for AgentState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(text)).ok_or_else(|| {
            UnknownState { value: text.to_owned(), known: Self::ALL.map(Self::as_str).to_vec() }
        })
    }
}

/// Why an agent waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitingReason {
    /// It finished a turn and waits for the next message.
    EndOfTurn,
    /// It asks for a permission.
    Permissions,
    /// It asked a question.
    Question,
    /// The model's service refuses further requests for now.
    RateLimited,
    /// The model's service does not accept its credentials.
    Auth,
    /// The model's service failed, or refused the request for good: its last turn broke off.
    ApiError,
    /// It finished a turn; what it started in the background goes on without end.
    Background,
}

impl WaitingReason {
    /// All reasons.
    pub const ALL: [Self; 7] = [
        Self::EndOfTurn,
        Self::Permissions,
        Self::Question,
        Self::RateLimited,
        Self::Auth,
        Self::ApiError,
        Self::Background,
    ];

    /// The reason spelled by that word, if it is one.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::EndOfTurn, Self::Permissions, Self::Question]
            .into_iter()
            .find(|reason| reason.as_str() == word)
    }

    /// The upper-case word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndOfTurn => "END_OF_TURN",
            Self::Permissions => "PERMISSIONS",
            Self::Question => "QUESTION",
            Self::RateLimited => "RATE_LIMITED",
            Self::Auth => "AUTH",
            Self::ApiError => "API_ERROR",
            Self::Background => "BACKGROUND",
        }
    }
}

/// What kind of evidence a state rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateSource {
    /// The process table and the supervisor's record.
    Process,
    /// A marker file the agent or its hooks keep.
    Marker,
    /// What the agent's own program keeps on disk about itself.
    Program,
    /// What its program answers when it is asked.
    Protocol,
    /// What tmux says of the pane.
    Terminal,
    /// The host itself (it is off, or cannot be reached).
    Host,
    /// Nothing could be observed.
    None,
}

impl StateSource {
    /// The lower-case word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Marker => "marker",
            Self::Program => "program",
            Self::Protocol => "protocol",
            Self::Terminal => "terminal",
            Self::Host => "host",
            Self::None => "none",
        }
    }
}

/// A state together with why it is believed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateReport {
    /// What the agent is doing.
    pub state: AgentState,
    /// What kind of evidence decided.
    pub source: StateSource,
    /// The decisive evidence in one sentence fragment.
    pub evidence: String,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
    /// Why it waits, for a waiting agent whose type can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_reason: Option<WaitingReason>,
    /// How the process ended, for an agent that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitStatus>,
    /// The agent's process outlives its terminal.
    pub detached: bool,
    /// What it has going on in the background, where its type can tell.
    pub background: Vec<BackgroundTask>,
    /// When it will go on by itself, where its type can tell.
    pub wakeups: Vec<WakeUp>,
    /// When this is no longer so unless something happens before: whoever waits looks again then.
    #[serde(skip)]
    pub until: Option<Timestamp>,
}

impl StateReport {
    /// A report with the mandatory parts; the rest is unknown.
    pub fn new(state: AgentState, source: StateSource, evidence: impl Into<String>) -> Self {
        Self {
            state,
            source,
            evidence: evidence.into(),
            since: None,
            waiting_reason: None,
            exit: None,
            detached: false,
            background: Vec::new(),
            wakeups: Vec::new(),
            until: None,
        }
    }

    /// The same report with a time.
    #[must_use]
    pub fn since(mut self, since: Option<Timestamp>) -> Self {
        self.since = since;
        self
    }

    /// What it comes to for somebody who takes background work for work until so long after the end of the turn.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration, now: Timestamp) -> Self {
        let is_background = self.waiting_reason == Some(WaitingReason::Background);
        let Some(ended) = self.since.filter(|_| is_background) else { return self };
        let Ok(until) = ended.checked_add(patience) else { return self };
        if now < until {
            self.state = AgentState::Running;
            self.waiting_reason = None;
            self.until = Some(until);
        }
        self
    }

    /// In how long to look again, where time alone changes it.
    pub fn lasts(&self, now: Timestamp) -> Option<Duration> {
        self.until.map(|until| Duration::try_from(until.duration_since(now)).unwrap_or_default())
    }
}

/// What a host is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HostState {
    /// Its image is being made.
    Building,
    /// It comes up.
    Starting,
    /// It answers.
    Running,
    /// It goes down.
    Stopping,
    /// It was stopped on request.
    Stopped,
    /// It stopped because it was idle.
    Paused,
    /// It went away without a reason on record.
    Crashed,
    /// It could not be made.
    Failed,
    /// It is gone for good.
    Destroyed,
    /// It refuses our key.
    Unauthenticated,
    /// It could not be observed.
    Unknown,
}

impl HostState {
    /// The upper-case word used in tables, JSON and filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Building => "BUILDING",
            Self::Starting => "STARTING",
            Self::Running => "RUNNING",
            Self::Stopping => "STOPPING",
            Self::Stopped => "STOPPED",
            Self::Paused => "PAUSED",
            Self::Crashed => "CRASHED",
            Self::Failed => "FAILED",
            Self::Destroyed => "DESTROYED",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Unknown => "UNKNOWN",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_reads_back_from_its_word() {
        for state in AgentState::ALL {
            assert_eq!(state.as_str().parse::<AgentState>(), Ok(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        assert!("RUNING".parse::<AgentState>().unwrap_err().to_string().contains("is not one of RUNNING"));
    }

    #[test]
    fn background_work_is_work_until_patience_ends() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let patience = Duration::from_secs(600);
        let report = |reason| {
            let mut report =
                StateReport::new(AgentState::Waiting, StateSource::Program, "").since(Some(at(1000)));
            report.waiting_reason = Some(reason);
            report
        };
        let early = report(WaitingReason::Background).with_patience(patience, at(1599));
        assert_eq!((early.state, early.waiting_reason), (AgentState::Running, None));
        assert_eq!(early.lasts(at(1599)), Some(Duration::from_secs(1)));
        assert_eq!(early.lasts(at(2000)), Some(Duration::ZERO));
        let late = report(WaitingReason::Background).with_patience(patience, at(1600));
        assert_eq!((late.state, late.lasts(at(1600))), (AgentState::Waiting, None));
        let other = report(WaitingReason::EndOfTurn);
        assert_eq!(other.clone().with_patience(patience, at(1001)), other);
    }
}
