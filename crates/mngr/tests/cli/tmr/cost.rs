//! What an orchestrator itself uses, without the programs it starts: looked up while it runs.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::{CmdOutput, Running};

/// Between two looks.
const PACE: Duration = Duration::from_millis(20);

/// What a process has used.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    /// The most memory it had resident.
    pub(super) peak_kib: u64,
    /// What it had resident when it was last looked at.
    pub(super) resident_kib: u64,
    /// Its CPU time.
    pub(super) cpu: Duration,
}

impl Cost {
    /// What a living process has used so far.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse().ok()
        };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut ticks = || times.next()?.parse::<u64>().ok();
        // Hundredths of a second, whatever the kernel's own clock does.
        let cpu = Duration::from_millis((ticks()? + ticks()?) * 10);
        Some(Self { peak_kib: kib("VmHWM:")?, resident_kib: kib("VmRSS:")?, cpu })
    }
}

/// Waits for the end, and says what it took. `look` is shown what was used so far, again and again.
#[track_caller]
pub(super) fn finish(
    mut running: Running,
    limit: Duration,
    mut look: impl FnMut(&Cost),
) -> (CmdOutput, Cost) {
    let (since, mut cost) = (Instant::now(), Cost::default());
    while running.is_running() {
        assert!(since.elapsed() < limit, "it still runs after {limit:?}");
        cost = Cost::of(running.id()).unwrap_or(cost);
        look(&cost);
        std::thread::sleep(PACE);
    }
    (running.finish(), cost)
}
