//! What `create` is asked for and what it gives back.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_config::AgentTypeSettings;
use mngr_host::provider::SnapshotId;
use mngr_model::address::{Location, NewHost};
use mngr_model::agent::TmuxGeometry;
use mngr_model::branch::BranchSpec;
use mngr_model::env::EnvPair;
use mngr_model::name_style::NameStyle;
use mngr_model::transfer::TransferMode;
use mngr_model::window::ExtraWindow;
use mngr_model::{AgentId, AgentName, AgentTypeName, HostId, HostPath};

use crate::activity::ActivityChanges;
use crate::ssh_reach::SshReach;

/// How long provisioning may take where nobody says.
pub const PROVISION_PATIENCE: Duration = Duration::from_secs(3600);

/// Where the files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceSpec {
    /// The repository the user stands in.
    Here,
    /// A path or an agent.
    Location(Location),
    /// A repository to be cloned.
    GitUrl(String),
    /// A snapshot of an agent.
    Snapshot {
        /// The host it is on.
        host: HostId,
        /// Its id.
        id: String,
    },
}

/// Which project the agent is labelled with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Project {
    /// The source's.
    OfSource,
    /// This one.
    Named(String),
}

/// What happens to uncommitted files of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncleanFiles {
    /// A source of the user's must have none; from an agent, which is at work, they come along.
    AsUsual,
    /// There must be none.
    Refuse,
    /// They stay where they are.
    LeaveBehind,
    /// The agent gets them too.
    Carry {
        /// Also the ignored ones.
        ignored: bool,
    },
}

/// A file to be put on the agent's host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Where it is on this machine.
    pub local: HostPath,
    /// Where it goes; relative to the work dir.
    pub remote: String,
}

/// Who looks after a new agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attendance {
    /// Nobody: it lives on after the command.
    Background,
    /// The command itself, to the agent's end.
    Foreground,
}

/// Whether the copy of a source must be shown to be like it before anything runs in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Nobody asked: the source stays.
    NotAsked,
    /// The same commit, the same uncommitted files, the same conversations; else nothing is created.
    Required,
}

/// Whether a new agent starts at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStart {
    /// It does.
    Now,
    /// It is left as stopped.
    Later,
}

/// Whether anybody will look at a new agent's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user, as soon as it runs.
    User,
    /// Nobody for now.
    Nobody,
}

/// What is done with a host that is named and does not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoppedHost {
    /// It is started.
    #[default]
    Start,
    /// It is refused.
    Refuse,
}

/// What a host that is made for an agent is asked to be, in the words of its provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSpec {
    /// The pool it is one of, if it is.
    pub pool: Option<String>,
    /// How many agents may be at work on it; nothing: it is for one agent.
    pub agents_per_host: Option<usize>,
    /// A host that is named must not be there yet.
    pub must_be_new: bool,
    /// What is done with one that is named and does not run.
    pub stopped: StoppedHost,
    /// The copy of a host it begins as.
    pub snapshot: Option<SnapshotId>,
    /// What it is built from.
    pub build_args: Vec<String>,
    /// How it is started.
    pub start_args: Vec<String>,
    /// How many processors it gets.
    pub cpus: Option<String>,
    /// How much memory it gets.
    pub memory: Option<String>,
    /// Its labels.
    pub tags: BTreeMap<String, String>,
    /// The style of a name made up for it.
    pub name_style: NameStyle,
    /// Files of variables for all its agents, on this machine.
    pub env_files: Vec<HostPath>,
    /// Variables for all its agents.
    pub env: Vec<EnvPair>,
    /// Commands run on it before its first agent is made.
    pub post_create_commands: Vec<String>,
    /// When it stops by itself, where that is not what its provider is configured for.
    pub activity: ActivityChanges,
}

