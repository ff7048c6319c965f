//! [`Host`] for this machine.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use mngr_model::address::AgentRef;
use mngr_model::facts::{AgentFacts, Detail, Survey};
use mngr_model::host::HostInfo;
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostId, HostName, HostPath, ProviderName};
use rustix::fs::{Mode, OFlags};

use crate::errand::ErrandError;
use crate::files::{Access, Durability, Files, FilesError};
use crate::host::{AwaitedLine, EndReport, EndRequest, Host, SurveyError, TerminalMode, WatchRequest};
use crate::local::files::LocalFiles;
use crate::local::{orphans, processes, survey, watch};
use crate::lock::{self, HostLock, LockError, LockWait, lock_file};
use crate::proc::{self, Attachment, Cmd, CommandId, ExecError, Exit, Guard, Keep, Kept, Output, Stream};
use crate::pty::{Pty, TerminalSize};
use crate::random;
use crate::socket::{LocalSockets, Sockets};
use crate::trace::{self, SpanKind};
use crate::watch::{Watch, WatchError};

/// The name of this machine in addresses: `foo@localhost.local`.
pub const LOCAL_HOST_NAME: &str = "localhost";

/// The name of its provider.
const LOCAL_PROVIDER_NAME: &str = "local";

/// This machine.
#[derive(Debug)]
pub struct LocalHost {
    info: HostInfo,
    files: LocalFiles,
}

/// The host dir cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalHostError {
    /// A file operation failed.
    #[error("the host dir `{host_dir}` cannot be used")]
    Files {
        /// The host dir.
        host_dir: HostPath,
        /// Why.
        #[source]
        source: FilesError,
    },
    /// `host_id` does not hold an id.
    #[error("`{path}` does not hold a host id")]
    BadId {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: mngr_model::ids::IdError,
    },
}

impl LocalHost {
    /// Opens the host dir, creating it with a fresh id the first time.
    pub fn open(host_dir: HostPath) -> Result<Self, LocalHostError> {
        let files = LocalFiles;
        let layout = HostLayout::new(host_dir.clone());
        let id = match read_id(&files, &layout)? {
            Some(id) => id,
            None => create_id(&files, &layout)?,
        };
        Ok(Self {
            info: HostInfo { id, name: local_name(), provider: local_provider(), host_dir, home: None },
            files,
        })
    }

    /// Runs a command and hands on what it prints, piece by piece as it comes. A command that timed out has no partial
    /// output: it has been handed on.
    pub fn exec_streaming(
        &self,
        cmd: &Cmd,
        on_output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Exit, ExecError> {
        proc::run_streaming(cmd, on_output)
    }

    /// Starts a process that waits for the end of this one, however it comes about.
    pub fn start_guard(&self, cmd: &Cmd) -> Result<Guard, ExecError> {
        Guard::start(cmd)
    }
}

fn read_id(files: &LocalFiles, layout: &HostLayout) -> Result<Option<HostId>, LocalHostError> {
    let path = layout.host_id();
    let bytes = files
        .read_if_there(&path)
        .map_err(|source| LocalHostError::Files { host_dir: layout.root().clone(), source })?;
    let Some(bytes) = bytes else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    text.trim().parse().map(Some).map_err(|source| LocalHostError::BadId { path, source })
}

fn create_id(files: &LocalFiles, layout: &HostLayout) -> Result<HostId, LocalHostError> {
    let wrap = |source| LocalHostError::Files { host_dir: layout.root().clone(), source };
    files.make_folder(layout.root()).map_err(wrap)?;
    let id = random::host_id();
    let fresh = layout.root().join(&format!(".host_id.{}", id.hex()));
    files.write(&fresh, format!("{id}\n").as_bytes(), Access::Shared, Durability::Cached).map_err(wrap)?;
    // A hard link fails if another first command was faster; then its id counts.
    let linked = std::fs::hard_link(fresh.as_str(), layout.host_id().as_str());
    let _ = files.remove_file(&fresh);
    match linked {
        Ok(()) => Ok(id),
        Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {
            read_id(files, layout)?.ok_or_else(|| wrap(missing(layout)))
        }
        Err(source) => Err(wrap(FilesError { action: "create", path: layout.host_id(), source })),
    }
}

fn missing(layout: &HostLayout) -> FilesError {
    FilesError { action: "read", path: layout.host_id(), source: io::ErrorKind::NotFound.into() }
}

#[expect(clippy::expect_used, reason = "a constant that a test parses")]
fn local_name() -> HostName {
    LOCAL_HOST_NAME.parse().expect("a valid name")
}

#[expect(clippy::expect_used, reason = "a constant that a test parses")]
fn local_provider() -> ProviderName {
    LOCAL_PROVIDER_NAME.parse().expect("a valid name")
}

impl Host for LocalHost {
    fn info(&self) -> &HostInfo {
        &self.info
    }

