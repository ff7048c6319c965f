//! Ending an agent's processes on another machine, each identified exactly. Whose a process is, is decided by the same
//! rules as here; the other machine only lists and signals.
//!
//! Round trips: one for the changes that come first and a look, one to end the program, one for each round of the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mngr_model::env::{MNGR_AGENT_ID, MNGR_COMMAND_ID, MNGR_EXEC};
use mngr_model::process::ProcessId;

use super::errand;
use super::script::without_comments;
use super::shells::Shells;
use crate::errand::{Errand, ErrandError};
use crate::host::{EndReport, EndRequest, RunningCommands};
use crate::local::orphans::GRACE as ORPHAN_GRACE;
use crate::local::processes::{KILL_WAIT, Owned, Owner, ROUNDS, SHELL_GRACE, judge, tree_of};
use crate::local::procfs::Stat;
use crate::proc::{Cmd, CommandId, ExecError, Output};

/// What lists and signals.
const SCRIPT: &str = include_str!("processes.sh");

/// How long beyond the waiting itself a call may take.
const MARGIN: Duration = Duration::from_secs(30);

/// All processes of the machine, and those that carry the agent's mark.
struct Table {
    all: Vec<Stat>,
    marked: BTreeSet<i32>,
    /// Those of them that `exec` started, with their words.
    commands: BTreeMap<i32, String>,
    /// How many had to be killed just before.
    killed: usize,
}

/// Ends the agent's program first, with its grace, or at once where it has none; then everything else of the agent.
pub(super) fn end(shells: &Shells, request: &EndRequest) -> Result<EndReport, ErrandError> {
    let mut report = EndReport::default();
    let marks = [format!("{MNGR_AGENT_ID}={}", request.agent), format!("{MNGR_EXEC}={}", request.agent)];
    let look = Cmd::shell(without_comments(SCRIPT)).args(["processes", "table"]).args(&marks);
    let errand = Errand { changes: &request.first, cmd: &look, then: &[], awaited: None };
    let mut table = Table::read(&errand::run(shells, &errand)?.output);
    let named =
        request.program.and_then(|program| judge(program, &table.all, |pid| table.marked.contains(&pid)));
    report.stranger = named.filter(|(_, owner)| *owner == Owner::Other).map(|(program, _)| program.pid);
    let program = named.filter(|(_, owner)| *owner == Owner::Agent).map(|(program, _)| program);
    if let Some(program) = program {
        let found = tree_of(&[program], &table.all);
        report.signalled += found.len();
        let signals = if request.grace.is_zero() { "" } else { "TERM CONT" };
        table = end_these(shells, &marks, &found, signals, request.grace)?;
        report.killed += table.killed;
    }
    for _ in 0..ROUNDS {
        let owned = table.owned(program);
        let rest = owned.to_end(request.commands);
        if rest.is_empty() {
            return Ok(report);
        }
        owned.tell(request.commands, &mut report, |pid| table.commands.get(&pid).cloned());
        report.signalled += rest.len();
        table = end_these(shells, &marks, &rest, "HUP TERM CONT", SHELL_GRACE)?;
        report.killed += table.killed;
    }
    let left = table.owned(program).to_end(request.commands);
    report.remaining = left.iter().map(|stat| stat.pid).collect();
    Ok(report)
}

/// Ends what a command that was killed has left running there.
pub(super) fn end_command(shells: &Shells, command: &CommandId) -> Result<EndReport, ErrandError> {
    let mut report = EndReport::default();
    let mark = format!("{MNGR_COMMAND_ID}={command}");
    // There is nothing among them to be told apart.
    let marks = [mark.clone(), mark];
    let look = Cmd::shell(without_comments(SCRIPT)).args(["processes", "table"]).args(&marks);
    let mut table = Table::read(&shells.exec(&look)?);
    for _ in 0..ROUNDS {
        let rest = table.owned(None).to_end(RunningCommands::End);
        if rest.is_empty() {
            return Ok(report);
        }
        report.signalled += rest.len();
        table = end_these(shells, &marks, &rest, "TERM CONT", ORPHAN_GRACE)?;
        report.killed += table.killed;
    }
    report.remaining = table.owned(None).to_end(RunningCommands::End).iter().map(|stat| stat.pid).collect();
    Ok(report)
}

