//! Watching this machine: inotify for folders, pidfds for processes.

use std::os::fd::OwnedFd;
use std::time::Duration;

use mngr_model::process::ProcessId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::host::WatchRequest;
use crate::interrupt::{self, Interrupted};
use crate::local::procfs::Stat;
use crate::proc::timespec;
use crate::watch::{Wake, Watch, WatchError};

struct LocalWatch {
    folders: OwnedFd,
    processes: Vec<OwnedFd>,
}

/// Starts watching. A process that has already gone wakes the first wait at once.
pub(crate) fn start(request: &WatchRequest) -> Result<Box<dyn Watch>, WatchError> {
    let error =
        |what: &str, source: rustix::io::Errno| WatchError { what: what.to_owned(), source: source.into() };
    let folders =
        inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(|e| error("folders", e))?;
    let events = WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::MOVED_TO
        | WatchFlags::MOVED_FROM
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::MODIFY;
    for folder in &request.folders {
        match inotify::add_watch(&folders, folder.as_str(), events) {
            // A folder that is not there cannot change; whoever asked will look again after the time limit.
            Ok(_) | Err(rustix::io::Errno::NOENT) => {}
            Err(source) => return Err(error(folder.as_str(), source)),
        }
    }
    let processes = request.processes.iter().filter_map(|id| open_exactly(*id)).collect();
    Ok(Box::new(LocalWatch { folders, processes }))
}

fn open_exactly(id: ProcessId) -> Option<OwnedFd> {
    let fd = pidfd_open(Pid::from_raw(id.pid)?, PidfdFlags::empty()).ok()?;
    let stat = Stat::read(id.pid).ok()??;
    (stat.start == id.start).then_some(fd)
}

impl Watch for LocalWatch {
    fn wait(&mut self, limit: Duration) -> Result<Wake, Interrupted> {
        interrupt::check()?;
        let wake = interrupt::wake_fd();
        let mut fds = vec![PollFd::new(&self.folders, PollFlags::IN)];
        fds.extend(self.processes.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(wake.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let _ = poll(&mut fds, Some(&timespec(limit)));
        let process_count = self.processes.len();
        let ended: Vec<bool> = fds[1..=process_count].iter().map(|fd| !fd.revents().is_empty()).collect();
        let has_folder_event = !fds[0].revents().is_empty();
        drop(fds);
        interrupt::check()?;
        if has_folder_event {
            let mut buffer = [0_u8; 4096];
            while matches!(rustix::io::read(&self.folders, &mut buffer), Ok(count) if count > 0) {}
        }
        let has_ended = ended.contains(&true);
        // An ended process stays readable for ever; reporting it once is enough.
        let mut gone = ended.into_iter();
        self.processes.retain(|_| !gone.next().unwrap_or(false));
        Ok(if has_folder_event || has_ended { Wake::Changed } else { Wake::TimedOut })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use mngr_model::HostPath;

    use super::*;

    #[test]
    fn a_new_file_and_the_end_of_a_process_wake_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("0.05").spawn().unwrap();
        let pid = child.id() as i32;
        let id = ProcessId { pid, start: Stat::read(pid).unwrap().unwrap().start };
        let request =
            WatchRequest { folders: vec![HostPath::new(dir.path().to_str().unwrap())], processes: vec![id] };
        let mut watch = start(&request).unwrap();
        let started = Instant::now();
        assert_eq!(watch.wait(Duration::from_secs(10)).unwrap(), Wake::Changed);
        std::fs::write(dir.path().join("x"), "x").unwrap();
        assert_eq!(watch.wait(Duration::from_secs(10)).unwrap(), Wake::Changed);
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(watch.wait(Duration::from_millis(5)).unwrap(), Wake::TimedOut);
        child.wait().unwrap();
    }
}
