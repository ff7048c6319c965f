//! Section "Bringing work back and forth".

use std::fs;

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};

use crate::support::*;

/// What stands in a file of the project.
#[track_caller]
fn here(e2e: &Session, file: &str) -> String {
    fs::read_to_string(e2e.project().join(file)).unwrap()
}

#[test]
fn pull_touches_no_file_and_prints_the_merge_command() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Bring an agent's branch here. No file is touched; the command that merges it is printed
        mngr pull fix-login
        "#,
    );
    fixed_login(&e2e);
    let pulled = e2e.run("mngr pull fix-login");
    expect(&pulled).to_succeed();
    expect(&pulled.stdout).to_contain("1 commit ahead of main").to_contain("git merge mngr/fix-login");
    assert!(!e2e.project().join("login.py").exists());
    succeed(&e2e, "git merge mngr/fix-login");
    assert_eq!(here(&e2e, "login.py"), "fixed\n");
}

#[test]
fn a_dry_run_says_what_a_merge_would_do() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What would a merge do?
        mngr pull fix-login --merge --dry-run
        "#,
    );
    fixed_login(&e2e);
    let pulled = e2e.run("mngr pull fix-login --merge --dry-run");
    expect(&pulled).to_succeed();
    expect(&pulled.stdout).to_contain("Would fast-forward main to mngr/fix-login (1 commit)");
    expect(&succeed(&e2e, "git log --format=%s").stdout).to_equal("First commit\n");
}

#[test]
fn one_file_is_copied() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # One file, committed or not
        mngr pull fix-login:report.html .
        "#,
    );
    shell(&e2e, "fix-login");
    let missing = e2e.comment("not written yet").run("mngr pull fix-login:report.html .");
    expect(&missing).to_fail();
    expect(&missing.stderr).to_contain("report.html");
    succeed(&e2e, "mngr exec fix-login 'echo all is well >report.html'");
    expect(&e2e.run("mngr pull fix-login:report.html .")).to_succeed();
    assert_eq!(here(&e2e, "report.html"), "all is well\n");
}

#[test]
fn a_file_of_yours_is_not_overwritten() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # One file, committed or not
        mngr pull fix-login:report.html .
        "#,
    );
    shell(&e2e, "fix-login");
    succeed(&e2e, "mngr exec fix-login 'echo theirs >report.html'");
    succeed(&e2e, "echo mine >report.html");
    let refused = e2e.run("mngr pull fix-login:report.html .");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("report.html").to_contain("--uncommitted-changes");
    assert_eq!(here(&e2e, "report.html"), "mine\n");
}

#[test]
fn files_come_as_they_are_and_what_is_in_the_way_is_stashed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # All its files as they are. What is in the way here is set aside with git stash
        mngr pull fix-login --sync-mode files --uncommitted-changes stash
        "#,
    );
    shell(&e2e, "fix-login");
    succeed(&e2e, "mngr exec fix-login 'echo theirs >README.md; echo new >new.txt'");
    succeed(&e2e, "echo mine >README.md");
    let pulled = e2e.run("mngr pull fix-login --sync-mode files --uncommitted-changes stash");
    expect(&pulled).to_succeed();
    assert_eq!((here(&e2e, "README.md"), here(&e2e, "new.txt")), ("theirs\n".into(), "new\n".into()));
    expect(&succeed(&e2e, "git show stash@{0}:README.md").stdout).to_equal("mine\n");
}

#[test]
fn commits_are_merged_into_the_agents_branch() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Your commits to the agent, merged into its branch
        mngr push fix-login
        "#,
    );
    fixed_login(&e2e);
    succeed(&e2e, "git commit -q --allow-empty -m 'News from main'");
    expect(&e2e.run("mngr push fix-login")).to_succeed();
    expect(&succeed(&e2e, "mngr exec fix-login 'git log --format=%s; ls'").stdout)
        .to_contain("News from main\n")
        .to_contain("Fix the login\n")
        .to_contain("login.py\n");
}

#[test]
fn work_of_the_agent_that_is_in_the_way_stops_a_push() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Your commits to the agent, merged into its branch
        mngr push fix-login
        "#,
    );
    shell(&e2e, "fix-login");
    succeed(&e2e, "mngr exec fix-login 'echo theirs >README.md'");
    succeed(&e2e, "echo mine >README.md && git commit -qam Mine");
    let refused = e2e.run("mngr push fix-login");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("README.md");
    expect(&succeed(&e2e, "mngr exec fix-login 'cat README.md'").stdout).to_equal("theirs\n");
}

#[test]
fn files_and_folders_are_copied_to_the_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A file, or a folder that is to be the same on both sides
        mngr push fix-login ~/notes.md
        mngr push fix-login:data/ ~/data/ --delete
        "#,
    );
    shell(&e2e, "fix-login");
    write(&e2e.home().join("notes.md"), "remember\n");
    write(&e2e.home().join("data/1"), "one\n");
    succeed(&e2e, "mngr exec fix-login 'mkdir data; echo old >data/old; git add data; git commit -qm Data'");
    expect(&e2e.run("mngr push fix-login ~/notes.md")).to_succeed();
    expect(&succeed(&e2e, "mngr exec fix-login 'cat notes.md'").stdout).to_equal("remember\n");
    expect(&e2e.run("mngr push fix-login:data/ ~/data/ --delete")).to_succeed();
    expect(&succeed(&e2e, "mngr exec fix-login 'ls data'").stdout).to_equal("1\n");
}

#[test]
fn files_that_only_the_agent_has_are_not_deleted_before_they_are_committed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A file, or a folder that is to be the same on both sides
        mngr push fix-login ~/notes.md
        mngr push fix-login:data/ ~/data/ --delete
        "#,
    );
    shell(&e2e, "fix-login");
    write(&e2e.home().join("data/1"), "one\n");
    succeed(&e2e, "mngr exec fix-login 'mkdir data; echo draft >data/draft'");
    let refused = e2e.run("mngr push fix-login:data/ ~/data/ --delete");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("data/draft").to_contain("nothing was changed");
    expect(&succeed(&e2e, "mngr exec fix-login 'ls data'").stdout).to_equal("draft\n");
}
