//! What `tutorial` and the commands below it print.

use super::lines::Line::{self, Event};
use super::{Any, Bool, Both, Either, Fields, Int, List, MapOf, Maybe, NAMES, Number, Open, Shape, Text};

const BLOCK: Shape = Fields(&[
    ("id", Text),
    ("line", Int),
    ("end_line", Int),
    ("title", Text),
    ("section", Maybe(&Text)),
    ("text", Text),
]);
/// A test, with the place of its citation.
const TEST: Shape = Fields(&[("id", Text), ("file", Text), ("line", Int)]);
const CHANGED: Shape =
    Fields(&[("block", BLOCK), ("was", Text), ("diff", Text), ("likeness", Number), ("tests", List(&TEST))]);
const STALE: Shape = Fields(&[("text", Text), ("nearest", Maybe(&BLOCK)), ("tests", List(&TEST))]);
const PROBLEM: Shape = Fields(&[("file", Text), ("line", Int), ("severity", Text), ("message", Text)]);
const COVERED: Shape = Fields(&[
    ("id", Text),
    ("line", Int),
    ("title", Text),
    ("section", Maybe(&Text)),
    ("tests", NAMES),
    ("test_count", Int),
]);
const FINDING: Shape = Fields(&[
    ("file", Text),
    ("line", Int),
    ("block", Maybe(&Text)),
    ("command", Maybe(&Text)),
    ("message", Text),
    ("hints", NAMES),
]);
/// A heading or a comment without commands.
const GAP: Shape =
    Fields(&[("kind", Text), ("title", Text), ("line", Int), ("end_line", Int), ("text", Text)]);
const PROPOSAL: Shape = Fields(&[
    ("id", Text),
    ("status", Text),
    ("script", Text),
    ("heading", Text),
    ("text", Text),
    ("reason", Maybe(&Text)),
    ("agent", Text),
    ("time", Text),
    ("verbs", NAMES),
    ("problems", NAMES),
    ("rejected_because", Maybe(&Text)),
]);
const DECIDED: Shape =
    Fields(&[("proposals", List(&PROPOSAL)), ("failures", List(&Fields(&[("id", Text), ("error", Text)])))]);
const CONFUSING: Shape = Fields(&[
    ("verb", Maybe(&Text)),
    ("count", Int),
    ("proposals", Int),
    ("misread", List(&Fields(&[("id", Text), ("status", Text), ("reasons", NAMES), ("text", Text)]))),
]);
/// What one agent proposed; `detail` says why where it failed.
const FILLED: Shape = Open(&[
    ("agent", Text),
    ("ending", Text),
    ("proposals", List(&PROPOSAL)),
    ("known", Int),
    ("left_out", Int),
    ("problem", Maybe(&Text)),
]);
/// The same on a line of its own, after its proposals: their number.
const FILLED_LINE: Shape =
    Open(&[("agent", Text), ("ending", Text), ("proposals", Int), ("known", Int), ("left_out", Int)]);
/// Something to do for `sync`; the rest depends on its kind.
const ITEM: Shape = Open(&[("kind", Text)]);
const GROUP: Shape = Fields(&[("sections", NAMES), ("items", List(&ITEM))]);
const SYNCED: Shape = Open(&[
    ("agent", Text),
    ("ending", Text),
    ("work_branch", Maybe(&Text)),
    ("sections", NAMES),
    ("open", List(&ITEM)),
    ("done", Int),
    ("uncommitted", Int),
    ("branch", Any),
    (
        "measured",
        Maybe(&Fields(&[
            ("added", NAMES),
            ("changed", NAMES),
            ("strength", List(&MapOf(&Any))),
            ("review", List(&Fields(&[("kind", Text), ("text", Text)]))),
            ("refused", NAMES),
        ])),
    ),
    ("merge", Any),
    ("problems", NAMES),
]);

