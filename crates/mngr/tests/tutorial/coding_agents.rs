//! Section "Coding agents": the real programs, against a scripted model on loopback.

use mngr_e2e::session::Session;
use mngr_e2e::{expect, session};
use mngr_testkit::model::{Agents, Brand, FirstStart, Folders, ModelServer};

use crate::support::*;

/// Sets a coding agent up for somebody who has started it before, and lets it talk to a model that repeats what it is told.
pub(crate) fn with_model(e2e: &mut Session, brand: Brand) -> ModelServer {
    let model = ModelServer::start();
    let (home, work_dir) = (e2e.home(), e2e.project());
    let bin = home.join("bin");
    let folders = Folders { bin: &bin, home: &home, work_dir: &work_dir };
    for (name, value) in Agents::installed().set_up_in(brand, FirstStart::Over, &folders, &model) {
        e2e.set_env(name, &value);
    }
    let path = succeed(e2e, r#"echo "$PATH""#).stdout.trim().to_owned();
    e2e.set_env("PATH", &format!("{}:{path}", bin.display()));
    model
}

/// Claude Code, asked what the tutorial asks.
fn with_claude(e2e: &mut Session) -> ModelServer {
    let model = with_model(e2e, Brand::Claude);
    let created = e2e.run("mngr create fix-login claude --message 'make the login test pass'");
    expect(&created).to_succeed();
    wait_for(e2e, "fix-login", "WAITING");
    model
}

#[test]
fn real_claude_gets_its_task() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Claude Code at work. mngr reads its state from what it says of itself, and proves every message by its record
        mngr create fix-login claude --message 'make the login test pass'
        "#,
    );
    let model = with_claude(&mut e2e);
    assert_eq!(model.user_texts(), ["make the login test pass"]);
    assert_eq!(agent(&e2e, "fix-login")["waiting_reason"], "END_OF_TURN");
    expect(&succeed(&e2e, "mngr capture fix-login").stdout).to_contain("You said: make the login test pass");
}

#[test]
fn a_coding_agent_that_is_not_installed_is_named_before_anything_is_made() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Claude Code at work. mngr reads its state from what it says of itself, and proves every message by its record
        mngr create fix-login claude --message 'make the login test pass'
        "#,
    );
    let system = "PATH=\"$(dirname \"$(command -v mngr)\"):/usr/bin:/bin\"";
    let created =
        e2e.run(&format!("{system} mngr create fix-login claude --message 'make the login test pass'"));
    expect(&created).to_fail();
    expect(&created.stderr).to_contain("claude");
    assert!(names(&e2e).is_empty());
}

#[test]
fn real_codex_works_the_same_way() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Codex works the same way, and so does opencode. --yes answers what they ask at the first start in a folder
        mngr create second-opinion codex --yes --no-connect --message 'review the last commit'
        "#,
    );
    let model = with_model(&mut e2e, Brand::Codex);
    let created =
        e2e.run("mngr create second-opinion codex --yes --no-connect --message 'review the last commit'");
    expect(&created).to_succeed();
    wait_for(&e2e, "second-opinion", "WAITING");
    assert_eq!(model.user_texts().last().map(String::as_str), Some("review the last commit"));
}

#[test]
fn real_transcript_shows_both_sides() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What was said, in the same form for all of them
        mngr transcript fix-login
        mngr transcript fix-login --role assistant --tail 1
        "#,
    );
    let _model = with_claude(&mut e2e);
    expect(&succeed(&e2e, "mngr transcript fix-login").stdout)
        .to_match("(?s)make the login test pass.*You said: make the login test pass");
    let last = succeed(&e2e, "mngr transcript fix-login --role assistant --tail 1");
    expect(&last.stdout).to_contain("You said: ").not_to_match("(?m)^make the login test pass");
}

