//! `mngr gc`: what has waited long enough in the trash, and what nobody uses and nobody would miss.

use clap::Args;
use mngr_ops::gc::{self, Collected, GcOptions, Resource, ResourceKind};
use mngr_query::sanitize;
use serde_json::{Map, Value, json};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::theme::Tone;
use crate::ui::{Console, Output, Report};
use crate::wiring;

/// Lists of the result that only providers with hosts of their own can fill.
const ALWAYS_EMPTY: &[&str] =
    &["machines_deleted", "volumes_destroyed", "build_cache_destroyed", "provider_resources_destroyed"];

/// Delete what nobody needs any more
///
/// Destroyed agents go for good after `trash.max_age_days`, or above `trash.max_size_gb` the oldest first. Work dirs and
/// repositories that no agent uses go too, but never one that holds work which is nowhere else. A host that mngr made goes
/// once it is stopped, without agents, and with nothing younger than that in its trash; what is only there comes here first.
#[derive(Debug, Args)]
#[command(after_help = "  mngr gc --dry-run\n  mngr gc")]
pub(crate) struct GcArgs {
    /// Only hosts of this provider (can be repeated)
    #[arg(long, value_name = "NAME", help_heading = "OPTIONS")]
    provider: Vec<String>,

    /// Hosts of all providers (the default)
    #[arg(long, conflicts_with = "provider", help_heading = "OPTIONS")]
    all_providers: bool,

    /// Show what would be deleted
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    /// Accepted for older scripts; has no effect: one failure never keeps the rest from being done
    #[arg(long, value_name = "MODE", value_parser = ["abort", "continue"], hide = true)]
    on_error: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Deletes it.
pub(crate) fn run(ctx: &mut Ctx, args: GcArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let mut options = GcOptions { providers: Vec::new(), dry_run: args.dry_run };
    for name in &args.provider {
        let known = world.providers.iter().find(|provider| provider.name().as_str() == name);
        options
            .providers
            .push(known.ok_or_else(|| wiring::no_such_provider(&world.settings, name))?.name().clone());
    }
    let collected =
        gc::collect(&world, &options).map_err(|error| CliError::new(ErrorKind::Interrupted, error))?;
    let code = tell_problems(ctx, &collected);
    output.show(&ctx.console, &GcReport { collected })?;
    Ok(code)
}

fn tell_problems(ctx: &Ctx, collected: &Collected) -> ExitCode {
    let mut code = ExitCode::Done;
    for failure in &collected.failures {
        ctx.console.error_line(Tone::Error, "error:", &failure.message);
        code = code.and(ExitCode::ProviderUnavailable);
    }
    for problem in &collected.problems {
        ctx.console.error_line(Tone::Error, "error:", &format!("`{}`: {}", problem.path, problem.message));
        code = code.and(ExitCode::LocalStateRemains);
    }
    for kept in &collected.kept {
        ctx.console.note(&format!("Kept {}: {}", kept.path, kept.reason));
    }
    code
}

struct GcReport {
    collected: Collected,
}

impl GcReport {
    fn sentence(&self, resource: &Resource) -> String {
        let verb = if self.collected.dry_run { "Would delete" } else { "Deleted" };
        let agent = resource.agent.as_ref().map(|agent| format!(" of agent {agent}")).unwrap_or_default();
        let what = match resource.kind {
            ResourceKind::Machine => resource.host.as_str(),
            _ => resource.path.as_str(),
        };
        let text = format!("{verb} {}{agent}: {what} ({})", resource.kind.as_str(), resource.reason);
        sanitize(&text).into_owned()
    }
}

impl Report for GcReport {
    fn is_confirmation(&self) -> bool {
        !self.collected.dry_run
    }

    fn human(&self, _console: &Console) -> String {
        if self.collected.removed.is_empty() {
            return "Nothing to delete\n".to_owned();
        }
        lines(self.collected.removed.iter().map(|resource| self.sentence(resource)))
    }

    fn json(&self) -> Value {
        let mut object = Map::new();
        for kind in ResourceKind::ALL {
            let key = match kind {
                ResourceKind::Trash => "trash_destroyed".to_owned(),
                kind => format!("{}s_destroyed", kind.as_str()),
            };
            object.insert(key, self.collected.of(kind).map(resource).collect());
        }
        object.extend(ALWAYS_EMPTY.iter().map(|key| ((*key).to_owned(), json!([]))));
        let kept = self.collected.kept.iter();
        object.insert(
            "kept".into(),
            kept.map(|kept| json!({ "host": kept.host, "path": kept.path.as_str(), "reason": kept.reason }))
                .collect(),
        );
        let problems = self
            .collected
            .problems
            .iter()
            .map(|problem| json!({ "path": problem.path.as_str(), "message": problem.message }));
        let unasked = self
            .collected
            .failures
            .iter()
            .map(|failure| json!({ "provider_name": failure.provider, "message": failure.message }));
        object.insert("errors".into(), problems.chain(unasked).collect());
        object.insert("failures".into(), json!([]));
        object.insert("freed_bytes".into(), self.collected.freed_bytes().into());
        object.insert("dry_run".into(), self.collected.dry_run.into());
        Value::Object(object)
    }

    fn events(&self) -> Vec<Value> {
        let destroyed = self.collected.removed.iter().map(|removed| {
            let message = self.sentence(removed);
            let kind = removed.kind.as_str();
            event(
                "destroyed",
                json!({ "message": message, "resource_type": kind, "resource": resource(removed), "dry_run": self.collected.dry_run }),
            )
        });
        let counts: Map<String, Value> = ResourceKind::ALL
            .into_iter()
            .map(|kind| (kind.as_str().to_owned(), self.collected.of(kind).count().into()))
            .collect();
        let summary =
            event("summary", json!({ "counts": counts, "freed_bytes": self.collected.freed_bytes() }));
        destroyed.chain([summary]).collect()
    }
}

fn resource(resource: &Resource) -> Value {
    json!({
        "host": resource.host,
        "path": resource.path.as_str(),
        "agent": resource.agent,
        "bytes": resource.bytes,
        "reason": resource.reason,
    })
}
