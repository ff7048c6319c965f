//! Hosts that are other machines: what they need, and whether this machine can have them.

use std::path::{Path, PathBuf};
use std::process::Command;

use mngr_testkit::TestEnv;

use crate::bench::error::BenchError;
use crate::bench::fleet::succeeded;

/// Why another machine cannot be played here; nothing where it can.
pub(crate) fn obstacle(program: &str) -> Option<&'static str> {
    if !rustix::process::getuid().is_root() {
        return Some("it needs root");
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&folders)
        .chain([PathBuf::from("/usr/sbin")])
        .any(|folder| folder.join(program).is_file());
    (!is_there).then_some("its server is not installed")
}

/// Sets a key of the provider `lab`.
pub(crate) fn set(env: &TestEnv, key: &str, value: &str) -> Result<(), BenchError> {
    succeeded(&env.mngr(["config", "set", "--scope", "user", &format!("providers.lab.{key}"), value]))
}

/// `create` of an agent that sleeps, at that address.
pub(crate) fn create(env: &TestEnv, address: &str, options: &[&str]) -> Command {
    let mut command = env.mngr_cmd();
    command.args(["create", address, "--type", "command", "--no-connect"]).args(options);
    command.args(["--", "sleep", "100000"]);
    command
}

/// The sockets of all connections that mngr keeps open.
pub(crate) fn masters(env: &TestEnv) -> Vec<PathBuf> {
    fn look(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => look(&entry.path(), found),
                Ok(_) if entry.file_name() == "c" => found.push(entry.path()),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    look(env.root(), &mut found);
    found
}

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
