//! `mngr transcript`: what was said to an agent and by it.

use clap::Args;
use jiff::{Timestamp, Unit};
use mngr_model::address::AgentAddress;
use mngr_ops::transcript::{Body, Conversation, Role, Said, TranscriptRecord};
use mngr_query::{sanitize, sanitize_lines};
use serde_json::Value;

use crate::cli::common::CommonArgs;
use crate::commands::excerpt::ExcerptArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::TemplateFields;
use crate::ui::theme::Tone;
use crate::ui::{Console, Output, Report};

/// How much of a tool's output people are shown.
const TOOL_OUTPUT_CHARS: usize = 500;

/// Print the conversation with an agent
///
/// The same form for every type of agent that keeps its conversation; also for stopped and destroyed agents. What the
/// agent's program put into the conversation by itself (notifications, summaries, commands and what they printed) is in the
/// role `program`; what it told the model of its surroundings is shown only with `--role program`.
#[derive(Debug, Args)]
#[command(after_help = "  mngr transcript fix-login\n  \
                        mngr transcript fix-login --role assistant --tail 1")]
pub(crate) struct TranscriptArgs {
    /// The agent; of several destroyed ones with this name the last
    #[arg(help_heading = "ARGUMENTS")]
    agent: String,

    /// Only what this one said: user, assistant, tool or program (can be repeated)
    #[arg(long, value_name = "ROLE", value_parser = parse_role, help_heading = "OPTIONS")]
    role: Vec<Role>,

    #[command(flatten)]
    excerpt: ExcerptArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

fn parse_role(text: &str) -> Result<Role, String> {
    let known = Role::ALL.into_iter().find(|role| role.as_str() == text);
    known.ok_or_else(|| format!("`{}` is not one of user, assistant, tool, program", sanitize(text)))
}

/// Prints it.
pub(crate) fn run(ctx: &mut Ctx, args: TranscriptArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    args.excerpt.check(&output)?;
    let address: AgentAddress = args.agent.parse()?;
    let world = ctx.world()?;
    let mut conversation = Conversation::open(&world, &address)?;
    let show = |ctx: &Ctx, said: Said, place: Place| {
        if said.damaged > 0 {
            let count = said.damaged;
            ctx.console
                .warn(&format!("{count} line(s) of the conversation could not be read and were left out"));
        }
        let is_wanted = |record: &TranscriptRecord| match args.role.is_empty() {
            true => !record.is_context(),
            false => args.role.contains(&record.role()),
        };
        let mut records: Vec<TranscriptRecord> = said.records.into_iter().filter(is_wanted).collect();
        if place == Place::Beginning {
            records = args.excerpt.cut(records);
        }
        output.show(&ctx.console, &TranscriptReport { records })
    };
    show(ctx, conversation.read_more()?, Place::Beginning)?;
    if args.excerpt.follow {
        while let Some(said) = conversation.wait_for_more()? {
            show(ctx, said, Place::Later)?;
        }
    }
    Ok(ExitCode::Done)
}

/// Whether something was there when we came.
#[derive(PartialEq, Eq)]
enum Place {
    Beginning,
    Later,
}

struct TranscriptReport {
    records: Vec<TranscriptRecord>,
}

impl Report for TranscriptReport {
    fn human(&self, console: &Console) -> String {
        self.records.iter().map(|record| block(record, console)).collect()
    }

    fn json(&self) -> Value {
        Value::Array(self.events())
    }

    fn events(&self) -> Vec<Value> {
        self.records.iter().map(|record| serde_json::to_value(record).unwrap_or_default()).collect()
    }
}

/// A head line, what was said, and an empty line.
fn block(record: &TranscriptRecord, console: &Console) -> String {
    let (who, said) = match &record.body {
        Body::UserMessage { content, .. } => ("user".to_owned(), content.clone()),
        Body::AssistantMessage { text, tool_calls, .. } => {
            let mut said = text.clone();
            for call in tool_calls {
                let start = if said.is_empty() { "" } else { "\n" };
                said +=
                    &format!("{start}  -> {}({})", sanitize(&call.tool_name), sanitize(&call.input_preview));
            }
            ("assistant".to_owned(), said)
        }
        Body::ToolResult { tool_name, output, is_error, .. } => {
            let name = tool_name.as_deref().unwrap_or("unknown");
            let failed = if *is_error { ", failed" } else { "" };
            (format!("tool ({}{failed})", sanitize(name)), cut(output))
        }
        Body::ProgramMessage { kind, content, .. } => (format!("program ({})", kind.words()), cut(content)),
    };
    let sub_agent = if record.is_sidechain { " of a sub-agent" } else { "" };
    let head = format!("[{}] {who}{sub_agent}:", whole_seconds(record.timestamp));
    let head = console.out_colour().paint(Tone::Heading, &head);
    format!("{head}\n{}\n\n", sanitize_lines(said.trim_end()))
}

fn cut(output: &str) -> String {
    match output.char_indices().nth(TOOL_OUTPUT_CHARS) {
        Some((end, _)) => format!("{}…", &output[..end]),
        None => output.to_owned(),
    }
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    time.round(Unit::Second).unwrap_or(time)
}
