//! How many agents a machine carries at once, from its cores and memory.
//!
//! Processes: one, once per run.

use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError};

/// Agents wait for their model most of the time; the tests they run do not.
const AGENTS_PER_CORE: u64 = 4;
/// What a coding agent and the test it runs take.
const MEMORY_PER_AGENT: u64 = 768 * 1024 * 1024;
/// More than this are hard to follow and meet the limits of any model's service.
const MOST: u64 = 50;

/// Prints the number of cores, then the bytes of memory that are free for use, where the system tells.
const ASK: &str = "getconf _NPROCESSORS_ONLN; \
    awk '/^MemAvailable:/ { printf \"%.0f\\n\", $2 * 1024 }' /proc/meminfo 2>/dev/null || sysctl -n hw.memsize";

/// The machine could not be asked.
#[derive(Debug, thiserror::Error)]
#[error("cannot tell how many agents host `{host}` carries")]
pub struct MachineError {
    /// Its name.
    pub host: String,
    /// Why.
    #[source]
    pub source: ExecError,
}

/// What a machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// Cores.
    pub cores: u64,
    /// Bytes of memory free for use, where it is known.
    pub memory: Option<u64>,
}

impl Machine {
    /// Asks a host. What it does not tell is taken to be little.
    ///
    /// # Errors
    /// When no command can be run there.
    pub fn of(host: &dyn Host) -> Result<Self, MachineError> {
        let asked = host.exec(&Cmd::shell(ASK));
        let printed = asked.map_err(|source| MachineError { host: host.info().name.to_string(), source })?;
        Ok(Self::read(&printed.stdout_text()))
    }

    fn read(printed: &str) -> Self {
        let mut numbers = printed.lines().map(|line| line.trim().parse().ok());
        let cores = numbers.next().flatten().unwrap_or(1);
        Self { cores, memory: numbers.next().flatten() }
    }

    /// How many agents run at once when nobody says how many.
    pub fn parallel_agents(&self) -> u64 {
        let by_memory = self.memory.map_or(MOST, |bytes| bytes / MEMORY_PER_AGENT);
        self.cores.saturating_mul(AGENTS_PER_CORE).min(by_memory).clamp(1, MOST)
    }

    /// How many tests run at once when nobody says how many.
    pub fn parallel_tests(&self) -> u64 {
        self.cores.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_memory_both_bound_the_number_of_agents() {
        const GIB: u64 = 1024 * 1024 * 1024;
        for (cores, memory, agents) in [
            (2, Some(16 * GIB), 8),
            (8, Some(4 * GIB), 5),
            (64, Some(512 * GIB), 50),
            (4, None, 16),
            (1, Some(GIB / 4), 1),
        ] {
            assert_eq!(Machine { cores, memory }.parallel_agents(), agents, "{cores} {memory:?}");
        }
    }

    #[test]
    fn this_machine_tells_and_one_that_does_not_is_taken_to_be_small() {
        let dir = tempfile::tempdir().unwrap();
        let root = mngr_model::HostPath::new(dir.path().to_str().unwrap());
        let host = mngr_host::local::LocalHost::open(root).unwrap();
        let here = Machine::of(&host).unwrap();
        assert!(here.cores >= 1 && here.memory.is_some_and(|bytes| bytes > 1024 * 1024), "{here:?}");
        assert_eq!(Machine::read("getconf: not found\n"), Machine { cores: 1, memory: None });
    }
}
