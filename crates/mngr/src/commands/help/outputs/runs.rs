//! What `tmr` and the commands below it print.

use super::lines::Line::{self, Event, Plain, Whole};
use super::{Any, Bool, Either, Fields, Int, List, MapOf, Maybe, NAMES, Number, Open, Shape, Text};

/// A run, as it is now.
const RUN: Shape = Open(&[
    ("run", Text),
    ("name", Maybe(&Text)),
    ("folder", Text),
    ("base_commit", Maybe(&Text)),
    ("state", Text),
    ("seconds", Number),
    ("totals", MapOf(&Any)),
    ("tasks", List(&Open(&[("task", Text), ("slug", Text), ("stage", Text)]))),
    ("failures", List(&MapOf(&Any))),
    ("integration", Any),
    ("final", Any),
    ("damaged_lines", Int),
]);

/// What a run would do.
const PLAN: Shape = Fields(&[
    ("run", Text),
    ("base_commit", Text),
    ("collector", Text),
    ("tasks", List(&MapOf(&Any))),
    ("agents", Int),
    ("forecast", Any),
    (
        "strength",
        Open(&[
            ("mutants", Int),
            ("languages", MapOf(&Int)),
            ("compiled", NAMES),
            ("most_builds", Maybe(&Int)),
            ("without_mutants", MapOf(&Int)),
            ("program", Maybe(&Text)),
        ]),
    ),
]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    ("tmr", Either(&[RUN, PLAN])),
    (
        "tmr drop",
        Fields(&[
            ("dropped", Text),
            ("commit", Maybe(&Text)),
            ("tasks", NAMES),
            ("branch", Text),
            ("tip", Text),
            ("final", Any),
        ]),
    ),
    ("tmr reintegrate", RUN),
    ("tmr report", Open(&[("folder", Text), ("page", Text), ("state", Text), ("tasks", List(&MapOf(&Any)))])),
    ("tmr resume", RUN),
    ("tmr status", RUN),
    (
        "tmr stop",
        Fields(&[
            ("folder", Text),
            ("told", Bool),
            ("stopped", NAMES),
            ("failed", List(&Fields(&[("agent", Text), ("error", Text)]))),
        ]),
    ),
    (
        "tmr take",
        Fields(&[
            ("taken", Text),
            ("from", Text),
            ("commit", Text),
            ("tasks", NAMES),
            ("branch", Text),
            ("tip", Text),
            ("left_out", List(&Fields(&[("task", Text), ("reason", Text)]))),
            ("final", Any),
        ]),
    ),
    (
        "tmr why",
        Fields(&[
            ("commit", Text),
            ("subject", Text),
            ("tasks", NAMES),
            ("trailers", List(&Fields(&[("name", Text), ("value", Text)]))),
            ("paths", NAMES),
            ("steps", List(&MapOf(&Any))),
            ("strength", List(&MapOf(&Any))),
        ]),
    ),
];

/// A run on a line of its own, after its tasks: their number.
const RUN_LINE: Shape = Open(&[("run", Text), ("folder", Text), ("state", Text), ("tasks", Int)]);
/// A line of the journal of a run.
const ENTRY: Shape = Open(&[("time", Text), ("seq", Int), ("event", Text)]);
/// The page of a run.
const PAGE: Shape = Open(&[("path", Text)]);

/// What a run prints while it goes on and at its end.
const GOING_ON: &[Line] = &[
    Plain(ENTRY),
    Event("tasks_discovered", Fields(&[("count", Int)])),
    Event("agents_launched", Fields(&[("count", Int)])),
    Event("integrator_branch", Fields(&[("branch_name", Text)])),
    Event("planned", MapOf(&Any)),
    Event("plan", Open(&[("run", Text), ("base_commit", Text), ("collector", Text), ("tasks", Int)])),
    Event("report_generated", PAGE),
    Event("run", RUN_LINE),
];

/// By the words of the command.
pub(super) const LINES: &[(&str, &[Line])] = &[
    ("tmr", GOING_ON),
    ("tmr drop", &[Whole("dropped")]),
    ("tmr reintegrate", GOING_ON),
    ("tmr report", &[Event("report_generated", PAGE)]),
    ("tmr resume", GOING_ON),
    ("tmr status", &[Event("task", Open(&[("task", Text), ("slug", Text)])), Event("run", RUN_LINE)]),
    ("tmr stop", &[Whole("stopping")]),
    ("tmr take", &[Whole("taken")]),
    ("tmr why", &[Whole("why")]),
];
