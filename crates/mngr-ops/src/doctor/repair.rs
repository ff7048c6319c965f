//! What puts a finding right: said as data by the check, done here.
//!
//! Only what loses nothing is here. Work that may exist nowhere else is never deleted by a repair. Whatever could have
//! changed since the check is looked at again.

use std::collections::BTreeSet;
use std::sync::Arc;

use mngr_host::fault;
use mngr_host::files::Files;
use mngr_host::git::{DeleteBranch, Git};
use mngr_host::host::Host;
use mngr_host::local::LocalFiles;
use mngr_host::proc::Cmd;
use mngr_host::tmux::SessionName;
use mngr_model::facts::Detail;
use mngr_model::journal::Step;
use mngr_model::process::ProcessId;
use mngr_model::{AgentId, HostPath};

use super::{git_locks, leftovers, servers, sessions, work_dirs};
use crate::gc::{self, GcOptions};
use crate::journal::Guard;
use crate::trash::{self, Manifest, Neighbours, Stray, StrayPlace};
use crate::world::World;
use crate::{boot, destroy, error_chain, host_lock, recover};

/// Something safe to do.
#[derive(Clone)]
pub(super) enum Repair {
    /// Finish what dead commands began.
    Recover(Arc<dyn Host>),
    /// End a session with everything in it.
    EndSession { host: Arc<dyn Host>, name: SessionName, agent: AgentId },
    /// Delete what no agent uses and exists elsewhere.
    Sweep(Arc<dyn Host>),
    /// Take rights away from others.
    Restrict { host: Arc<dyn Host>, mode: &'static str, paths: Vec<HostPath> },
    /// Have git forget worktrees that are gone.
    ForgetWorktrees { host: Arc<dyn Host>, repository: HostPath, paths: Vec<HostPath> },
    /// Delete branches that hold nothing of their own, while they are where they were.
    DeleteBranches { host: Arc<dyn Host>, repository: HostPath, branches: Vec<(String, String)> },
    /// Delete lock files of gits that died.
    RemoveGitLocks(Arc<dyn Host>),
    /// Delete sockets of this machine that nobody listens on.
    RemoveSockets(Vec<HostPath>),
    /// Have a tmux server make its socket again. It is the parent of this process.
    RestoreSocket { host: Arc<dyn Host>, server: i32, supervisor: ProcessId },
    /// Move what was written where a destroyed agent had been out of its way.
    SetAside { host: Arc<dyn Host>, gone: Box<Manifest>, stray: Stray },
    /// Write down again what an agent in the trash is, or bring back what is there of one that exists.
    RestoreNote { host: Arc<dyn Host>, id: AgentId },
    /// Move a folder that no agent uses out of the place of work dirs.
    SetFolderAside { host: Arc<dyn Host>, path: HostPath },
    /// Make the host start what it should at boot.
    SettleBoot(Arc<dyn Host>),
    /// Delete folders in the trash that hold nothing of their agents, which exist.
    DropUnusedTrash { host: Arc<dyn Host>, ids: Vec<AgentId> },
}

impl std::fmt::Debug for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Recover(_) => "Recover",
            Self::EndSession { .. } => "EndSession",
            Self::Sweep(_) => "Sweep",
            Self::Restrict { .. } => "Restrict",
            Self::ForgetWorktrees { .. } => "ForgetWorktrees",
            Self::DeleteBranches { .. } => "DeleteBranches",
            Self::RemoveGitLocks(_) => "RemoveGitLocks",
            Self::RemoveSockets(_) => "RemoveSockets",
            Self::RestoreSocket { .. } => "RestoreSocket",
            Self::SetAside { .. } => "SetAside",
            Self::RestoreNote { .. } => "RestoreNote",
            Self::SetFolderAside { .. } => "SetFolderAside",
            Self::SettleBoot(_) => "SettleBoot",
            Self::DropUnusedTrash { .. } => "DropUnusedTrash",
        })
    }
}

