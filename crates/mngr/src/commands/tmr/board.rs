//! A run in a few lines: how far it is, what it used, what is at work, what went wrong. The same for `status` and for the view
//! while a run goes on. Only text is made here.

use std::cmp::Reverse;

use mngr_model::run::{BreakerState, EndReason, Stage, Task};
use mngr_query::{Align, Cell, CellStyle, Column, Table, sanitize};
use mngr_tmr::cluster::Cluster;

use super::obstacles;
use super::seen::{RunState, Seen};
use crate::ui::line::Line;
use crate::ui::theme::Colour;
use crate::ui::words::{count, dollars, elapsed, tokens};

/// How many characters the bar has.
const BAR: usize = 40;

/// How many groups of failures are shown where there is little room.
const FEW_GROUPS: usize = 3;

/// How many names a group of failures shows.
const FEW_NAMES: usize = 3;

/// How much of it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What fits into so many lines.
    Lines(usize),
    /// All tasks that are at work or went wrong.
    Whole,
}

/// The lines.
pub(super) fn lines(seen: &Seen, extent: Extent, width: Option<usize>, colour: Colour) -> Vec<String> {
    let render =
        |lines: Vec<Line>| -> Vec<String> { lines.iter().map(|line| line.render(colour, width)).collect() };
    let mut above = render(head(seen));
    let groups = seen.failures();
    let below = render(failures(&groups, extent));
    let room = match extent {
        Extent::Whole => usize::MAX,
        Extent::Lines(most) => most.saturating_sub(above.len() + below.len()),
    };
    above.extend(rows(seen, extent, room, width, colour));
    above.extend(below);
    if let Extent::Lines(most) = extent {
        above.truncate(most);
    }
    above
}

/// Name, bar, counts, figures, and what holds it up.
fn head(seen: &Seen) -> Vec<Line> {
    let run = &seen.run;
    let (name, base) =
        run.started.as_ref().map_or(("", ""), |it| (it.name.as_str(), it.base_commit.as_str()));
    let title = format!("{} {}", sanitize(name), sanitize(seen.name()));
    let base = sanitize(base.get(..10).unwrap_or(base)).into_owned();
    let look = match seen.state {
        RunState::Running => CellStyle::Plain,
        RunState::Ended(EndReason::Finished) => CellStyle::Good,
        _ => CellStyle::Warn,
    };
    let time = elapsed(seen.worked());
    let mut lines = vec![
        Line::plain(title)
            .and(CellStyle::Dim, format!("  from {base}  "))
            .and(look, seen.state.in_words())
            .and(CellStyle::Dim, format!("  {time}")),
        bar(seen),
        Line::plain(format!("{}; {}", counts(seen), figures(seen))),
    ];
    let open = run.breakers.iter().filter(|breaker| breaker.state != BreakerState::Closed);
    let obstacles = open.map(obstacles::breaker).chain(run.limits.iter().map(obstacles::limit));
    lines.extend(obstacles.map(|obstacle| Line::new(CellStyle::Warn, obstacle)));
    if seen.damaged > 0 {
        lines.push(Line::new(
            CellStyle::Warn,
            format!("{} of the journal cannot be read and count for nothing", count(seen.damaged, "line")),
        ));
    }
    lines
}

/// What a stage looks like in the bar, and in colour.
fn mark(stage: Stage) -> (char, CellStyle) {
    match stage {
        Stage::Integrated | Stage::Clean | Stage::Verified | Stage::PassesOnResult => ('#', CellStyle::Good),
        Stage::NeedsReview | Stage::Unresolved | Stage::Blocked => ('!', CellStyle::Warn),
        Stage::Failed { .. } => ('x', CellStyle::Bad),
        Stage::Queued => ('.', CellStyle::Dim),
        _ => ('=', CellStyle::Plain),
    }
}

