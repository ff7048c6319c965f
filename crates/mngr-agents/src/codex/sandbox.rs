//! What Codex's own sandbox lets an agent's commands do: as it is, they could neither commit nor hand anything over.
//!
//! The sandbox lets a command write below its work dir, except into git's folders: that of a worktree is made read-only even
//! where the repository is not. So both are named, each by itself. Of the state folder only those parts are opened which
//! commands may write; what the agent is started with stays out of their reach.

use mngr_host::git::Git;
use mngr_model::HostPath;
use toml::{Table, Value};

use super::config::edit_table;
use crate::brand::{ProvisionError, Provisioning};

/// The settings of the sandbox that lets commands write below the work dir.
const WORKSPACE: &str = "sandbox_workspace_write";
/// The folders it opens besides.
const ROOTS: &str = "writable_roots";
/// Whether commands run in a shell that reads the profiles first: these set `PATH` anew, and whatever the user had activated
/// is gone from it.
const LOGIN_SHELL: &str = "allow_login_shell";

/// Opens the sandbox as far as an agent needs it. What the user has set stays.
pub(super) fn open(request: &Provisioning<'_>, config: &mut Table) -> Result<(), ProvisionError> {
    config.entry(LOGIN_SHELL).or_insert(false.into());
    let roots = roots(request)?;
    edit_table(config, WORKSPACE, |workspace| add(workspace, &roots));
    Ok(())
}

fn add(workspace: &mut Table, roots: &[HostPath]) {
    let listed = workspace.entry(ROOTS).or_insert(Value::Array(Vec::new()));
    // Codex will tell the user what is wrong with anything else.
    let Value::Array(listed) = listed else { return };
    for root in roots.iter().map(|root| Value::from(root.as_str())) {
        if !listed.contains(&root) {
            listed.push(root);
        }
    }
}

/// The folders an agent's commands have to write.
fn roots(request: &Provisioning<'_>) -> Result<Vec<HostPath>, ProvisionError> {
    let (host, agent) = (request.host, request.agent);
    let mut roots = Vec::new();
    // Without a repository, or with one that git would complain about, there is nothing to commit to.
    if let Ok(Some(location)) = Git::new(host, request.record.work_dir.clone()).locate() {
        roots.extend([location.common_dir, location.git_dir]);
    }
    for folder in [agent.status(), agent.activity(), agent.handed_over()] {
        // Every command would fail over one that is not there.
        host.files().make_folder(&folder)?;
        roots.push(folder);
    }
    for root in &mut roots {
        // The sandbox names folders by their real path.
        if let Ok(real) = host.files().canonical(root) {
            *root = real;
        }
    }
    roots.dedup();
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_opened_stays_and_nothing_is_named_twice() {
        let mut workspace: Table =
            toml::from_str("network_access = true\nwritable_roots = ['/u', '/g']\n").unwrap();
        add(&mut workspace, &[HostPath::new("/g"), HostPath::new("/s")]);
        let wanted = "network_access = true\nwritable_roots = ['/u', '/g', '/s']\n";
        assert_eq!(workspace, toml::from_str(wanted).unwrap());
    }

    #[test]
    fn what_is_no_list_is_left_to_codex() {
        let mut workspace: Table = toml::from_str("writable_roots = 1\n").unwrap();
        add(&mut workspace, &[HostPath::new("/g")]);
        assert_eq!(workspace, toml::from_str("writable_roots = 1\n").unwrap());
    }
}
