//! What commands print that look at agents and at what is left of them: conversations, usage, trash.

use super::{Any, Bool, Either, FAILURE, Fields, Int, List, MapOf, Maybe, NAMES, Number, Open, Shape, Text};

/// One group of `usage`, or all of them together.
pub(super) const USED: Shape = Open(&[
    ("group", Text),
    ("answers", Int),
    ("side_tokens", Int),
    ("input_tokens", Int),
    ("output_tokens", Int),
    ("cache_read_tokens", Int),
    ("cache_write_tokens", Int),
    ("total_tokens", Int),
    ("api_cost_usd", Number),
    ("subscription_cost_usd", Number),
    ("unknown_cost_usd", Number),
    ("total_cost_usd", Number),
    ("unpriced_tokens", Int),
    ("unpriced_models", NAMES),
    ("old_price_models", NAMES),
    ("uncounted", NAMES),
]);

/// Where a price comes from.
const PRICE: Shape =
    Fields(&[("model", Text), ("as_of", Maybe(&Text)), ("source", Maybe(&Text)), ("is_old", Bool)]);

/// One record of a conversation; the rest depends on its type.
pub(super) const RECORD: Shape =
    Open(&[("timestamp", Text), ("event_id", Text), ("source", Text), ("type", Text)]);

/// A process that belongs to an agent.
const PROCESS: Shape =
    Open(&[("pid", Maybe(&Int)), ("found", Text), ("is_suspended", Bool), ("has_terminal", Bool)]);

const MARKED: Shape = Fields(&[("name", Text), ("id", Text)]);

const RESTORED: Shape = Fields(&[
    ("id", Text),
    ("name", Text),
    ("old_name", Text),
    ("host", Text),
    ("work_dir", Text),
    ("branch", Maybe(&Text)),
    ("notes", List(&Text)),
]);

/// A destroyed agent that can come back.
pub(super) const IN_TRASH: Shape = Fields(&[
    ("id", Text),
    ("name", Text),
    ("type", Text),
    ("host", Text),
    ("destroyed_at", Text),
    ("project", Maybe(&Text)),
    ("branch", Maybe(&Text)),
    ("work_dir", Text),
    ("bytes", Maybe(&Int)),
]);

/// A file of `file list`.
pub(super) const FILE: Shape = Fields(&[
    ("name", Text),
    ("path", Text),
    ("file_type", Text),
    ("size", Maybe(&Int)),
    ("modified", Maybe(&Text)),
    ("permissions", Maybe(&Text)),
]);

/// A snapshot that was just made.
pub(super) const SNAPSHOT_CREATED: Shape = Fields(&[
    ("id", Text),
    ("snapshot_id", Text),
    ("name", Text),
    ("host_id", Text),
    ("provider", Text),
    ("agent_names", NAMES),
]);

/// A snapshot of `snapshot list`.
pub(super) const SNAPSHOT: Shape = Open(&[
    ("id", Text),
    ("name", Text),
    ("host_id", Text),
    ("provider", Text),
    ("created_at", Text),
    ("size_bytes", Maybe(&Int)),
    ("recency_idx", Int),
]);

const BACKGROUND: Shape =
    Fields(&[("id", Text), ("type", Text), ("description", Text), ("since", Maybe(&Text))]);

const WAKEUP: Shape = Fields(&[
    ("id", Text),
    ("at", Maybe(&Text)),
    ("schedule", Text),
    ("is_recurring", Bool),
    ("prompt", Text),
]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    (
        "archive",
        Fields(&[
            ("archived_agents", List(&MARKED)),
            ("count", Int),
            ("dry_run", Bool),
            ("failures", List(&FAILURE)),
        ]),
    ),
    (
        "explain",
        Open(&[
            ("name", Text),
            ("address", Text),
            ("id", Text),
            ("type", Maybe(&Text)),
            ("state", Text),
            ("source", Text),
            ("evidence", Text),
            ("since", Maybe(&Text)),
            ("waiting_reason", Maybe(&Text)),
            ("background", List(&BACKGROUND)),
            ("wakeups", List(&WAKEUP)),
            ("boot", Any),
            ("supervisor", PROCESS),
            ("program", PROCESS),
            ("ending", Any),
            ("markers", MapOf(&Any)),
            ("terminal", MapOf(&Any)),
            ("files", MapOf(&Text)),
        ]),
    ),
    ("file list", Fields(&[("count", Int), ("files", List(&FILE))])),
    (
        "gc",
        Fields(&[
            ("trash_destroyed", List(&MapOf(&Any))),
            ("work_dirs_destroyed", List(&MapOf(&Any))),
            ("clones_destroyed", List(&MapOf(&Any))),
            ("logs_destroyed", List(&MapOf(&Any))),
            ("temp_files_destroyed", List(&MapOf(&Any))),
            ("machines_destroyed", List(&MapOf(&Any))),
            ("snapshots_destroyed", List(&MapOf(&Any))),
            ("machines_deleted", List(&MapOf(&Any))),
            ("volumes_destroyed", List(&MapOf(&Any))),
            ("build_cache_destroyed", List(&MapOf(&Any))),
            ("provider_resources_destroyed", List(&MapOf(&Any))),
            ("kept", List(&Fields(&[("host", Text), ("path", Text), ("reason", Text)]))),
            ("errors", List(&MapOf(&Any))),
            ("failures", List(&MapOf(&Any))),
            ("freed_bytes", Int),
            ("dry_run", Bool),
        ]),
    ),
    (
        "snapshot create",
        Fields(&[
            ("snapshots_created", List(&SNAPSHOT_CREATED)),
            ("count", Int),
            ("errors", List(&MapOf(&Any))),
            ("error_count", Int),
        ]),
    ),
    ("snapshot list", Fields(&[("snapshots", List(&SNAPSHOT)), ("count", Int)])),
    ("transcript", List(&RECORD)),
    (
        "unarchive",
        Fields(&[
            ("unarchived_agents", List(&MARKED)),
            ("count", Int),
            ("dry_run", Bool),
            ("failures", List(&FAILURE)),
        ]),
    ),
    (
        "undo",
        Either(&[
            Fields(&[("agents", List(&IN_TRASH)), ("count", Int)]),
            Fields(&[("restored_agents", List(&RESTORED)), ("count", Int), ("failures", List(&FAILURE))]),
        ]),
    ),
    ("usage", Fields(&[("usage", List(&USED)), ("total", USED), ("prices", List(&PRICE))])),
];
