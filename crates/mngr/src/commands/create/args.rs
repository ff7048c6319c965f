//! The options of `create`, as they are typed. What they mean is in `request.rs`.

use clap::{Args, ValueEnum};
use mngr_model::name_style::NameStyle;

use crate::cli::common::CommonArgs;
use crate::commands::idle::IdleArgs;

/// tmux's rules for the size of a window that several viewers look at.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WindowSize {
    /// Only when asked
    Manual,
    /// The newest viewer's
    Latest,
    /// The largest viewer's
    Largest,
    /// The smallest viewer's
    Smallest,
}

impl WindowSize {
    /// As tmux spells it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Latest => "latest",
            Self::Largest => "largest",
            Self::Smallest => "smallest",
        }
    }
}

/// Create an agent and connect to it
///
/// The agent gets its own work dir and branch (a git worktree of the repository you stand in), its own environment
/// and a tmux session. Creation is atomic: if it fails or is interrupted, nothing of it is left.
///
/// Everything after `--` is the agent's command: several words are taken as they are, a single word with shell syntax
/// runs through `sh -c`. At a terminal you are connected to the agent; leave with Ctrl-b d, and it works on.
///
/// For scripts, agents of the types headless_claude, headless_codex and headless_command run without a terminal, with
/// --foreground: the message (-m, --message-file or standard input) is what the program reads, what it answers is printed as
/// it comes, the exit code is the program's own (128+N: ended by signal N), and the agent is destroyed at the end, as
/// `mngr destroy` does.
#[derive(Debug, Args)]
#[command(after_help = "  mngr create try-it --no-connect -- sh\n  \
                        mngr create fix-login claude --message 'make the login test pass'\n  \
                        mngr create lister --no-connect -- 'ls >listing.txt; exec sleep 1000'\n  \
                        mngr create hotfix --branch 'main:hotfix/*' --no-connect -- sh\n  \
                        mngr create fix@lab -- my-agent    # on the emptiest host of a pool\n  \
                        mngr create fix@.docker --agents-per-host 4 -- my-agent\n  \
                        mngr create go-on --adopt 01a1df30-02d5-7030-b8fb-7ba2773cd87c\n  \
                        mngr create greeter --reuse --message 'and again' --no-connect\n  \
                        mngr create --type headless_claude --foreground -m 'what does this repository do?'\n  \
                        git log | mngr create --type headless_command --foreground -- wc -l")]
pub(crate) struct CreateArgs {
    /// Name and place of the agent: NAME, NAME@HOST, NAME:PATH
    #[arg(value_name = "ADDRESS", display_order = 0, help_heading = "ARGUMENTS")]
    pub(crate) address: Option<String>,

    /// Agent type, as with --type
    #[arg(value_name = "TYPE", display_order = 1, help_heading = "ARGUMENTS")]
    pub(crate) positional_type: Option<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    #[command(flatten)]
    pub(crate) behaviour: BehaviourArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// The agent's command or arguments
    #[arg(last = true, value_name = "AGENT_ARGS", display_order = 2, help_heading = "ARGUMENTS")]
    pub(crate) agent_args: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "AGENT")]
pub(crate) struct AgentArgs {
    /// Apply a template of the settings (can be repeated)
    #[arg(short, long, value_name = "NAME")]
    pub(crate) template: Vec<String>,

    /// Name and place of the agent, instead of the first word
    #[arg(short, long, value_name = "ADDRESS", conflicts_with = "address")]
    pub(crate) name: Option<String>,

    /// Id of the agent, if it must be a certain one
    #[arg(long, value_name = "AGENT_ID")]
    pub(crate) id: Option<String>,

    /// How a name is made up when none is given
    #[arg(long, value_name = "STYLE", default_value = "coolname")]
    pub(crate) name_style: String,

    /// Agent type: claude, codex, opencode, command, scripted, headless_claude, headless_codex, headless_command, or one of
    /// the settings
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) agent_type: Option<String>,

    /// Open a further window: [NAME=]COMMAND (can be repeated)
    #[arg(short = 'w', long, value_name = "[NAME=]COMMAND")]
    pub(crate) extra_window: Vec<String>,

    /// What it works on, for people; by default the beginning of its first message, or what its program calls it
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Label the agent: KEY=VALUE (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,

    /// Project the agent belongs to; `.` is the source's
    #[arg(long, default_value = ".")]
    pub(crate) project: String,

    /// Columns of its terminal
    #[arg(long, value_name = "COLUMNS", default_value_t = 200, value_parser = clap::value_parser!(u16).range(20..=2000))]
    pub(crate) tmux_width: u16,

    /// Lines of its terminal
    #[arg(long, value_name = "LINES", default_value_t = 50, value_parser = clap::value_parser!(u16).range(5..=2000))]
    pub(crate) tmux_height: u16,

    /// Whose size its terminal takes when somebody looks at it
    #[arg(long, value_name = "RULE")]
    pub(crate) tmux_window_size: Option<WindowSize>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "BEHAVIOUR")]
