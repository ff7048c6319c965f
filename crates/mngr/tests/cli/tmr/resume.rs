//! An orchestrator that is killed, and one that goes on: the run ends as if nothing had happened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use mngr_testkit::{CmdOutput, Running, Signal};

use super::project::{Project, RUN};

/// Longer than any run here takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(55);

/// What a run comes to, whoever conducted it and how often he was killed. Times, hashes of commits and costs are left out.
#[derive(Debug, PartialEq)]
struct Verdict {
    /// The files of the result that are not as they were, and what they say.
    files: Vec<String>,
    /// Subject and votes of each commit, in order.
    commits: Vec<String>,
    ends: BTreeMap<String, String>,
}

/// When the orchestrator is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So long after its journal is seen to have so many lines about this: an event, a stage or a step.
    Seen(&'static str, usize, Duration),
    /// Right after the n-th step that it notes, in its journal or in that of an agent being created.
    Step(usize),
}

/// One agent of each sort: good ones, one that dies first, two that agree, two that do not, a liar. `stage` gets a line
/// for every message that any of them takes.
fn project() -> Project {
    let project = Project::new();
    let noted =
        |part: &str| format!(r#"echo "$NAME $MNGR_TMR_ATTEMPT $TURN" >>"$STAGE/taken"; sleep 0.2; {part}"#);
    let named = |name: &str, part: &str| project.broken(name, &noted(part));
    project.passing("always");
    named("good", "fix");
    named("late", "sleep 0.5; fix");
    named("killed", r#"[ "$MNGR_TMR_ATTEMPT" != 1 ] || die; fix"#);
    named("liar", "echo worse >>parts/liar; commit '[FIX_IMPL] the liar is good'; publish");
    for name in ["same-1", "same-2"] {
        project.test(name, "grep -qx good parts/common");
        project.part(name, &noted("echo good >parts/common; commit '[FIX_IMPL] common is good'; publish"));
    }
    project.write("parts/common", "bad\n");
    for name in ["one", "two"] {
        project.test(name, &format!("grep -q {name} parts/line"));
        let part = format!("echo {name} >parts/line; commit '[FIX_IMPL] the line says {name}'; publish");
        project.part(name, &noted(&part));
    }
    project.write("parts/line", "nothing\n");
    let both =
        "echo one two >parts/line; commit '[FIX_IMPL] the line says both\n\nTask: tests/two.sh'; publish";
    project.part("integrator", &format!(r#"echo "$NAME {RUN} $TURN" >>"$STAGE/taken"; {both}"#));
    project
}

#[track_caller]
fn verdict(project: &Project) -> Verdict {
    let run = project.seen();
    let changed = project.git(&["diff", "--name-only", "main", run.branch()]);
    let said = |file: &str| {
        format!("{file}: {}", project.git(&["show", &format!("{}:{file}", run.branch())]).trim())
    };
    let files = changed.lines().map(said).collect();
    Verdict { files, commits: run.log("%s|%(trailers:key=Votes,valueonly)"), ends: run.ends() }
}

/// The verdict of a run that nobody kills.
fn expected() -> Verdict {
    let ends = [
        ("always", "clean"),
        ("good", "integrated"),
        ("killed", "integrated"),
        ("late", "integrated"),
        ("liar", "failed(verification)"),
        ("one", "integrated"),
        ("same-1", "integrated"),
        ("same-2", "integrated"),
        ("two", "integrated"),
    ];
    let commits = [
        "[FIX_IMPL] common is good|2",
        "[FIX_IMPL] good is good|1",
        "[FIX_IMPL] killed is good|1",
        "[FIX_IMPL] late is good|1",
        "[FIX_IMPL] the line says one|1",
        "[FIX_IMPL] the line says both|",
    ];
    let files = [
        "parts/common: good",
        "parts/good: good",
        "parts/killed: good",
        "parts/late: good",
        "parts/line: one two",
    ];
    Verdict {
        files: files.map(str::to_owned).to_vec(),
        commits: commits.map(str::to_owned).to_vec(),
        ends: ends.map(|(name, end)| (format!("tests/{name}.sh"), end.to_owned())).into(),
    }
}

/// How many lines of the journal are about this.
fn lines(folder: &Path, what: &str) -> usize {
    let journal = fs::read_to_string(folder.join("run.jsonl")).unwrap_or_default();
    let about = |key: &str| format!("\"{key}\":\"{what}\"");
    let wanted = [about("event"), about("stage"), about("step")];
    journal.lines().filter(|line| wanted.iter().any(|wanted| line.contains(wanted))).count()
}

/// Starts the run, or goes on with it, and has it killed. Whether it was: it may have been faster.
#[track_caller]
fn killed(project: &mut Project, moment: Moment, start: impl Fn(&Project) -> Running) -> bool {
    let output = match moment {
        Moment::Step(step) => {
            project.env.set_var("MNGR_FAULT_KILL_AT", step.to_string());
            let output = start(project).finish();
            project.env.set_var("MNGR_FAULT_KILL_AT", "0");
            output
        }
        Moment::Seen(what, count, then) => {
            let mut running = start(project);
            let since = Instant::now();
            while lines(&project.folder(), what) < count && running.is_running() {
                assert!(since.elapsed() < LIMIT, "{moment:?} is never reached");
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(then);
            if running.is_running() {
                running.signal(Signal::KILL);
            }
            running.finish()
        }
    };
    let is_killed = output.status.signal() == Some(9);
    assert!(is_killed || output.status.success(), "{output}");
    is_killed
}

#[track_caller]
fn resume(project: &Project) -> CmdOutput {
    project.env.mngr(["tmr", "resume", RUN])
}

/// Whether a run that was killed at this moment and gone on with ends as it should.
#[track_caller]
fn check(moment: Moment) {
    let mut project = project();
    let was_killed = killed(&mut project, moment, |project| project.start(&[]));
    assert!(was_killed, "{moment:?}: the run was over before");
    let output = resume(&project).success();
    assert_eq!(verdict(&project), expected(), "killed at {moment:?}\n{output}");
    assert_nothing_is_left(&project);
    assert_nothing_is_checked_twice(&project);
}

/// Whether no test was run again on files on which it was run before the orchestrator was killed.
#[track_caller]
fn assert_nothing_is_checked_twice(project: &Project) {
    let run = project.seen();
    let mut seen = BTreeSet::new();
    for line in run.events("checked") {
        let passed = line["passed"].as_array().into_iter().flatten().map(|test| test.to_string());
        let failed = line["failed"].as_object().into_iter().flatten().map(|(test, _)| test.clone());
        for test in passed.chain(failed) {
            assert!(seen.insert((line["tree"].to_string(), test)), "{line}");
        }
    }
    assert!(!seen.is_empty());
}

/// Whether no agent had the same message twice or was replaced by one of the same attempt, none runs, nobody owns the
/// run, and of the orchestrator's checkouts and files nothing is left.
#[track_caller]
fn assert_nothing_is_left(project: &Project) {
    let taken = fs::read_to_string(project.stage().join("taken")).unwrap();
    let once: BTreeSet<&str> = taken.lines().collect();
    assert_eq!(once.len(), taken.lines().count(), "a message was taken twice:\n{taken}");
    project.assert_nothing_runs();
    let left = fs::read_dir(project.env.host_dir().join("tmr")).into_iter().flatten().count();
    assert_eq!(left, 0, "folders of the run");
    let agents = project.env.host_dir().join("worktrees");
    let worktrees = project.git(&["worktree", "list", "--porcelain"]);
    let worktrees = worktrees.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1);
    let others: Vec<_> = worktrees.filter(|tree| !Path::new(tree).starts_with(&agents)).collect();
    assert!(others.is_empty(), "{others:?}");
    let refs = project.git(&["for-each-ref", "--format=%(refname)"]);
    let own = |name: &&str| *name != "refs/heads/main" && !name.starts_with("refs/heads/tmr/");
    let others: Vec<_> = refs.lines().filter(own).collect();
    assert!(others.is_empty(), "{others:?}");
    let status = project.env.mngr(["tmr", "status", RUN, "--format", "json"]).success().json();
    assert_eq!(status["state"], "finished", "{status}");
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    /// One of `0..below`.
    fn roll(&mut self, below: usize) -> usize {
        // The generator of Lehmer, with Park and Miller's numbers.
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        self.0 as usize % below.max(1)
    }

    /// At random in this part of the run: after one of the first `count` lines about it.
    fn moment(&mut self, what: &'static str, count: usize) -> Moment {
        let count = 1 + self.roll(count);
        Moment::Seen(what, count, Duration::from_millis(self.roll(100) as u64))
    }
}

/// The parts of a run, each with how many lines of its journal are about it at least.
const PARTS: [(&str, usize); 11] = [
    ("task_queued", 9),
    ("launching", 9),
    ("ready", 9),
    ("working", 9),
    ("published", 8),
    ("pulled", 8),
    ("verified", 7),
    ("checked", 6),
    ("ranked", 4),
    ("picked", 4),
    ("asked", 2),
];

#[test]
fn a_run_that_nobody_kills_ends_like_this() {
    let project = project();
    let (_, output) = project.run(&[], 0);
    assert_eq!(verdict(&project), expected(), "{output}");
    assert_nothing_is_left(&project);
}

#[test]
fn a_run_killed_while_it_plans_ends_as_if_it_had_not_been() {
    check(Dice(1).moment("task_queued", 9));
}

#[test]
fn a_run_killed_while_it_launches_ends_as_if_it_had_not_been() {
    check(Dice(2).moment("launching", 4));
}

#[test]
fn a_run_killed_while_results_arrive_ends_as_if_it_had_not_been() {
    check(Dice(3).moment("published", 8));
}

#[test]
fn a_run_killed_while_it_measures_ends_as_if_it_had_not_been() {
    check(Dice(4).moment("verified", 7));
}

#[test]
fn a_run_killed_while_it_puts_results_together_goes_on_inside_and_ends_as_if_it_had_not_been() {
    check(Dice(6).moment("checked", 6));
}

#[test]
fn a_run_killed_while_its_integrator_works_ends_as_if_it_had_not_been() {
    check(Dice(5).moment("asked", 1));
}

#[test]
fn a_run_killed_again_and_again_ends_as_if_it_had_not_been() {
    let mut project = project();
    let mut dice = Dice(11);
    assert!(killed(&mut project, Moment::Step(5), |project| project.start(&[])));
    let mut kills = 1;
    let go_on = |project: &Project| project.env.spawn(["tmr", "resume", RUN]);
    while kills < 6 && killed(&mut project, Moment::Step(10 + dice.roll(30)), go_on) {
        kills += 1;
    }
    assert!(kills > 3, "it was killed {kills} times only");
    let output = resume(&project).success();
    assert_eq!(verdict(&project), expected(), "{output}");
    assert_nothing_is_left(&project);
}

#[test]
fn soak_thirty_runs_killed_at_random_moments_end_as_if_they_had_not_been() {
    let mut dice = Dice(23);
    for (what, count) in [PARTS, PARTS].concat() {
        check(dice.moment(what, count));
    }
    for step in 0..10 {
        check(Moment::Step(1 + step * 12 + dice.roll(12)));
    }
}
