//! The lines of `run.jsonl`: their types, their spelling, and how a file of them is read. What they add up to is in
//! `fold`.
//!
//! A reader skips what it does not know: an event or a field of a later version, a line cut short by a crash.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::ChangeKind;
use super::final_run::FinalRun;
use super::measure::{MeasuredRun, Verdict, What};
use super::outcome::Outcome;
use super::stage::Stage;
use super::strength::Strength;
use super::task::{AttemptNumber, QueueReason, RunName, TaskId};
use crate::permission::Refusal;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was written.
    pub time: Timestamp,
    /// Its number, from 1 upwards. A line with a number that was already read says nothing new.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first line.
    RunStarted(Started),
    /// The run goes on after its orchestrator had ended.
    RunResumed,
    /// A task is part of the run.
    TaskQueued(Queued),
    /// A task is at another stage, or more is known about its stage.
    Stage(StageChange),
    /// An agent published a well-formed outcome.
    Outcome(Published),
    /// A test was run by mngr itself.
    Measured(Measured),
    /// The commits of an attempt were looked at.
    Classified(Classified),
    /// How strong the tests of an attempt are was looked at.
    Strength(Strength),
    /// The agent of an attempt was refused tools.
    Refused(RefusedTools),
    /// A step of putting the changes together.
    Integration(Integration),
    /// Checks were run while changes were put together. Whoever goes on does not run them again.
    Checked(Checked),
    /// What goes on where nothing else is noted for a while.
    Working(Working),
    /// Every test of the result was run at its tip.
    FinalRun(FinalRun),
    /// A cause common to many tasks was met or has gone.
    Breaker(Breaker),
    /// A limit was reached.
    Budget(BudgetNote),
    /// The orchestrator is done.
    RunEnded {
        /// Why.
        reason: EndReason,
    },
    /// An event of a later version.
    #[serde(other)]
    Unknown,
}

/// `run_started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The run.
    pub run: RunName,
    /// The variant: what the names of its agents begin with.
    pub name: String,
    /// The commit all agents start from.
    pub base_commit: String,
    /// How mngr was called.
    #[serde(default)]
    pub command: Vec<String>,
    /// What the run was told, merged from options and settings: all that is needed to go on with it.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// How many tasks it has.
    #[serde(default)]
    pub tasks_total: u64,
}

/// `task_queued`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// The task.
    pub task: TaskId,
    /// Why it is part of the run.
    pub reason: QueueReason,
    /// The end of what its failure printed before any agent; untrusted text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

impl Queued {
    /// A task of which nothing more is known.
    pub fn new(task: TaskId, reason: QueueReason) -> Self {
        Self { task, reason, failure: String::new() }
    }
}

/// `stage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageChange {
    /// The task.
    pub task: TaskId,
    /// Which try of it.
    pub attempt: AttemptNumber,
    /// Where it is now.
    #[serde(flatten)]
    pub stage: Stage,
    /// The name of its agent, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The host of its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What shows it.
    #[serde(default)]
    pub evidence: String,
    /// Tokens this attempt has used so far, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars this attempt has cost so far, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl StageChange {
    /// A change with nothing known beside it.
    pub fn new(task: TaskId, attempt: AttemptNumber, stage: Stage, evidence: impl Into<String>) -> Self {
        let evidence = evidence.into();
        Self { task, attempt, stage, agent: None, host: None, evidence, tokens: None, cost: None }
    }
}

/// `outcome`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The task.
    pub task: TaskId,
    /// Which try of it.
    pub attempt: AttemptNumber,
    /// What the agent says.
    pub outcome: Outcome,
}

/// `refused`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedTools {
    /// The task.
    pub task: TaskId,
    /// Which try of it.
    pub attempt: AttemptNumber,
    /// What was refused, all of it so far.
    pub refusals: Vec<Refusal>,
}

/// `measured`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// The task.
    pub task: TaskId,
    /// Which try of it.
    pub attempt: AttemptNumber,
    /// What was measured.
    pub what: What,
    /// The runs.
    #[serde(default)]
    pub runs: Vec<MeasuredRun>,
    /// In how many of them the framework reported a pass: a status of 0 is not enough. Older runs did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<usize>,
    /// What they come to.
    pub verdict: Verdict,
}

