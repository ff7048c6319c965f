//! A run in a few lines: how far it is, what it used, what is at work, what went wrong. The same for `status` and for the view
//! while a run goes on. Only text is made here.

use std::cmp::Reverse;

use mngr_model::run::{BreakerState, EndReason, Kills, Stage, Strength, StrengthState, Task};
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

/// Narrower terminals show the strength of tests in short.
const LITTLE_WIDTH: usize = 100;

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
    lines.extend(strength_of_all(seen));
    let open = run.breakers.iter().filter(|breaker| breaker.state != BreakerState::Closed);
    let obstacles = open.map(obstacles::breaker).chain(run.limits.iter().map(obstacles::limit));
    lines.extend(obstacles.map(|obstacle| Line::new(CellStyle::Warn, obstacle)));
    if let (RunState::Running, Some(working)) = (seen.state, &run.working) {
        lines.push(Line::new(CellStyle::Dim, sanitize(&working.what).into_owned()));
    }
    if seen.damaged > 0 {
        lines.push(Line::new(
            CellStyle::Warn,
            format!("{} of the journal cannot be read and count for nothing", count(seen.damaged, "line")),
        ));
    }
    lines
}

/// How strong the tests of a task are, where tests were changed.
fn strength_of(task: &Task) -> Option<&Strength> {
    let strength = task.latest()?.strength.as_ref();
    strength.filter(|strength| strength.state != StrengthState::NotNeeded)
}

/// `strength of changed tests: 9/24 -> 17/24 (2 measured, 1 not)`; nothing before any is known.
fn strength_of_all(seen: &Seen) -> Option<Line> {
    let all: Vec<&Strength> = seen.run.tasks.iter().filter_map(strength_of).collect();
    let measured = all.iter().filter(|it| it.state == StrengthState::Measured).count();
    let sum = |kills: &dyn Fn(&Strength) -> Option<Kills>| {
        all.iter().filter_map(|it| kills(it)).fold(Kills::default(), |sum, it| Kills {
            killed: sum.killed + it.killed,
            made: sum.made + it.made,
        })
    };
    // A new test has nothing to be compared with.
    let before = sum(&|it| it.before.filter(|_| it.after.is_some()));
    let after = sum(&|it| it.after.filter(|_| it.before.is_some()));
    let new = sum(&|it| it.after.filter(|_| it.before.is_none()));
    let mut parts = Vec::new();
    if before.made > 0 {
        parts.push(format!("{before} -> {after}"));
    }
    if new.made > 0 {
        parts.push(format!("new: {new}"));
    }
    let not = all.len() - measured;
    let counted = match not {
        0 => format!("({measured} measured)"),
        not => format!("({measured} measured, {not} not)"),
    };
    parts.push(counted);
    (!all.is_empty()).then(|| Line::plain(format!("strength of changed tests: {}", parts.join(" "))))
}

/// Strength as a cell: `3/12 -> 8/12`, or `3->8/12` where there is little room.
fn strength_cell(strength: &Strength, room: Room) -> Cell {
    let (before, after) = (strength.before, strength.after);
    let style = match (strength.state, before, after) {
        (StrengthState::Measured, Some(before), Some(after)) if after.killed < before.killed => {
            CellStyle::Bad
        }
        (StrengthState::Measured, Some(before), Some(after)) if after.killed > before.killed => {
            CellStyle::Good
        }
        (StrengthState::Measured, ..) => CellStyle::Plain,
        _ => CellStyle::Warn,
    };
    let text = match (room, strength.state, before, after) {
        (Room::Little, StrengthState::Measured, Some(before), Some(after)) if before.made == after.made => {
            format!("{}->{after}", before.killed)
        }
        (Room::Little, StrengthState::Measured, None, Some(after)) => format!("+{after}"),
        (Room::Little, StrengthState::NotMeasured | StrengthState::NotMeasurable, ..) => "unknown".to_owned(),
        _ => strength.to_string(),
    };
    Cell::new(&text, style)
}

