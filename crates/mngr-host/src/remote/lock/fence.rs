//! What is done under a lock is not done without it.
//!
//! The shell that holds a lock ends with the link, and the next request opens another link: without a lock, while somebody
//! else takes up what was left. So each request of a thread that has a lock begins with a look whether the shell that holds it
//! still lives, and is not run if not.
//!
//! A request that runs when the link breaks goes on there. Under a lock that is shared with children it holds the folder of
//! the lock file as long as it runs, from before the look; who wants to know whether a lock is free asks for both.
//!
//! Budget: nothing where no lock is held; one process there for each request under a shared lock, none under another.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use mngr_model::HostPath;

use crate::remote::script::path_word;
use crate::remote::shells::Obstacle;

/// Whether process `$1`, which began at `$2`, lives and is not ending: its locks go before it does. A name of its own for
/// each variable: what is in the environment must stay as it is.
const HELD: &str = r#"mngr_held() {
    { read -r mngr_stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    mngr_born=$2
    set -- ${mngr_stat##*')' }
    [ "$1" != Z ] && [ "${20}" = "$mngr_born" ] && [ "$(($7 & 4))" = 0 ]
}
"#;

/// The locks of this process on one machine.
#[derive(Debug, Clone, Default)]
pub(in crate::remote) struct Fence(Arc<Mutex<Vec<Held>>>);

#[derive(Debug)]
struct Held {
    number: u64,
    /// Who took it: what other threads do meanwhile is not done under it.
    thread: ThreadId,
    /// The shell that holds it, and when it began.
    holder: (u32, u64),
    /// The folder of its file.
    folder: Option<HostPath>,
    is_shared: Arc<AtomicBool>,
}

/// A lock on which requests depend until this is dropped.
#[derive(Debug)]
pub(super) struct Post {
    fence: Fence,
    number: u64,
    is_shared: Arc<AtomicBool>,
}

impl Fence {
    /// From now on the requests of this thread depend on the lock that a shell said it holds: `held PID BORN`. Where a machine
    /// cannot say that, nothing changes.
    pub(super) fn stand(&self, path: &HostPath, said: &str) -> Post {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let is_shared = Arc::new(AtomicBool::new(false));
        let mut words = said.split(' ').skip(1);
        let holder =
            words.next().and_then(|pid| pid.parse().ok()).zip(words.next().and_then(|it| it.parse().ok()));
        if let Some(holder) = holder {
            let (thread, folder, is_shared) = (thread::current().id(), path.parent(), is_shared.clone());
            self.lock().push(Held { number, thread, holder, folder, is_shared });
        }
        Post { fence: self.clone(), number, is_shared }
    }

    /// What a request of this thread begins with, if it has a lock.
    pub(in crate::remote) fn lines(&self) -> Option<String> {
        let (mut holders, mut folders) = (BTreeSet::new(), BTreeSet::new());
        for held in self.lock().iter().filter(|held| held.thread == thread::current().id()) {
            holders.insert(held.holder);
            if held.is_shared.load(Ordering::SeqCst) {
                folders.extend(held.folder.clone());
            }
        }
        if holders.is_empty() {
            return None;
        }
        let mut lines = HELD.to_owned();
        // A request has its folder before it looks. All of them are journals, which are in one.
        if let Some(folder) = folders.first() {
            let folder = path_word(folder);
            let _ = writeln!(lines, "if [ -r {folder} ]; then exec 8<{folder}; flock -s 8; fi");
        }
        let each = holders.iter().map(|(pid, born)| format!("mngr_held {pid} {born}"));
        let all: Vec<String> = each.collect();
        let word = Obstacle::Unlocked.word();
        let _ =
            writeln!(lines, "{{ {}; }} || {{ echo {word} >\"${{0%/*}}/why\"; exit 127; }}", all.join(" && "));
        Some(lines)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Post {
    /// What is set when the lock is shared with what is begun under it.
    pub(super) fn sharing(&self) -> Arc<AtomicBool> {
        self.is_shared.clone()
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.fence.lock().retain(|held| held.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::lock::LockWait;
    use crate::proc::{Cmd, ExecError};
    use crate::remote::lock;
    use crate::remote::testing::all_kinds;

    #[test]
    fn a_request_is_run_while_its_lock_is_held_by_any_kind_of_shell_and_not_after_that() {
        for (line, shells) in all_kinds() {
            let root = HostPath::new(line.root.path().to_str().unwrap());
            let path = |name: &str| root.join(name);
            let others = lock::lock(&shells, &path("waited"), LockWait::Try).unwrap();
            let waited = std::thread::scope(|scope| {
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(100));
                    drop(others);
                });
                lock::lock(&shells, &path("waited"), LockWait::For(Duration::from_secs(20))).unwrap()
            });
            let at_once = lock::lock(&shells, &path("at once"), LockWait::Try).unwrap();
            at_once.share_with_children();
            let holders: BTreeSet<u32> =
                shells.locks().fence().lock().iter().map(|held| held.holder.0).collect();
            assert_eq!(holders.len(), 2, "one that can wait, and one for all others");
            // Standard input is the request's, and so are the words and variables of its environment.
            let cmd = Cmd::shell("cat; echo $# \"$mngr_born\"").stdin("given").env("mngr_born", "mine");
            assert_eq!(shells.exec(&cmd).unwrap().stdout_text(), "given0 mine");
            let is_folder_held = Cmd::shell("! flock -n . true").cwd(&root);
            assert!(shells.exec(&is_folder_held).unwrap().success());
            for holder in holders {
                let pid = Pid::from_raw(i32::try_from(holder).unwrap()).unwrap();
                kill_process(pid, Signal::KILL).unwrap();
                let stat = || std::fs::read_to_string(format!("/proc/{holder}/stat")).unwrap_or_default();
                let is_gone = || stat().is_empty() || stat().contains(") Z ");
                assert!(mngr_testkit::wait_until(Duration::from_secs(20), is_gone));
                let refused = shells.exec(&Cmd::new("touch").arg(path("made").as_str()));
                assert!(matches!(refused, Err(ExecError::Unreachable { .. })), "{refused:?}");
            }
            drop((waited, at_once));
            assert!(!std::path::Path::new(path("made").as_str()).exists());
            assert!(shells.exec(&Cmd::new("true")).unwrap().success());
        }
    }
}