    fn sockets(&self) -> Option<&dyn Sockets> {
        Some(&LocalSockets)
    }

    fn exec(&self, cmd: &Cmd) -> Result<Output, ExecError> {
        proc::run(cmd)
    }

    fn exec_kept(&self, cmd: &Cmd, keep: &Keep) -> Result<Kept, ExecError> {
        proc::run_kept(cmd, keep)
    }

    fn exec_attached(
        &self,
        cmd: &Cmd,
        attachment: Attachment,
        deadline: Option<Duration>,
    ) -> Result<Exit, ExecError> {
        proc::run_attached(cmd, attachment, deadline)
    }

    fn exec_replace(&self, cmd: &Cmd) -> ExecError {
        proc::replace(cmd)
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn lock(&self, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
        let _span = trace::span(SpanKind::Phase, || format!("lock {}", path.file_name().unwrap_or_default()));
        lock_file(path, wait)
    }

    fn free_locks(&self, paths: &[HostPath]) -> Result<Vec<HostPath>, LockError> {
        Ok(paths.iter().filter(|path| lock::is_free(path)).cloned().collect())
    }

    fn survey(&self, detail: Detail) -> Result<Survey, SurveyError> {
        survey::survey(&self.layout(), detail)
            .map_err(|source| SurveyError { host: self.info.name.to_string(), source })
    }

    fn survey_of(&self, wanted: &[AgentRef], detail: Detail) -> Result<Survey, SurveyError> {
        survey::survey_of(&self.layout(), wanted, detail)
            .map_err(|source| SurveyError { host: self.info.name.to_string(), source })
    }

    fn look_at(&self, agent: &AgentId, detail: Detail) -> Result<Option<AgentFacts>, SurveyError> {
        survey::look_at_one(&self.layout(), agent, detail)
            .map_err(|source| SurveyError { host: self.info.name.to_string(), source })
    }

    fn end_processes(&self, request: &EndRequest) -> Result<EndReport, ErrandError> {
        self.files().apply(&request.first)?;
        Ok(processes::end(request))
    }

    fn end_command(&self, command: &CommandId) -> Result<EndReport, ErrandError> {
        Ok(orphans::end(command))
    }

    fn watch(&self, request: &WatchRequest) -> Result<Box<dyn Watch>, WatchError> {
        watch::start(request)
    }

    fn await_line(&self, awaited: &AwaitedLine<'_>) -> Result<Vec<u8>, FilesError> {
        watch::await_line(awaited)
    }

    fn terminal_mode(&self, tty: &HostPath) -> Result<TerminalMode, ExecError> {
        let io_error =
            |source: rustix::io::Errno| ExecError::Io { program: "tcgetattr".into(), source: source.into() };
        let fd = open_terminal(tty).map_err(io_error)?;
        let attributes = rustix::termios::tcgetattr(&fd).map_err(io_error)?;
        let is_canonical = attributes.local_modes.contains(rustix::termios::LocalModes::ICANON);
        Ok(if is_canonical { TerminalMode::Canonical } else { TerminalMode::Raw })
    }

    fn terminal_size(&self, tty: &HostPath) -> Result<TerminalSize, ExecError> {
        let io_error = |source: rustix::io::Errno| ExecError::Io {
            program: "tcgetwinsize".into(),
            source: source.into(),
        };
        let fd = open_terminal(tty).map_err(io_error)?;
        let size = rustix::termios::tcgetwinsize(&fd).map_err(io_error)?;
        Ok(TerminalSize { cols: size.ws_col, rows: size.ws_row })
    }

    fn exec_pty(&self, cmd: &Cmd, size: TerminalSize) -> Result<Pty, ExecError> {
        Pty::open(cmd, size)
    }
}

fn open_terminal(tty: &HostPath) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(tty.as_str(), flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_made_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let host_dir = HostPath::new(dir.path().join("deep/host").to_str().unwrap());
        let first = LocalHost::open(host_dir.clone()).unwrap();
        let second = LocalHost::open(host_dir).unwrap();
        assert_eq!(first.info(), second.info());
    }

    #[test]
    fn a_damaged_id_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("host_id"), "nonsense").unwrap();
        let error = LocalHost::open(HostPath::new(dir.path().to_str().unwrap())).err().unwrap();
        assert!(error.to_string().contains("host_id"), "{error}");
    }
}
