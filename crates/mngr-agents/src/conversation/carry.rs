//! Copying conversations into a new agent's state folder.

use mngr_host::files::{Access, Durability, FileKind, Files, FilesError};
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;

use super::Conversation;
use crate::transcript::Brand;
use crate::{claude, codex};

/// How deep the folder beside a conversation is copied.
const DEEPEST: usize = 4;

/// Copies conversations of one brand, from `files`, to the agent. It goes on with the last one; the others are in its
/// transcript. What is being written meanwhile is copied as far as its last whole line.
pub fn carry(
    files: &dyn Files,
    conversations: &[Conversation],
    host: &dyn Files,
    agent: &AgentLayout,
    work_dir: &HostPath,
) -> Result<(), FilesError> {
    let Some(last) = conversations.last() else { return Ok(()) };
    match last.brand {
        Brand::Claude => to_claude(files, conversations, last, host, agent, work_dir),
        Brand::Codex => to_codex(files, conversations, last, host, agent),
        Brand::Opencode => Ok(()),
    }
}

fn to_claude(
    files: &dyn Files,
    conversations: &[Conversation],
    last: &Conversation,
    host: &dyn Files,
    agent: &AgentLayout,
    work_dir: &HostPath,
) -> Result<(), FilesError> {
    let folder = claude::project_folder(agent, work_dir);
    host.make_folder(&folder)?;
    for conversation in conversations {
        copy_lines(files, &conversation.path, host, &folder.join(&format!("{}.jsonl", conversation.id)))?;
        // What belongs to it, such as the conversations of its sub-agents.
        let beside = HostPath::new(conversation.path.as_str().trim_end_matches(".jsonl"));
        copy_folder(files, &beside, host, &folder.join(&conversation.id), DEEPEST)?;
    }
    let ids: String = conversations.iter().map(|conversation| format!("{}\n", conversation.id)).collect();
    write(host, &agent.root().join(claude::SESSION_HISTORY), ids.as_bytes())?;
    write(host, &agent.root().join(claude::SESSION), format!("{}\n", last.id).as_bytes())
}

fn to_codex(
    files: &dyn Files,
    conversations: &[Conversation],
    last: &Conversation,
    host: &dyn Files,
    agent: &AgentLayout,
) -> Result<(), FilesError> {
    let sessions = agent.root().join(codex::SESSIONS);
    for conversation in conversations {
        let to = sessions.join(&codex::rollout_place(&conversation.path, &conversation.id));
        if let Some(folder) = to.parent() {
            host.make_folder(&folder)?;
        }
        copy_lines(files, &conversation.path, host, &to)?;
        if conversation == last {
            write(host, &agent.root().join(codex::THREAD), format!("{}\n", last.id).as_bytes())?;
            host.link(host.canonical(&to)?.as_str(), &agent.root().join(codex::ROLLOUT))?;
        }
    }
    Ok(())
}

/// Copies the whole lines: a program may be in the middle of one.
pub(crate) fn copy_lines(
    files: &dyn Files,
    from: &HostPath,
    host: &dyn Files,
    to: &HostPath,
) -> Result<(), FilesError> {
    let bytes = files.read_file(from)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    // The last line of a file that nobody writes to may do without a line end.
    let is_complete = serde_json::from_slice::<serde_json::Value>(&bytes[whole..]).is_ok();
    write(host, to, if is_complete { &bytes } else { &bytes[..whole] })
}

/// Ordinary files and folders only: what an agent writes must not lead elsewhere.
fn copy_folder(
    files: &dyn Files,
    from: &HostPath,
    host: &dyn Files,
    to: &HostPath,
    depth: usize,
) -> Result<(), FilesError> {
    let is_folder = files.stat(from)?.is_some_and(|stat| stat.kind == FileKind::Folder);
    if !is_folder || depth == 0 {
        return Ok(());
    }
    host.make_folder(to)?;
    for entry in files.list(from)? {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        match entry.kind {
            FileKind::File => write(host, &to, &files.read_file(&from)?)?,
            FileKind::Folder => copy_folder(files, &from, host, &to, depth - 1)?,
            FileKind::Link | FileKind::Other => {}
        }
    }
    Ok(())
}

fn write(host: &dyn Files, path: &HostPath, bytes: &[u8]) -> Result<(), FilesError> {
    host.write(path, bytes, Access::Private, Durability::Cached)
}

#[cfg(test)]
mod tests;
