//! `exec`: a command in an agent's work dir, with the agent's environment. The agent itself need not run.
//!
//! Budget: one process per target. What it prints is held in memory within a limit, the rest in a file of this machine.

use std::time::Duration;

use mngr_host::files::FilesError;
use mngr_host::glance::Glance;
use mngr_host::proc::{Attachment, Cmd, ExecError, Exit, Keep, Kept, Output};
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::env::{EnvFileError, MNGR_AGENT_ID, MNGR_EXEC, parse_env_file};

use crate::fanout::fan_out;
use crate::fleet::Agent;
use crate::visit::Visit;
use crate::world::World;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Text for `sh -c`.
    Shell(String),
    /// These words, no shell in between.
    Words(Vec<String>),
}

/// What to run, where and for how long.
#[derive(Debug, Clone)]
pub struct ExecRequest {
    /// The command.
    pub command: Command,
    /// The folder, relative to the work dir; without one the work dir itself.
    pub cwd: Option<String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// The command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExecFailure {
    /// There are no words.
    #[error("there is no command to run")]
    NoCommand,
    /// The agent's environment could not be read.
    #[error("cannot read the environment of the agent")]
    Files(#[from] FilesError),
    /// The agent's environment is not a list of variables.
    #[error("cannot read the environment in `{path}`")]
    EnvFile {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: EnvFileError,
    },
    /// It could not be started, took too long or was interrupted.
    #[error("the command did not run to its end")]
    Exec(#[from] ExecError),
}

impl ExecFailure {
    /// Whether it was ended because its time was over.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Exec(ExecError::TimedOut { .. }))
    }
}

/// Runs it on one agent with our own standard input, output and error.
pub fn attached(
    world: &World,
    agent: &Agent,
    request: &ExecRequest,
    attachment: Attachment,
) -> Result<Exit, ExecFailure> {
    let cmd = command_for(world, agent, request)?;
    let _visit = Visit::begin(world, &agent.host);
    Ok(agent.host.exec_attached(&cmd, attachment, request.timeout)?)
}

/// Runs it on one agent, reading `input`, and collects what it prints.
pub fn captured(
    world: &World,
    agent: &Agent,
    request: &ExecRequest,
    input: Vec<u8>,
) -> Result<Output, ExecFailure> {
    let cmd = command_for(world, agent, request)?;
    let _visit = Visit::begin(world, &agent.host);
    let cmd = cmd.deadline(request.timeout.unwrap_or(Duration::MAX));
    Ok(agent.host.exec(&if input.is_empty() { cmd } else { cmd.stdin(input) })?)
}

/// Runs it on many agents at once, reading nothing; the results in the order of the agents. Each has as much of the output in
/// memory as the settings allow, and the whole of it in a file where that is not all.
pub fn captured_on_all(
    world: &World,
    agents: &[Agent],
    request: &ExecRequest,
) -> Vec<Result<Kept, ExecFailure>> {
    fan_out(agents.iter().collect(), |agent| kept(world, agent, request))
}

fn kept(world: &World, agent: &Agent, request: &ExecRequest) -> Result<Kept, ExecFailure> {
    let cmd = command_for(world, agent, request)?.deadline(request.timeout.unwrap_or(Duration::MAX));
    let _visit = Visit::begin(world, &agent.host);
    let at = world.clock.now().strftime("%Y%m%d-%H%M%S");
    let keep = Keep {
        bytes: kept_bytes(world),
        folder: world.client.layout().outputs(),
        name: format!("exec-{}-{at}-{}", agent.name(), &random::hex32()[..8]),
    };
    Ok(agent.host.exec_kept(&cmd, &keep)?)
}

/// How much of what a command prints is held in memory for each agent.
pub fn kept_bytes(world: &World) -> usize {
    const MEBIBYTE: f64 = 1024.0 * 1024.0;
    // Rust cuts what does not fit, and what is no number is 0.
    (world.settings.exec.kept_output_mb * MEBIBYTE) as usize
}

fn command_for(world: &World, agent: &Agent, request: &ExecRequest) -> Result<Cmd, ExecFailure> {
    let mut cmd = match &request.command {
        Command::Shell(text) => Cmd::shell(text),
        Command::Words(words) if words.is_empty() => return Err(ExecFailure::NoCommand),
        Command::Words(words) => Cmd::from_words(words.iter().cloned()),
    };
    let work_dir = &agent.facts.record.work_dir;
    let dir = request.cwd.as_deref().map_or_else(|| work_dir.clone(), |dir| work_dir.join(dir));
    cmd = cmd.cwd(&dir);
    for name in &world.settings.unset_vars {
        cmd = cmd.env_remove(name);
    }
    // Whoever calls may be an agent itself; the command belongs to this one.
    cmd = cmd.env(MNGR_AGENT_ID, agent.id().as_str());
    let layout = agent.host.layout();
    let env_files = [layout.env_file(), layout.agent(agent.id()).env_file()];
    let glance = Glance::at(agent.host.files(), &env_files)?;
    for path in env_files {
        let Some(bytes) = glance.read_if_there(&path)? else { continue };
        let pairs = parse_env_file(&String::from_utf8_lossy(&bytes))
            .map_err(|source| ExecFailure::EnvFile { path, source })?;
        for pair in pairs {
            cmd = cmd.env(pair.name().as_str(), pair.value());
        }
    }
    // Last, so that no file of the agent's changes it.
    Ok(cmd.env(MNGR_EXEC, agent.id().as_str()))
}

#[cfg(test)]
mod tests;