impl Table {
    fn read(printed: &Output) -> Self {
        let (marked, commands) = (BTreeSet::new(), BTreeMap::new());
        let mut table = Self { all: Vec::new(), marked, commands, killed: 0 };
        for line in printed.stdout_text().lines() {
            match line.split_once(' ') {
                Some(("stat", rest)) => {
                    let pid = rest.split(' ').next().and_then(|pid| pid.parse().ok());
                    table.all.extend(pid.and_then(|pid| Stat::parse(pid, rest.as_bytes())));
                }
                Some(("marked", pid)) => table.marked.extend(pid.parse::<i32>()),
                Some(("command", rest)) => {
                    let (pid, words) = rest.split_once(' ').unwrap_or((rest, ""));
                    table.commands.extend(pid.parse().ok().map(|pid| (pid, words.to_owned())));
                }
                Some(("killed", _)) => table.killed += 1,
                _ => {}
            }
        }
        table
    }

    /// Everything of the agent that lives.
    fn owned(&self, program: Option<ProcessId>) -> Owned {
        let is_marked = |stat: &&Stat| self.marked.contains(&stat.pid);
        let is_command = |stat: &&Stat| self.commands.contains_key(&stat.pid);
        let marked = self.all.iter().filter(is_marked).map(Stat::id).chain(program).collect::<Vec<_>>();
        let commands = self.all.iter().filter(is_command).map(Stat::id).collect::<Vec<_>>();
        Owned::of(&marked, &commands, &self.all)
    }
}

/// Signals them, kills those that do not end within `grace`, and looks again.
fn end_these(
    shells: &Shells,
    marks: &[String; 2],
    found: &[Stat],
    signals: &str,
    grace: Duration,
) -> Result<Table, ExecError> {
    let milliseconds = |time: Duration| time.as_millis().to_string();
    let cmd = Cmd::shell(without_comments(SCRIPT))
        .args([
            "processes",
            "end",
            &marks[0],
            &marks[1],
            signals,
            &milliseconds(grace),
            &milliseconds(KILL_WAIT),
        ])
        .args(found.iter().map(|stat| format!("{}:{}", stat.pid, stat.start)))
        .deadline(grace + KILL_WAIT + MARGIN);
    Ok(Table::read(&shells.exec(&cmd)?))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use mngr_model::AgentId;
    use mngr_model::process::ProcessId;

    use super::super::testing::all_kinds;
    use super::*;
    use crate::host::EndedCommand;
    use crate::random;

    fn spawn(agent: &AgentId, script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(MNGR_AGENT_ID, agent.as_str());
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    fn request(agent: &AgentId, program: Option<ProcessId>) -> EndRequest {
        EndRequest {
            first: Vec::new(),
            agent: agent.clone(),
            program,
            grace: Duration::from_secs(2),
            commands: RunningCommands::End,
        }
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

    #[test]
    fn a_command_beside_the_agent_is_left_alone_or_ended_and_told() {
        for (_line, shells) in all_kinds() {
            let id = random::agent_id();
            let mut command = Command::new("sleep");
            command.arg("300").env(MNGR_AGENT_ID, id.as_str()).env(MNGR_EXEC, id.as_str());
            let mut beside = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            let mut own = spawn(&id, "exec sleep 300");
            std::thread::sleep(Duration::from_millis(100));
            let leave = EndRequest { commands: RunningCommands::Leave, ..request(&id, None) };
            let left = end(&shells, &leave).unwrap();
            assert_eq!((left.signalled, left.remaining, left.commands), (1, vec![], vec![]));
            own.wait().unwrap();
            assert!(beside.try_wait().unwrap().is_none(), "it must still run");
            let ended = end(&shells, &request(&id, None)).unwrap();
            let told = EndedCommand { pid: beside.id() as i32, line: "sleep 300".to_owned() };
            assert_eq!((ended.commands, ended.of_commands, ended.remaining), (vec![told], 1, vec![]));
            beside.wait().unwrap();
        }
    }

    #[test]
    fn a_program_that_ignores_sigterm_is_hung_up_and_one_without_grace_is_not_asked() {
        for (_line, shells) in all_kinds() {
            for (script, grace, killed) in [
                ("trap '' TERM; exec sleep 300", Duration::from_secs(60), 0),
                ("trap 'exit 0' TERM; while :; do sleep 0.05; done", Duration::ZERO, 1),
            ] {
                let id = random::agent_id();
                let mut child = spawn(&id, script);
                // Until it has begun, it would simply die.
                std::thread::sleep(Duration::from_millis(200));
                let asked = EndRequest { grace, ..request(&id, Some(id_of(&child))) };
                let report = end(&shells, &asked).unwrap();
                assert!(report.killed >= killed && report.remaining.is_empty(), "{script}: {report:?}");
                assert!(killed > 0 || report.killed == 0, "{script}: {report:?}");
                assert_ne!(child.wait().unwrap().code(), Some(0), "{script}: it was asked");
            }
        }
    }
}
