//! `[providers.<name>]`: where agents can run.
//!
//! What every provider has and what the local one needs is typed; the keys of the other backends are known by
//! name and kind and kept in `extra` for the crate that speaks to that backend.

use std::collections::BTreeMap;

use super::duration::DurationSetting;
use crate::declare::{choice, settings_table};
use crate::kind::{Field, Kind, SettingType};

/// The backend that runs agents on this machine.
pub const LOCAL_BACKEND: &str = "local";

/// Backends whose keys are known here. The settings of any other are let through unread.
const KNOWN_BACKENDS: &[&str] = &[LOCAL_BACKEND, "docker", "ssh"];

/// Backends of other versions that often have a section named after them and no `backend` key.
const FOREIGN_SECTIONS: &[&str] = &["modal", "lima"];

settings_table! {
    /// `[providers.<name>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct ProviderSettings {
        /// What the provider is built on: `local`, `docker`, `ssh`; the section's name when absent.
        pub backend: Option<String>,
        /// The plugin the backend belongs to.
        pub plugin: Option<String>,
        /// Whether the provider is used; it is unless this says otherwise.
        pub is_enabled: Option<bool>,
        /// Directory of mngr's state on the provider's hosts.
        pub host_dir: Option<String>,
        /// Accepted for older settings files; has no effect: the log is on the machine where mngr is run.
        pub host_log_dir: Option<String>,
        /// Accepted for older settings files; has no effect: a host that is destroyed leaves no record.
        pub destroyed_host_persisted_seconds: Option<f64>,
        /// Accepted for older settings files; has no effect: a host stops when its last agent goes.
        pub min_online_host_age_seconds: Option<f64>,
        /// Accepted for older settings files; has no effect: `list --watch` and `observe` have one pace for all.
        pub discovery_poll_interval_seconds: Option<f64>,
        /// Accepted for older settings files; has no effect: see `host_discovery_timeout_seconds`.
        pub discovery_warn_seconds: Option<f64>,
        /// Accepted for older settings files; has no effect: see `host_discovery_timeout_seconds`.
        pub discovery_error_timeout_seconds: Option<f64>,
        /// Seconds one host may take to answer a listing. A host that is silent for twice as long, but at least 3 s, is given up
        /// by every command.
        pub host_discovery_timeout_seconds: Option<f64>,
        /// Accepted for older settings files; has no effect: a host answers for all its agents at once.
        pub agent_discovery_timeout_seconds: Option<f64>,
        ..RefusedUnlessForeignBackend + BACKEND_FIELDS, "Settings of one backend, checked for their kind but not interpreted here."
    }
}

impl ProviderSettings {
    /// Whether the provider is used.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.unwrap_or(true)
    }

    /// The backend of the section called `name`.
    pub fn backend<'s>(&'s self, name: &'s str) -> &'s str {
        self.backend.as_deref().unwrap_or(name)
    }
}

settings_table! {
    /// `[providers.<name>.hosts.<host>]`: one machine of an `ssh` provider.
    pub struct SshHostSettings {
        /// Name or address of the machine.
        pub address: Option<String>,
        /// Port of its ssh server.
        pub port: Option<u16>,
        /// User to log in as.
        pub user: Option<String>,
        /// Private key to log in with.
        pub key_file: Option<String>,
        /// File with the host keys to trust.
        pub known_hosts_file: Option<String>,
        /// Host keys to trust, and no others, as in `ssh-ed25519 AAAA...`.
        pub host_keys: Option<Vec<String>>,
        /// Further options as ssh spells them, as in `ProxyJump=gate`.
        pub options: Option<Vec<String>>,
    }
}

choice! {
    /// What builds images.
    pub enum ImageBuilder {
        /// Docker itself.
        Docker = "docker",
        /// Depot.
        Depot = "depot",
    }
}

const TEXT_LIST: Kind = <Vec<String>>::KIND;

const BACKEND_FIELDS: &[Field] = &[
    Field::new(
        "activity_check_seconds",
        Kind::Number,
        "docker: seconds between two looks of a host at its own activity.",
    ),
    Field::new("build_timeout_seconds", Kind::Number, "docker: seconds an image build may take."),
    Field::new("builder", ImageBuilder::KIND, "docker: what builds images."),
    Field::new("config_file", Kind::Text, "ssh: an ssh config in place of the user's own."),
    Field::new("default_activity_sources", Kind::Any, "docker: what counts as activity of a host."),
    Field::new("default_idle_mode", Kind::Text, "docker: how idleness of a host is told."),
    Field::new(
        "default_idle_timeout",
        DurationSetting::KIND,
        "docker: time after which an idle host is stopped.",
    ),
    Field::new("default_image", Kind::Text, "docker: image of a host when none is given."),
    Field::new(
        "default_max_host_age",
        DurationSetting::KIND,
        "docker: time after which a host is stopped whatever happens.",
    ),
    Field::new("default_start_args", TEXT_LIST, "docker: arguments for every `docker run`."),
    Field::new("docker_runtime", Kind::Text, "docker: container runtime."),
    Field::new("dynamic_hosts_file", Kind::Text, "ssh: a file of further hosts that other tools append to."),
    Field::new(
        "host",
        Kind::Text,
        "docker: the daemon's address; `DOCKER_HOST` or the default socket when absent.",
    ),
    Field::new("hosts", <BTreeMap<String, SshHostSettings>>::KIND, "ssh: the machines agents may run on."),
    Field::new(
        "is_host_volume_created",
        Kind::Bool,
        "Accepted for older settings files; has no effect: a docker host always has a volume of its own for its state.",
    ),
    Field::new(
        "isolate_host_volumes",
        Kind::Bool,
        "Accepted for older settings files; has no effect: a docker host never sees the volume of another one.",
    ),
    Field::new(
        "volume_mount_path",
        Kind::Text,
        "Accepted for older settings files; has no effect: the volume of a docker host is at its `host_dir`.",
    ),
];

/// Whether the section `name` with this `backend` key is about a backend whose keys are not known here.
pub(crate) fn is_foreign(name: &str, backend: Option<&str>) -> bool {
    match backend {
        Some(backend) => !KNOWN_BACKENDS.contains(&backend),
        None => FOREIGN_SECTIONS.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_its_own_backend_and_enabled_unless_it_says_otherwise() {
        let provider = ProviderSettings::default();
        assert!(provider.is_enabled());
        assert_eq!(provider.backend("docker"), "docker");
        let provider: ProviderSettings = toml::from_str("backend = 'ssh'\nis_enabled = false").unwrap();
        assert!(!provider.is_enabled());
        assert_eq!(provider.backend("box"), "ssh");
    }
}
