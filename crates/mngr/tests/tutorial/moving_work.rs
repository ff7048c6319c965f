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

/// The agent the section is about, at its end.
#[track_caller]
fn made_report(e2e: &Session) {
    let _ = succeed(
        e2e,
        "mngr create report scripted --no-connect -- 'edit sums.py fixed' 'commit Fix the sums' 'write report.html all is well'",
    );
    expect(&succeed(e2e, "mngr wait report").stdout).to_equal("report is DONE\n");
}

#[test]
fn an_agent_has_something_to_show() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # An agent with something to show: a commit, and a file that it did not commit
        mngr create report scripted --no-connect -- 'edit sums.py fixed' 'commit Fix the sums' 'write report.html all is well'
        mngr wait report
        "#,
    );
    made_report(&e2e);
    assert_eq!(agent(&e2e, "report")["exit_status"], 0);
    expect(&succeed(&e2e, "mngr exec report 'git log -1 --format=%s; git status --short'").stdout)
        .to_equal("Fix the sums\n?? report.html\n");
}

#[test]
fn pull_touches_no_file_and_prints_the_merge_command() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Bring its branch here. No file is touched; the command that merges it is printed
        mngr pull report
        "#,
    );
    made_report(&e2e);
    let pulled = e2e.run("mngr pull report");
    expect(&pulled).to_succeed();
    expect(&pulled.stdout).to_contain("1 commit ahead of main").to_contain("git merge mngr/report");
    assert!(!e2e.project().join("sums.py").exists());
    succeed(&e2e, "git merge mngr/report");
    assert_eq!(here(&e2e, "sums.py"), "fixed\n");
}

#[test]
fn a_dry_run_says_what_a_merge_would_do() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What would a merge do?
        mngr pull report --merge --dry-run
        "#,
    );
    made_report(&e2e);
    let pulled = e2e.run("mngr pull report --merge --dry-run");
    expect(&pulled).to_succeed();
    expect(&pulled.stdout).to_contain("Would fast-forward main to mngr/report (1 commit)");
    expect(&succeed(&e2e, "git log --format=%s").stdout).to_equal("First commit\n");
}

#[test]
fn one_file_is_copied() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # One file, committed or not
        mngr pull report:report.html .
        "#,
    );
    shell(&e2e, "report");
    let missing = e2e.comment("not written yet").run("mngr pull report:report.html .");
    expect(&missing).to_fail();
    expect(&missing.stderr).to_contain("report.html");
    succeed(&e2e, "mngr exec report 'echo all is well >report.html'");
    expect(&e2e.run("mngr pull report:report.html .")).to_succeed();
    assert_eq!(here(&e2e, "report.html"), "all is well\n");
}

#[test]
fn a_file_of_yours_is_not_overwritten() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # One file, committed or not
        mngr pull report:report.html .
        "#,
    );
    shell(&e2e, "report");
    succeed(&e2e, "mngr exec report 'echo theirs >report.html'");
    succeed(&e2e, "echo mine >report.html");
    let refused = e2e.run("mngr pull report:report.html .");
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
        mngr pull report --sync-mode files --uncommitted-changes stash
        git add --all && git commit --quiet -m 'The report'
        "#,
    );
    shell(&e2e, "report");
    succeed(&e2e, "mngr exec report 'echo theirs >README.md; echo new >new.txt'");
    succeed(&e2e, "echo mine >README.md");
    let pulled = e2e.run("mngr pull report --sync-mode files --uncommitted-changes stash");
    expect(&pulled).to_succeed();
    assert_eq!((here(&e2e, "README.md"), here(&e2e, "new.txt")), ("theirs\n".into(), "new\n".into()));
    succeed(&e2e, "git add --all && git commit --quiet -m 'The report'");
    expect(&succeed(&e2e, "git show stash@{0}:README.md").stdout).to_equal("mine\n");
}

