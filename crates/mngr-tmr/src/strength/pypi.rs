//! What measuring costs with programs that nobody here wrote, and that the same question has the same answer.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use mngr_model::run::{AttemptNumber, TaskId, Verdict};
use mngr_ops::fanout::fan_out_within;

use crate::collect::testing::path_with_pytest;
use crate::collect::{Collector, Selection};
use crate::strength::AcrossTasks;
use crate::syntax::{Function, Language, Source};
use crate::testing::Lab;
use crate::verify::{
    Guarded, Judged, Order, Report, Runner, RunnerError, Series, TestChange, Verifier, run_test,
};

/// How many mutants each test is measured with.
const MUTANTS: usize = 12;
/// How many tests of each project are measured.
const TESTS: usize = 50;
/// How many of them are measured three times.
const AGAIN: usize = 16;
/// How many are measured and then run alone before the next ones.
const IN_TURN: usize = 10;
/// How much longer measuring a test may take than running it once for each mutant.
const MOST: f64 = 1.5;

/// Counts what is run.
struct Counting<'a> {
    runner: &'a dyn Runner,
    runs: AtomicUsize,
    /// How long they took, in milliseconds.
    ms: AtomicU64,
    /// How many did not end in time.
    late: AtomicUsize,
}

impl Counting<'_> {
    fn note(&self, report: &Report) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.ms.fetch_add(report.run.ms, Ordering::Relaxed);
        self.late.fetch_add(usize::from(report.run.exit.is_none()), Ordering::Relaxed);
    }
}

impl Runner for Counting<'_> {
    fn run(&self, order: &Order<'_>) -> Result<Report, RunnerError> {
        self.runner.run(order).inspect(|report| self.note(report))
    }

    fn run_guarded(&self, order: &Order<'_>, quiet: Duration) -> Result<Guarded, RunnerError> {
        self.runner.run_guarded(order, quiet).inspect(|guarded| self.note(&guarded.report))
    }

    fn run_series(&self, series: &Series<'_>) -> Result<Vec<Report>, RunnerError> {
        self.runner.run_series(series).inspect(|reports| reports.iter().for_each(|report| self.note(report)))
    }

    fn outside(&self, what: &str) -> Result<String, RunnerError> {
        self.runner.outside(what)
    }

    fn take_outside(&self, path: &str) -> Result<String, RunnerError> {
        self.runner.take_outside(path)
    }

    fn width(&self) -> usize {
        self.runner.width()
    }

    fn close(&self) -> Result<(), RunnerError> {
        self.runner.close()
    }
}

/// What something took.
#[derive(Default)]
struct Cost {
    time: Duration,
    /// Of the processors: ours, and that of what we started.
    own: f64,
    started: f64,
}

impl Cost {
    fn of<T>(&mut self, project: &Project, work: impl FnOnce() -> T) -> T {
        let (began, (own, started)) = (Instant::now(), project.seconds_worked());
        let done = work();
        let (own_now, started_now) = project.seconds_worked();
        self.time += began.elapsed();
        (self.own, self.started) = (self.own + own_now - own, self.started + started_now - started);
        done
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, own, started } = self;
        write!(f, "{time:.1?} (work: {own:.1} s ours, {started:.1} s of what we started)")
    }
}

/// A project, and a change of each of its tests.
struct Project {
    lab: Lab,
    collector: Collector,
    /// Tests, each with a commit in which it checks one thing more.
    changes: Vec<(TaskId, String)>,
}

impl Project {
    /// The package of this name, with so many of its tests that pass.
    fn open(name: &'static str, tests: usize) -> Self {
        let own = format!("[pytest.env]\nPATH = '{}'", path_with_pytest());
        let collector =
            || Collector::named("pytest", &toml::from_str(&own).unwrap(), Selection::default()).unwrap();
        let mut lab = Lab::of_folders(&[packages().join(name)], collector());
        lab.mutants = MUTANTS;
        lab.repeats = 1;
        let (passing, _) = lab.guards_and_red();
        let step = (passing.len() / tests / 2).max(1);
        let changed = passing.iter().step_by(step).filter_map(|test| Some((test, one_more(&lab, test)?)));
        let chosen: Vec<_> = changed.take(tests).collect();
        assert_eq!(chosen.len(), tests, "{name} has too few tests");
        let changes = chosen.into_iter().map(|(test, (path, text))| {
            let files = [(path.as_str(), Some(text.as_str()))];
            (test.clone(), lab.commits(&[("[IMPROVE_TEST] one thing more", &files)]))
        });
        let changes = changes.collect();
        Self { collector: collector(), changes, lab }
    }

