//! `mngr message`: text into agents, with proof.

use std::time::Duration;

use clap::Args;
use mngr_model::duration::parse_duration;
use mngr_model::facts::Detail;
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::message::{self, Decision, MessageKey, MessageRequest, Sent};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::create::there;
use crate::commands::targets::{Failure, MatchArgs};
use crate::commands::{editor, targets};
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::input;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

mod answer;

use answer::AnswerReport;

/// Send text to agents, or answer what they ask permission for
///
/// The first word is the agent and the rest is the text. With -m, --message-file, --agent or `-`, all words are agents. With
/// one word only, the text is read from standard input, or from an editor. A text that begins with `-` is given with -m, or
/// after `--`. Exit code 7: it was delivered, and the agent shows a dialog that has to be answered first.
///
/// With --approve or --deny all words are agents, and each is told whether it may do what it asks for: the one thing it
/// asked first, once. Only Codex with the setting `app_server` takes such an answer; others are answered in their terminals.
#[derive(Debug, Args)]
#[command(after_help = "  mngr message fix-login 'yes, thank you'\n  \
                        mngr message greeter second-try -m 'echo stop here'\n  \
                        git log -1 | mngr message greeter\n  \
                        mngr message greeter --key nightly-1 -m 'good morning'\n  \
                        mngr message greeter --approve || echo \"ended with $?\"\n  \
                        mngr list --running --ids | mngr message - -m \"please commit what you have\"")]
pub(crate) struct MessageArgs {
    /// The agent and the text, or agents only
    #[arg(value_name = "AGENT|TEXT", help_heading = "ARGUMENTS")]
    words: Vec<String>,

    /// One more agent (can be repeated)
    #[arg(long, value_name = "AGENT", help_heading = "OPTIONS")]
    agent: Vec<String>,

    #[command(flatten)]
    matches: MatchArgs,

    /// The text
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "OPTIONS")]
    message: Option<String>,

    /// A file that holds the text
    #[arg(long, value_name = "FILE", conflicts_with = "message", help_heading = "OPTIONS")]
    message_file: Option<String>,

    /// Send nothing if a message with this key was delivered before
    #[arg(long, alias = "idempotency-key", value_name = "KEY", help_heading = "OPTIONS")]
    key: Option<MessageKey>,

    /// Allow what the agent asks permission for, this once
    #[arg(long, conflicts_with_all = ["message", "message_file", "key", "start"], help_heading = "OPTIONS")]
    approve: bool,

    /// Refuse what the agent asks permission for; it goes on without
    #[arg(long, conflicts_with_all = ["approve", "message", "message_file", "key", "start"], help_heading = "OPTIONS")]
    deny: bool,

    /// How long the agent may take to accept it
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30s", help_heading = "OPTIONS")]
    timeout: Duration,

    /// Start a stopped agent first
    #[arg(long, overrides_with = "no_start", help_heading = "OPTIONS")]
    start: bool,

    /// Fail if an agent is stopped (the default)
    #[arg(long, overrides_with = "start", help_heading = "OPTIONS")]
    no_start: bool,

    /// Accepted for older scripts; has no effect: one failure never keeps the others from being sent
    #[arg(long, value_name = "MODE", value_parser = ["abort", "continue"], hide = true)]
    on_error: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Sends it.
pub(crate) fn run(ctx: &mut Ctx, args: MessageArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    if let Some(decision) = decision(&args) {
        return answer(ctx, &args, &output, decision);
    }
    let (agents, typed) = split(&args);
    let from_stdin = agents.iter().any(|word| word == targets::STDIN);
    let Some(addresses) = targets::addresses(ctx, agents.iter().chain(&args.agent))? else {
        return Ok(ExitCode::Done);
    };
    let given = match typed {
        Some(text) => Some(text),
        None => text(ctx, &args, from_stdin)?,
    };
    let world = ctx.world()?;
    let select = || {
        let fleet = Fleet::look_for(&world, &addresses, Detail::Basic);
        targets::select(&fleet, &addresses, args.matches.shared_name())
    };
    let mut selected = select();
    let is_several = |failure: &Failure| failure.error.kind == ErrorKind::Failed;
    if selected.agents.is_empty() && !selected.failures.iter().any(is_several) {
        ctx.console.note("No agents found to send message to");
    }
    let is_written_now = given.is_none() && !selected.agents.is_empty();
    let text = match given {
        Some(text) => text,
        // Nobody writes a letter to somebody who is not there.
        None if selected.agents.is_empty() => String::new(),
        None => {
            let text = compose(ctx, &selected.agents)?;
            // Much may have happened while it was written.
            selected = select();
            text
        }
    };
    let request =
        MessageRequest { text, idempotency_key: args.key, patience: args.timeout, start: args.start };
    let mut batch = Batch::run(selected, |agent| message::send(&world, agent, &request));
    let is_blocked = batch.done.iter().any(|(_, sent)| sent.blocked_by.is_some());
    let code = batch.exit_code().and(if is_blocked { ExitCode::Blocked } else { ExitCode::Done });
    if is_written_now && let Some(failure) = batch.failures.pop() {
        batch.failures.push(Failure { error: editor::keep(ctx, failure.error, &request.text), ..failure });
    }
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &MessageReport { batch, text: request.text })?;
    Ok(code)
}

fn decision(args: &MessageArgs) -> Option<Decision> {
    match (args.approve, args.deny) {
        (true, _) => Some(Decision::Approve),
        (_, true) => Some(Decision::Deny),
        _ => None,
    }
}

