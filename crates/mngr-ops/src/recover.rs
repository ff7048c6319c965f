//! Putting right what a killed command left behind.
//!
//! A journal whose lock is free belongs to a command that died. A creation is taken back; a removal, or the undo of
//! one, is carried through. Called by every look at a host that finds journals; costs nothing otherwise.

use std::time::Duration;

use mngr_host::fault;
use mngr_host::files::{FileKind, FolderEntry};
use mngr_host::git::{DeleteBranch, Git, GitError, RemoveOutcome};
use mngr_host::host::{EndRequest, Host, RunningCommands};
use mngr_host::interrupt;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_host::proc::CommandId;
use mngr_host::tmux::{SessionClaim, SessionName};
use mngr_host::trace::{self, SpanKind};
use mngr_model::journal::{Header, Operation, Step};
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostPath};

use crate::hosts::Tenant;
use crate::pool::Place;
use crate::undo::Resumed;
use crate::world::World;
use crate::{destroy, git_locks, hosts, journal, pool, scratch, trash, undo};

/// Whether anything was put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The host is as it was.
    Unchanged,
    /// Look again.
    Changed,
}

/// How many are put right in one look: the rest waits for the next one. Each costs a few round trips.
const AT_ONCE: usize = 32;
/// No journal of ours is as long.
const MOST_BYTES: usize = 1 << 20;

struct Leftover {
    path: HostPath,
    text: String,
    _lock: HostLock,
}

/// Finishes what dead commands began on this host.
pub fn recover(world: &World, host: &dyn Host) -> Outcome {
    let leftovers = claim(host);
    if leftovers.is_empty() {
        return Outcome::Unchanged;
    }
    let _span = trace::span(SpanKind::Phase, || "put right what was left".to_owned());
    // Half a recovery would be another left-over.
    let _shield = interrupt::shield();
    for leftover in leftovers {
        let Some((header, steps)) = journal::read(&leftover.text) else {
            // Not even the first line was written, so nothing had begun but a note in the trash.
            if let Some(id) = id_of(&leftover.path) {
                let _ = trash::drop_unused(host, &id);
            }
            let _ = host.files().remove_file(&leftover.path);
            continue;
        };
        match finish(world, host, &header, &steps) {
            Ok(outcome) => {
                let _ = host.files().remove_file(&leftover.path);
                world.reporter.warn(&format!(
                    "a command that was killed while it worked on agent `{}` was put right ({outcome})",
                    header.name
                ));
            }
            Err(problem) => world.reporter.warn(&format!(
                "what a killed command left of agent `{}` cannot be put right yet: {problem}",
                header.name
            )),
        }
    }
    Outcome::Changed
}

/// Finishes what dead commands began on the machine mngr runs on. Comes before anybody is asked for his hosts: one that such
/// a command was making may go by this. Where there is nothing to do it costs a look into one folder.
pub(crate) fn recover_client(world: &World) {
    let host = world.client.as_ref();
    let folder = host.layout().journals();
    let names = host.files().list(&folder).unwrap_or_default().into_iter().map(|entry| entry.name);
    let journals: Vec<HostPath> = names.map(|name| folder.join(&name)).collect();
    if !journals.is_empty() && host.free_locks(&journals).is_ok_and(|free| !free.is_empty()) {
        recover(world, host);
    }
}

/// Whether one of these journals belongs to a command that died. The caller holds the host lock: no journal is in the
/// moment between its creation and its first lock.
pub(crate) fn has_leftovers(host: &dyn Host, journals: &[String]) -> Result<bool, LockError> {
    let folder = host.layout().journals();
    let paths: Vec<HostPath> = journals.iter().map(|name| folder.join(name)).collect();
    Ok(!host.free_locks(&paths)?.is_empty())
}

/// Takes the locks of all journals nobody works on.
fn claim(host: &dyn Host) -> Vec<Leftover> {
    let layout = host.layout();
    // Under the host lock no journal is in the moment between its creation and its first lock.
    let Ok(_guard) = host.lock(&layout.host_lock(), LockWait::For(Duration::from_secs(2))) else {
        return vec![];
    };
    let Ok(entries) = host.files().list(&layout.journals()) else { return vec![] };
    // Whatever else is there was put there by somebody else.
    let files = entries.into_iter().filter(|entry: &FolderEntry| entry.kind == FileKind::File);
    let paths = files.map(|entry| layout.journals().join(&entry.name));
    let paths: Vec<HostPath> = paths.filter(|path| id_of(path).is_some()).take(AT_ONCE).collect();
    let free = host.free_locks(&paths).unwrap_or_default();
    free.into_iter()
        .filter_map(|path| {
            let lock = host.lock(&path, LockWait::Try).ok()?;
            lock.share_with_children();
            let text = host.files().read_part(&path, 0, MOST_BYTES).ok()?;
            let text = String::from_utf8_lossy(&text).into_owned();
            if host.reach().is_some() && journal::is_at_work(host, &path, &text) {
                return None;
            }
            Some(Leftover { path, text, _lock: lock })
        })
        .collect()
}

/// The id that a journal is named after.
fn id_of(journal: &HostPath) -> Option<AgentId> {
    journal.file_name()?.strip_suffix(".jsonl").and_then(AgentId::parse)
}

