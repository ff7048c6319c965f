//! Agents that hand over what they like, past the tool that would refuse it. Each ends with a reason of its own, the others
//! go through, and neither the orchestrator nor the page takes harm.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mngr_testkit::CmdOutput;

use super::cost::{self, Cost};
use super::project::Project;

/// The most memory an orchestrator may ever have.
const MOST_KIB: u64 = 100_000_000 / 1024;

/// Longer than these runs take on a loaded machine.
const LIMIT: Duration = Duration::from_secs(110);

/// Words for agents that pack their archives themselves.
const WORDS: &str = r#"
GOOD='{"result": "clean", "summary_markdown": "Fine.", "tests_passing_after": true}'
PACK=$DESK/pack
mkdir -p "$PACK/artifacts"
printf '%s\n' "$GOOD" >"$PACK/outcome.json"
cd "$PACK"

# appear: what is on standard input becomes the archive, in one step.
appear() { cat >"$DESK/new" && mv -T "$DESK/new" "$ARCHIVE"; }

# archive MEMBERS: an archive of these; paths stay as they are.
archive() { tar -cPf - "$@" | gzip -1 | appear; }
"#;

/// A project with one agent that does well, and some that do not.
#[track_caller]
fn project(hostile: &[(&str, &str, &str)]) -> Project {
    let project = Project::new();
    // One that does well must not be taken for a sign that all is well: launches go on in spite of many failures.
    project.set("tmr.breaker_after", "1000");
    project.broken("fine", "fix");
    for (name, part, _) in hostile {
        project.broken(name, &format!("{WORDS}\n{part}"));
    }
    project
}

/// Runs it, and checks how each ended and what the orchestrator needed.
#[track_caller]
fn run(project: &Project, hostile: &[(&str, &str, &str)]) -> (CmdOutput, Cost) {
    let running = project.start(&["--max-parallel-agents", "6", "--retries", "0", "--no-integrator"]);
    let (output, cost) = cost::finish(running, LIMIT, |_| {});
    let run = project.seen();
    let ends = run.ends();
    assert_eq!(ends["tests/fine.sh"], "integrated", "{output}");
    for (name, _, end) in hostile {
        let task = format!("tests/{name}.sh");
        assert_eq!(ends[&task], *end, "{}\n{output}", run.evidence(&task));
    }
    assert!(cost.peak_kib < MOST_KIB, "{cost:?}\n{output}");
    assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'), "{output}");
    project.assert_nothing_runs();
    (output, cost)
}

