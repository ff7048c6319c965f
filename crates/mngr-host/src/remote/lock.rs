//! Locks on another machine: `flock` there, held by a shell that ends when we let go of it or are gone.
//!
//! Budget: one process here and one shell there for each lock that is held.

use std::io;
use std::time::{Duration, Instant};

use mngr_model::HostPath;

use super::line::detail_of;
use super::script::path_word;
use super::shells::Shells;
use crate::lock::{HostLock, LockError, LockWait};
use crate::proc::{Dialogue, Hearing, Turn, moment_after};
use crate::random;

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
exec 9>>"$path"
if ! flock -n 9; then
    [ "$wait" = no ] && { echo "$mark busy"; exit 0; }
    echo "$mark waiting"
    flock 9 || exit 1
fi
echo "$mark held"
{ while sleep 20 >/dev/null 2>&1; do echo; done; } 9>&- </dev/null &
read -r end
kill $!
"#;

/// Takes the lock on a file there, creating the file.
pub(super) fn lock(shells: &Shells, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    let io_error = |source: io::Error| LockError::Io { path: path.clone(), source };
    let mark = random::hex32();
    let waits = if wait == LockWait::Try { "no" } else { "yes" };
    let script = format!("path={}\nwait={waits}\nmark={mark}\n{HOLD}", path_word(path));
    let mut holder = shells.converse(&script).map_err(|error| io_error(io::Error::other(error)))?;
    let mut word = next_word(&mut holder, &mark, Instant::now() + ANSWER_LIMIT);
    if let (Ok(said), LockWait::For(limit)) = (&word, wait)
        && said == "waiting"
    {
        word = next_word(&mut holder, &mark, moment_after(limit));
        // It stays in the queue there for a moment, and lets go at once when its turn comes: nobody listens any more.
        if matches!(word, Err(Turn::TimedOut)) {
            return Err(LockError::Held { path: path.clone() });
        }
    }
    match word {
        Ok(said) if said == "held" => Ok(HostLock::new(holder)),
        Ok(said) if said == "busy" => Err(LockError::Held { path: path.clone() }),
        Ok(said) => {
            Err(io_error(io::Error::other(detail_of(said.strip_prefix("refused ").unwrap_or(&said)))))
        }
        Err(Turn::Interrupted) => Err(LockError::Interrupted),
        Err(Turn::TimedOut) => Err(io_error(io::ErrorKind::TimedOut.into())),
        Err(_) => {
            let (_, said) = holder.last_words(Duration::from_secs(1));
            Err(io_error(io::Error::new(io::ErrorKind::HostUnreachable, detail_of(&said))))
        }
    }
}

/// The next line that begins with the mark, without it; or why there is none.
fn next_word(holder: &mut Dialogue, mark: &str, until: Instant) -> Result<String, Turn> {
    let mut heard = Vec::new();
    let mut word = None;
    let turn = holder.exchange(until, &mut |bytes| {
        heard.extend_from_slice(bytes);
        let text = String::from_utf8_lossy(&heard);
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        word = lines.find_map(|line| Some(line.trim_end().strip_prefix(mark)?.trim().to_owned()));
        if word.is_some() || heard.len() > MOST_HEARD { Hearing::Enough } else { Hearing::More }
    });
    word.ok_or(turn)
}
