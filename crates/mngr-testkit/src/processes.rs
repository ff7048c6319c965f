//! Finding processes by a variable in the environment they were started with, or by their parent.
//!
//! Reads `/proc` and spawns nothing. Where there is no `/proc` it finds nothing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{Pid, Signal, kill_process};

/// The ids of all living processes that were started with `name=value`.
///
/// A zombie is not among them: its environment is gone.
pub fn processes_with_variable(name: &str, value: impl AsRef<OsStr>) -> Vec<u32> {
    let wanted = [name.as_bytes(), b"=", value.as_ref().as_bytes()].concat();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| started_with(*pid, &wanted))
        .collect()
}

fn started_with(pid: u32, wanted: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable == wanted))
}

/// The children of a process that live in the same namespace as we do or in one below.
pub(crate) fn children(of: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(of)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
}

/// Signals a process, if there is one and it lives.
pub(crate) fn signal(pid: Option<u32>, signal: Signal) {
    if let Some(pid) = pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::time::Duration;

    use super::*;
    use crate::wait_until;

    struct Sleeper(Child);

    impl Sleeper {
        fn with_variable(name: &str, value: &str) -> Self {
            Self(Command::new("sleep").arg("100").env(name, value).spawn().unwrap())
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn finds_the_process_with_exactly_this_value() {
        let value = format!("value-{}", std::process::id());
        let same = Sleeper::with_variable("TESTKIT_PROBE", &value);
        let _longer = Sleeper::with_variable("TESTKIT_PROBE", &format!("{value}-and-more"));
        let _other_name = Sleeper::with_variable("TESTKIT_PROBE_2", &value);
        assert!(wait_until(Duration::from_secs(5), || {
            processes_with_variable("TESTKIT_PROBE", &value) == [same.0.id()]
        }));
    }
}
