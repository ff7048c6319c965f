//! `mngr pull`: an agent's branch or files, brought to where the user stands.

use clap::Args;
use mngr_model::facts::Detail;
use mngr_ops::awake;
use mngr_ops::fleet::Fleet;
use mngr_ops::pull::{self, MergeInto, PullRequest, PullWhat};

use crate::cli::common::CommonArgs;
use crate::commands::sync::{self, SyncArgs, SyncMode, SyncResult, Way};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;

/// Bring an agent's work here
///
/// AGENT: brings its branch into this repository under its own name, touches no file, and shows the command that merges
/// it. With --merge or --target-branch it is merged; a conflict changes nothing and names the files.
///
/// AGENT:PATH: copies a file or folder, without DEST to the same place below the top of this repository. A slash behind a
/// folder means what is in it, as for rsync. Uncommitted changes here are overwritten only if you say so.
#[derive(Debug, Args)]
#[command(after_help = "  mngr pull report\n  \
                        mngr pull fix-login --merge\n  \
                        mngr pull report --merge --dry-run\n  \
                        mngr pull report:report.html .\n  \
                        mngr pull report --sync-mode files --uncommitted-changes stash")]
pub(crate) struct PullArgs {
    /// The agent, or a path in its work dir
    #[arg(value_name = "AGENT[:PATH]", display_order = 1, help_heading = "ARGUMENTS")]
    from: String,

    /// Where to: a folder in the repository meant, or the destination of the path
    #[arg(value_name = "DEST", display_order = 2, help_heading = "ARGUMENTS")]
    to: Option<String>,

    /// Merge the branch into the one you are on
    #[arg(long, help_heading = "OPTIONS")]
    merge: bool,

    /// Merge the branch into this one
    #[arg(long, value_name = "BRANCH", help_heading = "OPTIONS")]
    target_branch: Option<String>,

    #[command(flatten)]
    sync: SyncArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Brings it.
pub(crate) fn run(ctx: &mut Ctx, args: PullArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (address, path) = sync::agent_end(&args.from)?;
    let destination = args.to.as_deref().map(|word| sync::local_end(ctx, word)).transpose()?;
    let merge = match (&args.target_branch, args.merge) {
        (Some(branch), _) => MergeInto::Branch(branch.clone()),
        (None, true) => MergeInto::Current,
        (None, false) => MergeInto::Nothing,
    };
    let what = match (path, args.sync.sync_mode) {
        (Some(_), Some(SyncMode::Git | SyncMode::Full)) => {
            return Err(CliError::usage("a path can only be pulled with `--sync-mode files`"));
        }
        (_, _) if merge != MergeInto::Nothing && args.sync.sync_mode == Some(SyncMode::Files) => {
            return Err(CliError::usage("`--sync-mode files` merges nothing"));
        }
        (Some(_), _) if merge != MergeInto::Nothing => {
            return Err(CliError::usage("a path cannot be merged"));
        }
        (Some(path), _) => PullWhat::Path(path, args.sync.extraneous()),
        (None, Some(SyncMode::Files)) => PullWhat::Files(args.sync.extraneous()),
        (None, Some(SyncMode::Full)) if args.target_branch.is_some() => {
            return Err(CliError::usage("`--sync-mode full` always merges into the branch you are on"));
        }
        (None, Some(SyncMode::Full)) => {
            args.sync.require_files_for_delete()?;
            PullWhat::Full
        }
        (None, None | Some(SyncMode::Git)) => {
            args.sync.require_files_for_delete()?;
            PullWhat::Branch(merge)
        }
    };
    let world = ctx.world()?;
    let fleet = Fleet::look_for(&world, std::slice::from_ref(&address), Detail::Basic);
    let request = PullRequest { what, destination, options: args.sync.options() };
    let agent = &awake::with_host(&world, fleet.one(&address)?)?;
    let report =
        pull::pull(&world, agent, &request).map_err(|error| sync::failure(error, Way::Pull, agent.name()))?;
    output.show(&ctx.console, &SyncResult { way: Way::Pull, report, options: request.options })?;
    Ok(ExitCode::Done)
}
