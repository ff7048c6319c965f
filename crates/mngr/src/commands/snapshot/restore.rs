//! `mngr snapshot restore`.

use clap::Args;
use mngr_model::address::NewLocation;
use mngr_ops::snapshot::{self, RestoreRequest, Restored};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Make an agent, or a host with its agents, from a snapshot
///
/// The snapshot of an agent becomes a new agent, STOPPED, with an id and a branch of its own, all its files, its labels and
/// its conversation: on the host of the snapshot, or on any other. With --replace the agent the snapshot is of goes into the
/// trash, and the restored one gets its name; `mngr undo` brings the old one back beside it.
///
/// The snapshot of a host becomes a new host. Where the host it is of is gone, that host and its agents are back, with their
/// ids. Where it exists, the copies get ids and names of their own.
///
/// The snapshot stays, and can be restored again.
#[derive(Debug, Args)]
#[command(after_help = "  mngr snapshot restore snap-4f2a try-it-then\n  \
                        mngr snapshot restore snap-4f2a try-again@box\n  \
                        mngr snapshot restore snap-4f2a --replace && mngr start fix-login\n  \
                        mngr snapshot restore 1a2b3c4d box-again")]
pub(super) struct SnapshotRestoreArgs {
    /// The snapshot, by its id or the beginning of it
    #[arg(value_name = "ID", help_heading = "ARGUMENTS")]
    id: String,

    /// What the agent is called and where it goes: NAME, NAME@HOST, NAME:PATH; by default NAME-restored, where it was. For
    /// the snapshot of a host, the name of the host
    #[arg(value_name = "ADDRESS", help_heading = "ARGUMENTS")]
    to: Option<String>,

    /// Put the agent in the place of the one the snapshot is of, which goes into the trash
    #[arg(long, help_heading = "OPTIONS")]
    replace: bool,

    /// With --replace: also one that runs
    #[arg(short, long, requires = "replace", help_heading = "OPTIONS")]
    force: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Restores it.
pub(super) fn run(ctx: &mut Ctx, args: &SnapshotRestoreArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["id", "name", "old_name"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let to: NewLocation = args.to.as_deref().unwrap_or_default().parse()?;
    let world = ctx.world()?;
    let request = RestoreRequest { id: args.id.clone(), to, replace: args.replace, force: args.force };
    let restored = snapshot::restore(&world, &request)?;
    output.show(&ctx.console, &RestoreReport { restored })?;
    Ok(ExitCode::Done)
}

struct RestoreReport {
    restored: Restored,
}

impl Report for RestoreReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let restored = &self.restored;
        let host = restored.is_new_host.then(|| format!("Created host: {}", restored.host));
        let agents = restored.agents.iter().map(|agent| {
            let old = match &agent.old_name {
                old if *old == agent.name => String::new(),
                old => format!(" (a copy of {old})"),
            };
            format!("Restored agent: {}@{}{old}, stopped", agent.name, restored.host)
        });
        let replaced = restored
            .replaced
            .iter()
            .map(|name| format!("The old `{name}` is in the trash: `mngr undo {name}`"));
        lines(host.into_iter().chain(agents).chain(replaced).map(|text| sanitize(&text).into_owned()))
    }

    fn json(&self) -> Value {
        json!({
            "snapshot_id": self.restored.snapshot,
            "host": self.restored.host,
            "host_id": self.restored.host_id.as_str(),
            "is_new_host": self.restored.is_new_host,
            "agents": self.items(),
            "replaced": self.restored.replaced.as_ref().map(|name| name.as_str()),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("snapshot_restored", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        let agents = self.restored.agents.iter();
        let item = |agent: &mngr_ops::snapshot::SettledAgent| {
            json!({
                "id": agent.id.as_str(),
                "name": agent.name.as_str(),
                "old_name": agent.old_name.as_str(),
            })
        };
        agents.map(item).collect()
    }
}
