//! `mngr rsync`: rsync itself, between this machine and an agent or a host.

use clap::Args;
use mngr_model::address::Location;
use mngr_model::facts::Detail;
use mngr_ops::hosts;
use mngr_ops::rsync::{self, End, RsyncRequest};
use mngr_ops::sync::{Audience, PlainCopied, SetAside};
use mngr_ops::world::World;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::sync::{self, Uncommitted};
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// rsync between here and an agent
///
/// Runs `rsync -avz --stats --exclude=.git` over whatever reaches the agent's host. One side is AGENT, AGENT:PATH or @HOST:PATH, the
/// other a path here: `./dir`, `/dir` or `:dir`. AGENT alone means what is in its work dir; else slashes mean what they mean
/// to rsync. Words after `--` are options of rsync. Uncommitted changes that are in the way are overwritten only if you say so.
#[derive(Debug, Args)]
#[command(after_help = "  mngr rsync plain:plain.py ~/tutorial/\n  \
                        mngr rsync ~/tutorial/notes/ plain:ideas/ -- --exclude='*.tmp'\n  \
                        mngr rsync @box:/var/log/app.log ./")]
pub(crate) struct RsyncArgs {
    /// What to copy
    #[arg(value_name = "SOURCE", display_order = 1, help_heading = "ARGUMENTS")]
    from: String,

    /// Where to
    #[arg(value_name = "DEST", display_order = 2, help_heading = "ARGUMENTS")]
    to: String,

    /// Options of rsync
    #[arg(last = true, value_name = "RSYNC_ARGS", display_order = 3, help_heading = "ARGUMENTS")]
    words: Vec<String>,

    /// What happens to uncommitted changes that are in the way
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail", help_heading = "OPTIONS")]
    uncommitted_changes: Uncommitted,

    /// Accepted for older scripts; has no effect: the agent need not run
    #[arg(long, overrides_with = "no_start", hide = true)]
    start: bool,

    /// Accepted for older scripts; has no effect: the agent need not run
    #[arg(long, overrides_with = "start", hide = true)]
    no_start: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Copies.
pub(crate) fn run(ctx: &mut Ctx, args: RsyncArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    if let Some(word) = args.words.iter().find(|word| !word.starts_with('-')) {
        let text = format!("`{}` after `--` is no option of rsync", sanitize(word));
        return Err(CliError::usage(text).hinted("write options with a value as `--option=value`"));
    }
    let (from, to): (Location, Location) = (args.from.parse()?, args.to.parse()?);
    let is_here = |location: &Location| matches!(location, Location::Local(_));
    if is_here(&from) == is_here(&to) {
        let text =
            if is_here(&from) { "both sides are on this machine" } else { "no side is on this machine" };
        return Err(CliError::usage(text)
            .hinted("one side is AGENT, AGENT:PATH or @HOST:PATH, the other a path such as ./dir"));
    }
    let world = ctx.world()?;
    let request = RsyncRequest {
        from: end(ctx, &world, from, &args.from)?,
        to: end(ctx, &world, to, &args.to)?,
        words: args.words,
        uncommitted: args.uncommitted_changes.into(),
        audience: if output.is_human() { Audience::User } else { Audience::Nobody },
    };
    let copied = rsync::rsync(&world, &request).map_err(sync::copy_failure)?;
    output.show(&ctx.console, &RsyncReport { copied })?;
    Ok(ExitCode::Done)
}

fn end(ctx: &Ctx, world: &World, location: Location, word: &str) -> Result<End, CliError> {
    Ok(match location {
        Location::Local(_) => End::Here(sync::local_end(ctx, word)?),
        Location::Agent { address, path } => {
            let agent = targets::one_with_host(world, &address.to_string(), Detail::Basic)?;
            End::Agent(Box::new(agent), path)
        }
        Location::Host { address, path } => End::Host(hosts::started_at(world, &address)?, path),
    })
}

struct RsyncReport {
    copied: PlainCopied,
}

impl Report for RsyncReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    /// rsync has said the rest itself.
    fn human(&self, _console: &Console) -> String {
        let line = |aside: &SetAside| format!("{}\n", sanitize(&sync::set_aside_line(aside)));
        self.copied.uncommitted.as_ref().map(line).unwrap_or_default()
    }

    fn json(&self) -> Value {
        json!({ "files": self.copied.files, "uncommitted": self.copied.uncommitted })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("rsync_result", self.json())]
    }
}
