//! `mngr list --watch`: the listing, shown again whenever it changes. Woken by file events and by the end of processes;
//! spawns nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_host::host::WatchRequest;
use mngr_host::interrupt;
use mngr_host::watch::Watch;
use mngr_ops::fleet::{Agent, Fleet, SeenHost};
use mngr_ops::signs;
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

/// Fields that change without anything happening.
const VOLATILE: &[&str] = &["age", "runtime_seconds", "idle_seconds", "host"];

/// Shows every change until it is interrupted or nobody reads any more.
pub(super) fn run(ctx: &Ctx, world: &World, view: &View, output: &Output) -> Result<ExitCode, CliError> {
    if matches!(output, Output::Json) {
        return Err(CliError::usage("`--watch` never ends, so it cannot show one object")
            .hinted("use `--format jsonl`"));
    }
    let mut shown = Shown::default();
    let (mut fleet, _) = view.look(&ctx.console, world, output);
    loop {
        // The watch stands before the look, so that no change falls between the two.
        let watches = watch(&fleet);
        let (seen, report) = view.look(&ctx.console, world, output);
        fleet = seen;
        let text = match output {
            Output::Jsonl => shown.changes(&report),
            Output::Template(template) => lines(report.items().iter().map(|item| template.render(item))),
            _ => report.human(&ctx.console),
        };
        shown.show(&ctx.console, ctx.surroundings.terminals.stdout && output.is_human(), output, text)?;
        wait(watches)?;
    }
}

/// Watches the folders and the processes of all agents, also of those that are just being made. A host that cannot be
/// watched is only looked at.
fn watch(fleet: &Fleet) -> Vec<Box<dyn Watch>> {
    let on_host = |seen: &SeenHost| {
        let host = &seen.host;
        let layout = host.layout();
        let agents = layout.agents();
        let below = host.files().list(&agents).unwrap_or_default();
        let mut folders = vec![layout.root().clone(), layout.journals()];
        folders.extend(below.iter().map(|entry| agents.join(&entry.name)));
        folders.push(agents);
        let is_here = |agent: &&Agent| agent.host.info().id == host.info().id && agent.facts.agent.is_alive();
        let alive = fleet.agents.iter().filter(is_here);
        folders.extend(alive.clone().flat_map(|agent| signs::folders(host.as_ref(), &agent.facts)));
        let processes = alive.filter_map(|agent| agent.facts.process.agent).collect();
        host.watch(&WatchRequest { folders, processes }).ok()
    };
    fleet.answered().filter_map(on_host).collect()
}

/// Waits for a change anywhere, at most for the pace.
fn wait(mut watches: Vec<Box<dyn Watch>>) -> Result<(), CliError> {
    let interrupted = |error| CliError::new(ErrorKind::Interrupted, error);
    match watches.as_mut_slice() {
        [] => {
            std::thread::sleep(PACE);
            interrupt::check().map_err(interrupted)
        }
        several => {
            let count = u32::try_from(several.len()).unwrap_or(u32::MAX);
            for watch in several {
                if watch.wait(PACE / count).map_err(interrupted)? == mngr_host::watch::Wake::Changed {
                    break;
                }
            }
            Ok(())
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

fn stable(record: &Value) -> Value {
    let mut stable = record.clone();
    if let Value::Object(fields) = &mut stable {
        fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
    }
    stable
}
