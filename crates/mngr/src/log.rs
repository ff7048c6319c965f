//! What every command leaves in the log: how it was called, how long it took, how it ended, which programs it ran.
//!
//! Lines are whole events, appended with one write, so that any number of commands may run at once. The log never makes a
//! command fail, and holds no value that may be a secret: see `words.rs`. Two writes for a command that runs no programs.

mod watcher;
mod words;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mngr_config::{BuildOptions, LogLevel, LoggingSettings, Merged};
use mngr_host::clock::{Clock, SystemClock};
use mngr_host::event_log::EventLog;
use mngr_host::random;
use mngr_host::trace::{Ended, SpanKind};
use mngr_model::HostPath;
use mngr_model::event::Event;
use serde_json::{Map, Value, json};

use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::wiring;

pub(crate) use watcher::watch;
pub(crate) use words::words;

/// Where the events are, below the folder of logs.
const SOURCE: &str = "logs/mngr";
/// How much is held back before it is written: most commands stay below it.
const HELD: usize = 64 * 1024;

/// The log of one command.
pub(crate) struct CommandLog {
    log: EventLog,
    level: LogLevel,
    is_logging_commands: bool,
    began: Instant,
    /// A log below the host dir is only written where there is one: reading help must not make it.
    host_dir: Option<HostPath>,
    held: Mutex<Vec<u8>>,
}

impl CommandLog {
    /// Begins the log of a command that is called with these words.
    pub(crate) fn begin(ctx: &Ctx, words: &[String], began: Instant) -> Option<Self> {
        let log = Self::open(ctx, began)?;
        let mut fields = Map::from_iter([
            ("argv".to_owned(), json!(words)),
            ("pid".to_owned(), std::process::id().into()),
            ("cwd".to_owned(), ctx.surroundings.cwd.as_str().into()),
            ("version".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ]);
        if settings_of(ctx)?.is_logging_env_vars {
            let ours = ctx.surroundings.vars().filter(|(name, _)| name.starts_with("MNGR_"));
            fields.insert(
                "env".to_owned(),
                ours.map(|(name, value)| (name.to_owned(), Value::from(value))).collect(),
            );
        }
        log.note(LogLevel::Info, "command_started", fields);
        log.flush();
        Some(log)
    }

    fn open(ctx: &Ctx, began: Instant) -> Option<Self> {
        let logging = settings_of(ctx)?;
        if logging.file_level == LogLevel::None {
            return None;
        }
        let largest = logging.max_log_size_mb.saturating_mul(1024 * 1024);
        let (path, host_dir) = match &logging.log_file_path {
            Some(path) => (ctx.surroundings.path(path), None),
            None => {
                let host_dir = match &ctx.loaded {
                    Ok(loaded) => wiring::host_dir(loaded.merged.settings(), &ctx.surroundings),
                    Err(_) => ctx.scopes.host_dir().clone(),
                };
                let path = host_dir.join(&logging.log_dir).join(SOURCE).join("events.jsonl");
                (path, Some(host_dir))
            }
        };
        Some(Self {
            log: EventLog::new(path, largest),
            level: logging.file_level,
            is_logging_commands: logging.is_logging_commands,
            began,
            host_dir,
            held: Mutex::default(),
        })
    }

    /// Notes a program that was run, or a request to another machine.
    fn span(&self, span: &Ended) {
        let (level, kind) = match span.kind {
            SpanKind::Phase => (LogLevel::Trace, "phase"),
            _ if !self.is_logging_commands => return,
            SpanKind::Process => (LogLevel::Debug, "process"),
            SpanKind::Request => (LogLevel::Debug, "request"),
        };
        let mut fields = Map::from_iter([
            ("name".to_owned(), span.name.as_str().into()),
            ("pid".to_owned(), std::process::id().into()),
            ("duration_ms".to_owned(), milliseconds(span.took.as_secs_f64())),
        ]);
        fields.extend(span.host.as_ref().map(|host| ("host".to_owned(), host.as_str().into())));
        fields.extend(span.outcome.as_ref().map(|outcome| ("outcome".to_owned(), outcome.as_str().into())));
        self.note(level, kind, fields);
    }

    /// Ends the log of a command. `told` are errors of parts of what it was to do.
    pub(crate) fn end(&self, code: ExitCode, failure: Option<&Failure>, told: &[String]) {
        let mut fields = Map::from_iter([
            ("pid".to_owned(), std::process::id().into()),
            ("exit_code".to_owned(), code.number().into()),
            ("duration_ms".to_owned(), milliseconds(self.began.elapsed().as_secs_f64())),
        ]);
        if let Some(failure) = failure {
            fields.insert("error".to_owned(), failure.message.as_str().into());
            fields.insert("error_class".to_owned(), failure.class.into());
        } else if !told.is_empty() {
            fields.insert("error".to_owned(), told.join("; ").into());
        }
        // The code of a program that was run says nothing of mngr.
        let is_failed = !matches!(code, ExitCode::Done | ExitCode::Program(_));
        self.note(if is_failed { LogLevel::Error } else { LogLevel::Info }, "command_ended", fields);
        self.flush();
    }

    fn note(&self, level: LogLevel, kind: &str, fields: Map<String, Value>) {
        let (severity, word) = rank(level);
        if severity < rank(self.level).0 {
            return;
        }
        let level = ("level".to_owned(), Value::from(word));
        let event = Event {
            timestamp: SystemClock.now(),
            kind: kind.to_owned(),
            event_id: random::event_id(),
            source: SOURCE.to_owned(),
            fields: [level].into_iter().chain(fields).collect(),
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.extend_from_slice(event.to_line().as_bytes());
        let is_full = held.len() > HELD;
        drop(held);
        if is_full {
            self.flush();
        }
    }

    /// Writes what is held back. What cannot be written now is given up: a full disk must not stop a command.
    fn flush(&self) {
        let is_there = |dir: &HostPath| std::path::Path::new(dir.as_str()).is_dir();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_empty() || !self.host_dir.as_ref().is_none_or(is_there) {
            return;
        }
        let lines = std::mem::take(&mut *held);
        drop(held);
        let _ = self.log.append(&lines);
    }
}

/// How a command failed.
pub(crate) struct Failure {
    class: &'static str,
    message: String,
}

impl Failure {
    /// As it is told to the user.
    pub(crate) fn of(error: &CliError) -> Self {
        Self { class: error.kind.class(), message: error.one_line() }
    }
}

/// What is to be logged; the defaults where the settings cannot be used.
fn settings_of(ctx: &Ctx) -> Option<LoggingSettings> {
    match &ctx.loaded {
        Ok(loaded) => Some(loaded.merged.settings().logging.clone()),
        Err(_) => Some(Merged::build(&[], &BuildOptions::default()).ok()?.settings().logging.clone()),
    }
}

/// How severe a level is, the higher the worse, and its word.
fn rank(level: LogLevel) -> (u8, &'static str) {
    match level {
        LogLevel::Trace => (0, "TRACE"),
        LogLevel::Debug => (1, "DEBUG"),
        LogLevel::Build => (2, "BUILD"),
        LogLevel::Info => (3, "INFO"),
        LogLevel::Warn => (4, "WARN"),
        LogLevel::Error => (5, "ERROR"),
        LogLevel::None => (6, "NONE"),
    }
}

/// With three places: more is noise.
fn milliseconds(seconds: f64) -> Value {
    ((seconds * 1e6).round() / 1e3).into()
}
