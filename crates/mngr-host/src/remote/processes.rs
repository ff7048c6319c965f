//! Ending an agent's processes on another machine, each identified exactly. Whose a process is, is decided by the same
//! rules as here; the other machine only lists and signals.
//!
//! Round trips: one look and one signal for the program, and the same for each round of the rest.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_model::AgentId;
use mngr_model::env::MNGR_AGENT_ID;

use super::script::without_comments;
use super::shells::Shells;
use crate::host::{EndReport, EndRequest};
use crate::local::processes::{KILL_WAIT, Owner, ROUNDS, SHELL_GRACE, judge, tree_of};
use crate::local::procfs::Stat;
use crate::proc::{Cmd, ExecError};

/// What lists and signals.
const SCRIPT: &str = include_str!("processes.sh");

/// How long beyond the waiting itself a call may take.
const MARGIN: Duration = Duration::from_secs(30);

/// All processes of the machine, and those that carry the agent's mark.
struct Table {
    all: Vec<Stat>,
    marked: BTreeSet<i32>,
}

/// Ends the agent's program first, with its grace, or at once where it has none; then everything else of the agent.
pub(super) fn end(shells: &Shells, request: &EndRequest) -> Result<EndReport, ExecError> {
    let mut report = EndReport::default();
    let mut table = Table::of(shells, &request.agent)?;
    let named =
        request.program.and_then(|program| judge(program, &table.all, |pid| table.marked.contains(&pid)));
    report.stranger = named.filter(|(_, owner)| *owner == Owner::Other).map(|(program, _)| program.pid);
    let program = named.filter(|(_, owner)| *owner == Owner::Agent).map(|(program, _)| program);
    if let Some(program) = program {
        let found = tree_of(&[program], &table.all);
        report.signalled += found.len();
        let left = match request.grace {
            Duration::ZERO => found,
            grace => signal(shells, &found, "TERM CONT", grace)?,
        };
        report.killed += left.len();
        signal(shells, &left, "KILL", KILL_WAIT)?;
        table = Table::of(shells, &request.agent)?;
    }
    for _ in 0..ROUNDS {
        let rest = table.owned(program);
        if rest.is_empty() {
            return Ok(report);
        }
        report.signalled += rest.len();
        let left = signal(shells, &rest, "HUP TERM CONT", SHELL_GRACE)?;
        report.killed += left.len();
        signal(shells, &left, "KILL", KILL_WAIT)?;
        table = Table::of(shells, &request.agent)?;
    }
    report.remaining = table.owned(program).iter().map(|stat| stat.pid).collect();
    Ok(report)
}

impl Table {
    fn of(shells: &Shells, agent: &AgentId) -> Result<Self, ExecError> {
        let cmd = Cmd::shell(without_comments(SCRIPT))
            .args(["processes", "table"])
            .arg(format!("{MNGR_AGENT_ID}={agent}"));
        let mut table = Self { all: Vec::new(), marked: BTreeSet::new() };
        for line in shells.exec(&cmd)?.stdout_text().lines() {
            match line.split_once(' ') {
                Some(("stat", rest)) => {
                    let pid = rest.split(' ').next().and_then(|pid| pid.parse().ok());
                    table.all.extend(pid.and_then(|pid| Stat::parse(pid, rest.as_bytes())));
                }
                Some(("marked", pid)) => table.marked.extend(pid.parse::<i32>()),
                _ => {}
            }
        }
        Ok(table)
    }

    /// Everything of the agent that lives.
    fn owned(&self, program: Option<mngr_model::process::ProcessId>) -> Vec<Stat> {
        let is_marked = |stat: &&Stat| self.marked.contains(&stat.pid);
        let marked = self.all.iter().filter(is_marked).map(Stat::id).chain(program).collect::<Vec<_>>();
        tree_of(&marked, &self.all)
    }
}

/// Signals them and waits; those that are still there.
fn signal(shells: &Shells, found: &[Stat], signals: &str, wait: Duration) -> Result<Vec<Stat>, ExecError> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let cmd = Cmd::shell(without_comments(SCRIPT))
        .args(["processes", "signal"])
        .arg(wait.as_millis().to_string())
        .arg(signals)
        .args(found.iter().map(|stat| format!("{}:{}", stat.pid, stat.start)))
        .deadline(wait + MARGIN);
    let printed = shells.exec(&cmd)?.stdout_text();
    let left: BTreeSet<i32> =
        printed.lines().filter_map(|line| line.strip_prefix("left ")?.parse().ok()).collect();
    Ok(found.iter().copied().filter(|stat| left.contains(&stat.pid)).collect())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use mngr_model::process::ProcessId;

    use super::super::testing::all_kinds;
    use super::*;
    use crate::random;

    fn spawn(agent: &AgentId, script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(MNGR_AGENT_ID, agent.as_str());
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    fn request(agent: &AgentId, program: Option<ProcessId>) -> EndRequest {
        EndRequest { agent: agent.clone(), program, grace: Duration::from_secs(2) }
    }

    fn id_of(child: &Child) -> ProcessId {
        Stat::read(child.id() as i32).unwrap().unwrap().id()
    }

    #[test]
    fn everything_of_an_agent_is_ended_and_nothing_else() {
        for (_line, shells) in all_kinds() {
            let (id, other) = (random::agent_id(), random::agent_id());
            let mut bystander = spawn(&other, "exec sleep 300");
            let mut daemon = spawn(&id, "(setsid sleep 300 &) ; exit 0");
            let mut deaf = spawn(&id, "trap '' TERM HUP; while :; do sleep 0.05; done");
            daemon.wait().unwrap();
            std::thread::sleep(Duration::from_millis(100));
            let report = end(&shells, &request(&id, Some(id_of(&deaf)))).unwrap();
            assert_eq!((report.stranger, report.remaining), (None, vec![]));
            assert!(report.killed >= 1 && report.signalled >= 2);
            deaf.wait().unwrap();
            assert!(bystander.try_wait().unwrap().is_none(), "it must still run");
            // A record that names somebody else's process, or a number that was used again, ends nothing.
            let named = id_of(&bystander);
            assert_eq!(end(&shells, &request(&id, Some(named))).unwrap().stranger, Some(named.pid));
            let reused = ProcessId { start: named.start + 1, ..named };
            assert_eq!(end(&shells, &request(&id, Some(reused))).unwrap(), EndReport::default());
            assert!(bystander.try_wait().unwrap().is_none(), "it must still run");
            bystander.kill().unwrap();
            bystander.wait().unwrap();
        }
    }
}
