//! `mngr migrate`: an agent goes to another host. What `clone` does, shown to be whole, and then the source goes.

use clap::Args;
use mngr_model::address::AgentAddress;
use mngr_ops::create::UncleanFiles;
use mngr_ops::migrate::{self, MigrateError, MigrateRequest, Migrated};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::clone::CloneArgs;
use crate::commands::create::{
    self, AgentArgs, BehaviourArgs, CreateReport, ElsewhereArgs, EnvironmentArgs, FileArgs,
};
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Move an agent to another host
///
/// The agent goes on there under its name, with its files (uncommitted, untracked and ignored ones too), its branch, its
/// labels, its variables and its conversation. It is stopped first, so nothing is done meanwhile that the copy would lack.
/// The copy is compared with the source before it starts: the commit, the contents of all uncommitted files, the
/// conversations. Only then the source is destroyed, as `mngr destroy` does it, so that `mngr undo` brings it back.
///
/// If anything fails, the copy is taken back, and the source starts again. Any two hosts will do: they need not reach each
/// other. All other options are those of `mngr create`.
#[derive(Debug, Args)]
#[command(mut_arg("from", |arg| arg.hide(true)))]
#[command(after_help = "  mngr migrate fix-login @box\n  \
                        mngr migrate fix-login @.docker --force\n  \
                        mngr migrate try-it-then try-it-moved --no-connect\n  \
                        mngr migrate fix-login @box --no-include-gitignored")]
pub(crate) struct MigrateArgs {
    /// The agent
    #[arg(value_name = "SOURCE", display_order = 0, help_heading = "ARGUMENTS")]
    source: String,

    /// Where it goes, and its name there: @HOST, NAME@HOST, NAME:PATH; by default this machine, under its own name
    #[arg(value_name = "ADDRESS", display_order = 1, help_heading = "ARGUMENTS")]
    address: Option<String>,

    /// Also an agent that runs: it is stopped first
    #[arg(short, long, display_order = 2, help_heading = "OPTIONS")]
    force: bool,

    #[command(flatten)]
    agent: AgentArgs,

    #[command(flatten)]
    behaviour: BehaviourArgs,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    environment: EnvironmentArgs,

    #[command(flatten)]
    elsewhere: ElsewhereArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// The agent's command or arguments, instead of those it has
    #[arg(last = true, value_name = "AGENT_ARGS", display_order = 3, help_heading = "ARGUMENTS")]
    agent_args: Vec<String>,
}

/// Runs the verb.
pub(crate) fn run(ctx: &mut Ctx, args: MigrateArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let source: AgentAddress = args.source.parse()?;
    let force = args.force;
    let args = args.into_create()?;
    let mut wanted = create::request(ctx, &args)?;
    // A move loses nothing that nobody asked to leave behind.
    if wanted.unclean == UncleanFiles::AsUsual {
        wanted.unclean = UncleanFiles::Carry { ignored: !args.files.no_include_gitignored };
    }
    if matches!(wanted.unclean, UncleanFiles::LeaveBehind | UncleanFiles::Refuse) {
        return Err(CliError::usage("an agent moves with its uncommitted work")
            .hinted("`mngr clone --exclude-unclean` makes an agent without it"));
    }
    let refused = [
        ("--reuse", wanted.reuse),
        ("--foreground", args.behaviour.foreground),
        ("--edit-message", args.behaviour.edit_message),
    ];
    if let Some((option, _)) = refused.into_iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::usage(format!("`{option}` cannot be used with `mngr migrate`")));
    }
    let world = ctx.world()?;
    let migrated = migrate::migrate(&world, &MigrateRequest { source, create: wanted, force })?;
    output.show(&ctx.console, &MigrateReport { migrated: &migrated })?;
    let Migrated { created, source, removed } = migrated;
    match removed {
        Ok(destroyed) => {
            for note in &destroyed.notes {
                ctx.console.warn(note);
            }
        }
        Err(error) => {
            return Err(CliError::new(ErrorKind::Failed, error)
                .hinted(format!("the copy is whole; `mngr destroy --force {source}` removes the source")));
        }
    }
    create::connect_afterwards(ctx, &world, &output, &args, &created)
}

impl MigrateArgs {
    fn into_create(self) -> Result<create::CreateArgs, CliError> {
        let Self {
            source, address, agent, behaviour, files, environment, elsewhere, common, agent_args, ..
        } = self;
        let positional_type = None;
        let clone = CloneArgs {
            source,
            address,
            positional_type,
            agent,
            behaviour,
            files,
            environment,
            elsewhere,
            common,
            agent_args,
        };
        clone.into_create("migrate")
    }
}

struct MigrateReport<'a> {
    migrated: &'a Migrated,
}

impl Report for MigrateReport<'_> {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, console: &Console) -> String {
        let created = &self.migrated.created;
        let (from, to) = (sanitize(&self.migrated.source), created.host.address());
        let rest = CreateReport::new(created).human(console);
        let rest = rest.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        format!("Migrated agent: {from} to {}@{to}\n{rest}", created.name)
    }

    fn json(&self) -> Value {
        let mut object = CreateReport::new(&self.migrated.created).json();
        let removed = self.migrated.removed.as_ref();
        object["source"] = json!(self.migrated.source);
        object["source_id"] = json!(removed.ok().map(|destroyed| destroyed.id.as_str()));
        object["source_removed"] = json!(removed.is_ok());
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("migrated", self.json())]
    }
}

impl From<MigrateError> for CliError {
    fn from(error: MigrateError) -> Self {
        let (kind, hint) = match error {
            MigrateError::Create(error) => return create::failure(*error),
            MigrateError::Select(error) => return error.into(),
            MigrateError::Stop { source, .. } => return source.into(),
            MigrateError::Running { .. } => (ErrorKind::Failed, Some("`--force` stops it first")),
            MigrateError::SameHost { .. } => (ErrorKind::Usage, Some("name another host, as in `@box`")),
            _ => (ErrorKind::Failed, None),
        };
        let failure = Self::new(kind, error);
        hint.into_iter().fold(failure, CliError::hinted)
    }
}
