//! `[pools.<name>]`: hosts that new agents are spread over.

use crate::declare::settings_table;

settings_table! {
    /// `[pools.<name>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct PoolSettings {
        /// Hosts that are there already, each as `HOST` or `HOST.PROVIDER`.
        pub hosts: Vec<String>,
        /// The provider that makes the hosts, where none are named.
        pub provider: Option<String>,
        /// How many hosts are made at most; without it one more whenever all are full.
        pub size: Option<u32>,
        /// How many agents may be at work on one host; any number without it.
        pub agents_per_host: Option<u32>,
        /// What its hosts are built from, as `create --build-arg`.
        pub build_args: Vec<String>,
        /// How they are started, as `create --start-arg`.
        pub start_args: Vec<String>,
        /// How many processors each gets.
        pub cpu: Option<String>,
        /// How much memory each gets, as in `4g`.
        pub memory: Option<String>,
        /// The snapshot they begin as.
        pub snapshot: Option<String>,
    }
}
