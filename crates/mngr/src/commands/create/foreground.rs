//! `create --foreground`: what an agent without a terminal prints goes to our own streams, and its exit code is ours.

use mngr_agents::headless::Verdict;
use mngr_host::interrupt;
use mngr_model::process::ExitStatus;
use mngr_ops::create::{Attended, Created, Ended, Finished, Piece};
use mngr_ops::destroy::WorkDir;
use mngr_ops::transcript::{Body, TranscriptRecord};
use mngr_ops::world::World;
use mngr_query::{sanitize, sanitize_lines};
use serde_json::{Value, json};

use super::lines::LineCutter;
use super::run::CreateReport;
use crate::commands::destroy::work_dir_object;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Console;
use crate::ui::output::{Output, Report, event, lines};
use crate::ui::theme::Tone;

/// What a program that is stopped is asked to end with.
const TERMINATED: ExitStatus = ExitStatus::Signal(15);

/// How much of the end of a program's output `--format json` repeats.
const SHOWN: usize = 1024 * 1024;

/// Attends the agent to its end.
pub(super) fn run(
    ctx: &Ctx,
    world: &World,
    output: &Output,
    created: &Created,
    report: &CreateReport<'_>,
) -> Result<ExitCode, CliError> {
    let console = &ctx.console;
    match output {
        Output::Jsonl => output.show(console, report)?,
        // Standard output belongs to the program.
        _ => console.note(report.human(console).trim_end()),
    }
    let mut listener = Listener::new(console, output);
    let mut attended = Attended::new(world, created)?;
    let followed = attended.follow(&mut |piece| listener.hear(piece)).and_then(|ended| {
        listener.finish()?;
        Ok((ended, attended.verdict()?))
    });
    let (ended, verdict) = match followed {
        Ok(followed) => followed,
        // A terminal that went away cannot be written to either.
        Err(_) if interrupt::has_hung_up() => (Ended::LeftRunning, Verdict::default()),
        Err(error) => {
            // Nobody takes what it prints any more.
            attended.destroy()?;
            return Err(error);
        }
    };
    if ended == Ended::LeftRunning {
        console.note(&format!("agent `{}` runs on; `mngr list` shows it", created.name));
        return Ok(ExitCode::Interrupted);
    }
    listener.supply(&verdict)?;
    let has_conversation = attended.has_conversation();
    let mut run = Run { created, ended, verdict, listener, has_conversation, finished: None };
    let mut code = run.code();
    if run.ended != Ended::Destroyed {
        match attended.destroy() {
            Ok(finished) => run.finished = Some(finished),
            Err(error) => {
                let error = CliError::from(error);
                console.warn(&format!("the agent was not destroyed: {}", error.one_line()));
                // The program's own failure says more.
                if code.number() == 0 {
                    code = error.kind.exit_code();
                }
            }
        }
    }
    run.show(console, output, code)?;
    Ok(code)
}

/// Passes on what the program does, in the form that was asked for.
struct Listener<'a> {
    console: &'a Console,
    output: &'a Output,
    cutter: LineCutter,
    /// What a coding agent said last.
    answer: Option<String>,
    /// The end of what was printed, and how much there was.
    end: Vec<u8>,
    printed: u64,
}

impl<'a> Listener<'a> {
    fn new(console: &'a Console, output: &'a Output) -> Self {
        Self { console, output, cutter: LineCutter::default(), answer: None, end: Vec::new(), printed: 0 }
    }

    fn hear(&mut self, piece: Piece<'_>) -> Result<(), CliError> {
        match piece {
            Piece::Errors(bytes) => {
                self.console.print_error_bytes(bytes);
                Ok(())
            }
            Piece::Output(bytes) => self.print(bytes),
            Piece::Said(record) => self.say(record),
        }
    }

    fn print(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.printed += bytes.len() as u64;
        match self.output {
            Output::Jsonl => {
                let pieces = self.cutter.feed(bytes);
                self.console.print(&lines(pieces.into_iter().map(|piece| output_event(&piece).to_string())))
            }
            Output::Json => {
                self.end.extend_from_slice(bytes);
                // Only now and then: moving the rest forward for every piece would cost more than the piece.
                if self.end.len() > 2 * SHOWN {
                    self.end.drain(..self.end.len() - SHOWN);
                }
                Ok(())
            }
            _ => self.console.print_bytes(bytes),
        }
    }

    /// People get the model's own words; what it does besides is told on the other stream.
    fn say(&mut self, record: &TranscriptRecord) -> Result<(), CliError> {
        // As in `transcript`: what the program tells the model about itself is not a part of the conversation.
        if record.is_context() {
            return Ok(());
        }
        if let Output::Jsonl = self.output {
            let object = serde_json::to_value(record).unwrap_or_default();
            self.console.print(&lines([object.to_string()]))?;
        }
        let Body::AssistantMessage { text, tool_calls, .. } = &record.body else { return Ok(()) };
        if record.is_sidechain || !record.is_of_model() {
            return Ok(());
        }
        if let Output::Human = self.output {
            for call in tool_calls {
                let (tool, input) = (sanitize(&call.tool_name), sanitize(&call.input_preview));
                self.console.note(&format!("-> {tool}({input})"));
            }
        }
        self.answer(text)
    }

