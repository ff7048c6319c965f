//! How `create` fails.

use std::time::Duration;

use mngr_agents::deliver::{DeliverError, TextProblem};
use mngr_agents::screen::ScreenError;
use mngr_agents::scripted::script::ScriptError;
use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_host::host::SurveyError;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_host::proc::ExecError;
use mngr_host::provider::{HostActionError, HostError, ProviderError};
use mngr_host::rsync::RsyncError;
use mngr_model::branch::BranchError;
use mngr_model::env::{EnvError, EnvFileError};
use mngr_model::{AgentId, AgentName, HostPath};

use crate::awake::WakeError;
use crate::extra_paths::ExtraPathError;
use crate::journal::JournalError;
use crate::launch::LaunchError;
use crate::message::SendError;
use crate::pool::PoolError;
use crate::record::RecordError;
use crate::select::SelectError;
use crate::start::StartError;
use crate::stop::StopError;

/// No agent was created, and nothing of it is left, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The name is taken.
    #[error("an agent named `{name}` already exists on this host")]
    NameTaken {
        /// The name.
        name: AgentName,
    },
    /// The id is taken.
    #[error("an agent with the id `{id}` already exists on this host")]
    IdTaken {
        /// The id.
        id: AgentId,
    },
    /// No free name was found.
    #[error("no free name of this style was found; give one")]
    NoFreeName,
    /// No type was given and none can be guessed.
    #[error("no agent type was given")]
    NoType,
    /// There is no such type.
    #[error("unknown agent type `{name}`{}", .suggestion.as_deref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    UnknownType {
        /// The name.
        name: String,
        /// One that looks like it.
        suggestion: Option<String>,
    },
    /// The type, or the one it rests on, is switched off.
    #[error("unknown agent type `{name}`: the plugin `{plugin}` is disabled")]
    DisabledType {
        /// The name.
        name: String,
        /// What is switched off.
        plugin: String,
    },
    /// A setting of the type asks for something that mngr does not do.
    #[error("{what}")]
    RefusedSetting {
        /// Where it is set, its key and the reason.
        what: String,
    },
    /// Custom types that name one another in a circle.
    #[error("agent type `{name}` inherits from itself")]
    TypeCycle {
        /// The name.
        name: String,
    },
    /// The type needs a command.
    #[error("agent type `{name}` needs a command after `--`")]
    NoCommand {
        /// The type.
        name: String,
    },
    /// The type has no terminal, so somebody must take what it prints.
    #[error("agents of type `{name}` run without a terminal, which takes `--foreground`")]
    NeedsForeground {
        /// The type.
        name: String,
    },
    /// The type has a terminal, so it has no end that could be waited for.
    #[error("`--foreground` is for agents without a terminal; those of type `{name}` have one")]
    HasTerminal {
        /// The type.
        name: String,
    },
    /// The type cannot do anything without a message.
    #[error("agents of type `{name}` need a message")]
    NeedsMessage {
        /// The type.
        name: String,
    },
    /// The command of a type cannot be split into words.
    #[error("the setting `{key}` of agent type `{name}` has an unclosed quote")]
    BadWords {
        /// The type.
        name: String,
        /// `command` or `cli_args`.
        key: &'static str,
    },
    /// What settings say of the type's terminal cannot be used.
    #[error("the settings of agent type `{name}` cannot be used")]
    Declared {
        /// The type.
        name: String,
        /// Why.
        #[source]
        source: ScreenError,
    },
    /// The script of a scripted agent is wrong.
    #[error("the script is wrong")]
    Script(#[from] ScriptError),
    /// The host is not there.
    #[error("no hosts found matching {}", .address.trim_start_matches('@'))]
    NoHost {
        /// As it was given.
        address: String,
    },
    /// A provider cannot be asked for the host.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The host cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A new host was asked for.
    #[error("host `{address}` already exists")]
    HostExists {
        /// Its address.
        address: String,
    },
    /// The host could not be made.
    #[error(transparent)]
    MakeHost(#[from] HostActionError),
    /// The provider cannot make hosts.
    #[error(
        "provider `{provider}` cannot create hosts; name one of those it has, as in `foo@box.{provider}`"
    )]
    CannotCreateHost {
        /// Its name.
        provider: String,
    },
    /// The pool has no host for it.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// There is no such provider.
    #[error("provider `{provider}` is not configured")]
    NoProvider {
        /// Its name.
        provider: String,
    },
    /// The user stands outside a repository.
    #[error("`{path}` is not in a git repository")]
    NoSource {
        /// Where.
        path: HostPath,
    },
    /// The source is not a folder.
    #[error("the source `{path}` is not a folder")]
    SourceMissing {
        /// The path.
        path: HostPath,
    },
    /// Copying the source would copy mngr's own state, without end.
    #[error("the source `{source_path}` holds mngr's own state (`{host_dir}`)")]
    SourceHoldsState {
        /// The source.
        source_path: HostPath,
        /// The host dir.
        host_dir: HostPath,
    },
    /// The copy is not like its source, so it was taken back.
    #[error("the copy is not like its source: {} differ", .differences.join(", "))]
    CopyDiffers {
        /// The first things that differ.
        differences: Vec<String>,
    },
    /// A conversation cannot be carried, and was to be.
    #[error("the conversation of `{name}` cannot be carried over: {why}")]
    ConversationLeft {
        /// Whose it is.
        name: AgentName,
        /// Why not.
        why: String,
    },
    /// The host that was named does not run, and was not to be started.
    #[error("host `{address}` is {state}{}", .reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default())]
    HostOff {
        /// `name.provider`.
        address: String,
        /// What it does.
        state: &'static str,
        /// Why.
        reason: Option<String>,
    },
    /// The host of the agent that was to be taken does not run, and was not to be started.
    #[error("the agent is there, but {evidence}")]
    AgentHostOff {
        /// What its host does.
        evidence: String,
    },
    /// An agent that is there is needed, and its host could not be started.
    #[error("the host of agent `{name}` could not be started")]
    Wake {
        /// The agent.
        name: AgentName,
        /// Why.
        #[source]
        source: Box<WakeError>,
    },
    /// The transfer does not fit the source.
    #[error("`--transfer {mode}` {reason}")]
    Transfer {
        /// The mode.
        mode: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// The target is taken.
    #[error("the target path `{path}` already exists and is not an empty folder")]
    TargetTaken {
        /// The path.
        path: HostPath,
    },
    /// There is uncommitted work.
    #[error("the source has uncommitted changes ({count}): {}", .files.join(", "))]
    Unclean {
        /// How many.
        count: usize,
        /// The first of them.
        files: Vec<String>,
    },
    /// The branch cannot be used.
    #[error("cannot use that branch")]
    Branch(#[from] BranchError),
    /// An extra path of the settings cannot be laid.
    #[error(transparent)]
    ExtraPath(#[from] ExtraPathError),
    /// A provisioning command failed.
    #[error("the provisioning command `{command}` failed with exit code {status}{}", .output.as_deref().map(|o| format!(":\n{o}")).unwrap_or_default())]
    Provision {
        /// The command.
        command: String,
        /// Its status.
        status: i32,
        /// The end of what it printed.
        output: Option<String>,
    },
    /// A provisioning command took too long.
    #[error("the provisioning command `{command}` did not finish within {:.0} s and was ended", .after.as_secs_f32())]
    ProvisionTimedOut {
        /// The command.
        command: String,
        /// How long it had.
        after: Duration,
    },
    /// The coding agent could not be prepared.
    #[error(transparent)]
    Brand(#[from] mngr_agents::brand::ProvisionError),
    /// A conversation cannot be gone on with.
    #[error(transparent)]
    Adopt(#[from] mngr_agents::conversation::AdoptError),
    /// The coding agent is not installed as it should be.
    #[error(transparent)]
    Installation(#[from] mngr_agents::installation::InstallationError),
    /// There is nothing to run the agent in.
    #[error("`tmux` is not installed")]
    NoTmux,
    /// A file to be uploaded is not there.
    #[error("the file to upload, `{path}`, does not exist")]
    UploadMissing {
        /// The file.
        path: HostPath,
    },
    /// A file of variables is wrong.
    #[error("cannot read the variables in `{path}`")]
    EnvFile {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: EnvFileError,
    },
    /// A variable of the settings is wrong.
    #[error("bad variable in the settings of the agent type")]
    Env(#[from] EnvError),
    /// The first message cannot be sent to any agent.
    #[error("the first message cannot be sent")]
    MessageText(#[from] TextProblem),
    /// The first message did not arrive, so the agent was taken back.
    #[error("the first message was not delivered")]
    Message(#[source] DeliverError),
    /// An address of the request means no agent, or several.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A message to a reused agent did not arrive.
    #[error("the agent was reused, but the message was not delivered")]
    ReusedMessage(#[source] SendError),
    /// A reused agent could not be started.
    #[error("the agent could not be started again")]
    Start(#[source] Box<StartError>),
    /// An agent to be updated could not be stopped.
    #[error("the agent could not be stopped for the update")]
    Stop(#[source] StopError),
    /// Its record could not be changed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// It did not come to life.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// rsync failed.
    #[error(transparent)]
    Rsync(#[from] RsyncError),
    /// A file operation failed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A command could not be run.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The host could not be looked at.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// A folder for files on their way could not be made.
    #[error(transparent)]
    Scratch(#[from] crate::scratch::ScratchError),
    /// A snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] Box<crate::snapshot::SnapshotError>),
    /// The host cannot start the agent at boot.
    #[error(transparent)]
    Boot(#[from] crate::boot::BootError),
    /// The new host could not be given its limits.
    #[error(transparent)]
    Activity(#[from] crate::activity::ActivityError),
    /// The journal could not be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A lock was not free in time.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The record could not be spelled.
    #[error("cannot spell the agent's record")]
    Json(#[from] serde_json::Error),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
    /// It failed, and taking it back failed too.
    #[error("{failure}; and not everything could be taken back: {left}")]
    LeftOver {
        /// What went wrong first, with its causes.
        failure: String,
        /// What is left.
        left: String,
    },
}
