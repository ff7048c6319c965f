//! Watching this machine: inotify for folders, pidfds for processes.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use mngr_model::process::ProcessId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::files::{FileKind, Files, FilesError};
use crate::host::{AwaitedLine, WatchRequest};
use crate::interrupt::{self, Interrupted};
use crate::local::files::LocalFiles;
use crate::local::procfs::Stat;
use crate::proc::timespec;
use crate::watch::{Wake, Watch, WatchError};

/// How long a file that is waited for is not looked at without an event.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

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

/// Waits for a line of a file. The folder of the file exists.
pub(crate) fn await_line(awaited: &AwaitedLine<'_>) -> Result<Vec<u8>, FilesError> {
    let failed = |source: io::Error| FilesError { action: "watch", path: awaited.path.clone(), source };
    let started = Instant::now();
    let folders = awaited.path.parent().into_iter().collect();
    let mut watch =
        start(&WatchRequest { folders, processes: vec![] }).map_err(|error| failed(error.source))?;
    loop {
        let is_ordinary = LocalFiles.stat(awaited.path)?.is_some_and(|stat| stat.kind == FileKind::File);
        let said = match is_ordinary {
            true => LocalFiles.read_part(awaited.path, awaited.offset, AwaitedLine::MOST),
            false => Ok(Vec::new()),
        };
        let said = match said {
            Err(error) if error.is_missing() => Vec::new(),
            said => said?,
        };
        let left = awaited.limit.saturating_sub(started.elapsed());
        if left.is_zero() || awaited.is_in(&said) {
            return Ok(said);
        }
        // A look from time to time beside the events: some can be lost.
        watch.wait(left.min(LOOK_AGAIN)).map_err(|_| failed(io::ErrorKind::Interrupted.into()))?;
    }
}

fn open_exactly(id: ProcessId) -> Option<OwnedFd> {
    let fd = pidfd_open(Pid::from_raw(id.pid)?, PidfdFlags::empty()).ok()?;
    let stat = Stat::read(id.pid).ok()??;
    (stat.start == id.start).then_some(fd)
}

impl Watch for LocalWatch {
    fn wait(&mut self, limit: Duration) -> Result<Wake, Interrupted> {
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed());
            let wake = self.wait_once(interrupt::longest_wait(left))?;
            if wake == Wake::Changed || started.elapsed() >= limit {
                return Ok(wake);
            }
        }
    }
}

impl LocalWatch {
    fn wait_once(&mut self, limit: Duration) -> Result<Wake, Interrupted> {
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
    fn a_line_is_waited_for_and_what_is_no_file_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("log").to_str().unwrap());
        let awaited = |limit: u64| {
            let beginnings = &["agent ", "exit "];
            AwaitedLine { path: &path, offset: 4, beginnings, limit: Duration::from_millis(limit) }
        };
        std::fs::write(path.as_str(), "old\nstart agent \nagen").unwrap();
        assert_eq!(await_line(&awaited(20)).unwrap(), b"start agent \nagen");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| await_line(&awaited(20_000)).unwrap());
            std::fs::write(path.as_str(), "old\nagent 1").unwrap();
            std::fs::write(path.as_str(), "old\nagent 12\n").unwrap();
            assert_eq!(waiting.join().unwrap(), b"agent 12\n");
        });
        std::fs::rename(path.as_str(), format!("{path}2")).unwrap();
        std::os::unix::fs::symlink(format!("{path}2"), path.as_str()).unwrap();
        assert_eq!(await_line(&awaited(1)).unwrap(), b"");
    }

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
