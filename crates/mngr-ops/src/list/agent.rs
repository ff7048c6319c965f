//! The fields of an agent's record, as one table in the order of the catalogue.

use jiff::Timestamp;
use mngr_model::activity::ActivityConfig;
use mngr_model::background::{BackgroundTask, WakeUp};
use mngr_model::process::Ending;
use serde_json::{Value, json};

use crate::fleet::Agent;

/// How a field is read from an agent at a time.
type Read = fn(&Agent, Timestamp) -> Value;

/// One field of the record.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// `None` for what does not come from the agent itself.
    pub(super) read: Option<Read>,
}

const fn field(name: &'static str, read: Read) -> Field {
    Field { name, read: Some(read) }
}

/// Every stored field.
pub(super) static FIELDS: &[Field] = &[
    field("resource_type", |_, _| "agent".into()),
    field("id", |agent, _| agent.id().as_str().into()),
    field("name", |agent, _| agent.name().as_ref().into()),
    field("title", |agent, _| crate::title::of(&agent.facts).into()),
    field("type", |agent, _| agent.facts.record.agent_type.as_ref().into()),
    field("command", |agent, _| agent.facts.record.command.as_str().into()),
    field("work_dir", |agent, _| agent.facts.record.work_dir.as_str().into()),
    field("initial_branch", |agent, _| agent.facts.record.initial_branch().into()),
    field("create_time", |agent, _| time(Some(agent.facts.record.create_time))),
    field("start_on_boot", |agent, _| agent.facts.record.start_on_boot.into()),
    field("state", |agent, _| agent.state.state.as_str().into()),
    field("state_source", |agent, _| agent.state.source.as_str().into()),
    field("state_evidence", |agent, _| agent.state.evidence.as_str().into()),
    field("state_since", |agent, _| own_time(agent, agent.state.since)),
    field("waiting_reason", |agent, _| agent.state.waiting_reason.map(|reason| reason.as_str()).into()),
    field("background", |agent, _| background(agent)),
    field("wakeups", |agent, _| wakeups(agent)),
    field("exit_status", |agent, _| agent.state.exit.map(|exit| exit.to_shell()).into()),
    field("pid", |agent, _| pid(agent).into()),
    field("url", |agent, _| agent.facts.extra.url.as_deref().into()),
    field("start_time", |agent, _| own_time(agent, agent.facts.started_at)),
    field("runtime_seconds", |agent, now| runtime(agent, now).into()),
    field("user_activity_time", |agent, _| own_time(agent, agent.facts.extra.user_activity)),
    field("agent_activity_time", |agent, _| own_time(agent, agent.facts.extra.agent_activity)),
    field("idle_seconds", |agent, now| idle(agent, now).into()),
    field("idle_mode", |agent, _| limits(agent).map(|limits| limits.mode().as_str()).into()),
    field("idle_timeout_seconds", |agent, _| idle_timeout(agent).into()),
    field("activity_sources", |agent, _| json!(limits(agent).map(|limits| &limits.sources))),
    field("labels", |agent, _| labels(agent)),
    Field { name: "host", read: None },
    field("plugin", |agent, _| plugin(agent)),
    field("age", |agent, now| seconds(agent.facts.record.create_time, now).into()),
];

pub(super) fn time(time: Option<Timestamp>) -> Value {
    time.map(|time| time.to_string()).into()
}

/// A time that was taken on the agent's host.
fn own_time(agent: &Agent, there: Option<Timestamp>) -> Value {
    time(there.map(|there| agent.by_our_clock(there)))
}

/// Seconds between two times, none where the clock went backwards.
pub(super) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

fn background(agent: &Agent) -> Value {
    let row = |task: &BackgroundTask| {
        let since = own_time(agent, task.since);
        json!({ "id": task.id, "type": task.kind, "description": task.description, "since": since })
    };
    agent.state.background.iter().map(row).collect()
}

fn wakeups(agent: &Agent) -> Value {
    let row = |wakeup: &WakeUp| {
        json!({
            "id": wakeup.id,
            "at": own_time(agent, wakeup.at),
            "schedule": wakeup.schedule,
            "is_recurring": wakeup.is_recurring,
            "prompt": wakeup.prompt,
        })
    };
    agent.state.wakeups.iter().map(row).collect()
}

fn pid(agent: &Agent) -> Option<i32> {
    agent.facts.process.agent.filter(|_| agent.facts.agent.is_alive()).map(|id| id.pid)
}

fn runtime(agent: &Agent, now: Timestamp) -> Option<f64> {
    let started = agent.facts.started_at?;
    let ended = match agent.facts.process.ending {
        _ if agent.facts.agent.is_alive() => Some(agent.by_its_clock(now)),
        Some(Ending::Exited { at, .. } | Ending::Stopped { at }) => at,
        None => None,
    };
    ended.map(|ended| seconds(started, ended))
}

fn idle(agent: &Agent, now: Timestamp) -> Option<f64> {
    agent.facts.extra.last_activity().map(|last| seconds(agent.by_our_clock(last), now))
}

/// When its host stops by itself; nothing is known of a host that did not answer.
fn limits(agent: &Agent) -> Option<&ActivityConfig> {
    agent.facts.extra.host_activity.as_ref().map(|host| &host.config)
}

/// A host that never stops by itself counts no idleness.
fn idle_timeout(agent: &Agent) -> Option<u64> {
    limits(agent).filter(|limits| limits.counts_idleness()).map(|limits| limits.idle_timeout.as_secs())
}

fn labels(agent: &Agent) -> Value {
    let labels = agent.facts.record.labels.iter();
    Value::Object(labels.map(|(key, value)| (key.clone(), value.as_str().into())).collect())
}

/// Where scripts look for it; the field `waiting_reason` says the same.
fn plugin(agent: &Agent) -> Value {
    match agent.state.waiting_reason {
        Some(reason) => {
            json!({ agent.facts.record.agent_type.as_ref(): { "waiting_reason": reason.as_str() } })
        }
        None => json!({}),
    }
}
