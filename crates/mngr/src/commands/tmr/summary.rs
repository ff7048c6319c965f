//! What a run came to, for people: the ends, the branch and how to look at it, what was left out, and what to do next.

use mngr_model::HostPath;
use mngr_model::permission::Refusal;
use mngr_model::quote::sh_quote;
use mngr_model::run::{EndReason, FinalRun, Integration, Run, Stage, Task};
use mngr_query::{CellStyle, sanitize};

use super::board::{self, Extent};
use super::seen::{RunState, Seen, subject, votes};
use crate::ui::Console;
use crate::ui::line::Line;
use crate::ui::words::{count, dollars, elapsed, tokens};

/// How many commits or tasks are listed one by one.
const FEW: usize = 20;

/// Where the reader stands, and where the page is.
pub(super) struct Places<'p> {
    /// The folder the reader stands in.
    pub(super) here: &'p HostPath,
    /// The page, if there is one.
    pub(super) page: Option<&'p HostPath>,
}

impl Places<'_> {
    /// A folder as one who stands here calls it.
    fn short<'f>(&self, folder: &'f HostPath) -> &'f str {
        match folder.parent() {
            Some(parent) if parent == *self.here => folder.file_name().unwrap_or_else(|| folder.as_str()),
            _ => folder.as_str(),
        }
    }
}

/// The lines of the summary.
pub(super) fn text(seen: &Seen, console: &Console, places: &Places<'_>) -> String {
    let mut lines = tests_of_result(seen);
    lines.extend(ends(seen));
    lines.extend(branch(seen));
    lines.extend(review(seen));
    lines.extend(left_out(seen));
    lines.extend(unneeded(seen));
    lines.extend(said(&seen.run, Stage::Blocked, "Blocked"));
    lines.extend(said(&seen.run, Stage::Unresolved, "Unresolved"));
    lines.extend(board::failures(&seen.failures(), Extent::Whole));
    lines.extend(refused(seen));
    lines.extend(next_steps(seen, places));
    // No width: what people copy from here must be whole.
    lines.iter().map(|line| line.render(console.out_colour(), None) + "\n").collect()
}

/// What agents wanted to do and were refused, each thing once.
fn refused(seen: &Seen) -> Vec<Line> {
    let mut things: Vec<(&Refusal, usize)> = Vec::new();
    let attempts = seen.run.tasks.iter().flat_map(|task| &task.attempts);
    for refusal in attempts.flat_map(|attempt| &attempt.refusals) {
        match things.iter_mut().find(|(known, _)| *known == refusal) {
            Some((_, number)) => *number += 1,
            None => things.push((refusal, 1)),
        }
    }
    if things.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::plain(""), Line::plain("Refused to agents (`[tmr] allow` adds commands)")];
    for (refusal, number) in things.iter().take(FEW) {
        let Refusal { tool, what, why } = refusal;
        let text = format!("  {number:>4} {tool} `{what}`: {why}");
        lines.push(Line::new(CellStyle::Warn, sanitize(&text).into_owned()));
    }
    if things.len() > FEW {
        lines.push(Line::plain(format!("       and {} more", things.len() - FEW)));
    }
    lines
}

/// What comes first: how many tests pass on the result.
fn tests_of_result(seen: &Seen) -> Vec<Line> {
    let line = |run: &FinalRun| {
        let is_good = run.problem.is_none() && run.failed == 0;
        Line::new(
            if is_good { CellStyle::Good } else { CellStyle::Warn },
            sanitize(&run.to_string()).into_owned(),
        )
    };
    seen.run.final_run.iter().map(line).collect()
}

