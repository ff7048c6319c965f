//! Section "Stopping, tidying up, bringing back".

use mngr_e2e::{expect, session};

use crate::support::*;

#[test]
fn a_stopped_agent_keeps_its_folder() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Stop it for the night. Its terminal goes; its folder and its conversation stay
        mngr stop greeter
        mngr list --stopped
        "#,
    );
    listener(&e2e, "greeter");
    shell(&e2e, "awake");
    succeed(&e2e, "mngr exec greeter 'echo draft >draft.txt'");
    let pid = agent(&e2e, "greeter")["pid"].clone();
    let stopped = e2e.run("mngr stop greeter");
    expect(&stopped).to_succeed();
    expect(&stopped.stdout).to_contain("Stopped agent: greeter");
    let list = succeed(&e2e, "mngr list --stopped");
    expect(&list.stdout).to_match(r"(?m)^greeter +STOPPED").not_to_contain("awake");
    expect(&e2e.run(&format!("kill -0 {pid}"))).to_fail();
    expect(&succeed(&e2e, "mngr exec greeter 'cat draft.txt'").stdout).to_equal("draft\n");
}

#[test]
fn an_agent_that_is_stopped_already_counts_as_stopped() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Stop it for the night. Its terminal goes; its folder and its conversation stay
        mngr stop greeter
        mngr list --stopped
        "#,
    );
    shell(&e2e, "greeter");
    succeed(&e2e, "mngr stop greeter");
    let again = e2e.comment("again").run("mngr stop greeter");
    expect(&again).to_succeed();
    expect(&again.stdout).to_contain("Stopped agent: greeter (it was not running)");
    expect(&e2e.comment("nobody").run("mngr stop nobody")).to_have_exit_code(9);
}

#[test]
fn a_start_may_come_with_a_word() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Go on in the morning, with a word
        mngr start greeter --resume-message 'where were we?'
        "#,
    );
    listener(&e2e, "greeter");
    succeed(&e2e, "mngr stop greeter");
    let started = e2e.run("mngr start greeter --resume-message 'where were we?'");
    expect(&started).to_succeed();
    until_printed(&e2e, "mngr capture greeter", "got: where were we?\n");
    expect(&e2e.comment("nobody").run("mngr start nobody")).to_have_exit_code(9);
}

#[test]
fn a_restart_gives_a_new_process() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Start it afresh although it runs
        mngr start greeter --restart
        "#,
    );
    listener(&e2e, "greeter");
    let before = agent(&e2e, "greeter");
    let left = e2e.comment("an agent that runs is left alone").run("mngr start greeter");
    expect(&left.stdout).to_contain("it was running already");
    assert_eq!(agent(&e2e, "greeter")["pid"], before["pid"]);
    expect(&e2e.run("mngr start greeter --restart")).to_succeed();
    wait_for(&e2e, "greeter", "WAITING");
    let after = agent(&e2e, "greeter");
    assert_ne!(after["pid"], before["pid"]);
    assert_eq!(after["id"], before["id"]);
}

#[test]
fn a_list_says_who_stops_and_who_starts() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Several at once: a list says which ones
        mngr list --label team=web --ids | mngr stop -
        mngr list --label team=web --ids | mngr start -
        "#,
    );
    for name in ["page", "style"] {
        succeed(&e2e, &format!("mngr create {name} --label team=web --no-connect -- sh"));
    }
    shell(&e2e, "other");
    let states = || succeed(&e2e, "mngr list --sort name --format '{name} {state}'").stdout.to_string();
    expect(&e2e.run("mngr list --label team=web --ids | mngr stop -")).to_succeed();
    assert_eq!(states(), "other RUNNING\npage STOPPED\nstyle STOPPED\n");
    expect(&e2e.run("mngr list --label team=web --ids | mngr start -")).to_succeed();
    assert_eq!(states(), "other RUNNING\npage RUNNING\nstyle RUNNING\n");
}