#[test]
fn archives_that_would_reach_or_fill_the_disk_are_refused_and_their_agents_end_with_the_reason() {
    let hostile = [
        (
            "bomb",
            "head -c 60000000 /dev/zero >artifacts/zeros; archive outcome.json artifacts",
            "failed(too_big)",
        ),
        (
            "files",
            "seq -f artifacts/%.0f 100000 | xargs touch; archive outcome.json artifacts",
            "failed(too_big)",
        ),
        ("hole", r#"truncate -s 1G "$DESK/new"; mv "$DESK/new" "$ARCHIVE""#, "failed(too_big)"),
        (
            "long",
            r#"{ printf '{"result": "clean", "summary_markdown": "'; head -c 300000 /dev/zero | tr '\0' a; echo '"}'; } >outcome.json
            archive outcome.json"#,
            "failed(too_big)",
        ),
        (
            "link",
            "ln -sf /etc/passwd artifacts/link; archive outcome.json artifacts",
            "failed(hostile_archive)",
        ),
        (
            "twin",
            "ln -f outcome.json artifacts/twin; archive outcome.json artifacts",
            "failed(hostile_archive)",
        ),
        ("absolute", r#"archive outcome.json "$PACK/artifacts""#, "failed(hostile_archive)"),
        ("above", "touch ../above; archive outcome.json ../above", "failed(hostile_archive)"),
        (
            "pipe",
            "rm -f artifacts/p; mkfifo artifacts/p; archive outcome.json artifacts",
            "failed(hostile_archive)",
        ),
        (
            "name",
            r"touch $(printf 'artifacts/\377'); archive outcome.json artifacts",
            "failed(hostile_archive)",
        ),
        ("stray", "touch stray; archive outcome.json stray", "failed(hostile_archive)"),
        ("noise", r"printf '\377\376' >outcome.json; archive outcome.json", "failed(bad_outcome)"),
        ("no-gzip", "echo hello | appear", "failed(bad_outcome)"),
        ("empty", "appear </dev/null", "failed(bad_outcome)"),
    ];
    let project = project(&hostile);
    run(&project, &hostile);
    let kept = project.folder().join("tasks");
    for (name, ..) in hostile {
        let left = files(&kept.join(format!("tests-{name}-sh")));
        let odd: Vec<_> = left.iter().filter(|file| !file.ends_with("screen.txt")).collect();
        assert!(odd.is_empty(), "{odd:?}");
    }
}

#[test]
fn what_stands_in_the_place_of_an_archive_and_is_no_file_is_never_opened() {
    let hostile = [
        ("pipe", r#"[ -e "$ARCHIVE" ] || mkfifo "$ARCHIVE""#, "failed(hostile_archive)"),
        ("folder", r#"mkdir -p "$ARCHIVE/x""#, "failed(hostile_archive)"),
        ("link", r#"ln -sf /dev/zero "$ARCHIVE""#, "failed(hostile_archive)"),
    ];
    run(&project(&hostile), &hostile);
}

#[test]
fn text_of_agents_reaches_terminal_and_page_only_as_text() {
    // Every field that is shown, each with markup that would run and codes that a terminal would obey.
    let part = r#"echo good >"parts/$NAME"
        git add --all
        EVIL='</script><script>alert(1)</script><img src=x onerror=alert(1)>'
        git commit --quiet --message "[FIX_IMPL] $EVIL $(printf '\033]0;owned\007\033[31m')"
        mkdir -p "$DESK/art"
        printf '%s\033[2J\n' "$EVIL" >"$DESK/art/<b>evil<b>.txt"
        E="$EVIL\\u001b[31m\\u0007\\u202e"
        echo '{"result": "fixed", "summary_markdown": "'"$E"'", "tests_passing_before": false, "tests_passing_after": true,
            "changes": [{"kind": "FIX_IMPL", "summary_markdown": "'"$E"'"}],
            "test_runs": [{"run_name": "r", "description_markdown": "'"$E"'"}],
            "escalations": [{"kind": "UNCAUGHT_BUG", "description_markdown": "'"$E"'", "locations": [{"path": "parts/evil"}]}]
        }' >"$DESK/o.json"
        "$MNGR_AGENT_STATE_DIR/commands/publish" "$DESK/o.json" "$DESK/art""#;
    let blocked = r#"E='<script>alert(1)</script>\u001b[31m'
        say '{"result": "blocked", "summary_markdown": "'"$E"'", "reason": "'"$E"'", "tests_passing_after": false}'"#;
    let project = Project::new();
    project.broken("fine", "fix");
    project.broken("evil", part);
    project.broken("stuck", blocked);
    let hostile = [("evil", "", "integrated"), ("stuck", "", "blocked")];
    run(&project, &hostile);
    let commit = project.seen().log("%H").last().unwrap().clone();
    for args in [vec!["tmr", "status"], vec!["tmr", "why", &commit], vec!["tmr", "report"]] {
        let output = project.env.mngr(&args).success();
        let shown = format!("{}{}", output.stdout, output.stderr);
        assert!(
            !shown.contains('\u{1b}') && !shown.contains('\u{7}') && !shown.contains('\u{202e}'),
            "{output}"
        );
    }
    for file in files(&project.folder().join("report")) {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("<script>alert") && !text.contains("<img src=x"), "{file}");
        assert!(!text.contains('\u{1b}'), "{file}");
    }
}

/// Tests and agents that print without end, and files of the agent that are larger than any memory.
fn loud(bytes: &str) {
    let project = Project::new();
    project.broken("fine", "fix");
    project.broken("talks", &format!("yes 'a line of no meaning' | head -c {bytes}; fix"));
    project.broken("tests", "fix");
    project.test("tests", "head -c 300000000 /dev/zero | tr '\\0' x; grep -qx good parts/tests");
    let hole = r#"truncate -s 400M "$MNGR_AGENT_STATE_DIR/plugin/scripted/usage.jsonl"; sleep 1; fix"#;
    project.broken("counts", hole);
    let hostile = [("talks", "", "integrated"), ("tests", "", "integrated"), ("counts", "", "integrated")];
    run(&project, &hostile);
}

#[test]
fn floods_of_output_are_not_kept_in_memory() {
    loud("30M");
}

#[test]
fn soak_a_gigabyte_of_output_is_not_kept_in_memory() {
    loud("1G");
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path().display().to_string()),
        }
    }
    found
}