/// Says what was done, as a fragment.
fn finish(world: &World, host: &dyn Host, header: &Header, steps: &[Step]) -> Result<&'static str, String> {
    if end_what_it_started(world, host, header)? == Started::Ended {
        git_locks::remove_left(host, steps, header.started);
    }
    match header.operation {
        Operation::Create if is_committed(host, &host.layout(), &header.agent_id) => Ok("it was whole"),
        Operation::Create => {
            take_back(world, host, &header.agent_id, steps).map(|()| "its creation was taken back")
        }
        Operation::Destroy => {
            let done = destroy::resume(world, host, header);
            done.map(|()| "its removal was completed").map_err(|error| crate::error_chain(&error))
        }
        Operation::Undo => {
            let done = undo::resume(world, host, header).map_err(|error| crate::error_chain(&error))?;
            Ok(match done {
                Resumed::Completed => "its return was completed",
                Resumed::TakenBack => {
                    "it cannot come back yet and is in the trash as before; see `mngr undo`"
                }
            })
        }
        Operation::MakeHost => {
            take_back(world, host, &header.agent_id, steps).map(|()| "a host without it was removed")
        }
        Operation::Transfer => Ok("what still copied files of it was ended"),
        Operation::Copy if scratch::is_whole(host, steps) => {
            let own = |step: &&Step| matches!(step, Step::File { .. });
            let beside: Vec<Step> = steps.iter().filter(own).cloned().collect();
            take_back(world, host, &header.agent_id, &beside).map(|()| "its copy was whole")
        }
        Operation::Copy => {
            take_back(world, host, &header.agent_id, steps).map(|()| "half a copy of it was removed")
        }
    }
}

/// What is known of the processes that a command had started.
#[derive(PartialEq, Eq)]
enum Started {
    /// None of them lives.
    Ended,
    /// It ran on another machine, or did not say which command it is.
    Unknown,
}

/// What a dead command started may live on, and would go on writing into what is taken back.
fn end_what_it_started(world: &World, host: &dyn Host, header: &Header) -> Result<Started, String> {
    let command = header.command.as_deref().and_then(CommandId::parse);
    let Some(command) = command.filter(CommandId::is_dead) else { return Ok(Started::Unknown) };
    // What copies between two machines runs on this one.
    let client = (!world.is_client(host)).then_some(world.client.as_ref());
    for host in [host].into_iter().chain(client) {
        let ended = host.end_command(&command).map_err(|error| crate::error_chain(&error))?;
        if !ended.remaining.is_empty() {
            return Err(format!("processes {:?} do not end", ended.remaining));
        }
    }
    Ok(Started::Ended)
}

/// The record is written last: an agent that has one was created whole.
fn is_committed(host: &dyn Host, layout: &HostLayout, id: &AgentId) -> bool {
    host.files().exists(&layout.agent(id).data()).unwrap_or(false)
}

/// Takes back the steps of a creation, the last one first. Goes on after a failure and reports all of them.
pub(crate) fn take_back(world: &World, host: &dyn Host, id: &AgentId, steps: &[Step]) -> Result<(), String> {
    let mut problems = Vec::new();
    for step in steps.iter().rev() {
        problems.extend(take_back_step(world, host, id, step).err());
        fault::point();
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

fn take_back_step(world: &World, host: &dyn Host, id: &AgentId, step: &Step) -> Result<(), String> {
    let files = host.files();
    let text = |error: &dyn std::error::Error| crate::error_chain(error);
    match step {
        Step::FilesFor { .. } => Ok(()),
        Step::Folder { path } | Step::Clone { path } => files.remove_tree(path).map_err(|e| text(&e)),
        Step::File { path } => files.remove_file(path).map_err(|e| text(&e)),
        Step::ReplacedFile { path, backup } => {
            if files.exists(backup).map_err(|e| text(&e))? {
                files.rename(backup, path).map_err(|e| text(&e))?;
            }
            Ok(())
        }
        Step::Worktree { repository, path } => {
            let git = Git::new(host, repository.clone());
            match git.remove_worktree(path) {
                Ok(RemoveOutcome::Removed) => Ok(()),
                // Git may have died before it knew of the folder, or the repository may be gone.
                Ok(RemoveOutcome::NotRegistered) | Err(_) => files.remove_tree(path).map_err(|e| text(&e)),
            }
        }
        Step::Branch { repository, name, at } => {
            let git = Git::new(host, repository.clone());
            match git.delete_branch(name, DeleteBranch::OnlyAt(at)) {
                // The agent has committed. That stays so, however often somebody tries again.
                Err(GitError::RefMoved { .. }) => {
                    world.reporter.warn(&format!(
                        "the branch `{name}` is kept: it has commits of the agent; `git branch -D {name}` deletes it"
                    ));
                    Ok(())
                }
                // The repository is gone, and the branch with it.
                Err(_) if !files.exists(&repository.join("HEAD")).map_err(|e| text(&e))? => Ok(()),
                deleted => deleted.map_err(|e| text(&e)),
            }
        }
        Step::Host { provider, id: made, is_copy } => {
            let tenant = if *is_copy { Tenant::This(id) } else { Tenant::Anybody };
            hosts::take_back(world, provider, made, tenant).map_err(|error| text(&error))
        }
        Step::PoolHost { pool, provider, id: made, address } => {
            let place = Place { pool, provider, host: made, address };
            pool::take_back(world, &place).map_err(|error| text(&error))
        }
        Step::Session { name } => {
            let request = EndRequest {
                first: Vec::new(),
                agent: id.clone(),
                program: None,
                grace: Duration::from_secs(1),
                commands: RunningCommands::End,
            };
            let ended = host.end_processes(&request).map_err(|e| text(&e))?;
            if let Ok(session) = SessionName::new(name.clone()) {
                world
                    .with_tmux(host, |tmux| tmux.kill_session_of(&session, id, SessionClaim::Marked))
                    .map_err(|e| text(&e))?;
            }
            match ended.remaining.as_slice() {
                [] => Ok(()),
                pids => Err(format!("processes {pids:?} do not end")),
            }
        }
    }
}
