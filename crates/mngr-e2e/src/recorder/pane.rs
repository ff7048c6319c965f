//! Recording the pane an agent works in.
//!
//! The recording begins with what the pane shows at that moment and follows what it prints until the pane is gone or
//! somebody says stop. Keys typed by viewers cannot be seen from here. Budget: two tmux processes and one `sh` with one `dd`
//! to begin, one tmux process to end; none while it runs.

use std::fmt::Write;
use std::time::{Duration, Instant};

use mngr_host::clock::Clock;
use mngr_host::files::Files;
use mngr_host::host::{Host, WatchRequest};
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_host::pty::TerminalSize;
use mngr_host::tmux::{AgentPane, PaneSnapshot, Tmux};
use mngr_host::watch::Watch;
use mngr_model::HostPath;

use super::error::RecordError;
use super::file::{CastFile, CastOptions, Recorded};
use super::spool::{GAP_LABEL, Spool, SpoolLimits, Taken, Why};

/// How often the pane's size is looked at while it prints nothing.
const LOOK: Duration = Duration::from_millis(250);
/// After each reading a moment's rest: a flood becomes few large events instead of many small ones, and times are right
/// to this.
const REST: Duration = Duration::from_millis(5);
/// How long the last bytes may take to come once the pipe is closed.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// Which pane, and where things are.
pub struct PaneSource<'a> {
    /// The host of the pane.
    pub host: &'a dyn Host,
    /// Its tmux server.
    pub tmux: Tmux<'a>,
    /// The pane.
    pub pane: AgentPane,
    /// Its terminal, as that host names it.
    pub tty: HostPath,
    /// A folder on that host for what is on its way; it is made and removed.
    pub folder: HostPath,
    /// How much may be on its way.
    pub limits: SpoolLimits,
}

/// A pane that is being recorded.
pub struct PaneRecorder<'a> {
    source: PaneSource<'a>,
    file: CastFile<'a>,
    spool: Spool<'a>,
    watch: Box<dyn Watch>,
    size: TerminalSize,
    _lock: HostLock,
}

impl<'a> PaneRecorder<'a> {
    /// Begins: from here on nothing the pane prints is missed.
    ///
    /// # Errors
    /// When somebody else records the pane, its output goes elsewhere, or the file cannot be made.
    pub fn start(
        source: PaneSource<'a>,
        files: &'a dyn Files,
        clock: &dyn Clock,
        path: &HostPath,
        options: &CastOptions,
    ) -> Result<Self, RecordError> {
        let lock = lock(&source)?;
        let host_files = source.host.files();
        // With the lock in hand, a pipe into this folder is one a killed recorder has left.
        let is_left_over = host_files.exists(&source.folder)?;
        if !is_left_over && source.tmux.has_pipe(&source.pane)? {
            return Err(RecordError::Piped { pane: source.pane.id().to_string() });
        }
        if is_left_over {
            // The script at its end would go on filling the folder. A pane without a pipe has nothing to close.
            source.tmux.close_pipe(&source.pane)?;
            host_files.remove_tree(&source.folder)?;
        }
        let spool = Spool::make(host_files, &source.folder, source.limits)?;
        let watch = watch(&source, &spool)?;
        let snapshot = source.tmux.open_pipe(&source.pane, &spool.shell_line())?;
        let begun = CastFile::create(files, clock, path, snapshot.size, options).and_then(|mut file| {
            file.output(paint(&snapshot).as_bytes())?;
            Ok(file)
        });
        let file = begun.inspect_err(|_| {
            // Nobody will read it.
            let _ = source.tmux.close_pipe(&source.pane);
            let _ = host_files.remove_tree(&source.folder);
        })?;
        Ok(Self { source, file, spool, watch, size: snapshot.size, _lock: lock })
    }

    /// Records until the pane is gone, or until `is_over` says so, which is asked several times a second; an interrupt is an
    /// end like any other.
    ///
    /// # Errors
    /// When the recording cannot go on. What is there can be played.
    pub fn run(mut self, mut is_over: impl FnMut() -> bool) -> Result<Recorded, RecordError> {
        let followed = match self.follow(&mut is_over) {
            // It came in the middle of a step, which another machine makes long: that is no failure.
            Err(_) if interrupt::check().is_err() => Ok(()),
            other => other,
        };
        // An interrupt was an order to end, not to leave the pipe open.
        let _shield = interrupt::shield();
        let host_files = self.source.host.files();
        // A pane that is gone has no pipe, and a server that is gone no answer.
        let _ = self.source.tmux.close_pipe(&self.source.pane);
        let drained = followed.and_then(|()| self.drain());
        let removed = self.spool.remove().and_then(|()| host_files.remove_tree(&self.source.folder));
        drained?;
        removed?;
        self.file.finish(None)
    }

