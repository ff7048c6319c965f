//! What `tmr` and the commands below it print.

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
]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    ("tmr", Either(&[RUN, PLAN])),
    ("tmr drop", Fields(&[("dropped", Text), ("branch", Text), ("tip", Text)])),
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
        "tmr why",
        Fields(&[
            ("commit", Text),
            ("subject", Text),
            ("tasks", NAMES),
            ("trailers", List(&Fields(&[("name", Text), ("value", Text)]))),
            ("paths", NAMES),
            ("steps", List(&MapOf(&Any))),
        ]),
    ),
];
