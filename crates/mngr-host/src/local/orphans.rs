//! Ending what a command of mngr has left running on this machine when it was killed, each process identified exactly: it
//! carries the id of that command in its environment, and is addressed by a pidfd.

use std::time::{Duration, Instant, SystemTime};

use mngr_model::env::MNGR_COMMAND_ID;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::host::EndReport;
use crate::local::processes::KILL_WAIT;
use crate::local::procfs::{self, Stat};
use crate::proc::{CommandId, Company, ask_outside_locks};

/// How long they may take to end when they are asked to: rsync and git tidy up.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How often to look.
const PACE: Duration = Duration::from_millis(5);

struct Orphans {
    mark: String,
}

impl Company for Orphans {
    fn members(&self) -> Vec<Stat> {
        let own = std::process::id() as i32;
        let is_one =
            |stat: &Stat| stat.pid != own && !stat.is_gone() && procfs::has_env(stat.pid, &self.mark);
        procfs::all().into_iter().filter(is_one).collect()
    }

    fn signal(&self, signal: Signal) {
        for stat in self.members() {
            let Some(pidfd) =
                Pid::from_raw(stat.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            else {
                continue;
            };
            // Its number may have been used again between the look and the open.
            if matches!(Stat::read(stat.pid), Ok(Some(again)) if again.start == stat.start) {
                let _ = pidfd_send_signal(&pidfd, signal);
            }
        }
    }
}

/// Ends what that command started and left.
pub(crate) fn end(command: &CommandId) -> EndReport {
    let orphans = Orphans { mark: format!("{MNGR_COMMAND_ID}={command}") };
    let mut report = EndReport { signalled: orphans.members().len(), ..EndReport::default() };
    if report.signalled == 0 {
        return report;
    }
    ask_outside_locks(&orphans, None, SystemTime::UNIX_EPOCH);
    let left = wait_until_gone(&orphans, GRACE);
    if !left.is_empty() {
        report.killed = left.len();
        orphans.signal(Signal::KILL);
        report.remaining = wait_until_gone(&orphans, KILL_WAIT).iter().map(|stat| stat.pid).collect();
    }
    report
}

fn wait_until_gone(orphans: &Orphans, limit: Duration) -> Vec<Stat> {
    let began = Instant::now();
    loop {
        let left = orphans.members();
        if left.is_empty() || began.elapsed() >= limit {
            return left;
        }
        std::thread::sleep(PACE);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn spawn(id: &CommandId, script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(MNGR_COMMAND_ID, id.as_str());
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn what_a_command_left_ends_with_its_children_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let ready = dir.path().join("ready");
        let id = |pid: &str| CommandId::parse(&format!("boot.1.{pid}.3")).unwrap();
        let mut bystander = spawn(&id("8"), "exec sleep 300");
        let mut orphan =
            spawn(&id("9"), &format!("trap '' TERM; sleep 300 & touch {}; wait", ready.display()));
        while !ready.exists() {
            std::thread::yield_now();
        }
        let report = end(&id("9"));
        assert!(report.signalled >= 1 && report.remaining.is_empty(), "{report:?}");
        orphan.wait().unwrap();
        assert!(bystander.try_wait().unwrap().is_none(), "it must still run");
        assert_eq!(end(&id("9")), EndReport::default());
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}
