//! `connect`: the agent's terminal in this one, or a command in its place.

use mngr_testkit::Surroundings;

use crate::support::*;

#[test]
fn a_substitute_runs_through_sh_with_the_agents_names() {
    let mut env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let shown =
        "echo $MNGR_AGENT_NAME $MNGR_SESSION_NAME $MNGR_HOST_IS_LOCAL $MNGR_CONNECT_COMMAND_ACTIVE; exit 5";
    let output = env.mngr(["connect", "a", "--connect-command", shown]).code(5);
    assert_eq!(output.stdout, "a mngr-a true 1\n");
    assert!(output.stderr.contains("Connecting to agent: a"), "{output}");
    let _ = env.mngr(["config", "set", "connect_command", "echo from settings", "--scope", "user"]).success();
    assert_eq!(env.mngr(["conn", "a"]).success().stdout, "from settings\n");
    let _ = env
        .mngr(["config", "set", "commands.connect.connect_command", "echo for connect", "--scope", "user"])
        .success();
    assert_eq!(env.mngr(["connect", "a"]).success().stdout, "for connect\n");
    env.set_var("MNGR_CONNECT_COMMAND_ACTIVE", "1");
    let inside = env.mngr(["connect", "a"]).code(1);
    assert!(inside.stderr.contains("this is not a terminal"), "{inside}");
}

#[test]
fn a_terminal_shows_the_agent_and_detaches() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "echo hello from a; sleep 1000"]);
    for surroundings in [Surroundings::Plain, Surroundings::InsideTmux] {
        let terminal = env.terminal(surroundings, ["connect", "a"]);
        terminal.wait_for("hello from a");
    }
    assert_eq!(state(&env, "a"), "RUNNING");
}

#[test]
fn a_stopped_agent_is_started_unless_that_is_forbidden() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    let refused = env.mngr(["connect", "a", "--no-start", "--connect-command", "true"]).code(1);
    assert!(refused.stderr.contains("it is STOPPED, and `--no-start`"), "{refused}");
    let _ = env.mngr(["connect", "a", "--connect-command", "true"]).success();
    assert_eq!(state(&env, "a"), "RUNNING");
}
