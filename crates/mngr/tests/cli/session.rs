//! The binary in sessions of `mngr-e2e`, as the tests of a tutorial run it.

use std::fs;
use std::path::Path;

use mngr_e2e::session::{Options, Setup};
use mngr_e2e::{expect, here};
use mngr_model::HostPath;
use mngr_model::artifacts::TestRecord;
use mngr_testkit::TestEnv;

/// Artifacts that go when the test does.
fn options(env: &TestEnv) -> Options {
    let output = HostPath::new(env.root().join("artifacts").to_str().unwrap());
    Options { output: Some(output), run: Some("run".to_owned()), ..Options::default() }
}

fn record(artifacts: &Path) -> TestRecord {
    serde_json::from_slice(&fs::read(artifacts.join("test.json")).unwrap()).unwrap()
}

#[test]
fn every_terminal_of_a_session_is_recorded_and_no_agent_is_left() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_mngr"));
    let e2e = Setup::new(here!()).options(options(&env)).start();
    let created = e2e
        .comment("not attached: there is nobody to look")
        .run("mngr create fix --type command -- sh -c 'echo my pid is $$; exec sleep 100'");
    expect(&created).to_succeed();
    expect(&e2e.run("mngr list").stdout).to_match(r"fix +RUNNING");

    let terminal = e2e.comment("attached").terminal("mngr connect fix");
    terminal.expect_screen_to_match(r"my pid is \d+");
    let screen = terminal.screen();
    terminal.press("C-b");
    terminal.press("d");
    expect(&terminal.wait()).to_succeed();

    let (artifacts, project) = (e2e.artifacts(), e2e.project());
    drop(e2e);
    assert_eq!(record(&artifacts).recordings, ["fix.cast", "terminal-3.cast"]);
    for recording in ["fix.cast", "terminal-3.cast"] {
        let cast = fs::read_to_string(artifacts.join(recording)).unwrap();
        assert!(cast.contains("my pid is"), "{recording}: {cast}");
    }
    let pid = screen.split("my pid is ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(!Path::new("/proc").join(pid).exists() && !project.exists());
}
