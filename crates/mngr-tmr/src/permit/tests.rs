//! What the set of a mapper covers, and what it does not.

use mngr_model::permission::{GIT_OF_MAPPERS, Granted, PermissionSet};
use serde_json::json;

use super::*;

fn granted() -> Granted {
    let mut runners =
        runners_of("cd py && PYTHONPATH=src python3 -m pytest --color=no tests/a.py::b --rootdir=.");
    runners.extend(runners_of("sh tests/a.sh"));
    runners.extend(runners_of("cargo nextest run --retries 0 -E 'x'"));
    let set = PermissionSet {
        lines: vec!["weird --line | as it is".to_owned()],
        runners,
        git: GIT_OF_MAPPERS.map(str::to_owned).to_vec(),
        allow: vec!["make lint".to_owned(), "npm run *".to_owned(), "tool-* check".to_owned()],
        judge: None,
    };
    Granted { set, work_dir: "/w/d".to_owned(), state_dir: "/s/agent".to_owned() }
}

#[test]
fn what_the_set_covers() {
    let granted = granted();
    for line in [
        "weird --line | as it is",
        "ls -la && cat src/x.py | grep -n foo | head -20",
        "python3 -m pytest -x -q tests --maxfail=1",
        "pytest tests/a.py -k 'b and not c' 2>&1 | tail -n 40",
        "cd py && PYTHONPATH=src python -m pytest",
        "sh tests/b.sh --verbose",
        "cargo nextest run -p x; echo \"status $?\"",
        "git add -A && git commit -q -m \"$(cat <<'END'\n[FIX_IMPL] a subject\n\ntext; rm -rf /\nEND\n)\"",
        "git --no-pager log --oneline -5; git status --short; git diff HEAD~1 -- src",
        "outcome=$(mktemp) && cat >\"$outcome\" <<'END'\n{\"a\": 1}\nEND\n\"$MNGR_AGENT_STATE_DIR/commands/publish\" \"$outcome\"",
        "cat > /tmp/outcome.json <<'END'\n{}\nEND",
        "mkdir -p src/new && touch src/new/x && rm -f src/old.py && cp a b",
        "echo done >> notes.txt 2>/dev/null",
        "for f in tests/*.sh; do sh tests/a.sh \"$f\" || echo \"$f\"; done",
        "if grep -q x y; then echo yes; else echo no; fi",
        "sed -n '10,20p' src/x.py; find . -name '*.py' -newer x",
        "make lint",
        "npm run build -- --fast",
        "tool-x check",
        "timeout 60 pytest tests",
        "A=1 B=2 pytest",
        "[ -f x ] && test -d y || true",
    ] {
        assert_eq!(Judge { granted: &granted }.command(line, "/w/d"), Ok(()), "{line}");
    }
}

#[test]
fn what_it_does_not_cover_is_found_wherever_it_stands() {
    let granted = granted();
    for (line, why) in [
        ("curl http://x", "`curl`"),
        ("ls && curl http://x", "`curl`"),
        ("ls | sh", "`sh`"),
        ("echo $(curl http://x)", "`curl`"),
        ("echo `curl http://x`", "`curl`"),
        ("echo \"a $(curl http://x)\"", "`curl`"),
        ("cat <(curl x)", "`curl`"),
        ("cat <<END\n$(curl x)\nEND", "`curl`"),
        ("x=$(curl x)", "`curl`"),
        ("if curl x; then true; fi", "`curl`"),
        ("f() { curl x; }; f", "not understood"),
        ("sh -c 'curl x'", "`sh`"),
        ("sh /elsewhere/x.sh", "`sh`"),
        ("python3 -c 'x'", "`python3`"),
        ("eval ls", "`eval`"),
        ("$PROGRAM x", "which program"),
        ("echo x > /etc/passwd", "outside"),
        ("echo x > ../y", "outside"),
        ("echo x > ~/y", "not known what is written"),
        ("echo x > $HOME/y", "not known what is written"),
        ("echo x > {a,../../b}", "not known what is written"),
        ("cd src && echo x > ../../y", "outside"),
        ("(cd src); echo x > ../y", "outside"),
        ("cd /etc && ls", "leads out"),
        ("f=/etc/x; false && f=ok; echo > $f", "not known what is written"),
        ("f=ok; while true; do echo > $f; f=/etc/x; done", "not known what is written"),
        ("echo x > .git/hooks/pre-commit", "belongs to git"),
        ("cp evil /s/agent/commands/publish", "belongs to mngr"),
        ("rm -rf /", "outside"),
        ("mv a /home/x", "outside"),
        ("git push", "`git push`"),
        ("git -c core.pager=evil log", "`git -c`"),
        ("git -C /elsewhere status", "`git -C`"),
        ("git diff --output=/etc/x", "--output"),
        ("git diff --outp=/etc/x", "--outp"),
        ("git grep -Oevil x", "-Oevil"),
        ("find . -delete", "does more"),
        ("find . -exec rm {} +", "does more"),
        ("sort -o /etc/x y", "does more"),
        ("sed -i s/a/b/ x", "`sed"),
        ("sed -n '1e curl x' y", "`sed"),
        ("PATH=/evil:$PATH pytest", "`PATH`"),
        ("GIT_SSH_COMMAND=x git status", "`GIT_SSH_COMMAND`"),
        ("timeout 5 curl x", "`curl`"),
        ("make lint extra", "`make`"),
        ("make", "`make`"),
        ("ls; 'unbalanced", "cannot be read"),
        ("tee /etc/x < y", "outside"),
    ] {
        let said = Judge { granted: &granted }.command(line, "/w/d");
        assert!(said.as_ref().is_err_and(|NotCovered(said)| said.contains(why)), "{line}: {said:?}");
    }
}