    fn follow(&mut self, is_over: &mut impl FnMut() -> bool) -> Result<(), RecordError> {
        loop {
            let woken = self.watch.wait(LOOK);
            self.follow_size()?;
            match self.take_all()? {
                Flow::Open => {}
                Flow::Ended(Why::Closed) => return Ok(()),
                Flow::Ended(Why::Full) => self.reopen()?,
                Flow::Ended(Why::Failed) => {
                    let (pane, folder) = (self.source.pane.id().to_string(), self.spool.folder().clone());
                    return Err(RecordError::NoSpool { pane, folder });
                }
            }
            if is_over() || matches!(woken, Err(Interrupted)) {
                return Ok(());
            }
            std::thread::sleep(REST);
        }
    }

    /// Takes what is there.
    fn take_all(&mut self) -> Result<Flow, RecordError> {
        loop {
            match self.spool.take()? {
                Taken::Bytes(bytes) => drop(self.file.output(&bytes)?),
                Taken::Nothing => return Ok(Flow::Open),
                Taken::End(why) => return Ok(Flow::Ended(why)),
            }
        }
    }

    /// Takes what is still on its way after the pipe was closed.
    fn drain(&mut self) -> Result<(), RecordError> {
        let closed = Instant::now();
        while self.take_all()? == Flow::Open && closed.elapsed() < LAST_BYTES {
            std::thread::sleep(REST);
        }
        Ok(())
    }

    fn follow_size(&mut self) -> Result<(), RecordError> {
        // A terminal that is gone has no size; the end of the spool tells the rest.
        let Ok(size) = self.source.host.terminal_size(&self.source.tty) else { return Ok(()) };
        if size != self.size && size.cols > 0 && size.rows > 0 {
            self.size = size;
            self.file.resize(size)?;
        }
        Ok(())
    }

    /// We were held up too long: what was printed since the files were full is lost. Goes on with what the pane shows.
    fn reopen(&mut self) -> Result<(), RecordError> {
        let next = Spool::make(self.source.host.files(), &self.source.folder, self.source.limits)?;
        std::mem::replace(&mut self.spool, next).remove()?;
        self.watch = watch(&self.source, &self.spool)?;
        let snapshot = match self.source.tmux.open_pipe(&self.source.pane, &self.spool.shell_line()) {
            Ok(snapshot) => snapshot,
            // It went away meanwhile. What is lost is lost all the same.
            Err(error) if error.is_gone() => {
                self.file.gap(GAP_LABEL)?;
                return Ok(self.spool.close()?);
            }
            Err(error) => return Err(error.into()),
        };
        self.file.gap(GAP_LABEL)?;
        if snapshot.size != self.size {
            self.size = snapshot.size;
            self.file.resize(snapshot.size)?;
        }
        self.file.output(paint(&snapshot).as_bytes())?;
        Ok(())
    }
}

/// Whether more can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Open,
    Ended(Why),
}

/// Whether a recorder is at the pane whose output goes through this folder.
///
/// # Errors
/// When the host cannot say.
pub fn is_recorded(host: &dyn Host, folder: &HostPath) -> Result<bool, LockError> {
    match host.lock(&lock_path(folder), LockWait::Try) {
        Ok(_) => Ok(false),
        Err(LockError::Held { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn lock(source: &PaneSource<'_>) -> Result<HostLock, RecordError> {
    source.host.lock(&lock_path(&source.folder), LockWait::Try).map_err(|error| match error {
        LockError::Held { .. } => RecordError::Busy(error),
        other => RecordError::Lock(other),
    })
}

fn lock_path(folder: &HostPath) -> HostPath {
    HostPath::new(format!("{folder}.lock"))
}

fn watch(source: &PaneSource<'_>, spool: &Spool<'_>) -> Result<Box<dyn Watch>, RecordError> {
    let request = WatchRequest { folders: vec![spool.folder().clone()], processes: Vec::new() };
    Ok(source.host.watch(&request)?)
}

/// What to print to a terminal of the pane's size to make it show what the pane shows.
fn paint(snapshot: &PaneSnapshot) -> String {
    let mut text = String::new();
    if snapshot.is_alternate {
        text.push_str("\u{1b}[?1049h");
    }
    text.push_str("\u{1b}[0m\u{1b}[H\u{1b}[2J");
    for (row, line) in snapshot.rows.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        // A row that is full would wrap into the next one.
        let _ = write!(text, "\u{1b}[{};1H{line}", row + 1);
    }
    let (x, y) = snapshot.cursor;
    let _ = write!(text, "\u{1b}[0m\u{1b}[{};{}H", y + 1, x + 1);
    if !snapshot.has_cursor {
        text.push_str("\u{1b}[?25l");
    }
    text
}

#[cfg(test)]
mod tests;
