//! `mngr record --connect`: as the `connect_command` of a test, it leaves a recorder in the background and returns.
//!
//! The recorder is mngr itself. It ends with the agent's terminal, or when whoever reads its number from `NAME.pid` ends it.
//! Budget: one `sh`, and the recorder.

use std::time::{Duration, Instant};

use mngr_host::interrupt;
use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use mngr_model::env::{MNGR_AGENT_NAME, MNGR_E2E_OUTPUT_DIR};
use mngr_model::facts::Detail;
use mngr_ops::recording;
use mngr_ops::world::World;
use mngr_query::sanitize_lines;
use serde_json::{Value, json};

use super::RecordArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::event;
use crate::ui::{Console, Output, Report};

/// How long the recorder may take to begin.
const BEGIN_LIMIT: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(5);

/// Starts a recorder in the background, with no part of our terminal: it must outlive us.
const START: &str = r#"trap '' HUP; log=$1; shift; "$@" </dev/null >/dev/null 2>"$log" &"#;

/// Leaves a recorder behind, once nothing can be missed any more.
pub(super) fn start(ctx: &mut Ctx, args: &RecordArgs, output: &Output) -> Result<ExitCode, CliError> {
    let agent = variable(ctx, MNGR_AGENT_NAME)?;
    let folder = HostPath::new(variable(ctx, MNGR_E2E_OUTPUT_DIR)?);
    let world = ctx.world()?;
    let found = targets::one(&world, &agent, Detail::Full)?;
    if recording::is_recorded(&found).map_err(|error| CliError::new(ErrorKind::Failed, error))? {
        ctx.console.note(&format!("Agent {agent} is being recorded already"));
        return Ok(ExitCode::Done);
    }
    let path = super::free_path(&world, &folder, &agent)?;
    let stem = path.as_str().trim_end_matches(".cast");
    let (pid_file, log) = (HostPath::new(format!("{stem}.pid")), HostPath::new(format!("{stem}.log")));
    let failed = |error: mngr_host::files::FilesError| CliError::new(ErrorKind::Failed, error);
    world.client.files().make_folder(&folder).map_err(failed)?;
    let words = recorder_words(&world, args, &agent, &path, &pid_file);
    let cmd = Cmd::shell(START).arg("mngr").arg(log.as_str()).args(words).cwd(&ctx.surroundings.cwd);
    world.client.exec(&cmd)?;
    let begun = wait_for(&world, &pid_file, &log);
    let _ = world.client.files().remove_file(&log);
    begun?;
    output.show(&ctx.console, &Begun { agent, path })?;
    Ok(ExitCode::Done)
}

fn variable(ctx: &Ctx, name: &str) -> Result<String, CliError> {
    let value = ctx.surroundings.var(name).filter(|value| !value.is_empty()).map(str::to_owned);
    value.ok_or_else(|| {
        CliError::usage(format!("`--connect` needs the variable {name}, which is not set"))
            .hinted("it is for the `connect_command` of tests; `mngr record AGENT` records here and now")
    })
}

fn recorder_words(
    world: &World,
    args: &RecordArgs,
    agent: &str,
    path: &HostPath,
    pid_file: &HostPath,
) -> Vec<String> {
    let words = [&world.binary, "record", agent, "--quiet", "--headless", "-o", path.as_str(), "--pid-file"];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.push(pid_file.to_string());
    if args.v3 {
        words.push("--v3".to_owned());
    }
    if let Some(limit) = args.idle_limit {
        words.extend(["--idle-limit".to_owned(), format!("{}s", limit.as_secs_f64())]);
    }
    if let Some(title) = &args.title {
        words.extend(["--title".to_owned(), title.clone()]);
    }
    words.extend(args.common.setting.iter().flat_map(|setting| ["-S".to_owned(), setting.clone()]));
    words
}

/// Waits until the recorder has begun, or says why it cannot.
fn wait_for(world: &World, pid_file: &HostPath, log: &HostPath) -> Result<(), CliError> {
    let started = Instant::now();
    let files = world.client.files();
    let failed = |error: mngr_host::files::FilesError| CliError::new(ErrorKind::Failed, error);
    loop {
        if files.exists(pid_file).map_err(failed)? {
            return Ok(());
        }
        let said = files.read_if_there(log).map_err(failed)?.unwrap_or_default();
        let is_late = started.elapsed() > BEGIN_LIMIT;
        if is_late || said.ends_with(b"\n") {
            let said = String::from_utf8_lossy(&said);
            let why =
                if said.is_empty() { "it did not begin in time".into() } else { sanitize_lines(said.trim()) };
            return Err(CliError::failed(format!("the recorder failed: {why}")));
        }
        interrupt::check().map_err(|error| CliError::new(ErrorKind::Interrupted, error))?;
        std::thread::sleep(PAUSE);
    }
}

struct Begun {
    agent: String,
    path: HostPath,
}

impl Report for Begun {
    fn human(&self, _console: &Console) -> String {
        format!(
            "Recording agent {} to {}\n",
            mngr_query::sanitize(&self.agent),
            mngr_query::sanitize(self.path.as_str())
        )
    }

    fn json(&self) -> Value {
        json!({ "agent": self.agent, "path": self.path.as_str() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("recording", self.json())]
    }
}
