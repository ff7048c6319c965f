//! Renaming real agents.

use super::*;
use crate::journal::Journal;
use crate::testing::TestWorld;

fn to(name: &str) -> RenameRequest {
    RenameRequest { new_name: name.parse().unwrap(), labels: Vec::new(), mode: Mode::Apply }
}

fn env_of(test: &TestWorld, agent: &Agent) -> String {
    test.host.files().read_text(&test.host.layout().agent(agent.id()).env_file()).unwrap()
}

fn sessions(test: &TestWorld) -> String {
    test.tmux(&["list-sessions", "-F", "#{session_name}"]).stdout_text()
}

#[test]
fn only_the_agents_name_changes_in_its_environment() {
    let text = "A='x y'\nMNGR_AGENT_NAME=old\nB='it'\\''s $(id)'\nMNGR_AGENT_NAME_TOO=old\n";
    let pairs = with_name(parse_env_file(text).unwrap(), &"new".parse().unwrap());
    assert_eq!(render_env_file(&pairs), text.replace("NAME=old", "NAME=new"));
}

#[test]
fn session_environment_and_record_get_the_new_name_and_the_agent_runs_on() {
    let test = TestWorld::new();
    let agent = test.launch("old", &["sleep", "100"]);
    let request = RenameRequest { labels: vec!["k=v".parse().unwrap()], ..to("new") };
    let renamed = rename(&test.world, &agent, &request).unwrap();
    assert_eq!((renamed.old_name.as_ref(), renamed.new_name.as_ref()), ("old", "new"));
    let found = test.look("new");
    assert_eq!((found.id(), found.state.state.is_alive()), (agent.id(), true));
    assert_eq!(found.facts.record.labels["k"], "v");
    assert_eq!(sessions(&test), "mngr-new");
    assert!(env_of(&test, &agent).contains("MNGR_AGENT_NAME=new\n"));
}

#[test]
fn a_failure_at_the_record_takes_everything_back() {
    let test = TestWorld::new();
    let agent = test.launch("old", &["sleep", "100"]);
    let env = env_of(&test, &agent);
    // A folder where the record's lock should be keeps the record from being changed.
    let lock = test.host.layout().agent(agent.id()).root().join("data.lock");
    test.host.files().make_folder(&lock).unwrap();
    let error = rename(&test.world, &agent, &to("new")).unwrap_err();
    assert!(matches!(error, RenameError::Record(_)), "{error:?}");
    assert_eq!(test.look("old").id(), agent.id());
    assert_eq!((sessions(&test).as_str(), env_of(&test, &agent)), ("mngr-old", env));
}

#[test]
fn taken_and_reserved_names_are_refused_before_anything_changes() {
    let test = TestWorld::new();
    let (agent, other) = (test.launch("a", &["sleep", "100"]), test.add("b", "command", &["cat"]));
    assert!(matches!(rename(&test.world, &agent, &to("b")), Err(RenameError::Taken { .. })));
    let header = mngr_model::journal::Header {
        operation: mngr_model::journal::Operation::Create,
        agent_id: mngr_host::random::agent_id(),
        name: "coming".parse().unwrap(),
        started: test.world.clock.now(),
        command: None,
    };
    let journal = Journal::begin(test.host.as_ref(), &header).unwrap();
    assert!(matches!(rename(&test.world, &agent, &to("coming")), Err(RenameError::Taken { .. })));
    journal.finish().unwrap();
    let own = mngr_model::journal::Header { agent_id: other.id().clone(), ..header };
    let journal = Journal::begin(test.host.as_ref(), &own).unwrap();
    assert!(matches!(rename(&test.world, &other, &to("c")), Err(RenameError::Busy { .. })));
    journal.finish().unwrap();
    assert_eq!(sessions(&test), "mngr-a");
}

#[test]
fn a_dry_run_and_the_same_name_change_nothing() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    let dry = RenameRequest { mode: Mode::DryRun, ..to("b") };
    assert_eq!(rename(&test.world, &agent, &dry).unwrap().new_name.as_ref(), "b");
    assert_eq!(test.look("a").id(), agent.id());
    let renamed = rename(&test.world, &agent, &to("a")).unwrap();
    assert_eq!(renamed.old_name, renamed.new_name);
    let labelled = RenameRequest { labels: vec!["k=v".parse().unwrap()], ..to("a") };
    rename(&test.world, &agent, &labelled).unwrap();
    assert_eq!(test.look("a").facts.record.labels["k"], "v");
}

#[test]
fn a_stopped_agent_is_renamed_without_a_server() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    rename(&test.world, &agent, &to("b")).unwrap();
    assert_eq!(test.look("b").id(), agent.id());
}
