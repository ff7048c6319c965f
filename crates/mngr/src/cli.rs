//! The command line: which verbs there are, and what all of them have in common.
//!
//! Each verb's own options are in its file under `commands/`. Verbs are built only when they are asked for, which
//! halves the start-up time.

pub(crate) mod absent;
pub(crate) mod common;
pub(crate) mod defaults;
pub(crate) mod habit;
pub(crate) mod help;
pub(crate) mod merge;
pub(crate) mod options;
pub(crate) mod page;
pub(crate) mod parse;
mod pointless;
pub(crate) mod rules;
pub(crate) mod usage;
pub(crate) mod values;
mod wrap;

use clap::{Command, Subcommand};

use crate::commands::{
    archive, capture, cleanup, clone, completion, config, connect, create, destroy, doctor, event, exec,
    explain, file, gc, git, help as help_verb, label, limit, list, message, migrate, observe, plugin, pull,
    push, record, rename, replay, rsync, snapshot, start, stop, tmr, transcript, tutorial, unarchive, undo,
    usage as usage_verb, view, wait,
};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use common::CommonArgs;

/// What mngr is called in its own messages.
pub(crate) const NAME: &str = "mngr";

/// Everything mngr can be asked to do.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Take agents out of sight
    Archive(archive::ArchiveArgs),
    /// Print what an agent's terminal shows
    Capture(capture::CaptureArgs),
    /// Destroy or stop many agents at once
    #[command(visible_alias = "clean")]
    Cleanup(cleanup::CleanupArgs),
    /// Create an agent from another one
    Clone(Box<clone::CloneArgs>),
    /// Complete commands, agents and settings with TAB
    Completion(completion::CompletionArgs),
    /// Show and change settings
    #[command(visible_alias = "cfg")]
    Config(config::ConfigArgs),
    /// Show an agent's terminal in this one
    #[command(visible_alias = "conn")]
    Connect(connect::ConnectArgs),
    /// Create an agent and connect to it
    #[command(visible_alias = "c")]
    Create(Box<create::CreateArgs>),
    /// Destroy agents; `undo` brings them back
    #[command(visible_alias = "rm")]
    Destroy(destroy::DestroyArgs),
    /// Look for what is missing, broken or left behind
    Doctor(doctor::DoctorArgs),
    /// Print the events of an agent or a host
    Event(event::EventArgs),
    /// Run a command in the work dir of agents
    #[command(visible_alias = "x")]
    Exec(exec::ExecArgs),
    /// Show why an agent is in its state
    Explain(explain::ExplainArgs),
    /// Read, write and list files of an agent or a host
    File(file::FileArgs),
    /// Empty the trash and delete what nobody needs
    Gc(gc::GcArgs),
    /// git pull and git push between here and an agent
    Git(git::GitArgs),
    /// Explain a command or a topic
    Help(help_verb::HelpArgs),
    /// Set and remove labels of agents
    Label(label::LabelArgs),
    /// Change when hosts stop by themselves, and what they start at boot
    #[command(visible_alias = "lim")]
    Limit(limit::LimitArgs),
    /// List agents and what they are doing
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Send text to agents
    #[command(visible_alias = "msg")]
    Message(message::MessageArgs),
    /// Move an agent to another host
    Migrate(Box<migrate::MigrateArgs>),
    /// Follow what happens to all agents
    Observe(observe::ObserveArgs),
    /// Show and switch agent types and providers
    #[command(visible_alias = "plug")]
    Plugin(plugin::PluginArgs),
    /// Bring an agent's commits or files here
    Pull(pull::PullArgs),
    /// Bring your commits or files to an agent
    Push(push::PushArgs),
    /// Record an agent's terminal, or a command
    Record(record::RecordArgs),
    /// Rename an agent
    #[command(visible_alias = "mv")]
    Rename(rename::RenameArgs),
    /// Play a recording, search it, print its text
    Replay(replay::ReplayArgs),
    /// rsync between here and an agent
    Rsync(rsync::RsyncArgs),
    /// Copy agents and hosts as they are now
    #[command(visible_alias = "snap")]
    Snapshot(snapshot::SnapshotArgs),
    /// Start stopped agents
    Start(start::StartArgs),
    /// Stop agents
    Stop(stop::StopArgs),
    /// Have agents mend and improve tests, one agent per test
    Tmr(Box<tmr::TmrArgs>),
    /// Print the conversation with an agent
    Transcript(transcript::TranscriptArgs),
    /// Check a tutorial script and the tests that cite it
    Tutorial(tutorial::TutorialArgs),
    /// Take archived agents back into sight
    Unarchive(unarchive::UnarchiveArgs),
    /// Bring destroyed agents back
    Undo(undo::UndoArgs),
    /// Show what agents have used: tokens and money
    Usage(usage_verb::UsageArgs),
    /// Show what tests left behind, as a page
    View(view::ViewArgs),
    /// Wait until agents are in a state
    Wait(wait::WaitArgs),
}

