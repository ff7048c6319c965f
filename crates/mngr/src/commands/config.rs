//! `mngr config`: settings with their origins, shown and changed. Works on broken settings too, or nobody could
//! repair them with it.

mod edit;
mod get;
mod list;
mod path;
mod trust;
pub(super) mod write;

use clap::{Args, Subcommand};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Show and change settings
///
/// Settings come from built-in defaults, your own file, two files of the repository, variables and -S options; see
/// `mngr help settings`.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "  mngr config list\n  mngr config set commands.list.sort name --scope user\n  mngr config trust"
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: ConfigVerb,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum ConfigVerb {
    /// Replace a list or table, dropping what lower scopes say
    Assign(write::AssignArgs),
    /// Open a settings file in an editor
    Edit(edit::EditArgs),
    /// Add to a list or table
    Extend(write::ExtendArgs),
    /// Show one setting
    Get(get::GetArgs),
    /// Show all settings and where each was set
    List(list::ListArgs),
    /// Show where settings are kept
    Path(path::PathArgs),
    /// Change a setting
    Set(write::SetArgs),
    /// Allow the settings that came with this repository to be used
    Trust(trust::TrustArgs),
    /// Remove a setting
    Unset(write::UnsetArgs),
}

impl ConfigArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            ConfigVerb::Assign(args) => &args.common,
            ConfigVerb::Edit(args) => &args.common,
            ConfigVerb::Extend(args) => &args.common,
            ConfigVerb::Get(args) => &args.common,
            ConfigVerb::List(args) => &args.common,
            ConfigVerb::Path(args) => &args.common,
            ConfigVerb::Set(args) => &args.common,
            ConfigVerb::Trust(args) => &args.common,
            ConfigVerb::Unset(args) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: ConfigArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        ConfigVerb::Assign(args) => write::assign(ctx, &args),
        ConfigVerb::Edit(args) => edit::run(ctx, &args),
        ConfigVerb::Extend(args) => write::extend(ctx, &args),
        ConfigVerb::Get(args) => get::run(ctx, &args),
        ConfigVerb::List(args) => list::run(ctx, &args),
        ConfigVerb::Path(args) => path::run(ctx, &args),
        ConfigVerb::Set(args) => write::set(ctx, &args),
        ConfigVerb::Trust(_) => trust::run(ctx),
        ConfigVerb::Unset(args) => write::unset(ctx, &args),
    }
}
