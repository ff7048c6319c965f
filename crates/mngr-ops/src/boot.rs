//! Agents that their host starts when it boots, without mngr: a script for each of them, one that runs all of these, and
//! something that runs that one: the keeper of a container, or a line in the user's crontab.
//!
//! Budget: nothing for agents that are not wanted at boot. For others: one look at the variables of another machine at
//! each launch; `crontab` twice when the first one comes, and when the last one goes.

mod cron;

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::lock::LockError;
use mngr_host::proc::{Cmd, ExecError};
use mngr_host::remote::START_ON_BOOT;
use mngr_host::tmux::SessionNameError;
use mngr_model::{AgentRecord, HostPath};

use crate::create::surrounding;
use crate::launch;
use crate::world::World;

/// Variables of whoever starts an agent that matter to its server; its own are in its files.
const KEPT: [&str; 5] = ["PATH", "SHELL", "LANG", "LC_ALL", "TMUX_TMPDIR"];

/// The host does not start the agent when it boots.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// There is nothing there that runs commands at boot.
    #[error("host `{host}` cannot start agents at boot: there is no `crontab` on it")]
    NoCron {
        /// Its address.
        host: String,
    },
    /// The user's crontab could not be changed.
    #[error("host `{host}` cannot start agents at boot: its `crontab` says: {said}")]
    Cron {
        /// Its address.
        host: String,
        /// The last line.
        said: String,
    },
    /// Agents without a terminal run once.
    #[error("agent `{name}` runs without a terminal, once, and cannot be started at boot")]
    Headless {
        /// Its name.
        name: String,
    },
    /// Its scripts could not be written.
    #[error("cannot write what starts agents at boot")]
    Files(#[from] FilesError),
    /// A command could not be run.
    #[error("cannot prepare what starts agents at boot")]
    Exec(#[from] ExecError),
    /// Its session cannot be named.
    #[error("cannot name the agent's session")]
    Name(#[from] SessionNameError),
    /// Another command is at it.
    #[error("cannot change what starts agents at boot")]
    Lock(#[from] LockError),
}

/// Whether a host could start agents when it boots.
///
/// # Errors
/// When it could not, with the reason.
pub(crate) fn check(world: &World, host: &dyn Host) -> Result<(), BootError> {
    match world.maker_of(host) {
        Some(_) => Ok(()),
        None => cron::check(host),
    }
}

/// Writes the scripts that start one agent. Its name, its windows and the settings are in them.
pub(crate) fn write_scripts(world: &World, host: &dyn Host, record: &AgentRecord) -> Result<(), BootError> {
    if record.headless {
        return Err(BootError::Headless { name: record.name.to_string() });
    }
    let agent = host.layout().agent(&record.id);
    let session = launch::new_session(world, host, record, &agent.boot_launch_script())?;
    let mut start = world.with_tmux(host, |tmux| tmux.new_session_command(&session));
    let around = surrounding(world, host)?;
    for name in KEPT {
        start = match around.get(name) {
            Some(value) => start.env(name, value),
            None => start.env_remove(name),
        };
    }
    let text = format!(
        "#!/bin/sh\n# Starts this agent when its host has booted. Written by mngr at every launch; changes are lost.\n{}",
        start.to_sh()
    );
    let write = |path: HostPath, text: String| {
        host.files().write(&path, text.as_bytes(), Access::PrivateExecutable, Durability::Cached)
    };
    write(agent.boot_launch_script(), launch::boot_script(world, host, record))?;
    Ok(write(agent.boot_script(), text)?)
}

/// Takes away what starts one agent.
pub(crate) fn remove_scripts(host: &dyn Host, record: &AgentRecord) -> Result<(), FilesError> {
    let agent = host.layout().agent(&record.id);
    host.files().remove_file(&agent.boot_script())?;
    host.files().remove_file(&agent.boot_launch_script())
}

/// Makes the host run these scripts at boot, or no longer when there are none left.
pub(crate) fn settle(world: &World, host: &dyn Host) -> Result<(), BootError> {
    let layout = host.layout();
    let is_wanted = has_boot_scripts(host)?;
    if is_wanted {
        host.files().make_folder(&layout.commands())?;
        let text = START_ON_BOOT.as_bytes();
        host.files().write(&layout.start_on_boot(), text, Access::PrivateExecutable, Durability::Cached)?;
    }
    if world.maker_of(host).is_some() {
        return Ok(());
    }
    if is_wanted {
        note_this_boot(host)?;
        return cron::add(host);
    }
    host.files().remove_file(&layout.booted())?;
    cron::remove(host)
}

/// The same for a verb that is done by then: a failure is only told.
pub(crate) fn settle_or_warn(world: &World, host: &dyn Host) {
    warn(world, settle(world, host));
}

/// Writes the scripts of an agent anew whose name has changed. A failure is only told: the change is done.
pub(crate) fn renew(world: &World, host: &dyn Host, record: &AgentRecord) {
    warn(world, write_scripts(world, host, record));
}

fn warn(world: &World, done: Result<(), BootError>) {
    if let Err(error) = done {
        world.reporter.warn(&crate::error_chain(&error));
    }
}

/// How the user's crontab stands to the agents that are wanted at boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CronLine {
    /// It is there if it is needed, or something else starts them.
    Right,
    /// It is there and starts nobody.
    Idle,
    /// It is not there, and agents wait for it.
    Missing,
}

/// Looks whether the host would start what it should. Two processes at most; changes nothing.
pub(crate) fn cron_line(world: &World, host: &dyn Host) -> Result<CronLine, BootError> {
    if world.maker_of(host).is_some() {
        return Ok(CronLine::Right);
    }
    let is_wanted = has_boot_scripts(host)?;
    Ok(match (is_wanted, cron::is_there(host)) {
        (true, Ok(true)) | (false, Ok(false) | Err(BootError::NoCron { .. })) => CronLine::Right,
        (true, Ok(false)) => CronLine::Missing,
        (false, Ok(true)) => CronLine::Idle,
        (_, Err(error)) => return Err(error),
    })
}

/// One process: a host may have many agents.
fn has_boot_scripts(host: &dyn Host) -> Result<bool, BootError> {
    let look = r#"for script in "$1"/agent-*/boot.sh; do [ -f "$script" ] && exit 0; done; exit 1"#;
    let cmd = Cmd::shell(look).arg("look").arg(host.layout().agents().as_str());
    Ok(host.exec(&cmd)?.success())
}

/// What runs when the first one comes was not started by a boot: only the next one counts.
fn note_this_boot(host: &dyn Host) -> Result<(), BootError> {
    let layout = host.layout();
    host.files().make_folder(&layout.activity())?;
    let note = r#"[ ! -e "$1" ] && [ -r /proc/sys/kernel/random/boot_id ] && cat /proc/sys/kernel/random/boot_id >"$1"; :"#;
    host.exec(&Cmd::shell(note).arg("note").arg(layout.booted().as_str()))?;
    Ok(())
}
