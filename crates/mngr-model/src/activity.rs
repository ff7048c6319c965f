//! What counts as using a host, and when a host that nobody uses is stopped. Who looks, and who stops, is not here.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Something that shows that a host is used.
    ActivitySource {
        /// Somebody types into an agent's terminal.
        User = "user",
        /// An agent says that it works.
        Agent = "agent",
        /// Somebody works on the host from another machine.
        Ssh = "ssh",
        /// An agent was created.
        Create = "create",
        /// An agent was started.
        Start = "start",
        /// The host was started.
        Boot = "boot",
        /// The program of an agent lives.
        Process = "process",
    }
}

words! {
    /// A name for a set of sources.
    IdleMode {
        /// Everything but the mere life of programs.
        Io = "io",
        /// What people do.
        User = "user",
        /// What agents do.
        Agent = "agent",
        /// Work from another machine.
        Ssh = "ssh",
        /// Only creations.
        Create = "create",
        /// Only the start of the host.
        Boot = "boot",
        /// Starts of agents and of the host.
        Start = "start",
        /// As long as the programs of agents live.
        Run = "run",
        /// Nothing counts, and the host is never stopped for want of use.
        Disabled = "disabled",
        /// Any other set.
        Custom = "custom",
    }
}

impl IdleMode {
    /// The sources it stands for; none is certain for [`IdleMode::Custom`].
    pub fn sources(self) -> Option<BTreeSet<ActivitySource>> {
        use ActivitySource::{Agent, Boot, Create, Process, Ssh, Start, User};
        let sources: &[ActivitySource] = match self {
            Self::Io => &[User, Agent, Ssh, Create, Start, Boot],
            Self::User => &[User, Ssh, Create, Start, Boot],
            Self::Agent => &[Agent, Ssh, Create, Start, Boot],
            Self::Ssh => &[Ssh, Create, Start, Boot],
            Self::Create => &[Create],
            Self::Boot => &[Boot],
            Self::Start => &[Start, Boot],
            Self::Run => &[Create, Start, Boot, Process],
            Self::Disabled => &[],
            Self::Custom => return None,
        };
        Some(sources.iter().copied().collect())
    }

    /// The name of a set of sources.
    pub fn of(sources: &BTreeSet<ActivitySource>) -> Self {
        let is_it = |mode: &&Self| mode.sources().as_ref() == Some(sources);
        Self::ALL.iter().find(is_it).copied().unwrap_or(Self::Custom)
    }
}

/// When a host is stopped without being asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Spelled", into = "Spelled")]
pub struct ActivityConfig {
    /// How long nothing may happen, in whole seconds.
    pub idle_timeout: Duration,
    /// What counts as something.
    pub sources: BTreeSet<ActivitySource>,
    /// How long it may run at all, in whole seconds.
    pub max_host_age: Option<Duration>,
}

impl ActivityConfig {
    /// A host without a word about it is never stopped.
    pub fn never() -> Self {
        Self { idle_timeout: DEFAULT_IDLE_TIMEOUT, sources: BTreeSet::new(), max_host_age: None }
    }

    /// The name of its sources.
    pub fn mode(&self) -> IdleMode {
        IdleMode::of(&self.sources)
    }

    /// Whether it is stopped when nobody uses it.
    pub fn counts_idleness(&self) -> bool {
        !self.sources.is_empty()
    }
}

/// How long nothing may happen on a host where nobody says.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(800);

/// Whole seconds, rounded up: those who look count no smaller ones.
pub fn whole_seconds(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0)))
}

/// How it is written down. The mode follows from the sources.
#[derive(Serialize, Deserialize)]
struct Spelled {
    #[serde(default, deserialize_with = "whole")]
    idle_timeout_seconds: Option<u64>,
    #[serde(default)]
    idle_mode: Option<IdleMode>,
    #[serde(default)]
    activity_sources: Option<BTreeSet<ActivitySource>>,
    #[serde(default, deserialize_with = "whole")]
    max_host_age: Option<u64>,
}

