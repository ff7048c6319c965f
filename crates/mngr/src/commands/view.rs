//! `mngr view`: what end-to-end tests left behind, as a page from this machine or as a folder.

mod door;
mod report;

use std::time::Duration;

use clap::Args;
use mngr_host::host::{Host, WatchRequest};
use mngr_host::{interrupt, random};
use mngr_model::HostPath;
use mngr_model::artifacts::OUTPUT_ROOT;
use mngr_model::env::MNGR_E2E_OUTPUT;
use mngr_web::catalogue::{Catalogue, ScanError, scan};
use mngr_web::serve::{ServeError, ServeRequest, Server};
use mngr_web::{ExportError, Exporter};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;
pub(crate) use door::open_file;
use report::{ExportReport, ServeReport};

/// How often `--watch` looks although nothing seems to change.
const PACE: Duration = Duration::from_secs(2);

/// Show what tests left behind, as a page
///
/// Serves a page with all runs and tests below DIR: what passed and failed, transcripts, recordings, comparisons of tries. The
/// page is for this machine only, and its address holds a token that nobody else knows. New tests appear as they come. Ctrl-C
/// ends it.
///
/// With `--export`, writes the page into a folder instead. It opens from disk and needs no server.
#[derive(Debug, Args)]
#[command(after_help = "  mngr view                                   # all runs of this project\n  \
                        mngr view .test_output/e2e/nightly --open   # one run, in the browser\n  \
                        mngr view --export ~/tutorial/page          # then open page/index.html")]
pub(crate) struct ViewArgs {
    /// The folder of all runs, of one run or of one test (default: MNGR_E2E_OUTPUT, or .test_output/e2e of this project)
    #[arg(value_name = "DIR", help_heading = "ARGUMENTS")]
    dir: Option<String>,

    /// Listen on this port (default: any free one)
    #[arg(long, value_name = "PORT", conflicts_with = "export", help_heading = "OPTIONS")]
    port: Option<u16>,

    /// Open the page in the browser
    #[arg(long, overrides_with = "no_open", conflicts_with = "export", help_heading = "OPTIONS")]
    open: bool,

    /// Only print its address (the default)
    #[arg(long, overrides_with = "open", help_heading = "OPTIONS")]
    no_open: bool,

    /// Write the page into this folder instead, which is empty or holds an older page
    #[arg(long, value_name = "FOLDER", help_heading = "OPTIONS")]
    export: Option<String>,

    /// Go on writing what is new, until Ctrl-C
    #[arg(long, requires = "export", help_heading = "OPTIONS")]
    watch: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Serves or exports it.
pub(crate) fn run(ctx: &mut Ctx, args: ViewArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let host = world.client;
    let folder = folder(ctx, args.dir.as_deref());
    if host.files().exists(&folder.join("run.jsonl")).unwrap_or_default() {
        let name = folder.file_name().unwrap_or_default().to_owned();
        return Err(CliError::failed(format!("`{folder}` is the folder of a run of `mngr tmr`"))
            .hinted(format!("`mngr tmr report {}` shows it", mngr_model::quote::sh_quote(&name))));
    }
    let catalogue = scan(host.files(), &folder, &Catalogue::default()).map_err(not_there)?;
    if let Some(to) = &args.export {
        let to = ctx.surroundings.path(to);
        let watch = if args.watch { Watching::UntilInterrupted } else { Watching::No };
        return export(ctx, host.as_ref(), &folder, catalogue, to, watch, &output);
    }
    let workshop =
        HostPath::new(ctx.surroundings.var("TMPDIR").filter(|dir| !dir.is_empty()).unwrap_or("/tmp"))
            .join(&format!("mngr-view-{}", random::hex32()));
    let (runs, tests) = (catalogue.runs.len(), catalogue.count());
    let request = ServeRequest {
        host: host.clone(),
        folder: folder.clone(),
        catalogue,
        workshop: workshop.clone(),
        port: args.port,
    };
    let server = Server::bind(request).map_err(not_served)?;
    let url = server.url();
    output.show(&ctx.console, &ServeReport { url: url.clone(), folder, runs, tests })?;
    if args.open
        && let Err(error) = door::open(host.as_ref(), &workshop, &url)
    {
        // The page is there all the same.
        ctx.console.warn(&format!("{}; open the address above yourself", mngr_ops::error_chain(&error)));
    }
    server.run().map_err(not_served)?;
    Ok(ExitCode::Done)
}

/// The folder that is meant.
fn folder(ctx: &Ctx, named: Option<&str>) -> HostPath {
    let surroundings = &ctx.surroundings;
    match named.or_else(|| surroundings.var(MNGR_E2E_OUTPUT).filter(|dir| !dir.is_empty())) {
        Some(named) => surroundings.path(named),
        None => ctx.scopes.checkout().unwrap_or_else(|| surroundings.cwd.clone()).join(OUTPUT_ROOT),
    }
}

/// Whether to go on after the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watching {
    No,
    UntilInterrupted,
}

fn export(
    ctx: &Ctx,
    host: &dyn Host,
    folder: &HostPath,
    mut catalogue: Catalogue,
    to: HostPath,
    watching: Watching,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let files = host.files();
    let mut exporter = Exporter::begin(files, to.clone(), folder.to_string()).map_err(not_exported)?;
    let mut is_first = true;
    loop {
        let exported = exporter.write_all(&catalogue).map_err(not_exported)?;
        if is_first || exported.written > 0 {
            let report = ExportReport { page: to.join("index.html"), runs: catalogue.runs.len(), exported };
            output.show(&ctx.console, &report)?;
        }
        is_first = false;
        if watching == Watching::No {
            return Ok(ExitCode::Done);
        }
        let folders = std::iter::once(folder.clone())
            .chain(catalogue.runs.iter().take(1).map(|run| folder.join(&run.name)));
        let request = WatchRequest { folders: folders.collect(), processes: Vec::new() };
        let interrupted = match host.watch(&request) {
            Ok(mut watch) => watch.wait(PACE).is_err(),
            Err(_) => {
                std::thread::sleep(PACE);
                interrupt::is_pending()
            }
        };
        if interrupted {
            return Ok(ExitCode::Done);
        }
        catalogue = scan(files, folder, &catalogue).map_err(not_there)?;
    }
}

fn not_there(error: ScanError) -> CliError {
    let is_missing = matches!(error, ScanError::Missing { .. });
    let failure = CliError::new(ErrorKind::Failed, error);
    if is_missing {
        return failure
            .hinted("end-to-end tests make it when they run; name another folder with `mngr view DIR`");
    }
    failure
}

fn not_served(error: ServeError) -> CliError {
    let is_taken = matches!(error, ServeError::PortInUse { .. });
    let failure = CliError::new(ErrorKind::Failed, error);
    if is_taken {
        failure.hinted("name another one, or leave `--port` out for any free one")
    } else {
        failure
    }
}

fn not_exported(error: ExportError) -> CliError {
    let is_occupied = matches!(error, ExportError::Occupied { .. });
    let failure = CliError::new(ErrorKind::Failed, error);
    if is_occupied { failure.hinted("name a folder that is new or empty") } else { failure }
}
