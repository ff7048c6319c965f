//! `[trash]`, `[stop]` and `[exec]`: how long destroyed work is kept, how patiently agents are stopped, and how much of what
//! commands print is held in memory.

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

settings_table! {
    /// `[exec]`.
    pub struct ExecSettings {
        /// Megabytes of what a command prints that `exec` holds in memory for each agent. More goes to a file that the result
        /// names; what is shown as it comes is not limited.
        pub kept_output_mb: f64,
    }
}
