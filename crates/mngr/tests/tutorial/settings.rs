//! Section "Settings".

use std::fs;

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn every_value_has_an_origin() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What is set, and where
        mngr config list
        mngr config list --format '{key}={value} ({origin})'
        mngr config path
        mngr config path --scope user
        "#,
    );
    succeed(&e2e, "mngr config set stop.grace_seconds 7 --scope user");
    let path = succeed(&e2e, "mngr config path");
    let user = path
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("user: "))
        .unwrap()
        .trim_end_matches(" (exists)")
        .to_owned();
    assert!(fs::read_to_string(&user).unwrap().contains("grace_seconds = 7"), "{user}");
    let list = succeed(&e2e, "mngr config list");
    expect(&list.stdout)
        .to_match(r"(?m)^  stop.grace_seconds = 7(\.0)?  # /.*settings.toml:\d+")
        .to_contain("# built-in defaults")
        .to_contain("# environment variable `MNGR_HOST_DIR`");
    expect(&succeed(&e2e, "mngr config list --format '{key}={value} ({origin})'").stdout)
        .to_match(r"(?m)^stop.grace_seconds=7(\.0)? \(/.*settings.toml:\d+:\d+\)$");
    expect(&succeed(&e2e, "mngr config path --scope user").stdout).to_equal(&format!("{user}\n"));
}

#[test]
fn an_option_can_have_another_default() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Options you always give: here, the order of the list
        mngr config set commands.list.sort name --scope user
        mngr config get commands.list.sort
        "#,
    );
    shell(&e2e, "b");
    shell(&e2e, "a");
    assert_eq!(names(&e2e), ["b", "a"]);
    expect(&e2e.run("mngr config set commands.list.sort name --scope user")).to_succeed();
    expect(&succeed(&e2e, "mngr config get commands.list.sort").stdout).to_equal("name\n");
    assert_eq!(names(&e2e), ["a", "b"]);
}

#[test]
fn a_key_that_does_not_exist_is_refused_with_a_suggestion() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Options you always give: here, the order of the list
        mngr config set commands.list.sort name --scope user
        mngr config get commands.list.sort
        "#,
    );
    let typo = e2e.run("mngr config set commands.list.srt name --scope user");
    expect(&typo).to_have_exit_code(1);
    expect(&typo.stderr).to_contain("did you mean `commands.list.sort`?");
    expect(&e2e.run("mngr config get commands.list.sort")).to_have_exit_code(1);
    expect(&succeed(&e2e, "mngr config list --scope user").stdout).not_to_contain("srt");
}

#[test]
fn a_setting_can_hold_for_one_command() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Only for this once
        mngr list --setting commands.list.sort='name desc'
        "#,
    );
    shell(&e2e, "a");
    shell(&e2e, "b");
    let list = e2e.run("mngr list --setting commands.list.sort='name desc'");
    expect(&list).to_succeed();
    expect(&list.stdout).to_match(r"(?ms)^b +.*^a +");
    assert_eq!(names(&e2e), ["a", "b"]);
    let typo = e2e.comment("no such setting").run("mngr list --setting commands.list.srot=name");
    expect(&typo).to_fail();
    expect(&typo.stderr).to_contain("`commands.list.sort`");
}

#[test]
fn lists_are_extended_replaced_and_reset() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Add to a list, replace it, and go back to what it was
        mngr config extend unset_vars '["PYTHONPATH"]' --scope user
        mngr config assign unset_vars '[]' --scope user
        mngr config unset unset_vars --scope user
        "#,
    );
    let get = || json(&succeed(&e2e, "mngr config get unset_vars").stdout).as_array().unwrap().clone();
    let defaults = get();
    assert!(!defaults.is_empty() && !defaults.contains(&"PYTHONPATH".into()), "{defaults:?}");
    expect(&e2e.run(r#"mngr config extend unset_vars '["PYTHONPATH"]' --scope user"#)).to_succeed();
    assert_eq!(get(), [defaults.clone(), vec!["PYTHONPATH".into()]].concat());
    expect(&e2e.run("mngr config assign unset_vars '[]' --scope user")).to_succeed();
    assert!(get().is_empty());
    expect(&e2e.run("mngr config unset unset_vars --scope user")).to_succeed();
    assert_eq!(get(), defaults);
}

#[test]
fn an_edited_file_is_checked() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Edit the file. What you save is checked
        mngr config edit --scope user
        "#,
    );
    let editor = e2e.home().join("editor");
    write(&editor, "#!/bin/sh\necho 'prefix = \"work-\"' >\"$1\"\n");
    succeed(&e2e, "chmod +x ~/editor");
    e2e.set_env("EDITOR", &editor.display().to_string());
    expect(&e2e.run("mngr config edit --scope user")).to_succeed();
    expect(&succeed(&e2e, "mngr config get prefix").stdout).to_equal("work-\n");

    write(&editor, "#!/bin/sh\necho 'prefxi = \"work-\"' >\"$1\"\n");
    let mistake = e2e.comment("a slip").run("mngr config edit --scope user");
    expect(&mistake).to_have_exit_code(1);
    expect(&mistake.stderr).to_contain("`prefxi`");
}

