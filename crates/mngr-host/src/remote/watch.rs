//! Watching another machine: a loop there compares what it sees with what it saw, and says when it differs.
//!
//! Budget: one process here for each watch; there one shell and, while it runs, two short-lived processes a second.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mngr_model::quote::sh_join;

use super::script::path_word;
use super::shells::{Shells, Stage};
use crate::host::WatchRequest;
use crate::interrupt::{self, Interrupted};
use crate::proc::{Dialogue, ExecError, Hearing, Turn, moment_after};
use crate::random;
use crate::watch::{Wake, Watch, WatchError};

/// How long the other machine may take to begin.
const START_LIMIT: Duration = Duration::from_secs(30);

/// How long after a failure the link is tried again.
const PAUSE: Duration = Duration::from_secs(2);

/// Says `MARK ready` once it has looked, and `MARK changed` for each difference. `mark` and a function `look` that prints
/// what is there come first.
///
/// Its output is how it learns that nobody listens any more, or the end of its input where a link closes nothing else
/// (an engine of containers).
const LOOP: &str = r#"
exec 3<&0 </dev/null
{ cat <&3; kill "$$"; } >/dev/null 2>&1 &
exec 3<&-
before=$(look)
echo "$mark ready"
count=0
while sleep 1 >/dev/null 2>&1; do
    now=$(look)
    if [ "$now" != "$before" ]; then echo "$mark changed"; before=$now; count=0; fi
    count=$((count + 1))
    [ "$count" -ge 20 ] && { echo; count=0; }
done
"#;

struct RemoteWatch {
    shells: Arc<Shells>,
    request: WatchRequest,
    /// Nothing while the link is down.
    running: Option<Running>,
}

/// What the loop says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// It has looked for the first time.
    Ready,
    /// Something is not as it was.
    Changed,
}

struct Running {
    dialogue: Dialogue,
    mark: String,
    heard: Vec<u8>,
}

/// Starts watching; what changes from now on is noticed.
pub(super) fn start(shells: &Arc<Shells>, request: &WatchRequest) -> Result<Box<dyn Watch>, WatchError> {
    let failed = |source: io::Error| WatchError { what: shells.line().name().to_owned(), source };
    let mut running = Running::start(shells, request).map_err(|error| failed(io::Error::other(error)))?;
    match running.next(shells, Word::Ready, Instant::now() + START_LIMIT) {
        Turn::Heard => {}
        Turn::Silent => return Err(failed(io::Error::new(io::ErrorKind::HostUnreachable, shells.silent()))),
        Turn::TimedOut => return Err(failed(io::ErrorKind::TimedOut.into())),
        Turn::Interrupted => return Err(failed(io::ErrorKind::Interrupted.into())),
        Turn::Closed => {
            let (_, said) = running.dialogue.last_words(Duration::from_secs(1));
            return Err(failed(io::Error::other(super::line::detail_of(&said))));
        }
    }
    Ok(Box::new(RemoteWatch { shells: shells.clone(), request: request.clone(), running: Some(running) }))
}

impl Running {
    fn start(shells: &Shells, request: &WatchRequest) -> Result<Self, ExecError> {
        let mark = random::hex32();
        let dialogue = shells.converse(&format!("mark={mark}\n{}{LOOP}", look(request)))?;
        Ok(Self { dialogue, mark, heard: Vec::new() })
    }

    /// Waits until the loop says this word.
    fn next(&mut self, shells: &Shells, word: Word, until: Instant) -> Turn {
        let said = match word {
            Word::Ready => "ready",
            Word::Changed => "changed",
        };
        let wanted = format!("{} {said}\n", self.mark).into_bytes();
        let heard = &mut self.heard;
        let mut hear = |bytes: &[u8]| {
            heard.extend_from_slice(bytes);
            let end = heard.windows(wanted.len()).rposition(|window| window == wanted);
            match end {
                Some(start) => {
                    heard.drain(..start + wanted.len());
                    Hearing::Enough
                }
                None => {
                    // The other side may say anything; only the beginning of the word can still be of use.
                    heard.drain(..heard.len().saturating_sub(wanted.len()));
                    Hearing::More
                }
            }
        };
        // More than was waited for may have come the last time.
        if hear(&[]) == Hearing::Enough {
            return Turn::Heard;
        }
        match word {
            Word::Ready => shells.listen(&mut self.dialogue, until, Stage::Unheard, &mut |bytes| {
                (hear(bytes), Stage::Unheard)
            }),
            // Nothing may happen for hours. The link itself notices its end.
            Word::Changed => self.dialogue.exchange(until, &mut hear),
        }
    }
}

