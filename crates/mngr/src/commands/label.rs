//! `mngr label`: labels set and removed.

use clap::Args;
use mngr_model::facts::Detail;
use mngr_model::title::title_of;
use mngr_ops::fleet::Fleet;
use mngr_ops::label::{self, Label, LabelChanges, LabelKey, NewTitle, Relabelled};
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

/// Set and remove labels, and say what an agent works on
///
/// Works on agents in any state. A word with `=` is a label: `mngr label page urgent=yes`. `mngr list --label KEY=VALUE` finds them again.
#[derive(Debug, Args)]
#[command(after_help = "  mngr label page --label urgent=yes\n  \
                        mngr label page --remove urgent\n  \
                        mngr label page --title 'the new front page'")]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Set this label (can be repeated)
    #[arg(short, long, value_name = "KEY=VALUE", help_heading = "OPTIONS")]
    label: Vec<Label>,

    /// Remove this label (can be repeated)
    #[arg(short, long, value_name = "KEY", help_heading = "OPTIONS")]
    remove: Vec<LabelKey>,

    /// Say what it works on, for people; without text it is called as its program or its first message says
    #[arg(long, value_name = "TEXT", help_heading = "OPTIONS")]
    title: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Changes them.
pub(crate) fn run(ctx: &mut Ctx, mut args: LabelArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    // No address has such a character: a word with one is a label.
    let (labels, agents) = args.targets.agents.drain(..).partition(|word: &String| word.contains('='));
    args.targets.agents = agents;
    let labels: Vec<String> = labels;
    for word in labels {
        args.label.push(word.parse()?);
    }
    if args.label.is_empty() && args.remove.is_empty() && args.title.is_none() {
        let text = "nothing to change: give `--label KEY=VALUE`, `--remove KEY` or `--title TEXT`";
        return Err(CliError::usage(text));
    }
    let Some(addresses) = args.targets.addresses(ctx)? else { return Ok(ExitCode::Done) };
    let world = ctx.world()?;
    let mut selected = targets::select(
        &Fleet::look_for(&world, &addresses, Detail::Basic),
        &addresses,
        args.targets.matches.shared_name(),
    );
    selected.leave_out_stopped_hosts();
    let title = args.title.map(|text| title_of(&text).map_or(NewTitle::Drop, NewTitle::Set));
    let changes = LabelChanges { title, set: args.label, remove: args.remove };
    let batch = Batch::run(selected, |agent| label::label(agent, &changes));
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    let is_titled = changes.title.is_some();
    let is_labelled = !changes.set.is_empty() || !changes.remove.is_empty();
    output.show(&ctx.console, &LabelReport { batch, is_titled, is_labelled })?;
    Ok(code)
}

struct LabelReport {
    batch: Batch<Relabelled>,
    /// Whether the title was to change.
    is_titled: bool,
    /// Whether labels were.
    is_labelled: bool,
}

impl Report for LabelReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let changes = self.batch.done.iter().flat_map(|(agent, now)| {
            let labels: Vec<String> =
                now.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let title = now.title.as_deref().unwrap_or("as its program or its first message says");
            let shown = [
                (self.is_labelled, "Labels", labels.join(", ")),
                (self.is_titled, "Title", title.to_owned()),
            ];
            let shown = shown.into_iter().filter(|(is_shown, ..)| *is_shown);
            shown.map(|(_, what, text)| format!("{what} of {}: {}", agent.name(), sanitize(&text)))
        });
        lines(changes)
    }

    fn json(&self) -> Value {
        let change = |(agent, now): &(mngr_ops::fleet::Agent, Relabelled)| {
            json!({
                "agent_id": agent.id().as_str(),
                "agent_name": agent.name().as_str(),
                "labels": now.labels,
                "title": now.title,
            })
        };
        let changes: Vec<Value> = self.batch.done.iter().map(change).collect();
        json!({ "count": changes.len(), "changes": changes, "failures": self.batch.failure_objects() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("label_result", self.json())]
    }
}
