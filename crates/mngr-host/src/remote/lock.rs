//! Locks on another machine: `flock` there, held by a shell that ends when we are gone.
//!
//! Budget: one process here and one shell there for all locks that were free when they were asked for, and one more for
//! each that had to be waited for.

mod fence;
mod keeper;

use std::io;
use std::time::{Duration, Instant};

use mngr_model::HostPath;

use super::files::understand;
use super::line::detail_of;
use super::script::path_word;
use super::shells::{Shells, Stage};
use crate::lock::{HostLock, LockError, LockWait};
use crate::proc::{Cmd, Dialogue, Hearing, Turn, moment_after};
use crate::random;

use keeper::Taken;

pub(super) use keeper::Keeper;

/// How long the other machine may take to say whether the lock is free.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// More than this no honest host says before it says something of the lock.
const MOST_HEARD: usize = 1 << 20;

/// Takes the lock, says so, and keeps it until its input ends. `path`, `wait` and `mark` come first.
///
/// What it says from time to time makes the system there notice that this machine has vanished from the network. The
/// last `sleep` outlives the lock and must hold no output: an engine of containers waits for the end of each.
const HOLD: &str = r#"
command -v flock >/dev/null || { echo "$mark refused \`flock\` is not installed there"; exit 1; }
# A pipe would hold us, and nobody else uses a lock behind a link.
if [ -L "$path" ] || { [ -e "$path" ] && [ ! -f "$path" ]; }; then
    echo "$mark refused it is not an ordinary file"; exit 1
fi
why=$( { : >>"$path"; } 2>&1 ) || { echo "$mark refused ${why:-it cannot be opened}"; exit 1; }
born=
if [ -r "/proc/$$/stat" ]; then
    read -r born <"/proc/$$/stat"
    set -- ${born##*')' }
    born=${20}
fi
exec 9>>"$path"
if ! flock -n 9; then
    [ "$wait" = no ] && { echo "$mark busy"; exit 0; }
    echo "$mark waiting"
    flock 9 || exit 1
fi
echo "$mark held $$ $born"
{ while sleep 20 >/dev/null 2>&1; do echo; done; } 9>&- </dev/null &
read -r end
kill $!
"#;

/// Prints the words whose files nobody has locked. What was begun under a lock that is lost may still run, and holds the
/// folder of the file (see [`fence`]): asked in this order, nothing can begin between both answers.
const FREE: &str = r#"settled() {
    # Somebody else may ask the same at this moment.
    flock -n "$1" true || { sleep 0.1; flock -n "$1" true; }
}
for path; do
    { [ ! -e "$path" ] || { flock -n "$path" true && settled "${path%/*}"; }; } && printf '%s\000' "$path"
done"#;

/// Which of these lock files nobody holds.
pub(super) fn free(shells: &Shells, paths: &[HostPath]) -> Result<Vec<HostPath>, LockError> {
    let Some(first) = paths.first() else { return Ok(Vec::new()) };
    let cmd = Cmd::shell(FREE).arg("free").args(paths.iter().map(HostPath::as_str)).deadline(ANSWER_LIMIT);
    let failed = |error| LockError::Io { path: first.clone(), source: io::Error::other(error) };
    let printed = shells.look(&cmd).map_err(failed)?.stdout;
    let named: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
    Ok(paths.iter().filter(|path| named.contains(&path.as_str().as_bytes())).cloned().collect())
}

/// Takes the lock on a file there, creating the file.
pub(super) fn lock(shells: &Shells, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    match take(shells, path, wait, None)? {
        Some(lock) => Ok(lock),
        None => lock_alone(shells, path, wait),
    }
}

/// The same for a file that gets a line with it. Nothing when there is no room for the lock: it has to be taken alone.
pub(super) fn lock_with_line(
    shells: &Shells,
    path: &HostPath,
    line: &str,
) -> Result<Option<HostLock>, LockError> {
    take(shells, path, LockWait::Try, Some(line))
}

/// Takes a lock that is free with the shell that holds all of them. Nothing: it takes a shell of its own.
fn take(
    shells: &Shells,
    path: &HostPath,
    wait: LockWait,
    line: Option<&str>,
) -> Result<Option<HostLock>, LockError> {
    let io_error = |source: io::Error| LockError::Io { path: path.clone(), source };
    let taken = shells.locks().take(shells, path, line).map_err(|error| io_error(io::Error::other(error)))?;
    match (taken, wait) {
        (Taken::Held(kept), _) => Ok(Some(kept.into_lock())),
        (Taken::Busy, LockWait::Try) => Err(LockError::Held { path: path.clone() }),
        (Taken::Refused(why), _) => Err(io_error(understand(&why))),
        (Taken::Silent(turn, said), _) => Err(silence(shells, path, turn, &said)),
        (Taken::Busy | Taken::NoRoom, _) => Ok(None),
    }
}

