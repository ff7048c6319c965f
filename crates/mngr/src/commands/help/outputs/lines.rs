//! What commands print with `--format jsonl`, as JSON schemas: each line is one of these.
//!
//! Most lines are events: their name is in `event`, and the last one has what `--format json` prints. Logs, records and
//! agents are printed as they are.

use serde_json::{Map, Value, json};

use super::changes::PLUGIN;
use super::looks::{FILE, IN_TRASH, RECORD, SNAPSHOT, SNAPSHOT_CREATED, USED};
use super::{
    Agent, Any, Bool, Fields, Int, MapOf, Maybe, Open, Shape, Text, runs, settings, titled, tools, tutorials,
};

/// One kind of line.
pub(super) enum Line {
    /// An event of this name with what `--format json` prints.
    Whole(&'static str),
    /// An event of this name with these fields.
    Event(&'static str, Shape),
    /// No event.
    Plain(Shape),
}

use Line::{Event, Plain, Whole};

const FAILED: Shape = Fields(&[("agent", Text), ("error", Text)]);

/// An agent that goes on, or what one printed that ran in the foreground.
const CREATION: &[Line] = &[
    Event("created", super::CREATED),
    Event("output", Fields(&[("stream", Text), ("text", Text)])),
    Event("result", super::RAN),
];

/// By the words of the command. Every one of them may end with the line `error`.
const LINES: &[(&str, &[Line])] = &[
    ("archive", &[Whole("archive_result")]),
    ("capture", &[Whole("capture")]),
    ("cleanup", &[Whole("cleanup_result")]),
    ("clone", CREATION),
    ("create", CREATION),
    ("destroy", &[Whole("destroy_result")]),
    (
        "doctor",
        &[
            Event("finding", super::FINDING),
            Event("summary", Fields(&[("warnings", Int), ("failures", Int), ("fixed", Int)])),
        ],
    ),
    ("error", &[Whole("error")]),
    ("event", &[Plain(RECORD)]),
    (
        "exec",
        &[
            Event(
                "exec_result",
                Fields(&[
                    ("agent", Text),
                    ("stdout", Text),
                    ("stderr", Text),
                    ("success", Bool),
                    ("exit_code", Maybe(&Int)),
                    ("truncated", Bool),
                    ("stdout_file", Maybe(&Text)),
                    ("stderr_file", Maybe(&Text)),
                ]),
            ),
            Event("exec_error", FAILED),
        ],
    ),
    ("explain", &[Whole("explanation")]),
    (
        "gc",
        &[
            Event(
                "destroyed",
                Fields(&[
                    ("message", Text),
                    ("resource_type", Text),
                    ("resource", MapOf(&Any)),
                    ("dry_run", Bool),
                ]),
            ),
            Event("summary", Fields(&[("counts", MapOf(&Int)), ("freed_bytes", Int)])),
        ],
    ),
    ("file get", &[Whole("file_read")]),
    ("file list", &[Event("file", FILE)]),
    ("file put", &[Whole("file_written")]),
    ("label", &[Whole("label_result")]),
    ("limit", &[Whole("limit_result")]),
    (
        "list",
        &[
            Plain(Agent),
            Event("agent_removed", Fields(&[("id", Text)])),
            Event("error", MapOf(&Any)),
            Event("host", super::HOST),
            Whole("list_schema"),
        ],
    ),
    (
        "message",
        &[
            Event("message_sent", Fields(&[("agent", Text), ("message", Text), ("level", Text)])),
            Event("message_error", FAILED),
        ],
    ),
    ("plugin disable", &[Whole("plugin_toggled")]),
    ("plugin enable", &[Whole("plugin_toggled")]),
    ("plugin list", &[Event("plugin", PLUGIN)]),
    ("pull", &[Whole("pull_result")]),
    ("push", &[Whole("push_result")]),
    ("rename", &[Whole("rename_result")]),
    ("snapshot create", &[Event("snapshot_created", SNAPSHOT_CREATED), Whole("create_result")]),
    ("snapshot destroy", &[Whole("destroy_result")]),
    ("snapshot list", &[Plain(SNAPSHOT)]),
    ("snapshot restore", &[Whole("snapshot_restored")]),
    ("start", &[Whole("start_result")]),
    ("stop", &[Whole("stop_result")]),
    ("transcript", &[Plain(RECORD)]),
    ("unarchive", &[Whole("unarchive_result")]),
    ("undo", &[Plain(IN_TRASH), Whole("undo_result")]),
    ("usage", &[Event("usage", USED), Event("total", USED)]),
    ("wait", &[Event("state_change", Open(&[])), Whole("result")]),
];

/// The schema of each command's lines, by the command's words.
pub(super) fn schemas() -> Map<String, Value> {
    let outputs = super::schemas();
    let of = |(command, lines): &(&str, &[Line])| {
        let kinds: Vec<Value> = lines.iter().map(|line| line.schema(outputs.get(*command))).collect();
        (
            (*command).to_owned(),
            titled(&format!("a line of mngr {command} --format jsonl"), json!({ "anyOf": kinds })),
        )
    };
    let all = [LINES, runs::LINES, settings::LINES, tools::LINES, tutorials::LINES];
    all.into_iter().flatten().map(of).collect()
}

impl Line {
    /// Its schema, where the command's JSON has that one.
    fn schema(&self, whole: Option<&Value>) -> Value {
        match self {
            Whole(name) => named(name, whole.cloned().unwrap_or_default()),
            Event(name, shape) => named(name, shape.schema()),
            Plain(shape) => shape.schema(),
        }
    }
}

/// An object with the name of its event. What is one of several is so for each of them.
fn named(name: &str, mut schema: Value) -> Value {
    if let Some(kinds) = schema.get("anyOf").and_then(Value::as_array) {
        return json!({ "anyOf": kinds.iter().map(|kind| named(name, kind.clone())).collect::<Vec<_>>() });
    }
    if let Value::Object(fields) = &mut schema {
        fields.remove("$schema");
        fields.remove("title");
    }
    schema["properties"]["event"] = json!({ "const": name });
    schema
}
