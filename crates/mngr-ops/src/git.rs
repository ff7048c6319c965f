//! `git pull` and `git push`: the plain forms. Git itself between the repository the user stands in and an agent's, over
//! whatever reaches it. Nothing is run here: the command needs the user's terminal.
//!
//! Processes to make it: `git` at most four times.

use mngr_host::git::{Direction, Git};
use mngr_host::proc::Cmd;

use crate::fleet::Agent;
use crate::sync::{Checkout, SyncError};
use crate::world::World;

/// A git command, and what it is about.
#[derive(Debug, Clone)]
pub struct PlainGit {
    /// The command, to be run on this machine.
    pub cmd: Cmd,
    /// The agent's repository.
    pub place: String,
    /// What is pulled or pushed when the user's words do not say it.
    pub refspec: Option<String>,
}

/// The command that pulls from an agent, or pushes to it. `words` are the user's own for git.
pub fn plain(
    world: &World,
    agent: &Agent,
    direction: Direction,
    words: &[String],
) -> Result<PlainGit, SyncError> {
    let here = Checkout::of_user(world.client.as_ref(), &world.cwd)?;
    let there = Checkout::of_agent(agent)?;
    let says_what = words.iter().any(|word| !word.starts_with('-'));
    let refspec = match direction {
        _ if says_what => None,
        Direction::Pull => Some(there.require_branch()?.to_owned()),
        Direction::Push => Some(format!("{}:{}", here.require_branch()?, there.require_branch()?)),
    };
    let git = Git::new(world.client.as_ref(), world.cwd.clone());
    let cmd = git.plain_sync(direction, &there.git, refspec.as_deref().unwrap_or_default(), words);
    Ok(PlainGit { cmd, place: there.root().to_string(), refspec })
}
