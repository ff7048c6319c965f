//! `mngr tutorial proposals`: the blocks that agents proposed.

use clap::Args;
use mngr_e2e::tutorial::fill::{Proposal, Status};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use super::project::Project;
use super::shown;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::theme::Tone;
use crate::ui::{Console, Output, Report};

/// List proposed blocks
///
/// Those of the repository you stand in that nobody has decided about.
#[derive(Debug, Args)]
#[command(
    after_help = "  mngr tutorial proposals\n  mngr tutorial proposals --all --format '{id} {status} {heading}'"
)]
pub(crate) struct ProposalsArgs {
    /// Also those that were accepted, rejected or cannot be used
    #[arg(short, long, help_heading = "OPTIONS")]
    all: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Lists them.
pub(super) fn run(ctx: &mut Ctx, args: &ProposalsArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["id", "status", "script", "heading", "text", "reason", "agent", "time"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let mut proposals = stored(ctx)?;
    proposals.retain(|proposal| args.all || proposal.status == Status::Proposed);
    output.show(&ctx.console, &ProposalsReport { proposals })?;
    Ok(ExitCode::Done)
}

/// All proposals of the project the user stands in.
pub(super) fn stored(ctx: &mut Ctx) -> Result<Vec<Proposal>, CliError> {
    let world = ctx.world()?;
    let project = Project::around(&world, &world.cwd)?;
    let stored = project.store(&world).all().map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    for broken in stored.broken {
        ctx.console.warn(&format!("`{broken}` is not a proposal"));
    }
    Ok(stored.proposals)
}

/// A proposal with its text and all that is known about it.
pub(super) fn in_full(proposal: &Proposal, console: &Console) -> String {
    let tone = match proposal.status {
        Status::Proposed | Status::Accepted => Tone::Heading,
        Status::Rejected | Status::Invalid => Tone::Error,
    };
    let status = console.out_colour().paint(tone, proposal.status.as_str());
    let heading = sanitize(&proposal.heading);
    let mut text = format!("\n  {}  {status}  {}  {heading}\n", proposal.id, sanitize(&proposal.script));
    text += &shown::text(&proposal.text);
    let notes = proposal.reason.iter().map(|reason| ("reason", reason));
    let notes = notes.chain(proposal.problems.iter().map(|problem| ("problem", problem)));
    for (what, note) in notes.chain(proposal.rejected_because.iter().map(|why| ("rejected", why))) {
        text += &format!("    {what}: {}\n", sanitize(note));
    }
    text
}

struct ProposalsReport {
    proposals: Vec<Proposal>,
}

impl Report for ProposalsReport {
    fn human(&self, console: &Console) -> String {
        if self.proposals.is_empty() {
            return "nothing is proposed\n".to_owned();
        }
        let shown: String = self.proposals.iter().map(|proposal| in_full(proposal, console)).collect();
        shown.trim_start_matches('\n').to_owned()
    }

    fn json(&self) -> Value {
        json!({ "proposals": self.proposals })
    }

    fn events(&self) -> Vec<Value> {
        self.items().into_iter().map(|proposal| event("proposal", proposal)).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.proposals.iter().map(|proposal| json!(proposal)).collect()
    }
}

/// What was decided about some proposals.
pub(super) struct Decisions {
    /// Those it was carried out for.
    pub(super) decided: Vec<Proposal>,
    /// Why not for the others.
    pub(super) failures: Vec<(String, CliError)>,
}

impl Decisions {
    /// Carries out a decision for each id.
    pub(super) fn make(
        ctx: &mut Ctx,
        ids: &[String],
        decide: impl Fn(&mngr_ops::world::World, &Project, &str) -> Result<Proposal, CliError>,
    ) -> Result<Self, CliError> {
        let world = ctx.world()?;
        let project = Project::around(&world, &world.cwd)?;
        let mut decisions = Self { decided: Vec::new(), failures: Vec::new() };
        for id in ids {
            match decide(&world, &project, id) {
                Ok(proposal) => decisions.decided.push(proposal),
                Err(error) => decisions.failures.push((id.clone(), error)),
            }
        }
        Ok(decisions)
    }

    /// Says what was decided; fails if it could not be carried out for all.
    pub(super) fn tell(mut self, ctx: &Ctx, output: &Output) -> Result<ExitCode, CliError> {
        // One alone fails with all it has to say.
        if self.decided.is_empty() && self.failures.len() == 1 {
            return Err(self.failures.remove(0).1);
        }
        for (_, failure) in &self.failures {
            ctx.console.error_line(Tone::Error, "error:", &failure.one_line());
        }
        let code = if self.failures.is_empty() { ExitCode::Done } else { ExitCode::Failed };
        output.show(&ctx.console, &self)?;
        Ok(code)
    }
}

impl Report for Decisions {
    fn human(&self, _console: &Console) -> String {
        let line = |it: &Proposal| {
            let (status, script) = (it.status.as_str(), sanitize(&it.script));
            format!("{} {status} ({script}: {})\n", it.id, sanitize(&it.heading))
        };
        self.decided.iter().map(line).collect()
    }

    fn json(&self) -> Value {
        let failures = self.failures.iter().map(|(id, error)| json!({ "id": id, "error": error.one_line() }));
        json!({ "proposals": self.decided, "failures": failures.collect::<Vec<_>>() })
    }

    fn events(&self) -> Vec<Value> {
        self.decided.iter().map(|proposal| event(proposal.status.as_str(), json!(proposal))).collect()
    }
}
