//! How a command fails: what kind of failure it is, why, and what the user can do about it.
//!
//! The kind decides the exit code and the `error_class` scripts see; nothing else does. How an error looks is in
//! `ui/error_text.rs`.

mod by_cause;
mod convert;

use std::error::Error;

use serde_json::{Map, Value};

use crate::exit_code::ExitCode;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Anything without a kind of its own.
    Failed,
    /// The command line is wrong.
    Usage,
    /// The settings are wrong.
    Config,
    /// The repository's settings are not trusted.
    Untrusted,
    /// No such agent or host.
    NotFound,
    /// A provider could not be asked.
    ProviderUnavailable,
    /// The time was up.
    TimedOut,
    /// Processes may still be running.
    ProcessesRemain,
    /// Local state is left over.
    LocalStateRemains,
    /// Resources of a host are left over.
    HostResourcesRemain,
    /// The user interrupted it.
    Interrupted,
    /// Nobody reads our output any more, which is how `| head` ends.
    BrokenPipe,
    /// The user left a menu: there is nothing to tell.
    Left,
}

impl ErrorKind {
    /// The exit code of a command that ends with it.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Failed | Self::Config | Self::Untrusted => ExitCode::Failed,
            Self::Usage => ExitCode::Usage,
            Self::NotFound => ExitCode::NotFound,
            Self::ProviderUnavailable => ExitCode::ProviderUnavailable,
            Self::TimedOut => ExitCode::TimedOut,
            Self::ProcessesRemain => ExitCode::ProcessesRemain,
            Self::LocalStateRemains => ExitCode::LocalStateRemains,
            Self::HostResourcesRemain => ExitCode::HostResourcesRemain,
            Self::Interrupted | Self::Left => ExitCode::Interrupted,
            Self::BrokenPipe => ExitCode::Done,
        }
    }

    /// The word scripts see.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Failed => "Failed",
            Self::Usage => "UsageError",
            Self::Config => "ConfigError",
            Self::Untrusted => "UntrustedProject",
            Self::NotFound => "NotFound",
            Self::ProviderUnavailable => "ProviderUnavailable",
            Self::TimedOut => "TimedOut",
            Self::ProcessesRemain => "ProcessesRemain",
            Self::LocalStateRemains => "LocalStateRemains",
            Self::HostResourcesRemain => "HostResourcesRemain",
            Self::Interrupted | Self::Left => "Interrupted",
            Self::BrokenPipe => "BrokenPipe",
        }
    }

    /// The `category` of a failure among several, as `stop` and `destroy` report them.
    pub(crate) fn category(self) -> &'static str {
        match self {
            Self::TimedOut => "TIMEOUT",
            Self::ProcessesRemain => "PROCESSES_REMAIN",
            Self::LocalStateRemains => "LOCAL_STATE_REMAINS",
            Self::HostResourcesRemain => "HOST_RESOURCE_REMAINS",
            Self::ProviderUnavailable => "PROVIDER_INACCESSIBLE",
            _ => "OTHER",
        }
    }
}

/// Why the command failed.
#[derive(Debug)]
pub(crate) struct CliError {
    /// What kind of failure it is.
    pub(crate) kind: ErrorKind,
    /// What went wrong, with its causes.
    pub(crate) source: Box<dyn Error + Send + Sync>,
    /// The faulty text with a mark under the fault, for small languages.
    pub(crate) snippet: Option<String>,
    /// What the user can do about it.
    pub(crate) hints: Vec<String>,
    /// Further fields of the JSON object.
    pub(crate) details: Vec<(String, Value)>,
}

/// An error that is only a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);

impl CliError {
    /// A failure of that kind with the error behind it.
    pub(crate) fn new(kind: ErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = source.into();
        let hints = by_cause::hints(source.as_ref());
        Self { kind, source, snippet: None, hints, details: Vec::new() }
    }

    /// A failure that is only a sentence.
    pub(crate) fn message(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self::new(kind, Message(text.into()))
    }

    /// The user left a menu, which is no failure to be told of.
    pub(crate) fn quiet_end() -> Self {
        Self::message(ErrorKind::Left, "nothing was chosen")
    }

    /// The command line is wrong.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::message(ErrorKind::Usage, text)
    }

    /// Something failed.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::message(ErrorKind::Failed, text)
    }

    /// With advice.
    #[must_use]
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With a further field for scripts.
    #[must_use]
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.details.push((field.to_owned(), value.into()));
        self
    }

    /// With the faulty text shown.
    #[must_use]
    pub(crate) fn showing(mut self, snippet: String) -> Self {
        self.snippet = Some(snippet);
        self
    }

    /// The error and its causes in one line.
    pub(crate) fn one_line(&self) -> String {
        mngr_ops::error_chain(self.source.as_ref())
    }

    /// The causes below the first message, each once.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut shown = self.source.to_string();
        let mut causes = Vec::new();
        let mut next = self.source.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !shown.ends_with(&text) {
                causes.push(text.clone());
            }
            shown = text;
            next = cause.source();
        }
        causes
    }

    /// What `--format json` shows of it.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("error".into(), self.source.to_string().into());
        object.insert("error_class".into(), self.kind.class().into());
        object.insert("message".into(), self.one_line().into());
        object.insert("hints".into(), self.hints.clone().into());
        object.insert("exit_code".into(), self.kind.exit_code().number().into());
        object.extend(self.details.clone());
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer: {0}")]
    struct Outer(#[source] Message);

    #[test]
    fn a_cause_that_the_message_already_tells_is_not_told_again() {
        let told = CliError::new(ErrorKind::Failed, Outer(Message("inner".into())));
        assert_eq!(told.causes(), [""; 0]);
        assert_eq!(told.one_line(), "outer: inner");
    }

    #[test]
    fn json_carries_class_code_and_details() {
        let error = CliError::message(ErrorKind::NotFound, "nobody").hinted("look").with("key", "k");
        let shown = Value::Object(error.to_json()).to_string();
        assert_eq!(
            shown,
            r#"{"error":"nobody","error_class":"NotFound","message":"nobody","hints":["look"],"exit_code":9,"key":"k"}"#
        );
    }
}
