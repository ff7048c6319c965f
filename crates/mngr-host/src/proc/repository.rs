//! Ending a git without leaving one of its lock files in a repository.
//!
//! A git that is asked to end removes its lock files, but not one that it has made in this very moment and not yet noted:
//! the signal reaches it when it comes back from making the file. So it is stopped first, looked at, and asked only while
//! it has no lock file open and none has appeared since it began; a lock file that is noted and closed is removed by git
//! itself. What is stopped makes nothing, and what is asked while it is stopped hears that before all else.
//!
//! Without `/proc` nothing can be looked at: then it is asked at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use crate::local::procfs::{self, Stat};

/// How long a git may hold a lock before it is asked all the same, which lets it tidy up.
const LONGEST_HOLD: Duration = Duration::from_secs(20);
/// How long a process may take to stop.
const STOPPING: Duration = Duration::from_millis(500);
/// How often to look.
const PACE: Duration = Duration::from_millis(5);
/// Time stamps of files come from a clock that ticks seldom.
const TICK: Duration = Duration::from_millis(20);
/// How our own lock files begin, which let go of themselves.
const OURS: &str = "mngr-";

/// Processes that are asked to end together.
pub(crate) trait Company {
    /// Those that live.
    fn members(&self) -> Vec<Stat>;
    /// Sends all of them a signal.
    fn signal(&self, signal: Signal);
}

/// Asks them to end (SIGTERM) at a moment when none of them holds a lock file. Returns when they have been asked, or have
/// ended by themselves.
pub(crate) fn ask_outside_locks(company: &dyn Company, repository: Option<&Path>, since: SystemTime) {
    let began = Instant::now();
    let folders = repository.map(git_folders).unwrap_or_default();
    loop {
        if company.members().is_empty() {
            // They have ended, or cannot be seen.
            return company.signal(Signal::TERM);
        }
        company.signal(Signal::STOP);
        let is_quiet = wait_until_stopped(company)
            && !company.members().iter().any(|stat| has_lock_open(stat.pid))
            && !folders.iter().any(|folder| has_new_lock(folder, since));
        if is_quiet || began.elapsed() >= LONGEST_HOLD {
            company.signal(Signal::TERM);
            company.signal(Signal::CONT);
            return;
        }
        company.signal(Signal::CONT);
        std::thread::sleep(PACE);
    }
}

/// Whether all of them stand still.
fn wait_until_stopped(company: &dyn Company) -> bool {
    let asked = Instant::now();
    loop {
        let is_stopped = |stat: &Stat| matches!(stat.state, b'T' | b't');
        if company.members().iter().all(is_stopped) {
            return true;
        }
        if asked.elapsed() >= STOPPING {
            return false;
        }
        std::thread::yield_now();
    }
}

fn has_lock_open(pid: i32) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).any(|path| is_lock(&path))
}

fn has_new_lock(folder: &Path, since: SystemTime) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let is_new = |path: &Path| {
        let modified = fs::symlink_metadata(path).and_then(|found| found.modified());
        modified.is_ok_and(|modified| modified + TICK >= since)
    };
    entries.flatten().map(|entry| entry.path()).any(|path| is_lock(&path) && is_new(&path))
}

fn is_lock(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".lock") && !name.starts_with(OURS)
}

/// Where a git at work in this folder makes lock files: in the folder of its checkout, and in the one all share.
fn git_folders(dir: &Path) -> Vec<PathBuf> {
    let Some(own) = dir.ancestors().find_map(git_folder_of) else { return Vec::new() };
    let shared = fs::read_to_string(own.join("commondir")).map(|text| own.join(text.trim_end()));
    std::iter::once(own.clone()).chain(shared).collect()
}

fn git_folder_of(dir: &Path) -> Option<PathBuf> {
    let dot_git = dir.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    if let Ok(text) = fs::read_to_string(&dot_git) {
        return Some(dir.join(text.strip_prefix("gitdir: ")?.trim_end()));
    }
    (dir.join("HEAD").is_file() && dir.join("objects").is_dir()).then(|| dir.to_path_buf())
}

/// A process group.
pub(super) struct Group(pub(super) rustix::process::Pid);

impl Company for Group {
    fn members(&self) -> Vec<Stat> {
        let group = self.0.as_raw_nonzero().get();
        procfs::all().into_iter().filter(|stat| stat.group == group && !stat.is_gone()).collect()
    }

    fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.0, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    /// Runs `script` in a repository until the file `ready` is there, asks it to end, and gives the folder.
    fn asked(script: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".git/objects")).unwrap();
        let since = SystemTime::now();
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(dir.path()).stdin(Stdio::null()).process_group(0);
        let mut child = command.spawn().unwrap();
        while !dir.path().join("ready").exists() {
            std::thread::yield_now();
        }
        let group = Group(rustix::process::Pid::from_child(&child));
        ask_outside_locks(&group, Some(dir.path()), since);
        child.wait().unwrap();
        dir
    }

    #[test]
    fn whoever_holds_an_open_lock_file_is_asked_after_it_let_go() {
        let dir =
            asked("exec 8>elsewhere.lock; touch ready; sleep 0.2; rm elsewhere.lock; exec 8>&-; sleep 100");
        assert!(!dir.path().join("elsewhere.lock").exists());
    }

    #[test]
    fn a_new_lock_file_of_the_repository_is_waited_for() {
        let dir = asked("touch .git/packed-refs.lock ready; sleep 0.2; rm .git/packed-refs.lock; sleep 100");
        assert!(!dir.path().join(".git/packed-refs.lock").exists());
    }

    #[test]
    fn our_own_lock_file_and_an_old_one_are_not_waited_for() {
        let began = Instant::now();
        let dir = asked(
            "touch .git/mngr-worktree.lock .git/old.lock; touch -d 2001-01-01 .git/old.lock; touch ready; sleep 100; touch late",
        );
        assert!(!dir.path().join("late").exists());
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
