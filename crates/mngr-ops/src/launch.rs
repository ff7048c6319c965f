//! Bringing an agent to life in tmux, and seeing that it lives. Used by `create` and `start`.
//!
//! Budget: one tmux process. Readiness is seen by a file event, not by a pause.

use std::time::{Duration, Instant};

use mngr_agents::launch::{LaunchSpec, SHELL_SCRIPT_NAME, launch_script, window_script};
use mngr_host::files::{Access, Durability, FileKind, FilesError};
use mngr_host::host::{Host, WatchRequest};
use mngr_host::interrupt::Interrupted;
use mngr_host::tmux::{
    ExtraWindow, NewSession, ServerConfig, SessionName, SessionNameError, Socket, TmuxError, render_config,
};
use mngr_host::watch::WatchError;
use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::layout::AgentLayout;
use mngr_model::process::{Ending, ProcessRecord};
use mngr_model::quote::sh_quote;
use mngr_model::{AgentRecord, HostPath};

use crate::world::World;

/// An agent did not come to life.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Its scripts could not be written.
    #[error("cannot write the agent's launch script")]
    Files(#[from] FilesError),
    /// Its session cannot be named.
    #[error("cannot name the agent's session")]
    Name(#[from] SessionNameError),
    /// tmux could not start it.
    #[error("cannot start the agent's session")]
    Tmux(#[from] TmuxError),
    /// Its program cannot be run.
    #[error("the agent's program `{program}` {}", if *.status == 127 { "was not found" } else { "could not be run in its work dir" })]
    NotRunnable {
        /// The first word of its command.
        program: String,
        /// 126 or 127.
        status: i32,
    },
    /// It was not ready in time.
    #[error("the agent was not ready within {seconds} s")]
    NotReady {
        /// The limit.
        seconds: f64,
    },
    /// Its readiness could not be watched.
    #[error("cannot watch the agent become ready")]
    Watch(#[from] WatchError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

/// Starts the session of an agent whose folders exist, and waits until its program runs.
pub(crate) fn launch(world: &World, host: &dyn Host, record: &AgentRecord) -> Result<(), LaunchError> {
    let layout = host.layout();
    let agent = layout.agent(&record.id);
    write_scripts(host, record, &agent)?;
    let socket = world.socket(host);
    if matches!(socket, Socket::Private(_)) {
        write_server_config(world, host, &layout.tmux_conf())?;
    }
    let window_shell = agent.root().join(SHELL_SCRIPT_NAME);
    let session = NewSession {
        name: world.session_name(&record.name)?,
        window: world.settings.tmux.primary_window_name.as_str().to_owned(),
        size: (record.tmux.width, record.tmux.height),
        window_size: record.tmux.window_size.clone(),
        dir: record.work_dir.clone(),
        env: vec![(MNGR_AGENT_ID.to_owned(), record.id.to_string())],
        words: vec!["sh".to_owned(), agent.launch_script().to_string()],
        default_command: format!("exec sh {}", sh_quote(window_shell.as_str())),
        extra: record
            .additional_commands
            .iter()
            .map(|window| ExtraWindow {
                name: window.window_name.clone(),
                words: vec!["sh".to_owned(), window_shell.to_string(), window.command.clone()],
            })
            .collect(),
        unset: world.settings.unset_vars.clone(),
        config: layout.tmux_conf(),
    };
    // Only what is written from here on belongs to this launch.
    let seen = match host.files().stat(&agent.process())? {
        Some(stat) if stat.kind == FileKind::File => stat.size,
        // A link or a pipe was put there by the agent: the supervisor would write wherever it leads.
        Some(_) => {
            host.files().remove_tree(&agent.process())?;
            0
        }
        None => 0,
    };
    let mut watch = host.watch(&WatchRequest { folders: vec![agent.root().clone()], processes: vec![] })?;
    world.with_tmux(host, |tmux| tmux.new_session(&session))?;
    let limit = record.ready_timeout_seconds.unwrap_or(world.settings.agent_ready_timeout);
    let started = Instant::now();
    loop {
        if is_ready(host, &agent, seen, record)? {
            return Ok(());
        }
        let left = Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX).checked_sub(started.elapsed());
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            return Err(LaunchError::NotReady { seconds: limit });
        };
        watch.wait(left.min(Duration::from_secs(1)))?;
    }
}

fn is_ready(
    host: &dyn Host,
    agent: &AgentLayout,
    seen: u64,
    record: &AgentRecord,
) -> Result<bool, LaunchError> {
    let bytes = host.files().read_if_there(&agent.process())?.unwrap_or_default();
    let new = usize::try_from(seen).ok().and_then(|seen| bytes.get(seen..)).unwrap_or_default();
    let process = ProcessRecord::parse(&String::from_utf8_lossy(new));
    if process.agent.is_some() {
        return Ok(true);
    }
    match process.ending {
        Some(Ending::Exited { status, .. }) => Err(LaunchError::NotRunnable {
            program: record.argv.first().cloned().unwrap_or_else(|| record.command.clone()),
            status: status.to_shell(),
        }),
        _ => Ok(false),
    }
}

fn write_scripts(host: &dyn Host, record: &AgentRecord, agent: &AgentLayout) -> Result<(), FilesError> {
    let layout = host.layout();
    let argv = argv_of(record);
    let spec = LaunchSpec { host: &layout, agent, work_dir: &record.work_dir, argv: &argv };
    let write = |path: HostPath, text: String| {
        host.files().write(&path, text.as_bytes(), Access::PrivateExecutable, Durability::Cached)
    };
    write(agent.launch_script(), launch_script(&spec))?;
    write(agent.root().join(SHELL_SCRIPT_NAME), window_script(&spec))
}

/// The words of an agent. Records of the Python mngr hold only a line of shell.
fn argv_of(record: &AgentRecord) -> Vec<String> {
    if record.argv.is_empty() {
        vec!["sh".to_owned(), "-c".to_owned(), record.command.clone()]
    } else {
        record.argv.clone()
    }
}

/// Written only when it differs: a running server does not read it again, and most launches find it as it should be.
fn write_server_config(world: &World, host: &dyn Host, path: &HostPath) -> Result<(), FilesError> {
    let tmux = &world.settings.tmux;
    let text = render_config(&ServerConfig {
        user_config: tmux.user_config,
        additional: tmux.additional_config_path.clone().map(HostPath::new),
        mngr: world.binary.clone(),
    });
    if host.files().read_if_there(path)?.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    host.files().write(path, text.as_bytes(), Access::Shared, Durability::Cached)
}

/// The session of an agent, for callers that undo a launch.
pub(crate) fn session_of(world: &World, record: &AgentRecord) -> Result<SessionName, SessionNameError> {
    world.session_name(&record.name)
}
