//! What commands print that change several things, files or snapshots.

use super::{Any, Bool, Either, FAILURE, Fields, Int, List, MapOf, Maybe, NAMES, Open, Shape, Text};

const TOGGLED: Shape = Fields(&[("plugin", Text), ("enabled", Bool), ("scope", Text), ("path", Text)]);

/// An agent that `cleanup` would act on.
const CHOSEN: Shape = Fields(&[
    ("name", Text),
    ("id", Text),
    ("type", Maybe(&Text)),
    ("state", Text),
    ("host_id", Maybe(&Text)),
    ("provider", Text),
]);

/// A row of `plugin list`.
pub(super) const PLUGIN: Shape =
    Fields(&[("name", Text), ("kind", Text), ("version", Text), ("description", Text), ("enabled", Text)]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    (
        "cleanup",
        Either(&[
            Fields(&[
                ("destroyed_agents", NAMES),
                ("stopped_agents", NAMES),
                ("destroyed_count", Int),
                ("stopped_count", Int),
                ("failures", List(&FAILURE)),
                ("failure_count", Int),
                ("exit_code", Int),
            ]),
            Fields(&[("action", Text), ("dry_run", Bool), ("count", Int), ("agents", List(&CHOSEN))]),
        ]),
    ),
    ("file get", Open(&[("event", Text), ("path", Text), ("size", Int)])),
    ("file put", Fields(&[("event", Text), ("path", Text), ("size", Int)])),
    (
        "limit",
        Fields(&[("count", Int), ("changes", List(&Open(&[("type", Text)]))), ("failures", List(&FAILURE))]),
    ),
    ("plugin disable", TOGGLED),
    ("plugin enable", TOGGLED),
    ("plugin list", Fields(&[("plugins", List(&PLUGIN))])),
    (
        "snapshot destroy",
        Fields(&[
            ("snapshots_destroyed", List(&MapOf(&Any))),
            ("snapshots_found", List(&MapOf(&Any))),
            ("dry_run", Bool),
            ("count", Int),
            ("errors", List(&MapOf(&Any))),
            ("error_count", Int),
        ]),
    ),
    (
        "snapshot restore",
        Fields(&[
            ("snapshot_id", Text),
            ("host", Text),
            ("host_id", Text),
            ("is_new_host", Bool),
            ("agents", List(&Fields(&[("id", Text), ("name", Text), ("old_name", Text)]))),
            ("replaced", Any),
        ]),
    ),
];
