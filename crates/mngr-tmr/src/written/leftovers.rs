//! What a command that was killed while it measured has left: its folder, the checkouts in it, and tests that still run.
//!
//! Each folder says whose it is and which repository its checkouts belong to.

use std::sync::Arc;

use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_host::proc::CommandId;
use mngr_model::HostPath;

use crate::verify::{Runner as _, RunnerError, WorktreePool};

/// What the names of such folders begin with.
pub(super) const WRITTEN: &str = "written-";
/// The file that says whose a folder is: the command, then the repository.
const OWNER: &str = "owner";

/// Makes a folder that says whose it is.
pub(super) fn make_folder(host: &dyn Host, own: &HostPath, repository: &HostPath) -> Result<(), FilesError> {
    let Some(command) = CommandId::own() else { return Ok(()) };
    host.files().make_folder(own)?;
    let text = format!("{command}\n{repository}");
    host.files().write(&own.join(OWNER), text.as_bytes(), Access::Private, Durability::Cached)
}

/// Where the checkouts are.
pub(super) fn checkouts(own: &HostPath) -> HostPath {
    own.join("checkouts")
}

/// Removes the folders of commands that are over.
pub(super) fn remove_left(host: &Arc<dyn Host>, parent: &HostPath) -> Result<(), RunnerError> {
    let files = host.files();
    if !files.exists(parent)? {
        return Ok(());
    }
    for entry in files.list(parent)?.into_iter().filter(|entry| entry.name.starts_with(WRITTEN)) {
        let folder = parent.join(&entry.name);
        let Some(bytes) = files.read_if_there(&folder.join(OWNER))? else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((command, repository)) = text.split_once('\n') else { continue };
        if CommandId::parse(command).is_some_and(|command| command.is_dead()) {
            // Opening it ends what still runs there.
            WorktreePool::open(host.clone(), HostPath::new(repository), checkouts(&folder), 1)?.close()?;
            files.remove_tree(&folder)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mngr_host::proc::Cmd;

    use super::*;
    use crate::testing::Lab;
    use crate::verify::{Keep, Order};

    #[test]
    fn the_checkouts_of_a_command_that_was_killed_are_gone_and_those_of_a_living_one_stay() {
        let lab = Lab::new(&[("tests/a.sh", "exit 0\n")]);
        let (parent, files) = (lab.outside("host/tmr"), lab.host.files());
        let (dead, living) = (parent.join("written-1"), parent.join("written-2"));
        let mut pools = Vec::new();
        for folder in [&dead, &living] {
            make_folder(lab.host.as_ref(), folder, &lab.repository()).unwrap();
            let pool = WorktreePool::open(lab.host.clone(), lab.repository(), checkouts(folder), 1).unwrap();
            let deadline = crate::testing::DEADLINE;
            let order = Order { commit: &lab.base, command: "true", deadline, keep: Keep::Tail };
            assert!(pool.run(&order).unwrap().is_pass());
            pools.push(pool);
        }
        // A process that is over.
        let ended = lab.host.exec(&Cmd::shell("echo $$")).unwrap().stdout_text();
        let own = CommandId::own().unwrap().as_str();
        let (machine, _) = own.rsplit_once('.').and_then(|(rest, _)| rest.rsplit_once('.')).unwrap();
        let text = format!("{machine}.{}.1\n{}", ended.trim(), lab.repository());
        files.write(&dead.join(OWNER), text.as_bytes(), Access::Private, Durability::Cached).unwrap();
        let registered = |folder: &HostPath| lab.git(&["worktree", "list"]).contains(folder.as_str());
        assert!(registered(&dead) && registered(&living));
        remove_left(&lab.host, &parent).unwrap();
        assert!(!files.exists(&dead).unwrap() && !registered(&dead));
        assert!(files.exists(&living).unwrap() && registered(&living));
        assert!(remove_left(&lab.host, &lab.outside("nowhere")).is_ok());
    }
}
