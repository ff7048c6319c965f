//! The whole of the settings: top-level keys, and the tables below them.

use std::collections::BTreeMap;

use super::agent_type::AgentTypeSettings;
use super::command::CommandSettings;
use super::duration::DurationSetting;
use super::housekeeping::{ExecSettings, StopSettings, TrashSettings};
use super::logging::LoggingSettings;
use super::names::Prefix;
use super::plugin::PluginSettings;
use super::pool::PoolSettings;
use super::price::PriceSettings;
use super::provider::ProviderSettings;
use super::retry::RetrySettings;
use super::template::CreateTemplate;
use super::tmr::TmrSettings;
use super::tmux::TmuxSettings;
use crate::declare::{choice, settings_table};

choice! {
    /// How a path outside version control reaches a new work directory.
    pub enum ExtraPath {
        /// Linked, so that all agents see the same.
        Share = "SHARE",
        /// Copied, so that each agent has its own.
        Copy = "COPY",
    }
}

settings_table! {
    /// Everything a user may set, typed.
    pub struct Settings {
        /// What the names of tmux sessions and other resources begin with.
        pub prefix: Prefix,
        /// Directory of all state on this machine.
        pub default_host_dir: String,
        /// Never prompt, open an editor or take over the terminal.
        pub headless: bool,
        /// Shell command that `connect` runs instead of attaching to tmux itself.
        pub connect_command: Option<String>,
        /// Seconds a new agent may take until it is ready for its first message.
        pub agent_ready_timeout: f64,
        /// How long after its turn an agent counts as RUNNING while only commands in its background go on.
        pub background_patience: DurationSetting,
        /// Environment variables removed before an agent's session starts.
        pub unset_vars: Vec<String>,
        /// Paths outside version control that a new work directory gets: each is `SHARE`d or `COPY`ed.
        pub work_dir_extra_paths: BTreeMap<String, ExtraPath>,
        /// Provider backends to use; all when empty.
        pub enabled_backends: Vec<String>,
        /// Shell commands run before a verb, all at once; if one fails the verb is not run.
        pub pre_command_scripts: BTreeMap<String, Vec<String>>,
        /// Accepted for older settings files; has no effect: mngr installs no agent program.
        pub is_remote_agent_installation_allowed: bool,
        /// Accepted for older settings files; has no effect: a host that is destroyed leaves no record.
        pub default_destroyed_host_persisted_seconds: f64,
        /// Accepted for older settings files; has no effect: a host stops when its last agent goes.
        pub default_min_online_host_age_seconds: f64,
        /// Accepted for older settings files; has no effect: see `host_discovery_timeout_seconds`.
        pub host_detail_read_timeout_seconds: Option<f64>,
        /// Whether a layer may replace a list or table by one with fewer entries without `__assign`; not with `-S`.
        pub allow_settings_key_assignment_narrowing: bool,
        /// Accepted for older settings files; has no effect: connecting from inside tmux always works.
        pub is_nested_tmux_allowed: Option<bool>,
        /// Accepted for older settings files; has no effect: help is printed as it is.
        pub pager: Option<String>,
        /// Accepted for older settings files; has no effect.
        pub is_error_reporting_enabled: Option<bool>,
        /// Accepted for older settings files; has no effect.
        pub strict_host_record_parsing: Option<bool>,
        /// Accepted for older settings files; has no effect.
        pub is_allowed_in_pytest: Option<bool>,
        /// The tmux server agents run in.
        pub tmux: TmuxSettings,
        /// How patiently agents are stopped.
        pub stop: StopSettings,
        /// How much of what commands print is held in memory.
        pub exec: ExecSettings,
        /// How long destroyed work is kept.
        pub trash: TrashSettings,
        /// What is recorded and where.
        pub logging: LoggingSettings,
        /// How often a lost connection is tried again.
        pub retry: RetrySettings,
        /// The test map-reduce.
        pub tmr: TmrSettings,
        /// Custom kinds of agents, and settings of the built-in ones.
        pub agent_types: BTreeMap<String, AgentTypeSettings>,
        /// Where agents can run.
        pub providers: BTreeMap<String, ProviderSettings>,
        /// Hosts that new agents are spread over.
        pub pools: BTreeMap<String, PoolSettings>,
        /// What models cost, by their names, over the built-in prices; not settable by a repository that is not trusted.
        pub prices: BTreeMap<String, PriceSettings>,
        /// Whether plugins are on, and their settings.
        pub plugins: BTreeMap<String, PluginSettings>,
        /// What a verb's options are when they are not given.
        pub commands: BTreeMap<String, CommandSettings>,
        /// Bundles of `create` options.
        pub create_templates: BTreeMap<String, CreateTemplate>,
    }
}

impl Settings {
    /// The plugins that are switched off.
    pub fn disabled_plugins(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().filter(|(_, plugin)| plugin.enabled == Some(false)).map(|(name, _)| name.as_str())
    }

    /// Whether a plugin is not switched off.
    pub fn is_plugin_on(&self, name: &str) -> bool {
        !self.disabled_plugins().any(|off| off == name)
    }

    /// What `[commands.<verb>]` says about one of the verb's options.
    pub fn command_default(&self, verb: &str, option: &str) -> Option<&toml::Value> {
        self.commands.get(verb)?.extra.get(option)
    }
}
