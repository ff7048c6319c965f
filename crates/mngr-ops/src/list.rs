//! `list`: agents as records with the fields a view asks for. Which rows are shown, and how, is decided elsewhere.
//!
//! Only wanted fields are built, each host's part once. Spawns nothing.

use std::collections::HashMap;

use mngr_model::HostState;
use mngr_model::facts::Detail;
use mngr_query::FieldSet;
use serde_json::{Map, Value, json};

use crate::fleet::{Agent, Broken, Failure, Fleet, FleetHost};

mod agent;
mod host;

use agent::FIELDS;
use host::HostRecords;

/// Fields that need more than a basic look.
const DETAILED: [&str; 4] = ["url", "user_activity_time", "agent_activity_time", "idle_seconds"];

/// Fields that change without anything happening.
const VOLATILE: [&str; 4] = ["age", "runtime_seconds", "idle_seconds", "host"];

/// A record without what changes by itself, to tell whether anything has happened.
pub fn stable(record: &Value) -> Value {
    let mut stable = record.clone();
    if let Value::Object(fields) = &mut stable {
        fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
    }
    stable
}

/// How closely to look for a view with these fields.
pub fn detail_for(fields: &FieldSet) -> Detail {
    if DETAILED.iter().any(|field| fields.wants(field)) { Detail::Activity } else { Detail::Basic }
}

/// Everything one look found, as records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The agents in the order of the look, those that cannot be read last.
    pub agents: Vec<Value>,
    /// One record per host that could not be asked, in state `UNKNOWN` and without an agent's name.
    pub unreachable: Vec<Value>,
    /// One object per provider, host or agent that could not be asked or read.
    pub errors: Vec<Value>,
}

/// Turns a look into records with the wanted fields.
pub fn list(fleet: &Fleet, fields: &FieldSet) -> Listing {
    let records = Records::new(fleet, fields);
    // A host whose agents are known is seen in their rows.
    let has_agents = |host: &FleetHost| {
        let address = host.address();
        fleet.agents.iter().any(|agent| agent.host.info().address() == address)
    };
    let is_unseen = |host: &&FleetHost| host.report.state != HostState::Running && !host.is_off();
    let is_silent = |host: &&FleetHost| is_unseen(host) && !has_agents(host);
    let unreachable = fleet.hosts.iter().filter(is_silent);
    Listing {
        agents: fleet
            .agents
            .iter()
            .map(|agent| records.of(agent))
            .chain(fleet.broken.iter().map(|broken| records.of_broken(broken)))
            .collect(),
        unreachable: unreachable.map(|host| records.of_unreachable(host)).collect(),
        errors: errors(fleet),
    }
}

/// The hosts of a look, each with the agents on it.
pub fn hosts(fleet: &Fleet) -> Vec<Value> {
    let mut agents: HashMap<String, Vec<Value>> = HashMap::new();
    for agent in &fleet.agents {
        let row = json!({ "id": agent.id().as_str(), "name": agent.name().as_str() });
        agents.entry(agent.host.info().address()).or_default().push(row);
    }
    let row = |row: &FleetHost| {
        let agents = agents.remove(&row.address()).unwrap_or_default();
        host::row(row, fleet.taken_at, agents)
    };
    fleet.hosts.iter().map(row).collect()
}

/// The error objects of a look.
pub fn errors(fleet: &Fleet) -> Vec<Value> {
    fleet.failures.iter().map(failure_object).chain(fleet.broken.iter().map(broken_object)).collect()
}

/// Builds records of one view.
struct Records<'a> {
    fleet: &'a Fleet,
    wanted: Vec<&'static agent::Field>,
    hosts: HostRecords,
}

impl<'a> Records<'a> {
    fn new(fleet: &'a Fleet, fields: &FieldSet) -> Self {
        // `age` follows from another field, so only a view that names it gets it.
        let is_wanted = |field: &&agent::Field| match field.name {
            "age" => fields.paths().any(|path| path == "age"),
            name => fields.wants(name),
        };
        let wanted = FIELDS.iter().filter(is_wanted).collect();
        Self { fleet, wanted, hosts: HostRecords::new(fleet, fields) }
    }

    fn of(&self, agent: &Agent) -> Value {
        self.record(
            |name| match name {
                "host" => self.hosts.of(&agent.host.info().address()),
                _ => Value::Null,
            },
            Some(agent),
        )
    }

    /// A record that cannot be read is shown by the name of its folder.
    fn of_broken(&self, broken: &Broken) -> Value {
        self.record(
            |name| match name {
                "resource_type" => "agent".into(),
                "id" | "name" => broken.agent.folder.as_str().into(),
                "state" => "UNKNOWN".into(),
                "state_source" => "none".into(),
                "state_evidence" => broken.agent.problem.as_str().into(),
                "labels" | "plugin" => json!({}),
                "host" => self.hosts.of(&broken.host),
                _ => Value::Null,
            },
            None,
        )
    }

    fn of_unreachable(&self, host: &FleetHost) -> Value {
        self.record(
            |name| match name {
                "resource_type" => "host".into(),
                "state" => "UNKNOWN".into(),
                "state_source" => "host".into(),
                "state_evidence" => host.report.reason.as_deref().into(),
                "labels" | "plugin" => json!({}),
                "host" => self.hosts.of(&host.address()),
                _ => Value::Null,
            },
            None,
        )
    }

    /// The wanted fields: from the agent where there is one and the field is its own, else from `other`.
    fn record(&self, other: impl Fn(&str) -> Value, agent: Option<&Agent>) -> Value {
        let mut record = Map::with_capacity(self.wanted.len());
        for field in &self.wanted {
            let value = match (agent, field.read) {
                (Some(agent), Some(read)) => read(agent, self.fleet.taken_at),
                _ => other(field.name),
            };
            record.insert(field.name.to_owned(), value);
        }
        Value::Object(record)
    }
}

fn failure_object(failure: &Failure) -> Value {
    let mut object = error_object(
        if failure.host.is_some() { "HostUnavailable" } else { "ProviderUnavailable" },
        &failure.message,
    );
    let is_provider = failure.host.is_none();
    object.insert("is_provider_inaccessible".to_owned(), is_provider.into());
    object.insert("provider_name".to_owned(), failure.provider.as_str().into());
    if is_provider {
        object.insert("short_reason".to_owned(), failure.message.as_str().into());
        object.insert("short_remediation".to_owned(), Value::Null);
    }
    if let Some(host) = &failure.host {
        object.insert("host_name".to_owned(), host.as_str().into());
        object.insert("host_id".to_owned(), failure.host_id.as_ref().map(|id| id.as_str()).into());
    }
    Value::Object(object)
}

fn broken_object(broken: &Broken) -> Value {
    let mut object = error_object("AgentUnreadable", &broken.agent.problem);
    object.insert("agent_id".to_owned(), broken.agent.folder.as_str().into());
    object.insert("host_name".to_owned(), broken.host.as_str().into());
    Value::Object(object)
}

fn error_object(exception_type: &str, message: &str) -> Map<String, Value> {
    let fields: [(&str, Value); 5] = [
        ("exception_type", exception_type.into()),
        ("message", message.into()),
        ("is_provider_inaccessible", false.into()),
        ("help_text", Value::Null),
        ("traceback_text", Value::Null),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