#[test]
fn a_name_changes_and_nothing_else() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A better name. Branch and folder stay as they are. A label may come with it
        mngr rename greeter reception
        mngr rename second-try runner-up --label reviewed=yes
        "#,
    );
    shell(&e2e, "greeter");
    let before = agent(&e2e, "greeter");
    expect(&e2e.run("mngr rename greeter reception")).to_succeed();
    assert_eq!(names(&e2e), ["reception"]);
    let after = agent(&e2e, "reception");
    for field in ["id", "work_dir", "initial_branch", "pid"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    expect(&succeed(&e2e, "mngr explain reception").stdout).to_contain("'=mngr-reception'");
    shell(&e2e, "second-try");
    expect(&e2e.run("mngr rename second-try runner-up --label reviewed=yes")).to_succeed();
    assert_eq!(agent(&e2e, "runner-up")["labels"]["reviewed"], "yes");
}

#[test]
fn a_name_that_is_taken_or_is_none_is_refused() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A better name. Branch and folder stay as they are. A label may come with it
        mngr rename greeter reception
        mngr rename second-try runner-up --label reviewed=yes
        "#,
    );
    shell(&e2e, "greeter");
    shell(&e2e, "reception");
    expect(&e2e.run("mngr rename greeter reception")).to_have_exit_code(1);
    expect(&e2e.run("mngr rename greeter 'front desk'")).to_have_exit_code(2);
    assert_eq!(names(&e2e), ["greeter", "reception"]);
}

#[test]
fn labels_come_and_go() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Labels can be set at any time, and removed. A title says in a few words what the agent works on
        mngr label page --label urgent=yes
        mngr label page --remove urgent
        mngr label page --title 'the new front page'
        "#,
    );
    succeed(&e2e, "mngr create page --label team=web --no-connect -- sh");
    expect(&e2e.run("mngr label page --label urgent=yes")).to_succeed();
    assert_eq!(agent(&e2e, "page")["labels"]["urgent"], "yes");
    expect(&e2e.run("mngr label page --remove urgent")).to_succeed();
    let labels = agent(&e2e, "page")["labels"].clone();
    assert!(labels.get("urgent").is_none(), "{labels}");
    assert_eq!(labels["team"], "web");
    expect(&e2e.run("mngr label page --title 'the new front page'")).to_succeed();
    assert_eq!(agent(&e2e, "page")["title"], "the new front page");
    expect(&e2e.comment("not a label").run("mngr label page --label urgent")).to_have_exit_code(2);
}

#[test]
fn an_archived_agent_is_found_when_asked_for() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Out of sight, but not gone
        mngr stop page --archive
        mngr list --archived
        "#,
    );
    shell(&e2e, "page");
    shell(&e2e, "other");
    expect(&e2e.run("mngr stop page --archive")).to_succeed();
    let archived = e2e.run("mngr list --archived");
    expect(&archived).to_succeed();
    expect(&archived.stdout).to_match(r"(?m)^page +STOPPED").not_to_contain("other");
    expect(&succeed(&e2e, "mngr list --active").stdout).to_contain("other").not_to_contain("page");
}

#[test]
fn an_archived_agent_comes_back_into_sight() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Back into sight. One that does not run can be archived as it is
        mngr unarchive page
        mngr archive page
        "#,
    );
    shell(&e2e, "page");
    let refused = e2e.comment("it runs").run("mngr archive page");
    expect(&refused).to_have_exit_code(1);
    succeed(&e2e, "mngr stop page --archive");
    expect(&e2e.run("mngr unarchive page")).to_succeed();
    expect(&succeed(&e2e, "mngr list --active").stdout).to_contain("page");
    expect(&e2e.run("mngr archive page")).to_succeed();
    expect(&succeed(&e2e, "mngr list --active").stdout).not_to_contain("page");
}

#[test]
fn all_that_do_not_run_can_be_archived_and_a_look_changes_nothing() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Out of sight with all that do not run. Look first
        mngr archive --all --dry-run
        "#,
    );
    shell(&e2e, "at-work");
    shell(&e2e, "asleep");
    succeed(&e2e, "mngr stop asleep");
    let look = succeed(&e2e, "mngr archive --all --dry-run");
    expect(&look.stdout).to_contain("asleep").not_to_contain("at-work");
    expect(&succeed(&e2e, "mngr list --active").stdout).to_contain("asleep");
    succeed(&e2e, "mngr archive --all");
    expect(&succeed(&e2e, "mngr list --active").stdout).to_contain("at-work").not_to_contain("asleep");
}

