//! Hands what was recorded to whoever wants it: the log, the terminal at `-v`, the trace of `MNGR_TRACE`.

use std::sync::Arc;
use std::time::Instant;

use mngr_host::trace::{self, ChromeTrace, Ended, Recorder, SpanKind};
use mngr_model::env as names;

use super::CommandLog;
use crate::ctx::Ctx;
use crate::ui::Console;

struct Watcher {
    log: Option<Arc<CommandLog>>,
    trace: Option<(ChromeTrace, String)>,
    console: Console,
}

/// Records from now on, if anybody wants to know. `began` is when this process did.
pub(crate) fn watch(ctx: &Ctx, log: Option<Arc<CommandLog>>, path: &str, began: Instant) {
    let file = ctx.surroundings.var(names::MNGR_TRACE).filter(|file| !file.is_empty());
    let command = format!("mngr {}", path.replace('_', " "));
    let trace = file.map(|file| (ChromeTrace::new(ctx.surroundings.path(file), began), command));
    let is_logging = log.as_ref().is_some_and(|log| log.is_logging_commands);
    if trace.is_none() && !is_logging && !ctx.console.is_verbose() {
        return;
    }
    trace::install(Watcher { log, trace, console: ctx.console.clone() });
    trace::past("arguments and settings", began);
}

impl Recorder for Watcher {
    fn ended(&self, span: Ended) {
        let is_told = match span.kind {
            SpanKind::Phase => self.console.is_very_verbose(),
            SpanKind::Process | SpanKind::Request => self.console.is_verbose(),
        };
        if is_told {
            let place = span.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
            let outcome = span.outcome.as_ref().filter(|outcome| *outcome != "0");
            let outcome = outcome.map(|outcome| format!(" ({outcome})")).unwrap_or_default();
            let milliseconds = span.took.as_secs_f64() * 1000.0;
            let kind = span.kind.as_str();
            self.console.debug(&format!("{kind} {}{place}: {milliseconds:.1} ms{outcome}", span.name));
        }
        if let Some(log) = &self.log {
            log.span(&span);
        }
        if let Some((trace, _)) = &self.trace {
            trace.add(span);
        }
    }

    fn flush(&self) {
        if let Some(log) = &self.log {
            log.flush();
        }
        if let Some((trace, command)) = &self.trace
            && let Err(error) = trace.write(command)
        {
            self.console.warn(&mngr_ops::error_chain(&error));
        }
    }
}
