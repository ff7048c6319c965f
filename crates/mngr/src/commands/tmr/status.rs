//! `mngr tmr status`: how far a run is, once or until it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use mngr_host::host::{Host, WatchRequest};
use mngr_host::interrupt;
use mngr_host::watch::Watch;
use mngr_model::HostPath;
use mngr_model::run::{Entry, Run};
use mngr_ops::world::World;
use mngr_query::Catalog;
use mngr_tmr::journal::{self, Follower};
use serde_json::{Value, json};

use super::board::{self, Extent};
use super::locate::{self, RunArg};
use super::seen::{RunState, Seen};
use super::{ending, failure, live, narrate, record};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::in_place::InPlace;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// How often to look although nothing seems to change: events can be lost, clocks go on, and an owner may have been killed.
const PACE: Duration = Duration::from_secs(1);

/// At least so long between two looks.
const BREATH: Duration = Duration::from_millis(250);

/// Show how far a run is
///
/// Stages, figures, the tests that are at work or did not end well, and failures by their cause. It only reads: the run may go on,
/// have ended or have been killed. With --watch the exit code at the end is that of the run.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr status --watch\n  \
                        mngr tmr status --format '{stage} {task}'\n  \
                        mngr tmr status 20260102030405 --format json")]
pub(super) struct StatusArgs {
    #[command(flatten)]
    run: RunArg,

    /// Go on until the run ends
    #[arg(long, help_heading = "OPTIONS")]
    watch: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows it.
pub(super) fn run(ctx: &mut Ctx, args: &StatusArgs) -> Result<ExitCode, CliError> {
    let catalog = Catalog::of(record::TASK_FIELDS);
    let output = Output::new(&ctx.format, TemplateFields::Of(&catalog))?;
    let world = ctx.world()?;
    let folder = locate::folder(ctx, world.client.as_ref(), args.run.run.as_deref())?;
    if args.watch {
        watch(ctx, &world, &folder, &output)?;
        // The events were the result.
        let is_shown = matches!(output, Output::Jsonl);
        return if is_shown { Ok(ExitCode::Done) } else { ending::show(ctx, &world, &folder, &output) };
    }
    let seen = Seen::look(world.client.as_ref(), &folder, world.clock.now())?;
    output.show(&ctx.console, &StatusReport { seen })?;
    Ok(ExitCode::Done)
}

/// Shows the run whenever it changes, until it ends.
fn watch(ctx: &Ctx, world: &World, folder: &HostPath, output: &Output) -> Result<(), CliError> {
    let host: Arc<dyn Host> = world.client.clone();
    let mut viewer = match output {
        Output::Human if live::is_painted(ctx) => Viewer::Board(InPlace::new(ctx.console.clone())),
        Output::Jsonl => Viewer::Events,
        _ => Viewer::Lines,
    };
    let mut follower = Follower::new(host.clone(), folder);
    let mut run = Run::default();
    loop {
        // The watch stands before the look, so that no change falls between the two.
        let request = WatchRequest { folders: vec![folder.clone()], processes: Vec::new() };
        let mut changes = host.watch(&request).ok();
        // So does the question who is there: one that ends in between has written its last word by then.
        let owner = journal::owner(host.as_ref(), folder).map_err(failure::of_journal)?;
        for entry in follower.read().map_err(failure::of_journal)? {
            run.apply(&entry);
            viewer.line(&ctx.console, &run, &entry)?;
        }
        let state = RunState::of(&run, owner);
        let seen = Seen {
            folder: folder.clone(),
            run: run.clone(),
            state,
            now: world.clock.now(),
            damaged: follower.damaged(),
        };
        viewer.board(&seen)?;
        if state != RunState::Running {
            return viewer.end();
        }
        wait(changes.as_mut())?;
    }
}

/// Waits for a change, but never less than a breath.
fn wait(changes: Option<&mut Box<dyn Watch>>) -> Result<(), CliError> {
    let interrupted = |error| CliError::new(ErrorKind::Interrupted, error);
    let from = Instant::now();
    match changes {
        Some(watch) => {
            let _ = watch.wait(PACE).map_err(interrupted)?;
        }
        None => std::thread::sleep(PACE),
    }
    std::thread::sleep(BREATH.saturating_sub(from.elapsed()));
    interrupt::check().map_err(interrupted)
}

/// How a run is shown while it goes on.
enum Viewer {
    Board(InPlace),
    Lines,
    Events,
}

impl Viewer {
    fn line(&self, console: &Console, run: &Run, entry: &Entry) -> Result<(), CliError> {
        match self {
            Self::Board(_) => {}
            Self::Lines => {
                if let Some(line) = narrate::line(run, &entry.event) {
                    console.note(&line);
                }
            }
            Self::Events => console.print(&format!("{}\n", json!(entry)))?,
        }
        Ok(())
    }

    fn board(&mut self, seen: &Seen) -> Result<(), CliError> {
        let Self::Board(screen) = self else { return Ok(()) };
        let room = screen.room();
        screen.paint(board::lines(seen, Extent::Lines(room.height), Some(room.width), room.colour))
    }

    fn end(self) -> Result<(), CliError> {
        match self {
            Self::Board(mut screen) => screen.clear(),
            Self::Lines | Self::Events => Ok(()),
        }
    }
}

/// A run at a moment.
struct StatusReport {
    seen: Seen,
}

impl Report for StatusReport {
    fn human(&self, console: &Console) -> String {
        lines(board::lines(&self.seen, Extent::Whole, console.width(), console.out_colour()))
    }

    fn json(&self) -> Value {
        record::of(&self.seen)
    }

    fn events(&self) -> Vec<Value> {
        let mut whole = self.json();
        whole["tasks"] = self.seen.run.tasks.len().into();
        let tasks = record::tasks(&self.seen).into_iter().map(|task| event("task", task));
        tasks.chain([event("run", whole)]).collect()
    }

    fn items(&self) -> Vec<Value> {
        record::tasks(&self.seen)
    }
}
