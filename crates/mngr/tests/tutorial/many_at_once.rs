//! Section "Many at once".

use mngr_e2e::{expect, session};
use serde_json::Value;

use crate::support::*;

#[test]
fn a_label_is_set_at_birth() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Labels say what belongs together
        mngr create page --label team=web --no-connect -- sh
        "#,
    );
    expect(&e2e.run("mngr create page --label team=web --no-connect -- sh")).to_succeed();
    shell(&e2e, "other");
    expect(&succeed(&e2e, "mngr list --label team=web --format '{name}'").stdout).to_equal("page\n");
}

#[test]
fn a_filter_chooses_and_a_template_prints() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Filters are expressions (CEL), and a template says what is printed
        mngr list --include 'labels.team == "web"' --format '{name} {state}'
        "#,
    );
    succeed(&e2e, "mngr create page --label team=web --no-connect -- sh");
    shell(&e2e, "other");
    let list = e2e.run(r#"mngr list --include 'labels.team == "web"' --format '{name} {state}'"#);
    expect(&list).to_succeed();
    expect(&list.stdout).to_equal("page RUNNING\n");
}

#[test]
fn a_mistake_in_a_filter_or_template_is_pointed_at() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Filters are expressions (CEL), and a template says what is printed
        mngr list --include 'labels.team == "web"' --format '{name} {state}'
        "#,
    );
    let filter = e2e.run(r#"mngr list --include 'labels.team = "web"'"#);
    expect(&filter).to_fail();
    expect(&filter.stderr).to_contain("did you mean `==`?");
    let template = e2e.run("mngr list --format '{nam}'");
    expect(&template).to_have_exit_code(2);
    expect(&template.stderr).to_contain("unknown field `nam`, did you mean `name`?");
}

#[test]
fn chosen_fields_tell_who_waits_and_who_failed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Who waits for what, and who failed?
        mngr list --fields name,state,waiting_reason,exit_status
        "#,
    );
    succeed(&e2e, "mngr create asks scripted --no-connect -- 'ask really?'");
    succeed(&e2e, "mngr create fails scripted --no-connect -- 'exit 3'");
    wait_for(&e2e, "asks", "WAITING");
    wait_for(&e2e, "fails", "DONE");
    let list = e2e.run("mngr list --fields name,state,waiting_reason,exit_status");
    expect(&list).to_succeed();
    expect(&list.stdout)
        .to_match(r"^NAME +STATE +WAITING FOR +EXIT *\n")
        .to_match(r"(?m)^asks +WAITING .*QUESTION *$")
        .to_match(r"(?m)^fails +DONE .* 3$");
}

#[test]
fn the_order_and_the_number_can_be_chosen() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Sorted, and no more than a screenful
        mngr list --sort 'state, name desc' --limit 20
        "#,
    );
    for name in ["a", "b", "c"] {
        shell(&e2e, name);
    }
    succeed(&e2e, "mngr stop b");
    let first_column = |text: &str| -> Vec<String> {
        text.lines().skip(1).filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
    };
    let list = succeed(&e2e, "mngr list --sort 'state, name desc' --limit 20");
    assert_eq!(first_column(&list.stdout), ["c", "a", "b"]);
    let two = succeed(&e2e, "mngr list --sort 'state, name desc' --limit 2");
    assert_eq!(first_column(&two.stdout), ["c", "a"]);
    expect(&e2e.comment("no such field").run("mngr list --sort nme")).to_have_exit_code(2);
}

#[test]
fn a_project_is_the_repository_one_stands_in() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Only agents of the repository you stand in
        mngr list --project . --running
        "#,
    );
    shell(&e2e, "ours");
    shell(&e2e, "stopped");
    succeed(&e2e, "mngr stop stopped");
    succeed(&e2e, "git clone -q . ~/elsewhere");
    expect(&e2e.cwd("../home/elsewhere").run("mngr create theirs --no-connect -- sh")).to_succeed();
    let list = e2e.run("mngr list --project . --running");
    expect(&list).to_succeed();
    expect(&list.stdout).to_match("(?m)^ours ").not_to_contain("theirs").not_to_contain("stopped");
}

#[test]
fn every_field_is_described_and_given_as_json() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # All fields there are, and all of them as JSON
        mngr list --schema
        mngr list --format json
        "#,
    );
    shell(&e2e, "try-it");
    let schema = succeed(&e2e, "mngr list --schema");
    expect(&schema.stdout).to_match(r"(?m)^work_dir +string +the folder it works in$");
    let listing: Value = json(&succeed(&e2e, "mngr list --format json").stdout);
    let agent = &listing["agents"][0];
    assert_eq!((&agent["name"], &agent["state"]), (&"try-it".into(), &"RUNNING".into()));
    assert_eq!(listing["errors"], Value::Array(Vec::new()));
}

#[test]
fn hosts_are_listed_with_their_agents() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Where do they run? Every host, whatever it does, and who is on it
        mngr list --hosts
        "#,
    );
    shell(&e2e, "try-it");
    let hosts = succeed(&e2e, "mngr list --hosts");
    expect(&hosts.stdout).to_match(r"(?m)^localhost +local +RUNNING +try-it$");
}

#[test]
fn agents_and_hosts_are_addressed_by_their_host() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # With its host behind an @ an agent is found at once, and one of the same name elsewhere is not meant. A host alone is @HOST
        mngr list --hosts --format '{name} {state}'
        mngr file list try-it@localhost
        mngr file list @localhost
        "#,
    );
    shell(&e2e, "try-it");
    let hosts = succeed(&e2e, "mngr list --hosts --format '{name} {state}'");
    expect(&hosts.stdout).to_equal("localhost RUNNING\n");
    let files = succeed(&e2e, "mngr file list try-it").stdout;
    expect(&succeed(&e2e, "mngr file list try-it@localhost").stdout).to_equal(&files);
    expect(&e2e.run("mngr file list try-it@elsewhere.local")).to_have_exit_code(9);
    expect(&succeed(&e2e, "mngr file list @localhost").stdout).to_contain("host_id");
}

