//! `mngr label`: labels set and removed.

use std::collections::BTreeMap;

use clap::Args;
use mngr_model::facts::Detail;
use mngr_ops::fleet::Fleet;
use mngr_ops::label::{self, Label, LabelChanges, LabelKey};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::{self, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Set and remove labels
///
/// Works on agents in any state. `mngr list --label KEY=VALUE` finds them again.
#[derive(Debug, Args)]
#[command(after_help = "  mngr label page --label urgent=yes\n  \
                        mngr label page --remove urgent")]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Set this label (can be repeated)
    #[arg(short, long, value_name = "KEY=VALUE", help_heading = "OPTIONS")]
    label: Vec<Label>,

    /// Remove this label (can be repeated)
    #[arg(short, long, value_name = "KEY", help_heading = "OPTIONS")]
    remove: Vec<LabelKey>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Changes them.
pub(crate) fn run(ctx: &mut Ctx, args: LabelArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    if args.label.is_empty() && args.remove.is_empty() {
        return Err(CliError::usage("nothing to change: give `--label KEY=VALUE` or `--remove KEY`"));
    }
    let Some(addresses) = args.targets.addresses(ctx)? else { return Ok(ExitCode::Done) };
    let world = ctx.world()?;
    let mut selected = targets::select(
        &Fleet::look_for(&world, &addresses, Detail::Basic),
        &addresses,
        args.targets.matches.shared_name(),
    );
    selected.leave_out_stopped_hosts();
    let changes = LabelChanges { set: args.label, remove: args.remove };
    let batch = Batch::run(selected, |agent| label::label(agent, &changes));
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &LabelReport { batch })?;
    Ok(code)
}

struct LabelReport {
    batch: Batch<BTreeMap<String, String>>,
}

impl Report for LabelReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.batch.done.iter().map(|(agent, labels)| {
            let shown: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("Labels of {}: {}", agent.name(), sanitize(&shown.join(", ")))
        }))
    }

    fn json(&self) -> Value {
        let change = |(agent, labels): &(mngr_ops::fleet::Agent, BTreeMap<String, String>)| json!({ "agent_id": agent.id().as_str(), "agent_name": agent.name().as_str(), "labels": labels });
        let changes: Vec<Value> = self.batch.done.iter().map(change).collect();
        json!({ "count": changes.len(), "changes": changes, "failures": self.batch.failure_objects() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("label_result", self.json())]
    }
}
