//! A line over the system's `ssh`, with one connection that all its commands share and that outlives us.
//!
//! What is not said here is as the user configured it: jump hosts, agents, files of known keys. A host key that nobody
//! knows is refused, whatever is configured, and no question is ever asked.

mod forward;
mod sockets;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use mngr_model::HostPath;

use super::line::{Line, Terminal};
use crate::files::{Access, Durability, Files, FilesError};
use crate::local::LocalFiles;
use crate::lock::LockError;
use crate::proc::{Cmd, ExecError, Exit};

pub use sockets::dead_sockets;

/// How long a connection stays open after its last use.
const PERSIST_SECONDS: u32 = 600;
/// How long a new connection may take.
const CONNECT_SECONDS: u32 = 10;
/// A connection is asked this often whether it lives, and given up after [`ALIVE_COUNT`] questions without an answer.
const ALIVE_SECONDS: u32 = 5;
const ALIVE_COUNT: u32 = 2;
/// What `ssh` returns when it speaks of itself.
const OWN_FAILURE: Exit = Exit::Code(255);
/// The longest socket name that every system takes, less what ssh adds to it while it binds.
const SOCKET_NAME_LIMIT: usize = 104 - 18;
/// The name under which pinned keys are looked up, whatever the address is.
const PINNED_NAME: &str = "mngr-pinned";

/// A machine that is reached by ssh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SshTarget {
    /// Its name, for messages.
    pub name: String,
    /// A host name, an address, or a `Host` of the user's ssh config.
    pub address: String,
    /// The user there, unless the ssh config says.
    pub user: Option<String>,
    /// The port, unless the ssh config says.
    pub port: Option<u16>,
    /// The private key, unless the ssh config or the agent has it.
    pub key_file: Option<HostPath>,
    /// The keys the machine may have (`ssh-ed25519 AAAA...`). None: the user's own `known_hosts` decides.
    pub host_keys: Vec<String>,
    /// A file of the keys machines may have, in place of the user's own.
    pub known_hosts_file: Option<HostPath>,
    /// An ssh config in place of the user's.
    pub config_file: Option<HostPath>,
    /// Further options as ssh spells them (`ProxyJump=gate`).
    pub options: Vec<String>,
}

/// The line cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// The address could be taken for an option or for several words.
    #[error("`{address}` is not an address of an ssh host")]
    BadAddress {
        /// The address.
        address: String,
    },
    /// What was given as a host key is none.
    #[error("`{line}` is not an ssh host key; it looks like `ssh-ed25519 AAAA...`")]
    BadHostKey {
        /// What was given.
        line: String,
    },
    /// A socket there cannot be brought here.
    #[error("the socket `{socket}` of `{name}` cannot be forwarded: {detail}")]
    Forward {
        /// The machine.
        name: String,
        /// The path of the socket there.
        socket: String,
        /// What ssh said.
        detail: String,
    },
    /// ssh itself cannot be run.
    #[error("the connection to `{name}` cannot be opened")]
    Exec {
        /// The machine.
        name: String,
        /// Why.
        #[source]
        source: ExecError,
    },
    /// Somebody else holds the connection's files.
    #[error("the connection to `{name}` is being set up by another mngr")]
    Busy {
        /// The machine.
        name: String,
        /// Why.
        #[source]
        source: LockError,
    },
    /// The folder for the connection cannot be made.
    #[error("the files of the connection to `{name}` cannot be written")]
    Files {
        /// The machine.
        name: String,
        /// Why.
        #[source]
        source: FilesError,
    },
}

/// A line over ssh.
#[derive(Debug, Clone)]
pub struct SshLine {
    target: SshTarget,
    options: Vec<String>,
    /// Private; holds the connection.
    folder: HostPath,
}

