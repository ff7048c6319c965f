//! `mngr rename`: another name for an agent. Branch, work dir and id stay.

use clap::Args;
use mngr_model::AgentName;
use mngr_model::facts::Detail;
use mngr_ops::label::Label;
use mngr_ops::rename::{self, Mode, RenameRequest, Renamed};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Rename an agent
///
/// The tmux session is renamed with it, running or not; branch, work dir and id stay as they are.
#[derive(Debug, Args)]
#[command(after_help = "  mngr rename greeter reception\n  \
                        mngr rename second-try runner-up --label reviewed=yes")]
pub(crate) struct RenameArgs {
    /// The agent
    #[arg(value_name = "CURRENT", help_heading = "ARGUMENTS")]
    current: String,

    /// Its new name
    #[arg(value_name = "NEW-NAME", help_heading = "ARGUMENTS")]
    new_name: AgentName,

    /// Also set this label (can be repeated)
    #[arg(short, long, value_name = "KEY=VALUE", help_heading = "OPTIONS")]
    label: Vec<Label>,

    /// Show what would be renamed
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Renames it.
pub(crate) fn run(ctx: &mut Ctx, args: RenameArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let agent = targets::one(&world, &args.current, Detail::Full)?;
    targets::require_host(&agent)?;
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Apply };
    let request = RenameRequest { new_name: args.new_name, labels: args.label, mode };
    let renamed = rename::rename(&world, &agent, &request)?;
    output.show(&ctx.console, &RenameReport { renamed, mode })?;
    Ok(ExitCode::Done)
}

struct RenameReport {
    renamed: Renamed,
    mode: Mode,
}

impl Report for RenameReport {
    fn is_confirmation(&self) -> bool {
        self.mode == Mode::Apply
    }

    fn human(&self, _console: &Console) -> String {
        let Renamed { old_name, new_name, .. } = &self.renamed;
        match self.mode {
            _ if old_name == new_name => format!("Agent {new_name} has that name already\n"),
            Mode::Apply => format!("Renamed agent: {old_name} -> {new_name}\n"),
            Mode::DryRun => format!("Would rename agent: {old_name} -> {new_name}\n"),
        }
    }

    fn json(&self) -> Value {
        let Renamed { agent_id, old_name, new_name } = &self.renamed;
        let mut object = json!({
            "old_name": old_name.as_str(),
            "new_name": new_name.as_str(),
            "agent_id": agent_id.as_str(),
        });
        if self.mode == Mode::DryRun {
            object["dry_run"] = true.into();
        }
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("rename_result", self.json())]
    }
}