/// How much room a row of the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Little,
    Enough,
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
    let has_strength = shown.iter().any(|task| strength_of(task).is_some());
    let room = match width {
        Some(width) if width < LITTLE_WIDTH => Room::Little,
        _ => Room::Enough,
    };
    // Where not everything fits, what was measured counts for more than what was used.
    let has_tokens = !(has_strength && room == Room::Little);
    let columns = [
        ("STAGE", Align::Left, true),
        ("STRENGTH", Align::Left, has_strength),
        ("TRY", Align::Right, true),
        ("TIME", Align::Right, true),
        ("TOKENS", Align::Right, has_tokens),
        ("WHAT SHOWS IT", Align::Left, true),
    ];
    let wanted = columns.into_iter().filter(|(_, _, is_shown)| *is_shown);
    let columns = wanted.map(|(header, align, _)| Column::new(header, align));
    let columns = [Column::new("TEST", Align::Left).keeping_ends()].into_iter().chain(columns).collect();
    let mut table = Table::new(columns);
    for task in shown {
        let (_, style) = mark(task.stage());
        let attempt = task.latest();
        let time = attempt.and_then(|attempt| seen.time_of(attempt)).map(elapsed).unwrap_or_default();
        let used = attempt.and_then(|attempt| attempt.tokens).map(tokens).unwrap_or_default();
        let strength = strength_of(task).map(|strength| strength_cell(strength, room)).unwrap_or_default();
        let mut row = vec![Cell::plain(task.id.as_str()), Cell::new(&task.stage().to_string(), style)];
        row.extend(has_strength.then_some(strength));
        row.push(Cell::plain(&attempt.map(|attempt| attempt.number.to_string()).unwrap_or_default()));
        row.push(Cell::plain(&time));
        row.extend(has_tokens.then(|| Cell::plain(&used)));
        row.push(Cell::new(attempt.map_or("", |attempt| attempt.evidence.as_str()), CellStyle::Dim));
        table.push(row);
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
    use mngr_model::run::{AttemptNumber, Breaker, BudgetNote, Event, FailureKind, LimitKind};

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

    /// Two tests whose strength was measured, one of them for review, and one that could not be measured.
    fn measured() -> mngr_model::run::Run {
        let tests =
            ["tests/test_storage.py::test_weaker", "tests/test_b.py::test_x", "tests/test_c.py::test_y"];
        let mut run = begun(&tests);
        let stages = [Stage::Launching, Stage::Working, Stage::Published, Stage::Pulled];
        for (test, before, after) in [
            (tests[0], Some((10, 12)), Some((4, 12))),
            (tests[1], None, None),
            (tests[2], Some((3, 12)), Some((8, 12))),
        ] {
            for stage in stages {
                at(&mut run, test, stage, "");
            }
            let kills = |kills: Option<(usize, usize)>| kills.map(|(killed, made)| Kills { killed, made });
            let state = match before {
                Some(_) => StrengthState::Measured,
                None => StrengthState::NotMeasurable,
            };
            let (task, attempt) = (test.parse().unwrap(), AttemptNumber(1));
            let strength = Strength {
                task,
                attempt,
                state,
                why: String::new(),
                before: kills(before),
                after: kills(after),
                mutants: Vec::new(),
            };
            note(&mut run, Event::Strength(strength));
            at(&mut run, test, Stage::Verified, "passed 3/3 before, 3/3 after");
        }
        at(&mut run, tests[0], Stage::NeedsReview, "0123abcd: weaker: the old tests notice more");
        at(&mut run, tests[1], Stage::NeedsReview, "4567abcd: how strong its tests are is not known");
        run
    }

    #[test]
    fn strength_has_its_own_column_and_a_sum() {
        let board = shown(&measured(), Extent::Whole, 120);
        assert_eq!(board[3], "strength of changed tests: 13/24 -> 12/24 (2 measured, 1 not)", "{board:#?}");
        let row = |name: &str| board.iter().find(|line| line.contains(name)).unwrap().clone();
        assert!(board.iter().any(|line| line.contains("STAGE         STRENGTH")), "{board:#?}");
        assert!(row("test_weaker").contains("needs_review  10/12 -> 4/12  "), "{board:#?}");
        assert!(row("test_x").contains("needs_review  not measurable"), "{board:#?}");
        // Nothing is said where no test was changed.
        let mut plain = begun(&["a"]);
        at(&mut plain, "a", Stage::Launching, "");
        let board = shown(&plain, Extent::Whole, 120);
        assert!(!board.concat().to_lowercase().contains("strength"), "{board:#?}");
    }

    #[test]
    fn strength_is_whole_on_a_narrow_terminal() {
        for width in [60, 72, 80, 99] {
            let board = shown(&measured(), Extent::Whole, width);
            assert!(board.iter().all(|line| line.chars().count() <= width), "{board:#?}");
            assert!(board.iter().any(|line| line.contains(" 10->4/12 ")), "{width}: {board:#?}");
            assert!(board.iter().any(|line| line.contains(" unknown ")), "{width}: {board:#?}");
        }
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
