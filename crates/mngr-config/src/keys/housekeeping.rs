//! `[trash]` and `[stop]`: how long destroyed work is kept, and how patiently agents are stopped.

use crate::declare::settings_table;

settings_table! {
    /// `[trash]`: the work of destroyed agents, kept for `undo`.
    pub struct TrashSettings {
        /// Days after which `gc` deletes a destroyed agent's work for good.
        pub max_age_days: f64,
        /// Gigabytes above which `gc` deletes the oldest destroyed work first.
        pub max_size_gb: f64,
    }
}

settings_table! {
    /// `[stop]`.
    pub struct StopSettings {
        /// Seconds a stopped agent gets to end by itself before it is killed.
        pub grace_seconds: f64,
    }
}