#[test]
fn commits_are_merged_into_the_agents_branch() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Your commits to the agent, merged into its branch
        mngr push report
        "#,
    );
    made_report(&e2e);
    succeed(&e2e, "git commit -q --allow-empty -m 'News from main'");
    expect(&e2e.run("mngr push report")).to_succeed();
    expect(&succeed(&e2e, "mngr exec report 'git log --format=%s; ls'").stdout)
        .to_contain("News from main\n")
        .to_contain("Fix the sums\n")
        .to_contain("sums.py\n");
}

#[test]
fn work_of_the_agent_that_is_in_the_way_stops_a_push() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Your commits to the agent, merged into its branch
        mngr push report
        "#,
    );
    shell(&e2e, "report");
    succeed(&e2e, "mngr exec report 'echo theirs >README.md'");
    succeed(&e2e, "echo mine >README.md && git commit -qam Mine");
    let refused = e2e.run("mngr push report");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("README.md");
    expect(&succeed(&e2e, "mngr exec report 'cat README.md'").stdout).to_equal("theirs\n");
}

#[test]
fn files_and_folders_are_copied_to_the_agent() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A file, or a folder that is to be the same on both sides
        mngr push report ~/tutorial/task.md
        mngr push report:notes/ ~/tutorial/notes/ --delete
        "#,
    );
    shell(&e2e, "report");
    succeed(&e2e, FILES);
    succeed(&e2e, "mngr exec report 'mkdir notes; echo old >notes/old; git add notes; git commit -qm Notes'");
    expect(&e2e.run("mngr push report ~/tutorial/task.md")).to_succeed();
    expect(&succeed(&e2e, "mngr exec report 'cat task.md'").stdout).to_equal("read the notes\n");
    expect(&e2e.run("mngr push report:notes/ ~/tutorial/notes/ --delete")).to_succeed();
    expect(&succeed(&e2e, "mngr exec report 'ls notes'").stdout).to_equal("one.txt\n");
}

#[test]
fn files_that_only_the_agent_has_are_not_deleted_before_they_are_committed() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A file, or a folder that is to be the same on both sides
        mngr push report ~/tutorial/task.md
        mngr push report:notes/ ~/tutorial/notes/ --delete
        "#,
    );
    shell(&e2e, "report");
    succeed(&e2e, FILES);
    succeed(&e2e, "mngr exec report 'mkdir notes; echo draft >notes/draft'");
    let refused = e2e.run("mngr push report:notes/ ~/tutorial/notes/ --delete");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("notes/draft").to_contain("nothing was changed");
    expect(&succeed(&e2e, "mngr exec report 'ls notes'").stdout).to_equal("draft\n");
}

/// An agent that has made a commit, with a shell left to look at it.
#[track_caller]
fn made_plain(e2e: &mngr_e2e::session::Session) {
    succeed(e2e, "mngr create plain scripted --no-connect -- 'edit plain.py fixed' 'commit Fix it plainly'");
    succeed(e2e, "mngr wait plain");
}

#[test]
fn plain_git_goes_both_ways() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Plain git, to wherever the agent is. What comes after -- is for git itself
        mngr create plain scripted --no-connect -- 'edit plain.py fixed' 'commit Fix it plainly'
        mngr wait plain
        mngr git pull plain -- --no-rebase
        git commit --quiet --allow-empty -m 'News from me'
        mngr git push plain
        mngr git push plain -- HEAD:refs/heads/from-me
        "#,
    );
    made_plain(&e2e);
    expect(&e2e.run("mngr git pull plain -- --no-rebase")).to_succeed();
    expect(&succeed(&e2e, "git log --format=%s").stdout).to_contain("Fix it plainly\n");
    succeed(&e2e, "git commit --quiet --allow-empty -m 'News from me'");
    expect(&e2e.run("mngr git push plain")).to_succeed();
    expect(&succeed(&e2e, "mngr exec plain 'git log -1 --format=%s'").stdout).to_equal("News from me\n");
    expect(&e2e.run("mngr git push plain -- HEAD:refs/heads/from-me")).to_succeed();
    expect(&succeed(&e2e, "mngr exec plain 'git log -1 --format=%s from-me'").stdout)
        .to_equal("News from me\n");
}

