//! What a run was told: options and settings merged, kept in the journal, so that it can be gone on with by anybody.
//!
//! Values of variables are not here: they may be secrets, and the journal is read by many.

use std::time::Duration;

use mngr_config::TmrSettings;
use mngr_model::{AgentTypeName, HostPath};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::breaker::BreakerRules;
use crate::budget::Limits;
use crate::collect::Selection;
use crate::plan::AgentsFor;

/// Everything a run was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// The variant: what the names of its agents begin with.
    pub name: String,
    /// The repository.
    pub source: HostPath,
    /// How tests are found and run.
    pub collector: String,
    /// Which tests, and what their framework is told.
    pub selection: Selection,
    /// Which of them get an agent.
    pub agents_for: AgentsFor,
    /// What its agents are.
    pub agents: AgentSettings,
    /// How many at once.
    pub pace: Pace,
    /// How long they are waited for.
    pub patience: Patience,
    /// How often a task is given to another agent after one failed.
    pub retries: u32,
    /// Hard limits.
    pub limits: Limits,
    /// When a common cause stops launches.
    pub breaker: BreakerRules,
    /// Texts that replace the packaged ones.
    pub prompts: OwnPrompts,
    /// How results are measured and put together.
    pub checks: CheckSettings,
    /// Whether an agent is asked for what could not be put together by machine.
    pub integrator: IntegratorUse,
    /// Whether agents are launched although the set-up seems to be wrong.
    #[serde(default)]
    pub force: bool,
}

/// What the agents of a run are. The rest of what they are created with is brought along by the caller.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSettings {
    /// Their type; nothing: the first that is found.
    pub agent_type: Option<AgentTypeName>,
    /// Where they run, a provider or a pool; nothing: here.
    pub provider: Option<String>,
    /// How many may be at work on one host that is made for them.
    #[serde(default)]
    pub agents_per_host: Option<u32>,
    /// The snapshot that hosts made for them begin as.
    #[serde(default)]
    pub snapshot: Option<String>,
    /// Templates of `create`.
    pub templates: Vec<String>,
    /// Further labels.
    pub labels: Vec<String>,
    /// What is appended to the names of the integrator.
    pub reducer_suffix: String,
}

/// How many at once, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Agents that run.
    pub agents: usize,
    /// Agents that are being created.
    pub launches: usize,
    /// At least so long between two launches.
    pub launch_delay: Duration,
    /// How often to look at an agent although nothing seems to change: events can be lost.
    pub look_interval: Duration,
    /// Tests that run, for verification.
    pub tests: usize,
}

/// How long agents are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Patience {
    /// Until an agent is created.
    pub launch: Duration,
    /// Until a mapper has published.
    pub mapper: Duration,
    /// Until the integrator has published.
    pub reducer: Duration,
    /// Until one that waits is reminded.
    pub idle: Duration,
    /// Until one that was reminded is given up.
    pub nudge: Duration,
    /// Until one without a sign of work is reminded.
    pub silent: Duration,
    /// Until one whose service refuses requests is reminded.
    pub rate_limit: Duration,
    /// Until a host that does not answer is given up.
    #[serde(default = "host_patience")]
    pub host: Duration,
}

/// That of runs whose journal does not say.
const fn host_patience() -> Duration {
    Duration::from_secs(120)
}

/// Prompts of the user's own, as text: the files may change before the run is resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPrompts {
    /// Of mappers.
    pub mapper: Option<String>,
    /// Of the integrator.
    pub reducer: Option<String>,
}

/// How results are measured and put together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckSettings {
    /// Where tests run, a provider or a pool; nothing: here.
    #[serde(default)]
    pub place: Option<String>,
    /// How often each measurement is repeated.
    pub runs: usize,
    /// What every commit of the result has to pass.
    pub gate: Option<String>,
    /// How long that may take.
    pub gate_timeout: Duration,
}

/// Whether an agent is asked for what could not be put together by machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegratorUse {
    /// If anything is left.
    WhenNeeded,
    /// Never: what is left is only reported.
    Never,
}

impl AgentSettings {
    /// How many may be at work on one host where nobody says.
    pub const USUAL_AGENTS_PER_HOST: u32 = 4;

    /// How many may be at work on one host that is made for them.
    pub fn per_host(&self) -> u32 {
        self.agents_per_host.unwrap_or(Self::USUAL_AGENTS_PER_HOST)
    }
}

impl Patience {
    /// What the settings say, with the time that mappers and the integrator get.
    pub fn of(settings: &TmrSettings, mapper: Duration, reducer: Duration) -> Self {
        Self {
            launch: settings.launch_timeout.get(),
            mapper,
            reducer,
            idle: settings.idle_grace.get(),
            nudge: settings.nudge_patience.get(),
            silent: settings.silent_after.get(),
            rate_limit: settings.rate_limit_patience.get(),
            host: settings.host_patience.get(),
        }
    }
}

impl RunSettings {
    /// As it is kept in the journal.
    ///
    /// # Errors
    /// When it cannot be spelled.
    pub fn to_map(&self) -> Result<Map<String, Value>, serde_json::Error> {
        match serde_json::to_value(self)? {
            Value::Object(map) => Ok(map),
            _ => Ok(Map::new()),
        }
    }

    /// From the journal.
    ///
    /// # Errors
    /// When another version wrote it, in a way that cannot be read.
    pub fn from_map(map: &Map<String, Value>) -> Result<Self, serde_json::Error> {
        serde_json::from_value(Value::Object(map.clone()))
    }
}
