//! `mngr tmr report`: the page of a run, written from its journal.

use clap::Args;
use mngr_model::HostPath;
use mngr_query::sanitize;
use mngr_web::report::{Written, json as everything};
use serde_json::{Value, json};

use super::locate::{self, RunArg};
use super::page::{self, Page};
use super::seen::Seen;
use crate::cli::common::CommonArgs;
use crate::commands::view;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// Write the page of a run, and say where it is
///
/// The page is a folder that opens from disk: what agents claimed and what was measured, the branch and why each commit is where it
/// is, costs, failures by cause, every transcript and recording. It is also written while the run goes on.
///
/// With `--format json`, everything that is known of the run as one object.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr report first\n  \
                        mngr tmr report --open\n  \
                        mngr tmr report 20260102030405 --format json")]
pub(super) struct ReportArgs {
    #[command(flatten)]
    run: RunArg,

    /// Open it in the browser
    #[arg(long, help_heading = "OPTIONS")]
    open: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Writes it.
pub(super) fn run(ctx: &mut Ctx, args: &ReportArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let host = world.client.clone();
    let folder = locate::folder(ctx, host.as_ref(), args.run.run.as_deref())?;
    let seen = Seen::look(host.as_ref(), &folder, world.clock.now())?;
    let mut page = Page::new(host.clone(), &folder, ctx.console.clone());
    let written = page.write(&seen.run).map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    let index = page::index(&folder);
    output.show(&ctx.console, &PageReport { index: index.clone(), written, seen: &seen })?;
    if args.open
        && let Err(error) = view::open_file(host.as_ref(), &index)
    {
        // The page is there all the same.
        ctx.console.warn(&format!("{}; open the file above yourself", mngr_ops::error_chain(&error)));
    }
    Ok(ExitCode::Done)
}

struct PageReport<'s> {
    index: HostPath,
    written: Written,
    seen: &'s Seen,
}

impl Report for PageReport<'_> {
    fn human(&self, _console: &Console) -> String {
        let tests = count(self.written.tasks, "test");
        let place =
            format!("{}\n{tests} of run {}\n", sanitize(self.index.as_str()), sanitize(self.seen.name()));
        // The path stays first: scripts read it.
        let result = self.seen.run.final_run.iter().map(|run| format!("{}\n", sanitize(&run.to_string())));
        [place].into_iter().chain(result).collect()
    }

    fn json(&self) -> Value {
        let mut whole = everything(&self.seen.run, &page::failures(&self.seen.run));
        whole["state"] = self.seen.state.word().into();
        whole["folder"] = json!(self.seen.folder);
        whole["page"] = json!(self.index);
        whole
    }

    fn events(&self) -> Vec<Value> {
        vec![event("report_generated", json!({ "path": self.index, "tasks": self.written.tasks }))]
    }
}