/// What `create` is asked for.
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// Its name, or one of this style.
    pub name: Option<AgentName>,
    /// The style of a name made up here.
    pub name_style: NameStyle,
    /// Its id, if the caller brings one.
    pub id: Option<AgentId>,
    /// Where it runs.
    pub host: NewHost,
    /// What that host is asked to be, should it be made.
    pub host_spec: HostSpec,
    /// Where it works, if not in a folder made for it.
    pub target_path: Option<String>,
    /// Its type, if given.
    pub agent_type: Option<AgentTypeName>,
    /// Who looks after it. Agents without a terminal need somebody who takes what they print.
    pub attendance: Attendance,
    /// Settings of the type for this agent alone, from templates.
    pub type_fields: Option<AgentTypeSettings>,
    /// The words after `--`.
    pub agent_args: Vec<String>,
    /// What it works on, where somebody says so.
    pub title: Option<String>,
    /// Labels.
    pub labels: Vec<(String, String)>,
    /// The project label.
    pub project: Project,
    /// Further windows.
    pub windows: Vec<ExtraWindow>,
    /// Its terminal.
    pub geometry: TmuxGeometry,
    /// Where its files come from.
    pub source: SourceSpec,
    /// How they come; by default what fits.
    pub transfer: Option<TransferMode>,
    /// Conversations of the user's own that it goes on with, as they are named; the last one is the one it is in.
    pub adopt: Vec<String>,
    /// Which branch it works on.
    pub branch: BranchSpec,
    /// What happens to uncommitted files.
    pub unclean: UncleanFiles,
    /// Where worktrees are made, if not in the host dir; on another host as the user wrote it.
    pub worktree_base: Option<String>,
    /// Further words for rsync.
    pub rsync_args: Vec<String>,
    /// Files of variables, on this machine.
    pub env_files: Vec<HostPath>,
    /// Variables.
    pub env: Vec<EnvPair>,
    /// Variables that name a folder in the agent's state folder, which has no path before the agent has a host.
    pub state_folders: Vec<(&'static str, &'static str)>,
    /// What it may do without anybody being asked, where that is not left to its program's settings.
    pub permissions: Option<mngr_model::permission::PermissionSet>,
    /// Commands run in the work dir before the agent starts.
    pub provision_commands: Vec<String>,
    /// How long these and those of its type may take together.
    pub provision_patience: Duration,
    /// Files put on the host before the agent starts.
    pub uploads: Vec<Upload>,
    /// The first message.
    pub message: Option<String>,
    /// Sent on every later start.
    pub resume_message: Option<String>,
    /// How long the first message may take to be accepted.
    pub message_patience: Duration,
    /// Whether the host starts it when it boots.
    pub start_on_boot: bool,
    /// Whether its files must be shown to be like those of its source.
    pub proof: Proof,
    /// Whether it starts at once.
    pub first_start: FirstStart,
    /// Whether anybody will look at its terminal.
    pub audience: Audience,
    /// What may be agreed to in the user's name.
    pub consent: mngr_agents::brand::Consent,
    /// Take an existing agent of that name instead of failing.
    pub reuse: bool,
    /// Provision an existing agent again and restart it.
    pub update: bool,
}

impl CreateRequest {
    /// An agent that is left as stopped, with all files of its source, and of which nothing more is asked.
    pub(crate) fn stopped(name: AgentName, host: NewHost, source: SourceSpec) -> Self {
        Self {
            name: Some(name),
            name_style: NameStyle::default(),
            id: None,
            host,
            host_spec: HostSpec::default(),
            target_path: None,
            agent_type: None,
            attendance: Attendance::Background,
            type_fields: None,
            agent_args: Vec::new(),
            title: None,
            labels: Vec::new(),
            project: Project::OfSource,
            windows: Vec::new(),
            geometry: TmuxGeometry::default(),
            source,
            transfer: None,
            adopt: Vec::new(),
            branch: BranchSpec::New { base: None, pattern: "mngr/*".to_owned() },
            unclean: UncleanFiles::Carry { ignored: true },
            worktree_base: None,
            rsync_args: Vec::new(),
            env_files: Vec::new(),
            env: Vec::new(),
            state_folders: Vec::new(),
            permissions: None,
            provision_commands: Vec::new(),
            provision_patience: PROVISION_PATIENCE,
            uploads: Vec::new(),
            message: None,
            resume_message: None,
            message_patience: Duration::ZERO,
            start_on_boot: false,
            proof: Proof::Required,
            first_start: FirstStart::Later,
            audience: Audience::Nobody,
            // Whatever its program asks, it asks when somebody starts it.
            consent: mngr_agents::brand::Consent::Ask,
            reuse: false,
            update: false,
        }
    }
}

/// What `create` did.
#[derive(Debug, Clone)]
pub struct Created {
    /// The agent.
    pub id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// Its type.
    pub agent_type: AgentTypeName,
    /// Where it works.
    pub work_dir: HostPath,
    /// The branch it works on.
    pub branch: Option<String>,
    /// Its host.
    pub host: mngr_model::host::HostInfo,
    /// How the user reaches it, where that is by ssh.
    pub ssh: Option<SshReach>,
    /// Whether an existing agent was taken.
    pub was_reused: bool,
    /// How far the first message got.
    pub message_level: Option<mngr_model::delivery::DeliveryLevel>,
    /// What the user should know about the branch.
    pub branch_note: Option<super::plan::BranchNote>,
}