impl Repair {
    /// Does it. Says what was done, or why not, as a fragment.
    pub(super) fn carry_out(&self, world: &World) -> Result<String, String> {
        match self {
            Self::Recover(host) => recover_all(world, host.as_ref()),
            Self::EndSession { host, name, agent } => end_session(world, host.as_ref(), name, agent),
            Self::Sweep(host) => sweep(world, host.as_ref()),
            Self::Restrict { host, mode, paths } => restrict(host.as_ref(), mode, paths),
            Self::ForgetWorktrees { host, repository, paths } => {
                let git = Git::new(host.as_ref(), repository.clone());
                for path in paths {
                    git.remove_worktree(path).map_err(|error| error_chain(&error))?;
                    fault::point();
                }
                Ok(format!("git forgot {} worktree(s)", paths.len()))
            }
            Self::DeleteBranches { host, repository, branches } => {
                let git = Git::new(host.as_ref(), repository.clone());
                for (name, oid) in branches {
                    git.delete_branch(name, DeleteBranch::OnlyAt(oid))
                        .map_err(|error| error_chain(&error))?;
                    fault::point();
                }
                let names: Vec<&str> = branches.iter().map(|(name, _)| name.as_str()).collect();
                Ok(format!("deleted {}", names.join(", ")))
            }
            Self::RemoveGitLocks(host) => remove_git_locks(host.as_ref()),
            Self::RemoveSockets(paths) => {
                for path in paths {
                    LocalFiles.remove_file(path).map_err(|error| error_chain(&error))?;
                    fault::point();
                }
                Ok(format!("deleted {} socket(s)", paths.len()))
            }
            Self::RestoreSocket { host, server, supervisor } => {
                servers::restore(world, host.as_ref(), *server, *supervisor)
            }
            Self::DropUnusedTrash { host, ids } => {
                for id in ids {
                    gc::drop_unused_trash(host.as_ref(), id)?;
                    fault::point();
                }
                Ok(format!("deleted {} folder(s)", ids.len()))
            }
            Self::SetAside { host, gone, stray } => set_aside(host.as_ref(), gone, stray),
            Self::RestoreNote { host, id } => restore_note(world, host.as_ref(), id),
            Self::SetFolderAside { host, path } => set_folder_aside(world, host.as_ref(), path),
            Self::SettleBoot(host) => {
                boot::settle(world, host.as_ref()).map_err(|error| error_chain(&error))?;
                Ok("the crontab says what it should".to_owned())
            }
        }
    }
}

/// As often as it helps: each time only so many are put right.
fn recover_all(world: &World, host: &dyn Host) -> Result<String, String> {
    let count = || leftovers::journals_without_owner(host).map_err(|error| error_chain(&error));
    let mut before = count()?;
    loop {
        recover::recover(world, host);
        match count()? {
            0 => return Ok("what was begun is finished or taken back".to_owned()),
            left if left >= before => return Err(format!("{left} of them cannot be put right yet")),
            left => before = left,
        }
    }
}

fn end_session(
    world: &World,
    host: &dyn Host,
    name: &SessionName,
    agent: &AgentId,
) -> Result<String, String> {
    if !sessions::is_orphan(world, host, name, agent) {
        return Ok("it has ended by itself".to_owned());
    }
    recover::take_back(world, host, agent, &[Step::Session { name: name.as_str().to_owned() }])?;
    Ok("ended it, with what ran in it".to_owned())
}

