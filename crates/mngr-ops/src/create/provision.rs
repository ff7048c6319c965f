//! What an agent finds when it starts: its state folder, its variables, uploaded files, prepared by commands.
//!
//! Budget: no process beyond the user's own provisioning commands.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mngr_agents::scripted::{self, script::Step as ScriptStep};
use mngr_host::beneath::Beneath;
use mngr_host::files::{Access, Change, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError};
use mngr_model::env::{self, EnvName, EnvPair, parse_env_file, render_env_file};
use mngr_model::journal::Step;
use mngr_model::layout::AgentLayout;
use mngr_model::window::PRIMARY_WINDOW_NAME;
use mngr_model::{AgentName, AgentRecord, HostPath};

use super::agent_type::ResolvedType;
use super::error::CreateError;
use super::request::{CreateRequest, Upload};
use super::settle;
use crate::journal::Journal;
use crate::world::World;

/// The state folder and its sub-folders.
pub(super) fn state_folder(agent: &AgentLayout) -> impl Iterator<Item = Change> {
    let folders = ["activity", "status", "events/messages", "commands", "plugin"];
    let folders = folders.map(|folder| Change::MakeFolder(agent.root().join(folder)));
    let marks = [agent.activity_create(), agent.activity_start()].map(Change::Touch);
    folders.into_iter().chain(marks)
}

/// The variables of the agent, in the order in which later ones win.
pub(super) fn variables(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
    resolved: &ResolvedType,
    request: &CreateRequest,
) -> Result<Vec<EnvPair>, CreateError> {
    let mut pairs = built_in_variables(world, host, record)?;
    let root = host.layout().agent(&record.id).root().clone();
    for (name, folder) in &request.state_folders {
        pairs.push(EnvPair::new(name.parse()?, root.join(folder).to_string())?);
    }
    pairs.extend(given_variables(world, resolved, request)?);
    Ok(pairs)
}

/// The variables the type and the command line give, in the order in which later ones win.
pub(super) fn given_variables(
    world: &World,
    resolved: &ResolvedType,
    request: &CreateRequest,
) -> Result<Vec<EnvPair>, CreateError> {
    let mut pairs = Vec::new();
    let type_files = resolved.chain.iter().rev().flat_map(|settings| &settings.env_file);
    let type_files = type_files.map(|path| world.cwd.join(path));
    for path in type_files.chain(request.env_files.iter().cloned()) {
        let text = world.client.files().read_text(&path)?;
        pairs.extend(parse_env_file(&text).map_err(|source| CreateError::EnvFile { path, source })?);
    }
    for (name, value) in resolved.chain.iter().rev().flat_map(|settings| &settings.env) {
        pairs.push(EnvPair::new(name.parse::<EnvName>()?, value.clone())?);
    }
    pairs.extend(request.env.iter().cloned());
    Ok(pairs)
}

fn built_in_variables(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
) -> Result<Vec<EnvPair>, CreateError> {
    let agent = host.layout().agent(&record.id);
    let primary = world.settings.tmux.primary_window_name.as_str();
    let primary = if primary.is_empty() { PRIMARY_WINDOW_NAME } else { primary };
    let base =
        record.workspace.as_ref().and_then(|workspace| workspace.base_branch.clone()).unwrap_or_default();
    let values = [
        (env::MNGR_HOST_DIR, host.info().host_dir.to_string()),
        (env::MNGR_PREFIX, world.settings.prefix.as_str().to_owned()),
        (env::MNGR_AGENT_ID, record.id.to_string()),
        (env::MNGR_AGENT_NAME, record.name.to_string()),
        (env::MNGR_AGENT_STATE_DIR, agent.root().to_string()),
        (env::MNGR_AGENT_WORK_DIR, record.work_dir.to_string()),
        (env::MNGR_PRIMARY_WINDOW_NAME, primary.to_owned()),
        (env::LLM_USER_PATH, agent.root().join("llm").to_string()),
        (env::MNGR_GIT_BASE_BRANCH, base.clone()),
        (env::CODE_GUARDIAN_STOP_HOOK_BASE_BRANCH, base),
    ];
    values.into_iter().map(|(name, value)| Ok(EnvPair::new(name.parse()?, value)?)).collect()
}

/// The variables, where only the user can read them.
pub(super) fn env_file(agent: &AgentLayout, pairs: &[EnvPair]) -> Change {
    Change::write(agent.env_file(), render_env_file(pairs), Access::Private)
}

/// The files that an agent without a terminal reads and writes.
pub(super) fn streams(agent: &AgentLayout, input: &str) -> impl Iterator<Item = Change> {
    let texts =
        [(agent.headless_input(), input), (agent.headless_output(), ""), (agent.headless_errors(), "")];
    let files = texts.map(|(path, text)| Change::write(path, text, Access::Private));
    [Change::MakeFolder(agent.headless())].into_iter().chain(files)
}

/// The player of a scripted agent, and the words that run it.
pub(super) fn player(agent: &AgentLayout, name: &AgentName, steps: &[ScriptStep]) -> (Change, Vec<String>) {
    let path = scripted::player_file(agent);
    let words = vec!["sh".to_owned(), path.to_string()];
    (Change::write(path, scripted::compile(steps, name), Access::PrivateExecutable), words)
}

