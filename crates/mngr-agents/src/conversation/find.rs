//! Finding a conversation the user names: by its id, by the beginning of it, or by its file.
//!
//! Reads folders, and a file only when it is named.

use mngr_host::files::{FileKind, Files, FilesError};
use mngr_model::HostPath;
use serde_json::Value;

use super::Conversation;
use crate::claude::UserConfig;
use crate::codex;
use crate::ordinary::read_ordinary;
use crate::transcript::{Brand, rollouts_below};
use crate::user::UserSide;

/// How ids of opencode begin.
const OPENCODE_ID: &str = "ses_";
/// As much of an id must be given at least.
const SHORTEST: usize = 4;

/// A conversation cannot be adopted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// There is none of that id.
    #[error("there is no conversation `{wanted}`{}", .brand.map(|brand| format!(" of {}", brand.program())).unwrap_or_default())]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Where only one brand's were looked at.
        brand: Option<Brand>,
    },
    /// There are several.
    #[error("`{wanted}` may be any of several conversations: {}", .candidates.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Their files.
        candidates: Vec<HostPath>,
    },
    /// The file that was named is not there.
    #[error("the conversation `{path}` does not exist")]
    NoFile {
        /// The file.
        path: HostPath,
    },
    /// The file is not one.
    #[error("`{path}` is not a conversation of Claude Code or Codex")]
    NotOne {
        /// The file.
        path: HostPath,
    },
    /// Conversations of this brand cannot be copied.
    #[error("conversations of {} cannot be adopted: they are not files of their own", .brand.program())]
    NotCopyable {
        /// The brand.
        brand: Brand,
    },
    /// The agent's type cannot go on with it.
    #[error("the conversation `{id}` is one of {}, which an agent of type `{agent_type}` cannot go on with", .brand.program())]
    OtherBrand {
        /// The conversation.
        id: String,
        /// Whose it is.
        brand: Brand,
        /// The type of the agent.
        agent_type: String,
    },
    /// The user's files cannot be read.
    #[error("cannot look for the conversation")]
    Files(#[from] FilesError),
}

/// The conversation that the user means: an id, the beginning of one, or a path. `brand` is whose it must be, where
/// the user has said so.
pub fn find(
    user: &UserSide<'_>,
    cwd: &HostPath,
    wanted: &str,
    brand: Option<Brand>,
) -> Result<Conversation, AdoptError> {
    if wanted.contains('/') || wanted.ends_with(".jsonl") {
        let path = match (wanted.strip_prefix("~/"), user.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => cwd.join(wanted).normalized(),
        };
        return read(user.files, path);
    }
    if brand == Some(Brand::Opencode) || wanted.starts_with(OPENCODE_ID) {
        return Err(AdoptError::NotCopyable { brand: Brand::Opencode });
    }
    let mut found = Vec::new();
    if is_start_of_id(wanted) {
        if brand.is_none_or(|brand| brand == Brand::Claude) {
            found.extend(of_claude(user, wanted)?);
        }
        if brand.is_none_or(|brand| brand == Brand::Codex) {
            found.extend(of_codex(user, wanted)?);
        }
    }
    if found.iter().any(|conversation| conversation.id == wanted) {
        found.retain(|conversation| conversation.id == wanted);
    }
    match found.len() {
        0 => Err(AdoptError::NotFound { wanted: wanted.to_owned(), brand }),
        1 => Ok(found.remove(0)),
        _ => Err(AdoptError::Ambiguous {
            wanted: wanted.to_owned(),
            candidates: found.into_iter().map(|conversation| conversation.path).collect(),
        }),
    }
}

fn is_start_of_id(text: &str) -> bool {
    text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// One folder per project, one file per conversation.
fn of_claude(user: &UserSide<'_>, wanted: &str) -> Result<Vec<Conversation>, FilesError> {
    let Some(config) = UserConfig::find(user) else { return Ok(Vec::new()) };
    let projects = config.folder().join("projects");
    let mut found = Vec::new();
    for project in user.files.list(&projects)?.into_iter().filter(|entry| entry.kind == FileKind::Folder) {
        let folder = projects.join(&project.name);
        for entry in user.files.list(&folder)?.into_iter().filter(|entry| entry.kind == FileKind::File) {
            if let Some(id) = entry.name.strip_suffix(".jsonl").filter(|id| id.starts_with(wanted)) {
                let path = folder.join(&entry.name);
                found.push(Conversation { brand: Brand::Claude, id: id.to_owned(), path });
            }
        }
    }
    Ok(found)
}

fn of_codex(user: &UserSide<'_>, wanted: &str) -> Result<Vec<Conversation>, FilesError> {
    let Some(home) = codex::users_home(user) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for folder in ["sessions", "archived_sessions"] {
        for path in rollouts_below(user.files, &home.join(folder))? {
            if let Some(id) = codex::thread_of_rollout(&path).filter(|id| id.starts_with(wanted)) {
                found.push(Conversation { brand: Brand::Codex, id: id.to_owned(), path });
            }
        }
    }
    Ok(found)
}

/// The conversation in a file: what is written in it says whose it is.
fn read(files: &dyn Files, path: HostPath) -> Result<Conversation, AdoptError> {
    let Some(bytes) = read_ordinary(files, &path)? else { return Err(AdoptError::NoFile { path }) };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in lines {
        let id_at = |pointer: &str| {
            let id = line.pointer(pointer).and_then(Value::as_str)?;
            is_id(id).then(|| id.to_owned())
        };
        if line["type"] == "session_meta"
            && let Some(id) = id_at("/payload/id")
        {
            return Ok(Conversation { brand: Brand::Codex, id, path });
        }
        if let Some(id) = id_at("/sessionId") {
            return Ok(Conversation { brand: Brand::Claude, id, path });
        }
    }
    Err(AdoptError::NotOne { path })
}

/// Both brands use UUIDs. The id becomes a file name, so nothing else is let through.
fn is_id(text: &str) -> bool {
    text.len() == 36 && is_start_of_id(text)
}

#[cfg(test)]
mod tests;
