//! `create --foreground`: takes what an agent without a terminal prints, to its end, and destroys it then.
//!
//! The agent runs in tmux under its supervisor, as all others do, and writes into files of its state folder. So its
//! state is seen by every other command, and it outlives this one if this one is killed. Spawns nothing while the
//! program runs; what is printed is seen by file events and passed on in pieces, however much it is.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_agents::headless::Verdict;
use mngr_agents::transcript::{Brand, Entry, NativeLog, Record, Scope};
use mngr_host::files::{FileKind, Files, FilesError};
use mngr_host::git::Git;
use mngr_host::interrupt;
use mngr_host::tmux::TmuxError;
use mngr_model::address::{AgentAddress, AgentRef};
use mngr_model::facts::Detail;
use mngr_model::process::{Ending, ExitStatus};
use mngr_model::transfer::TransferMode;
use mngr_model::{AgentState, HostPath};

use super::request::Created;
use crate::again::{LookError, look_again};
use crate::destroy::{self, DestroyError, DestroyOptions, Destroyed};
use crate::fleet::{Agent, Fleet};
use crate::follow::ChangeNote;
use crate::select::SelectError;
use crate::stop::StopOptions;
use crate::terminal;
use crate::world::World;

/// How much of a stream is held at once.
const PIECE: usize = 64 * 1024;
/// How many pieces are passed on before the program's state is looked at again: one that never ends printing must not
/// keep the user from ending it.
const PIECES: usize = 64;
/// How much of the end of its output a program's last word is looked for in.
const LAST_WORD: usize = 256 * 1024;

/// What the program did.
#[derive(Debug)]
pub enum Piece<'a> {
    /// It printed something.
    Output(&'a [u8]),
    /// It printed something besides.
    Errors(&'a [u8]),
    /// Something was said in its conversation.
    Said(&'a Record),
}

/// How it came to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The program ended.
    Exited(ExitStatus),
    /// Another command stopped it, and its exit was not recorded any more.
    Stopped,
    /// It is gone, and nobody knows how it ended.
    Lost {
        /// What is known.
        evidence: String,
    },
    /// The user gave up, and the program was asked to end.
    Interrupted,
    /// The user's terminal went away. The program runs on.
    LeftRunning,
    /// Another command destroyed the agent.
    Destroyed,
}

/// The agent could not be followed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// It is not where it was created.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// It cannot be seen.
    #[error(transparent)]
    Look(#[from] LookError),
    /// What it printed cannot be read.
    #[error("cannot read what the agent prints")]
    Files(#[from] FilesError),
}

/// What is left of a run that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Where everything is.
    pub destroyed: Destroyed,
    /// The branch that holds its commits, where it made some.
    pub branch: Option<String>,
}

/// A headless agent that is being attended.
pub struct Attended<'w> {
    world: &'w World,
    agent: Agent,
    output: Tail,
    errors: Tail,
    /// The conversation of a coding agent, whose output is of no use to people.
    log: Option<NativeLog>,
    /// When it was launched, by the clock of its host. What was said earlier is a conversation it goes on with.
    launched: Option<Timestamp>,
}

/// Whether more was there than was passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    More,
}

/// How far a stream was read.
struct Tail {
    path: HostPath,
    offset: u64,
}

impl Tail {
    fn of(path: HostPath) -> Self {
        Self { path, offset: 0 }
    }

