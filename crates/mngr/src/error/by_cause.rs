//! What the user can do about a cause that many verbs meet, whatever the command was.

use std::error::Error;

use mngr_docker::EngineError;
use mngr_host::beneath::LinkInTheWay;
use mngr_host::git::GitError;
use mngr_host::provider::{is_refusal, lost_host};
use mngr_host::tmux::TmuxError;

/// What to do about a link that is in the way.
const BEHIND_LINK: &str = "an agent may have made the link: look where it leads, then remove it or name a destination that is not behind it";

/// The hints that follow from what is behind an error.
pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut hints = hints_for_terminals(error);
    hints.extend(LinkInTheWay::of(error).map(|_| BEHIND_LINK.to_owned()));
    hints.extend(lost_host(error).filter(|_| !is_refusal(error)).map(|host| {
        let host = mngr_query::sanitize(host);
        format!("see whether host `{host}` runs and can be reached: `mngr list --hosts` shows its state")
    }));
    hints.extend(hint_for_engine(error));
    hints.extend(hint_for_git(error));
    hints
}

/// What to do about git's own refusals.
fn hint_for_git(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(cause) = next {
        next = cause.source();
        match cause.downcast_ref::<GitError>() {
            Some(GitError::MissingTool { tool }) => {
                return Some(format!("the package is called `{tool}` with apt, dnf, apk and brew"));
            }
            Some(GitError::UnknownRevision { .. }) => {
                return Some(
                    "`git branch --all` shows all branches, `git log --oneline` the latest commits"
                        .to_owned(),
                );
            }
            Some(GitError::BranchCheckedOut { branch, .. }) => {
                let branch = mngr_query::sanitize(branch);
                return Some(format!("`--branch {branch}:NEW` makes a new branch from it"));
            }
            _ => {}
        }
    }
    None
}

/// What to do where no Docker engine answers.
fn hint_for_engine(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(cause) = next {
        next = cause.source();
        if let Some(EngineError::Unreachable { .. }) = cause.downcast_ref::<EngineError>() {
            return Some(
                "is Docker running? `docker info` shows it; `DOCKER_HOST` names another engine".to_owned(),
            );
        }
    }
    None
}

/// What can be done where an agent's terminal is on a tmux server that this command does not reach. Many verbs meet it.
fn hints_for_terminals(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut next = Some(error);
    while let Some(cause) = next {
        next = cause.source();
        match cause.downcast_ref::<TmuxError>() {
            Some(TmuxError::Elsewhere { .. }) => {
                return vec![
                    "`mngr stop AGENT` ends the agent by its processes; then `mngr start AGENT` runs it on the server \
                     that answers"
                        .to_owned(),
                    "`mngr doctor` says which agents are on which server".to_owned(),
                ];
            }
            Some(TmuxError::OtherSocket { socket, .. }) => {
                // `DIR/tmux-0/mngr`
                let folder = socket.rsplitn(3, '/').nth(2).unwrap_or_default();
                return vec![format!("run it again with `TMUX_TMPDIR={folder}`")];
            }
            _ => {}
        }
    }
    Vec::new()
}
