//! The peak memory of a process that is too short-lived to be watched.
//!
//! It is made to wait: its output goes into a pipe of one page, so that it cannot end before we have read what
//! it printed, and between two reads the kernel tells its high-water mark.

use std::fs;
use std::io::{Read, pipe};
use std::process::{Command, Stdio};

use super::error::BenchError;
use super::measure::{ended_badly, not_started};

/// One page, the least a pipe can hold.
const PIPE_BYTES: usize = 4096;

/// The most memory a command had resident, in KiB. Its output has to be longer than a page.
pub(crate) fn peak_kib(command: &mut Command) -> Result<u64, BenchError> {
    let (mut reader, writer) = pipe().map_err(|source| not_started(command, source))?;
    // Before the start: a command with little to say could be done by the time the pipe is made smaller. Where
    // it cannot be made smaller, the figure is only taken earlier.
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
    command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|source| not_started(command, source))?;
    // Our own copy of the writing end would keep the pipe open after the command's end.
    command.stdout(Stdio::null());
    let mut peak = 0;
    let mut page = [0; PIPE_BYTES];
    while reader.read(&mut page).is_ok_and(|read| read > 0) {
        peak = peak.max(high_water_kib(child.id()).unwrap_or(0));
    }
    let status = child.wait().map_err(|source| not_started(command, source))?;
    if status.success() { Ok(peak) } else { Err(ended_badly(command, status)) }
}

/// The most memory a process has had resident so far.
pub(crate) fn high_water_kib(pid: u32) -> Option<u64> {
    of_status(pid, "VmHWM:")
}

/// The memory a process has resident.
pub(crate) fn resident_kib(pid: u32) -> Option<u64> {
    of_status(pid, "VmRSS:")
}

fn of_status(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_holds_more_memory_has_the_higher_peak() {
        let small = peak_kib(Command::new("seq").args(["1", "5000"])).unwrap();
        // `sort` reads everything before it prints anything.
        let large =
            peak_kib(Command::new("sh").args(["-c", "exec sort <<end\n$(seq 1 300000)\nend"])).unwrap();
        assert!(small > 100, "{small} KiB");
        assert!(large > small + 5000, "{small} and {large} KiB");
    }

    #[test]
    fn a_failing_command_has_no_peak() {
        assert!(matches!(peak_kib(&mut Command::new("false")), Err(BenchError::Failed(_))));
    }
}