    /// The next piece; nothing when there is no more for now.
    fn next(&mut self, files: &dyn Files) -> Result<Option<Vec<u8>>, FilesError> {
        // The agent can write there: a pipe in place of the file would hold the reader for ever.
        let size = match files.stat(&self.path)? {
            Some(stat) if stat.kind == FileKind::File => stat.size,
            _ => 0,
        };
        if size <= self.offset {
            return Ok(None);
        }
        let bytes = files.read_part(&self.path, self.offset, PIECE)?;
        self.offset += bytes.len() as u64;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl<'w> Attended<'w> {
    /// Attends an agent that was just created.
    pub fn new(world: &'w World, created: &Created) -> Result<Self, FollowError> {
        let fleet = Fleet::look(world, Detail::Basic);
        let address = AgentAddress { agent: AgentRef::Id(created.id.clone()), host: None };
        let agent = fleet.one(&address)?.clone();
        let layout = agent.host.layout().agent(agent.id());
        let brand = agent.facts.record.brand.as_deref().and_then(Brand::of_type);
        let log = brand.map(|brand| NativeLog::new(brand, layout.root().clone(), Scope::Conversation));
        let (output, errors) = (Tail::of(layout.headless_output()), Tail::of(layout.headless_errors()));
        let launched = agent.host.files().stat(&layout.activity_start())?.and_then(|stat| stat.modified);
        Ok(Self { world, agent, output, errors, log, launched })
    }

    /// Tells what the program does until it ends. When telling fails, the agent is as it was.
    pub fn follow<E: From<FollowError>>(
        &mut self,
        tell: &mut dyn FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<Ended, E> {
        if let Some(ended) = self.follow_until(None, tell)? {
            return Ok(ended);
        }
        if interrupt::has_hung_up() {
            return Ok(Ended::LeftRunning);
        }
        let _shield = interrupt::shield();
        // If this fails, it is ended by being destroyed.
        if self.press_interrupt().is_ok() {
            let grace = StopOptions::from_settings(&self.world.settings).grace;
            self.follow_until(Instant::now().checked_add(grace), tell)?;
        }
        Ok(Ended::Interrupted)
    }

    /// Follows to the end, which is returned, or to this moment, or to an interrupt.
    fn follow_until<E: From<FollowError>>(
        &mut self,
        deadline: Option<Instant>,
        tell: &mut dyn FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<Option<Ended>, E> {
        loop {
            let note = ChangeNote::of(self.agent.host.as_ref(), self.folders());
            // The state first: what the program printed before its end is then there to be read.
            let ended = self.look()?;
            let rest = self.pass_on(tell)?;
            if ended.is_some() && rest == Rest::Nothing {
                return Ok(ended);
            }
            let left = deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
            let waited = match rest {
                Rest::Nothing => note.wait(left),
                Rest::More => interrupt::check(),
            };
            if left.is_zero() || waited.is_err() {
                return Ok(None);
            }
        }
    }

    fn folders(&self) -> Vec<HostPath> {
        let layout = self.agent.host.layout().agent(self.agent.id());
        let log = self.log.as_ref().and_then(|log| log.folders(self.agent.host.files()).ok());
        [layout.root().clone(), layout.headless()].into_iter().chain(log.into_iter().flatten()).collect()
    }

    fn look(&mut self) -> Result<Option<Ended>, FollowError> {
        let agent = match look_again(&self.agent, Detail::Full) {
            Ok(agent) => agent,
            Err(LookError::Gone { .. }) => return Ok(Some(Ended::Destroyed)),
            Err(error) => return Err(error.into()),
        };
        let is_over = agent.state.state.is_final() || agent.state.state == AgentState::Replaced;
        let ended = match agent.facts.process.exit {
            _ if !is_over => None,
            Some(status) => Some(Ended::Exited(status)),
            // The supervisor is about to record how it ended, unless it is ended with it.
            None if agent.facts.supervisor.is_alive() => None,
            None if matches!(agent.facts.process.ending, Some(Ending::Stopped { .. })) => {
                Some(Ended::Stopped)
            }
            None => Some(Ended::Lost { evidence: agent.state.evidence.clone() }),
        };
        self.agent = agent;
        Ok(ended)
    }

    fn pass_on<E: From<FollowError>>(
        &mut self,
        tell: &mut dyn FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<Rest, E> {
        let host = self.agent.host.clone();
        let files = host.files();
        if let Some(log) = &mut self.log {
            for entry in log.read_more(files).map_err(FollowError::from)? {
                if let Entry::Said(record) = entry
                    && self.launched.is_none_or(|launched| record.timestamp >= launched)
                {
                    tell(Piece::Said(&record))?;
                }
            }
        }
        for _ in 0..PIECES {
            let errors = self.errors.next(files).map_err(FollowError::from)?;
            if let Some(bytes) = &errors {
                tell(Piece::Errors(bytes))?;
            }
            let output = match self.log {
                Some(_) => None,
                None => self.output.next(files).map_err(FollowError::from)?,
            };
            if let Some(bytes) = &output {
                tell(Piece::Output(bytes))?;
            }
            if errors.is_none() && output.is_none() {
                return Ok(Rest::Nothing);
            }
        }
        Ok(Rest::More)
    }

    fn press_interrupt(&self) -> Result<(), TmuxError> {
        let gone = || TmuxError::Gone { message: "the agent has no terminal".to_owned() };
        let pane = terminal::pane_of(&self.agent).ok_or_else(gone)?;
        terminal::on_server(self.world, &self.agent, TmuxError::is_silence, |tmux| {
            tmux.press_interrupt(&pane)
        })
    }

    /// Whether its conversation is told, instead of what it prints.
    pub fn has_conversation(&self) -> bool {
        self.log.is_some()
    }

    /// What a coding agent's own output says of the whole run; nothing of other programs.
    pub fn verdict(&self) -> Result<Verdict, FollowError> {
        if self.log.is_none() {
            return Ok(Verdict::default());
        }
        let (files, path) = (self.agent.host.files(), &self.output.path);
        let Some(stat) = files.stat(path)?.filter(|stat| stat.kind == FileKind::File) else {
            return Ok(Verdict::default());
        };
        let bytes = files.read_part(path, stat.size.saturating_sub(LAST_WORD as u64), LAST_WORD)?;
        Ok(Verdict::read(&String::from_utf8_lossy(&bytes)))
    }

    /// Destroys the agent, ended or not, as `destroy` does. Its branch goes too if the agent added nothing to it.
    pub fn destroy(self) -> Result<Finished, DestroyError> {
        let _shield = interrupt::shield();
        let has_commits = self.has_commits();
        let options = DestroyOptions {
            force: true,
            remove_created_branch: !has_commits,
            ..DestroyOptions::from_settings(&self.world.settings)
        };
        let destroyed = destroy::destroy(self.world, &self.agent, &options)?;
        let record = &self.agent.facts.record;
        // The branch of a copy goes into the trash with the copy.
        let is_shared = record.workspace.as_ref().is_some_and(|workspace| {
            matches!(workspace.transfer, TransferMode::GitWorktree | TransferMode::None)
        });
        let branch = record.initial_branch().map(str::to_owned).filter(|_| has_commits && is_shared);
        Ok(Finished { destroyed, branch })
    }

    /// Whether the agent's branch is elsewhere than where it began. What cannot be told counts as work.
    fn has_commits(&self) -> bool {
        let record = &self.agent.facts.record;
        let base = record.workspace.as_ref().and_then(|workspace| workspace.base_commit.as_deref());
        match (record.initial_branch(), base) {
            (Some(branch), Some(base)) => {
                let git = Git::new(self.agent.host.as_ref(), record.work_dir.clone());
                git.resolve(&format!("refs/heads/{branch}")).map_or(true, |now| now != base)
            }
            _ => false,
        }
    }
}
