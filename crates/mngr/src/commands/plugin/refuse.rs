//! `mngr plugin add` and `remove`: what scripts of other versions say, and what to do instead.

use clap::Args;

use crate::cli::common::CommonArgs;
use crate::error::CliError;

/// Refused: nothing can be installed or uninstalled
///
/// Agent types and providers are built in; `mngr plugin enable` and `disable` switch them.
#[derive(Debug, Args)]
#[command(after_help = "  mngr plugin list")]
pub(crate) struct RefusedArgs {
    /// What other versions install
    #[arg(value_name = "NAME", help_heading = "ARGUMENTS")]
    names: Vec<String>,

    /// A folder that other versions install from
    #[arg(long, value_name = "PATH", help_heading = "OPTIONS")]
    path: Vec<String>,

    /// A repository that other versions install from
    #[arg(long, value_name = "URL", help_heading = "OPTIONS")]
    git: Vec<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Why nothing is installed.
pub(super) fn add() -> CliError {
    CliError::failed("plugins cannot be added: agent types and providers are built into this mngr")
        .hinted("`mngr plugin list` shows them")
        .hinted("`[agent_types.NAME]` in the settings makes an agent type of your own")
}

/// Why nothing is uninstalled.
pub(super) fn remove() -> CliError {
    CliError::failed("plugins cannot be removed: agent types and providers are built into this mngr")
        .hinted("`mngr plugin disable NAME` makes one unknown")
}
