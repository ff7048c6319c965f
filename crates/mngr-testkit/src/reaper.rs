//! The process that cleans up after a test, also when the test itself is killed.
//!
//! Budget: one `sh` per environment. It waits on a pipe whose other end only this process holds; the end of
//! the test, however it comes about, is the end of the pipe.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::or_fail::OrFail;

const SCRIPT: &str = include_str!("reap.sh");

/// What becomes of the folder of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    Remove,
    Keep,
}

/// A cleaner that waits for its environment to end.
#[derive(Debug)]
pub(crate) struct Reaper(Child);

impl Reaper {
    /// Starts the cleaner of the environment in `root`, whose processes are known by `host_dir`.
    pub(crate) fn start(root: &Path, host_dir: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "reap.sh"]).arg(root).arg(host_dir);
        // Its own group, because a test runner ends a test that hangs by signalling the test's group.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_remove("MNGR_HOST_DIR").env_remove("TMUX").current_dir("/");
        Self(command.spawn().or_fail("starting the cleaner of the test environment"))
    }

    /// Lets the cleaner do its work and waits for the end of it.
    pub(crate) fn finish(&mut self, folder: Folder) -> io::Result<()> {
        if let Some(mut pipe) = self.0.stdin.take()
            && folder == Folder::Keep
        {
            pipe.write_all(b"keep\n")?;
        }
        let status = self.0.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other(format!("the cleaner ended with {status}")))
        }
    }
}
