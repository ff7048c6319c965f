//! The tool in real shells, from what it refuses to what the intake finds in its archive.

use std::time::{Duration, Instant};

use mngr_host::proc::Cmd;

use super::*;
use crate::mapper::testing::{Desk, clean_outcome, fixed_outcome};

#[test]
fn what_is_published_is_taken_in_and_publishing_again_replaces_it() {
    let desk = Desk::new();
    desk.write("outcome.json", clean_outcome().to_string());
    let first = desk.publish(&["../outcome.json"]);
    assert!(first.success(), "{}", first.stderr_text());
    assert_eq!(first.stdout_text(), "published: outcome, 0 commit(s), 0 artifact(s)");
    assert!(desk.take().unwrap().commits.is_empty());

    let tip = desk.commit("[FIX_IMPL] repair");
    desk.write("outcome.json", fixed_outcome("FIX_IMPL").to_string());
    desk.write("out/a log.txt", "text");
    desk.write("out/deep/er/-x", "more");
    let second = desk.publish(&["../outcome.json", "../out"]);
    assert_eq!(second.stdout_text(), "published: outcome, 1 commit(s), 2 artifact(s)");
    let admitted = desk.take().unwrap();
    assert_eq!(
        (admitted.commits[0].oid.as_str(), admitted.artifacts, admitted.artifact_bytes),
        (&*tip, 2, 8)
    );
    let folder = "run/tasks/a-test/attempt-1";
    assert_eq!(desk.list(folder), ["artifacts", "branch.bundle", "outcome.json"]);
    assert_eq!(desk.read(&format!("{folder}/artifacts/deep/er/-x")), "more");
    let schema: serde_json::Value =
        serde_json::from_str(&desk.read("state/commands/outcome.schema.json")).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["result", "summary_markdown"]));
    // Nothing half-made stays behind.
    assert_eq!(desk.list("state/plugin/tmr"), ["outputs.tar.gz"]);
}

#[test]
fn it_refuses_with_a_reason_and_publishes_nothing() {
    let rows: [(&str, &[&str], &str); 9] = [
        ("true", &[], "usage: publish OUTCOME.json [ARTIFACT_DIR]"),
        ("true", &["missing.json"], "missing.json is not a file"),
        (": > ../empty.json", &["../empty.json"], "../empty.json is empty"),
        ("ln -s outcome.json ../link.json", &["../link.json"], "../link.json is not a file"),
        ("dd if=/dev/zero of=../big.json bs=1024 count=257 2>&1", &["../big.json"], "more than 262144 bytes"),
        ("true", &["../outcome.json", "../nowhere"], "../nowhere is not a folder"),
        (
            "echo x > program",
            &["../outcome.json"],
            "uncommitted changes, commit or discard them:\n M program",
        ),
        ("git checkout --quiet --detach", &["../outcome.json"], "no branch is checked out"),
        ("git checkout --quiet -b other", &["../outcome.json"], "the branch other is checked out"),
    ];
    for (before, args, reason) in rows {
        let desk = Desk::new();
        desk.write("outcome.json", clean_outcome().to_string());
        let prepared = desk.run(Cmd::shell(before).cwd(&desk.path("work")));
        assert!(prepared.success(), "{before}: {}", prepared.stderr_text());
        let output = desk.publish(args);
        assert!(!output.success(), "{before}");
        let said = output.stderr_text();
        assert!(
            said.contains(reason) && said.ends_with("publish: nothing was published"),
            "{before}: {said}"
        );
        // Whoever waits for it learns why; without a word about what the tool cannot know.
        assert_eq!(desk.list("state/plugin/tmr"), ["refused"], "{before}");
        let told = desk.refused().unwrap();
        let expected = reason.lines().next().unwrap();
        assert!(told.contains(expected) && !told.contains('\n'), "{before}: {told}");
    }
}

#[test]
fn what_was_refused_before_is_forgotten_once_something_is_published() {
    let desk = Desk::new();
    assert_eq!(desk.refused(), None);
    desk.write("outcome.json", clean_outcome().to_string());
    let _ = desk.publish(&["../nowhere.json"]);
    assert!(desk.refused().is_some());
    assert!(desk.publish(&["../outcome.json"]).success());
    assert_eq!(desk.refused(), None);
    // An agent can put anything there: a link is not followed, and only one line is read.
    for before in
        ["ln -s ../../../outcome.json ../state/plugin/tmr/refused", "mkfifo ../state/plugin/tmr/refused"]
    {
        let script = format!("rm -f ../state/plugin/tmr/refused; {before}");
        assert!(desk.run(Cmd::shell(script).cwd(&desk.path("work"))).success());
        assert_eq!(desk.refused(), None, "{before}");
    }
}

#[test]
fn history_that_does_not_build_on_the_base_in_a_line_is_refused() {
    let rewritten = Desk::new();
    rewritten.write("outcome.json", clean_outcome().to_string());
    rewritten.git_in("work", &["commit", "--quiet", "--amend", "-m", "another first"]);
    assert!(
        rewritten.publish(&["../outcome.json"]).stderr_text().contains("does not build on the base commit")
    );

    let merged = Desk::new();
    merged.write("outcome.json", clean_outcome().to_string());
    merged.git(&["commit", "--quiet", "--allow-empty", "-m", "other"]);
    merged.commit("[FIX_IMPL] one");
    merged.git_in("work", &["merge", "--quiet", "--no-edit", "main"]);
    assert!(merged.publish(&["../outcome.json"]).stderr_text().contains("there are merge commits"));
}

