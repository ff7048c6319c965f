//! How long an integration takes beside running all tests once: projects of hundreds of tests, twelve bugs, and one change
//! that breaks other tests.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mngr_model::run::TaskId;
use mngr_ops::fanout::fan_out_within;

use super::*;
use crate::collect::testing::path_with_pytest;
use crate::collect::{Bench, Collector, Selection, TestStatus};
use crate::strength::pypi::packages;
use crate::testing::Lab;
use crate::verify::{Runner as _, run_test};

/// How much longer it may take.
const MOST: f64 = 3.0;

/// One small change in a file.
struct Edit {
    file: String,
    right: String,
    wrong: String,
}

impl Edit {
    fn new(file: &str, right: &str, wrong: &str) -> Self {
        let [file, right, wrong] = [file, right, wrong].map(str::to_owned);
        Self { file, right, wrong }
    }
}

/// A project, what is wrong with it, and what whoever repairs the first bug breaks in the same file.
struct Large {
    lab: Lab,
    /// The commit without bugs.
    right: String,
    /// Each in a file of its own.
    bugs: Vec<Edit>,
    breaks: Edit,
}

fn pytest() -> Collector {
    let own = format!("[pytest.env]\nPATH = '{}'", path_with_pytest());
    Collector::named("pytest", &toml::from_str(&own).unwrap(), Selection::default()).unwrap()
}

impl Large {
    /// The project as it is without bugs.
    fn new(mut lab: Lab, bugs: Vec<Edit>, breaks: Edit) -> Self {
        lab.repeats = 1;
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for bug in &bugs {
            let text = files.entry(bug.file.clone()).or_insert_with(|| text_of(&lab, &lab.base, &bug.file));
            assert_eq!(text.matches(&bug.right).count(), 1, "{} in {}", bug.right, bug.file);
            *text = text.replace(&bug.right, &bug.wrong);
        }
        let files: Vec<(&str, Option<&str>)> =
            files.iter().map(|(file, text)| (file.as_str(), Some(text.as_str()))).collect();
        assert_eq!(files.len(), bugs.len());
        let right = std::mem::take(&mut lab.base);
        lab.base = lab.commits_on(&right, &[("twelve bugs", &files)]);
        Self { lab, right, bugs, breaks }
    }

    /// The file of a bug without it.
    fn repaired(&self, bug: &Edit) -> String {
        text_of(&self.lab, &self.right, &bug.file)
    }

    fn statuses(&self, tests: &Collector, commit: &str, ids: &[TaskId]) -> BTreeMap<TaskId, TestStatus> {
        tests.run_many(&Bench { runner: &self.lab.pool, commit }, ids).unwrap()
    }

    /// What an agent has made of each test that one repair turns green. Whoever looks after the first bug breaks something.
    fn inputs(&self, tests: &Collector, red: &[TaskId]) -> Vec<Input> {
        let mut wanted: Vec<(TaskId, usize)> = Vec::new();
        for (number, bug) in self.bugs.iter().enumerate() {
            let text = self.repaired(bug);
            let commit = self.lab.commits(&[("one repaired", &[(&bug.file, Some(text.as_str()))])]);
            let now = self.statuses(tests, &commit, red);
            let green = red.iter().filter(|test| now.get(test) == Some(&TestStatus::Passed)).cloned();
            let most = if number == 0 { 1 } else { usize::MAX };
            wanted.extend(green.take(most).map(|test| (test, number)));
        }
        let numbers: BTreeSet<usize> = wanted.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers.len(), self.bugs.len(), "every bug has a test of its own");
        let candidate = |(test, number): (TaskId, usize)| {
            let bug = &self.bugs[number];
            let mut text = self.repaired(bug);
            if number == 0 {
                assert_eq!(text.matches(&self.breaks.right).count(), 1, "{}", self.breaks.right);
                text = text.replace(&self.breaks.right, &self.breaks.wrong);
            }
            let subject = format!("[FIX_IMPL] repair {number}");
            self.lab.candidate(test.as_str(), &[(&subject, &[(&bug.file, Some(text.as_str()))])])
        };
        let candidates: Vec<_> = wanted.into_iter().map(candidate).collect();
        fan_out_within(self.lab.pool.width(), candidates, |candidate| Input {
            verification: self.lab.verify(&candidate),
            candidate,
        })
    }
}

fn text_of(lab: &Lab, commit: &str, file: &str) -> String {
    lab.git(&["show", &format!("{commit}:{file}")]) + "\n"
}