#[test]
fn all_that_are_archived_come_back_together() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # All of them, back into sight
        mngr list --archived --ids | mngr unarchive -
        "#,
    );
    for name in ["page", "style"] {
        shell(&e2e, name);
        succeed(&e2e, &format!("mngr stop {name} --archive"));
    }
    expect(&succeed(&e2e, "mngr list --active --ids").stdout).to_be_empty();
    expect(&e2e.run("mngr list --archived --ids | mngr unarchive -")).to_succeed();
    expect(&succeed(&e2e, "mngr list --active --format '{name}' --sort name").stdout)
        .to_equal("page\nstyle\n");
}

#[test]
fn all_that_match_go_at_once() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Away with all that match. At a terminal, without --yes, you mark them in a menu
        mngr cleanup --older-than 30d --dry-run
        mngr cleanup --idle-for 2h --stop --yes
        mngr cleanup --type scripted --idle-for 7d --yes
        "#,
    );
    shell(&e2e, "shell");
    listener(&e2e, "played");
    expect(&succeed(&e2e, "mngr cleanup --older-than 30d --dry-run").stdout).to_equal("No agents found\n");
    expect(&succeed(&e2e, "mngr cleanup --idle-for 2h --stop --yes").stdout).to_equal("No agents found\n");
    expect(&succeed(&e2e, "mngr cleanup --type scripted --idle-for 7d --yes").stdout)
        .to_equal("No agents found\n");
    let refused = e2e.comment("nobody can be asked").run("mngr cleanup --type scripted");
    expect(&refused).to_have_exit_code(1);
    let stopped = e2e.comment("one matches").run("mngr cleanup --type scripted --stop --yes");
    expect(&stopped.stdout).to_contain("Stopped agent: played");
    assert_eq!(names(&e2e), ["shell", "played"]);
    let gone = e2e.comment("and is not needed").run("mngr cleanup --type scripted --yes");
    expect(&gone.stdout).to_contain("Destroyed agent: played");
    assert_eq!(names(&e2e), ["shell"]);
}

#[test]
fn all_that_have_ended_go_together() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # All that have ended, in one go. Look first
        mngr list --project . --ids --include 'state == "DONE"' | mngr destroy --dry-run -
        mngr list --project . --ids --include 'state == "DONE"' | mngr destroy -
        "#,
    );
    shell(&e2e, "at-work");
    for name in ["one", "two"] {
        succeed(&e2e, &format!("mngr create {name} --no-connect -- true"));
        wait_for(&e2e, name, "DONE");
    }
    let look =
        e2e.run(r#"mngr list --project . --ids --include 'state == "DONE"' | mngr destroy --dry-run -"#);
    expect(&look).to_succeed();
    expect(&look.stdout).to_contain("Would destroy agent: one").to_contain("two").not_to_contain("at-work");
    assert_eq!(names(&e2e).len(), 3);
    let done = e2e.run(r#"mngr list --project . --ids --include 'state == "DONE"' | mngr destroy -"#);
    expect(&done).to_succeed();
    expect(&done.stdout).to_contain("Successfully destroyed 2 agent(s)");
    assert_eq!(names(&e2e), ["at-work"]);
}

#[test]
fn a_removed_branch_comes_back_with_its_commits() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The branch of a destroyed agent stays, unless you say so. Commits that only it has are kept even then
        mngr destroy try-it --force --remove-created-branch
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr exec try-it 'git commit -q --allow-empty -m Work'");
    let destroyed = e2e.run("mngr destroy try-it --force --remove-created-branch");
    expect(&destroyed).to_succeed();
    expect(&destroyed.stdout).to_contain("Deleted branch: mngr/try-it");
    expect(&succeed(&e2e, "git branch --list 'mngr/*'").stdout).to_be_empty();
    succeed(&e2e, "mngr undo try-it");
    expect(&succeed(&e2e, "git log -1 --format=%s mngr/try-it").stdout).to_equal("Work\n");
}

