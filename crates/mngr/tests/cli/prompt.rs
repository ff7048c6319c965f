//! Questions: asked only of a person at a terminal, and Ctrl-C answers them too.

use mngr_testkit::Surroundings;

use crate::support::*;

#[test]
fn destroy_asks_and_does_what_was_answered() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    for (answer, code, left) in [("n", 1, 1), ("y", 0, 0)] {
        let terminal = env.terminal(Surroundings::Plain, ["destroy", "a"]);
        let screen = terminal.wait_for("Are you sure you want to continue?");
        assert!(
            screen.contains("will be destroyed") && screen.contains("a@localhost.local (STOPPED)"),
            "{screen}"
        );
        terminal.send_text(answer);
        terminal.send_keys(["Enter"]);
        assert_eq!(terminal.wait_for_exit(), code);
        assert_eq!(names(&env).len(), left);
    }
}

#[test]
fn nobody_is_asked_about_a_running_agent_that_is_refused_anyway() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let terminal = env.terminal(Surroundings::Plain, ["destroy", "a"]);
    let screen = terminal.wait_for("Use --force to destroy running agents");
    assert!(!screen.contains("Are you sure"), "{screen}");
    assert_eq!(terminal.wait_for_exit(), 1);
    assert_eq!(names(&env), ["a"]);
}

#[test]
fn ctrl_c_at_a_question_exits_130_and_does_nothing() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    let terminal = env.terminal(Surroundings::Plain, ["destroy", "a"]);
    let _ = terminal.wait_for("Are you sure you want to continue?");
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert_eq!(names(&env), ["a"]);
}

#[test]
fn connect_without_an_agent_asks_which_one() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "echo hello from a; sleep 1000"]);
    create(&env, "b", &["sh", "-c", "echo hello from b; sleep 1000"]);
    let terminal = env.terminal(Surroundings::Plain, ["connect"]);
    let _ = terminal.wait_for("Connect to which agent?");
    terminal.send_text("b@");
    let _ = terminal.wait_for("1 of 2");
    terminal.send_keys(["Enter"]);
    let _ = terminal.wait_for("hello from b");
}

#[test]
fn the_menu_of_connect_hides_stopped_agents_and_ctrl_c_clears_before_it_quits() {
    let env = env_with_repo();
    create(&env, "awake", &["sleep", "1000"]);
    create(&env, "asleep", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "asleep"]).success();
    let terminal = env.terminal(Surroundings::Plain, ["connect"]);
    let screen = terminal.wait_for("Connect to which agent?");
    assert!(screen.contains("> awake@localhost.local   RUNNING"), "{screen}");
    terminal.send_keys(["C-r"]);
    let screen = terminal.wait_for("1 of 2");
    assert!(!screen.contains("asleep@"), "{screen}");
    terminal.send_text("zzz");
    let _ = terminal.wait_for("0 of 2");
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for("1 of 2");
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert!(!terminal.screen().contains("Search:"), "the screen is put back: {}", terminal.screen());
}

#[test]
fn the_menu_of_connect_shows_names_and_states_on_a_narrow_terminal() {
    let env = env_with_repo();
    create_scripted(&env, "rewrite-the-parser", &["ask well?", "read"]);
    create(&env, "fix-the-login-of-guests", &["sleep", "1000"]);
    wait_for_state(&env, "rewrite-the-parser", "WAITING");
    let terminal = env.terminal(Surroundings::Plain, ["connect"]);
    let row = |screen: &str, name: &str| {
        screen.lines().find(|line| line.contains(name)).map(|line| line[2..].to_owned()).unwrap_or_default()
    };
    let wide = terminal.wait_for("Connect to which agent?");
    let whole = "rewrite-the-parser@localhost.local       WAITING (QUESTION)";
    assert!(row(&wide, "rewrite").starts_with(whole), "{wide}");
    for (cols, waiting, running) in [
        (60, "rewrite-the-parser       WAITING (QUESTION)", "fix-the-login-of-guests  RUNNING"),
        (40, "rewrite-the-parser       WAITING", "fix-the-login-of-guests  RUNNING"),
        (24, "rewrite-the-…  WAITING", "fix-the-logi…  RUNNING"),
    ] {
        terminal.resize(cols, 10);
        assert!(
            mngr_testkit::wait_until(PATIENCE, || row(&terminal.screen(), "rewrite") == waiting),
            "{cols} columns:\n{}",
            terminal.screen()
        );
        assert_eq!(row(&terminal.screen(), "fix-the"), running, "{}", terminal.screen());
    }
    terminal.resize(40, 10);
    terminal.send_text("localhost");
    let _ = terminal.wait_for("Search: localhost");
    assert!(terminal.wait_for("2 of 2").contains("fix-the"), "what is left out is found all the same");
    terminal.send_keys(["C-c", "C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
}

#[test]
fn a_message_may_be_written_in_an_editor() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "printf 'from the editor\\n' >");
    create(&env, "a", &["sh", "-c", "read line; echo \"got $line\"; sleep 1000"]);
    let terminal = env.terminal(Surroundings::Plain, ["message", "a"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(mngr_testkit::wait_until(PATIENCE, || {
        env.mngr(["capture", "a"]).success().stdout.contains("got from the editor")
    }));
}

#[test]
fn a_table_is_cut_to_the_terminal_and_coloured_there() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let terminal =
        env.terminal(Surroundings::Plain, ["list", "--fields", "name,work_dir,id,command,labels,id,id"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    let screen = terminal.screen();
    let lines: Vec<&str> = screen.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 2, "no line may wrap:\n{screen}");
}

#[test]
fn a_headless_command_asks_nobody_even_at_a_terminal() {
    let mut env = env_with_repo();
    for name in ["a", "b"] {
        create(&env, name, &["sleep", "1000"]);
        let _ = env.mngr(["stop", name]).success();
    }
    env.set_var("EDITOR", "touch opened");
    let ends = |args: &[&str], code: i32| {
        let terminal = env.terminal(Surroundings::Plain, args);
        assert_eq!(terminal.wait_for_exit(), code, "{args:?}: {}", terminal.screen());
    };
    ends(&["connect", "--headless"], 2);
    ends(&["connect", "a", "--headless"], 1);
    ends(&["cleanup", "--headless"], 1);
    ends(&["message", "a", "--headless"], 2);
    ends(&["config", "edit", "--headless"], 1);
    ends(&["create", "c", "--edit-message", "--headless", "--", "sh"], 1);
    ends(&["destroy", "a", "--headless"], 0);
    let _ = env.mngr(["config", "set", "headless", "true", "--scope", "user"]).success();
    ends(&["destroy", "b"], 0);
    assert_eq!(names(&env), [""; 0]);
    assert!(!env.work_dir().join("opened").exists());
}
