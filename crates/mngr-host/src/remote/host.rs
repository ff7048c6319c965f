//! [`Host`] for another machine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mngr_model::address::AgentRef;
use mngr_model::facts::{AgentFacts, Detail, Survey};
use mngr_model::host::HostInfo;
use mngr_model::{AgentId, HostPath};

use super::files::RemoteFiles;
use super::shells::Shells;
use super::{lock, processes, survey, watch};
use crate::allowance::Allowance;
use crate::errand::{self, Errand, ErrandDone, ErrandError};
use crate::files::{Files, FilesError};
use crate::host::{AwaitedLine, EndReport, EndRequest, Host, Reach, SurveyError, TerminalMode, WatchRequest};
use crate::lock::{HostLock, LockError, LockWait, lock_then_append};
use crate::proc::{Attachment, Cmd, CommandId, ExecError, Exit, Inheritance, Input, Keep, Kept, Output};
use crate::pty::{Pty, TerminalSize};
use crate::watch::{Watch, WatchError};

/// How long a look at its agents may take unless somebody says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// Another machine.
#[derive(Debug)]
pub struct RemoteHost {
    info: HostInfo,
    shells: Arc<Shells>,
    files: RemoteFiles,
    patience: Duration,
}

impl RemoteHost {
    /// The machine with these shells. Nothing is asked of it yet.
    pub fn new(info: HostInfo, shells: Arc<Shells>) -> Self {
        let files = RemoteFiles::new(shells.clone());
        Self { info, shells, files, patience: PATIENCE }
    }

    /// The same, with another limit for a look at its agents.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Its shells, and through them the line to it.
    pub fn shells(&self) -> &Arc<Shells> {
        &self.shells
    }

    /// What `stty` says of a terminal there.
    fn stty(&self, tty: &HostPath, what: &str) -> Result<String, ExecError> {
        let cmd = Cmd::new("stty").args(["-F", tty.as_str(), what]).env("LC_ALL", "C");
        let output = self.shells.exec(&cmd)?;
        if output.success() { Ok(output.stdout_text()) } else { Err(stty_error(&output.stderr_text())) }
    }
}

fn stty_error(said: &str) -> ExecError {
    ExecError::Io { program: "stty".to_owned(), source: io::Error::other(super::line::detail_of(said)) }
}

impl Host for RemoteHost {
    fn info(&self) -> &HostInfo {
        &self.info
    }

    fn exec(&self, cmd: &Cmd) -> Result<Output, ExecError> {
        self.shells.exec(cmd)
    }

    fn exec_kept(&self, cmd: &Cmd, keep: &Keep) -> Result<Kept, ExecError> {
        self.shells.exec_kept(cmd, keep)
    }

    fn exec_attached(
        &self,
        cmd: &Cmd,
        attachment: Attachment,
        deadline: Option<Duration>,
    ) -> Result<Exit, ExecError> {
        self.shells.exec_attached(cmd, attachment, deadline)
    }