#[test]
fn a_template_bundles_options() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A template is a bundle of options for create
        mngr config set create_templates.web '{"label": ["team=web"], "env": ["PORT=8080"]}' --scope user
        mngr create shop --template web --no-connect -- sh
        "#,
    );
    succeed(
        &e2e,
        r#"mngr config set create_templates.web '{"label": ["team=web"], "env": ["PORT=8080"]}' --scope user"#,
    );
    expect(&e2e.run("mngr create shop --template web --no-connect -- sh")).to_succeed();
    assert_eq!(agent(&e2e, "shop")["labels"]["team"], "web");
    expect(&succeed(&e2e, "mngr exec shop 'echo $PORT'").stdout).to_equal("8080\n");
    let unknown = e2e.comment("no such template").run("mngr create other --template wbe --no-connect -- sh");
    expect(&unknown).to_have_exit_code(2);
    expect(&unknown.stderr).to_contain("there are: web");
}

#[test]
fn a_type_of_ones_own_is_one_word() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent type of your own: a program with its arguments, by one word
        mngr config set agent_types.clock '{"parent_type": "command", "command": "sleep 1000"}' --scope user
        mngr config get agent_types.clock.command --scope user
        mngr create tick clock --no-connect
        "#,
    );
    expect(&e2e.comment("nobody knows it yet").run("mngr create tick clock --no-connect"))
        .to_have_exit_code(1);
    succeed(
        &e2e,
        r#"mngr config set agent_types.clock '{"parent_type": "command", "command": "sleep 1000"}' --scope user"#,
    );
    expect(&succeed(&e2e, "mngr config get agent_types.clock.command --scope user").stdout)
        .to_equal("sleep 1000\n");
    expect(&e2e.run("mngr create tick clock --no-connect")).to_succeed();
    let agent = agent(&e2e, "tick");
    assert_eq!((&agent["type"], &agent["state"]), (&"clock".into(), &"RUNNING".into()));
    assert_eq!(agent["command"], "sleep 1000");
}

#[test]
fn settings_of_a_repository_are_used_once_they_are_trusted() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Settings that come with a repository could run programs. Read them, then say that you trust them
        mngr config list --scope project
        mngr config trust
        "#,
    );
    write(&e2e.project().join(".mngr/settings.toml"), "prefix = \"theirs-\"\n");
    succeed(&e2e, "git add . && git commit -qm 'Settings of somebody else'");
    let refused = e2e.comment("not trusted").run("mngr create try-it --no-connect -- sh");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("mngr config trust");

    expect(&succeed(&e2e, "mngr config list --scope project").stdout).to_contain("prefix = \"theirs-\"");
    expect(&e2e.run("mngr config trust")).to_succeed();
    shell(&e2e, "try-it");
    expect(&succeed(&e2e, "mngr explain try-it").stdout).to_contain("'=theirs-try-it'");
}

#[test]
fn agent_types_and_providers_are_switched() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Which agent types and providers are there? What is disabled is unknown to create, for good or for this once
        mngr plugin list
        mngr plugin list --kind agent-type --active --format '{name}'
        mngr plugin disable docker --scope user
        mngr plugin enable docker --scope user
        mngr create no-docker --disable-plugin docker --no-connect -- sh
        "#,
    );
    expect(&succeed(&e2e, "mngr plugin list").stdout).to_match(r"(?m)^docker +provider +\S+ +true");
    let types = succeed(&e2e, "mngr plugin list --kind agent-type --active --format '{name}'");
    expect(&types.stdout).to_match("(?m)^scripted$").not_to_contain("docker");
    expect(&e2e.run("mngr plugin disable docker --scope user")).to_succeed();
    expect(&succeed(&e2e, "mngr plugin list").stdout).to_match(r"(?m)^docker +provider +\S+ +false");
    expect(&e2e.run("mngr plugin enable docker --scope user")).to_succeed();
    expect(&e2e.run("mngr create no-docker --disable-plugin docker --no-connect -- sh")).to_succeed();
    assert_eq!(names(&e2e), ["no-docker"]);
}

#[test]
fn a_shell_is_taught_to_complete() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Have TAB complete commands, options, agents and settings. Say for which shell, or let SHELL say it
        mngr completion install bash
        "#,
    );
    let installed = succeed(&e2e, "mngr completion install bash");
    let path =
        installed.stdout.strip_prefix("Wrote ").and_then(|rest| rest.lines().next()).unwrap().to_owned();
    let script = fs::read_to_string(&path).unwrap();
    expect(&script).to_contain("complete -F _mngr mngr");
    let again = e2e.comment("twice changes nothing").run("mngr completion install bash");
    expect(&again.stdout).to_contain("is up to date");
}

#[test]
fn the_script_of_a_shell_is_printed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Only the script, to be put where you like
        mngr completion fish >~/tutorial/mngr.fish
        "#,
    );
    succeed(&e2e, FILES);
    succeed(&e2e, "mngr completion fish >~/tutorial/mngr.fish");
    let script = succeed(&e2e, "cat ~/tutorial/mngr.fish");
    expect(&script.stdout).to_contain("complete -c mngr");
}
