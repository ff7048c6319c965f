//! What agents do: from looks to events about agents and their states.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mngr_model::AgentState;
use mngr_model::event::Event;
use mngr_query::FieldSet;
use serde_json::{Value, json};

use super::{event, hosts, silent_providers};
use crate::fleet::Fleet;
use crate::list;

/// The log of agents as they are.
pub const AGENTS: &str = "mngr/agents";

/// The log of changes of states.
pub const AGENT_STATES: &str = "mngr/agent_states";

/// Fields that change all the time and tell nothing new.
const RESTLESS: [&str; 2] = ["agent_activity_time", "user_activity_time"];

/// All agents as they were seen last, by host and id.
#[derive(Default)]
pub(super) struct Agents {
    known: BTreeMap<(String, String), Value>,
}

impl Agents {
    /// What a look shows that was not known.
    pub(super) fn take_in(&mut self, fleet: &Fleet) -> Vec<Event> {
        let records = list::list(fleet, &FieldSet::everything()).agents;
        self.compare(fleet.taken_at, records, &silent_providers(fleet))
    }

    /// All there is, in one event.
    pub(super) fn everything(&self, fleet: &Fleet) -> Event {
        let agents: Vec<&Value> = self.known.values().collect();
        let fields = json!({ "agents": agents, "hosts": hosts(fleet) });
        event(fleet.taken_at, AGENTS, "AGENTS_FULL_STATE", fields)
    }

    fn compare(&mut self, at: Timestamp, records: Vec<Value>, silent: &[&str]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut known = std::mem::take(&mut self.known);
        for record in records {
            let key = key_of(&record);
            match known.remove(&key) {
                Some(before) if quiet(&before) == quiet(&record) => {}
                before => {
                    events.extend(before.as_ref().and_then(|before| change(at, before, &record)));
                    events.push(event(at, AGENTS, "AGENT_STATE", json!({ "agent": record })));
                }
            }
            self.known.insert(key, record);
        }
        for (key, before) in known {
            if !silent.contains(&text(&before["host"]["provider_name"])) {
                events.push(event(at, AGENTS, "AGENT_REMOVED", identity(&before)));
                continue;
            }
            let mut unknown = before.clone();
            unknown["state"] = AgentState::Unknown.as_str().into();
            unknown["host"]["state"] = "UNKNOWN".into();
            events.extend(change(at, &before, &unknown));
            self.known.insert(key, unknown);
        }
        events
    }
}

fn change(at: Timestamp, before: &Value, now: &Value) -> Option<Event> {
    let states = |record: &Value| (record["state"].clone(), record["host"]["state"].clone());
    let ((old, old_host), (new, new_host)) = (states(before), states(now));
    if (&old, &old_host) == (&new, &new_host) {
        return None;
    }
    let mut fields = identity(now);
    for (name, value) in
        [("old_state", old), ("new_state", new), ("old_host_state", old_host), ("new_host_state", new_host)]
    {
        fields[name] = value;
    }
    fields["agent"] = now.clone();
    Some(event(at, AGENT_STATES, "AGENT_STATE_CHANGE", fields))
}

fn identity(record: &Value) -> Value {
    json!({ "agent_id": record["id"], "agent_name": record["name"], "host_id": record["host"]["id"] })
}

fn key_of(record: &Value) -> (String, String) {
    (text(&record["host"]["id"]).to_owned(), text(&record["id"]).to_owned())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The record without what changes all the time, but with the state of its host.
fn quiet(record: &Value) -> (Value, Value) {
    let mut quiet = list::stable(record);
    if let Value::Object(fields) = &mut quiet {
        fields.retain(|name, _| !RESTLESS.contains(&name.as_str()));
    }
    (quiet, record["host"]["state"].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, state: &str, age: u32) -> Value {
        let host = json!({ "id": "h", "provider_name": "lab", "state": "RUNNING", "uptime_seconds": age });
        json!({ "id": name, "name": name, "state": state, "runtime_seconds": age, "host": host })
    }

    fn kinds(events: &[Event]) -> Vec<&str> {
        events.iter().map(|event| event.kind.as_str()).collect()
    }

    #[test]
    fn only_what_is_new_is_told_and_a_change_says_from_what_to_what() {
        let mut agents = Agents::default();
        let mut look = |records| agents.compare(Timestamp::UNIX_EPOCH, records, &[]);
        assert_eq!(kinds(&look(vec![agent("a", "RUNNING", 1)])), ["AGENT_STATE"]);
        assert_eq!(kinds(&look(vec![agent("a", "RUNNING", 2)])), [""; 0], "time passes");
        let events = look(vec![agent("a", "WAITING", 3), agent("b", "RUNNING", 0)]);
        assert_eq!(kinds(&events), ["AGENT_STATE_CHANGE", "AGENT_STATE", "AGENT_STATE"]);
        let fields = &events[0].fields;
        assert_eq!((&fields["old_state"], &fields["new_state"]), (&json!("RUNNING"), &json!("WAITING")));
        assert_eq!((&fields["agent_name"], &fields["new_host_state"]), (&json!("a"), &json!("RUNNING")));
        assert_eq!(events[0].source, AGENT_STATES);
        let events = look(vec![agent("b", "RUNNING", 0)]);
        assert_eq!((kinds(&events), &events[0].fields["agent_id"]), (vec!["AGENT_REMOVED"], &json!("a")));
    }

    #[test]
    fn agents_of_a_provider_that_cannot_be_asked_are_unknown_and_not_removed() {
        let mut agents = Agents::default();
        agents.compare(Timestamp::UNIX_EPOCH, vec![agent("a", "RUNNING", 1)], &[]);
        let events = agents.compare(Timestamp::UNIX_EPOCH, Vec::new(), &["lab"]);
        assert_eq!(
            (kinds(&events), &events[0].fields["new_state"]),
            (vec!["AGENT_STATE_CHANGE"], &json!("UNKNOWN"))
        );
        assert_eq!(kinds(&agents.compare(Timestamp::UNIX_EPOCH, Vec::new(), &["lab"])), [""; 0], "told once");
        let back = agents.compare(Timestamp::UNIX_EPOCH, vec![agent("a", "RUNNING", 1)], &[]);
        assert_eq!(kinds(&back), ["AGENT_STATE_CHANGE", "AGENT_STATE"]);
    }
}