#[test]
fn a_branch_stays_without_the_option() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # The branch of a destroyed agent stays, unless you say so. Commits that only it has are kept even then
        mngr destroy try-it --force --remove-created-branch
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr destroy try-it --force");
    expect(&succeed(&e2e, "git branch --list 'mngr/*'").stdout).to_contain("mngr/try-it");
}

#[test]
fn undo_lists_what_can_come_back() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What can come back?
        mngr undo
        mngr undo --sizes
        "#,
    );
    expect(&e2e.comment("nothing yet").run("mngr undo").stdout).not_to_contain("try-it");
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr destroy --force try-it");
    let list = e2e.run("mngr undo");
    expect(&list).to_succeed();
    expect(&list.stdout).to_match(r"(?m)^try-it +agent-\w+ .* mngr/try-it$");
    expect(&succeed(&e2e, "mngr undo --sizes").stdout).to_match(r"(?m)^try-it .* [\d.]+ kB ");
    assert!(names(&e2e).is_empty(), "a list changes nothing");
}

#[test]
fn gc_deletes_what_is_old_and_says_so_first() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Destroyed agents are deleted after 30 days. See what would go, then let it go
        mngr gc --dry-run
        mngr gc
        "#,
    );
    shell(&e2e, "try-it");
    succeed(&e2e, "mngr destroy --force try-it");
    expect(&e2e.comment("it is not 30 days old").run("mngr gc").stdout).to_contain("Nothing to delete");

    succeed(&e2e, "mngr config set trash.max_age_days 0 --scope user");
    let look = e2e.comment("now it is old enough").run("mngr gc --dry-run");
    expect(&look).to_succeed();
    expect(&look.stdout).to_contain("try-it");
    expect(&succeed(&e2e, "mngr undo").stdout).to_contain("try-it");
    expect(&e2e.run("mngr gc")).to_succeed();
    expect(&e2e.run("mngr undo try-it")).to_have_exit_code(9);
}

#[test]
fn doctor_finds_a_session_without_an_agent_and_ends_it() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Is anything missing, broken or left behind? Look, then let mngr put right what loses nothing
        mngr doctor
        mngr doctor --fix
        "#,
    );
    shell(&e2e, "try-it");
    expect(&succeed(&e2e, "mngr doctor").stdout).to_match(r"(?m)^ok +sessions +1 session");
    succeed(&e2e, "rm -r \"$MNGR_HOST_DIR\"/agents/agent-*");
    let look = e2e.comment("its session is left").run("mngr doctor");
    expect(&look).to_have_exit_code(1);
    expect(&look.stdout)
        .to_match(r"(?m)^fail +sessions +session `\S*try-it` belongs to an agent that is gone");
    expect(&succeed(&e2e, "mngr doctor --fix").stdout).to_match(r"(?m)^fixed +sessions ");
    expect(&succeed(&e2e, "mngr doctor").stdout).to_match(r"(?m)^ok +sessions +0 session");
}

#[test]
fn an_agent_can_be_wanted_at_boot_and_no_longer() {
    let mut e2e = session!();
    with_crontab(&mut e2e);
    e2e.write_tutorial_block(
        r#"
        # One that should run whenever this machine does: a line in your crontab sees to it
        mngr limit reception --start-on-boot
        mngr limit reception --no-start-on-boot
        "#,
    );
    shell(&e2e, "reception");
    let wanted = succeed(&e2e, "mngr limit reception --start-on-boot");
    expect(&wanted.stdout).to_equal("Host localhost.local starts reception when it boots\n");
    expect(&succeed(&e2e, "crontab -l").stdout)
        .to_match(r"(?s)\A0 5 \* \* \* backup\n@reboot sh \S+/start_on_boot\.sh # mngr start-on-boot\n\z");
    expect(&agent(&e2e, "reception")["start_on_boot"].to_string()).to_equal("true");
    let unwanted = succeed(&e2e, "mngr limit reception --no-start-on-boot");
    expect(&unwanted.stdout).to_equal("Host localhost.local does not start reception when it boots\n");
    expect(&succeed(&e2e, "crontab -l").stdout).to_equal("0 5 * * * backup\n");
    expect(&agent(&e2e, "reception")["start_on_boot"].to_string()).to_equal("false");
}
