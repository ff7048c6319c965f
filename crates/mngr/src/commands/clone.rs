//! `mngr clone`: a new agent from another one. What `create` does, with its source as the first word.

use clap::Args;

use crate::cli::common::CommonArgs;
use crate::commands::create::{
    self, AgentArgs, BehaviourArgs, CreateArgs, ElsewhereArgs, EnvironmentArgs, FileArgs,
};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Create an agent from another one
///
/// The new agent is of the same type. It gets a copy of the files as they are, uncommitted and untracked ones
/// included (ignored ones with --include-gitignored), a branch of its own that begins where the other one stands, and a
/// copy of the conversation, which it goes on with. The other agent, running or stopped, is not disturbed.
///
/// The source may also be a git URL, which is cloned. All other options are those of `mngr create`.
#[derive(Debug, Args)]
#[command(mut_arg("from", |arg| arg.hide(true)))]
#[command(after_help = "  mngr clone try-it second-try --no-connect\n  \
                        mngr clone greeter other-way --exclude-unclean --message 'no library this time' --no-connect\n  \
                        mngr clone https://example.com/project.git look claude")]
pub(crate) struct CloneArgs {
    /// The agent to copy, or a git URL
    #[arg(value_name = "SOURCE", display_order = 0, help_heading = "ARGUMENTS")]
    pub(crate) source: String,

    /// Name and place of the new agent: NAME, NAME@HOST, NAME:PATH; a name is made up when none is given
    #[arg(value_name = "ADDRESS", display_order = 1, help_heading = "ARGUMENTS")]
    pub(crate) address: Option<String>,

    /// Agent type, as with --type
    #[arg(value_name = "TYPE", display_order = 2, help_heading = "ARGUMENTS")]
    pub(crate) positional_type: Option<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    #[command(flatten)]
    pub(crate) behaviour: BehaviourArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// The agent's command or arguments
    #[arg(last = true, value_name = "AGENT_ARGS", display_order = 3, help_heading = "ARGUMENTS")]
    pub(crate) agent_args: Vec<String>,
}

/// Runs the verb.
pub(crate) fn run(ctx: &mut Ctx, args: CloneArgs) -> Result<ExitCode, CliError> {
    create::run(ctx, args.into_create("clone")?)
}

impl CloneArgs {
    /// The same in the words of `create`, for the verb of that name.
    pub(crate) fn into_create(self, verb: &str) -> Result<CreateArgs, CliError> {
        let mut files = self.files;
        if files.from.is_some() {
            return Err(CliError::usage(format!(
                "`mngr {verb}` takes its source as its first word, not with `--from`"
            )));
        }
        files.from = Some(self.source);
        Ok(CreateArgs {
            address: self.address,
            positional_type: self.positional_type,
            agent: self.agent,
            behaviour: self.behaviour,
            files,
            environment: self.environment,
            elsewhere: self.elsewhere,
            common: self.common,
            agent_args: self.agent_args,
        })
    }
}