    fn exec_replace(&self, cmd: &Cmd) -> ExecError {
        self.shells.exec_replace(cmd)
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn allowance(&self) -> Option<&Allowance> {
        Some(self.shells.allowance())
    }

    fn lock(&self, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
        lock::lock(&self.shells, path, wait)
    }

    fn lock_with_line(&self, path: &HostPath, line: &str) -> Result<HostLock, LockError> {
        match lock::lock_with_line(&self.shells, path, line)? {
            Some(lock) => Ok(lock),
            None => lock_then_append(self, path, line),
        }
    }

    fn free_locks(&self, paths: &[HostPath]) -> Result<Vec<HostPath>, LockError> {
        lock::free(&self.shells, paths)
    }

    fn survey(&self, detail: Detail) -> Result<Survey, SurveyError> {
        survey::survey(&self.shells, &self.layout(), detail, self.patience)
            .map_err(|source| SurveyError { host: self.info.name.to_string(), source })
    }

    fn survey_of(&self, wanted: &[AgentRef], detail: Detail) -> Result<Survey, SurveyError> {
        survey::survey_of(&self.shells, &self.layout(), wanted, detail, self.patience)
            .map_err(|source| SurveyError { host: self.info.name.to_string(), source })
    }

    fn look_at(&self, agent: &AgentId, detail: Detail) -> Result<Option<AgentFacts>, SurveyError> {
        survey::look_at_one(&self.shells, &self.layout(), agent, detail, self.patience)
            .map_err(|source| SurveyError { host: self.info.name.to_string(), source })
    }

    fn end_processes(&self, request: &EndRequest) -> Result<EndReport, ErrandError> {
        processes::end(&self.shells, request)
    }

    fn end_command(&self, command: &CommandId) -> Result<EndReport, ErrandError> {
        processes::end_command(&self.shells, command)
    }

    fn watch(&self, request: &WatchRequest) -> Result<Box<dyn Watch>, WatchError> {
        watch::start(&self.shells, request)
    }

    fn await_line(&self, awaited: &AwaitedLine<'_>) -> Result<Vec<u8>, FilesError> {
        self.files.await_line(awaited)
    }

    fn run_errand(&self, errand: &Errand<'_>) -> Result<ErrandDone, ErrandError> {
        // Its script begins anew with another environment, and would begin the whole errand anew.
        let begins_anew = errand.cmd.inheritance == Inheritance::Nothing;
        // It would read what the changes after it are made of.
        let reads_on = matches!(errand.cmd.input, Input::Bytes(_)) && !errand.then.is_empty();
        if begins_anew || reads_on {
            errand::run_apart(self, errand)
        } else {
            super::errand::run(&self.shells, errand)
        }
    }

    fn terminal_mode(&self, tty: &HostPath) -> Result<TerminalMode, ExecError> {
        let said = self.stty(tty, "-a")?;
        if said.split([' ', ';', '\n']).any(|word| word == "-icanon") {
            Ok(TerminalMode::Raw)
        } else if said.split([' ', ';', '\n']).any(|word| word == "icanon") {
            Ok(TerminalMode::Canonical)
        } else {
            Err(stty_error(&said))
        }
    }

    fn terminal_size(&self, tty: &HostPath) -> Result<TerminalSize, ExecError> {
        let said = self.stty(tty, "size")?;
        let size = said.split_once(' ').and_then(|(rows, cols)| {
            Some(TerminalSize { cols: cols.trim().parse().ok()?, rows: rows.parse().ok()? })
        });
        size.ok_or_else(|| stty_error(&said))
    }

    fn reach(&self) -> Option<Reach> {
        let line = self.shells.line();
        Some(Reach { shell: line.copy_shell(), name: line.copy_name() })
    }

    fn exec_pty(&self, cmd: &Cmd, size: TerminalSize) -> Result<Pty, ExecError> {
        self.shells.exec_pty(cmd, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::testing::all_kinds;

    #[test]
    fn mode_and_size_of_a_terminal_are_told() {
        for (line, shells) in all_kinds() {
            let info = HostInfo {
                id: crate::random::host_id(),
                name: "box".parse().unwrap(),
                provider: "ssh".parse().unwrap(),
                host_dir: HostPath::new(line.root.path().to_str().unwrap()),
                home: None,
            };
            let host = RemoteHost::new(info, Arc::new(shells));
            for (command, mode) in
                [("exec sleep 100", TerminalMode::Canonical), ("stty raw; exec sleep 100", TerminalMode::Raw)]
            {
                let size = TerminalSize { cols: 77, rows: 22 };
                let mut pty = Pty::open(&Cmd::shell(command), size).unwrap();
                let comm = format!("/proc/{}/comm", pty.pid());
                while std::fs::read_to_string(&comm).unwrap().trim() != "sleep" {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let tty = std::fs::read_link(format!("/proc/{}/fd/0", pty.pid())).unwrap();
                let tty = HostPath::new(tty.to_str().unwrap());
                assert_eq!(host.terminal_mode(&tty).unwrap(), mode);
                assert_eq!(host.terminal_size(&tty).unwrap(), size);
                pty.end(Duration::ZERO).unwrap();
            }
            assert!(host.terminal_mode(&HostPath::new("/dev/null")).is_err());
        }
    }
}
