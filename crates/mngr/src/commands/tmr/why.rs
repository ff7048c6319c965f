//! `mngr tmr why`: where a commit of a run's branch comes from.

use std::sync::Arc;

use clap::Args;
use mngr_model::run::{Fate, Strength, StrengthState};
use mngr_query::sanitize;
use mngr_tmr::integrate::Why;
use mngr_tmr::run::Saved;
use serde_json::{Value, json};

use super::{failure, locate};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Args)]
pub(super) struct CommitArgs {
    /// The commit, by any unique beginning of its name, or a test it is for
    #[arg(value_name = "COMMIT|TASK", display_order = 0, help_heading = "ARGUMENTS")]
    pub(super) commit: String,

    /// The run: its folder or its name (default: the newest below this folder)
    #[arg(long, value_name = "RUN", help_heading = "OPTIONS")]
    pub(super) run: Option<String>,
}

/// Show where a commit of a run's branch comes from
///
/// The tests it is for, what was measured, how many agents made the same change, why it has its place, or why it needs review. Nobody is
/// asked: it is all in the commit and in the journal.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr why \"$(git rev-parse tmr/first/integrated)\"\n  \
                        mngr tmr why 1a2b3c4d --run 20260102030405 --format json")]
pub(super) struct WhyArgs {
    /// The commit, by any unique beginning of its name, a branch, or a test it is for: its id or the end of it, or its agent
    #[arg(value_name = "COMMIT|BRANCH|TASK", display_order = 0, help_heading = "ARGUMENTS")]
    what: String,

    /// The run: its folder or its name (default: the newest below this folder)
    #[arg(long, value_name = "RUN", help_heading = "OPTIONS")]
    run: Option<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows it.
pub(super) fn run(ctx: &mut Ctx, args: &WhyArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = Arc::new(ctx.world()?);
    let folder = locate::folder(ctx, world.client.as_ref(), args.run.as_deref())?;
    let saved = Saved::open(&world, folder).map_err(failure::of_run)?;
    let why = saved.why(&world, &args.what).map_err(failure::of_run)?;
    output.show(&ctx.console, &WhyReport { why })?;
    Ok(ExitCode::Done)
}

/// The strength of one task's tests, and each mutant.
fn in_words(strength: &Strength) -> String {
    let task = sanitize(strength.task.as_str());
    let mut text = format!("\nStrength of {task}: {strength}\n");
    if !strength.why.is_empty() {
        text += &format!("  {}\n", sanitize(&strength.why));
    }
    let fate = |fate: Option<Fate>| fate.map_or("not asked", Fate::as_str);
    for mutant in &strength.mutants {
        let (before, after) = (fate(mutant.before), fate(mutant.after));
        let place = format!("{}:{} ({})", mutant.path, mutant.line, mutant.rule);
        text += &format!("  {}: {before} before, {after} now\n", sanitize(&place));
        // The first two lines name the file once more.
        let lines = mutant.diff.lines().skip_while(|line| line.starts_with("---") || line.starts_with("+++"));
        text.extend(lines.map(|line| format!("    {}\n", sanitize(line))));
    }
    text
}

struct WhyReport {
    why: Why,
}

impl Report for WhyReport {
    fn human(&self, _console: &Console) -> String {
        let Why { oid, subject, trailers, paths, steps, strength, .. } = &self.why;
        let mut text = format!("commit {}\n  {}\n\n", sanitize(oid), sanitize(subject));
        let widest = trailers.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in trailers {
            text += &format!("  {:<widest$}  {}\n", sanitize(name), sanitize(value));
        }
        text += "\nChanges\n";
        text.extend(paths.iter().map(|path| format!("  {}\n", sanitize(path))));
        let told: Vec<String> = steps
            .iter()
            .filter(|step| !step.reason.is_empty())
            .map(|step| {
                let word = json!(step.step);
                format!("  {}: {}\n", word.as_str().unwrap_or_default(), sanitize(&step.reason))
            })
            .collect();
        if !told.is_empty() {
            text += "\nHow it got there\n";
            text.extend(told);
        }
        text.extend(strength.iter().filter(|it| it.state != StrengthState::NotNeeded).map(in_words));
        text
    }

    fn json(&self) -> Value {
        let Why { oid, subject, tasks, trailers, paths, steps, strength } = &self.why;
        let trailer = |(name, value): &(String, String)| json!({ "name": name, "value": value });
        json!({
            "commit": oid,
            "subject": subject,
            "tasks": tasks,
            "trailers": trailers.iter().map(trailer).collect::<Vec<_>>(),
            "paths": paths,
            "steps": steps,
            "strength": strength,
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("why", self.json())]
    }
}