impl SshLine {
    /// A line whose connection and pinned keys are kept in a private folder below `folder` of this machine. Nothing is
    /// connected yet.
    ///
    /// # Errors
    /// When the address or a key is none, or the folder cannot be written.
    pub fn open(target: SshTarget, folder: &HostPath) -> Result<Self, SshError> {
        check_address(&target.address)?;
        let files_error = |source| SshError::Files { name: target.name.clone(), source };
        let keys = target.host_keys.iter().map(|line| known_host(line)).collect::<Result<Vec<_>, _>>()?;
        LocalFiles.make_folder(folder).map_err(files_error)?;
        let private = folder.join(&digest(&target));
        match LocalFiles.make_new_folder(&private, Access::Private) {
            Err(error) if !error.is_taken() => return Err(files_error(error)),
            _ => {}
        }
        // Of several values ssh takes the first.
        let mut options = vec![
            "BatchMode=yes".to_owned(),
            // A command in the user's config would take the place of ours.
            "RemoteCommand=none".to_owned(),
            "PermitLocalCommand=no".to_owned(),
            // Whatever the user's config says: nothing is run on a machine whose key was not known before.
            "StrictHostKeyChecking=yes".to_owned(),
            "UpdateHostKeys=no".to_owned(),
        ];
        options.extend(sharing(&private));
        if !keys.is_empty() {
            let file = private.join("known_hosts");
            let text = keys.concat();
            if LocalFiles.read_if_there(&file).map_err(files_error)?.as_deref() != Some(text.as_bytes()) {
                LocalFiles
                    .write(&file, text.as_bytes(), Access::Private, Durability::Cached)
                    .map_err(files_error)?;
            }
            options.extend([
                format!("UserKnownHostsFile={}", option_path(&file)),
                "GlobalKnownHostsFile=/dev/null".to_owned(),
                format!("HostKeyAlias={PINNED_NAME}"),
            ]);
        }
        if let Some(file) = target.known_hosts_file.as_ref().filter(|_| keys.is_empty()) {
            options.extend([
                format!("UserKnownHostsFile={}", option_path(file)),
                "GlobalKnownHostsFile=/dev/null".to_owned(),
            ]);
        }
        if let Some(key) = &target.key_file {
            options.extend([format!("IdentityFile={}", option_path(key)), "IdentitiesOnly=yes".to_owned()]);
        }
        options.extend(target.options.iter().cloned());
        options.extend([
            format!("ConnectTimeout={CONNECT_SECONDS}"),
            format!("ServerAliveInterval={ALIVE_SECONDS}"),
            format!("ServerAliveCountMax={ALIVE_COUNT}"),
        ]);
        Ok(Self { target, options, folder: private })
    }

    /// The words before the address.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["ssh".to_owned()];
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let Some(file) = &self.target.config_file {
            add("-F", file.to_string());
        }
        for option in &self.options {
            add("-o", option.clone());
        }
        if let Some(user) = &self.target.user {
            add("-l", user.clone());
        }
        if let Some(port) = self.target.port {
            add("-p", port.to_string());
        }
        words
    }
}

impl Line for SshLine {
    fn name(&self) -> &str {
        &self.target.name
    }

    fn command(&self, line: &str, terminal: Terminal) -> Cmd {
        let terminal = match terminal {
            Terminal::None => "-T",
            Terminal::Ours => "-tt",
        };
        Cmd::from_words(self.words()).args([terminal, "--", &self.target.address, line])
    }

    fn is_broken_by(&self, exit: Exit) -> bool {
        exit == OWN_FAILURE || matches!(exit, Exit::Signal(_))
    }

    fn copy_shell(&self) -> Vec<String> {
        self.words()
    }

    fn copy_name(&self) -> String {
        // A colon ends the name of the machine.
        let address = &self.target.address;
        if address.contains(':') { format!("[{address}]") } else { address.clone() }
    }
}

/// One connection for all commands; none is shared where the name of its socket would be too long.
fn sharing(private: &HostPath) -> Vec<String> {
    let socket = private.join("c");
    if socket.as_str().len() > SOCKET_NAME_LIMIT {
        return vec!["ControlMaster=no".to_owned(), "ControlPath=none".to_owned()];
    }
    vec![
        "ControlMaster=auto".to_owned(),
        format!("ControlPath={}", option_path(&socket)),
        format!("ControlPersist={PERSIST_SECONDS}"),
    ]
}

/// A path as a value of an option: ssh splits words and replaces `%` in it.
fn option_path(path: &HostPath) -> String {
    format!("\"{}\"", path.as_str().replace('%', "%%"))
}

/// What tells one connection from another: a changed setting must not be met with an old connection.
fn digest(target: &SshTarget) -> String {
    let mut hasher = DefaultHasher::new();
    target.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn check_address(address: &str) -> Result<(), SshError> {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "'\"`$\\;&<>|(){}".contains(c);
    if address.is_empty() || address.starts_with('-') || address.contains(is_odd) {
        return Err(SshError::BadAddress { address: address.to_owned() });
    }
    Ok(())
}

/// A line of `known_hosts` for a key; one that already has names in front gets ours.
fn known_host(line: &str) -> Result<String, SshError> {
    let is_kind = |word: &&str| ["ssh-", "ecdsa-", "sk-"].iter().any(|prefix| word.starts_with(prefix));
    let is_key = |word: &&str| {
        word.len() > 16 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let found = words.iter().take(2).position(is_kind).and_then(|at| Some((words[at], *words.get(at + 1)?)));
    match found.filter(|(_, key)| is_key(key)) {
        Some((kind, key)) => Ok(format!("{PINNED_NAME} {kind} {key}\n")),
        None => Err(SshError::BadHostKey { line: line.to_owned() }),
    }
}

#[cfg(test)]
mod tests;
