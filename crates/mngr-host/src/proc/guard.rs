//! A process that waits for the end of this one, to clean up after it whatever that end is.
//!
//! It holds the reading end of a pipe whose writing end only we hold: a crash or a kill closes it as surely as a proper
//! end does. Budget: one process for each guard.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use super::{Cmd, ExecError, Exit, Output, group, spawn_error, wait_for_exit};

/// A running guard. Dropped without [`finish`](Self::finish) it goes to work, and nobody waits for it.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
    program: String,
    deadline: Duration,
}

impl Guard {
    /// Starts it. It is in a group of its own, because whoever ends a program that hangs signals that program's group;
    /// and it has no output, because a pipe of ours that it held would seem to go on after our end.
    pub(crate) fn start(cmd: &Cmd) -> Result<Self, ExecError> {
        let mut command = cmd.to_std();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().map_err(|source| spawn_error(cmd, source))?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe, program: cmd.program.clone(), deadline: cmd.deadline })
    }

    /// Gives it its last words, lets it work and waits for its end, at most as long as its command's deadline.
    ///
    /// # Errors
    /// When it cannot be waited for, or took too long and was ended.
    pub fn finish(mut self, last_words: &[u8]) -> Result<Exit, ExecError> {
        let failed = |program: &str, source: io::Error| ExecError::Io { program: program.to_owned(), source };
        if let Some(mut pipe) = self.pipe.take() {
            pipe.write_all(last_words).map_err(|source| failed(&self.program, source))?;
        }
        let started = Instant::now();
        loop {
            let ended = self.child.try_wait().map_err(|source| failed(&self.program, source))?;
            if let Some(status) = ended {
                return Ok(Exit::of(status));
            }
            let left = self.deadline.saturating_sub(started.elapsed());
            if left.is_zero() {
                group::end(&self.child);
                let _ = self.child.wait();
                let partial = Box::new(Output { exit: Exit::Signal(9), stdout: vec![], stderr: vec![] });
                return Err(ExecError::TimedOut { program: self.program, after: self.deadline, partial });
            }
            wait_for_exit(&self.child, left.min(Duration::from_secs(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(script: &str, file: &std::path::Path) -> Guard {
        Guard::start(&Cmd::shell(script).arg("guard").arg(file.to_str().unwrap())).unwrap()
    }

    #[test]
    fn it_works_when_it_is_finished_and_hears_the_last_words() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("words");
        let exit = guard(r#"cat >"$1"; exit 4"#, &file).finish(b"keep\n").unwrap();
        assert_eq!((exit, std::fs::read_to_string(&file).unwrap().as_str()), (Exit::Code(4), "keep\n"));
    }

    #[test]
    fn it_works_when_its_owner_is_gone_without_a_word() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("done");
        drop(guard(r#"cat; : >"$1""#, &file));
        let started = Instant::now();
        while !file.exists() {
            assert!(started.elapsed() < Duration::from_secs(10), "the guard did nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn one_that_hangs_is_ended() {
        let cmd = Cmd::shell("sleep 60").deadline(Duration::from_millis(100));
        let ended = Guard::start(&cmd).unwrap().finish(b"");
        assert!(matches!(ended, Err(ExecError::TimedOut { .. })));
    }
}
