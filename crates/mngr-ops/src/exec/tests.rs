//! Commands in the work dirs of agents.

use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_model::HostPath;

use super::*;
use crate::testing::TestWorld;

fn shell(text: &str) -> ExecRequest {
    ExecRequest { command: Command::Shell(text.to_owned()), cwd: None, timeout: None }
}

fn write(test: &TestWorld, path: &HostPath, text: &str) {
    test.host.files().write(path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
}

#[test]
fn it_runs_in_the_work_dir_with_the_environment_of_host_and_agent() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    let layout = test.host.layout();
    write(&test, &layout.env_file(), "BOTH=host\nHOST='it'\\''s $(id)'\n");
    write(&test, &layout.agent(agent.id()).env_file(), "BOTH='agent'\n");
    let text = r#"printf '%s|%s|%s|%s' "$PWD" "$BOTH" "$HOST" "$MNGR_AGENT_ID""#;
    let output = captured(&test.world, &agent, &shell(text), Vec::new()).unwrap();
    let work_dir = test.host.files().canonical(&test.work("")).unwrap();
    assert_eq!(output.stdout_text(), format!("{work_dir}|agent|it's $(id)|{}", agent.id()));
}

#[test]
fn words_are_verbatim_input_is_read_and_the_exit_code_is_real() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    let words = ["printf", "<%s>", "$(id)", "", "a b"].map(str::to_owned).to_vec();
    let request = ExecRequest { command: Command::Words(words), ..shell("") };
    let output = captured(&test.world, &agent, &request, Vec::new()).unwrap();
    assert_eq!(output.stdout_text(), "<$(id)><><a b>");
    let output = captured(&test.world, &agent, &shell("cat; exit 7"), b"input".to_vec()).unwrap();
    assert_eq!((output.stdout_text().as_str(), output.exit), ("input", Exit::Code(7)));
    let nothing = ExecRequest { command: Command::Words(Vec::new()), ..shell("") };
    assert!(matches!(captured(&test.world, &agent, &nothing, Vec::new()), Err(ExecFailure::NoCommand)));
}

#[test]
fn a_folder_may_be_named_and_must_exist() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    test.host.files().make_folder(&test.work("sub")).unwrap();
    let inside = |dir: &str| ExecRequest { cwd: Some(dir.to_owned()), ..shell("basename \"$PWD\"") };
    let output = captured(&test.world, &agent, &inside("sub"), Vec::new()).unwrap();
    assert_eq!(output.stdout_text(), "sub");
    let error = captured(&test.world, &agent, &inside("absent"), Vec::new()).unwrap_err();
    assert!(matches!(error, ExecFailure::Exec(ExecError::NoFolder { .. })), "{error:?}");
}

#[test]
fn the_time_limit_ends_the_command_and_says_so() {
    let test = TestWorld::new();
    let agent = test.add("a", "command", &["cat"]);
    let request = ExecRequest { timeout: Some(Duration::from_millis(100)), ..shell("sleep 30") };
    assert!(captured(&test.world, &agent, &request, Vec::new()).unwrap_err().is_timeout());
    assert!(attached(&test.world, &agent, &request, Attachment::OwnGroup).unwrap_err().is_timeout());
    let exit = attached(&test.world, &agent, &shell("exit 9"), Attachment::OwnGroup).unwrap();
    assert_eq!(exit, Exit::Code(9));
}

#[test]
fn many_agents_are_served_in_their_order() {
    let test = TestWorld::new();
    let agents = ["a", "b", "c"].map(|name| test.add(name, "command", &["cat"]));
    let results = captured_on_all(&test.world, &agents, &shell("echo \"$MNGR_AGENT_NAME\""));
    let names: Vec<String> = results.into_iter().map(|result| result.unwrap().output.stdout_text()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}