fn set_aside(host: &dyn Host, gone: &Manifest, stray: &Stray) -> Result<String, String> {
    let text = |error: &dyn std::error::Error| error_chain(error);
    // Nobody brings the agent back meanwhile.
    let layout = host.layout();
    let _lock = host_lock::take(host).map_err(|error| text(&error))?;
    let signs = [layout.journal(&gone.id), layout.trash_of(&gone.id).state()];
    let seen = host.files().stat_all(&signs).map_err(|error| text(&error))?;
    let is_idle = seen.first().is_some_and(Option::is_none) && seen.last().is_some_and(Option::is_some);
    let neighbours = Neighbours::of(host, &BTreeSet::new()).map_err(|error| text(&error))?;
    let again = match stray.place {
        StrayPlace::State => trash::stray_state(host, &gone.id),
        StrayPlace::Work => trash::stray_work(host, gone, &neighbours),
    };
    match again.map_err(|error| text(&error))?.filter(|_| is_idle) {
        Some(stray) => {
            let to = trash::set_aside(host, &stray).map_err(|error| text(&error))?;
            Ok(format!("it is in `{to}` now"))
        }
        None => Ok("it is gone already".to_owned()),
    }
}

fn restore_note(world: &World, host: &dyn Host, id: &AgentId) -> Result<String, String> {
    let text = |error: &dyn std::error::Error| error_chain(error);
    // Nobody begins anything with the agent meanwhile.
    let guard = Guard::take(host, id).map_err(|error| text(&error))?;
    let Some(_guard) = guard else { return Err("another command is working on the agent".to_owned()) };
    let trash = host.layout().trash_of(id);
    let noted = trash::read_or_rebuild(host, &trash, id, world.clock.now()).map_err(|error| text(&error))?;
    let Some(manifest) = noted else { return Ok("it is gone already".to_owned()) };
    fault::point();
    let name = &manifest.name;
    if host.files().exists(&trash.state()).map_err(|error| text(&error))? {
        return Ok(format!("it is agent `{name}`: `mngr undo {name}` brings it back"));
    }
    destroy::take_back(host, &manifest).map_err(|error| text(&error))?;
    Ok(format!("agent `{name}` has its work back"))
}

fn set_folder_aside(world: &World, host: &dyn Host, path: &HostPath) -> Result<String, String> {
    let text = |error: &dyn std::error::Error| error_chain(error);
    let layout = host.layout();
    // Nobody makes an agent of it meanwhile.
    let _lock = host_lock::take(host).map_err(|error| text(&error))?;
    if !work_dirs::unused_folders(world, host).contains(path) {
        return Ok("it is used, or gone, by now".to_owned());
    }
    let name = path.file_name().unwrap_or_default();
    let folder = layout.set_aside();
    host.files().make_folder(&folder).map_err(|error| text(&error))?;
    let taken = host.files().list(&folder).map_err(|error| text(&error))?;
    let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
    let free = names.into_iter().find(|name| !taken.iter().any(|entry| entry.name == *name));
    let to = folder.join(&free.unwrap_or_default());
    host.files().rename(path, &to).map_err(|error| text(&error))?;
    Ok(format!("it is in `{to}` now"))
}

fn sweep(world: &World, host: &dyn Host) -> Result<String, String> {
    let swept = gc::sweep(world, host, &GcOptions::default()).map_err(|error| error_chain(&error))?;
    match swept.problems.first() {
        Some(problem) => Err(format!("`{}`: {}", problem.path, problem.message)),
        None => Ok(format!("deleted {} thing(s)", swept.removed.len())),
    }
}

fn restrict(host: &dyn Host, mode: &str, paths: &[HostPath]) -> Result<String, String> {
    let cmd = Cmd::new("chmod").arg(mode).arg("--").args(paths.iter().map(HostPath::as_str));
    let output = host.exec(&cmd).map_err(|error| error_chain(&error))?;
    if output.success() { Ok(format!("chmod {mode}")) } else { Err(output.stderr_text()) }
}

fn remove_git_locks(host: &dyn Host) -> Result<String, String> {
    let survey = host.survey(Detail::Basic).map_err(|error| error_chain(&error))?;
    let stale = git_locks::stale(host, &survey).map_err(|error| error_chain(&error))?;
    for lock in stale.iter().filter(|lock| !lock.is_busy) {
        host.files().remove_file(&lock.path).map_err(|error| error_chain(&error))?;
        fault::point();
    }
    Ok("deleted it".to_owned())
}
