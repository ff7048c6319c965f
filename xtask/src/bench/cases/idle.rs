//! What agents cost while nothing happens.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::Fleet;
use crate::bench::options::Effort;
use crate::bench::row::Row;

/// Ticks in a second of what `/proc` reports, whatever the kernel's own clock does.
pub(super) const TICKS_PER_SECOND: f64 = 100.0;
/// A tick is 10 ms, and a single one may be an accident.
const LIMIT_MS: f64 = 20.0;

/// The CPU time that the processes of 100 agents use up in some seconds, the tmux server aside.
///
/// The server is not ours, and it has work of its own. Everything else in the environment was started by us,
/// the sleeping agents included, which use none.
pub(crate) fn run(bench: &Bench, fleet: &Fleet) -> Result<Vec<Row>, BenchError> {
    let seconds = match bench.effort {
        Effort::Quick => 2,
        Effort::Full => 5,
    };
    let before = ticks(&fleet.env().processes());
    for _ in 0..seconds * 10 {
        bench.interrupt.check()?;
        thread::sleep(Duration::from_millis(100));
    }
    let after = ticks(&fleet.env().processes());
    let used: u64 = after.iter().map(|(pid, ticks)| ticks - before.get(pid).unwrap_or(&0).min(ticks)).sum();
    let millis = used as f64 * 1000.0 / TICKS_PER_SECOND;
    Ok(vec![Row::below(&format!("CPU of 100 agents in {seconds} s"), millis, LIMIT_MS, "ms")])
}

/// User and system time of each process, in ticks of the kernel's clock.
fn ticks(pids: &[u32]) -> BTreeMap<u32, u64> {
    let stat = |pid: &u32| Some((*pid, cpu_ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?));
    pids.iter().filter_map(stat).collect()
}

/// Reads a line of `/proc/PID/stat`; `None` for a tmux server.
pub(super) fn cpu_ticks(stat: &str) -> Option<u64> {
    // The name in parentheses may hold blanks and parentheses itself.
    let (name, fields) = stat.rsplit_once(')')?;
    if name.contains("(tmux: server") {
        return None;
    }
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &str = "S 1 7 7 0 -1 4194560 10 0 0 0 31 11 0 0 20 0 1 0 100 1 1";

    #[test]
    fn user_and_system_time_are_added() {
        assert_eq!(cpu_ticks(&format!("7 (sh) {FIELDS}")), Some(42));
        assert_eq!(cpu_ticks(&format!("7 (odd ) name) {FIELDS}")), Some(42));
    }

    #[test]
    fn the_tmux_server_is_left_out() {
        assert_eq!(cpu_ticks(&format!("7 (tmux: server) {FIELDS}")), None);
    }
}