/// How it ended, and how many tests ended how.
fn ends(seen: &Seen) -> Vec<Line> {
    let totals = seen.run.totals();
    let mut used = vec![elapsed(seen.worked()), count(totals.agents, "agent")];
    if totals.tokens > 0 {
        used.push(format!("{} tokens", tokens(totals.tokens)));
    }
    if totals.cost > 0.0 {
        used.push(dollars(totals.cost));
    }
    let name = sanitize(seen.name());
    let mut lines = vec![Line::plain(format!("Run {name}: {} ({})", seen.state.in_words(), used.join(", ")))];
    let without_agent =
        seen.run.tasks.iter().filter(|task| task.stage() == Stage::Clean && !had_agent(task)).count();
    let ends = [
        ("integrated", CellStyle::Good, String::new()),
        ("needs_review", CellStyle::Warn, String::new()),
        ("clean", CellStyle::Good, format!("  ({without_agent} needed no agent)")),
        ("passes_on_result", CellStyle::Good, "  (their agents failed)".to_owned()),
        ("verified", CellStyle::Warn, "  (not put together yet)".to_owned()),
        ("unresolved", CellStyle::Warn, String::new()),
        ("blocked", CellStyle::Warn, String::new()),
        ("failed", CellStyle::Bad, String::new()),
    ];
    for (stage, style, remark) in ends {
        if let Some(number) = totals.stages.get(stage) {
            lines.push(Line::plain(format!("  {number:>4} ")).and(style, board::in_words(stage)).and(
                CellStyle::Dim,
                if stage == "clean" && without_agent == 0 { String::new() } else { remark },
            ));
        }
    }
    let open = totals.tasks - totals.done - totals.stages.get("verified").copied().unwrap_or(0);
    if open > 0 {
        lines.push(Line::plain(format!("  {open:>4} ")).and(CellStyle::Warn, "not done"));
    }
    lines
}

fn had_agent(task: &Task) -> bool {
    task.attempts.iter().any(mngr_model::run::Attempt::was_launched)
}

/// The branch, its commits, and the commands that show it.
fn branch(seen: &Seen) -> Vec<Line> {
    let result = seen.result();
    let (Some(branch), Some(started)) = (result.branch(), &seen.run.started) else { return Vec::new() };
    let commits: Vec<&Integration> = result.commits().collect();
    let mut lines = vec![
        Line::default(),
        Line::plain("Branch ")
            .and(CellStyle::Good, branch.clone())
            .and(CellStyle::Plain, format!(", {}", count(commits.len(), "commit"))),
    ];
    for step in commits.iter().take(FEW) {
        let commit = step.commit.as_deref().unwrap_or_default();
        let shared = votes(step);
        let shared = if shared > 1 { format!("  ({shared} agents made this change)") } else { String::new() };
        lines.push(
            Line::new(CellStyle::Dim, format!("  {}  ", sanitize(commit.get(..10).unwrap_or(commit))))
                .and(CellStyle::Plain, sanitize(subject(step)).into_owned())
                .and(CellStyle::Dim, shared),
        );
    }
    lines.extend(and_more(commits.len()));
    let base = started.base_commit.get(..10).unwrap_or(&started.base_commit);
    lines.push(Line::plain(format!("  git log --stat {}..{}", sanitize(base), sh_quote(&branch))));
    lines.push(Line::plain(format!("  git merge {}", sh_quote(&branch))));
    lines
}

/// The review branch, and why each change of it needs review.
fn review(seen: &Seen) -> Vec<Line> {
    let result = seen.result();
    let (Some(branch), Some(started)) = (result.review_branch(), &seen.run.started) else {
        return Vec::new();
    };
    let short = |commit: &str| sanitize(commit.get(..10).unwrap_or(commit)).into_owned();
    let line = |step: &Integration| {
        let commit = short(step.commit.as_deref().unwrap_or_default());
        format!("  {commit}  {}: {}", tasks(step), sanitize(&step.reason))
    };
    let mut lines = section("Needs review", result.review().map(line).collect());
    let integrated = result.branch().unwrap_or_else(|| short(&started.base_commit));
    let range = format!("{integrated}..{branch}");
    lines.push(Line::plain(format!("  git log --patch {}", sh_quote(&range))));
    lines
}

