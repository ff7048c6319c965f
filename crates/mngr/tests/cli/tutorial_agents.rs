//! `mngr tutorial fill` and `sync` with agents that play a script: what they propose and write, and what becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mngr_testkit::{CmdOutput, Signal, TestEnv};
use serde_json::{Value, json};

use crate::support::*;

const SCRIPT: &str = "\
# Listing

# See who is there
mngr list

# Stopping

# Leaving

# Gone, for now
mngr destroy fix --force
";

/// What the tests are about.
const PROGRAM: &str = "\
def listed(names):
    return ', '.join(sorted(names))


def leave(name):
    if not name:
        return 'nobody'
    return 'gone ' + name
";

/// A test that is a program of its own and cites a block.
fn test_of(name: &str, block: &str, body: &str) -> String {
    let block: String = block.lines().map(|line| format!("        {line}\n")).collect();
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "import program\n\n\ndef test_{name}():\n    \"\"\"\n    Tutorial block:\n{block}    \"\"\"\n{body}\n\ntest_{name}()\n"
    )
}

const LISTING: &str = "# See who is there\nmngr list";
const LEAVING: &str = "# Gone, for now\nmngr destroy fix --force";

/// A repository with a tutorial, a program and a test, committed; how tests are run is in the settings.
pub(crate) fn env_with_tutorial() -> TestEnv {
    let env = env();
    let repo = env.repo(1);
    repo.write("tutorial.sh", SCRIPT);
    repo.write("program.py", PROGRAM);
    let body = "assert program.listed(['b', 'a']) == 'a, b'";
    repo.write("tests/test_a.py", &test_of("list", LISTING, body));
    let _ = repo.commit("tutorial");
    let place = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let file = std::path::PathBuf::from(place.trim());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, SETTINGS).unwrap();
    env
}

/// Tests are scripts, and few mutants are enough.
const SETTINGS: &str = r#"
[tmr]
mutants = 4
verify_runs = 1

[tmr.collectors.scripts]
collect = "ls tests/*.py"
one = "PYTHONPATH=. python3 {id}"
detect = { "tests/test_a.py" = "" }
"#;

/// The steps of an agent that takes its task and proposes these lines.
pub(crate) fn proposing(env: &TestEnv, lines: &str) -> String {
    let file = env.root().join("proposals.jsonl");
    fs::write(&file, lines).unwrap();
    format!("run cp '{}' .tutorial-task/proposals.jsonl", file.display())
}

pub(crate) fn line(heading: &str, block: &str) -> String {
    json!({ "heading": heading, "text": block, "reason": "it is common" }).to_string() + "\n"
}

fn fill(env: &TestEnv, more: &[&str], steps: &[&str]) -> CmdOutput {
    let words = ["tutorial", "fill", "tutorial.sh", "--launch", "--type", "scripted"];
    env.mngr(words.iter().chain(more).chain(&["--", "read"]).chain(steps))
}

fn tutorial(env: &TestEnv) -> String {
    fs::read_to_string(env.work_dir().join("tutorial.sh")).unwrap()
}

fn git_status(env: &TestEnv) -> String {
    let mut git = env.command("git");
    git.args(["status", "--porcelain"]).current_dir(env.work_dir());
    env.run(git).success().stdout
}

fn branches(env: &TestEnv) -> Vec<String> {
    let mut git = env.command("git");
    git.args(["branch", "--format", "%(refname:short)"]).current_dir(env.work_dir());
    env.run(git).success().stdout.lines().map(str::to_owned).collect()
}

fn only<'v>(items: &'v Value, status: &str) -> &'v Value {
    let found: Vec<&Value> = items.as_array().unwrap().iter().filter(|it| it["status"] == status).collect();
    assert_eq!(found.len(), 1, "{status} in {items}");
    found[0]
}

