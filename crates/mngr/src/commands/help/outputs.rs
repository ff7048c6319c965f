//! What commands print with `--format json`, as JSON schemas: for those who read it with a program.
//!
//! Agents have the fields of the catalogue. The rest is declared here, and `tests/cli/output_schemas.rs` holds it against
//! what the commands really print. More fields may come; a reader ignores those it does not know.

mod changes;
mod lines;
mod looks;
mod runs;
mod settings;
mod tools;
mod tutorials;

use mngr_query::{Catalog, FieldKind};
use serde_json::{Map, Value, json};

/// What a value looks like.
enum Shape {
    Text,
    Int,
    Number,
    Bool,
    /// Anything.
    Any,
    /// It, or null.
    Maybe(&'static Shape),
    /// A list of them.
    List(&'static Shape),
    /// Names with one of them each.
    Map(&'static Shape),
    /// These fields, always.
    Fields(&'static [(&'static str, Shape)]),
    /// These fields, and others.
    Open(&'static [(&'static str, Shape)]),
    /// The fields of the first, then those of the second.
    Both(&'static Shape, &'static Shape),
    /// One of these.
    Either(&'static [Shape]),
    /// The record of an agent; fields that were not asked for are left out.
    Agent,
}

use Shape::{Agent, Any, Bool, Both, Either, Fields, Int, List, Map as MapOf, Maybe, Number, Open, Text};

const NAMES: Shape = List(&Text);
const FAILURE: Shape =
    Fields(&[("category", Text), ("message", Text), ("agent_name", Maybe(&Text)), ("host_id", Maybe(&Text))]);
const CREATED: Shape = Fields(&[
    ("agent_id", Text),
    ("agent_name", Text),
    ("host_id", Text),
    ("host_name", Text),
    ("type", Text),
    ("work_dir", Text),
    ("branch", Maybe(&Text)),
    ("was_reused", Bool),
    ("ssh_user", Maybe(&Text)),
    ("ssh_host", Maybe(&Text)),
    ("ssh_port", Maybe(&Int)),
    ("ssh_key_path", Maybe(&Text)),
    ("ssh_known_hosts_path", Maybe(&Text)),
    ("host_public_keys", List(&Text)),
    ("message_level", Maybe(&Text)),
]);
const SYNCED: Shape = Fields(&[
    ("agent_id", Text),
    ("agent_name", Text),
    ("dry_run", Bool),
    ("branch", Maybe(&Any)),
    ("merge", Maybe(&Any)),
    ("files", Maybe(&Any)),
    ("uncommitted", Maybe(&Any)),
    ("not_committed", List(&Text)),
    ("stopped", Bool),
]);

/// Something `doctor` says.
const FINDING: Shape = Fields(&[
    ("check", Text),
    ("host", Maybe(&Text)),
    ("status", Text),
    ("what", Text),
    ("why", Text),
    ("advice", Text),
    ("fixable", Bool),
    ("fixed", Bool),
    ("fix_detail", Maybe(&Text)),
]);
/// An agent that was created for one run of its program.
const RAN: Shape = Open(&[
    ("agent_id", Text),
    ("agent_name", Text),
    ("type", Text),
    ("exit_code", Int),
    ("signal", Maybe(&Int)),
    ("result", Any),
    ("error", Maybe(&Text)),
    ("branch", Maybe(&Text)),
    ("work_dir", Any),
]);
/// A host of `list --hosts`.
const HOST: Shape = Open(&[("id", Maybe(&Text)), ("name", Text), ("provider", Text), ("state", Text)]);