pub(crate) struct BehaviourArgs {
    /// Take the agent of that name if there is one; start it if it does not run
    #[arg(long, overrides_with = "no_reuse")]
    pub(crate) reuse: bool,
    #[arg(long, hide = true)]
    no_reuse: bool,

    /// With --reuse: prepare the agent again and restart it; id and work dir stay
    #[arg(long, overrides_with = "no_update")]
    pub(crate) update: bool,
    #[arg(long, hide = true)]
    no_update: bool,

    /// Show the agent's terminal afterwards (the default in a terminal)
    #[arg(long, overrides_with = "no_connect")]
    connect: bool,
    /// Do not show the agent's terminal afterwards
    #[arg(long, overrides_with = "connect")]
    pub(crate) no_connect: bool,

    /// Show what the agent prints, to its end, then destroy it; for the headless_ types, which need it
    #[arg(long)]
    pub(crate) foreground: bool,

    /// Run this instead of attaching, with MNGR_AGENT_NAME and MNGR_SESSION_NAME set
    #[arg(long, value_name = "COMMAND")]
    pub(crate) connect_command: Option<String>,

    /// Send a first message once the agent is ready; with --foreground, what its program reads
    #[arg(
        long,
        short = 'm',
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "message_file"
    )]
    pub(crate) message: Option<String>,

    /// Send the text of a file as the first message
    #[arg(long, value_name = "PATH")]
    pub(crate) message_file: Option<String>,

    /// Write the first message in an editor while the agent is made; --message is what it begins with
    #[arg(long, conflicts_with = "message_file")]
    pub(crate) edit_message: bool,

    /// Send this on every later start
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) resume_message: Option<String>,

    /// Have the host start the agent whenever it boots
    #[arg(long, overrides_with = "no_start_on_boot")]
    pub(crate) start_on_boot: bool,
    #[arg(long, hide = true)]
    no_start_on_boot: bool,

    /// Answer an agent's first-start questions with yes: trust in the work dir, set-up. Never a permission for tools
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,

    #[arg(long, hide = true, overrides_with = "no_auto_start")]
    auto_start: bool,
    /// Fail if the host does not run, instead of starting it
    #[arg(long)]
    pub(crate) no_auto_start: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "FILES AND GIT")]
pub(crate) struct FileArgs {
    /// Where the files come from: an agent, a path (./x) or a git URL; by default the repository you stand in
    #[arg(long, visible_alias = "source", value_name = "SOURCE")]
    pub(crate) from: Option<String>,

    /// Go on with a conversation of your own (a copy of it): its id, the beginning of it, or its file (can be repeated;
    /// the agent is in the last one)
    #[arg(long, visible_alias = "adopt-session", value_name = "ID|PATH", conflicts_with = "reuse")]
    pub(crate) adopt: Vec<String>,

    /// Where the agent works, instead of a folder made for it
    #[arg(long, value_name = "PATH")]
    pub(crate) target_path: Option<String>,

    /// How the files come: git-worktree, git-mirror, rsync or none
    #[arg(long, value_name = "MODE")]
    pub(crate) transfer: Option<String>,

    /// Copy a folder that is not a repository with rsync, as --transfer rsync
    #[arg(long, overrides_with = "no_rsync", conflicts_with = "transfer")]
    pub(crate) rsync: bool,
    #[arg(long, hide = true)]
    no_rsync: bool,

    /// Further words for rsync
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) rsync_args: Option<String>,

    /// Branch: [BASE][:NEW], where `*` is the agent's name; BASE alone is used as it is
    #[arg(long, value_name = "[BASE][:NEW]", default_value = ":mngr/*")]
    pub(crate) branch: String,

    /// Refuse a source with uncommitted changes (the default, but for agents: theirs come along)
    #[arg(long, overrides_with = "no_ensure_clean")]
    pub(crate) ensure_clean: bool,
    /// Take a source with uncommitted changes, and carry them along
    #[arg(long, overrides_with = "ensure_clean")]
    pub(crate) no_ensure_clean: bool,

    /// Carry uncommitted changes along
    #[arg(long, overrides_with = "exclude_unclean")]
    pub(crate) include_unclean: bool,
    /// Leave uncommitted changes behind
    #[arg(long, overrides_with = "include_unclean")]
    pub(crate) exclude_unclean: bool,

    /// Carry ignored files along too
    #[arg(long, overrides_with = "no_include_gitignored")]
    pub(crate) include_gitignored: bool,
    #[arg(long, hide = true)]
    pub(crate) no_include_gitignored: bool,

    /// Make worktrees in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) worktree_base_folder: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "ENVIRONMENT AND PROVISIONING")]
