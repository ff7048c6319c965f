//! Making a machine ready for agents: the tools they need, the host dir, the host's id.
//!
//! Round trips: one, whatever is missing. The caller remembers the result; nothing here does.

use std::time::Duration;

use mngr_model::{HostId, HostPath};

use super::line::detail_of;
use super::script::without_comments;
use super::shells::Shells;
use crate::proc::{Cmd, ExecError};
use crate::random;

const SCRIPT: &str = include_str!("bootstrap.sh");

/// Packages come over networks of any speed.
const INSTALL_DEADLINE: Duration = Duration::from_secs(15 * 60);
const LOOK_DEADLINE: Duration = Duration::from_secs(60);

/// The oldest tmux whose targets and hooks mean what we rely on.
pub const OLDEST_TMUX: Version = Version(3, 0);
/// The oldest git that can tell beforehand whether a merge has conflicts.
pub const OLDEST_GIT: Version = Version(2, 38);

/// Whether missing tools are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Install {
    /// With the machine's own package manager, if we may.
    Missing,
    /// Never.
    Nothing,
}

/// A version, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

impl Version {
    /// The first number with a dot: `tmux 3.3a`, `git version 2.39.5`, `tmux next-3.4`.
    pub fn in_text(text: &str) -> Option<Self> {
        text.split([' ', '-']).find_map(|word| {
            let (major, rest) = word.split_once('.')?;
            let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Some(Self(major.parse().ok()?, minor.parse().ok()?))
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// A machine that is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Its id, made the first time.
    pub id: HostId,
    /// Its host dir, with all links resolved.
    pub host_dir: HostPath,
    /// The home of the user there.
    pub home: Option<HostPath>,
    /// Its tmux.
    pub tmux: Option<Version>,
    /// Its git.
    pub git: Option<Version>,
    /// The packages that were installed now.
    pub installed: Vec<String>,
}

impl Prepared {
    /// Whether its git is so old that merges cannot be foreseen.
    pub fn has_old_git(&self) -> bool {
        self.git.is_some_and(|version| version < OLDEST_GIT)
    }
}

/// Why the machine is not ready.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// Tools are missing and were not installed.
    #[error("host `{host}` lacks {}: {how}", .tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", "))]
    Missing {
        /// The host.
        host: String,
        /// What is missing.
        tools: Vec<String>,
        /// How to get it, or why it could not be had.
        how: String,
    },
    /// Its tmux is too old.
    #[error("host `{host}` has tmux {found}; tmux {OLDEST_TMUX} or later is needed")]
    OldTmux {
        /// The host.
        host: String,
        /// Its version.
        found: Version,
    },
    /// Its host dir cannot be used.
    #[error("the host dir of host `{host}` cannot be used: {detail}")]
    HostDir {
        /// The host.
        host: String,
        /// What was said.
        detail: String,
    },
    /// The machine could not be asked.
    #[error("host `{host}` could not be made ready")]
    Exec {
        /// The host.
        host: String,
        /// Why.
        #[source]
        source: ExecError,
    },
}

/// Finds or installs what agents need and makes the host dir (which may begin with `~/`) and the id.
///
/// # Errors
/// When something is missing after all, or the machine cannot be reached.
pub fn bootstrap(shells: &Shells, host_dir: &str, install: Install) -> Result<Prepared, BootstrapError> {
    let host = shells.line().name().to_owned();
    let (word, deadline) = match install {
        Install::Missing => ("install", INSTALL_DEADLINE),
        Install::Nothing => ("look", LOOK_DEADLINE),
    };
    let new_id = random::host_id().to_string();
    let cmd =
        Cmd::shell(without_comments(SCRIPT)).args(["bootstrap", word, host_dir, &new_id]).deadline(deadline);
    let output = shells.exec(&cmd).map_err(|source| BootstrapError::Exec { host: host.clone(), source })?;
    let facts = Facts::read(&output.stdout_text());
    if !facts.missing.is_empty() {
        let how = facts.how.unwrap_or_else(|| "they could not be installed".to_owned());
        return Err(BootstrapError::Missing { host, tools: facts.missing, how });
    }
    if let Some(found) = facts.tmux.filter(|version| *version < OLDEST_TMUX) {
        return Err(BootstrapError::OldTmux { host, found });
    }
    match (facts.id, facts.host_dir) {
        (Some(id), Some(host_dir)) if output.success() => {
            let Facts { home, tmux, git, installed, .. } = facts;
            Ok(Prepared { id, host_dir, home, tmux, git, installed })
        }
        _ => Err(BootstrapError::HostDir { host, detail: detail_of(&output.stderr_text()) }),
    }
}

/// What the script printed. The machine is not trusted: what makes no sense is passed over.
#[derive(Debug, Default)]
struct Facts {
    missing: Vec<String>,
    how: Option<String>,
    tmux: Option<Version>,
    git: Option<Version>,
    installed: Vec<String>,
    home: Option<HostPath>,
    host_dir: Option<HostPath>,
    id: Option<HostId>,
}

impl Facts {
    fn read(text: &str) -> Self {
        let mut facts = Self::default();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "missing" => facts.missing.push(detail_of(rest)),
                "refused" | "log" => facts.how = Some(detail_of(rest)),
                "installed" => facts.installed = rest.split_whitespace().map(detail_of).collect(),
                "tool" => match rest.split_once(' ') {
                    Some(("tmux", version)) => facts.tmux = Version::in_text(version),
                    Some(("git", version)) => facts.git = Version::in_text(version),
                    _ => {}
                },
                "home" if rest.starts_with('/') => facts.home = Some(HostPath::new(rest)),
                "host_dir" if rest.starts_with('/') => facts.host_dir = Some(HostPath::new(rest)),
                "host_id" => facts.id = rest.trim().parse().ok(),
                _ => {}
            }
        }
        facts
    }
}

#[cfg(test)]
mod tests;