#[test]
fn this_machine_neither_stops_nor_starts() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A host that mngr made, such as a container, stops with an agent if you like, and starts with it or alone. This machine does neither
        mngr stop try-it --stop-host || echo "ended with $?"
        mngr start --host localhost || echo "ended with $?"
        "#,
    );
    shell(&e2e, "try-it");
    let stopped = succeed(&e2e, "mngr stop try-it --stop-host || echo \"ended with $?\"");
    expect(&stopped.stdout).to_equal("ended with 1\n");
    expect(&stopped.stderr).to_contain("host `localhost.local` cannot be stopped");
    let started = succeed(&e2e, "mngr start --host localhost || echo \"ended with $?\"");
    expect(&started.stdout).to_equal("ended with 1\n");
    expect(&agent(&e2e, "try-it")["state"].to_string()).to_equal("\"RUNNING\"");
}

#[test]
fn a_list_feeds_a_message() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Lists feed other commands
        mngr list --running --ids | mngr message - -m "please commit what you have"
        "#,
    );
    succeed(&e2e, "mngr create one --no-connect -- cat");
    succeed(&e2e, "mngr create two --no-connect -- cat");
    shell(&e2e, "asleep");
    succeed(&e2e, "mngr stop asleep");
    let sent = e2e.run(r#"mngr list --running --ids | mngr message - -m "please commit what you have""#);
    expect(&sent).to_succeed();
    expect(&sent.stdout).to_contain("Successfully sent message to 2 agent(s)");
    for name in ["one", "two"] {
        until_printed(&e2e, &format!("mngr capture {name}"), "please commit what you have");
    }
}

#[test]
fn a_line_that_names_nobody_does_not_keep_the_others_from_their_message() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Lists feed other commands
        mngr list --running --ids | mngr message - -m "please commit what you have"
        "#,
    );
    let empty =
        e2e.comment("no agents are no failure").run("mngr list --running --ids | mngr message - -m hello");
    expect(&empty).to_succeed();
    succeed(&e2e, "mngr create one --no-connect -- cat");
    let sent = e2e
        .run(r#"(echo nobody; mngr list --running --ids) | mngr message - -m "please commit what you have""#);
    expect(&sent).to_have_exit_code(9);
    expect(&sent.stderr).to_contain("nobody");
    until_printed(&e2e, "mngr capture one", "please commit what you have");
}

#[test]
fn a_watched_list_changes_by_itself() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Keep it on the screen. It changes when the agents do; leave with Ctrl-c
        mngr list --watch
        "#,
    );
    shell(&e2e, "try-it");
    let terminal = e2e.terminal("mngr list --watch");
    terminal.expect_screen_to_match(r"try-it +RUNNING");
    succeed(&e2e, "mngr stop try-it");
    terminal.expect_screen_to_match(r"try-it +STOPPED");
    terminal.press("C-c");
    expect(&terminal.wait()).to_have_exit_code(130);
}

#[test]
fn changes_are_followed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Every change of every agent, as it happens. Leave with Ctrl-c
        mngr observe
        "#,
    );
    shell(&e2e, "try-it");
    let terminal = e2e.terminal("mngr observe");
    terminal.expect_screen_to_match(r"1 agents in all");
    succeed(&e2e, "mngr stop try-it");
    terminal.expect_screen_to_match(r"try-it: RUNNING -> STOPPED");
    terminal.press("C-c");
    expect(&terminal.wait()).to_have_exit_code(130);
}

#[test]
fn changes_are_lines_for_programs() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The same for programs: only what they ask for
        mngr observe --stream-events | grep AGENT_STATE_CHANGE
        "#,
    );
    shell(&e2e, "try-it");
    let terminal = e2e.terminal("mngr observe --stream-events | grep AGENT_STATE_CHANGE");
    until_printed(&e2e, "cat \"$MNGR_HOST_DIR\"/events/mngr/agents/* || true", "try-it");
    succeed(&e2e, "mngr stop try-it");
    // The line is long: the edge of the screen may be in the middle of a word.
    let wrapped = |text: &str| text.split("").collect::<Vec<_>>().join(r"\s*");
    terminal.expect_screen_to_match(&wrapped("\"new_state\":\"STOPPED\""));
    expect(&terminal.screen()).not_to_match(&wrapped("AGENTS_FULL_STATE"));
    terminal.press("C-c");
    let _ = terminal.wait();
}

#[test]
fn an_agent_goes_to_a_host_of_a_pool() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Several hosts can have one name. An agent goes to the one with the fewest agents; here there is only this machine
        mngr config set --scope user pools.crew.hosts '["localhost"]'
        mngr create anywhere@crew --no-connect -- sh
        "#,
    );
    succeed(&e2e, r#"mngr config set --scope user pools.crew.hosts '["localhost"]'"#);
    expect(&e2e.run("mngr create anywhere@crew --no-connect -- sh")).to_succeed();
    assert_eq!(agent(&e2e, "anywhere")["state"], "RUNNING");
    succeed(&e2e, "mngr config set --scope user pools.crew.agents_per_host 1");
    let full = e2e.comment("and says when there is no room").run("mngr create more@crew --no-connect -- sh");
    expect(&full).to_fail();
    expect(&full.stderr).to_contain("pool `crew` is full: 1 agent at work on 1 host");
}