/// What each command prints at its end; `error` is what any of them prints when it fails.
const OUTPUTS: &[(&str, Shape)] = &[
    ("capture", Fields(&[("agent", Text), ("window", Maybe(&Text)), ("text", Text)])),
    ("clone", Either(&[CREATED, RAN])),
    ("create", Either(&[CREATED, RAN])),
    (
        "destroy",
        Fields(&[
            ("destroyed_agents", NAMES),
            ("count", Int),
            ("destroyed_hosts", NAMES),
            ("destroyed_host_count", Int),
            ("stopped_hosts", NAMES),
            ("forgotten_agents", NAMES),
            ("failures", List(&FAILURE)),
            ("failure_count", Int),
            ("exit_code", Int),
            ("details", List(&MapOf(&Any))),
            ("host_details", List(&MapOf(&Any))),
        ]),
    ),
    (
        "doctor",
        Fields(&[
            ("findings", List(&FINDING)),
            ("ok", Int),
            ("warnings", Int),
            ("failures", Int),
            ("fixed", Int),
            ("fixable", Int),
            ("is_healthy", Bool),
        ]),
    ),
    (
        "error",
        Fields(&[
            ("error", Text),
            ("error_class", Text),
            ("message", Text),
            ("hints", NAMES),
            ("exit_code", Int),
        ]),
    ),
    ("event", List(&Open(&[("timestamp", Text), ("type", Text), ("event_id", Text), ("source", Text)]))),
    (
        "exec",
        Fields(&[
            (
                "results",
                List(&Fields(&[
                    ("agent", Text),
                    ("stdout", Text),
                    ("stderr", Text),
                    ("success", Bool),
                    ("exit_code", Maybe(&Int)),
                    ("truncated", Bool),
                    ("stdout_file", Maybe(&Text)),
                    ("stderr_file", Maybe(&Text)),
                ])),
            ),
            ("failed_agents", List(&Fields(&[("agent", Text), ("error", Text)]))),
            ("total_executed", Int),
            ("total_failed", Int),
        ]),
    ),
    (
        "label",
        Fields(&[
            (
                "changes",
                List(&Fields(&[
                    ("agent_id", Text),
                    ("agent_name", Text),
                    ("labels", MapOf(&Text)),
                    ("title", Maybe(&Text)),
                ])),
            ),
            ("count", Int),
            ("failures", List(&FAILURE)),
        ]),
    ),
    (
        "list",
        Either(&[
            Fields(&[("agents", List(&Agent)), ("errors", List(&MapOf(&Any)))]),
            Fields(&[("hosts", List(&HOST)), ("errors", List(&MapOf(&Any)))]),
            Fields(&[("schema", List(&Fields(&[("field", Text), ("type", Text), ("description", Text)])))]),
        ]),
    ),
    (
        "message",
        Either(&[
            Fields(&[
                ("successful_agents", NAMES),
                ("failed_agents", List(&Fields(&[("agent", Text), ("error", Text)]))),
                ("blocked_agents", List(&MapOf(&Any))),
                ("total_sent", Int),
                ("total_failed", Int),
                ("total_blocked", Int),
                (
                    "deliveries",
                    List(&Fields(&[("agent", Text), ("level", Text), ("key", Text), ("was_repeated", Bool)])),
                ),
            ]),
            Fields(&[
                (
                    "answers",
                    List(&Fields(&[
                        ("agent", Text),
                        ("decision", Text),
                        ("request", Text),
                        ("still_open", Int),
                    ])),
                ),
                ("failed_agents", List(&Fields(&[("agent", Text), ("error", Text)]))),
                ("total_answered", Int),
                ("total_failed", Int),
            ]),
        ]),
    ),
    ("pull", SYNCED),
    ("push", SYNCED),
    ("rename", Fields(&[("old_name", Text), ("new_name", Text), ("agent_id", Text)])),
    (
        "start",
        Fields(&[
            ("started_agents", NAMES),
            ("count", Int),
            ("was_host_started", Bool),
            ("started_hosts", NAMES),
            ("failures", List(&FAILURE)),
            ("failure_count", Int),
            ("exit_code", Int),
        ]),
    ),
    (
        "stop",
        Fields(&[
            ("stopped_agents", NAMES),
            ("count", Int),
            ("stopped_hosts", NAMES),
            ("ended_commands", List(&Fields(&[("agent", Text), ("pid", Int), ("command", Text)]))),
            ("failures", List(&FAILURE)),
            ("failure_count", Int),
            ("exit_code", Int),
        ]),
    ),
    (
        "wait",
        Fields(&[
            ("target", Text),
            ("target_type", Text),
            ("agent_id", Maybe(&Text)),
            ("is_matched", Bool),
            ("is_timed_out", Bool),
            ("is_gone", Bool),
            ("matched_state", Maybe(&Text)),
            ("elapsed_seconds", Number),
            ("final_host_state", Maybe(&Text)),
            ("final_agent_state", Maybe(&Text)),
            ("state_changes", List(&MapOf(&Any))),
            ("targets", List(&MapOf(&Any))),
        ]),
    ),
];