#[test]
fn plain_rsync_goes_both_ways() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Plain rsync, in both directions. A slash behind a folder means what is in it
        mngr rsync plain:plain.py ~/tutorial/
        mngr rsync ~/tutorial/notes/ plain:ideas/ -- --exclude='*.tmp'
        "#,
    );
    made_plain(&e2e);
    succeed(&e2e, FILES);
    expect(&e2e.run("mngr rsync plain:plain.py ~/tutorial/")).to_succeed();
    expect(&succeed(&e2e, "cat ~/tutorial/plain.py").stdout).to_contain("fixed");
    succeed(&e2e, "echo junk >~/tutorial/notes/x.tmp");
    expect(&e2e.run("mngr rsync ~/tutorial/notes/ plain:ideas/ -- --exclude='*.tmp'")).to_succeed();
    expect(&succeed(&e2e, "mngr exec plain 'ls ideas'").stdout).to_equal("one.txt\n");
}

#[test]
fn single_files_are_written_listed_and_read() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Single files: write, list, read
        echo 'look at this' | mngr file put plain ideas/two.txt
        mngr file list plain ideas
        mngr file get plain ideas/two.txt
        "#,
    );
    shell(&e2e, "plain");
    expect(&e2e.run("echo 'look at this' | mngr file put plain ideas/two.txt")).to_succeed();
    expect(&succeed(&e2e, "mngr exec plain 'cat ideas/two.txt'").stdout).to_equal("look at this\n");
    expect(&succeed(&e2e, "mngr file list plain ideas").stdout).to_match(r"(?m)^two\.txt +file +13 ");
    expect(&succeed(&e2e, "mngr file get plain ideas/two.txt").stdout).to_equal("look at this\n");
}

#[test]
fn a_file_keeps_the_mode_it_is_given_and_is_saved() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A program stays one with --mode, and --output saves what would be printed
        echo 'echo it works' >~/tutorial/run.sh
        mngr file put plain run.sh --input ~/tutorial/run.sh --mode 0755
        mngr file get plain run.sh --output ~/tutorial/run-again.sh
        "#,
    );
    shell(&e2e, "plain");
    succeed(&e2e, FILES);
    succeed(&e2e, "echo 'echo it works' >~/tutorial/run.sh");
    expect(&e2e.run("mngr file put plain run.sh --input ~/tutorial/run.sh --mode 0755")).to_succeed();
    expect(&succeed(&e2e, "mngr exec plain ./run.sh").stdout).to_equal("it works\n");
    let got = succeed(&e2e, "mngr file get plain run.sh --output ~/tutorial/run-again.sh");
    expect(&got.stdout).not_to_contain("it works");
    expect(&succeed(&e2e, "cat ~/tutorial/run-again.sh").stdout).to_equal("echo it works\n");
}

#[test]
fn folders_are_listed_to_the_bottom_and_the_agents_state_is_read() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A folder with all that is below it; and what mngr itself keeps about the agent
        mngr file list plain --recursive --fields name,size
        mngr file list plain --relative-to state --format '{path}'
        mngr file get plain data.json --relative-to state
        "#,
    );
    shell(&e2e, "plain");
    succeed(&e2e, "echo 'look at this' | mngr file put plain ideas/two.txt");
    let below = succeed(&e2e, "mngr file list plain --recursive --fields name,size");
    expect(&below.stdout).to_match(r"(?m)two\.txt +13$");
    let kept = succeed(&e2e, "mngr file list plain --relative-to state --format '{path}'");
    expect(&kept.stdout).to_match(r"(?m)data\.json$");
    let data = succeed(&e2e, "mngr file get plain data.json --relative-to state");
    assert_eq!(json(&data.stdout)["name"], "plain");
}
