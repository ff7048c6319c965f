//! Ending an agent's processes on this machine, each identified exactly.
//!
//! A process belongs to an agent if it was started with `MNGR_AGENT_ID=<id>` in its environment, or descends from one
//! that was. The record only says which of them is the program: an agent can write its own record, so a process it names
//! that is not its own is left alone. Spawns nothing and sleeps for nothing: pidfds say when a process has gone.

use std::collections::{BTreeSet, HashSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use mngr_model::AgentId;
use mngr_model::env::{MNGR_AGENT_ID, MNGR_EXEC};
use mngr_model::process::ProcessId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::host::{EndReport, EndRequest, EndedCommand, RunningCommands};
use crate::local::procfs::{self, Stat};
use crate::proc::timespec;

/// How long the rest (shells that ignore SIGTERM) gets after the hang-up.
pub(crate) const SHELL_GRACE: Duration = Duration::from_millis(300);
/// How long a killed process may take to disappear.
pub(crate) const KILL_WAIT: Duration = Duration::from_secs(5);
/// A process may fork while it is being ended; each round catches what the one before missed.
pub(crate) const ROUNDS: usize = 5;
/// After this time a process is what it is.
const SETTLED: SignedDuration = SignedDuration::from_secs(2);

/// Ends the agent's program first, with its grace, or at once where it has none; then everything else of the agent.
pub(crate) fn end(request: &EndRequest) -> EndReport {
    let mut report = EndReport::default();
    let mark = format!("{MNGR_AGENT_ID}={}", request.agent);
    let all = procfs::all();
    let judged = |program| judge(program, &all, |pid| procfs::has_env(pid, &mark));
    let named = request.program.and_then(judged);
    report.stranger = named.filter(|(_, owner)| *owner == Owner::Other).map(|(program, _)| program.pid);
    let program = named.filter(|(_, owner)| *owner == Owner::Agent).map(|(program, _)| program);
    if let Some(program) = program {
        let found: Vec<Stat> = tree_of(&[program], &all);
        let handles = open_all(&found);
        report.signalled += handles.len();
        let left = if request.grace.is_zero() { handles } else { ask_to_end(handles, request.grace) };
        report.killed += left.len();
        signal_all(&left, &[Signal::KILL]);
        wait_until_gone(left, KILL_WAIT);
    }
    let mut search = Search::of(&request.agent);
    for _ in 0..ROUNDS {
        let found = search.owned(program);
        let rest = found.to_end(request.commands);
        if rest.is_empty() {
            return report;
        }
        found.tell(request.commands, &mut report, procfs::command_line);
        let handles = open_all(&rest);
        report.signalled += handles.len();
        signal_all(&handles, &[Signal::HUP, Signal::TERM, Signal::CONT]);
        let left = wait_until_gone(handles, SHELL_GRACE);
        report.killed += left.len();
        signal_all(&left, &[Signal::KILL]);
        wait_until_gone(left, KILL_WAIT);
    }
    let left = search.owned(program).to_end(request.commands);
    report.remaining = left.iter().map(|stat| stat.pid).collect();
    report
}

/// Everything of an agent that lives.
pub(crate) struct Owned {
    /// All of it.
    all: Vec<Stat>,
    /// Which of them belong to what `exec` runs.
    commands: BTreeSet<i32>,
}

impl Owned {
    /// What descends from these: processes of the agent, some of which `exec` started.
    pub(crate) fn of(marked: &[ProcessId], commands: &[ProcessId], table: &[Stat]) -> Self {
        let commands = tree_of(commands, table).iter().map(|stat| stat.pid).collect();
        Self { all: tree_of(marked, table), commands }
    }

    /// Those that are ended.
    pub(crate) fn to_end(&self, commands: RunningCommands) -> Vec<Stat> {
        let is_ended = |stat: &&Stat| match commands {
            RunningCommands::End => true,
            RunningCommands::Leave => !self.commands.contains(&stat.pid),
        };
        self.all.iter().filter(is_ended).copied().collect()
    }

    /// Notes the commands that are about to be ended, each once.
    pub(crate) fn tell(
        &self,
        commands: RunningCommands,
        report: &mut EndReport,
        words: impl Fn(i32) -> Option<String>,
    ) {
        if commands == RunningCommands::Leave {
            return;
        }
        for stat in self.all.iter().filter(|stat| self.commands.contains(&stat.pid)) {
            report.of_commands += 1;
            let is_first = !self.commands.contains(&stat.parent);
            if is_first && !report.commands.iter().any(|told| told.pid == stat.pid) {
                report.commands.push(EndedCommand::new(stat.pid, &words(stat.pid).unwrap_or_default()));
            }
        }
    }
}

/// Those that are still there after their grace.
fn ask_to_end(handles: Vec<Handle>, grace: Duration) -> Vec<Handle> {
    signal_all(&handles, &[Signal::TERM]);
    hang_up_the_deaf(&handles);
    signal_all(&handles, &[Signal::CONT]);
    wait_until_gone(handles, grace)
}

/// Whose process it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Agent,
    Other,
}

