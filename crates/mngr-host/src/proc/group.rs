//! Ending the process group of a child that is not reaped yet: until then its number cannot belong to anybody else.

use std::process::Child;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::repository::{Group, ask_outside_locks};
use super::{Cmd, pid_of};
use crate::local::procfs;

/// How long a command that is cut short may take to tidy up: git removes its lock files, which would otherwise stand in
/// the way of everybody else.
const TIDY_UP: Duration = Duration::from_secs(1);
/// How long killed processes may take to be gone, with their locks.
const KILLED: Duration = Duration::from_millis(500);
/// How often to look.
const PACE: Duration = Duration::from_millis(3);

/// Asks them to end, and ends what is left of them. What may hold locks of a repository is asked while it holds none.
pub(super) fn end_politely(cmd: &Cmd, child: &Child) {
    match &cmd.repository {
        Some(dir) => ask_outside_locks(&Group(pid_of(child)), Some(dir.as_str().as_ref()), began(child)),
        None => drop(kill_process_group(pid_of(child), Signal::TERM)),
    }
    wait_until_gone(child, TIDY_UP);
    end(child);
    wait_until_gone(child, KILLED);
}

/// When the child was started, as far as that is known.
fn began(child: &Child) -> SystemTime {
    let stat = procfs::Stat::read(pid_of(child).as_raw_nonzero().get()).ok().flatten();
    let started = stat.and_then(|stat| procfs::started_at(stat.start));
    started.map_or(SystemTime::UNIX_EPOCH, SystemTime::from)
}

/// Ends them.
pub(super) fn end(child: &Child) {
    let _ = kill_process_group(pid_of(child), Signal::KILL);
}

/// Whether the child itself has ended.
pub(super) fn has_leader_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(pid_of(child)), options), Ok(Some(_)))
}

fn wait_until_gone(child: &Child, limit: Duration) {
    let asked = Instant::now();
    while (!has_leader_ended(child) || lives(child)) && asked.elapsed() < limit {
        std::thread::sleep(PACE);
    }
}

/// Whether anybody of the group lives. Without `/proc` only the child itself is known.
fn lives(child: &Child) -> bool {
    let group = pid_of(child).as_raw_nonzero().get();
    procfs::all().iter().any(|stat| stat.group == group && !stat.is_gone())
}