/// Folders, files and commands, in this order; the type's own before those of the command line.
pub(super) fn prepare(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
    resolved: &ResolvedType,
    request: &CreateRequest,
    pairs: &[EnvPair],
    journal: &mut Journal<'_>,
) -> Result<(), CreateError> {
    let folders = resolved.chain.iter().rev().flat_map(|settings| &settings.create_directory);
    journal.add(folders.map(|folder| {
        let path = target(world, host, record, folder);
        match Beneath::new(&record.work_dir, &path) {
            Some(folder) => Change::MakeFolderBeneath(folder),
            None => Change::MakeFolder(path),
        }
    }));
    let of_type = resolved.chain.iter().rev().flat_map(|settings| &settings.upload_file).map(|spec| {
        let (local, remote) = spec.split_once(':').unwrap_or((spec, spec));
        Upload { local: world.cwd.join(local), remote: remote.to_owned() }
    });
    for file in of_type.chain(request.uploads.iter().cloned()) {
        journal.carry_out()?;
        upload(world, host, record, &file, journal)?;
    }
    let of_type = resolved.chain.iter().rev().flat_map(|settings| &settings.extra_provision_command);
    let began = Instant::now();
    for command in of_type.chain(&request.provision_commands) {
        journal.carry_out()?;
        let patience = request.provision_patience.saturating_sub(began.elapsed());
        run_command(world, host, record, command, pairs, patience)?;
    }
    Ok(())
}

/// Fails before anything is made if a file to be uploaded is not there.
pub(super) fn check_uploads(world: &World, request: &CreateRequest) -> Result<(), CreateError> {
    for upload in &request.uploads {
        if !world.client.files().exists(&upload.local)? {
            return Err(CreateError::UploadMissing { path: upload.local.clone() });
        }
    }
    Ok(())
}

fn upload(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
    file: &Upload,
    journal: &mut Journal<'_>,
) -> Result<(), CreateError> {
    let bytes = world.client.files().read(&file.local)?;
    let is_executable = world.client.files().stat(&file.local)?.is_some_and(|stat| stat.mode & 0o100 != 0);
    let path = target(world, host, record, &file.remote);
    make_way(host, record, &path)?;
    let is_ours =
        record.workspace.as_ref().is_some_and(|w| w.is_generated) && path.is_within(&record.work_dir);
    if !is_ours {
        match host.files().read_if_there(&path)? {
            None => journal.step(Step::File { path: path.clone() })?,
            Some(old) => {
                let backup = HostPath::new(format!("{path}.mngr-{}", record.id.hex()));
                put(host, record, &backup, &old, Access::Private)?;
                journal.step(Step::ReplacedFile { path: path.clone(), backup })?;
            }
        }
    }
    let access = if is_executable { Access::PrivateExecutable } else { Access::Shared };
    Ok(put(host, record, &path, &bytes, access)?)
}

/// Makes the folder of a file. Links in the work dir may have come from an agent: none of them is followed, nor is what is
/// behind them read. Any other place is one that the user named.
fn make_way(host: &dyn Host, record: &AgentRecord, path: &HostPath) -> Result<(), FilesError> {
    match (Beneath::new(&record.work_dir, path).as_ref().and_then(Beneath::split), path.parent()) {
        (Some((folder, name)), _) => {
            host.files().make_folder_beneath(&folder, &BTreeSet::from([name.as_bytes().to_vec()]))
        }
        (None, Some(parent)) => host.files().make_folder(&parent),
        (None, None) => Ok(()),
    }
}

fn put(
    host: &dyn Host,
    record: &AgentRecord,
    path: &HostPath,
    bytes: &[u8],
    access: Access,
) -> Result<(), FilesError> {
    match Beneath::new(&record.work_dir, path) {
        Some(file) => host.files().write_beneath(&file, bytes, access, Durability::Cached),
        None => host.files().write(path, bytes, access, Durability::Cached),
    }
}

/// The removal of the copies of replaced files, once the agent is whole.
pub(super) fn drop_backups(journal: &Journal<'_>) -> Vec<Change> {
    let backup = |step: &Step| match step {
        Step::ReplacedFile { backup, .. } => Some(Change::RemoveFile(backup.clone())),
        _ => None,
    };
    journal.steps().iter().filter_map(backup).collect()
}

fn run_command(
    world: &World,
    host: &dyn Host,
    record: &AgentRecord,
    command: &str,
    pairs: &[EnvPair],
    patience: Duration,
) -> Result<(), CreateError> {
    world.reporter.progress(&format!("Running {command}"));
    let mut cmd = Cmd::shell(command).cwd(&record.work_dir).deadline(patience);
    for pair in pairs {
        cmd = cmd.env(pair.name().as_str(), pair.value());
    }
    let output = match host.exec(&cmd) {
        Err(ExecError::TimedOut { after, .. }) => {
            return Err(CreateError::ProvisionTimedOut { command: command.to_owned(), after });
        }
        other => other?,
    };
    if output.success() {
        return Ok(());
    }
    Err(settle::failed(command, &output))
}

fn target(world: &World, host: &dyn Host, record: &AgentRecord, path: &str) -> HostPath {
    match (path.strip_prefix("~/"), world.home_on(host)) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => record.work_dir.join(path).normalized(),
    }
}