pub(crate) struct EnvironmentArgs {
    /// Set a variable for the agent: KEY=VALUE (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,

    /// Read variables for the agent from a file (can be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) env_file: Vec<String>,

    /// Pass a variable of this shell on to the agent (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,

    /// Run a shell command in the work dir before the agent starts (can be repeated)
    #[arg(long, value_name = "COMMAND")]
    pub(crate) extra_provision_command: Vec<String>,

    /// Copy a file before the agent starts; a relative target is below the work dir (can be repeated)
    #[arg(long, value_name = "LOCAL:REMOTE")]
    pub(crate) upload_file: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "OTHER HOSTS")]
pub(crate) struct ElsewhereArgs {
    /// Provider of the host, as `.PROVIDER` in the address
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,

    /// A pool of the settings, or a provider of ssh hosts: the agent goes to the host with the fewest agents
    #[arg(long, value_name = "NAME", conflicts_with_all = ["provider", "new_host", "agents_per_host"])]
    pub(crate) pool: Option<String>,

    /// Share the new host with agents created in the same words, at most this many at work on each host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) agents_per_host: Option<u32>,

    /// Make a new host
    #[arg(long)]
    pub(crate) new_host: bool,

    /// Label the new host, or this machine (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) host_label: Vec<String>,

    /// Give the new host this many processors
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<String>,

    /// Give the new host this much memory, as in `4g`
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,

    /// Make the new host from a snapshot
    #[arg(long, value_name = "ID")]
    pub(crate) snapshot: Option<String>,

    /// Build the new host with this; for Docker a word of `docker build`, `image=NAME` or `offline` (can be repeated)
    #[arg(short = 'b', long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) build_arg: Vec<String>,

    /// Start the new host with this; for Docker a word of `docker create` (can be repeated)
    #[arg(short = 's', long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) start_arg: Vec<String>,

    /// How the name of the new host is made up when none is given
    #[arg(long, value_name = "STYLE")]
    pub(crate) host_name_style: Option<NameStyle>,

    /// Set a variable for all agents of the new host: KEY=VALUE (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) host_env: Vec<String>,

    /// Read variables for all agents of the new host from a file (can be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) host_env_file: Vec<String>,

    /// Pass a variable of this shell on to all agents of the new host (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_host_env: Vec<String>,

    /// Run a shell command on the new host before its first agent is made (can be repeated)
    #[arg(long, value_name = "COMMAND")]
    pub(crate) post_host_create_command: Vec<String>,

    #[command(flatten)]
    pub(crate) idle: IdleArgs,
}

impl BehaviourArgs {
    /// The first option given that means nothing for an agent that is attended to its end.
    pub(crate) fn refused_in_the_foreground(&self) -> Option<&'static str> {
        let given = [
            ("--connect", self.connect),
            ("--connect-command", self.connect_command.is_some()),
            ("--edit-message", self.edit_message),
            ("--reuse", self.reuse),
            ("--update", self.update),
            ("--resume-message", self.resume_message.is_some()),
            ("--start-on-boot", self.start_on_boot),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

impl ElsewhereArgs {
    /// The first option given that is about making a host. Labels are not: this machine keeps them too.
    pub(crate) fn about_new_hosts(&self) -> Option<&'static str> {
        let given = [
            ("--agents-per-host", self.agents_per_host.is_some()),
            ("--new-host", self.new_host),
            ("--cpu", self.cpu.is_some()),
            ("--memory", self.memory.is_some()),
            ("--snapshot", self.snapshot.is_some()),
            ("--build-arg", !self.build_arg.is_empty()),
            ("--start-arg", !self.start_arg.is_empty()),
            ("--host-name-style", self.host_name_style.is_some()),
            ("--host-env", !self.host_env.is_empty()),
            ("--host-env-file", !self.host_env_file.is_empty()),
            ("--pass-host-env", !self.pass_host_env.is_empty()),
            ("--post-host-create-command", !self.post_host_create_command.is_empty()),
        ];
        let named = given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name);
        named.or_else(|| self.idle.first_given())
    }

    /// The first option given that a host which is there already cannot follow: this machine at least takes labels.
    pub(crate) fn about_other_hosts(&self) -> Option<&'static str> {
        self.about_new_hosts().or_else(|| (!self.host_label.is_empty()).then_some("--host-label"))
    }
}