/// What `tutorial check` came to.
const CHECKED: Shape =
    Fields(&[("script", Text), ("is_clean", Bool), ("blocks", Int), ("cited", Int), ("citing_tests", Int)]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    ("tutorial accept", DECIDED),
    (
        "tutorial check",
        Both(
            &CHECKED,
            &Fields(&[
                ("uncited", List(&BLOCK)),
                ("changed", List(&CHANGED)),
                ("stale", List(&STALE)),
                ("uncited_tests", List(&TEST)),
                ("problems", List(&PROBLEM)),
            ]),
        ),
    ),
    ("tutorial confusing", Fields(&[("verbs", List(&CONFUSING))])),
    (
        "tutorial coverage",
        Fields(&[
            ("script", Text),
            ("blocks", List(&COVERED)),
            (
                "sections",
                List(&Fields(&[
                    ("section", Maybe(&Text)),
                    ("blocks", Int),
                    ("cited", Int),
                    ("percent", Number),
                ])),
            ),
            ("block_count", Int),
            ("cited", Int),
            ("citing_tests", Int),
            ("percent", Number),
        ]),
    ),
    (
        "tutorial fill",
        Either(&[
            Fields(&[("script", Text), ("gaps", List(&GAP))]),
            Fields(&[("script", Text), ("agents", List(&FILLED))]),
        ]),
    ),
    (
        "tutorial lint",
        Fields(&[
            ("script", Text),
            ("is_clean", Bool),
            ("blocks", Int),
            ("commands", Int),
            ("checked", Int),
            ("findings", List(&FINDING)),
            ("problems", List(&PROBLEM)),
        ]),
    ),
    ("tutorial list", Fields(&[("script", Text), ("blocks", List(&BLOCK)), ("problems", List(&PROBLEM))])),
    ("tutorial proposals", Fields(&[("proposals", List(&PROPOSAL))])),
    ("tutorial reject", DECIDED),
    (
        "tutorial skill",
        Fields(&[("files", List(&Fields(&[("path", Text), ("status", Text), ("text", Text)])))]),
    ),
    (
        "tutorial sync",
        Fields(&[
            ("script", Text),
            ("is_clean", Bool),
            ("groups", List(&GROUP)),
            ("agents", List(&SYNCED)),
            ("open", List(&ITEM)),
        ]),
    ),
];

/// By the words of the command.
pub(super) const LINES: &[(&str, &[Line])] = &[
    ("tutorial accept", &[Event("accepted", PROPOSAL)]),
    (
        "tutorial check",
        &[
            Event("problem", PROBLEM),
            Event("uncited", Fields(&[("block", BLOCK)])),
            Event("changed", CHANGED),
            Event("stale", STALE),
            Event("uncited_test", Fields(&[("test", TEST)])),
            Event("summary", CHECKED),
        ],
    ),
    ("tutorial confusing", &[Event("verb", CONFUSING)]),
    ("tutorial coverage", &[Event("block", COVERED)]),
    ("tutorial fill", &[Event("gap", GAP), Event("proposal", PROPOSAL), Event("agent", FILLED_LINE)]),
    (
        "tutorial lint",
        &[
            Event("problem", PROBLEM),
            Event("finding", FINDING),
            Event(
                "summary",
                Fields(&[("script", Text), ("is_clean", Bool), ("commands", Int), ("checked", Int)]),
            ),
        ],
    ),
    ("tutorial list", &[Event("block", BLOCK)]),
    ("tutorial proposals", &[Event("proposal", PROPOSAL)]),
    ("tutorial reject", &[Event("rejected", PROPOSAL)]),
    ("tutorial skill", &[Event("file", Fields(&[("path", Text), ("status", Text)]))]),
    (
        "tutorial sync",
        &[
            Event("group", GROUP),
            Event("agent", SYNCED),
            Event("open", ITEM),
            Event("summary", Fields(&[("script", Text), ("is_clean", Bool), ("open", Int)])),
        ],
    ),
];