#[test]
fn hooks_are_answered_in_their_own_form_and_refusals_are_noted() {
    let granted = granted();
    let event = |name: &str, tool: &str, input: serde_json::Value| {
        json!({"hook_event_name": name, "tool_name": tool, "tool_input": input, "cwd": "/w/d"}).to_string()
    };
    let (said, noted) = answer(&granted, &event("PermissionRequest", "Bash", json!({"command": "ls"})));
    assert_eq!(said["hookSpecificOutput"]["decision"]["behavior"], "allow");
    assert_eq!(noted, None);
    let (said, noted) = answer(&granted, &event("PermissionRequest", "Bash", json!({"command": "curl x"})));
    let decision = &said["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "deny");
    assert!(decision["message"].as_str().unwrap().contains("`curl` is not covered"), "{said}");
    assert_eq!(noted.unwrap()["why"], "`curl` is not covered");
    let (said, _) = answer(&granted, &event("PreToolUse", "Bash", json!({"command": "curl x"})));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    let (said, noted) =
        answer(&granted, &event("PreToolUse", "Bash", json!({"command": ["bash", "-lc", "ls"]})));
    assert_eq!((said, noted), (serde_json::Value::Null, None));
    let patch = "*** Begin Patch\n*** Update File: src/x\n@@\n*** Add File: /etc/x\n*** End Patch";
    assert!(answer(&granted, &event("PreToolUse", "apply_patch", json!({"command": patch}))).1.is_some());
    for (tool, input) in [
        ("Write", json!({"file_path": "/etc/x"})),
        ("Edit", json!({"file_path": "/w/d/.git/config"})),
        ("AskUserQuestion", json!({})),
        ("WebFetch", json!({"url": "http://x"})),
        ("mcp__x__y", json!({})),
    ] {
        assert!(answer(&granted, &event("PermissionRequest", tool, input)).1.is_some(), "{tool}");
    }
    let write = event("PermissionRequest", "Write", json!({"file_path": "/w/d/src/x"}));
    assert_eq!(answer(&granted, &write).1, None);
    assert!(
        answer(&granted, "no json").1.is_some() || answer(&granted, "no json").0 != serde_json::Value::Null
    );
}

#[test]
fn the_runner_is_what_stands_before_options_and_files() {
    let first = |line: &str| runners_of(line).into_iter().next().unwrap_or_default().join(" ");
    assert_eq!(first("go test -count=1 -run ^x\\$ ./pkg"), "go test");
    assert_eq!(first("npx --no -- jest --runTestsByPath x"), "npx --no -- jest");
    assert_eq!(first("sh tests/a.sh"), "sh");
    assert_eq!(first("cd py && A=1 python3 -m pytest x"), "python3 -m pytest");
    assert!(runners_of("python3 -m pytest x").contains(&vec!["pytest".to_owned()]));
}