/// Files that were left out because no test needs them.
fn unneeded(seen: &Seen) -> Vec<Line> {
    let line = |step: &Integration| format!("  {}: {}", tasks(step), sanitize(&step.reason));
    section("Files left out", seen.result().unneeded().map(line).collect())
}

/// What was verified and is not on the branch.
fn left_out(seen: &Seen) -> Vec<Line> {
    let result = seen.result();
    let all: Vec<String> = result
        .expelled()
        .map(|step| format!("  {}: {}", tasks(step), sanitize(&step.reason)))
        .chain(result.conflicts().map(|step| {
            let with = step.details.get("with").and_then(|with| with.as_array()).into_iter().flatten();
            let with: Vec<&str> = with.filter_map(|task| task.as_str()).collect();
            let beside = if with.is_empty() { "all others together".to_owned() } else { with.join(", ") };
            format!("  {}: does not fit beside {}", tasks(step), sanitize(&beside))
        }))
        .collect();
    section("Left out", all)
}

fn tasks(step: &Integration) -> String {
    if step.tasks.is_empty() {
        return "a commit of the integrator".to_owned();
    }
    let names: Vec<&str> = step.tasks.iter().map(mngr_model::run::TaskId::as_str).collect();
    sanitize(&names.join(", ")).into_owned()
}

/// The tasks at a stage, with what their agents said about it.
fn said(run: &Run, stage: Stage, title: &str) -> Vec<Line> {
    let at_stage = run.tasks.iter().filter(|task| task.stage() == stage);
    let line = |task: &Task| {
        let attempt = task.latest();
        let reason = attempt.and_then(|attempt| attempt.outcome.as_ref()?.reason.as_ref());
        let words = reason.map_or_else(
            || attempt.map(|attempt| attempt.evidence.clone()).unwrap_or_default(),
            |reason| reason.as_str().to_owned(),
        );
        let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
        format!("  {}: {}", sanitize(task.id.as_str()), sanitize(&first))
    };
    section(title, at_stage.map(line).collect())
}

fn section(title: &str, all: Vec<String>) -> Vec<Line> {
    if all.is_empty() {
        return Vec::new();
    }
    let total = all.len();
    let mut lines = vec![Line::default(), Line::plain(title)];
    lines.extend(all.into_iter().take(FEW).map(Line::plain));
    lines.extend(and_more(total));
    lines
}

fn and_more(total: usize) -> Option<Line> {
    (total > FEW).then(|| Line::new(CellStyle::Dim, format!("  and {} more", total - FEW)))
}

/// Commands for what comes next, each after what it is for.
fn next_steps(seen: &Seen, places: &Places<'_>) -> Vec<Line> {
    let folder = sh_quote(places.short(&seen.folder)).into_owned();
    let mut steps = Vec::new();
    if let Some(page) = places.page {
        steps.push(("the page", sanitize(page.as_str()).into_owned()));
    }
    if seen.state != RunState::Ended(EndReason::Finished) {
        steps.push(("go on", format!("mngr tmr resume {folder}")));
    }
    if seen.result().branch().is_some() {
        steps.push(("explain a commit", format!("mngr tmr why COMMIT --run {folder}")));
        steps.push(("take one out", format!("mngr tmr drop COMMIT --run {folder}")));
    }
    if seen.result().review_branch().is_some() {
        steps.push(("accept a change that needs review", format!("mngr tmr take COMMIT --run {folder}")));
    }
    if seen.run.tasks.iter().any(had_agent) {
        let label = format!("mapreduce_run_name={}", sh_quote(seen.name()));
        steps.push(("its agents", format!("mngr list --label {label}")));
        steps.push(("remove them", format!("mngr list --label {label} --ids | mngr destroy --force -")));
    }
    let mut lines = vec![Line::default(), Line::plain("Next")];
    let widest = steps.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
    for (what, command) in steps {
        lines.push(Line::new(CellStyle::Dim, format!("  {what:<widest$}  ")).and(CellStyle::Plain, command));
    }
    lines
}