/// Others write whole numbers as `800.0`.
fn whole<'de, D: serde::Deserializer<'de>>(text: D) -> Result<Option<u64>, D::Error> {
    let seconds: Option<f64> = Option::deserialize(text)?;
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Ok(duration.map(|duration| whole_seconds(duration).as_secs()))
}

impl From<Spelled> for ActivityConfig {
    fn from(spelled: Spelled) -> Self {
        let of_mode = || spelled.idle_mode.and_then(IdleMode::sources);
        Self {
            idle_timeout: spelled.idle_timeout_seconds.map_or(DEFAULT_IDLE_TIMEOUT, Duration::from_secs),
            max_host_age: spelled.max_host_age.map(Duration::from_secs),
            sources: spelled.activity_sources.clone().or_else(of_mode).unwrap_or_default(),
        }
    }
}

impl From<ActivityConfig> for Spelled {
    fn from(config: ActivityConfig) -> Self {
        Self {
            idle_timeout_seconds: Some(config.idle_timeout.as_secs()),
            idle_mode: Some(config.mode()),
            max_host_age: config.max_host_age.map(|age| age.as_secs()),
            activity_sources: Some(config.sources),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &str) -> BTreeSet<ActivitySource> {
        words.split_whitespace().map(|word| word.parse().unwrap()).collect()
    }

    #[test]
    fn each_mode_is_its_row_of_the_table_and_each_row_is_its_mode() {
        let table = [
            ("io", "user agent ssh create start boot"),
            ("user", "user ssh create start boot"),
            ("agent", "agent ssh create start boot"),
            ("ssh", "ssh create start boot"),
            ("create", "create"),
            ("boot", "boot"),
            ("start", "start boot"),
            ("run", "create start boot process"),
            ("disabled", ""),
        ];
        for (mode, sources) in table {
            let mode: IdleMode = mode.parse().unwrap();
            assert_eq!(mode.sources(), Some(set(sources)), "{mode}");
            assert_eq!(IdleMode::of(&set(sources)), mode);
        }
        assert_eq!(table.len() + 1, IdleMode::ALL.len(), "a mode is missing in the table");
        assert_eq!(IdleMode::Custom.sources(), None);
        for other in ["user", "process", "user agent ssh create start boot process"] {
            assert_eq!(IdleMode::of(&set(other)), IdleMode::Custom, "{other}");
        }
    }

    #[test]
    fn a_word_that_is_none_is_met_with_those_that_are() {
        let error = "keyboard".parse::<ActivitySource>().unwrap_err().to_string();
        assert_eq!(error, "`keyboard` is not one of user, agent, ssh, create, start, boot, process");
        assert!("IO".parse::<IdleMode>().is_err());
    }

    #[test]
    fn what_is_written_reads_back_and_half_seconds_are_rounded_up() {
        let config = ActivityConfig {
            idle_timeout: whole_seconds(Duration::from_millis(1500)),
            sources: set("boot user"),
            max_host_age: Some(Duration::from_secs(7)),
        };
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(
            text,
            r#"{"idle_timeout_seconds":2,"idle_mode":"custom","activity_sources":["user","boot"],"max_host_age":7}"#
        );
        assert_eq!(serde_json::from_str::<ActivityConfig>(&text).unwrap(), config);
    }

    #[test]
    fn where_only_the_mode_is_written_its_sources_count_and_nothing_at_all_means_never() {
        let read = |text: &str| serde_json::from_str::<ActivityConfig>(text).unwrap();
        assert_eq!(read(r#"{"idle_mode":"start"}"#).sources, set("start boot"));
        assert_eq!(read(r#"{"idle_timeout_seconds":800.0}"#), ActivityConfig::never());
        assert!(!read("{}").counts_idleness());
    }
}
