//! Where things are in a host dir: paths as data. Nothing else spells these names.

use crate::path::HostPath;
use crate::{AgentId, AgentName};

/// The paths of one host dir.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLayout {
    root: HostPath,
}

macro_rules! host_paths {
    ($($(#[$doc:meta])* $name:ident => $path:literal;)*) => {
        $($(#[$doc])*
        pub fn $name(&self) -> HostPath {
            self.root.join($path)
        })*
    };
}

impl HostLayout {
    /// The layout below this folder.
    pub fn new(root: HostPath) -> Self {
        Self { root }
    }

    /// The host dir itself.
    pub fn root(&self) -> &HostPath {
        &self.root
    }

    host_paths! {
        /// Selects the profile (`profile = "<32 hex>"`).
        config_file => "config.toml";
        /// The host's id.
        host_id => "host_id";
        /// Certified data of the host.
        host_data => "data.json";
        /// Environment shared by all agents of the host.
        env_file => "env";
        /// Held while names are chosen and while a launch changes the host.
        host_lock => "host_lock";
        /// The configuration of our own tmux server.
        tmux_conf => "tmux.conf";
        /// One folder per agent.
        agents => "agents";
        /// One journal per operation under way.
        journals => "journal";
        /// Work dirs that are git worktrees.
        worktrees => "worktrees";
        /// Work dirs that are copies on the same host.
        copies => "copies";
        /// Work dirs that came from another host.
        projects => "projects";
        /// One note per work dir mngr made outside these folders.
        made_work_dirs => "made";
        /// Repositories cloned for `--from URL`.
        clones => "clones";
        /// What destroy moved away.
        trash => "trash";
        /// What was written where a destroyed agent had been, a folder for each agent.
        set_aside => "set-aside";
        /// Snapshots of agents, a folder for each.
        snapshots => "snapshots";
        /// Files on their way from one host to another, a folder for each transfer.
        transit => "transit";
        /// What commands printed that was too much for memory, a file for each output.
        outputs => "outputs";
        /// Transcripts and events kept after destroy.
        preserved => "preserved";
        /// Event logs of the host.
        events => "events";
        /// How often the lock was taken by somebody who then stopped the host.
        host_lock_generation => "host_lock.generation";
        /// Activity of the host.
        activity => "activity";
        /// Dated by the watcher of the host whenever it looks.
        activity_look => "activity/.now";
        /// Dated when the host boots.
        activity_boot => "activity/boot";
        /// Touched while somebody works on the host from another machine.
        activity_ssh => "activity/ssh";
        /// The boot for which agents were started.
        booted => "activity/booted";
        /// Scripts that the host runs by itself.
        commands => "commands";
        /// Watches the use of the host and stops it.
        activity_watcher => "commands/activity_watcher.sh";
        /// Stops the host from inside.
        shutdown => "commands/shutdown.sh";
        /// Starts agents when the host has booted.
        start_on_boot => "commands/start_on_boot.sh";
        /// What was seen of agents' programs; may be deleted at any moment.
        programs_seen => "cache/programs.json";
        /// What was seen of other hosts, a folder for each; may be deleted at any moment.
        hosts_seen => "cache/hosts";
        /// One lock for each host that is being made or copied by an engine.
        hosts_in_work => "making";
        /// Connections to other hosts that outlive a command.
        connections => "ssh";
        /// Repositories that came from another host; the work dirs of agents are worktrees of them.
        repositories => "repositories";
        /// Bookings of pools, a folder for each.
        pools => "pools";
        /// Profiles of the user.
        profiles => "profiles";
        /// Labels of the local host.
        local_labels => "providers/local/labels.json";
    }

    /// The state folder of one agent.
    pub fn agent(&self, id: &AgentId) -> AgentLayout {
        AgentLayout { root: self.agents().join(id.as_str()) }
    }

    /// The journal of the operation on this agent.
    pub fn journal(&self, id: &AgentId) -> HostPath {
        self.journals().join(&format!("{id}.jsonl"))
    }

    /// The note that names the work dir mngr made for this agent outside its own folders.
    pub fn made_work_dir(&self, id: &AgentId) -> HostPath {
        self.made_work_dirs().join(id.as_str())
    }

    /// The trash of one destroyed agent.
    pub fn trash_of(&self, id: &AgentId) -> TrashLayout {
        TrashLayout { root: self.trash().join(id.as_str()) }
    }

    /// What is kept of a destroyed agent's conversation.
    pub fn preserved_of(&self, name: &AgentName, id: &AgentId) -> HostPath {
        self.preserved().join(&format!("{name}--{id}"))
    }
}

/// The paths of one agent's state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLayout {
    root: HostPath,
}

impl AgentLayout {
    /// The layout below this folder.
    pub fn new(root: HostPath) -> Self {
        Self { root }
    }

    /// The state folder itself.
    pub fn root(&self) -> &HostPath {
        &self.root
    }

    host_paths! {
        /// The certified record.
        data => "data.json";
        /// The agent's environment, single-quoted `sh`.
        env_file => "env";
        /// The generated script the pane runs.
        launch_script => "launch_agent.sh";
        /// Starts the agent when its host has booted, where that is wanted.
        boot_script => "boot.sh";
        /// What its pane runs then.
        boot_launch_script => "launch_at_boot.sh";
        /// The supervisor's record.
        process => "process";
        /// Held while a message is typed.
        message_lock => "message.lock";
        /// Exists while the agent says it works.
        active => "active";
        /// Exists while the agent says it waits.
        waiting => "waiting";
        /// What the last failed turn was reported with; removed when the next one begins.
        failure => "failure";
        /// Touched at creation.
        activity_create => "activity/create";
        /// Touched at every launch.
        activity_start => "activity/start";
        /// Touched by the agent's hooks.
        activity_agent => "activity/agent";
        /// Signs of life of the agent.
        activity => "activity";
        /// What the agent reports of itself.
        status => "status";
        /// The URL the agent reports.
        status_url => "status/url";
        /// What the agent says it works on.
        status_title => "status/title";
        /// The agent's event logs.
        events => "events";
        /// Log of messages sent to it.
        message_events => "events/messages/events.jsonl";
        /// Scripts of the agent's type.
        commands => "commands";
        /// Data of the agent's type.
        plugin => "plugin";
        /// What the agent hands over as its result.
        handed_over => "plugin/tmr";
        /// What tools it was refused, one event of its program on each line.
        refused_tools => "plugin/tmr/refused.jsonl";
        /// What it may do without anybody being asked.
        permissions => "commands/permissions.json";
        /// What its terminal printed, on the way into a recording.
        recording => "recording";
        /// The streams of an agent without a terminal.
        headless => "headless";
        /// What its program reads.
        headless_input => "headless/input";
        /// What its program prints.
        headless_output => "headless/stdout";
        /// What its program prints besides.
        headless_errors => "headless/stderr";
    }
}

/// The paths of one agent in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashLayout {
    root: HostPath,
}

impl TrashLayout {
    /// The layout below this folder.
    pub fn new(root: HostPath) -> Self {
        Self { root }
    }

    /// The folder itself.
    pub fn root(&self) -> &HostPath {
        &self.root
    }

    host_paths! {
        /// What was destroyed, when, and how to bring it back.
        manifest => "manifest.json";
        /// The agent's state folder.
        state => "state";
        /// The agent's work dir.
        work => "work";
    }
}
