//! Options every verb has.

use clap::{ArgAction, Args};
use mngr_config::LogLevel;
use mngr_model::ProviderName;

use crate::cli::page;
use crate::ui::console::Volume;

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Args)]
#[command(disable_help_flag = true, next_help_heading = page::COMMON)]
pub(crate) struct CommonArgs {
    /// How the result is shown: human, json, jsonl, or a template such as '{name}'
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: String,

    /// Show only errors and the result
    #[arg(short, long, overrides_with = "verbose")]
    pub(crate) quiet: bool,

    /// Show how the command came to what it did; -vv: and its time
    #[arg(short, long, action = ArgAction::Count, overrides_with = "quiet")]
    pub(crate) verbose: u8,

    /// Write the log of this command to this file
    #[arg(long, value_name = "PATH")]
    log_file: Option<String>,

    /// Note in the log which programs are run (the default; --no-log-commands)
    #[arg(long, overrides_with = "no_log_commands")]
    log_commands: bool,

    #[arg(long, hide = true, overrides_with = "log_commands")]
    no_log_commands: bool,

    /// Never prompt, open an editor or take over the terminal
    #[arg(long)]
    pub(crate) headless: bool,

    /// Override a setting for this command (can be repeated)
    #[arg(short = 'S', long, value_name = "KEY=VALUE")]
    pub(crate) setting: Vec<String>,

    /// Accepted for older scripts; has no effect: every provider is always asked
    #[arg(long, hide = true)]
    safe: bool,

    /// Use this agent type or provider although it is disabled (can be repeated)
    #[arg(long, visible_alias = "enable-plugin", value_name = "NAME", value_parser = plugin_name)]
    plugin: Vec<String>,

    /// Do without this agent type or provider (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = plugin_name)]
    disable_plugin: Vec<String>,

    /// Show this help
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// A plugin is called like a type of agents or a provider. It need not be one of ours: scripts name others too.
pub(crate) fn plugin_name(text: &str) -> Result<String, String> {
    match text.parse::<ProviderName>() {
        Ok(name) => Ok(name.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

impl CommonArgs {
    /// How much is said besides the result. Options win over the settings.
    pub(crate) fn volume(&self, configured: LogLevel) -> Volume {
        match (self.quiet, self.verbose) {
            (true, _) => Volume::Quiet,
            (false, 1) => Volume::Verbose,
            (false, 2..) => Volume::VeryVerbose,
            (false, 0) => match configured {
                LogLevel::Trace => Volume::VeryVerbose,
                LogLevel::Debug => Volume::Verbose,
                LogLevel::Build | LogLevel::Info => Volume::Normal,
                LogLevel::Warn => Volume::Warnings,
                LogLevel::Error | LogLevel::None => Volume::Quiet,
            },
        }
    }
}
