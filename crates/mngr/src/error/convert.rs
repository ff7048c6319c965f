//! From the errors of the libraries to failures of a command. This is where hints get attached.

use mngr_agents::codex::server::ServerError;
use mngr_agents::deliver::DeliverError;
use mngr_config::edit::EditError;
use mngr_config::trust::TrustError;
use mngr_config::{ConfigError, KeyError, LayerError};
use mngr_e2e::recorder::RecordError;
use mngr_e2e::tutorial::fill::StoreError;
use mngr_host::local::LocalHostError;
use mngr_host::proc::ExecError;
use mngr_host::provider::HostAction;
use mngr_model::address::{AddressError, AddressProblem};
use mngr_model::duration::DurationError;
use mngr_ops::again::LookError;
use mngr_ops::archive::ArchiveError;
use mngr_ops::awake::WakeError;
use mngr_ops::capture::CaptureError;
use mngr_ops::connect::ConnectError;
use mngr_ops::create::FollowError;
use mngr_ops::destroy::DestroyError;
use mngr_ops::event::EventError;
use mngr_ops::exec::ExecFailure;
use mngr_ops::file::FileError;
use mngr_ops::hosts::{FindHostError, HostLifeError};
use mngr_ops::label::{LabelError, RelabelError};
use mngr_ops::launch::LaunchError;
use mngr_ops::limit::LimitError;
use mngr_ops::message::{AnswerError, SendError};
use mngr_ops::recording::RecordingError;
use mngr_ops::rename::RenameError;
use mngr_ops::select::SelectError;
use mngr_ops::start::StartError;
use mngr_ops::stop::StopError;
use mngr_ops::transcript::TranscriptError;
use mngr_ops::tutorial::DecideError;
use mngr_ops::undo::UndoError;
use mngr_ops::usage::UsageError;
use mngr_ops::wait::WaitError;
use mngr_query::{FilterError, HeaderError, ProjectionError, SortError, TemplateError};

use super::{CliError, ErrorKind};

macro_rules! kinds {
    ($($error:ty => $kind:ident;)*) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::new(ErrorKind::$kind, error)
            }
        })*
    };
}

kinds! {
    DurationError => Usage;
    ExecError => Failed;
    HeaderError => Usage;
    KeyError => Usage;
    LabelError => Usage;
    LocalHostError => Failed;
    ProjectionError => Usage;
    RelabelError => Failed;
    RenameError => Failed;
    SortError => Usage;
    TrustError => Failed;
    WaitError => Failed;
}

impl From<AddressError> for CliError {
    fn from(error: AddressError) -> Self {
        // An IP address, a domain name or `user@machine`.
        let is_of_a_machine = matches!(error.problem, AddressProblem::SecondAt | AddressProblem::SecondDot);
        let failure = Self::new(ErrorKind::Usage, error);
        if is_of_a_machine {
            return failure.hinted(
                "a machine goes by a short name: its `Host` in your ssh config, where its address and user stand",
            );
        }
        failure
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let is_unknown_key = matches!(&error, ConfigError::Problems(problems)
            if problems.0.iter().any(mngr_config::Problem::is_unknown_key));
        let failure = Self::new(ErrorKind::Config, error);
        if is_unknown_key {
            return failure.hinted("`mngr config list --schema` shows every key");
        }
        failure
    }
}

impl From<EditError> for CliError {
    fn from(error: EditError) -> Self {
        let is_about_the_key = matches!(error, EditError::Unknown { .. } | EditError::Invalid { .. });
        let failure = Self::new(ErrorKind::Config, error);
        if is_about_the_key {
            return failure.hinted("`mngr config list --schema` shows every key and what it takes");
        }
        failure
    }
}

impl From<LayerError> for CliError {
    fn from(error: LayerError) -> Self {
        ConfigError::from(error).into()
    }
}