/// `[######!!xx===.....] 14 of 24`
fn bar(seen: &Seen) -> Line {
    let tasks = &seen.run.tasks;
    let mut line = Line::plain("[");
    let mut placed = 0;
    for wanted in ['#', '!', 'x', '=', '.'] {
        let alike: Vec<(char, CellStyle)> =
            tasks.iter().map(|task| mark(task.stage())).filter(|(mark, _)| *mark == wanted).collect();
        let Some((_, style)) = alike.first().copied() else { continue };
        // From the sums, so that the parts always add up to the whole.
        let (from, to) = (placed * BAR / tasks.len(), (placed + alike.len()) * BAR / tasks.len());
        placed += alike.len();
        line = line.and(style, wanted.to_string().repeat(to - from));
    }
    let done = tasks.iter().filter(|task| !matches!(mark(task.stage()).0, '=' | '.')).count();
    line.and(CellStyle::Plain, format!("] {done} of {} done", count(tasks.len(), "test")))
}

/// `3 integrated, 2 failed, 4 working`, the ends first.
fn counts(seen: &Seen) -> String {
    let stages = seen.run.totals().stages;
    let ends = [
        "integrated",
        "needs_review",
        "clean",
        "passes_on_result",
        "unresolved",
        "blocked",
        "failed",
        "verified",
    ];
    let ways = ["pulled", "published", "working", "ready", "launching", "queued"];
    let all = ends.iter().chain(&ways);
    let parts: Vec<String> = all
        .filter_map(|stage| stages.get(stage).map(|number| format!("{number} {}", in_words(stage))))
        .collect();
    if parts.is_empty() { "no tests".to_owned() } else { parts.join(", ") }
}

/// A stage as people read it.
pub(super) fn in_words(stage: &str) -> String {
    match stage {
        "needs_review" => "need review".to_owned(),
        "passes_on_result" => "pass on the result".to_owned(),
        other => other.to_owned(),
    }
}

/// `12 agents, 1.2M tokens, $3.40`
fn figures(seen: &Seen) -> String {
    let totals = seen.run.totals();
    let mut parts = vec![count(totals.agents, "agent")];
    if totals.tokens > 0 {
        parts.push(format!("{} tokens", tokens(totals.tokens)));
    }
    if totals.cost > 0.0 {
        parts.push(dollars(totals.cost));
    }
    parts.join(", ")
}

/// Whether a task is worth a row: it is at work, or it did not end well.
fn is_shown(task: &Task, extent: Extent) -> bool {
    match task.stage() {
        Stage::Queued | Stage::Integrated | Stage::Clean | Stage::Verified | Stage::PassesOnResult => false,
        Stage::NeedsReview | Stage::Unresolved | Stage::Blocked | Stage::Failed { .. } => {
            extent == Extent::Whole
        }
        _ => true,
    }
}

/// The table of tasks: those at work first, the furthest on top.
fn rows(seen: &Seen, extent: Extent, room: usize, width: Option<usize>, colour: Colour) -> Vec<String> {
    let mut shown: Vec<&Task> = seen.run.tasks.iter().filter(|task| is_shown(task, extent)).collect();
    // A blank line and the header take room, too; one row of it says how many more there are.
    let room = room.saturating_sub(2);
    if shown.is_empty() || room == 0 {
        return Vec::new();
    }
    shown.sort_by_key(|task| (task.stage().is_final(), Reverse(task.stage())));
    let left_out = if shown.len() > room { shown.len() - (room - 1) } else { 0 };
    shown.truncate(shown.len() - left_out);
    let columns = [
        ("STAGE", Align::Left),
        ("TRY", Align::Right),
        ("TIME", Align::Right),
        ("TOKENS", Align::Right),
        ("WHAT SHOWS IT", Align::Left),
    ];
    let columns = columns.map(|(header, align)| Column::new(header, align));
    let columns = [Column::new("TEST", Align::Left).keeping_ends()].into_iter().chain(columns).collect();
    let mut table = Table::new(columns);
    for task in shown {
        let (_, style) = mark(task.stage());
        let attempt = task.latest();
        let time = attempt.and_then(|attempt| seen.time_of(attempt)).map(elapsed).unwrap_or_default();
        let used = attempt.and_then(|attempt| attempt.tokens).map(tokens).unwrap_or_default();
        table.push(vec![
            Cell::plain(task.id.as_str()),
            Cell::new(&task.stage().to_string(), style),
            Cell::plain(&attempt.map(|attempt| attempt.number.to_string()).unwrap_or_default()),
            Cell::plain(&time),
            Cell::plain(&used),
            Cell::new(attempt.map_or("", |attempt| attempt.evidence.as_str()), CellStyle::Dim),
        ]);
    }
    let text = table.render(width, |style, text| colour.paint_cell(style, text));
    let mut lines = vec![String::new()];
    lines.extend(text.lines().map(str::to_owned));
    if left_out > 0 {
        lines.push(colour.paint_cell(CellStyle::Dim, &format!("and {left_out} more at work")));
    }
    lines
}