/// Answers instead of sending anything.
fn answer(
    ctx: &mut Ctx,
    args: &MessageArgs,
    output: &Output,
    decision: Decision,
) -> Result<ExitCode, CliError> {
    let Some(addresses) = targets::addresses(ctx, args.words.iter().chain(&args.agent))? else {
        return Ok(ExitCode::Done);
    };
    let world = ctx.world()?;
    let fleet = Fleet::look_for(&world, &addresses, Detail::Basic);
    let selected = targets::select(&fleet, &addresses, args.matches.shared_name());
    let batch = Batch::run(selected, |agent| message::answer(&world, agent, decision));
    batch.tell_failures(&ctx.console);
    let code = batch.exit_code();
    output.show(&ctx.console, &AnswerReport { batch, decision })?;
    Ok(code)
}

/// Which words are agents, and the text where it is among the words.
fn split(args: &MessageArgs) -> (Vec<String>, Option<String>) {
    let all_are_agents = args.message.is_some()
        || args.message_file.is_some()
        || !args.agent.is_empty()
        || args.words.iter().any(|word| word == targets::STDIN);
    match args.words.split_first() {
        Some((agent, rest)) if !all_are_agents && !rest.is_empty() => {
            (vec![agent.clone()], Some(rest.join(" ")))
        }
        _ => (args.words.clone(), None),
    }
}

/// Lets the user write the text.
fn compose(ctx: &Ctx, agents: &[Agent]) -> Result<String, CliError> {
    let title = match agents {
        [agent] => format!("message-to-{}", agent.name()),
        several => format!("message-to-{}-agents", several.len()),
    };
    let text = editor::compose(ctx, &title, "")?;
    if text.trim().is_empty() {
        return Err(CliError::failed("nothing was sent: the message is empty")
            .hinted("`mngr message AGENT 'TEXT'` needs no editor"));
    }
    Ok(text)
}

/// The text from where it is when it is not among the words; `None` when the user has still to write it.
fn text(ctx: &mut Ctx, args: &MessageArgs, stdin_is_taken: bool) -> Result<Option<String>, CliError> {
    if let Some(text) = &args.message {
        return Ok(Some(text.clone()));
    }
    if let Some(file) = &args.message_file {
        let path = there("--message-file", ctx.surroundings.path(file))?;
        return std::fs::read_to_string(path.as_str()).map(Some).map_err(|source| {
            CliError::new(ErrorKind::Failed, MessageFileError { path: path.to_string(), source })
        });
    }
    if !ctx.surroundings.terminals.stdin && !stdin_is_taken && args.words.len() == 1 && args.agent.is_empty()
    {
        return input::all().map(Some);
    }
    if !stdin_is_taken && ctx.is_interactive()? {
        return Ok(None);
    }
    Err(CliError::usage("there is no text to send").hinted("give it with `-m TEXT`"))
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the message in `{path}`")]
struct MessageFileError {
    path: String,
    #[source]
    source: std::io::Error,
}

struct MessageReport {
    batch: Batch<Sent>,
    text: String,
}

impl MessageReport {
    /// Agents that nothing keeps from it, by name.
    fn successful(&self) -> Vec<&str> {
        let free = self.batch.done.iter().filter(|(_, sent)| sent.blocked_by.is_none());
        free.map(|(agent, _)| agent.name().as_str()).collect()
    }

    /// Agents that show a dialog.
    fn blocked(&self) -> Vec<Value> {
        let object = |(agent, sent): &(Agent, Sent)| {
            let evidence = sent.blocked_by.as_ref()?;
            let error = format!("delivered, but a dialog has to be answered first ({evidence})");
            Some(json!({ "agent": agent.name().as_str(), "error": error }))
        };
        self.batch.done.iter().filter_map(object).collect()
    }
}

impl Report for MessageReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let sent = self.batch.done.iter().map(|(agent, sent)| {
            let note = match &sent.blocked_by {
                Some(evidence) => format!(" (a dialog has to be answered first: {})", sanitize(evidence)),
                None if sent.was_repeated => " (it was sent before)".to_owned(),
                None => String::new(),
            };
            format!("Message sent to: {}{note}", sanitize(agent.name().as_str()))
        });
        let count = self.batch.done.len();
        let total = (count > 0).then(|| format!("Successfully sent message to {count} agent(s)"));
        lines(sent.chain(total))
    }

    fn json(&self) -> Value {
        let names = self.successful();
        let blocked = self.blocked();
        let delivery = |(agent, sent): &(Agent, Sent)| {
            json!({
                "agent": agent.name().as_str(),
                "level": sent.level.as_str(),
                "key": sent.key.as_str(),
                "was_repeated": sent.was_repeated,
            })
        };
        let deliveries: Vec<Value> = self.batch.done.iter().map(delivery).collect();
        json!({
            "successful_agents": names,
            "failed_agents": self.batch.error_objects(),
            "blocked_agents": blocked,
            "total_sent": names.len(),
            "total_failed": self.batch.failures.len(),
            "total_blocked": blocked.len(),
            "deliveries": deliveries,
        })
    }

    fn events(&self) -> Vec<Value> {
        let sent = self.batch.done.iter().map(|(agent, sent)| {
            let name = agent.name().as_str();
            event(
                "message_sent",
                json!({ "agent": name, "message": self.text, "level": sent.level.as_str() }),
            )
        });
        let failed = self.batch.error_objects().into_iter().map(|error| event("message_error", error));
        sent.chain(failed).collect()
    }
}