impl From<FilterError> for CliError {
    fn from(error: FilterError) -> Self {
        let snippet = error.snippet();
        Self::new(ErrorKind::Failed, error)
            .showing(snippet)
            .hinted("`mngr help filters` shows how to write one; `mngr list --schema` shows the fields")
    }
}

impl From<TemplateError> for CliError {
    fn from(error: TemplateError) -> Self {
        let snippet = error.snippet();
        Self::new(ErrorKind::Usage, error).showing(snippet)
    }
}

impl From<SelectError> for CliError {
    fn from(error: SelectError) -> Self {
        let (kind, hint) = match &error {
            SelectError::NotFound { .. } => {
                (ErrorKind::NotFound, Some("`mngr list` shows all agents, `mngr undo` the destroyed ones"))
            }
            SelectError::Unavailable { .. } => {
                (ErrorKind::ProviderUnavailable, Some("`mngr list --hosts` shows which hosts answer"))
            }
            SelectError::HostOff { .. } => {
                (ErrorKind::Failed, Some("`mngr start @HOST.PROVIDER` starts its host"))
            }
            SelectError::Ambiguous { .. } => {
                (ErrorKind::Failed, Some("name one by its id, or as `name@host.provider`"))
            }
            SelectError::Namesakes { .. } => {
                (ErrorKind::Failed, Some("name one of them as above, or all of them with `--all-matches`"))
            }
        };
        let failure = Self::new(kind, error);
        hint.into_iter().fold(failure, CliError::hinted)
    }
}