/// Takes the lock with a shell of its own, which can wait for it.
fn lock_alone(shells: &Shells, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    let io_error = |source: io::Error| LockError::Io { path: path.clone(), source };
    let mark = random::hex32();
    let waits = if wait == LockWait::Try { "no" } else { "yes" };
    let script = format!("path={}\nwait={waits}\nmark={mark}\n{HOLD}", path_word(path));
    let mut holder = shells.converse(&script).map_err(|error| io_error(io::Error::other(error)))?;
    let mut words = Words::default();
    let until = Instant::now() + ANSWER_LIMIT;
    let mut word = words.next(shells, &mut holder, &mark, Stage::Unheard, until);
    if let (Ok(said), LockWait::For(limit)) = (&word, wait)
        && said == "waiting"
    {
        word = words.next(shells, &mut holder, &mark, Stage::AtWork, moment_after(limit));
        // It stays in the queue there for a moment, and lets go at once when its turn comes: nobody listens any more.
        if matches!(word, Err(Turn::TimedOut)) {
            return Err(LockError::Held { path: path.clone() });
        }
    }
    match word {
        Ok(said) if is_held(&said) => {
            let post = shells.locks().fence().stand(path, &said);
            let sharing = post.sharing();
            Ok(HostLock::new((holder, post)).shared_by(sharing))
        }
        Ok(said) if said == "busy" => Err(LockError::Held { path: path.clone() }),
        Ok(said) => Err(io_error(understand(said.strip_prefix("refused ").unwrap_or(&said)))),
        Err(turn) => {
            let (_, said) = holder.last_words(Duration::from_secs(1));
            Err(silence(shells, path, turn, &said))
        }
    }
}

/// Whether the shell says that it holds the lock.
fn is_held(said: &str) -> bool {
    said.split(' ').next() == Some("held")
}

/// Why there was no answer.
fn silence(shells: &Shells, path: &HostPath, turn: Turn, said: &str) -> LockError {
    let source = match turn {
        Turn::Interrupted => return LockError::Interrupted,
        Turn::TimedOut => io::ErrorKind::TimedOut.into(),
        Turn::Silent => io::Error::new(io::ErrorKind::TimedOut, shells.silent()),
        Turn::Heard | Turn::Closed => io::Error::new(io::ErrorKind::HostUnreachable, detail_of(said)),
    };
    LockError::Io { path: path.clone(), source }
}

/// What a shell there says of locks, line by line. Two lines may come at once: what was heard and is not needed yet is kept.
#[derive(Debug, Default)]
struct Words {
    heard: Vec<u8>,
}

impl Words {
    /// The next line that begins with the mark, without it; or why there is none.
    fn next(
        &mut self,
        shells: &Shells,
        holder: &mut Dialogue,
        mark: &str,
        stage: Stage,
        until: Instant,
    ) -> Result<String, Turn> {
        if let Some(word) = self.take(mark) {
            return Ok(word);
        }
        let mut word = None;
        let turn = shells.listen(holder, until, stage, &mut |bytes| {
            self.heard.extend_from_slice(bytes);
            word = self.take(mark);
            let is_enough = word.is_some() || self.heard.len() > MOST_HEARD;
            (if is_enough { Hearing::Enough } else { Hearing::More }, stage)
        });
        word.ok_or(turn)
    }

    /// Takes the whole lines up to the first that begins with the mark.
    fn take(&mut self, mark: &str) -> Option<String> {
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.heard.drain(..=end).collect();
            if let Some(word) = String::from_utf8_lossy(&line).trim_end().strip_prefix(mark) {
                return Some(word.trim().to_owned());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::testing::{ShellLine, with_shells};

    #[test]
    fn a_lock_that_is_free_while_the_link_was_down_is_ours_as_soon_as_it_is_back() {
        // Everything that is said within a second arrives at once: that somebody else has the lock, and that we have it.
        let (line, shells) = with_shells(ShellLine::to("/bin/dash").with_suffix(" | { sleep 1; cat; }"));
        let path = HostPath::new(line.root.path().join("lock").to_str().unwrap());
        let file = std::fs::File::create(path.as_str()).unwrap();
        file.lock().unwrap();
        let began = Instant::now();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_alone(&shells, &path, LockWait::For(Duration::from_secs(20))));
            std::thread::sleep(Duration::from_millis(500));
            drop(file);
            let held = waiting.join().unwrap().unwrap();
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
            drop(held);
        });
    }
}
