//! The conversations of an agent, whether it lives or not.

use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;

use super::Conversation;
use crate::ordinary::read_ordinary;
use crate::transcript::Brand;
use crate::{claude, codex};

/// The conversations in an agent's state folder in the order of their beginnings, the one it is in now last. Nothing
/// for opencode, whose database binds them to a folder; see `opencode::carry`.
pub fn of_agent(files: &dyn Files, state: &HostPath, brand: Brand) -> Result<Vec<Conversation>, FilesError> {
    let note = match brand {
        Brand::Claude => claude::SESSION,
        Brand::Codex => codex::THREAD,
        Brand::Opencode => return Ok(Vec::new()),
    };
    let now = read_ordinary(files, &state.join(note))?.unwrap_or_default();
    let now = String::from_utf8_lossy(&now).trim().to_owned();
    let mut found = Vec::new();
    for path in brand.own_files(files, state)? {
        let id = match brand {
            Brand::Codex => codex::thread_of_rollout(&path),
            _ => path.file_name().and_then(|name| name.strip_suffix(".jsonl")).filter(|id| is_session(id)),
        };
        if let Some(id) = id.map(str::to_owned) {
            found.push(Conversation { brand, id, path });
        }
    }
    // A stable sort: only the one it is in now changes its place.
    found.sort_by_key(|conversation| conversation.id == now);
    Ok(found)
}

/// The file of a sub-agent may lie beside those of sessions: nobody can go on with it.
fn is_session(id: &str) -> bool {
    !id.starts_with("agent-")
}
