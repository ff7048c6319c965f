//! What a host that was made for an agent gets before the agent does: its variables, the user's own commands, its limits.
//!
//! Budget: no process beyond the user's own commands.

use std::time::Instant;

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::proc::{Cmd, ExecError, Output};
use mngr_model::env::{EnvPair, parse_env_file, render_env_file};

use super::error::CreateError;
use super::request::{HostSpec, PROVISION_PATIENCE};
use crate::activity;
use crate::world::World;

/// How much of a failed command's output is repeated.
const OUTPUT_LINES: usize = 20;

/// The variables of all agents of the host, in the order in which later ones win. Read before the host is made: a file
/// that is not there must not cost a host.
pub(crate) fn variables(world: &World, spec: &HostSpec) -> Result<Vec<EnvPair>, CreateError> {
    let mut pairs = Vec::new();
    for path in &spec.env_files {
        let text = world.client.files().read_text(path)?;
        let parsed = parse_env_file(&text);
        pairs.extend(parsed.map_err(|source| CreateError::EnvFile { path: path.clone(), source })?);
    }
    pairs.extend(spec.env.iter().cloned());
    Ok(pairs)
}

/// Settles a host in. Its limits come last: nothing may stop it while the user's commands run.
pub(super) fn settle(
    world: &World,
    host: &dyn Host,
    spec: &HostSpec,
    variables: &[EnvPair],
) -> Result<(), CreateError> {
    write_variables(host, variables)?;
    run_commands(world, host, spec, variables)?;
    Ok(activity::begin(world, host, &spec.activity)?)
}

/// Gives a host that began as a copy of a settled one what is its own: copies have no variables, which may be secret, and
/// the limits of another host.
pub(crate) fn settle_copy(
    world: &World,
    host: &dyn Host,
    spec: &HostSpec,
    variables: &[EnvPair],
) -> Result<(), CreateError> {
    write_variables(host, variables)?;
    Ok(activity::begin(world, host, &spec.activity)?)
}

/// Writes the variables of all agents of the host.
pub(crate) fn write_variables(host: &dyn Host, variables: &[EnvPair]) -> Result<(), CreateError> {
    if variables.is_empty() {
        return Ok(());
    }
    let (path, text) = (host.layout().env_file(), render_env_file(variables));
    Ok(host.files().write(&path, text.as_bytes(), Access::Private, Durability::Cached)?)
}

/// Runs the user's own commands.
pub(crate) fn run_commands(
    world: &World,
    host: &dyn Host,
    spec: &HostSpec,
    variables: &[EnvPair],
) -> Result<(), CreateError> {
    let began = Instant::now();
    for command in &spec.post_create_commands {
        interrupt::check()?;
        world.reporter.progress(&format!("Running {command}"));
        let patience = PROVISION_PATIENCE.saturating_sub(began.elapsed());
        let mut cmd = Cmd::shell(command).deadline(patience);
        if let Some(home) = &host.info().home {
            cmd = cmd.cwd(home);
        }
        for pair in variables {
            cmd = cmd.env(pair.name().as_str(), pair.value());
        }
        match host.exec(&cmd) {
            Ok(output) if output.success() => {}
            Ok(output) => return Err(failed(command, &output)),
            Err(ExecError::TimedOut { after, .. }) => {
                return Err(CreateError::ProvisionTimedOut { command: command.clone(), after });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The command and the end of what it printed.
pub(super) fn failed(command: &str, output: &Output) -> CreateError {
    let text = format!("{}\n{}", output.stdout_text(), output.stderr_text());
    let lines: Vec<&str> = text.trim().lines().collect();
    let tail = lines[lines.len().saturating_sub(OUTPUT_LINES)..].join("\n");
    CreateError::Provision {
        command: command.to_owned(),
        status: output.exit.to_shell(),
        output: (!tail.is_empty()).then_some(tail),
    }
}
