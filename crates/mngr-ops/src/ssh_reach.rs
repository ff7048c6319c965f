//! How a machine is reached by ssh without mngr, as scripts want to know it. Spawns nothing; reads the file of known keys.

use mngr_host::files::Files as _;
use mngr_host::host::Reach;
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use mngr_model::quote::sh_join;
use serde_json::{Value, json};

/// What the words of an ssh command say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshReach {
    /// The user there, where it is said.
    pub user: Option<String>,
    /// The machine.
    pub host: String,
    /// The port, where it is said.
    pub port: Option<u16>,
    /// The key that is used.
    pub key_path: Option<String>,
    /// The keys of machines that are believed.
    pub known_hosts_path: Option<String>,
    /// All of it, for a shell.
    pub command: String,
}

impl SshReach {
    /// What a way to a machine says; nothing where it is not ssh.
    pub fn of(reach: &Reach) -> Option<Self> {
        if reach.shell.first().is_none_or(|word| word != "ssh") {
            return None;
        }
        let after = |flag: &str| {
            let at = reach.shell.iter().position(|word| word == flag)?;
            reach.shell.get(at + 1).cloned()
        };
        let option = |name: &str| {
            let mut words = reach.shell.iter().map(|word| word.strip_prefix("-o").unwrap_or(word));
            let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
            Some(value.trim_matches('"').to_owned())
        };
        let (own_user, host) = match reach.name.split_once('@') {
            Some((user, host)) => (Some(user.to_owned()), host),
            None => (None, reach.name.as_str()),
        };
        Some(Self {
            user: after("-l").or(own_user),
            host: host.to_owned(),
            port: after("-p").and_then(|port| port.parse().ok()),
            key_path: after("-i").or_else(|| option("IdentityFile")),
            known_hosts_path: option("UserKnownHostsFile"),
            command: sh_join(reach.shell.iter().chain([&reach.name])),
        })
    }

    /// The public keys that the file of known keys has for it, as `TYPE KEY`.
    pub fn host_public_keys(&self) -> Vec<String> {
        let Some(path) = &self.known_hosts_path else { return Vec::new() };
        let text = LocalFiles.read_text(&HostPath::new(path)).unwrap_or_default();
        keys_in(&text, &self.host, self.port)
    }

    /// The field `ssh` of a host.
    pub fn record(&self) -> Value {
        json!({
            "user": self.user,
            "host": self.host,
            "port": self.port,
            "key_path": self.key_path,
            "known_hosts_path": self.known_hosts_path,
            "host_public_keys": self.host_public_keys(),
            "command": self.command,
        })
    }
}

fn keys_in(text: &str, host: &str, port: Option<u16>) -> Vec<String> {
    let with_port = port.map(|port| format!("[{host}]:{port}"));
    let is_it = |name: &str| name == host || Some(name) == with_port.as_deref();
    let lines = text.lines().filter_map(|line| {
        let (names, key) = line.split_once(' ')?;
        names.split(',').any(is_it).then(|| key.split(' ').take(2).collect::<Vec<_>>().join(" "))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_command_say_how_a_machine_is_reached() {
        let words =
            ["ssh", "-o", "UserKnownHostsFile=/k/known", "-oIdentityFile=/k/id", "-l", "me", "-p", "2222"];
        let shell = words.map(str::to_owned).to_vec();
        let ssh = SshReach::of(&Reach { shell, name: "box".to_owned() }).unwrap();
        assert_eq!((ssh.user.as_deref(), ssh.host.as_str(), ssh.port), (Some("me"), "box", Some(2222)));
        assert_eq!(ssh.known_hosts_path.as_deref(), Some("/k/known"));
        assert_eq!(ssh.key_path.as_deref(), Some("/k/id"));
        let other = Reach { shell: vec!["docker".to_owned()], name: "box".to_owned() };
        assert_eq!(SshReach::of(&other), None);
    }

    #[test]
    fn only_the_keys_of_the_machine_itself_are_shown() {
        let text = "box ssh-ed25519 AAA me\n[box]:22 ssh-rsa BBB\nother ssh-rsa CCC\n";
        assert_eq!(keys_in(text, "box", Some(22)), ["ssh-ed25519 AAA", "ssh-rsa BBB"]);
        assert_eq!(keys_in(text, "box", None), ["ssh-ed25519 AAA"]);
    }
}