/// `3 x failed(launch): cannot create agent` and whom it met.
pub(super) fn failures(groups: &[Cluster], extent: Extent) -> Vec<Line> {
    if groups.is_empty() {
        return Vec::new();
    }
    let most = if extent == Extent::Whole { usize::MAX } else { FEW_GROUPS };
    let mut lines = vec![Line::default()];
    for group in groups.iter().take(most) {
        let names: Vec<&str> = group.members.iter().take(FEW_NAMES).map(String::as_str).collect();
        let more = group.members.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        // What two messages have in common may be little more than their length.
        let is_telling = group.varies && !group.template.contains("<*> <*>");
        let what = if is_telling { &group.template } else { &group.example };
        lines.push(
            Line::new(CellStyle::Bad, format!("{} x {}", group.members.len(), sanitize(&group.stage)))
                .and(CellStyle::Plain, format!(": {}", sanitize(what)))
                .and(CellStyle::Dim, format!("  ({}{more})", sanitize(&names.join(", ")))),
        );
    }
    if groups.len() > most {
        lines.push(Line::new(CellStyle::Dim, format!("and {}", count(groups.len() - most, "other cause"))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use mngr_model::run::{Breaker, BudgetNote, Event, FailureKind, LimitKind};

    use super::super::testing::{at, begun, note, seen};
    use super::*;

    fn shown(run: &mngr_model::run::Run, extent: Extent, width: usize) -> Vec<String> {
        lines(&seen(run), extent, Some(width), Colour::Off)
    }

    #[test]
    fn many_at_work_fit_into_a_small_terminal() {
        let tests: Vec<String> = (0..50).map(|number| format!("tests/test_{number}.py::test_x")).collect();
        let mut run = begun(&tests.iter().map(String::as_str).collect::<Vec<_>>());
        for test in &tests {
            at(&mut run, test, Stage::Launching, "");
        }
        let board = shown(&run, Extent::Lines(12), 60);
        assert_eq!(board.len(), 12, "{board:#?}");
        assert_eq!(board[2], "50 launching; 50 agents");
        assert_eq!(board.last().map(String::as_str), Some("and 44 more at work"), "{board:#?}");
        assert!(board.iter().all(|line| line.chars().count() <= 60), "{board:#?}");
        assert!(shown(&run, Extent::Lines(3), 60).len() == 3 && shown(&run, Extent::Lines(0), 60).is_empty());
    }

    #[test]
    fn the_bar_always_has_its_length_and_needs_no_colour() {
        let mut run = begun(&["a", "b", "c", "d", "e", "f", "g"]);
        at(&mut run, "a", Stage::Launching, "");
        at(&mut run, "b", Stage::Launching, "");
        at(&mut run, "b", Stage::Failed { kind: FailureKind::Dead }, "gone");
        let board = shown(&run, Extent::Whole, 100);
        assert_eq!(board[1], "[xxxxx======.............................] 1 of 7 tests done");
        assert_eq!(shown(&begun(&[]), Extent::Whole, 100)[1], "[] 0 of 0 tests done");
    }

    #[test]
    fn what_holds_a_run_up_is_said() {
        let mut run = begun(&["a"]);
        let breaker =
            |state| Event::Breaker(Breaker { state, cluster: "no key".into(), reason: "5 alike".into() });
        note(&mut run, breaker(BreakerState::Open));
        note(&mut run, Event::Budget(BudgetNote { limit: LimitKind::Cost, allowed: 5.0, used: 5.25 }));
        let board = shown(&run, Extent::Whole, 100);
        assert_eq!(board[3..5], ["no launches: no key (5 alike)", "limit reached: $5.25 of $5.00"]);
        note(&mut run, breaker(BreakerState::Closed));
        assert!(!shown(&run, Extent::Whole, 100).concat().contains("no key"));
    }
}
