//! `mngr plugin`: agent types and providers, which other versions have as plugins and this one has built in.

pub(crate) mod list;
mod refuse;
mod toggle;

use clap::{Args, Subcommand};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Show and switch agent types and providers
///
/// All of them are built in. One that is disabled is unknown to `mngr create`; agents of a disabled type live on, and hosts of a
/// disabled provider are not asked.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "  mngr plugin list\n  mngr plugin disable docker --scope user"
)]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    verb: PluginVerb,
}

/// What can be done with them.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum PluginVerb {
    /// Install a plugin: refused here
    #[command(hide = true)]
    Add(refuse::RefusedArgs),
    /// Make an agent type or provider unknown
    Disable(toggle::DisableArgs),
    /// Make an agent type or provider known again
    Enable(toggle::EnableArgs),
    /// Show agent types and providers
    List(list::ListArgs),
    /// Uninstall a plugin: refused here
    #[command(hide = true)]
    Remove(refuse::RefusedArgs),
}

impl PluginArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            PluginVerb::Add(args) | PluginVerb::Remove(args) => &args.common,
            PluginVerb::Disable(args) => &args.common,
            PluginVerb::Enable(args) => &args.common,
            PluginVerb::List(args) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: PluginArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        PluginVerb::Add(_) => Err(refuse::add()),
        PluginVerb::Disable(args) => toggle::disable(ctx, &args),
        PluginVerb::Enable(args) => toggle::enable(ctx, &args),
        PluginVerb::List(args) => list::run(ctx, &args),
        PluginVerb::Remove(_) => Err(refuse::remove()),
    }
}