/// `classified`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classified {
    /// The task.
    pub task: TaskId,
    /// Which try of it.
    pub attempt: AttemptNumber,
    /// Its commits, oldest first.
    pub commits: Vec<ClassifiedCommit>,
}

/// A commit of an agent: what it says it is, and what its paths say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassifiedCommit {
    /// Its hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// The kind its subject names, if any.
    #[serde(default)]
    pub claimed: Option<ChangeKind>,
    /// The kind its paths show, where they agree on one.
    #[serde(default)]
    pub measured: Option<ChangeKind>,
    /// What it touches.
    #[serde(default)]
    pub paths: Vec<String>,
}

/// `integration`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    /// Which step.
    pub step: IntegrationStep,
    /// The tasks it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// The commit it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Why it was taken.
    #[serde(default)]
    pub reason: String,
    /// Figures of the step.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

/// The steps of integration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationStep {
    /// It begins, from nothing: what an earlier one came to no longer counts.
    Started,
    /// Equal changes were taken for one.
    Grouped,
    /// A change got its place in the order.
    Ranked,
    /// Test and doc changes became one commit.
    Squashed,
    /// An implementation change was added.
    Picked,
    /// A change was left out.
    Expelled,
    /// Two changes do not fit together.
    Conflict,
    /// Files of a change that no test needs were left out.
    Unneeded,
    /// A change that needs review was added to the review branch.
    Reviewed,
    /// The user took a change over from the review branch.
    Taken,
    /// The checks of the project were run.
    Gated,
    /// An agent was asked for what was left.
    Asked,
    /// The agent that was asked gave a change its place by how much it matters.
    RankedByAgent,
    /// Nobody was asked for what was left, because a limit of the run is reached.
    NotAsked,
    /// A commit was dropped by the user.
    Dropped,
    /// The branch is whole.
    Finished,
    /// A step of a later version.
    #[serde(other)]
    Unknown,
}

/// `checked`: what checks of one tree came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The tree.
    pub tree: String,
    /// Whether the gate of the project passes on it; nothing where it was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<CheckEnd>,
    /// The tests that pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<TaskId>,
    /// The tests that do not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<TaskId, CheckEnd>,
    /// Tests that were seen to fail beside others, which was not confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<TaskId>,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEnd {
    /// Whether it passed.
    #[serde(default)]
    pub passed: bool,
    /// Its status; nothing when it was ended at its deadline.
    #[serde(default)]
    pub exit: Option<i32>,
    /// The end of what it printed, if it did not pass; untrusted text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// `working`: what goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Working {
    /// What, in words.
    pub what: String,
}

/// `breaker`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// Whether launches go on.
    pub state: BreakerState,
    /// The cause, as a cluster of failures names it.
    pub cluster: String,
    /// What changed it.
    #[serde(default)]
    pub reason: String,
}

/// Whether a cause keeps agents from being launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// No launches.
    Open,
    /// One agent is tried.
    Half,
    /// Launches go on.
    Closed,
}

/// `budget`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BudgetNote {
    /// Which limit.
    pub limit: LimitKind,
    /// How much is allowed.
    pub allowed: f64,
    /// How much is used.
    pub used: f64,
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Agents launched.
    Agents,
    /// Tokens used.
    Tokens,
    /// US dollars spent.
    Cost,
    /// Seconds passed.
    Wall,
}

/// Why an orchestrator ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every task has its end.
    Finished,
    /// The user stopped it.
    Interrupted,
    /// A limit was reached.
    Budget,
    /// It could not go on.
    Failed,
}

/// What a file of lines holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// The lines that could be read, in order.
    pub entries: Vec<Entry>,
    /// How many could not.
    pub damaged: usize,
    /// How many bytes at the end are a line without its end.
    pub torn: usize,
}

/// Reads the bytes of a journal. The last line counts only with its end.
pub fn read_lines(bytes: &[u8]) -> Lines {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = Lines { torn: bytes.len() - whole, ..Lines::default() };
    for line in bytes[..whole].split(|byte| *byte == b'\n') {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(entry) => lines.entries.push(entry),
            Err(_) => lines.damaged += 1,
        }
    }
    lines
}
