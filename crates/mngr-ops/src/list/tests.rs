//! Records of real looks.

use std::collections::BTreeSet;

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_host::provider::HostReport;
use mngr_host::random;
use mngr_model::{AgentState, HostState};
use mngr_query::Catalog;

use super::*;
use crate::testing::TestWorld;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn wanted<const N: usize>(paths: [&str; N]) -> FieldSet {
    paths.into_iter().collect()
}

#[test]
fn records_have_exactly_the_stored_fields_of_the_catalogue_in_its_order() {
    let test = TestWorld::new();
    test.add("a", "command", &["cat"]);
    let listing = list(&test.fleet(), &FieldSet::everything());
    let catalog = Catalog::agents();
    let stored =
        catalog.fields().iter().filter(|field| field.reads.is_none()).map(|field| field.path.as_ref());
    let top: Vec<&str> = stored.clone().filter(|path| !path.contains('.') && *path != "age").collect();
    assert_eq!(keys(&listing.agents[0]), top);
    let parts: BTreeSet<&str> = stored.filter_map(|path| path.strip_prefix("host.")).collect();
    assert_eq!(keys(&listing.agents[0]["host"]).into_iter().collect::<BTreeSet<_>>(), parts);
}

#[test]
fn only_wanted_fields_are_built() {
    let test = TestWorld::new();
    test.add("a", "command", &["cat"]);
    let fields = wanted(["name", "host.state", "host.provider_name", "labels.project"]);
    let record = &list(&test.fleet(), &fields).agents[0];
    assert_eq!(
        record,
        &json!({"name": "a", "labels": {}, "host": {"provider_name": "local", "state": "RUNNING"}})
    );
    assert!(list(&test.fleet(), &wanted(["age"])).agents[0]["age"].as_f64().unwrap() > 0.0);
    assert_eq!(detail_for(&fields), Detail::Basic);
    assert_eq!(detail_for(&wanted(["url"])), Detail::Activity);
}

#[test]
fn a_running_and_an_ended_agent_show_their_process_facts() {
    let test = TestWorld::new();
    test.launch("live", &["sleep", "100"]);
    test.launch("ended", &["sh", "-c", "exit 3"]);
    test.look_when("ended", AgentState::Done);
    let listing = list(&test.fleet(), &FieldSet::everything());
    let of = |name: &str| listing.agents.iter().find(|record| record["name"] == name).unwrap();
    let (live, ended) = (of("live"), of("ended"));
    assert_eq!((&live["state"], &live["exit_status"]), (&"RUNNING".into(), &Value::Null));
    assert!(live["pid"].as_i64().unwrap() > 1 && live["runtime_seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(
        (&ended["state"], &ended["exit_status"], &ended["pid"]),
        (&"DONE".into(), &3.into(), &Value::Null)
    );
    assert!(ended["state_evidence"].as_str().unwrap().contains("exit code 3"));
    assert!(live["host"]["resource"]["cpu"]["count"].as_u64().unwrap() >= 1);
}

#[test]
fn a_damaged_record_is_a_row_and_an_error_and_hides_nobody() {
    let test = TestWorld::new();
    test.add("a", "command", &["cat"]);
    let id = random::agent_id();
    let layout = test.host.layout().agent(&id);
    test.host.files().make_folder(layout.root()).unwrap();
    test.host.files().write(&layout.data(), b"{\"id\": 7", Access::Shared, Durability::Cached).unwrap();
    let listing = list(&test.fleet(), &FieldSet::everything());
    assert_eq!(listing.agents.len(), 2);
    let row = &listing.agents[1];
    assert_eq!((&row["name"], &row["state"]), (&id.as_str().into(), &"UNKNOWN".into()));
    assert!(row["state_evidence"].as_str().unwrap().contains("data.json"));
    assert_eq!(row["host"]["name"], "localhost");
    let error = &listing.errors[0];
    assert_eq!(
        (&error["agent_id"], &error["is_provider_inaccessible"]),
        (&id.as_str().into(), &false.into())
    );
}

#[test]
fn an_unreachable_host_is_a_row_in_state_unknown_and_a_silent_provider_an_error() {
    let test = TestWorld::new();
    let mut fleet = test.fleet();
    let failure = |host: Option<&str>| Failure {
        provider: "far".to_owned(),
        host: host.map(str::to_owned),
        host_id: host.map(|_| random::host_id()),
        message: "no route".to_owned(),
    };
    fleet.failures = vec![failure(Some("box")), failure(None)];
    fleet.hosts.push(FleetHost {
        name: "box".parse().unwrap(),
        provider: "far".parse().unwrap(),
        id: None,
        report: HostReport::failing(HostState::Unknown, "no route"),
        seen: None,
        snapshots: Vec::new(),
    });
    let listing = list(&fleet, &FieldSet::everything());
    let [row] = listing.unreachable.as_slice() else { panic!("{listing:?}") };
    assert_eq!(
        (&row["resource_type"], &row["state"], &row["name"]),
        (&"host".into(), &"UNKNOWN".into(), &Value::Null)
    );
    assert_eq!((&row["host"]["name"], &row["host"]["state"]), (&"box".into(), &"UNKNOWN".into()));
    assert_eq!(row["host"]["failure_reason"], "no route");
    let inaccessible: Vec<&Value> =
        listing.errors.iter().map(|error| &error["is_provider_inaccessible"]).collect();
    assert_eq!(inaccessible, [&Value::Bool(false), &Value::Bool(true)]);
    assert_eq!(listing.errors[1]["short_reason"], "no route");
}