/// The function that prints what is there: times and sizes of the entries, and the start of each process.
fn look(request: &WatchRequest) -> String {
    let folders = request.folders.iter().map(|folder| {
        let word = path_word(folder);
        format!("{word} {word}/* {word}/.[!.]*")
    });
    let folders: Vec<String> = folders.collect();
    let stat = match folders.is_empty() {
        true => String::new(),
        false => format!("stat -c '%n %i %s %Z %y' {} 2>/dev/null\n", folders.join(" ")),
    };
    let processes: String = request
        .processes
        .iter()
        .map(|id| {
            // What follows the name in brackets; the start is the twentieth of these words.
            let gone = sh_join([format!("{} is gone", id.pid)]);
            format!(
                "line=; read -r line </proc/{}/stat || :; set -- ${{line##*) }}; \
                 {{ [ \"${{20}}\" = {} ] && [ \"$1\" != Z ]; }} || echo {gone}\n",
                id.pid, id.start
            )
        })
        .collect();
    format!("look() {{\n{stat}{processes}:\n}} 2>/dev/null\n")
}

impl Watch for RemoteWatch {
    fn wait(&mut self, limit: Duration) -> Result<Wake, Interrupted> {
        interrupt::check()?;
        let until = moment_after(limit);
        loop {
            // What happened while the link was down is not known: that it is back is a change.
            let word = if self.running.is_some() { Word::Changed } else { Word::Ready };
            if self.running.is_none() {
                self.running = Running::start(&self.shells, &self.request).ok();
            }
            let running = self.running.as_mut();
            let turn = running.map_or(Turn::Closed, |running| running.next(&self.shells, word, until));
            if turn != Turn::Heard && word == Word::Ready || turn == Turn::Closed {
                self.running = None;
            }
            match turn {
                Turn::Heard => return Ok(Wake::Changed),
                Turn::Interrupted => return Err(Interrupted),
                Turn::TimedOut => return Ok(Wake::TimedOut),
                Turn::Closed | Turn::Silent => {
                    let left = until.saturating_duration_since(Instant::now());
                    interrupt::wait(left.min(PAUSE))?;
                    if left <= PAUSE {
                        return Ok(Wake::TimedOut);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mngr_model::HostPath;
    use mngr_model::process::ProcessId;

    use super::*;
    use crate::files::Files;
    use crate::local::LocalFiles;
    use crate::remote::testing::{ShellLine, all_kinds, with_shells};

    const LONG: Duration = Duration::from_secs(20);

    fn start_of(pid: u32) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().parse().unwrap()
    }

    #[test]
    fn new_and_changed_files_and_the_end_of_a_process_are_noticed() {
        for (line, shells) in all_kinds() {
            let folder = HostPath::new(line.root.path().join("it's a folder").to_str().unwrap());
            LocalFiles.make_folder(&folder).unwrap();
            let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
            let process = ProcessId { pid: child.id() as i32, start: start_of(child.id()) };
            let missing = folder.join("none");
            let request = WatchRequest { folders: vec![folder.clone(), missing], processes: vec![process] };
            let mut watch = start(&Arc::new(shells), &request).unwrap();
            assert_eq!(watch.wait(Duration::from_millis(1500)).unwrap(), Wake::TimedOut, "{:?}", line.root);
            for change in ["new", "more", "gone"] {
                match change {
                    "gone" => child.kill().and_then(|()| child.wait()).map(drop).unwrap(),
                    text => std::fs::write(folder.join(".file").as_str(), text.repeat(text.len())).unwrap(),
                }
                assert_eq!(watch.wait(LONG).unwrap(), Wake::Changed, "{change}");
            }
        }
    }

    #[test]
    fn a_change_that_is_told_together_with_the_beginning_is_not_lost() {
        let (line, shells) = with_shells(ShellLine::to("/bin/dash").with_suffix(" | { sleep 2.5; cat; }"));
        let folder = HostPath::new(line.root.path().to_str().unwrap());
        let request = WatchRequest { folders: vec![folder.clone()], processes: vec![] };
        let made = folder.join("made");
        let mut watch = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(800));
                std::fs::write(made.as_str(), "").unwrap();
            });
            start(&Arc::new(shells), &request).unwrap()
        });
        assert_eq!(watch.wait(Duration::from_millis(100)).unwrap(), Wake::Changed);
    }

    #[test]
    fn a_lost_link_is_waited_out_and_then_tried_again() {
        let (line, shells) = with_shells(ShellLine::to("/bin/dash").with_prefix("echo $$ >carrier; "));
        let folder = HostPath::new(line.root.path().to_str().unwrap());
        let request = WatchRequest { folders: vec![folder], processes: vec![] };
        let mut watch = start(&Arc::new(shells), &request).unwrap();
        let carrier = std::fs::read_to_string(line.root.path().join("carrier")).unwrap();
        crate::proc::run(&crate::proc::Cmd::new("kill").args(["-KILL", carrier.trim()])).unwrap();
        let started = Instant::now();
        assert_eq!(watch.wait(Duration::from_millis(1500)).unwrap(), Wake::TimedOut);
        assert!(started.elapsed() >= Duration::from_millis(1500));
        assert_eq!(watch.wait(LONG).unwrap(), Wake::Changed);
        assert!(started.elapsed() < LONG);
        assert_eq!(watch.wait(Duration::from_millis(10)).unwrap(), Wake::TimedOut);
    }
}
