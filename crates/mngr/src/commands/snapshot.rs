//! `mngr snapshot`: copies of agents and hosts, made, shown, restored and removed.

mod create;
mod destroy;
mod list;
mod restore;

use clap::{Args, Subcommand};
use mngr_host::provider::SnapshotDestroyError;
use mngr_model::address::AgentOrHost;
use mngr_ops::snapshot::{Kept, SnapshotError};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::targets::{self, STDIN};
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;

/// Copy agents and hosts as they are now
///
/// On this machine and on SSH hosts a snapshot is of one agent: its work dir with uncommitted and ignored files, its
/// state and its conversation, kept on its host. In a container it is of the whole host with all its agents. The agent may
/// work on meanwhile. Restoring never takes anything away.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "  mngr snapshot create try-it --name before\n  \
                        mngr snapshot list try-it\n  \
                        mngr snapshot restore snap-4f2a try-it-then"
)]
pub(crate) struct SnapshotArgs {
    #[command(subcommand)]
    verb: SnapshotVerb,
}

/// What can be done with snapshots.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum SnapshotVerb {
    /// Copy agents and hosts as they are now
    Create(create::SnapshotCreateArgs),
    /// Remove snapshots, and nothing else
    Destroy(destroy::SnapshotDestroyArgs),
    /// Show snapshots
    List(list::SnapshotListArgs),
    /// Make an agent, or a host with its agents, from a snapshot
    Restore(restore::SnapshotRestoreArgs),
}

impl SnapshotArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            SnapshotVerb::Create(args) => &args.common,
            SnapshotVerb::Destroy(args) => &args.common,
            SnapshotVerb::List(args) => &args.common,
            SnapshotVerb::Restore(args) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: SnapshotArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        SnapshotVerb::Create(args) => create::run(ctx, args),
        SnapshotVerb::Destroy(args) => destroy::run(ctx, &args),
        SnapshotVerb::List(args) => list::run(ctx, &args),
        SnapshotVerb::Restore(args) => restore::run(ctx, &args),
    }
}

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Args)]
struct SnapshotTargets {
    /// Agents, or hosts as @HOST[.PROVIDER]; `-` reads them from standard input
    #[arg(value_name = "TARGET", help_heading = "ARGUMENTS")]
    targets: Vec<String>,

    /// One more agent (can be repeated)
    #[arg(long, value_name = "AGENT", help_heading = "OPTIONS")]
    agent: Vec<String>,
}

impl SnapshotTargets {
    fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.agent.is_empty()
    }

    /// What is named; `None` when it was to be read from standard input and there was nothing.
    fn read(&self, ctx: &Ctx) -> Result<Option<Vec<AgentOrHost>>, CliError> {
        let mut found: Vec<AgentOrHost> = Vec::new();
        let words = self.targets.iter().chain(&self.agent);
        if words.clone().filter(|word| *word == STDIN).count() > 1 {
            return Err(CliError::usage("`-` can be given only once"));
        }
        for word in words {
            match word.as_str() {
                STDIN => found.extend(targets::agents_or_hosts_from_stdin(ctx)?),
                word => found.push(word.parse()?),
            }
        }
        Ok((self.is_empty() || !found.is_empty()).then_some(found))
    }
}

/// A snapshot as scripts see it.
fn object(kept: &Kept) -> Value {
    json!({
        "id": kept.id,
        "name": kept.name,
        "host_id": kept.host.as_str(),
        "host": kept.host_name.as_ref().map(|name| name.as_str()),
        "provider": kept.provider.as_str(),
        "agent_name": kept.agent.as_ref().map(|(name, _)| name.as_str()),
        "agent_id": kept.agent.as_ref().map(|(_, id)| id.as_str()),
        "created_at": kept.created_at.map(|time| time.to_string()),
        "size_bytes": kept.bytes,
        "recency_idx": kept.recency,
    })
}

/// What a snapshot is of, for people.
fn subject(kept: &Kept) -> String {
    let host = kept.host_name.as_ref().map_or_else(|| kept.host.to_string(), ToString::to_string);
    match &kept.agent {
        Some((agent, _)) => format!("{agent}@{host}.{}", kept.provider),
        None => format!("@{host}.{}", kept.provider),
    }
}

/// What failed for several, as scripts see it.
fn error_objects(errors: &[(String, SnapshotError)]) -> Vec<Value> {
    let object = |(target, error): &(String, SnapshotError)| json!({ "target": target, "error": mngr_ops::error_chain(error) });
    errors.iter().map(object).collect()
}

/// Kind and advice for every way it fails.
impl From<SnapshotError> for CliError {
    fn from(error: SnapshotError) -> Self {
        let error = match error {
            SnapshotError::Create(error) => return super::create::failure(*error),
            SnapshotError::Select(error) => return error.into(),
            SnapshotError::Look(error) => return error.into(),
            other => other,
        };
        let (kind, hint) = match &error {
            SnapshotError::NotFound { .. } => {
                (ErrorKind::NotFound, Some("`mngr snapshot list` shows all snapshots".to_owned()))
            }
            SnapshotError::NoHost { .. } => (ErrorKind::NotFound, None),
            SnapshotError::Unavailable { .. } | SnapshotError::Provider(_) => {
                (ErrorKind::ProviderUnavailable, None)
            }
            SnapshotError::BadName { .. } | SnapshotError::ReplaceOfHost { .. } => (ErrorKind::Usage, None),
            SnapshotError::OfAgent { id } => (
                ErrorKind::Usage,
                Some(format!("`mngr snapshot restore {id} NAME@HOST` makes an agent of it")),
            ),
            SnapshotError::Destroy(SnapshotDestroyError::InUse { .. }) => {
                (ErrorKind::Failed, Some("`mngr list --hosts` shows the hosts".to_owned()))
            }
            SnapshotError::Destroy(SnapshotDestroyError::Provider(_)) => {
                (ErrorKind::ProviderUnavailable, None)
            }
            SnapshotError::Ambiguous { .. } => (ErrorKind::Usage, Some("give more of the id".to_owned())),
            SnapshotError::Running { name, .. } => (
                ErrorKind::Failed,
                Some(format!("`mngr stop {name}` stops it; `--force` replaces it as it is")),
            ),
            SnapshotError::Interrupted(_) => (ErrorKind::Interrupted, None),
            _ => (ErrorKind::Failed, None),
        };
        let failure = Self::new(kind, error);
        hint.into_iter().fold(failure, CliError::hinted)
    }
}
