//! `mngr push`: the user's branch or files, brought to an agent's work dir.

use clap::Args;
use mngr_model::address::LocationPath;
use mngr_model::facts::Detail;
use mngr_ops::awake;
use mngr_ops::fleet::Fleet;
use mngr_ops::push::{self, PushRequest, PushWhat};
use mngr_ops::world::World;

use crate::cli::common::CommonArgs;
use crate::commands::sync::{self, SyncArgs, SyncMode, SyncResult, Way};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;

/// Bring your work to an agent
///
/// AGENT: merges the branch you are on into the agent's, in its work dir. With a file or folder, or AGENT:PATH: copies it.
/// The agent's uncommitted work stays; where it is in the way, nothing is done.
#[derive(Debug, Args)]
#[command(after_help = "  mngr push report\n  \
                        mngr push report ~/tutorial/task.md\n  \
                        mngr push report:notes/ ~/tutorial/notes/ --delete")]
pub(crate) struct PushArgs {
    /// The agent, or a path in its work dir
    #[arg(value_name = "AGENT[:PATH]", display_order = 1, help_heading = "ARGUMENTS")]
    to: String,

    /// What to bring: a file or folder, or the top of another repository
    #[arg(value_name = "SOURCE", display_order = 2, help_heading = "ARGUMENTS")]
    from: Option<String>,

    #[command(flatten)]
    sync: SyncArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Brings it.
pub(crate) fn run(ctx: &mut Ctx, args: PushArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (address, place) = sync::agent_end(&args.to)?;
    let source = args.from.as_deref().map(|word| sync::local_end(ctx, word)).transpose()?;
    let world = ctx.world()?;
    let is_path = place.is_some() || source.as_ref().is_some_and(|path| !is_repository(&world, path));
    let what = match (is_path, args.sync.sync_mode) {
        (true, Some(SyncMode::Git | SyncMode::Full)) => {
            return Err(CliError::usage("a path can only be pushed with `--sync-mode files`"));
        }
        (true, _) => PushWhat::Path(place, args.sync.extraneous()),
        (false, Some(SyncMode::Files)) => PushWhat::Files(args.sync.extraneous()),
        (false, Some(SyncMode::Full)) => {
            args.sync.require_files_for_delete()?;
            PushWhat::Full
        }
        (false, None | Some(SyncMode::Git)) => {
            args.sync.require_files_for_delete()?;
            PushWhat::Branch
        }
    };
    let fleet = Fleet::look_for(&world, std::slice::from_ref(&address), Detail::Basic);
    let request = PushRequest { what, source, options: args.sync.options() };
    let agent = &awake::with_host(&world, fleet.one(&address)?)?;
    let report =
        push::push(&world, agent, &request).map_err(|error| sync::failure(error, Way::Push, agent.name()))?;
    output.show(&ctx.console, &SyncResult { way: Way::Push, report, options: request.options })?;
    Ok(ExitCode::Done)
}

/// Whether the path is the top of a checkout, so that its branch is meant.
fn is_repository(world: &World, path: &LocationPath) -> bool {
    let dot_git = world.cwd.join(path.path()).join(".git");
    world.client.files().exists(&dot_git).unwrap_or(false)
}
