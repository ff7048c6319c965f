//! Which command of mngr started a process: carried in the environment of what may outlive a command that is killed.
//!
//! The id names the machine, the process and when that started, so that whoever reads it can tell whether that command
//! still lives. One that cannot be told, because it ran on another machine, counts as alive.

use std::fmt;
use std::fs;
use std::sync::OnceLock;

use crate::local::procfs::{self, Stat};

/// The id of a running or dead command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandId(String);

impl CommandId {
    /// That of this process; `None` where the process table cannot be read.
    pub fn own() -> Option<&'static Self> {
        static OWN: OnceLock<Option<CommandId>> = OnceLock::new();
        OWN.get_or_init(|| {
            let own = Stat::read(i32::try_from(std::process::id()).ok()?).ok()??;
            Some(Self(format!("{}.{}.{}", machine()?, own.pid, own.start)))
        })
        .as_ref()
    }

    /// The id that a journal tells of. What cannot be one is none.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let is_one = text.len() < 200 && text.split('.').count() == 4 && text.chars().all(is_plain);
        is_one.then(|| Self(text.to_owned()))
    }

    /// As it stands in an environment or a journal.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it ran on this machine and is over.
    pub fn is_dead(&self) -> bool {
        self.is_over() == Some(true)
    }

    /// Whether it runs on this machine.
    pub fn is_alive(&self) -> bool {
        self.is_over() == Some(false)
    }

    /// Nothing where that cannot be told.
    fn is_over(&self) -> Option<bool> {
        let rest = self.0.strip_prefix(machine()?)?;
        let mut numbers = rest.strip_prefix('.').unwrap_or_default().split('.');
        let (pid, start) =
            (numbers.next().and_then(|n| n.parse().ok()), numbers.next().and_then(|n| n.parse().ok()));
        let (pid, start) = (pid?, start?);
        match Stat::read(pid) {
            Ok(Some(stat)) => Some(stat.is_gone() || !procfs::same_start(start, stat.start)),
            Ok(None) => Some(true),
            Err(_) => None,
        }
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The running boot, and the space in which the numbers of processes mean what they mean here.
fn machine() -> Option<&'static str> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    MACHINE
        .get_or_init(|| {
            let space = fs::read_link("/proc/self/ns/pid").ok()?;
            let space: String = space.to_str()?.chars().filter(char::is_ascii_digit).collect();
            Some(format!("{}.{space}", procfs::boot_id()?))
        })
        .as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_lives_until_its_process_is_gone_and_one_of_another_machine_is_never_called_dead() {
        let own = CommandId::own().unwrap();
        assert!(!own.is_dead() && own.is_alive());
        assert_eq!(CommandId::parse(own.as_str()).as_ref(), Some(own));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let start = Stat::read(child.id() as i32).unwrap().unwrap().start;
        let other = CommandId(format!("{}.{}.{start}", machine().unwrap(), child.id()));
        assert!(!other.is_dead());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(other.is_dead() && !other.is_alive());
        let elsewhere = CommandId(format!("elsewhere.1.{}.{start}", child.id()));
        assert!(!elsewhere.is_dead() && !elsewhere.is_alive());
        for text in ["", "a.b.c", "a.b.c.d\n", "a b.c.d.e"] {
            assert_eq!(CommandId::parse(text), None, "{text}");
        }
    }
}
