//! `mngr list --watch`: the listing, shown again whenever it changes. Woken by file events and by the end of processes;
//! spawns nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_ops::list::stable;
use mngr_ops::vigil::{Coverage, Vigil};
use mngr_ops::world::World;
use serde_json::{Value, json};

use super::View;
use super::report::ListReport;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{event, lines};
use crate::ui::{Console, Output, Report};

/// How often to look although nothing seems to change: events can be lost.
const PACE: Duration = Duration::from_secs(2);

/// Shows every change until it is interrupted or nobody reads any more.
pub(super) fn run(ctx: &Ctx, world: &World, view: &View, output: &Output) -> Result<ExitCode, CliError> {
    if matches!(output, Output::Json) {
        return Err(CliError::usage("`--watch` never ends, so it cannot show one object")
            .hinted("use `--format jsonl`"));
    }
    let mut shown = Shown::default();
    let mut vigil = Vigil::default();
    loop {
        let (fleet, report) = view.look(&ctx.console, world, output);
        let text = match output {
            Output::Jsonl => shown.changes(&report),
            Output::Template(template) => lines(report.items().iter().map(|item| template.render(item))),
            _ => report.human(&ctx.console),
        };
        shown.show(&ctx.console, ctx.surroundings.terminals.stdout && output.is_human(), output, text)?;
        let limit = match vigil.cover(&fleet) {
            Coverage::Complete => PACE,
            Coverage::Grown => Duration::ZERO,
        };
        match vigil.wait(limit) {
            Ok(_) => {}
            // Whoever looks at it has no other way to leave, so this is no failure to be told of.
            Err(_) if output.is_human() => return Ok(ExitCode::Interrupted),
            Err(error) => return Err(CliError::new(ErrorKind::Interrupted, error)),
        }
    }
}

/// What the reader has seen so far.
#[derive(Default)]
struct Shown {
    text: Option<String>,
    agents: BTreeMap<String, Value>,
}

impl Shown {
    /// Shows a text that differs from the last one; on a terminal in its place.
    fn show(
        &mut self,
        console: &Console,
        in_place: bool,
        output: &Output,
        text: String,
    ) -> Result<(), CliError> {
        let is_new = match output {
            Output::Jsonl => !text.is_empty(),
            _ => self.text.as_ref() != Some(&text),
        };
        if is_new {
            // Home, then erase line by line what is there: no flicker.
            let page = if in_place {
                format!("\u{1b}[H{}\u{1b}[J", text.replace('\n', "\u{1b}[K\n"))
            } else {
                text.clone()
            };
            console.print(&page)?;
            self.text = Some(text);
        }
        Ok(())
    }

    /// A line for every agent that is new or different, and one for every agent that is gone.
    fn changes(&mut self, report: &ListReport<'_>) -> String {
        let mut changed = Vec::new();
        let mut now = BTreeMap::new();
        for record in &report.agents {
            let id = record["id"].as_str().unwrap_or_default().to_owned();
            let stable = stable(record);
            if self.agents.get(&id) != Some(&stable) {
                changed.push(report.columns.json(record).to_string());
            }
            now.insert(id, stable);
        }
        let gone = self.agents.keys().filter(|id| !now.contains_key(*id));
        changed.extend(gone.map(|id| event("agent_removed", json!({ "id": id })).to_string()));
        self.agents = now;
        lines(changed)
    }
}
