//! `mngr capture`: the text an agent's terminal shows.

use clap::Args;
use mngr_host::tmux::CaptureRange;
use mngr_model::facts::Detail;
use mngr_ops::capture::{self, CaptureRequest};
use mngr_query::sanitize_lines;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Print what an agent's terminal shows
///
/// Blank lines at the end are left out.
#[derive(Debug, Args)]
#[command(after_help = "  mngr capture try-it\n  \
                        mngr capture greeter --full\n  \
                        mngr capture server --window log")]
pub(crate) struct CaptureArgs {
    /// The agent
    #[arg(help_heading = "ARGUMENTS")]
    agent: String,

    /// Also what has scrolled away
    #[arg(long, help_heading = "OPTIONS")]
    full: bool,

    /// Another window, by number or name
    #[arg(short, long, value_name = "WINDOW", help_heading = "OPTIONS")]
    window: Option<String>,

    /// Start a stopped agent first
    #[arg(long, overrides_with = "no_start", help_heading = "OPTIONS")]
    start: bool,

    /// Fail if the agent is stopped (the default)
    #[arg(long, overrides_with = "start", help_heading = "OPTIONS")]
    no_start: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Prints it.
pub(crate) fn run(ctx: &mut Ctx, args: CaptureArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let agent = targets::one(&world, &args.agent, Detail::Full)?;
    targets::require_host(&agent)?;
    let request = CaptureRequest {
        window: args.window.clone(),
        range: if args.full { CaptureRange::Full } else { CaptureRange::Visible },
        start: args.start,
    };
    let text = capture::capture(&world, &agent, &request)?;
    output
        .show(&ctx.console, &CaptureReport { agent: agent.name().to_string(), window: args.window, text })?;
    Ok(ExitCode::Done)
}

struct CaptureReport {
    agent: String,
    window: Option<String>,
    text: String,
}

impl Report for CaptureReport {
    fn human(&self, _console: &Console) -> String {
        let text = sanitize_lines(self.text.trim_end_matches('\n'));
        if text.is_empty() { String::new() } else { format!("{text}\n") }
    }

    fn json(&self) -> Value {
        json!({ "agent": self.agent, "window": self.window, "text": self.text })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("capture", self.json())]
    }
}
