//! Reading Linux's process table. No process is spawned, and nothing is held open.

use std::fs;
use std::io::{self, Read};
use std::sync::OnceLock;

use jiff::Timestamp;
use mngr_model::facts::{ProcessFact, Terminal};
use mngr_model::process::ProcessId;
use rustix::process::Signal;

/// Clock ticks per second in `/proc`: fixed at 100 for user space on every Linux architecture.
const TICKS_PER_SECOND: u64 = 100;

/// The part of `/proc/<pid>/stat` that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) pid: i32,
    pub(crate) state: u8,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) terminal: i32,
    pub(crate) foreground_group: i32,
    pub(crate) start: u64,
}

impl Stat {
    /// Reads one process; `None` when there is none.
    pub(crate) fn read(pid: i32) -> io::Result<Option<Self>> {
        let mut buffer = [0_u8; 1024];
        let read = fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut buffer));
        match read {
            Ok(count) => Ok(Self::parse(pid, &buffer[..count])),
            // ESRCH: it ended between open and read.
            Err(error) if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(3) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The name of the program may hold spaces and parentheses, so fields are counted from the last `)`.
    pub(crate) fn parse(pid: i32, bytes: &[u8]) -> Option<Self> {
        let after_name = bytes.iter().rposition(|byte| *byte == b')')? + 2;
        let rest = std::str::from_utf8(bytes.get(after_name..)?).ok()?;
        let mut fields = rest.split(' ');
        let state = *fields.next()?.as_bytes().first()?;
        let mut number = || fields.next()?.parse::<i64>().ok();
        let (parent, group, _session) = (number()? as i32, number()? as i32, number()?);
        let (terminal, foreground_group) = (number()? as i32, number()? as i32);
        // Fields 9 to 21 lie between the foreground group and the start time.
        let start = fields.nth(13)?.parse().ok()?;
        Some(Self { pid, state, parent, group, terminal, foreground_group, start })
    }

    /// Which process it is.
    pub(crate) fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, start: self.start }
    }

    /// A zombie is gone: it runs nothing and holds nothing.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// What the table says of a recorded process.
pub(crate) fn look_up(id: Option<ProcessId>) -> ProcessFact {
    let Some(id) = id else { return ProcessFact::NotRecorded };
    match Stat::read(id.pid) {
        Ok(stat) => fact(id, stat),
        Err(_) => ProcessFact::Unreadable,
    }
}

/// What a line of the table means for a recorded process.
pub(crate) fn fact(id: ProcessId, found: Option<Stat>) -> ProcessFact {
    match found {
        Some(stat) if stat.is_gone() || !same_start(id.start, stat.start) => ProcessFact::Gone,
        Some(stat) => ProcessFact::Alive {
            parent: stat.parent,
            group: stat.group,
            suspended: matches!(stat.state, b'T' | b't'),
            // A terminal whose other end is gone shows as 0.
            terminal: (stat.terminal != 0).then_some(Terminal { foreground_group: stat.foreground_group }),
        },
        None => ProcessFact::Gone,
    }
}

/// Whether the process of that number is the recorded one. Without a recorded start nothing can be told apart.
pub(crate) fn same_start(recorded: u64, found: u64) -> bool {
    recorded == found
}

/// All processes.
pub(crate) fn all() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Stat::read(pid).ok().flatten())
        .collect()
}

/// Room for most environments.
const ENVIRON_ROOM: usize = 32 << 10;

/// Whether the process was started with `NAME=value` in its environment.
pub(crate) fn has_env(pid: i32, pair: &str) -> bool {
    let Ok(mut file) = fs::File::open(format!("/proc/{pid}/environ")) else { return false };
    // The file has no length, and growing with it would take many small reads.
    let mut environ = Vec::with_capacity(ENVIRON_ROOM);
    if file.read_to_end(&mut environ).is_err() {
        return false;
    }
    environ.split(|byte| *byte == 0).any(|entry| entry == pair.as_bytes())
}

/// The words a process was started with; nothing of one that is gone.
pub(crate) fn command_line(pid: i32) -> Option<String> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&words).replace('\0', " "))
}

/// Whether the process has told the kernel to drop that signal.
pub(crate) fn ignores(pid: i32, signal: Signal) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask & (1 << (signal.as_raw() - 1)) != 0
}

/// The id of the running boot.
pub(crate) fn boot_id() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    BOOT.get_or_init(|| {
        let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(text.trim().to_owned())
    })
    .as_deref()
}

/// When the machine booted.
pub(crate) fn booted_at() -> Option<Timestamp> {
    static BOOTED: OnceLock<Option<Timestamp>> = OnceLock::new();
    *BOOTED.get_or_init(|| {
        let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let nanos = i128::from(uptime.tv_sec) * 1_000_000_000 + i128::from(uptime.tv_nsec);
        Timestamp::from_nanosecond(Timestamp::now().as_nanosecond() - nanos).ok()
    })
}

/// When a process with that start value started.
pub(crate) fn started_at(start: u64) -> Option<Timestamp> {
    started_since(booted_at()?, start)
}

/// The same on a machine that booted then.
pub(crate) fn started_since(booted_at: Timestamp, start: u64) -> Option<Timestamp> {
    let millis = i64::try_from(start.checked_mul(1000)? / TICKS_PER_SECOND).ok()?;
    booted_at.checked_add(jiff::SignedDuration::from_millis(millis)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let line = b"42 (a) R (b) S 1 42 42 34816 43 4194304 1 2 3 4 5 6 7 8 20 0 1 0 777 1000 1\n";
        let stat = Stat::parse(42, line).unwrap();
        assert_eq!((stat.parent, stat.group, stat.foreground_group, stat.start), (1, 42, 43, 777));
    }

    #[test]
    fn our_own_process_lives_and_a_reused_number_is_gone() {
        let pid = std::process::id() as i32;
        let start = Stat::read(pid).unwrap().unwrap().start;
        assert!(look_up(Some(ProcessId { pid, start })).is_alive());
        assert_eq!(look_up(Some(ProcessId { pid, start: start + 1 })), ProcessFact::Gone);
        let started = started_at(start).unwrap();
        let age = Timestamp::now().duration_since(started);
        assert!((-1..3600).contains(&age.as_secs()), "{age:?}");
    }

    #[test]
    fn a_zombie_is_gone() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        let start = Stat::read(pid).unwrap().unwrap().start;
        while Stat::read(pid).unwrap().is_some_and(|stat| stat.state != b'Z') {
            std::thread::yield_now();
        }
        assert_eq!(look_up(Some(ProcessId { pid, start })), ProcessFact::Gone);
        child.wait().unwrap();
    }
}