impl Verb {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match self {
            Self::Archive(args) => &args.common,
            Self::Capture(args) => &args.common,
            Self::Cleanup(args) => &args.common,
            Self::Clone(args) => &args.common,
            Self::Completion(args) => args.common(),
            Self::Config(args) => args.common(),
            Self::Connect(args) => &args.common,
            Self::Create(args) => &args.common,
            Self::Destroy(args) => &args.common,
            Self::Doctor(args) => &args.common,
            Self::Event(args) => &args.common,
            Self::Exec(args) => &args.common,
            Self::Explain(args) => &args.common,
            Self::File(args) => args.common(),
            Self::Gc(args) => &args.common,
            Self::Git(args) => args.common(),
            Self::Help(args) => &args.common,
            Self::Label(args) => &args.common,
            Self::Limit(args) => &args.common,
            Self::List(args) => &args.common,
            Self::Message(args) => &args.common,
            Self::Migrate(args) => &args.common,
            Self::Observe(args) => &args.common,
            Self::Plugin(args) => args.common(),
            Self::Pull(args) => &args.common,
            Self::Push(args) => &args.common,
            Self::Record(args) => &args.common,
            Self::Rename(args) => &args.common,
            Self::Replay(args) => &args.common,
            Self::Rsync(args) => &args.common,
            Self::Snapshot(args) => args.common(),
            Self::Start(args) => &args.common,
            Self::Stop(args) => &args.common,
            Self::Tmr(args) => args.common(),
            Self::Transcript(args) => &args.common,
            Self::Tutorial(args) => args.common(),
            Self::Unarchive(args) => &args.common,
            Self::Undo(args) => &args.common,
            Self::Usage(args) => &args.common,
            Self::View(args) => &args.common,
            Self::Wait(args) => &args.common,
        }
    }

    /// Does it.
    pub(crate) fn run(self, ctx: &mut Ctx) -> Result<ExitCode, CliError> {
        match self {
            Self::Archive(args) => archive::run(ctx, args),
            Self::Capture(args) => capture::run(ctx, args),
            Self::Cleanup(args) => cleanup::run(ctx, args),
            Self::Clone(args) => clone::run(ctx, *args),
            Self::Completion(args) => completion::run(ctx, args),
            Self::Config(args) => config::run(ctx, args),
            Self::Connect(args) => connect::run(ctx, args),
            Self::Create(args) => create::run(ctx, *args),
            Self::Destroy(args) => destroy::run(ctx, args),
            Self::Doctor(args) => doctor::run(ctx, &args),
            Self::Event(args) => event::run(ctx, args),
            Self::Exec(args) => exec::run(ctx, args),
            Self::Explain(args) => explain::run(ctx, args),
            Self::File(args) => file::run(ctx, args),
            Self::Gc(args) => gc::run(ctx, args),
            Self::Git(args) => git::run(ctx, args),
            Self::Help(args) => help_verb::run(ctx, args),
            Self::Label(args) => label::run(ctx, args),
            Self::Limit(args) => limit::run(ctx, args),
            Self::List(args) => list::run(ctx, args),
            Self::Message(args) => message::run(ctx, args),
            Self::Migrate(args) => migrate::run(ctx, *args),
            Self::Observe(args) => observe::run(ctx, &args),
            Self::Plugin(args) => plugin::run(ctx, args),
            Self::Pull(args) => pull::run(ctx, args),
            Self::Push(args) => push::run(ctx, args),
            Self::Record(args) => record::run(ctx, args),
            Self::Rename(args) => rename::run(ctx, args),
            Self::Replay(args) => replay::run(ctx, args),
            Self::Rsync(args) => rsync::run(ctx, args),
            Self::Snapshot(args) => snapshot::run(ctx, args),
            Self::Start(args) => start::run(ctx, args),
            Self::Stop(args) => stop::run(ctx, args),
            Self::Tmr(args) => tmr::run(ctx, *args),
            Self::Transcript(args) => transcript::run(ctx, args),
            Self::Tutorial(args) => tutorial::run(ctx, args),
            Self::Unarchive(args) => unarchive::run(ctx, args),
            Self::Undo(args) => undo::run(ctx, args),
            Self::Usage(args) => usage_verb::run(ctx, args),
            Self::View(args) => view::run(ctx, args),
            Self::Wait(args) => wait::run(ctx, args),
        }
    }
}

/// What mngr is, for those who read its manual.
const ABOUT: &str = "git for agents

Creates, lists, messages, stops and destroys coding agents, each in a tmux session and a git worktree of its own: on this \
machine, on any machine behind SSH, or in Docker containers. Any program that runs in a terminal can be an agent.

Nothing is lost: `mngr undo` brings a destroyed agent back. No daemon and no database: state lives where the agent lives.";

/// What most people do first.
const EXAMPLES: &str = "  \
  mngr create fix-login claude              # an agent in a worktree of its own
  mngr list                                 # what all agents are doing
  mngr message fix-login 'yes, thank you'   # tell one something
  mngr connect fix-login                    # its terminal; leave with Ctrl-b d
  mngr pull fix-login --merge               # its commits, merged into yours
  mngr destroy --force fix-login            # gone (`mngr undo fix-login`: back)";

/// The whole command line. Verbs other than the one asked for stay unbuilt.
pub(crate) fn command() -> Command {
    let command = Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .override_usage("mngr COMMAND [OPTIONS]\n       mngr help COMMAND|TOPIC")
        .after_help(EXAMPLES)
        .disable_help_subcommand(true)
        .args_override_self(true)
        .subcommand_required(true);
    Verb::augment_subcommands(command).about("git for agents").long_about(ABOUT)
}
