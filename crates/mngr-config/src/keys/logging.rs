//! `[logging]`: what is recorded and where.

use crate::declare::{choice, settings_table};

choice! {
    /// How much is logged.
    pub enum LogLevel {
        /// Everything.
        Trace = "TRACE",
        /// What helps to find a mistake.
        Debug = "DEBUG",
        /// The progress of longer work.
        Build = "BUILD",
        /// What a user wants to know.
        Info = "INFO",
        /// What may be wrong.
        Warn = "WARN",
        /// What is wrong.
        Error = "ERROR",
        /// Nothing.
        None = "NONE",
    }
}

settings_table! {
    /// `[logging]`.
    pub struct LoggingSettings {
        /// Least severe level written to the log file.
        pub file_level: LogLevel,
        /// Least severe level shown on the terminal.
        pub console_level: LogLevel,
        /// Folder of the log files, relative to the host directory unless absolute.
        pub log_dir: String,
        /// Size at which a log file is rotated, in megabytes.
        pub max_log_size_mb: u64,
        /// One log file to write to instead of those in `log_dir`.
        pub log_file_path: Option<String>,
        /// Whether the programs that a command runs are logged, each with the time it took.
        pub is_logging_commands: bool,
        /// Accepted for older settings files; has no effect: the output of programs may hold secrets.
        pub is_logging_command_output: bool,
        /// Whether the `MNGR_*` variables of a command are logged; their values may be secrets.
        pub is_logging_env_vars: bool,
        /// Accepted for older settings files; has no effect.
        pub enable_paramiko_logging: Option<bool>,
    }
}