    fn answer(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.answer = Some(text.to_owned());
        match self.output {
            Output::Human => self.console.print(&format!("{}\n", sanitize_lines(text))),
            _ => Ok(()),
        }
    }

    /// The end of the stream.
    fn finish(&mut self) -> Result<(), CliError> {
        match self.cutter.rest() {
            Some(rest) => self.console.print(&lines([output_event(&rest).to_string()])),
            None => Ok(()),
        }
    }

    /// A program that was told to keep no record of its conversation still prints its answer.
    fn supply(&mut self, verdict: &Verdict) -> Result<(), CliError> {
        match (&self.answer, &verdict.answer) {
            (None, Some(answer)) => self.answer(answer),
            _ => Ok(()),
        }
    }
}

fn output_event(bytes: &[u8]) -> Value {
    event("output", json!({ "stream": "stdout", "text": String::from_utf8_lossy(bytes) }))
}

/// A run that is over.
struct Run<'a> {
    created: &'a Created,
    ended: Ended,
    verdict: Verdict,
    listener: Listener<'a>,
    has_conversation: bool,
    finished: Option<Finished>,
}

impl Run<'_> {
    fn code(&self) -> ExitCode {
        match &self.ended {
            Ended::Exited(status) => ExitCode::of_program(status.to_shell()),
            Ended::Stopped => ExitCode::of_program(TERMINATED.to_shell()),
            Ended::Interrupted | Ended::LeftRunning => ExitCode::Interrupted,
            Ended::Lost { .. } | Ended::Destroyed => ExitCode::Failed,
        }
    }

    /// Why it failed, as far as that is known.
    fn failure(&self) -> Option<String> {
        match &self.ended {
            Ended::Exited(ExitStatus::Code(0)) | Ended::Stopped | Ended::Interrupted | Ended::LeftRunning => {
                None
            }
            Ended::Exited(_) => self.verdict.failure.clone(),
            Ended::Lost { evidence } => Some(format!("how the program ended is not known: {evidence}")),
            Ended::Destroyed => Some("another command destroyed the agent".to_owned()),
        }
    }

    fn show(&self, console: &Console, output: &Output, code: ExitCode) -> Result<(), CliError> {
        if let Some(failure) = self.failure() {
            console.error_line(Tone::Error, "error:", &failure);
        }
        for note in self.finished.iter().flat_map(|finished| &finished.destroyed.notes) {
            console.warn(note);
        }
        console.note(&self.last_line());
        match output {
            Output::Json => console.print(&lines([self.object(code).to_string()])),
            Output::Jsonl => console.print(&lines([event("result", self.object(code)).to_string()])),
            _ => Ok(()),
        }
    }

    /// How it ended and where the work is.
    fn last_line(&self) -> String {
        let how = match &self.ended {
            Ended::Exited(status) => status.describe(),
            Ended::Stopped => "stopped by another command".to_owned(),
            Ended::Interrupted => "interrupted".to_owned(),
            Ended::Lost { .. } | Ended::Destroyed | Ended::LeftRunning => "its end was not seen".to_owned(),
        };
        let name = &self.created.name;
        let Some(Finished { destroyed, branch }) = &self.finished else {
            return format!("Ended agent: {name} ({how})");
        };
        let mut line = format!("Destroyed agent: {name} ({how})");
        if let Some(branch) = branch {
            line += &format!("; its commits are on branch `{}`", sanitize(branch));
        }
        if let WorkDir::Kept { path, .. } = &destroyed.work_dir {
            line += &format!("; its work dir `{}` stays", sanitize(path.as_str()));
        }
        // By its id: earlier agents of a script may have had the same name.
        line + &format!("; `mngr undo {}` brings it back", self.created.id)
    }

    fn object(&self, code: ExitCode) -> Value {
        let signal = match self.ended {
            Ended::Exited(ExitStatus::Signal(signal)) => Some(signal),
            _ => None,
        };
        let mut object = json!({
            "agent_id": self.created.id,
            "agent_name": self.created.name,
            "type": self.created.agent_type,
            "exit_code": code.number(),
            "signal": signal,
            "result": self.listener.answer,
            "error": self.failure(),
            "branch": self.finished.as_ref().and_then(|finished| finished.branch.as_deref()),
            "work_dir": self.finished.as_ref().map(|finished| work_dir_object(&finished.destroyed.work_dir)),
        });
        if let Output::Json = self.listener.output
            && !self.has_conversation
        {
            let end = &self.listener.end[self.listener.end.len().saturating_sub(SHOWN)..];
            object["stdout"] = String::from_utf8_lossy(end).into();
            object["stdout_bytes"] = self.listener.printed.into();
        }
        object
    }
}