/// Puts everything together, says how long it took, and looks at every commit.
fn takes_little(name: &str, large: &Large, tests_at_least: usize) {
    let (lab, tests) = (&large.lab, pytest());
    let (guards, red) = lab.guards_and_red();
    let all: Vec<TaskId> = guards.iter().chain(&red).cloned().collect();
    assert!(all.len() >= tests_at_least, "{}", all.len());
    assert!((30..=70).contains(&red.len()), "{} tests fail", red.len());
    let inputs = large.inputs(&tests, &red);
    let once = || {
        let began = Instant::now();
        let _ = large.statuses(&tests, &lab.base, &all);
        began.elapsed()
    };
    let before = once();
    let began = Instant::now();
    let integrator = lab.integrator(None);
    let count = inputs.len();
    let result = integrator.integrate(inputs, &Tests { guards: &guards, red: &red }, &mut |_| {}).unwrap();
    let put = began.elapsed();
    let last = integrator.final_run(&result.tip, &all).unwrap();
    let took = began.elapsed();
    let once: Duration = (before + once()) / 2;
    let ratio = took.as_secs_f64() / once.as_secs_f64();
    eprintln!(
        "{name}: {} tests, {} fail, {count} changes, {} commits, {} left out; all tests once: {once:.1?}; put together \
         in {put:.1?}, with the last run {took:.1?}: {ratio:.2}x",
        all.len(),
        red.len(),
        result.commits.len(),
        result.expelled.len(),
    );
    assert_eq!(result.commits.len(), large.bugs.len() - 1, "{:?}", result.expelled);
    assert_eq!(result.expelled.len(), 1, "{:?}", result.expelled);
    for commit in &result.commits {
        let now = large.statuses(&tests, &commit.oid, &guards);
        for test in guards.iter().filter(|test| now.get(test) != Some(&TestStatus::Passed)) {
            let alone = run_test(&lab.pool, &tests, &commit.oid, test).unwrap();
            assert!(alone.is_pass, "{test} at {}: {}", commit.subject, alone.tail);
        }
    }
    let repaired = large.bugs.len() - 1;
    assert!(last.failed < red.len() && last.failed + repaired <= red.len(), "{last:?}");
    assert!(ratio <= MOST, "{name}: {ratio:.2}x");
}

/// Forty modules of twenty functions, each with a test that works for some milliseconds.
fn made_up() -> Large {
    let mut files = vec![("conftest.py".to_owned(), String::new())];
    for module in 0..40 {
        let mut program = format!("def common():\n    return {module}\n");
        let mut tests = format!(
            "from many import m{module:02} as it\n\n\ndef work():\n    return sum(n * n for n in range(60_000))\n"
        );
        for n in 0..20 {
            // The first four follow from the common one.
            let value = if n < 4 { format!("common() + {n}") } else { format!("{module} + {n}") };
            program += &format!("\n\ndef f{n:02}():\n    return {value}\n");
            tests += &format!(
                "\n\ndef test_f{n:02}():\n    assert work()\n    assert it.f{n:02}() == {}\n",
                module + n
            );
        }
        files.push((format!("many/m{module:02}.py"), program));
        files.push((format!("tests/test_m{module:02}.py"), tests));
    }
    files.push(("many/__init__.py".to_owned(), String::new()));
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let bug = |module: usize| {
        let file = format!("many/m{module:02}.py");
        Edit::new(&file, &format!("    return {module}\n"), &format!("    return -{module}\n"))
    };
    let bugs = (1..13).map(|n| bug(n * 3)).collect();
    let breaks = Edit::new("many/m03.py", "def f10():\n    return 3 + 10", "def f10():\n    return 3 - 10");
    Large::new(Lab::with(&files, pytest()), bugs, breaks)
}

fn boltons() -> Large {
    let lab = Lab::of_folders(&[packages().join("boltons")], pytest());
    let edit =
        |module: &str, right: &str, wrong: &str| Edit::new(&format!("boltons/{module}.py"), right, wrong);
    let bugs = vec![
        edit(
            "iterutils",
            "    if value < 0 or (strictly_positive and value == 0):",
            "    if value >= 0 or (strictly_positive and value == 0):",
        ),
        edit("dictutils", "        return not (self == other)", "        return not (self != other)"),
        edit(
            "timeutils",
            "    if stop and not isinstance(stop, date):",
            "    if stop or not isinstance(stop, date):",
        ),
        edit(
            "urlutils",
            "                if port_str and port_str[0] == ':':",
            "                if port_str and port_str[0] != ':':",
        ),
        edit("setutils", "        elif len(others) == 1:", "        elif len(others) != 1:"),
        edit(
            "statsutils",
            "            bins = [b for b in bins if b < max_data]",
            "            bins = [b for b in bins if b >= max_data]",
        ),
        edit("mathutils", "    if i == len(options):", "    if i != len(options):"),
        edit(
            "cacheutils",
            "    elif len(key) == 1 and type(key[0]) in fasttypes:",
            "    elif len(key) == 1 or type(key[0]) in fasttypes:",
        ),
        edit(
            "formatutils",
            "        if group == '{{' or group == '}}':",
            "        if group != '{{' or group == '}}':",
        ),
        edit("socketutils", "            if len(sbuf) > 1:", "            if len(sbuf) <= 1:"),
        edit("fileutils", "    for i in range(1, keep + 1):", "    for i in range(1, keep + 2):"),
        edit("ioutils", "        return False", "        return True"),
    ];
    let breaks = edit(
        "iterutils",
        "def is_iterable(obj):\n",
        "def is_iterable(obj):\n    return False\n\n\ndef was_iterable(obj):\n",
    );
    Large::new(lab, bugs, breaks)
}

#[test]
fn soak_tool_pytest_eight_hundred_tests_are_put_together_in_three_times_their_own_time() {
    takes_little("made up", &made_up(), 800);
}

#[test]
fn soak_tool_pytest_pypi_boltons_is_put_together_in_three_times_the_time_of_its_tests() {
    takes_little("boltons", &boltons(), 400);
}