/// Whose process the record names; `None` when it is gone.
pub(crate) fn judge(
    program: ProcessId,
    all: &[Stat],
    is_marked: impl Fn(i32) -> bool,
) -> Option<(ProcessId, Owner)> {
    let find = |pid: i32| all.iter().find(|stat| stat.pid == pid);
    let mut at =
        find(program.pid).filter(|stat| procfs::same_start(program.start, stat.start) && !stat.is_gone());
    at?;
    // A program may have cleared its environment; its supervisor has not.
    for _ in 0..all.len() {
        match at {
            Some(stat) if is_marked(stat.pid) => return Some((program, Owner::Agent)),
            Some(stat) => at = find(stat.parent),
            None => break,
        }
    }
    Some((program, Owner::Other))
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

/// An interactive shell ignores SIGTERM: without a hang-up, the whole grace would pass for nothing. Others get no
/// hang-up, which would end them before they have done what SIGTERM made them do.
fn hang_up_the_deaf(handles: &[Handle]) {
    for handle in handles.iter().filter(|handle| procfs::ignores(handle.stat.pid, Signal::TERM)) {
        let _ = pidfd_send_signal(&handle.fd, Signal::HUP);
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

/// Looks for an agent's processes, again and again. Reading an environment costs more than all else here, so one that was
/// found to be another's is not read twice.
struct Search {
    mark: String,
    /// What also marks those that `exec` started.
    command_mark: String,
    others: HashSet<(i32, u64)>,
}

impl Search {
    fn of(agent: &AgentId) -> Self {
        let (mark, command_mark) = (format!("{MNGR_AGENT_ID}={agent}"), format!("{MNGR_EXEC}={agent}"));
        Self { mark, command_mark, others: HashSet::new() }
    }

    /// Everything of the agent that lives, except ourselves: an agent may stop itself through mngr.
    fn owned(&mut self, program: Option<ProcessId>) -> Owned {
        let all = procfs::all();
        let mut marked: Vec<ProcessId> =
            all.iter().filter(|stat| self.is_marked(stat)).map(Stat::id).collect();
        let is_command = |id: &&ProcessId| procfs::has_env(id.pid, &self.command_mark);
        let commands: Vec<ProcessId> = marked.iter().filter(is_command).copied().collect();
        marked.extend(program);
        Owned::of(&marked, &commands, &all)
    }

    fn is_marked(&mut self, stat: &Stat) -> bool {
        let key = (stat.pid, stat.start);
        if self.others.contains(&key) {
            return false;
        }
        let is_marked = procfs::has_env(stat.pid, &self.mark);
        // One that was forked just now may still get the mark with the program it becomes.
        let age = procfs::started_at(stat.start).map(|at| Timestamp::now().duration_since(at));
        if !is_marked && age.is_some_and(|age| age > SETTLED) {
            self.others.insert(key);
        }
        is_marked
    }
}

/// The roots that still are what was recorded, and their descendants, without ourselves and without zombies.
pub(crate) fn tree_of(roots: &[ProcessId], all: &[Stat]) -> Vec<Stat> {
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
    use std::os::unix::process::ExitStatusExt;
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
        EndRequest {
            first: Vec::new(),
            agent: agent.clone(),
            program,
            grace: Duration::from_secs(5),
            commands: RunningCommands::End,
        }
    }

    #[test]
    fn a_double_forked_daemon_is_found_by_its_environment() {
        let id = agent();
        let mut child = spawn(&id, "(setsid sleep 300 &) ; exit 0");
        child.wait().unwrap();
        // While it becomes another program, a process shows no environment.
        while Search::of(&id).owned(None).all.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let report = end(&request(&id, None));
        assert_eq!(report.remaining, Vec::<i32>::new());
        assert!(Search::of(&id).owned(None).all.is_empty());
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
    fn a_program_without_grace_is_killed_without_being_asked() {
        let id = agent();
        let mut child = spawn(&id, "sleep 300; true");
        let pid = child.id() as i32;
        // While it becomes another program, it shows no environment.
        while !procfs::has_env(pid, &format!("{MNGR_AGENT_ID}={id}")) {
            std::thread::yield_now();
        }
        let start = Stat::read(pid).unwrap().unwrap().start;
        let program = Some(ProcessId { pid, start });
        let report = end(&EndRequest { grace: Duration::ZERO, ..request(&id, program) });
        assert!(report.killed >= 1, "{report:?}");
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_program_that_ignores_sigterm_is_hung_up_instead_of_waited_for() {
        let id = agent();
        let mut child = spawn(&id, "trap '' TERM; exec sleep 300");
        let pid = child.id() as i32;
        while !procfs::ignores(pid, Signal::TERM) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let start = Stat::read(pid).unwrap().unwrap().start;
        let begun = Instant::now();
        let report = end(&request(&id, Some(ProcessId { pid, start })));
        assert_eq!((report.killed, report.remaining), (0, Vec::new()));
        assert!(begun.elapsed() < Duration::from_secs(4), "the grace was not waited for");
        child.wait().unwrap();
    }

    #[test]
    fn a_program_that_heeds_sigterm_gets_no_hang_up() {
        let id = agent();
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let heard = folder.path().join("heard");
        let script = format!(
            "trap 'sleep 0.2; echo TERM >>{heard}; exit' TERM; trap 'echo HUP >>{heard}' HUP; : >{ready}; while :; do sleep 0.02; done",
            heard = heard.display(),
            ready = ready.display()
        );
        let mut child = spawn(&id, &script);
        while !ready.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = child.id() as i32;
        let start = Stat::read(pid).unwrap().unwrap().start;
        end(&request(&id, Some(ProcessId { pid, start })));
        child.wait().unwrap();
        assert_eq!(std::fs::read_to_string(heard).unwrap(), "TERM\n");
    }

    #[test]
    fn a_command_beside_the_agent_is_left_alone_or_ended_and_told() {
        let id = agent();
        let command = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env(MNGR_AGENT_ID, id.as_str()).env(MNGR_EXEC, id.as_str());
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
        };
        // Its child has no environment, and is known as its child.
        let mut beside = command("env -i sleep 300; :");
        let mut own = spawn(&id, "exec sleep 300");
        let is_complete = || {
            let found = Search::of(&id).owned(None);
            (found.all.len(), found.commands.len()) == (3, 2)
        };
        while !is_complete() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let left = end(&EndRequest { commands: RunningCommands::Leave, ..request(&id, None) });
        assert_eq!((left.signalled, left.remaining, left.commands), (1, vec![], vec![]));
        own.wait().unwrap();
        assert!(beside.try_wait().unwrap().is_none(), "it must still run");
        let ended = end(&request(&id, None));
        let told = EndedCommand { pid: beside.id() as i32, line: "sh -c env -i sleep 300; :".to_owned() };
        assert_eq!((ended.commands, ended.of_commands, ended.remaining), (vec![told], 2, vec![]));
        beside.wait().unwrap();
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

    #[test]
    fn a_record_that_names_somebody_elses_process_ends_nothing() {
        let (id, other) = (agent(), agent());
        let mut bystander = spawn(&other, "exec sleep 300");
        let pid = bystander.id() as i32;
        let start = Stat::read(pid).unwrap().unwrap().start;
        let report = end(&request(&id, Some(ProcessId { pid, start })));
        assert_eq!(report, EndReport { stranger: Some(pid), ..EndReport::default() });
        assert!(bystander.try_wait().unwrap().is_none(), "it must still run");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }

    #[test]
    fn a_program_that_cleared_its_environment_is_known_by_its_supervisor() {
        let id = agent();
        let mut supervisor = spawn(&id, "env -i sleep 300; :");
        let children = || -> Vec<Stat> {
            let own = supervisor.id() as i32;
            procfs::all().into_iter().filter(|stat| stat.parent == own).collect()
        };
        let cleared = |stat: &Stat| {
            std::fs::read(format!("/proc/{}/environ", stat.pid)).is_ok_and(|environ| environ.is_empty())
        };
        let program = loop {
            if let Some(stat) = children().into_iter().find(cleared) {
                break ProcessId { pid: stat.pid, start: stat.start };
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let report = end(&request(&id, Some(program)));
        assert_eq!((report.stranger, report.remaining), (None, vec![]));
        assert!(Stat::read(program.pid).unwrap().is_none_or(|stat| stat.is_gone()));
        supervisor.wait().unwrap();
    }
}
