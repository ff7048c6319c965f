//! Section "Clearing up".

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn all_agents_of_two_projects_go_and_any_of_them_can_come_back() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The agents of this tutorial away, in one go. For 30 days, `mngr undo` brings any of them back
        mngr list --project . --project notes --ids | mngr destroy --force -
        "#,
    );
    shell(&e2e, "at-work");
    listener(&e2e, "waiting");
    shell(&e2e, "stopped");
    succeed(&e2e, "mngr stop stopped");
    succeed(&e2e, "mngr create mine --project other --no-connect -- sh");
    let destroyed = e2e.run("mngr list --project . --project notes --ids | mngr destroy --force -");
    expect(&destroyed).to_succeed();
    expect(&destroyed.stdout).to_contain("Successfully destroyed 3 agent(s)");
    assert_eq!(names(&e2e), ["mine"]);
    succeed(&e2e, "mngr undo waiting");
    assert_eq!(names(&e2e), ["waiting", "mine"]);
}

#[test]
fn one_that_is_gone_already_is_no_failure() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The agents of this tutorial away, in one go. For 30 days, `mngr undo` brings any of them back
        mngr list --project . --project notes --ids | mngr destroy --force -
        "#,
    );
    shell(&e2e, "at-work");
    let destroyed =
        e2e.run("(echo nobody; mngr list --project . --project notes --ids) | mngr destroy --force -");
    expect(&destroyed).to_succeed();
    assert!(names(&e2e).is_empty());
}

#[test]
fn settings_and_files_go_too() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # And its settings and files
        mngr config unset commands.list.sort --scope user
        mngr config unset create_templates.web --scope user
        mngr config unset agent_types.clock --scope user
        rm -r ~/tutorial
        "#,
    );
    succeed(&e2e, FILES);
    succeed(&e2e, "mngr config set commands.list.sort name --scope user");
    succeed(&e2e, r#"mngr config set create_templates.web '{"label": ["team=web"]}' --scope user"#);
    succeed(&e2e, r#"mngr config set agent_types.clock '{"parent_type": "command"}' --scope user"#);
    succeed(&e2e, "mngr config unset commands.list.sort --scope user");
    succeed(&e2e, "mngr config unset create_templates.web --scope user");
    succeed(&e2e, "mngr config unset agent_types.clock --scope user");
    succeed(&e2e, "rm -r ~/tutorial");
    expect(&succeed(&e2e, "mngr config list --scope user").stdout)
        .not_to_contain("sort")
        .not_to_contain("web")
        .not_to_contain("clock");
    let again = e2e.comment("it is not set").run("mngr config unset commands.list.sort --scope user");
    expect(&again).to_fail();
}