#[test]
fn an_agent_without_a_conversation_says_so() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What was said, in the same form for all of them
        mngr transcript fix-login
        mngr transcript fix-login --role assistant --tail 1
        "#,
    );
    shell(&e2e, "fix-login");
    let transcript = e2e.run("mngr transcript fix-login");
    expect(&transcript).to_fail();
    expect(&transcript.stderr)
        .to_contain("does not produce a common transcript")
        .to_contain("mngr capture --full");
}

#[test]
fn real_usage_counts_tokens() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # What has it used?
        mngr usage fix-login
        mngr usage --by model --since 24h
        "#,
    );
    expect(&e2e.comment("nobody has used anything").run("mngr usage").stdout).to_contain("No usage found");
    let _model = with_claude(&mut e2e);
    let until = "mngr usage wait fix-login --until 'total_cost_usd > 0' --timeout 60s";
    expect(&e2e.comment("until its first answer is written down").run(until)).to_succeed();
    expect(&succeed(&e2e, "mngr usage fix-login").stdout).to_match(r"(?m)^fix-login .*\d");
    expect(&succeed(&e2e, "mngr usage --by model --since 24h").stdout).to_match(r"(?m)^claude-\S+ .*\d");
}

#[test]
fn real_budget_stops_the_agent() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A budget, here a tenth of a cent: wait until it has spent that, then stop it
        mngr usage wait fix-login --until 'total_cost_usd > 0.001' --timeout 2h
        mngr stop fix-login
        "#,
    );
    let _model = with_claude(&mut e2e);
    let spent = e2e.run("mngr usage wait fix-login --until 'total_cost_usd > 0.001' --timeout 2h");
    expect(&spent).to_succeed();
    expect(&spent.stdout).to_match(r"fix-login .*\d");
    expect(&succeed(&e2e, "mngr stop fix-login").stdout).to_contain("Stopped agent: fix-login");
    assert_eq!(agent(&e2e, "fix-login")["state"], "STOPPED");
}

#[test]
fn a_budget_that_is_not_reached_times_out() {
    let e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # A budget, here a tenth of a cent: wait until it has spent that, then stop it
        mngr usage wait fix-login --until 'total_cost_usd > 0.001' --timeout 2h
        mngr stop fix-login
        "#,
    );
    shell(&e2e, "fix-login");
    let waited = e2e.run(
        "mngr usage wait fix-login --until 'total_cost_usd > 0.001' --timeout 0.3s && mngr stop fix-login",
    );
    expect(&waited).to_have_exit_code(8);
    assert_eq!(agent(&e2e, "fix-login")["state"], "RUNNING");
}

#[test]
fn real_conversation_comes_back_with_a_destroyed_agent() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # Away with it, whatever it does. `mngr undo` brings it back, and what was said
        mngr destroy --force fix-login
        "#,
    );
    let _model = with_claude(&mut e2e);
    let refused = e2e.comment("it waits for more").run("mngr destroy fix-login");
    expect(&refused).to_have_exit_code(1);
    expect(&refused.stderr).to_contain("is WAITING. Use --force");
    expect(&e2e.run("mngr destroy --force fix-login")).to_succeed();
    assert!(names(&e2e).is_empty());
    succeed(&e2e, "mngr undo fix-login");
    expect(&succeed(&e2e, "mngr transcript fix-login").stdout)
        .to_contain("You said: make the login test pass");
}

#[test]
fn real_answer_is_all_there_is_on_standard_output() {
    let mut e2e = session!();
    e2e.write_tutorial_block(
        r#"
        # One question, one answer, for scripts: no terminal, and the agent is gone afterwards
        mngr create --type headless_claude --foreground -m 'what does this repository do?'
        "#,
    );
    let _model = with_model(&mut e2e, Brand::Claude);
    let answer =
        e2e.run("mngr create --type headless_claude --foreground -m 'what does this repository do?'");
    expect(&answer).to_succeed();
    expect(&answer.stdout).to_equal("You said: what does this repository do?\n");
    assert!(names(&e2e).is_empty());
}
