//! The fields of agent records, as one table.
//!
//! A field with `reads` is another name for a stored one: it costs the caller nothing to support.

use std::borrow::Cow;

use super::{Field, FieldKind};

const fn field(path: &'static str, kind: FieldKind, header: &'static str, help: &'static str) -> Field {
    Field { path: Cow::Borrowed(path), kind, help, header: Cow::Borrowed(header), reads: None }
}

const fn alias(
    path: &'static str,
    reads: &'static str,
    kind: FieldKind,
    header: &'static str,
    help: &'static str,
) -> Field {
    Field { path: Cow::Borrowed(path), kind, help, header: Cow::Borrowed(header), reads: Some(reads) }
}

/// Every field an agent record may have, in the order it is documented.
pub(super) static FIELDS: &[Field] = &[
    field("resource_type", FieldKind::String, "RESOURCE TYPE", "what the record is about, always `agent`"),
    field("id", FieldKind::String, "ID", "the agent's permanent id"),
    field("name", FieldKind::String, "NAME", "the agent's name"),
    field("title", FieldKind::String, "TITLE", "what it works on, in one line"),
    field("type", FieldKind::String, "TYPE", "the agent type it was created with"),
    field("command", FieldKind::String, "COMMAND", "the command line that runs in its window"),
    field("work_dir", FieldKind::String, "WORK DIR", "the folder it works in"),
    field("initial_branch", FieldKind::String, "BRANCH", "the git branch it started on"),
    field("create_time", FieldKind::Time, "CREATED", "when it was created"),
    field("start_on_boot", FieldKind::Bool, "START ON BOOT", "whether it starts with its host"),
    field("state", FieldKind::String, "STATE", "what it is doing: RUNNING, WAITING, DONE, STOPPED, ..."),
    field("state_source", FieldKind::String, "STATE SOURCE", "what kind of evidence the state comes from"),
    field("state_evidence", FieldKind::String, "EVIDENCE", "the evidence the state comes from"),
    field("state_since", FieldKind::Time, "SINCE", "when the state began"),
    field("waiting_reason", FieldKind::String, "WAITING FOR", "why a WAITING agent waits"),
    field(
        "background",
        FieldKind::List,
        "BACKGROUND",
        "its sub-agents, background commands and the like that live",
    ),
    field("wakeups", FieldKind::List, "WAKES", "when it goes on by itself"),
    field("exit_status", FieldKind::Int, "EXIT", "the exit status of its command, once it has ended"),
    field("pid", FieldKind::Int, "PID", "the process id of its command"),
    field("url", FieldKind::String, "URL", "the address it serves, if it reported one"),
    field("start_time", FieldKind::Time, "STARTED", "when it was last started"),
    field("runtime_seconds", FieldKind::Float, "RUNTIME", "seconds since it was last started"),
    field("user_activity_time", FieldKind::Time, "USER ACTIVE", "when a user last did something in it"),
    field("agent_activity_time", FieldKind::Time, "AGENT ACTIVE", "when the agent last did something"),
    field("idle_seconds", FieldKind::Float, "IDLE", "seconds since the last activity"),
    field("idle_mode", FieldKind::String, "IDLE MODE", "which activity counts against idleness"),
    field("idle_timeout_seconds", FieldKind::Int, "IDLE TIMEOUT", "idle seconds after which its host stops"),
    field("activity_sources", FieldKind::List, "ACTIVITY", "the kinds of activity that are watched"),
    field("labels", FieldKind::Map, "LABELS", "the agent's labels, any key"),
    field("host", FieldKind::Map, "HOST", "the host it lives on"),
    field("host.id", FieldKind::String, "HOST ID", "the host's permanent id"),
    field("host.name", FieldKind::String, "HOST", "the host's name"),
    field("host.provider_name", FieldKind::String, "PROVIDER", "the provider the host comes from"),
    field("host.state", FieldKind::String, "HOST STATE", "what the host is doing"),
    field("host.tags", FieldKind::Map, "HOST TAGS", "the host's labels, any key"),
    field("host.image", FieldKind::String, "IMAGE", "the image the host was made from"),
    field("host.boot_time", FieldKind::Time, "BOOTED", "when the host booted"),
    field("host.uptime_seconds", FieldKind::Float, "UPTIME", "seconds since the host booted"),
    field("host.resource", FieldKind::Map, "RESOURCE", "cpu, memory_gb, disk_gb and gpu of the host"),
    field("host.ssh", FieldKind::Map, "SSH", "how to reach the host: user, host, port, key_path, command"),
    field("host.snapshots", FieldKind::List, "SNAPSHOTS", "the host's snapshots, newest first"),
    field("host.is_locked", FieldKind::Bool, "LOCKED", "whether someone holds the host's lock"),
    field("host.locked_time", FieldKind::Time, "LOCKED SINCE", "when the host's lock was taken"),
    field("host.plugin", FieldKind::Map, "HOST PLUGIN", "what plugins say about the host, any key"),
    field("host.ssh_activity_time", FieldKind::Time, "SSH ACTIVE", "when someone was last connected by ssh"),
    field("host.failure_reason", FieldKind::String, "FAILURE", "why a FAILED host failed"),
    field("plugin", FieldKind::Map, "PLUGIN", "what plugins say about the agent, any key"),
    field("age", FieldKind::Float, "AGE", "seconds since it was created"),
    alias("runtime", "runtime_seconds", FieldKind::Float, "RUNTIME", "short for runtime_seconds"),
    alias("idle", "idle_seconds", FieldKind::Float, "IDLE", "short for idle_seconds"),
    alias("project", "labels.project", FieldKind::String, "PROJECT", "short for labels.project"),
    alias(
        "host.provider",
        "host.provider_name",
        FieldKind::String,
        "PROVIDER",
        "short for host.provider_name",
    ),
];
