//! Carrying a conversation to another agent. opencode keeps it in a database that binds it to its folder, so it is not
//! copied: the program itself writes it out, and takes it in where the new agent works.
//!
//! Budget: two runs of opencode, some seconds.

use std::time::Duration;

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError, Output};
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;

use super::places;
use crate::conversation::copy_lines;
use crate::ordinary::read_ordinary;

/// How long one of the two runs may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a conversation was not carried over.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// opencode could not be run.
    #[error("cannot run `opencode`")]
    Exec(#[from] ExecError),
    /// opencode did not do it.
    #[error("`opencode {verb}` failed: {said}")]
    Refused {
        /// What it was asked to do.
        verb: &'static str,
        /// Its last words.
        said: String,
    },
}

/// An agent's conversation lives on in another one, as it is now. Nothing to do for an agent that has none yet.
pub fn carry(
    from: (&dyn Host, &AgentLayout),
    to: (&dyn Host, &AgentLayout),
    work_dir: &HostPath,
) -> Result<(), CarryError> {
    let ((source, parent), (host, agent)) = (from, to);
    let Some(session) = read_ordinary(source.files(), &places::session(parent))? else { return Ok(()) };
    let id = String::from_utf8_lossy(&session).trim().to_owned();
    // An agent can write there, and the word goes into a command line.
    if !id.starts_with("ses_") || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(());
    }
    let settings = places::folder(agent).join("carry");
    let written = run(source, parent, &settings, "export", &id, None)?;
    let file = places::folder(agent).join("carried.json");
    host.files().write(&file, &written.stdout, Access::Private, Durability::Cached)?;
    let taken = run(host, agent, &settings, "import", file.as_str(), Some(work_dir));
    host.files().remove_file(&file)?;
    host.files().remove_tree(&settings)?;
    taken?;
    copy_lines(source.files(), &places::transcript(parent), host.files(), &places::transcript(agent))?;
    let session = format!("{id}\n");
    host.files().write(&places::session(agent), session.as_bytes(), Access::Private, Durability::Cached)?;
    Ok(())
}

fn run(
    host: &dyn Host,
    agent: &AgentLayout,
    settings: &HostPath,
    verb: &'static str,
    what: &str,
    cwd: Option<&HostPath>,
) -> Result<Output, CarryError> {
    let mut cmd = Cmd::new("opencode")
        .arg("--pure")
        .args([verb, what])
        .env("OPENCODE_DB", places::database(agent).as_str())
        // It would complete the user's own settings file.
        .env("XDG_CONFIG_HOME", settings.as_str())
        .env("XDG_STATE_HOME", settings.as_str())
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .deadline(PATIENCE);
    if let Some(dir) = cwd {
        cmd = cmd.cwd(dir);
    }
    let output = host.exec(&cmd)?;
    if output.success() {
        return Ok(output);
    }
    let said = output.stderr_text();
    let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    Err(CarryError::Refused { verb, said })
}
