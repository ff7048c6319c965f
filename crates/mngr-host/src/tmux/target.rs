//! What tmux commands point at. tmux matches names by prefix unless told otherwise, so names are always exact here.

use std::fmt;

use mngr_model::facts::ProcessFact;
use mngr_model::process::ProcessRecord;

use crate::tmux::error::TmuxError;

/// The name of a session, free of the characters tmux would change or interpret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName(String);

/// The text cannot name a tmux session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot name a tmux session: only letters, digits, `-` and `_` are safe there")]
pub struct SessionNameError {
    name: String,
}

impl SessionName {
    /// Checks the text. tmux itself would turn `.` and `:` into `_`, so that the session could not be found again.
    pub fn new(name: impl Into<String>) -> Result<Self, SessionNameError> {
        let name = name.into();
        let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !name.is_empty() && name.chars().all(is_safe) {
            Ok(Self(name))
        } else {
            Err(SessionNameError { name: name.chars().take(80).flat_map(char::escape_default).collect() })
        }
    }

    /// The plain name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For commands that take a session.
    pub(crate) fn session_target(&self) -> String {
        format!("={}", self.0)
    }

    /// For commands that take a window or pane: without the colon tmux 3.3 looks for a pane called `=name`.
    pub(crate) fn pane_target(&self) -> String {
        format!("={}:", self.0)
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a pane, unique while its server lives: it stays right when windows are renamed, split or reordered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaneId(String);

impl PaneId {
    /// Reads `%12`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('%')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(text.to_owned()))
    }

    /// The id as tmux writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A pane together with what tells it from a pane of the same number on another server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentPane {
    id: PaneId,
    pid: i32,
    server: Option<i32>,
}

impl AgentPane {
    /// The pane of that number whose first process is this one, on the server of that process where it is known.
    pub fn new(id: PaneId, pid: i32, server: Option<i32>) -> Self {
        Self { id, pid, server }
    }

    /// The pane an agent was launched in: its first process is the agent's supervisor, and the server is the parent of
    /// that. The caller knows that the agent or its supervisor lives there.
    pub fn recorded(record: &ProcessRecord, supervisor: ProcessFact) -> Option<Self> {
        let server = match supervisor {
            ProcessFact::Alive { parent, .. } => Some(parent),
            _ => None,
        };
        Some(Self { id: PaneId::parse(record.pane.as_deref()?)?, pid: record.supervisor?.pid, server })
    }

    /// Its number, which says nothing by itself.
    pub fn id(&self) -> &PaneId {
        &self.id
    }

    /// Its first process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// A format that is true on this pane only.
    pub(super) fn condition(&self) -> String {
        format!("#{{==:#{{pane_pid}},{}}}", self.pid)
    }

    /// What it means that the server of this process does not have the pane.
    pub fn is_not_on(&self, answering: i32) -> TmuxError {
        match self.server {
            Some(server) if server == answering => {
                TmuxError::Gone { message: format!("pane {} has gone", self.id) }
            }
            server => TmuxError::Elsewhere { server, answering },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tmux_would_change_are_refused() {
        for name in ["", "a.b", "a:b", "a b", "a;b", "a\n", "é", "=a", "%1", "#{x}"] {
            assert!(SessionName::new(name).is_err(), "{name:?}");
        }
        assert_eq!(SessionName::new("mngr-a_1").unwrap().session_target(), "=mngr-a_1");
    }

    #[test]
    fn only_a_percent_sign_and_digits_make_a_pane() {
        assert!(PaneId::parse("%0").is_some());
        for text in ["", "%", "0", "%1;kill-server", "%-1", "% 1"] {
            assert!(PaneId::parse(text).is_none(), "{text:?}");
        }
    }
}
