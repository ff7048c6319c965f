//! That a run tells the right cause: why nothing was published, why nobody is asked, what a dead agent said, what to do
//! about missing packages; and that `why` knows a change by every name it has.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::project::{Project, RUN};

#[test]
fn what_publish_refused_is_the_cause_and_not_what_the_agent_did_then() {
    let project = Project::new();
    let parts = [
        (
            "merged",
            "mend; git switch -q -c side HEAD~1; echo x >side; commit side; git switch -q -; git merge -q --no-edit side",
            "there are merge commits: only a line of commits on the base commit can be published",
        ),
        (
            "dirty",
            "mend; echo more >>parts/dirty",
            "there are uncommitted changes, commit or discard them: M parts/dirty",
        ),
        (
            "rewritten",
            "mend; git reset -q --soft $(git commit-tree -m other 'HEAD^{tree}')",
            "your branch does not build on the base commit",
        ),
    ];
    for (name, part, _) in parts {
        project.broken(name, &format!("[ $TURN = 1 ] || exit 0; {part}; publish || true"));
    }
    project.broken("idle", ":");
    let (run, output) = project.run(&["--retries", "0", "--no-integrator"], 1);
    for (name, _, reason) in parts {
        let task = format!("tests/{name}.sh");
        assert_eq!(run.ends()[&task], "failed(no_publish)", "{output}");
        let evidence = run.evidence(&task);
        assert!(evidence.starts_with(&format!("publish refused what it has: {reason}")), "{evidence}");
        assert!(!evidence.contains("marker"), "{evidence}");
        // What people see at the end has it, too.
        assert!(output.stdout.contains(reason), "{output}");
    }
    let idle = run.evidence("tests/idle.sh");
    assert!(idle.starts_with("it stopped without publishing"), "{idle}");
}

#[test]
fn a_limit_of_agents_says_that_nobody_is_asked_about_what_is_left() {
    let project = Project::new();
    project.conflict("publish_clean");
    let (run, output) = project.run(&["--max-agents", "2"], 0);
    let said = "no agent is asked about what is left (conflicts: 1, repeated changes: 0): \
                agents launched: 2, allowed: 2 (--max-agents)";
    assert!(output.stderr.contains(said), "{output}");
    let asked: Vec<_> = run.events("integration").filter(|line| line["step"] == "not_asked").collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["limit"], "agents");
}

#[test]
fn agents_that_die_of_one_cause_are_one_group_with_their_own_last_words() {
    let project = Project::new();
    // They say it and end, with their task still on the screen; each is a program of its own.
    let steps = ["read", "say the service has no key for you", "exit 3"];
    project.set("agent_types.player.cli_args", &serde_json::json!(steps).to_string());
    ["one", "another", "the-third-of-them"].iter().for_each(|name| project.broken(name, ":"));
    let (run, output) = project.run(&["--retries", "0", "--no-integrator"], 1);
    for name in ["one", "another", "the-third-of-them"] {
        let evidence = run.evidence(&format!("tests/{name}.sh"));
        assert!(evidence.ends_with(": the service has no key for you"), "{evidence}\n{output}");
    }
    let groups = output.stdout.lines().filter(|line| line.contains(" x failed("));
    assert_eq!(groups.count(), 1, "{output}");
    assert!(output.stdout.contains("3 x failed(dead)"), "{output}");
}

#[test]
fn why_knows_a_change_by_branch_by_task_and_by_a_few_digits() {
    let project = Project::new();
    project.broken("good", "fix");
    project.broken("liar", "echo worse >>parts/liar; commit '[FIX_IMPL] liar'; publish");
    let (run, _) = project.run(&["--retries", "0", "--no-integrator"], 0);
    let commit = run.log("%H").remove(0);
    let theirs = project.git(&["rev-parse", &format!("tmr/{RUN}/tests-good-sh")]);
    let names = [
        commit.get(..5).unwrap(),
        "tmr/1/integrated",
        "refs/heads/tmr/1/integrated",
        "tmr/1/integrated^{commit}",
        "tests/good.sh",
        "good.sh",
        "tests-good-sh",
        "tmr-1-tests-good-sh",
        "tmr/1/tests-good-sh",
        theirs.get(..7).unwrap(),
    ];
    for name in names {
        let why = project.env.mngr(["tmr", "why", name, "--format", "json"]).success().json();
        assert_eq!(why["commit"], commit.as_str(), "{name}");
    }
    let refused = project.env.mngr(["tmr", "why", "liar.sh"]).code(1).stderr;
    assert!(
        refused.contains("nothing that was done for `tests/liar.sh` is a commit of the run"),
        "{refused}"
    );
    // An end that several tests have means none of them.
    let both = project.env.mngr(["tmr", "why", "sh"]).code(1).stderr;
    assert!(both.contains("`sh` is neither a commit"), "{both}");
}

#[test]
fn javascript_without_its_packages_is_told_how_to_lay_them_in() {
    let project = Project::new();
    project.write("package.json", r#"{"devDependencies": {"vitest": "*"}}"#);
    // As npx ends where the package is not there, without asking the network.
    let npx = project.env.root().join("bin/npx");
    fs::create_dir_all(npx.parent().unwrap()).unwrap();
    fs::write(&npx, "#!/bin/sh\necho 'npm error npx canceled due to missing packages' >&2\nexit 1\n")
        .unwrap();
    fs::set_permissions(&npx, fs::Permissions::from_mode(0o755)).unwrap();
    project.commit();
    let path = format!("{}:{}", npx.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut mngr = project.env.mngr_cmd();
    mngr.args(["tmr", "--collector", "vitest", "--agent-type", "player", "--dry-run"]).env("PATH", path);
    let refused = project.env.run(mngr).code(1).stderr;
    assert!(refused.contains("missing packages"), "{refused}");
    assert!(refused.contains("work_dir_extra_paths") && refused.contains("node_modules"), "{refused}");
}