    /// Measures these, as many at once as there is room. What was found, in words; and how many runs it took.
    fn measure(&self, changes: &[(TaskId, String)], across_tasks: &AcrossTasks) -> (Vec<String>, String) {
        let counting = Counting {
            runner: &self.lab.pool,
            runs: AtomicUsize::new(0),
            ms: AtomicU64::new(0),
            late: AtomicUsize::new(0),
        };
        let verifier = Verifier { runner: &counting, across_tasks, ..self.lab.verifier() };
        let jobs: Vec<&(TaskId, String)> = changes.iter().collect();
        let found = fan_out_within(counting.width(), jobs, |(task, tip)| {
            let change = TestChange {
                task,
                attempt: AttemptNumber(1),
                from: &self.lab.base,
                to: tip,
                before: Verdict::Passed,
                is_new: false,
            };
            let Judged { strength, reasons, refusal } = verifier.judge_tests(&change).unwrap();
            format!("{task}: {strength:?} {reasons:?} {refusal:?}")
        });
        let (runs, ms, late) =
            (counting.runs.into_inner(), counting.ms.into_inner(), counting.late.into_inner());
        (found, format!("{runs} runs ({} s, {late} of them too late)", ms / 1000))
    }

    /// How long this process itself has worked, and how long those have that it started and that are over.
    fn seconds_worked(&self) -> (f64, f64) {
        let stat = self.lab.host.files().read_text(&HostPath::new("/proc/self/stat")).unwrap();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks: Vec<f64> = after_name.split_whitespace().skip(11).flat_map(str::parse).take(4).collect();
        ((ticks[0] + ticks[1]) / 100.0, (ticks[2] + ticks[3]) / 100.0)
    }

    /// Runs each of these so often, one after another.
    fn run_alone(&self, changes: &[(TaskId, String)], times: usize) {
        for (task, _) in changes.iter().cycle().take(changes.len() * times) {
            let report = run_test(&self.lab.pool, &self.collector, &self.lab.base, task).unwrap();
            assert!(report.is_pass, "{task}: {}", report.tail);
        }
    }
}

/// Where the packages are.
pub(crate) fn packages() -> HostPath {
    let lab = Lab::new(&[]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/ensure-projects");
    let output = lab.host.exec(&Cmd::new(script)).unwrap();
    assert!(output.success(), "{}", output.stderr_text());
    HostPath::new(output.stdout_text().trim())
}

/// The file of a test, and its text with one more assertion at the end of this test; nothing where that is not plain to do.
fn one_more(lab: &Lab, test: &TaskId) -> Option<(String, String)> {
    let (path, _) = test.as_str().split_once("::")?;
    let (_, name) = test.as_str().rsplit_once("::")?;
    // As root every file can be written, and one of several parameters is no function of its own.
    if name.contains('[') || test.as_str().contains("Writability") {
        return None;
    }
    let text = lab.host.files().read_text(&lab.repository().join(path)).ok()?;
    let source = Source::parse(Language::Python, &text)?;
    let named = |function: &&Function| function.name.ends_with(name) && function.is_test;
    let mut found = source.functions().iter().filter(named);
    let (function, None) = (found.next()?, found.next()) else { return None };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = text[..function.body.start].matches('\n').count();
    let body = lines.get(first)?;
    let indent = body[..body.len() - body.trim_start().len()].to_owned();
    lines.insert(*function.lines.end(), format!("{indent}assert __name__"));
    Some((path.to_owned(), lines.join("\n") + "\n"))
}

/// Measuring all tests takes little more than running each once for each mutant, and gives the same every time.
fn costs_little(name: &'static str) {
    let (tests, again) = (asked("MNGR_PYPI_TESTS", TESTS), asked("MNGR_PYPI_AGAIN", AGAIN));
    let project = Project::open(name, tests);
    let (mut measured, mut alone) = (Cost::default(), Cost::default());
    let mut found = Vec::new();
    // In turns, so that whatever else the machine does meets both.
    for some in project.changes.chunks(IN_TURN) {
        let (lines, runs) = measured.of(&project, || project.measure(some, &project.lab.across_tasks));
        alone.of(&project, || project.run_alone(some, MUTANTS));
        eprintln!("{name}: {} more tests: {runs}; so far {measured}, alone {alone}", some.len());
        lines.iter().for_each(|line| eprintln!("  {}", line.chars().take(160).collect::<String>()));
        found.extend(lines);
    }
    let ratio = measured.time.as_secs_f64() / alone.time.as_secs_f64();
    let single = tests * MUTANTS;
    eprintln!(
        "{name}: {tests} tests, {MUTANTS} mutants: {measured}; {single} single runs: {alone}; {ratio:.2}x"
    );
    let some: Vec<(TaskId, String)> = project.changes.iter().take(again).cloned().collect();
    for _ in 1..3 {
        let (again, _) = project.measure(&some, &AcrossTasks::default());
        assert_eq!(again, found[..some.len().min(found.len())], "{name}");
    }
    assert!(ratio <= MOST, "{name}: {ratio:.2}");
}

fn asked(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
fn soak_tool_pytest_pypi_cogapp_is_measured_in_little_more_time_than_its_runs_take() {
    costs_little("cogapp");
}

#[test]
fn soak_tool_pytest_pypi_tabulate_is_measured_in_little_more_time_than_its_runs_take() {
    costs_little("tabulate");
}