/// The schema of each command's output, by the command's words.
pub(super) fn schemas() -> Map<String, Value> {
    let schema = |(command, shape): &(&str, Shape)| {
        ((*command).to_owned(), titled(&format!("mngr {command} --format json"), shape.schema()))
    };
    let all = [
        OUTPUTS,
        changes::OUTPUTS,
        looks::OUTPUTS,
        runs::OUTPUTS,
        settings::OUTPUTS,
        tools::OUTPUTS,
        tutorials::OUTPUTS,
    ];
    all.into_iter().flatten().map(schema).collect()
}

/// The schema of each command's lines, by the command's words.
pub(super) fn line_schemas() -> Map<String, Value> {
    lines::schemas()
}

/// A schema of its own.
fn titled(title: &str, schema: Value) -> Value {
    let mut head = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": title });
    if let (Value::Object(head), Value::Object(fields)) = (&mut head, schema) {
        head.extend(fields);
    }
    head
}

impl Shape {
    fn schema(&self) -> Value {
        match self {
            Text => json!({ "type": "string" }),
            Int => json!({ "type": "integer" }),
            Number => json!({ "type": "number" }),
            Bool => json!({ "type": "boolean" }),
            Any => json!({}),
            Maybe(Any) => json!({}),
            Maybe(shape) => json!({ "anyOf": [shape.schema(), { "type": "null" }] }),
            List(item) => json!({ "type": "array", "items": item.schema() }),
            MapOf(item) => json!({ "type": "object", "additionalProperties": item.schema() }),
            Fields(fields) => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                let properties: Map<String, Value> =
                    fields.iter().map(|(name, shape)| ((*name).to_owned(), shape.schema())).collect();
                json!({ "type": "object", "properties": properties, "required": names })
            }
            Open(fields) => {
                let mut schema = Fields(fields).schema();
                schema["additionalProperties"] = json!({});
                schema
            }
            Both(first, second) => {
                let (mut schema, more) = (first.schema(), second.schema());
                if let (Some(own), Some(more)) =
                    (schema["properties"].as_object_mut(), more["properties"].as_object())
                {
                    own.extend(more.clone());
                }
                if let (Some(own), Some(more)) =
                    (schema["required"].as_array_mut(), more["required"].as_array())
                {
                    own.extend(more.iter().cloned());
                }
                schema
            }
            Either(shapes) => {
                json!({ "anyOf": shapes.iter().map(Self::schema).collect::<Vec<_>>() })
            }
            Agent => agent(),
        }
    }
}

/// The record of an agent, from the catalogue of its fields. A field that reads another one is no field of the record.
fn agent() -> Value {
    let mut root = json!({ "type": "object", "properties": {} });
    for field in Catalog::agents().fields().iter().filter(|field| field.reads.is_none()) {
        let mut at = &mut root;
        let mut parts = field.path.split('.').peekable();
        while let Some(part) = parts.next() {
            at = &mut at["properties"][part];
            if parts.peek().is_none() {
                *at = described(field.kind, field.help);
            }
        }
    }
    root
}

fn described(kind: FieldKind, help: &str) -> Value {
    // Of an agent that cannot be asked, nearly everything is unknown.
    let kind = match kind {
        FieldKind::String => "string",
        FieldKind::Int => "integer",
        FieldKind::Float => "number",
        FieldKind::Bool => "boolean",
        FieldKind::Time => {
            return json!({ "type": ["string", "null"], "format": "date-time", "description": help });
        }
        FieldKind::List => "array",
        FieldKind::Map => "object",
        FieldKind::Any => return json!({ "description": help }),
    };
    json!({ "type": [kind, "null"], "description": help })
}
