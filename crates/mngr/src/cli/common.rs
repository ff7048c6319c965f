//! Options every verb has.

use clap::{ArgAction, Args};

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

    /// Show how the command came to what it did
    #[arg(short, long, action = ArgAction::Count, overrides_with = "quiet")]
    pub(crate) verbose: u8,

    /// Never prompt, open an editor or take over the terminal
    #[arg(long)]
    pub(crate) headless: bool,

    /// Override a setting for this command (can be repeated)
    #[arg(short = 'S', long, value_name = "KEY=VALUE")]
    pub(crate) setting: Vec<String>,

    /// Accepted for older scripts; has no effect: every provider is always asked
    #[arg(long, hide = true)]
    safe: bool,

    /// Accepted for older scripts; has no effect: this version has no plugins
    #[arg(long, alias = "enable-plugin", value_name = "NAME", hide = true)]
    plugin: Vec<String>,

    /// Accepted for older scripts; has no effect: this version has no plugins
    #[arg(long, value_name = "NAME", hide = true)]
    disable_plugin: Vec<String>,

    /// Show this help
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
}

impl CommonArgs {
    /// How much is said besides the result.
    pub(crate) fn volume(&self) -> Volume {
        match (self.quiet, self.verbose) {
            (true, _) => Volume::Quiet,
            (false, 0) => Volume::Normal,
            (false, _) => Volume::Verbose,
        }
    }
}
