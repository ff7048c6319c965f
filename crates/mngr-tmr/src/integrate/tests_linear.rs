//! How many commands an integration runs: as many as there are changes, not as there are tests. And that whoever goes on
//! runs none of them again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;

use mngr_config::CollectorSettings;
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_model::HostPath;
use mngr_model::run::{Checked, Event};

use super::*;
use crate::collect::{Collector, Selection};
use crate::testing::{Lab, fix, id};

/// Tests that pass at the base, beside those that changes are for.
const GUARDS: usize = 60;
/// Changes that are right.
const FIXES: usize = 6;

/// A project whose tests can be run together, and a list of the commands that were run: how many tests each was given.
struct World {
    lab: Lab,
    runs: HostPath,
    host: LocalHost,
    _dir: tempfile::TempDir,
}

impl World {
    /// `ill` is what a test does, beside failing, when `src/lib` is not as it wants it.
    fn new(ill: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host = LocalHost::open(root.join("host")).unwrap();
        let runs = root.join("runs");
        let said = format!(
            r#"
            collect = "ls tests/*.sh"
            one = "echo 1 >>{runs}; sh {{id}}"
            many = "set -- {{ids}}; echo $# >>{runs}; export LOOP=$$; bad=0; for t; do if sh $t; then echo PASS $t; else echo FAIL $t; bad=1; fi; done; exit $bad"
            result_pattern = '^(?<status>PASS|FAIL) (?<id>\S+)$'
            passed = ["PASS"]
            "#
        );
        let settings: CollectorSettings = toml::from_str(&said).unwrap();
        let settings = BTreeMap::from([("sh".to_owned(), settings)]);
        let collector = Collector::named("sh", &settings, Selection::default()).unwrap();
        let mut files = vec![("src/lib".to_owned(), "one=1\n".to_owned())];
        for n in 0..GUARDS {
            // Every third one looks at what the breaking change changes.
            let text = match n % 3 {
                0 => format!(". ./src/lib\n[ $one = 1 ] || {{ {ill}; false; }}\n"),
                _ => "true\n".to_owned(),
            };
            files.push((format!("tests/guard{n:02}.sh"), text));
        }
        for n in 0..=FIXES {
            files.push((format!("src/{n}"), "wrong\n".to_owned()));
            files.push((format!("tests/{n}.sh"), format!("[ \"$(cat src/{n})\" = right ]\n")));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let mut lab = Lab::with(&files, collector);
        lab.repeats = 1;
        Self { lab, runs, host, _dir: dir }
    }

    /// Good changes, and one that mends its own test and breaks others.
    fn inputs(&self) -> Vec<Input> {
        let bad = [("src/6", Some("right\n")), ("src/lib", Some("one=7\n"))];
        let bad = self.lab.input("tests/6.sh", &[("[FIX_IMPL] sly", &bad)]);
        (0..FIXES).map(|n| fix(&self.lab, n)).chain([bad]).collect()
    }

    /// How many tests each command was given since the last time.
    fn taken(&self) -> Vec<usize> {
        let bytes = self.host.files().read_if_there(&self.runs).unwrap().unwrap_or_default();
        self.host.files().remove_file(&self.runs).unwrap();
        String::from_utf8(bytes).unwrap().lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Integrates with what is known, and returns what became known.
    fn integrate(&self, inputs: &[Input], known: &[Checked]) -> (Integrated, Vec<Checked>) {
        let ledger = Arc::new(Ledger::default());
        known.iter().for_each(|checked| ledger.remember(checked));
        let (sender, told) = channel();
        ledger.tell(sender);
        let integrator = Integrator { ledger: ledger.clone(), ..self.lab.integrator(Some("true")) };
        let guards: Vec<_> = (0..GUARDS).map(|n| id(&format!("tests/guard{n:02}.sh"))).collect();
        let tests = Tests { guards: &guards, red: &[] };
        let result = integrator.integrate(inputs.to_vec(), &tests, &mut |_| {}).unwrap();
        ledger.hush();
        let checked = |event| match event {
            Event::Checked(checked) => checked,
            other => panic!("{other:?}"),
        };
        (result, told.into_iter().map(checked).collect())
    }
}

#[test]
fn a_change_that_breaks_many_tests_costs_a_few_commands_and_not_one_for_each_test() {
    let world = World::new("true");
    let inputs = world.inputs();
    let _ = world.taken();
    let (result, _) = world.integrate(&inputs, &[]);
    let runs = world.taken();
    assert_eq!(result.commits.len(), FIXES);
    let expelled: Vec<&str> = result.expelled.iter().map(|one| one.task.as_str()).collect();
    assert_eq!(expelled, ["tests/6.sh"]);
    // All tests twice: with the bad change and without it. Each change once, a few failures again, a few steps back.
    let full = runs.iter().filter(|tests| **tests >= GUARDS).count();
    assert_eq!(full, 2, "{runs:?}");
    assert!(runs.len() <= 2 * FIXES + 10, "{runs:?}");
    assert!(runs.iter().sum::<usize>() < 3 * (GUARDS + FIXES), "{runs:?}");
}

#[test]
fn a_change_that_ends_the_common_process_is_found_in_halves() {
    // Only the common process has it; alone the test just fails.
    let world = World::new("[ -z \"$LOOP\" ] || kill -9 $LOOP");
    let inputs = world.inputs();
    let _ = world.taken();
    let (result, _) = world.integrate(&inputs, &[]);
    let runs = world.taken();
    assert_eq!((result.commits.len(), result.expelled.len()), (FIXES, 1), "{:?}", result.expelled);
    assert_eq!(result.expelled[0].task, id("tests/6.sh"));
    assert!(runs.len() < GUARDS, "{runs:?}");
}

#[test]
fn whoever_goes_on_after_a_kill_runs_nothing_twice_and_ends_the_same() {
    let world = World::new("true");
    let inputs = world.inputs();
    let (first, told) = world.integrate(&inputs, &[]);
    let all = world.taken().len();
    assert!(told.len() > 5, "{told:?}");
    let mut last = usize::MAX;
    // Killed after so many lines of the journal.
    for lines in [1, told.len() / 3, told.len() / 2, told.len() - 1, told.len()] {
        let (again, more) = world.integrate(&inputs, &told[..lines]);
        assert_eq!(again, first, "killed after {lines} lines");
        let twice: Vec<_> = more.iter().filter(|new| told[..lines].contains(new)).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let runs = world.taken().len();
        assert!(runs <= last.min(all), "{runs} commands after {lines} of {} lines", told.len());
        last = runs;
    }
    assert_eq!(last, 0, "everything was known");
}
