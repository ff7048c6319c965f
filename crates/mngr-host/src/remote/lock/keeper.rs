//! One shell there that holds all locks of this process, as long as none has to be waited for.
//!
//! Budget: one process here and one shell there for all of them; one round trip to take a lock, none to let go of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mngr_model::HostPath;
use mngr_model::quote::sh_join;

use super::fence::{Fence, Post};
use super::{ANSWER_LIMIT, Words, is_held};
use crate::lock::HostLock;
use crate::proc::{Dialogue, ExecError, Turn};
use crate::random;
use crate::remote::script::{path_word, without_comments};
use crate::remote::shells::{FRESH_FOR, Shells, Stage};

/// What holds them.
const SCRIPT: &str = include_str!("../locks.sh");

/// The descriptors that every shell has besides its own.
const DESCRIPTORS: std::ops::RangeInclusive<u8> = 3..=9;

/// The shell that holds the locks of one machine, once there is one.
#[derive(Debug, Clone, Default)]
pub(in crate::remote) struct Keeper {
    running: Arc<Mutex<Option<Running>>>,
    fence: Fence,
}

#[derive(Debug)]
struct Running {
    dialogue: Dialogue,
    /// Tells it from one that came before it.
    id: String,
    held: BTreeSet<u8>,
    used: Instant,
}

/// A lock that the shell holds; dropping it lets go.
#[derive(Debug)]
pub(super) struct Kept {
    keeper: Keeper,
    id: String,
    descriptor: u8,
    post: Post,
}

/// What asking for a lock came to.
#[derive(Debug)]
pub(super) enum Taken {
    Held(Kept),
    /// Somebody else has it.
    Busy,
    /// The file cannot be opened, or there is no `flock`.
    Refused(String),
    /// The shell holds as many as it can, or the name cannot be told to it.
    NoRoom,
    /// The machine did not answer; what its link said.
    Silent(Turn, String),
}

impl Keeper {
    /// What keeps requests from being run whose lock was lost.
    pub(in crate::remote) fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Takes the lock on a file there unless somebody has it, and adds a line to the file.
    pub(super) fn take(
        &self,
        shells: &Shells,
        path: &HostPath,
        line: Option<&str>,
    ) -> Result<Taken, ExecError> {
        let words = match line {
            Some(line) => format!("{} {}", path_word(path), sh_join([line])),
            None => path_word(path),
        };
        // A line is what the shell reads.
        if words.contains(['\n', '\0']) {
            return Ok(Taken::NoRoom);
        }
        let mut running = self.lock();
        // One that is gone took its locks with it, so nothing is lost by asking another one.
        drop(running.take_if(|it| it.held.is_empty() && it.used.elapsed() > FRESH_FOR));
        let is_old = running.is_some();
        let taken = self.ask(&mut running, shells, path, &words)?;
        match taken {
            Taken::Silent(Turn::Closed, _) if is_old => self.ask(&mut running, shells, path, &words),
            taken => Ok(taken),
        }
    }

    /// Starts the shell, so that it is there when the first lock is asked for. A failure is met then.
    pub(in crate::remote) fn start_early(&self, shells: &Shells) {
        let mut running = self.lock();
        if running.is_none()
            && let Ok(started) = Running::start(shells)
        {
            running.insert(started).dialogue.send_on();
        }
    }

    fn ask(
        &self,
        running: &mut Option<Running>,
        shells: &Shells,
        path: &HostPath,
        words: &str,
    ) -> Result<Taken, ExecError> {
        let it = match running {
            Some(it) => it,
            None => running.insert(Running::start(shells)?),
        };
        let Some(descriptor) = DESCRIPTORS.into_iter().find(|fd| !it.held.contains(fd)) else {
            return Ok(Taken::NoRoom);
        };
        let word = random::hex32();
        it.dialogue.say(format!("take {word} {descriptor} {words}\n").as_bytes());
        it.used = Instant::now();
        // Each answer has a word of its own: what comes besides is of no use.
        let until = it.used + ANSWER_LIMIT;
        match Words::default().next(shells, &mut it.dialogue, &word, Stage::Unheard, until) {
            Ok(said) if is_held(&said) => {
                it.held.insert(descriptor);
                let post = self.fence.stand(path, &said);
                Ok(Taken::Held(Kept { keeper: self.clone(), id: it.id.clone(), descriptor, post }))
            }
            Ok(said) if said == "busy" => Ok(Taken::Busy),
            Ok(said) => Ok(Taken::Refused(said.strip_prefix("refused ").unwrap_or(&said).to_owned())),
            Err(Turn::Interrupted) => {
                it.drop_lock(descriptor);
                Ok(Taken::Silent(Turn::Interrupted, String::new()))
            }
            Err(turn) => {
                let patience = if turn == Turn::Closed { Duration::from_secs(1) } else { Duration::ZERO };
                let (_, said) = it.dialogue.last_words(patience);
                *running = None;
                Ok(Taken::Silent(turn, said))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    fn start(shells: &Shells) -> Result<Self, ExecError> {
        let dialogue = shells.converse(&without_comments(SCRIPT))?;
        Ok(Self { dialogue, id: random::hex32(), held: BTreeSet::new(), used: Instant::now() })
    }

    /// Lets go, or makes sure that a lock is let go of whose answer nobody waits for.
    fn drop_lock(&mut self, descriptor: u8) {
        self.held.remove(&descriptor);
        self.used = Instant::now();
        self.dialogue.say(format!("drop {descriptor}\n").as_bytes());
        self.dialogue.send_on();
    }
}

impl Kept {
    /// The lock, for whoever asked for it.
    pub(super) fn into_lock(self) -> HostLock {
        let sharing = self.post.sharing();
        HostLock::new(self).shared_by(sharing)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(running) = self.keeper.lock().as_mut().filter(|running| running.id == self.id) {
            running.drop_lock(self.descriptor);
        }
    }
}