impl From<LookError> for CliError {
    fn from(error: LookError) -> Self {
        let (kind, hint) = match error {
            LookError::Gone { .. } => (ErrorKind::NotFound, None),
            LookError::HostOff { .. } => (ErrorKind::Failed, Some("`mngr start` starts it, and its host")),
            LookError::Host { .. } => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        let hint = record_hint(&error);
        let failure = Self::new(ErrorKind::Failed, error);
        hint.into_iter().fold(failure, CliError::hinted)
    }
}

impl From<RecordingError> for CliError {
    fn from(error: RecordingError) -> Self {
        let hint = match &error {
            RecordingError::NoTerminal { name, .. } => Some(format!("`mngr start {name}` starts it")),
            RecordingError::Recorder { source, .. } => record_hint(source),
            _ => None,
        };
        let failure = Self::new(ErrorKind::Failed, error);
        hint.into_iter().fold(failure, CliError::hinted)
    }
}

fn record_hint(error: &RecordError) -> Option<String> {
    match error {
        RecordError::Exists { .. } => Some("`--overwrite` replaces it".to_owned()),
        RecordError::Piped { pane } => Some(format!("`tmux pipe-pane -t {pane}` closes that pipe")),
        _ => None,
    }
}

impl From<ArchiveError> for CliError {
    fn from(error: ArchiveError) -> Self {
        let is_at_work = matches!(error, ArchiveError::AtWork { .. });
        let failure = Self::new(ErrorKind::Failed, error);
        if is_at_work {
            return failure.hinted("`mngr stop --archive` ends it first; `--force` archives it as it is");
        }
        failure
    }
}

impl From<CaptureError> for CliError {
    fn from(error: CaptureError) -> Self {
        let has_no_terminal = matches!(error, CaptureError::NoTerminal { .. });
        let failure = Self::new(ErrorKind::Failed, error);
        if has_no_terminal { failure.hinted("`--start` starts it first") } else { failure }
    }
}

impl From<ConnectError> for CliError {
    fn from(error: ConnectError) -> Self {
        let hint = match &error {
            ConnectError::NoTerminal { name, .. } => Some(format!("`mngr start {name}` starts it")),
            _ => None,
        };
        hint.into_iter().fold(Self::new(ErrorKind::Failed, error), CliError::hinted)
    }
}

impl From<StopError> for CliError {
    fn from(error: StopError) -> Self {
        let kind = match error {
            StopError::ProcessesRemain { .. } => ErrorKind::ProcessesRemain,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        let kind = match error {
            StartError::Stop { source: StopError::ProcessesRemain { .. }, .. } => ErrorKind::ProcessesRemain,
            _ => ErrorKind::Failed,
        };
        let hint = match &error {
            StartError::Launch { source: LaunchError::NotRunnable { remedy: Some(remedy), .. }, .. } => {
                Some(format!("`{remedy}` installs it"))
            }
            _ => None,
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<DestroyError> for CliError {
    fn from(error: DestroyError) -> Self {
        let kind = match error {
            DestroyError::Look(LookError::Gone { .. }) => ErrorKind::NotFound,
            DestroyError::Stop { source: StopError::ProcessesRemain { .. }, .. } => {
                ErrorKind::ProcessesRemain
            }
            DestroyError::LeftOver { .. } => ErrorKind::LocalStateRemains,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<HostLifeError> for CliError {
    fn from(error: HostLifeError) -> Self {
        let (kind, hint) = match &error {
            HostLifeError::NotFound { .. } => {
                (ErrorKind::NotFound, Some("`mngr list --hosts` shows all hosts"))
            }
            HostLifeError::Ambiguous { .. } => (ErrorKind::Failed, Some("name one as `@host.provider`")),
            HostLifeError::Provider(_) => (ErrorKind::ProviderUnavailable, None),
            HostLifeError::Stop { source, .. } if matches!(**source, StopError::ProcessesRemain { .. }) => {
                (ErrorKind::ProcessesRemain, None)
            }
            HostLifeError::Action(failed) if failed.action == HostAction::Destroy => {
                (ErrorKind::HostResourcesRemain, None)
            }
            HostLifeError::Interrupted(_) => (ErrorKind::Interrupted, None),
            _ => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<LimitError> for CliError {
    fn from(error: LimitError) -> Self {
        let (kind, hint) = match error {
            LimitError::Look(error) => return error.into(),
            LimitError::NoHost { .. } => (ErrorKind::NotFound, Some("`mngr list --hosts` shows all hosts")),
            LimitError::Ambiguous { .. } => (ErrorKind::Failed, Some("name one as `host.provider`")),
            LimitError::HostOff { .. } => (ErrorKind::Failed, Some("`mngr start @HOST` starts a host")),
            LimitError::Provider(_) => (ErrorKind::ProviderUnavailable, None),
            _ => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<WakeError> for CliError {
    fn from(error: WakeError) -> Self {
        match error {
            WakeError::Host(error) => (*error).into(),
            WakeError::Start(error) => (*error).into(),
            WakeError::Look(_) => Self::new(ErrorKind::Failed, error),
        }
    }
}

impl From<FollowError> for CliError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Select(error) => error.into(),
            FollowError::Look(_) | FollowError::Files(_) => Self::new(ErrorKind::Failed, error),
        }
    }
}

impl From<DecideError> for CliError {
    fn from(error: DecideError) -> Self {
        let (kind, hint) = match &error {
            DecideError::Store(StoreError::Unknown { .. }) => {
                (ErrorKind::NotFound, Some("`mngr tutorial proposals --all` shows all of them"))
            }
            DecideError::Invalid { .. } => {
                (ErrorKind::Failed, Some("write the block into the tutorial yourself, and reject this one"))
            }
            _ => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<UndoError> for CliError {
    fn from(error: UndoError) -> Self {
        let (kind, hint) = match &error {
            UndoError::NotFound { .. } => {
                (ErrorKind::NotFound, Some("`mngr undo` shows all that can come back".to_owned()))
            }
            UndoError::NeedsSource { name, needed, .. } => {
                (ErrorKind::Failed, Some(format!("`mngr undo {needed}` first, then `mngr undo {name}`")))
            }
            UndoError::Unavailable { .. } => (ErrorKind::ProviderUnavailable, None),
            UndoError::LeftOver { .. } => (ErrorKind::LocalStateRemains, None),
            _ => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<SendError> for CliError {
    fn from(error: SendError) -> Self {
        let (kind, hint) = match &error {
            SendError::Look(LookError::Gone { .. }) => (ErrorKind::NotFound, None),
            SendError::Destroyed { name, .. } => {
                (ErrorKind::Failed, Some(format!("`mngr undo {name}` brings it back")))
            }
            SendError::NotReceiving { state, .. } if state.is_final() => {
                (ErrorKind::Failed, Some("`--start` starts it first".to_owned()))
            }
            SendError::DialogOpen { name, .. }
            | SendError::Deliver { name, source: DeliverError::BoxInUse | DeliverError::NoBox } => {
                (ErrorKind::Failed, Some(format!("`mngr connect {name}` shows its terminal")))
            }
            _ => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<AnswerError> for CliError {
    fn from(error: AnswerError) -> Self {
        let (kind, hint) = match &error {
            AnswerError::Look(LookError::Gone { .. }) => (ErrorKind::NotFound, None),
            AnswerError::NotThisAgent { name, has_setting: true } => {
                let setting =
                    "with `mngr config set agent_types.codex.app_server true`, new agents can be answered";
                (ErrorKind::Failed, Some(format!("`mngr connect {name}` shows its terminal; {setting}")))
            }
            AnswerError::NotThisAgent { name, has_setting: false } => {
                (ErrorKind::Failed, Some(format!("`mngr connect {name}` shows its terminal")))
            }
            AnswerError::Server { name, source: ServerError::NoYesOrNo } => {
                (ErrorKind::Failed, Some(format!("`mngr connect {name}` shows its terminal")))
            }
            _ => (ErrorKind::Failed, None),
        };
        hint.into_iter().fold(Self::new(kind, error), CliError::hinted)
    }
}

impl From<TranscriptError> for CliError {
    fn from(error: TranscriptError) -> Self {
        match error {
            TranscriptError::Select(error) => error.into(),
            TranscriptError::Events(error) => error.into(),
            TranscriptError::Interrupted(_) => Self::new(ErrorKind::Interrupted, error),
            TranscriptError::NoTranscript { .. } => Self::new(ErrorKind::Failed, error)
                .hinted("`mngr capture --full` shows what its terminal showed"),
            TranscriptError::Files { .. } => Self::new(ErrorKind::Failed, error),
        }
    }
}

impl From<FindHostError> for CliError {
    fn from(error: FindHostError) -> Self {
        let kind = match error {
            FindHostError::NotFound { .. } => ErrorKind::NotFound,
            FindHostError::Provider(_) => ErrorKind::ProviderUnavailable,
            FindHostError::Host(_) => ErrorKind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<FileError> for CliError {
    fn from(error: FileError) -> Self {
        let kind = match error {
            FileError::Select(error) => return error.into(),
            FileError::Host(error) => return error.into(),
            FileError::Wake(error) => return error.into(),
            _ => ErrorKind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<EventError> for CliError {
    fn from(error: EventError) -> Self {
        let kind = match error {
            EventError::Select(error) => return error.into(),
            EventError::Host(error) => return error.into(),
            EventError::Interrupted(_) => ErrorKind::Interrupted,
            EventError::Files { .. } => ErrorKind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<UsageError> for CliError {
    fn from(error: UsageError) -> Self {
        let kind = match error {
            UsageError::Interrupted(_) => ErrorKind::Interrupted,
            UsageError::Files { .. } => ErrorKind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<ExecFailure> for CliError {
    fn from(error: ExecFailure) -> Self {
        let kind = if error.is_timeout() { ErrorKind::TimedOut } else { ErrorKind::Failed };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_about_one_agent_can_be_typed_as_it_is() {
        let dialog = SendError::DialogOpen { name: "fix".parse().unwrap(), evidence: String::new() };
        assert_eq!(CliError::from(dialog).hints, ["`mngr connect fix` shows its terminal"]);
    }
}
