//! What commands print that move work or an agent, and that record, play and show.

use super::lines::Line::{self, Event, Plain, Whole};
use super::looks::RECORD;
use super::{Any, Bool, Both, CREATED, Either, Fields, Int, List, Maybe, NAMES, Number, Open, Shape, Text};

/// What git itself came to.
const BY_GIT: Shape = Fields(&[
    ("agent", Text),
    ("place", Text),
    ("refspec", Maybe(&Text)),
    ("exit_code", Int),
    ("output", Text),
]);

/// A text on the screen of a recording, in seconds after its start.
const HIT: Shape = Fields(&[("time", Number), ("line", Text)]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    ("git pull", BY_GIT),
    ("git push", BY_GIT),
    (
        "migrate",
        Both(&CREATED, &Fields(&[("source", Text), ("source_id", Maybe(&Text)), ("source_removed", Bool)])),
    ),
    (
        "record",
        Either(&[
            Fields(&[
                ("path", Text),
                ("duration", Number),
                ("events", Int),
                ("bytes", Int),
                ("gaps", Int),
                ("exit_code", Maybe(&Int)),
            ]),
            Fields(&[("agent", Text), ("path", Text)]),
        ]),
    ),
    (
        "replay",
        Either(&[
            Open(&[
                ("path", Text),
                ("version", Int),
                ("width", Int),
                ("height", Int),
                ("title", Maybe(&Text)),
                ("command", Maybe(&Text)),
                ("timestamp", Maybe(&Int)),
                ("duration", Number),
                ("events", Int),
                ("bytes", Int),
                ("exit_code", Maybe(&Int)),
                ("is_cut_off", Bool),
            ]),
            Fields(&[("path", Text), ("time", Number), ("rows", NAMES)]),
            Fields(&[("path", Text), ("hits", List(&HIT))]),
        ]),
    ),
    (
        "rsync",
        Fields(&[
            (
                "files",
                Fields(&[
                    ("from", Text),
                    ("to", Text),
                    ("written", Int),
                    ("deleted", Int),
                    ("changes", List(&Fields(&[("path", Text), ("change", Text)]))),
                ]),
            ),
            ("uncommitted", Any),
        ]),
    ),
    (
        "view",
        Either(&[
            Fields(&[("url", Text), ("folder", Text), ("runs", Int), ("tests", Int)]),
            Fields(&[("page", Text), ("runs", Int), ("tests", Int), ("written", Int)]),
        ]),
    ),
];

/// By the words of the command.
pub(super) const LINES: &[(&str, &[Line])] = &[
    ("git pull", &[Whole("git_pull_result")]),
    ("git push", &[Whole("git_push_result")]),
    ("migrate", &[Whole("migrated")]),
    ("observe", &[Plain(RECORD)]),
    ("record", &[Whole("recorded"), Whole("recording")]),
    ("replay", &[Whole("recording"), Whole("screen"), Event("hit", HIT)]),
    ("rsync", &[Whole("rsync_result")]),
    ("view", &[Whole("serving"), Whole("exported")]),
];
