//! Ending an agent's processes on this machine, each identified exactly.
//!
//! A process belongs to an agent if it was started with `MNGR_AGENT_ID=<id>` in its environment, or is the recorded
//! program (same number and same start time), or descends from one of these. Spawns nothing and sleeps for nothing:
//! pidfds say when a process has gone.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use mngr_model::AgentId;
use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::process::ProcessId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::host::{EndReport, EndRequest};
use crate::local::procfs::{self, Stat};
use crate::proc::timespec;

/// How long the rest (shells that ignore SIGTERM) gets after the hang-up.
const SHELL_GRACE: Duration = Duration::from_millis(300);
/// How long a killed process may take to disappear.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// A process may fork while it is being ended; each round catches what the one before missed.
const ROUNDS: usize = 5;

/// Ends the agent's program first, with its grace; then everything else of the agent.
pub(crate) fn end(request: &EndRequest) -> EndReport {
    let mut report = EndReport::default();
    if let Some(program) = request.program {
        let found: Vec<Stat> = tree_of(&[program], &procfs::all());
        let handles = open_all(&found);
        report.signalled += handles.len();
        signal_all(&handles, &[Signal::TERM, Signal::CONT]);
        let left = wait_until_gone(handles, request.grace);
        report.killed += left.len();
        signal_all(&left, &[Signal::KILL]);
        wait_until_gone(left, KILL_WAIT);
    }
    for _ in 0..ROUNDS {
        let rest = owned_by(&request.agent, request.program);
        if rest.is_empty() {
            return report;
        }
        let handles = open_all(&rest);
        report.signalled += handles.len();
        signal_all(&handles, &[Signal::HUP, Signal::TERM, Signal::CONT]);
        let left = wait_until_gone(handles, SHELL_GRACE);
        report.killed += left.len();
        signal_all(&left, &[Signal::KILL]);
        wait_until_gone(left, KILL_WAIT);
    }
    report.remaining = owned_by(&request.agent, request.program).iter().map(|stat| stat.pid).collect();
    report
}

struct Handle {
    stat: Stat,
    fd: OwnedFd,
}

/// Opens a pidfd for each, and drops those whose number was reused between the look and the open.
fn open_all(stats: &[Stat]) -> Vec<Handle> {
    stats.iter().filter_map(|stat| open(*stat)).collect()
}

fn open(stat: Stat) -> Option<Handle> {
    let fd = pidfd_open(Pid::from_raw(stat.pid)?, PidfdFlags::empty()).ok()?;
    let again = Stat::read(stat.pid).ok()??;
    (again.start == stat.start && !again.is_gone()).then_some(Handle { stat, fd })
}

fn signal_all(handles: &[Handle], signals: &[Signal]) {
    for handle in handles {
        for signal in signals {
            let _ = pidfd_send_signal(&handle.fd, *signal);
        }
    }
}

/// Waits for all of them; returns those that are still there when the time is over.
fn wait_until_gone(mut handles: Vec<Handle>, limit: Duration) -> Vec<Handle> {
    let started = Instant::now();
    loop {
        handles.retain(|handle| matches!(Stat::read(handle.stat.pid), Ok(Some(stat)) if stat.start == handle.stat.start && !stat.is_gone()));
        let elapsed = started.elapsed();
        if handles.is_empty() || elapsed >= limit {
            return handles;
        }
        let mut fds: Vec<_> = handles.iter().map(|handle| PollFd::new(&handle.fd, PollFlags::IN)).collect();
        let _ = poll(&mut fds, Some(&timespec(limit - elapsed)));
    }
}

/// Everything of the agent that lives, except ourselves: an agent may stop itself through mngr.
fn owned_by(agent: &AgentId, program: Option<ProcessId>) -> Vec<Stat> {
    let all = procfs::all();
    let mark = format!("{MNGR_AGENT_ID}={agent}");
    let marked: Vec<ProcessId> = all
        .iter()
        .filter(|stat| procfs::has_env(stat.pid, &mark))
        .map(|stat| ProcessId { pid: stat.pid, start: stat.start })
        .chain(program)
        .collect();
    tree_of(&marked, &all)
}

/// The roots that still are what was recorded, and their descendants, without ourselves and without zombies.
fn tree_of(roots: &[ProcessId], all: &[Stat]) -> Vec<Stat> {
    let mut members: BTreeSet<i32> = all
        .iter()
        .filter(|stat| {
            roots.iter().any(|root| root.pid == stat.pid && procfs::same_start(root.start, stat.start))
        })
        .map(|stat| stat.pid)
        .collect();
    loop {
        let before = members.len();
        members.extend(
            all.iter().filter(|stat| members.contains(&stat.parent)).map(|stat| stat.pid).collect::<Vec<_>>(),
        );
        if members.len() == before {
            break;
        }
    }
    let own = std::process::id() as i32;
    all.iter().copied().filter(|s| members.contains(&s.pid) && s.pid != own && !s.is_gone()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn agent() -> AgentId {
        crate::random::agent_id()
    }

    fn spawn(agent: &AgentId, script: &str) -> std::process::Child {
        Command::new("sh")
            .args(["-c", script])
            .env(MNGR_AGENT_ID, agent.as_str())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn request(agent: &AgentId, program: Option<ProcessId>) -> EndRequest {
        EndRequest { agent: agent.clone(), program, grace: Duration::from_secs(5) }
    }

    #[test]
    fn a_double_forked_daemon_is_found_by_its_environment() {
        let id = agent();
        let mut child = spawn(&id, "(setsid sleep 300 &) ; exit 0");
        child.wait().unwrap();
        assert!(!owned_by(&id, None).is_empty(), "the daemon lives");
        let report = end(&request(&id, None));
        assert_eq!(report.remaining, Vec::<i32>::new());
        assert!(owned_by(&id, None).is_empty());
    }

    #[test]
    fn a_process_that_ignores_every_polite_signal_is_killed() {
        let id = agent();
        let mut child = spawn(&id, "trap '' TERM HUP; while :; do sleep 0.05; done");
        // Let the trap be set; before that it would simply die.
        std::thread::sleep(Duration::from_millis(100));
        let report = end(&request(&id, None));
        assert!(report.killed >= 1, "{report:?}");
        child.wait().unwrap();
    }

    #[test]
    fn a_reused_number_and_other_agents_are_left_alone() {
        let (id, other) = (agent(), agent());
        let mut bystander = spawn(&other, "exec sleep 300");
        let pid = bystander.id() as i32;
        let report = end(&request(&id, Some(ProcessId { pid, start: 1 })));
        assert_eq!(report, EndReport::default());
        assert!(bystander.try_wait().unwrap().is_none(), "it must still run");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}
