//! Which agents and hosts there are: from looks to events about what appears and goes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mngr_model::event::Event;
use serde_json::{Value, json};

use super::{event, hosts, silent_providers};
use crate::fleet::Fleet;

/// The source of these events.
pub const DISCOVERY: &str = "mngr/discovery";

/// What is known so far, each thing by its id.
#[derive(Default)]
pub(super) struct Discovery {
    agents: BTreeMap<String, Value>,
    hosts: BTreeMap<String, Value>,
    /// Providers that were told as a whole.
    providers: BTreeSet<String>,
    /// Problems that were told and still are there.
    problems: BTreeSet<(String, String)>,
}

/// One look.
struct Look {
    at: Timestamp,
    agents: Vec<Value>,
    hosts: Vec<Value>,
    problems: BTreeSet<(String, String)>,
    silent: Vec<String>,
    providers: BTreeSet<String>,
}

impl Discovery {
    /// What a look shows that was not known.
    pub(super) fn take_in(&mut self, fleet: &Fleet) -> Vec<Event> {
        let agents = fleet.agents.iter().map(|agent| {
            let info = agent.host.info();
            json!({
                "agent_id": agent.id(),
                "agent_name": agent.name(),
                "host_id": info.id,
                "provider_name": info.provider,
            })
        });
        let hosts: Vec<Value> = hosts(fleet)
            .iter()
            .map(|host| {
                json!({
                    "host_id": host["id"],
                    "host_name": host["name"],
                    "provider_name": host["provider_name"],
                    "host_state": host["state"],
                })
            })
            .collect();
        let problems =
            fleet.failures.iter().map(|failure| (failure.provider.clone(), failure.message.clone()));
        let silent: Vec<String> = silent_providers(fleet).into_iter().map(str::to_owned).collect();
        let providers = hosts.iter().map(|host| text(&host["provider_name"]).to_owned()).collect();
        self.compare(Look {
            at: fleet.taken_at,
            agents: agents.collect(),
            problems: problems.collect(),
            hosts,
            silent,
            providers,
        })
    }

    fn compare(&mut self, look: Look) -> Vec<Event> {
        let tell = |kind: &str, fields: Value| event(look.at, DISCOVERY, kind, fields);
        let mut events = Vec::new();
        for provider in look.providers.iter().filter(|provider| !self.providers.contains(*provider)) {
            let of_it = |things: &[Value]| -> Vec<Value> {
                things.iter().filter(|thing| text(&thing["provider_name"]) == provider).cloned().collect()
            };
            let (agents, hosts) = (of_it(&look.agents), of_it(&look.hosts));
            self.agents.extend(agents.iter().map(|agent| (key(agent), agent.clone())));
            self.hosts.extend(hosts.iter().map(|host| (key(host), host.clone())));
            events.push(tell("DISCOVERY_PROVIDER", of_provider(provider, agents, hosts)));
        }
        self.providers.extend(look.providers.iter().cloned());
        let is_silent =
            |thing: &Value| look.silent.iter().any(|provider| provider == text(&thing["provider_name"]));
        for (known, now, found, lost) in [
            (&mut self.hosts, &look.hosts, "HOST_DISCOVERED", "HOST_DESTROYED"),
            (&mut self.agents, &look.agents, "AGENT_DISCOVERED", "AGENT_DESTROYED"),
        ] {
            let mut before = std::mem::take(known);
            for thing in now {
                if before.remove(&key(thing)).is_none() {
                    events.push(tell(found, thing.clone()));
                }
                known.insert(key(thing), thing.clone());
            }
            for (id, thing) in before {
                if is_silent(&thing) {
                    known.insert(id, thing);
                } else {
                    events.push(tell(lost, thing));
                }
            }
        }
        for (provider, message) in look.problems.difference(&self.problems) {
            if look.silent.contains(provider) {
                let mut fields = of_provider(provider, Vec::new(), Vec::new());
                fields["error"] = message.as_str().into();
                fields["unknown_host_ids"] = ids(&self.hosts, provider, "host_id");
                fields["unknown_agent_ids"] = ids(&self.agents, provider, "agent_id");
                events.push(tell("DISCOVERY_PROVIDER", fields));
            }
            let fields = json!({ "provider_name": provider, "message": message });
            events.push(tell("DISCOVERY_ERROR", fields));
        }
        self.problems = look.problems;
        events
    }
}

/// All that a provider has, as far as it could be asked.
fn of_provider(provider: &str, agents: Vec<Value>, hosts: Vec<Value>) -> Value {
    json!({
        "provider": provider,
        "provider_name": provider,
        "agents": agents,
        "hosts": hosts,
        "error": null,
        "unknown_host_ids": [],
        "unknown_agent_ids": [],
    })
}

/// The ids of what is known of a provider.
fn ids(known: &BTreeMap<String, Value>, provider: &str, id: &str) -> Value {
    let of_it = known.values().filter(|thing| text(&thing["provider_name"]) == provider);
    of_it.map(|thing| thing[id].clone()).collect()
}

/// An id is unique on its host only.
fn key(thing: &Value) -> String {
    format!("{} {}", text(&thing["host_id"]), text(&thing["agent_id"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(agents: &[&str], problem: Option<&str>) -> Look {
        let of = |id: &&str| json!({ "agent_id": id, "host_id": "h", "provider_name": "lab" });
        let host = json!({ "host_id": "h", "provider_name": "lab" });
        let is_silent = problem.is_some();
        Look {
            at: Timestamp::UNIX_EPOCH,
            agents: agents.iter().map(of).collect(),
            hosts: if is_silent { Vec::new() } else { vec![host] },
            problems: problem.map(|text| ("lab".to_owned(), text.to_owned())).into_iter().collect(),
            silent: if is_silent { vec!["lab".to_owned()] } else { Vec::new() },
            providers: if is_silent { BTreeSet::new() } else { BTreeSet::from(["lab".to_owned()]) },
        }
    }

    #[test]
    fn a_provider_that_does_not_answer_is_told_with_what_is_unknown_now() {
        let mut discovery = Discovery::default();
        let known = discovery.compare(look(&["a"], None)).remove(0).fields;
        assert_eq!((&known["provider"], &known["error"]), (&json!("lab"), &Value::Null));
        let silent = discovery.compare(look(&[], Some("no answer"))).remove(0).fields;
        assert_eq!(silent["error"], json!("no answer"));
        assert_eq!(silent["unknown_host_ids"], json!(["h"]));
        assert_eq!(silent["unknown_agent_ids"], json!(["a"]));
    }

    #[test]
    fn a_provider_is_told_as_a_whole_first_and_then_what_comes_and_goes() {
        let mut discovery = Discovery::default();
        let mut kinds = |look: Look| -> Vec<String> {
            discovery.compare(look).into_iter().map(|event| event.kind).collect()
        };
        assert_eq!(kinds(look(&["a"], None)), ["DISCOVERY_PROVIDER"]);
        assert_eq!(kinds(look(&["a"], None)), [""; 0]);
        assert_eq!(kinds(look(&["a", "b"], None)), ["AGENT_DISCOVERED"]);
        assert_eq!(kinds(look(&["b"], None)), ["AGENT_DESTROYED"]);
        assert_eq!(
            kinds(look(&[], Some("no answer"))),
            ["DISCOVERY_PROVIDER", "DISCOVERY_ERROR"],
            "nothing is destroyed by silence"
        );
        assert_eq!(kinds(look(&[], Some("no answer"))), [""; 0]);
        assert_eq!(kinds(look(&["b"], None)), [""; 0]);
    }
}
