//! Many `command` agents in one environment.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use mngr_testkit::{CmdOutput, TestEnv};

use super::error::BenchError;
use super::measure::{Interrupt, ended_badly, not_started};

/// Creates that run at once while the fleet grows.
const AT_ONCE: usize = 8;

/// What an agent of a fleet runs: nothing that costs CPU.
const ASLEEP: [&str; 3] = ["--", "sleep", "100000"];

/// An environment with agents in one work dir, and nothing else. It ends them when it is dropped.
#[derive(Debug)]
pub(crate) struct Fleet {
    env: TestEnv,
    interrupt: Interrupt,
    size: usize,
}

impl Fleet {
    /// A fleet of none.
    pub(crate) fn new(binary: PathBuf, interrupt: Interrupt) -> Self {
        let env = TestEnv::new(binary);
        env.repo(1);
        Self { env, interrupt, size: 0 }
    }

    /// The environment.
    pub(crate) fn env(&self) -> &TestEnv {
        &self.env
    }

    /// Creates sleeping agents until there are this many.
    pub(crate) fn grow_to(&mut self, size: usize) -> Result<(), BenchError> {
        while self.size < size {
            self.interrupt.check()?;
            let end = size.min(self.size + AT_ONCE);
            let commands = (self.size..end).map(|number| {
                let mut command = self.create(&format!("sleeper-{number}"));
                command.args(ASLEEP);
                command
            });
            all_at_once(commands.collect())?;
            self.size = end;
        }
        Ok(())
    }

    /// `create` of an agent in the common work dir; what it runs is still to be added.
    pub(crate) fn create(&self, name: &str) -> Command {
        let mut command = self.env.mngr_cmd();
        command.args(["create", name, "--type", "command", "--transfer", "none", "--no-connect"]);
        command
    }

    /// Creates one more sleeping agent that is not counted.
    pub(crate) fn create_sleeper(&self, name: &str) -> Result<(), BenchError> {
        let mut command = self.create(name);
        command.args(ASLEEP);
        succeeded(&self.env.run(command))
    }

    /// A tmux command on the server the agents run on.
    pub(crate) fn tmux(&self) -> Result<Command, BenchError> {
        let socket = self.env.tmux_sockets().into_iter().next().ok_or(BenchError::NoServer)?;
        let mut command = self.env.command("tmux");
        command.arg("-S").arg(socket);
        Ok(command)
    }
}

/// Runs all commands at the same time and waits for all of them.
pub(crate) fn all_at_once(commands: Vec<Command>) -> Result<(), BenchError> {
    let mut children: Vec<(Command, Child)> = Vec::new();
    let mut failure = None;
    for mut command in commands {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => children.push((command, child)),
            Err(source) => failure = Some(not_started(&command, source)),
        }
    }
    // All are waited for even after a failure: none may run on into the next sample.
    for (command, mut child) in children {
        match child.wait() {
            Ok(status) if status.success() => {}
            Ok(status) => failure = Some(ended_badly(&command, status)),
            Err(source) => failure = Some(not_started(&command, source)),
        }
    }
    failure.map_or(Ok(()), Err)
}

/// An error that shows everything when a command failed.
pub(crate) fn succeeded(output: &CmdOutput) -> Result<(), BenchError> {
    if output.status.success() { Ok(()) } else { Err(BenchError::Failed(output.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_among_many_is_reported() {
        let commands = |names: &[&str]| names.iter().map(Command::new).collect();
        assert!(all_at_once(commands(&["true", "true"])).is_ok());
        assert!(matches!(all_at_once(commands(&["true", "false", "true"])), Err(BenchError::Failed(_))));
        assert!(matches!(all_at_once(commands(&["/nonexistent"])), Err(BenchError::Start { .. })));
    }
}
