//! A socket of another machine as a socket of this one, for as long as the shared connection lives.
//!
//! Budget: no process when it is already there, three otherwise.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mngr_model::HostPath;

use super::{SOCKET_NAME_LIMIT, SshError, SshLine};
use crate::files::Files;
use crate::local::LocalFiles;
use crate::lock::{LockWait, lock_file};
use crate::proc::{self, Cmd, Output};
use crate::remote::line::{Line, Terminal, detail_of};

/// How long another mngr may take to do the same.
const LOCK_LIMIT: Duration = Duration::from_secs(20);
/// How long one `ssh` may take.
const DEADLINE: Duration = Duration::from_secs(10);

impl SshLine {
    /// Brings a socket there to this machine and says where it is. Only we can open it.
    ///
    /// # Errors
    /// When the machine cannot be reached, or its sshd refuses. Whether somebody listens there shows only later.
    pub fn forward(&self, socket: &str) -> Result<HostPath, SshError> {
        let mut hasher = DefaultHasher::new();
        socket.hash(&mut hasher);
        let local = self.folder.join(&format!("{:08x}", hasher.finish() as u32));
        if local.as_str().len() > SOCKET_NAME_LIMIT {
            return Err(self.no_forward(socket, "the name of the socket here would be too long"));
        }
        let _lock = lock_file(&self.folder.join("lock"), LockWait::For(LOCK_LIMIT))
            .map_err(|source| SshError::Busy { name: self.target.name.clone(), source })?;
        if UnixStream::connect(local.as_str()).is_ok() {
            return Ok(local);
        }
        let opened = self.run(self.command("exit 0", Terminal::None))?;
        if !opened.success() {
            return Err(self.no_forward(socket, &detail_of(&opened.stderr_text())));
        }
        let pair = format!("{local}:{socket}");
        // A connection that has lost its socket file still believes that it forwards it.
        let _ = self.run(self.ask_master("cancel", &pair))?;
        match LocalFiles.remove_file(&local) {
            Err(source) if !source.is_missing() => {
                return Err(SshError::Files { name: self.target.name.clone(), source });
            }
            _ => {}
        }
        let forwarded = self.run(self.ask_master("forward", &pair))?;
        if forwarded.success() {
            Ok(local)
        } else {
            Err(self.no_forward(socket, &detail_of(&forwarded.stderr_text())))
        }
    }

    fn ask_master(&self, what: &str, pair: &str) -> Cmd {
        Cmd::from_words(self.words()).args(["-O", what, "-L", pair, "--", &self.target.address])
    }

    fn run(&self, cmd: Cmd) -> Result<Output, SshError> {
        proc::run(&cmd.deadline(DEADLINE))
            .map_err(|source| SshError::Exec { name: self.target.name.clone(), source })
    }

    fn no_forward(&self, socket: &str, detail: &str) -> SshError {
        let (name, socket) = (self.target.name.clone(), socket.to_owned());
        SshError::Forward { name, socket, detail: detail.to_owned() }
    }
}