#[test]
fn what_the_tests_left_is_taken_along_without_being_named() {
    let desk = Desk::new();
    desk.write("outcome.json", clean_outcome().to_string());
    desk.write(&format!("state/{TEST_ARTIFACTS}/try_1/screen.txt"), "red");
    let said = desk.publish(&["../outcome.json"]);
    assert!(said.success(), "{}", said.stderr_text());
    assert_eq!(desk.take().unwrap().artifacts, 1);
    assert_eq!(desk.read("run/tasks/a-test/attempt-1/artifacts/e2e/try_1/screen.txt"), "red");
}

#[test]
fn links_and_pipes_among_the_artifacts_are_left_out_and_never_followed() {
    let desk = Desk::new();
    desk.write("outcome.json", clean_outcome().to_string());
    desk.write("secret", "secret");
    desk.write("out/kept", "x");
    let before = "ln -s ../secret ../out/link && ln -s ../.. ../out/up && mkfifo ../out/pipe";
    assert!(desk.run(Cmd::shell(before).cwd(&desk.path("work"))).success());
    let output = desk.publish(&["../outcome.json", "../out"]);
    let said = "published: outcome, 0 commit(s), 1 artifact(s)\nleft out: 3 link(s) or special file(s)";
    assert_eq!(output.stdout_text(), said);
    assert_eq!(desk.take().unwrap().artifacts, 1);
    assert_eq!(desk.list("run/tasks/a-test/attempt-1/artifacts"), ["kept"]);
}

#[test]
fn artifacts_beyond_the_limits_are_refused_before_they_are_copied() {
    let desk =
        Desk::with_limits(Limits { entries: 4, unpacked_bytes: 100, file_bytes: 80, ..Limits::default() });
    desk.write("outcome.json", clean_outcome().to_string());
    let rows = [
        ("truncate -s 1G ../out/hole", "../out/hole has more than 80 bytes"),
        ("for i in 1 2 3; do echo > ../out/$i; done", "there are 3 artifacts, at most 2 are allowed"),
        (
            "for i in 1 2; do printf %60s > ../out/$i; done",
            "the artifacts have 120 bytes, at most 100 are allowed",
        ),
        ("touch '../out/a\x1b[2Jb'", "a file name holds a control character: ../out/a[2Jb\n"),
        ("touch '../out/a\nb'", "a file name holds a control character: ../out/a\n"),
    ];
    for (before, reason) in rows {
        let script = format!("rm -rf ../out && mkdir ../out && {before}");
        assert!(desk.run(Cmd::shell(script).cwd(&desk.path("work"))).success());
        let started = Instant::now();
        let said = desk.publish(&["../outcome.json", "../out"]).stderr_text();
        assert!(said.contains(reason), "{said}");
        assert!(started.elapsed() < Duration::from_secs(10), "{before}");
    }
}

#[test]
fn commits_beyond_the_limits_are_refused() {
    let desk = Desk::with_limits(Limits { commits: 1, ..Limits::default() });
    desk.write("outcome.json", clean_outcome().to_string());
    desk.commit("[FIX_IMPL] one");
    desk.commit("[FIX_IMPL] two");
    assert!(desk.publish(&["../outcome.json"]).stderr_text().contains("there are 2 commits, at most 1"));
    let desk = Desk::with_limits(Limits { bundle_bytes: 100, ..Limits::default() });
    desk.write("outcome.json", clean_outcome().to_string());
    desk.commit("[FIX_IMPL] one");
    assert!(
        desk.publish(&["../outcome.json"]).stderr_text().contains("the commits have more than 100 bytes")
    );
}

#[test]
fn a_branch_name_cannot_become_a_command() {
    let limits = Limits::default();
    let branch = "x'; touch y; '$(z)";
    let script = script(&Publishing { base_commit: "a", branch, limits: &limits, role: Role::Mapper });
    assert!(script.contains("branch='x'\\''; touch y; '\\''$(z)'\n"), "{script}");
}

/// Needs busybox; without it there is nothing to see here.
#[test]
fn tool_busybox_alone_is_enough_beside_git() {
    let desk = Desk::new();
    let script = "command -v busybox >/dev/null || exit 77
        mkdir ../bin && busybox --install -s ../bin && ln -sf \"$(command -v git)\" ../bin/git";
    let prepared = desk.run(Cmd::shell(script).cwd(&desk.path("work")));
    if prepared.exit.to_shell() == 77 {
        eprintln!("skipped: no busybox");
        return;
    }
    assert!(prepared.success(), "{}", prepared.stderr_text());
    let tip = desk.commit("[FIX_IMPL] repair");
    desk.write("outcome.json", fixed_outcome("FIX_IMPL").to_string());
    let long = format!("out/{}/{}/file", "a".repeat(90), "b".repeat(90));
    desk.write(&long, "x");
    let path = format!("PATH={}", desk.path("bin"));
    let output = desk.publish_with(&["env", &path, "sh"], &["../outcome.json", "../out"]);
    assert!(output.success(), "{}", output.stderr_text());
    let admitted = desk.take().unwrap();
    assert_eq!((admitted.commits[0].oid.as_str(), admitted.artifacts), (&*tip, 1));
}