#[test]
fn fill_lists_headings_without_commands() {
    let env = env_with_tutorial();
    let listed = env.mngr(["tutorial", "fill", "tutorial.sh"]).success();
    insta::assert_snapshot!(listed.stdout, @r"
    LINE  KIND     TITLE
       6  heading  Stopping
    ");
    let json = env.mngr(["tutorial", "fill", "tutorial.sh", "--format", "json"]).success().json();
    assert_eq!(
        (&json["gaps"][0]["title"], &json["gaps"][0]["kind"]),
        (&"Stopping".into(), &"heading".into())
    );
    let refused = env.mngr(["tutorial", "fill", "tutorial.sh", "--insert"]).code(2);
    assert!(refused.stderr.contains("--launch"), "{refused}");
}

#[test]
fn fill_keeps_good_proposals_and_tells_what_is_wrong_with_the_others() {
    let env = env_with_tutorial();
    let good = "# Stop it, but keep its work\nmngr stop fix";
    let lines = line("Stopping", good)
        + &line("Stopping", "# Quickly\nmngr stop fix --now-please")
        + "Sure! Here are my proposals:\n"
        + &line("Stopping", "mngr halt fix");
    let filled = fill(&env, &["--format", "json"], &[&proposing(&env, &lines)]).success().json();
    let agent = &filled["agents"][0];
    assert_eq!((&agent["ending"], agent["proposals"].as_array().unwrap().len()), (&"finished".into(), 4));
    let proposed = only(&agent["proposals"], "proposed");
    assert_eq!((&proposed["text"], &proposed["verbs"][0]), (&good.into(), &"mngr stop".into()));
    assert_eq!(agent["proposals"][1]["problems"][0], "line 2: No such option: --now-please");
    assert_eq!(names(&env), [""; 0], "no agent is left");
    assert_eq!(git_status(&env), "", "git sees nothing of it");
    assert_eq!(branches(&env), ["main"]);

    let again = fill(&env, &["--format", "json"], &[&proposing(&env, &lines)]).success().json();
    assert_eq!(again["agents"][0]["known"], 4, "nothing is proposed twice");

    let confusing = env.mngr(["tutorial", "confusing"]).success().stdout;
    for expected in [
        "mngr halt: 1 of 1 went wrong\n",
        "invalid: line 1: No such command: `halt`\n",
        "mngr stop: 1 of 2 went wrong\n",
        "(no command): 1 of 1 went wrong\n",
        "this is no proposal: ",
    ] {
        assert!(confusing.contains(expected), "{expected} in {confusing}");
    }
}

#[test]
fn accept_writes_one_block_and_reject_remembers_why() {
    let env = env_with_tutorial();
    let script = env.work_dir().join("tutorial.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let lines = line("Stopping", "# Stop it\nmngr stop fix") + &line("Stopping", "# Stop all\nmngr stop a b");
    let _ = fill(&env, &[], &[&proposing(&env, &lines)]).success();
    let ids = env.mngr(["tutorial", "proposals", "--format", "{id} {text}"]).success().stdout;
    let id = |text: &str| ids.lines().find(|line| line.contains(text)).unwrap()[..8].to_owned();
    let (one, all) = (id("Stop it"), id("Stop all"));

    let accepted = env.mngr(["tutorial", "accept", &one]).success();
    assert_eq!(accepted.stdout, format!("{one} accepted (tutorial.sh: Stopping)\n"));
    let expected = SCRIPT.replace("# Stopping\n\n", "# Stopping\n\n# Stop it\nmngr stop fix\n\n");
    assert_eq!(tutorial(&env), expected);
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
    let twice = env.mngr(["tutorial", "accept", &one]).code(1);
    assert!(twice.stderr.contains("is accepted already"), "{twice}");

    let _ = env.mngr(["tutorial", "reject", &all, "--reason", "there is --all"]).success();
    assert_eq!(tutorial(&env), expected);
    assert_eq!(env.mngr(["tutorial", "proposals"]).success().stdout, "nothing is proposed\n");
    let confusing = env.mngr(["tutorial", "confusing", "--format", "json"]).success().json();
    assert_eq!(confusing["verbs"][0]["verb"], "mngr stop");
    assert_eq!(confusing["verbs"][0]["misread"][0]["reasons"][0], "there is --all");
    let unknown = env.mngr(["tutorial", "accept", "00000000"]).code(9);
    assert!(unknown.stderr.contains("there is no proposal `00000000`"), "{unknown}");
    let _ = env.mngr(["tutorial", "accept", "../x"]).code(2);
}

#[test]
fn fill_insert_marks_what_nobody_agreed_to() {
    let env = env_with_tutorial();
    let lines = line("Stopping", "# Stop it\nmngr stop fix") + &line("Stopping", "mngr stop a b");
    let _ = fill(&env, &["--insert"], &[&proposing(&env, &lines)]).success();
    let marked = tutorial(&env);
    let marks: Vec<&str> = marked.lines().filter(|line| line.starts_with("# proposed by an agent")).collect();
    assert_eq!(marks.len(), 2, "{marked}");
    let id = |mark: &str| mark.trim_end_matches('`').rsplit(' ').next().unwrap().to_owned();
    let _ = env.mngr(["tutorial", "accept", &id(marks[0])]).success();
    let _ = env.mngr(["tutorial", "reject", &id(marks[1])]).success();
    assert_eq!(
        tutorial(&env),
        SCRIPT.replace("# Stopping\n\n", "# Stopping\n\n# Stop it\nmngr stop fix\n\n")
    );
}

#[test]
fn a_proposal_that_came_with_the_repository_writes_nowhere_else() {
    let env = env_with_tutorial();
    fs::write(env.root().join("outside.sh"), "# Stopping\n").unwrap();
    let folder = env.work_dir().join(".mngr/tutorial/proposals");
    fs::create_dir_all(&folder).unwrap();
    let hostile = json!({
        "id": "0123abcd", "status": "proposed", "script": "../outside.sh", "heading": "Stopping", "text": "rm x",
        "agent": "a", "time": "2026-01-01T00:00:00Z",
    });
    fs::write(folder.join("0123abcd.json"), hostile.to_string()).unwrap();
    let refused = env.mngr(["tutorial", "accept", "0123abcd"]).code(1);
    assert!(refused.stderr.contains("which is not below"), "{refused}");
    assert_eq!(fs::read_to_string(env.root().join("outside.sh")).unwrap(), "# Stopping\n");
}

#[test]
fn fill_fails_when_nothing_usable_is_proposed_and_leaves_no_agent() {
    let env = env_with_tutorial();
    let nothing = fill(&env, &[], &["exit 0"]).code(1);
    assert!(nothing.stdout.contains("finished, 0 proposals\n    it proposed nothing\n"), "{nothing}");
    let large = fill(&env, &[], &["run head -c 300000 /dev/zero > .tutorial-task/proposals.jsonl"]).code(1);
    assert!(large.stdout.contains("more than the 262144 that are read"), "{large}");
    let pipe = fill(&env, &[], &["run mkfifo .tutorial-task/proposals.jsonl"]).code(1);
    assert!(pipe.stdout.contains("what it left is not a file"), "{pipe}");
    let failed = fill(&env, &[], &["exit 3"]).code(1);
    assert!(failed.stdout.contains("it ended with exit code 3"), "{failed}");
    let refused = fill(&env, &["--type", "nonsense"], &[]).code(1);
    assert!(refused.stdout.contains("could not be started: unknown agent type `nonsense`"), "{refused}");
    assert_eq!(names(&env), [""; 0]);
    let folder = fs::read_dir(env.host_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(folder.into_iter().all(|name| !name.to_string_lossy().starts_with(".task-")));
}

#[test]
fn an_agent_that_hangs_is_given_up_and_gone() {
    let env = env_with_tutorial();
    let late = fill(&env, &["--timeout", "1s"], &["hang"]).code(1);
    assert!(late.stdout.contains("did not finish in time"), "{late}");
    assert_eq!(names(&env), [""; 0]);
}

#[test]
fn a_second_agent_takes_its_share_and_too_many_proposals_are_left_out() {
    let env = env_with_tutorial();
    fs::write(env.work_dir().join("tutorial.sh"), format!("{SCRIPT}\n# Starting\n")).unwrap();
    let lines = line("Stopping", "mngr stop fix") + &line("Starting", "mngr start fix");
    let steps = [proposing(&env, &lines)];
    let filled =
        fill(&env, &["--agents", "2", "--max", "2", "--format", "json"], &[&steps[0]]).success().json();
    let agents = filled["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2, "{filled}");
    assert!(agents.iter().all(|agent| agent["left_out"] == 1), "{filled}");
}

#[test]
fn an_agent_that_asks_is_waited_for_until_somebody_answers() {
    let env = env_with_tutorial();
    let propose = proposing(&env, &line("Stopping", "mngr stop fix"));
    let words =
        ["tutorial", "fill", "tutorial.sh", "--launch", "--type", "scripted", "--", "read", "ask sure?"];
    let running = env.spawn(words.iter().copied().chain([propose.as_str()]));
    let asking = || names(&env).first().cloned().filter(|name| state(&env, name) == "WAITING");
    wait_until(PATIENCE, || asking().is_some());
    let _ = env.mngr(["message", &asking().unwrap(), "-m", "yes"]).success();
    let filled = running.finish().success();
    assert!(filled.stdout.contains("finished, 1 proposal\n"), "{filled}");
    assert!(filled.stderr.contains("waits (QUESTION): `mngr connect tutorial-fill-"), "{filled}");
}

#[test]
fn agents_without_a_terminal_propose_too() {
    let env = env_with_tutorial();
    let propose = proposing(&env, &line("Stopping", "mngr stop fix")).replace("run ", "");
    let words = ["tutorial", "fill", "tutorial.sh", "--launch", "--type", "headless_command", "--"];
    let asked = env.root().join("asked");
    let program = format!("cat > '{}'; {propose}", asked.display());
    let filled = env.mngr(words.iter().copied().chain(["sh", "-c", &program])).success();
    assert!(filled.stdout.contains("finished, 1 proposal\n"), "{filled}");
    let asked = fs::read_to_string(asked).unwrap();
    assert_eq!(asked.trim_end(), "Read .tutorial-task/task.md and do what it says.");
    assert_eq!(names(&env), [""; 0]);
}

#[test]
fn ctrl_c_takes_the_agents_along() {
    let env = env_with_tutorial();
    let words = ["tutorial", "fill", "tutorial.sh", "--launch", "--type", "scripted", "--", "read", "hang"];
    let running = env.spawn(words);
    wait_until(PATIENCE, || names(&env).len() == 1);
    running.signal_group(Signal::INT);
    let output = running.finish().code(130);
    assert!(!output.stderr.contains("panicked"), "{output}");
    assert_eq!(names(&env), [""; 0]);
    wait_until(PATIENCE, || env.processes().is_empty());
}

#[test]
fn fill_learns_another_program_from_its_help() {
    let env = env_with_tutorial();
    let tool = env.work_dir().join("tool");
    fs::write(&tool, "#!/bin/sh\nprintf 'Usage: tool [OPTIONS]\\n\\nOptions:\\n  --fast  Be quick\\n'\n")
        .unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(env.work_dir().join("tutorial.sh"), "# Using the tool\n").unwrap();
    let lines = line("Using the tool", "tool --fast") + &line("Using the tool", "tool --slow");
    let copy = format!("run cp .tutorial-task/help.md '{}'", env.root().join("help").display());
    let steps = [copy, proposing(&env, &lines)];
    let filled =
        fill(&env, &["--cli", "./tool", "--format", "json"], &[&steps[0], &steps[1]]).success().json();
    let proposals = &filled["agents"][0]["proposals"];
    assert_eq!(only(proposals, "proposed")["text"], "tool --fast");
    assert_eq!(only(proposals, "invalid")["problems"][0], "line 1: No such option: --slow");
    let help = fs::read_to_string(env.root().join("help")).unwrap();
    assert!(help.contains("--fast  Be quick") && !help.contains("mngr"), "{help}");
}

#[test]
fn sync_lists_the_work_in_portions() {
    let env = env_with_tutorial();
    let listed = env.mngr(["tutorial", "sync", "tutorial.sh", "tests"]).code(1);
    insta::assert_snapshot!(listed.stdout, @r"
    1. Leaving
      uncited  tutorial.sh:10  516f773a  Gone, for now

    1 thing to do, in 1 portion
    ");
    let json = env.mngr(["tutorial", "sync", "tutorial.sh", "tests", "--format", "json"]).code(1).json();
    assert_eq!(json["groups"][0]["items"][0]["kind"], "uncited");
}

fn sync(env: &TestEnv, more: &[&str], steps: &[&str]) -> CmdOutput {
    let words = ["tutorial", "sync", "tutorial.sh", "tests", "--launch", "--type", "scripted"];
    env.mngr(words.iter().chain(more).chain(&["--", "read"]).chain(steps))
}

/// The step of an agent that writes the missing test.
pub(crate) fn writing_the_test(env: &TestEnv) -> String {
    let file = env.root().join("test_leaving.py");
    fs::write(&file, test_of("leaving", LEAVING, HONEST)).unwrap();
    format!("run cp '{}' tests/test_leaving.py", file.display())
}

/// Looks at what the program does.
const HONEST: &str = "assert program.leave('fix') == 'gone fix'\nassert program.leave('') == 'nobody'";

/// The step of an agent that writes a test with this body.
fn writing(env: &TestEnv, name: &str, block: &str, body: &str) -> String {
    let file = env.root().join(format!("written_{name}.py"));
    fs::write(&file, test_of(name, block, body)).unwrap();
    let target = if name == "list" { "test_a" } else { "test_leaving" };
    format!("run cp '{}' tests/{target}.py", file.display())
}

/// Nothing was merged, and nothing of the measuring is left.
#[track_caller]
fn assert_kept_back(env: &TestEnv, output: &CmdOutput) {
    assert!(
        output.stdout.contains("    not merged: look at `git diff HEAD...mngr/tutorial-sync-"),
        "{output}"
    );
    assert!(!env.work_dir().join("tests/test_leaving.py").exists(), "{output}");
    assert_eq!(git_status(env), "");
    let left = fs::read_dir(env.host_dir().join("tmr")).map(|folder| folder.count()).unwrap_or(0);
    assert_eq!(left, 0, "checkouts are gone");
}

#[test]
fn sync_has_tests_written_on_a_branch_and_says_how_to_merge_it() {
    let env = env_with_tutorial();
    let synced = sync(&env, &[], &[&writing_the_test(&env), "commit add tests"]).success();
    assert!(synced.stdout.contains("finished, 1 of 1 done\n    1 commit on mngr/tutorial-sync-"), "{synced}");
    assert!(synced.stdout.contains(": git merge mngr/tutorial-sync-"), "{synced}");
    assert_eq!((names(&env).len(), branches(&env).len(), git_status(&env).as_str()), (0, 2, ""));
    let _ = env.mngr(["tutorial", "check", "tutorial.sh", "tests"]).code(1);
    let branch = branches(&env).into_iter().find(|branch| branch.starts_with("mngr/")).unwrap();
    let mut git = env.command("git");
    git.args(["diff", "--name-only", "main", &branch]).current_dir(env.work_dir());
    assert_eq!(env.run(git).success().stdout, "tests/test_leaving.py\n", "the task itself is not committed");
}

#[test]
fn sync_merge_brings_the_tests_and_checks_again() {
    let env = env_with_tutorial();
    let synced = sync(&env, &["--merge"], &[&writing_the_test(&env), "commit add tests"]).success();
    assert!(synced.stdout.contains("merged into main: 1 commit\nnothing to do: "), "{synced}");
    assert!(synced.stdout.contains("    strength of tests/test_leaving.py: new: "), "{synced}");
    assert!(synced.stderr.contains("collector `scripts`, told by tests/test_a.py"), "{synced}");
    let _ = env.mngr(["tutorial", "check", "tutorial.sh", "tests"]).success();
}

#[test]
fn sync_merges_no_test_that_looks_at_nothing() {
    let env = env_with_tutorial();
    let alone = writing(&env, "leaving", LEAVING, "assert True");
    let synced = sync(&env, &["--merge"], &[&alone, "commit add tests"]).code(1);
    let unknown = "    needs review (unmeasured): how strong its tests are is not known: ";
    assert!(synced.stdout.contains(unknown), "{synced}");
    assert_kept_back(&env, &synced);

    // Beside one that is good it is named.
    let steps = [&writing_the_test(&env), "write tests/test_idle.py assert True", "commit add tests"];
    let synced = sync(&env, &["--merge"], &steps).code(1);
    let refused = "    refused: the added test `tests/test_idle.py` notices no mutant of the program\n";
    assert!(synced.stdout.contains(refused), "{synced}");
    assert!(synced.stdout.contains("still to do\n  uncited  tutorial.sh:10"), "{synced}");
    assert_kept_back(&env, &synced);
}

#[test]
fn sync_merges_no_weaker_test_and_says_so_in_json() {
    let env = env_with_tutorial();
    let weaker = writing(&env, "list", LISTING, "assert program.listed(['b', 'a'])");
    let steps = [&writing_the_test(&env), &weaker, "commit add tests"];
    let synced = sync(&env, &["--merge", "--format", "json"], &steps).code(1).json();
    crate::output_schemas::assert_output(&env, "tutorial sync", &synced);
    let agent = &synced["agents"][0];
    assert!(agent["merge"].is_null() && agent["branch"]["ahead"] == 1, "{synced}");
    let measured = &agent["measured"];
    assert_eq!(
        (&measured["added"], &measured["changed"]),
        (&json!(["tests/test_leaving.py"]), &json!(["tests/test_a.py"]))
    );
    let kinds: Vec<String> =
        measured["review"].as_array().unwrap().iter().map(|reason| text(&reason["kind"])).collect();
    assert!(kinds.contains(&"weaker".to_owned()), "{synced}");
    assert_eq!(measured["refused"], json!([]));
    assert_eq!(git_status(&env), "");
    assert!(!env.work_dir().join("tests/test_leaving.py").exists());
}

#[test]
fn sync_merge_needs_to_know_how_tests_are_run_before_any_agent_is_launched() {
    let env = env_with_tutorial();
    let place = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    fs::remove_file(place.trim()).unwrap();
    let refused = sync(&env, &["--merge"], &[&writing_the_test(&env), "commit add tests"]).code(2);
    assert!(refused.stderr.contains("--collector"), "{refused}");
    assert_eq!((branches(&env), names(&env).len()), (vec!["main".to_owned()], 0));
    let unknown = sync(&env, &["--merge", "--collector", "nonsense"], &[]).code(2);
    assert!(unknown.stderr.contains("nonsense"), "{unknown}");
    let alone = sync(&env, &["--collector", "pytest"], &[]).code(2);
    assert!(alone.stderr.contains("--merge"), "{alone}");
}

#[test]
fn branches_that_conflict_are_left_to_the_user() {
    let env = env_with_tutorial();
    let blocks: String = (0..6).map(|number| format!("mngr stop a{number}\n\n")).collect();
    fs::write(env.work_dir().join("tutorial.sh"), format!("# Stopping\n\n{blocks}")).unwrap();
    let mut git = env.command("git");
    git.args(["commit", "--quiet", "--all", "--message", "more"]).current_dir(env.work_dir());
    let _ = env.run(git).success();
    // Both begin before one is merged. Documents need no measure.
    let steps = ["sleep 2s", "write notes.md # {name}", "commit add notes"];
    let synced = sync(&env, &["--merge", "--format", "json"], &steps).code(1).json();
    let agents = synced["agents"].as_array().unwrap();
    let merged: Vec<&Value> = agents.iter().filter(|agent| !agent["merge"].is_null()).collect();
    let refused: Vec<&Value> = agents.iter().filter(|agent| agent["merge"].is_null()).collect();
    assert_eq!((merged.len(), refused.len()), (1, 1), "{synced}");
    assert!(text(&refused[0]["problems"][0]).contains("conflict"), "{synced}");
    assert!(text(&refused[0]["branch"]["merge_command"]).starts_with("git merge mngr/"), "{synced}");
    assert_eq!(git_status(&env), "");
}

#[test]
fn the_branch_of_an_agent_that_did_not_finish_is_shown_and_not_merged() {
    let env = env_with_tutorial();
    let steps = [&writing_the_test(&env), "commit add tests", "hang"];
    let late = sync(&env, &["--merge", "--timeout", "3s"], &steps).code(1);
    assert!(late.stdout.contains("did not finish in time, 1 of 1 done\n    1 commit on mngr/"), "{late}");
    assert!(!env.work_dir().join("tests/test_leaving.py").exists());
    assert_eq!(names(&env), [""; 0]);
}

#[test]
fn sync_tells_what_is_still_open_and_what_was_not_committed() {
    let env = env_with_tutorial();
    let open = sync(&env, &[], &["exit 0"]).code(1);
    assert!(open.stdout.contains("0 of 1 done\n"), "{open}");
    assert!(open.stdout.contains("still to do\n  uncited  tutorial.sh:10"), "{open}");
    let loose = sync(&env, &["--merge"], &[&writing_the_test(&env)]).code(1);
    assert!(loose.stdout.contains("1 file not committed\n"), "{loose}");
    assert!(loose.stderr.contains("brings it and them back"), "{loose}");
    assert!(loose.stdout.contains("still to do\n"), "what is not committed is not merged: {loose}");
    fs::write(env.work_dir().join("tests/loose.py"), "").unwrap();
    let unclean = sync(&env, &[], &[]).code(1);
    assert!(unclean.stdout.contains("could not be started: the source has uncommitted changes"), "{unclean}");
}

#[test]
fn skill_writes_slash_commands_and_keeps_what_somebody_changed() {
    let env = env();
    let shown = env.mngr(["tutorial", "skill"]).success().stdout;
    assert!(shown.contains(".claude/commands/tutorial-sync.md:\n\n---\ndescription: "), "{shown}");
    let written = env.mngr(["tutorial", "skill", "--write", "."]).success().stdout;
    insta::assert_snapshot!(written, @r"
    .claude/commands/tutorial-fill.md: written
    .claude/commands/tutorial-sync.md: written
    ");
    let file = env.work_dir().join(".claude/commands/tutorial-fill.md");
    fs::write(&file, "mine").unwrap();
    let kept = env.mngr(["tutorial", "skill", "--write", "."]).code(1);
    assert!(
        kept.stdout.contains("tutorial-fill.md: differs\n") && kept.stdout.contains("sync.md: unchanged"),
        "{kept}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let _ = env.mngr(["tutorial", "skill", "--write", ".", "--force"]).success();
    assert!(fs::read_to_string(&file).unwrap().starts_with("---\n"));
}
