//! What checks came to, tree by tree, and what is being run now. One for a whole run: what was run on the same files once
//! is not run again, whichever step asks, and whoever goes on after a killed orchestrator reads it from the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mngr_model::run::{CheckEnd, Checked, Event, TaskId};

use super::checks::{Check, Failure};

/// The results of one tree.
type Results = BTreeMap<Check, Option<Failure>>;

/// What checks came to.
#[derive(Default)]
pub struct Ledger {
    known: Mutex<BTreeMap<String, Results>>,
    /// Tests that were seen to fail beside others, by tree. Not confirmed: it says no more than that.
    beside: Mutex<BTreeMap<String, BTreeSet<TaskId>>>,
    running: Mutex<Running>,
    told: Mutex<Option<Sender<Event>>>,
}

/// What is being run.
#[derive(Default)]
struct Running {
    number: u64,
    lines: BTreeMap<u64, (String, Instant)>,
}

/// Something that is being run, until it is dropped.
pub(crate) struct Underway<'l> {
    ledger: &'l Ledger,
    number: u64,
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        lock(&self.ledger.running).lines.remove(&self.number);
    }
}

impl Ledger {
    /// From now on what becomes known is told here.
    pub fn tell(&self, listener: Sender<Event>) {
        *lock(&self.told) = Some(listener);
    }

    /// Nobody is told any more.
    pub fn hush(&self) {
        *lock(&self.told) = None;
    }

    /// Takes in what an orchestrator before this one has noted.
    pub fn remember(&self, checked: &Checked) {
        let mut known = lock(&self.known);
        let results = known.entry(checked.tree.clone()).or_default();
        if let Some(gate) = &checked.gate {
            results.insert(Check::Gate, failure_of(Check::Gate, gate));
        }
        results.extend(checked.passed.iter().map(|test| (Check::Test(test.clone()), None)));
        results.extend(checked.failed.iter().map(|(test, end)| {
            let check = Check::Test(test.clone());
            (check.clone(), failure_of(check, end))
        }));
        if !checked.beside.is_empty() {
            let mut beside = lock(&self.beside);
            beside.entry(checked.tree.clone()).or_default().extend(checked.beside.iter().cloned());
        }
    }

    /// What is being run, the longest first: in words, with its seconds.
    pub fn running(&self) -> Vec<(String, u64)> {
        let running = lock(&self.running);
        running.lines.values().map(|(what, since)| (what.clone(), since.elapsed().as_secs())).collect()
    }

    /// What a check came to, if it was run.
    pub(super) fn result(&self, tree: &str, check: &Check) -> Option<Option<Failure>> {
        lock(&self.known).get(tree)?.get(check).cloned()
    }

    /// Of these tests those of which nothing was seen on a tree, not even that they fail beside others.
    pub(super) fn unseen(&self, tree: &str, tests: &[TaskId]) -> Vec<TaskId> {
        let (known, beside) = (lock(&self.known), lock(&self.beside));
        let is_known = |test: &TaskId| {
            known.get(tree).is_some_and(|results| results.contains_key(&Check::Test(test.clone())))
                || beside.get(tree).is_some_and(|tests| tests.contains(test))
        };
        tests.iter().filter(|test| !is_known(test)).cloned().collect()
    }

    /// Whether a test was seen to fail on a tree, if only beside others.
    pub(super) fn was_red(&self, tree: &str, test: &TaskId) -> bool {
        let is_beside = lock(&self.beside).get(tree).is_some_and(|tests| tests.contains(test));
        is_beside || matches!(self.result(tree, &Check::Test(test.clone())), Some(Some(_)))
    }

    /// Notes tests that fail beside others.
    pub(super) fn note_beside(&self, tree: &str, tests: Vec<TaskId>) {
        if tests.is_empty() {
            return;
        }
        let checked = Checked { tree: tree.to_owned(), beside: tests, ..Checked::default() };
        self.remember(&checked);
        self.send(checked);
    }

    /// Something is being run.
    pub(crate) fn underway(&self, what: String) -> Underway<'_> {
        let mut running = lock(&self.running);
        running.number += 1;
        let number = running.number;
        running.lines.insert(number, (what, Instant::now()));
        Underway { ledger: self, number }
    }

    /// Notes what checks of a tree came to.
    pub(super) fn note(&self, tree: &str, results: Vec<(Check, Option<Failure>)>) {
        if results.is_empty() {
            return;
        }
        self.send(checked(tree, &results));
        lock(&self.known).entry(tree.to_owned()).or_default().extend(results);
    }

    fn send(&self, checked: Checked) {
        if let Some(listener) = lock(&self.told).as_ref() {
            // Whoever listened may have gone: then it is run once more by the next one.
            let _ = listener.send(Event::Checked(checked));
        }
    }
}

fn checked(tree: &str, results: &[(Check, Option<Failure>)]) -> Checked {
    let mut checked = Checked { tree: tree.to_owned(), ..Checked::default() };
    for (check, failure) in results {
        let end = CheckEnd {
            passed: failure.is_none(),
            exit: failure.as_ref().map_or(Some(0), |failure| failure.exit),
            output: failure.as_ref().map(|failure| failure.tail.clone()).unwrap_or_default(),
        };
        match check {
            Check::Gate => checked.gate = Some(end),
            Check::Test(test) if end.passed => checked.passed.push(test.clone()),
            Check::Test(test) => drop(checked.failed.insert(test.clone(), end)),
        }
    }
    checked
}

fn failure_of(check: Check, end: &CheckEnd) -> Option<Failure> {
    (!end.passed).then(|| Failure { check, exit: end.exit, tail: end.output.clone() })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_to_whoever_goes_on() {
        let (sender, told) = std::sync::mpsc::channel();
        let first = Ledger::default();
        first.tell(sender);
        let (good, bad): (TaskId, TaskId) = ("a".parse().unwrap(), "b".parse().unwrap());
        let failure = Failure { check: Check::Test(bad.clone()), exit: None, tail: "x\ny".to_owned() };
        let results = vec![
            (Check::Gate, Some(Failure { check: Check::Gate, exit: Some(2), tail: "no".to_owned() })),
            (Check::Test(good.clone()), None),
            (Check::Test(bad.clone()), Some(failure.clone())),
        ];
        first.note("tree", results);
        first.hush();
        first.note("tree", vec![(Check::Test("later".parse().unwrap()), None)]);
        let second = Ledger::default();
        for event in told {
            // As it is written and read.
            let line = serde_json::to_string(&event).unwrap();
            let Event::Checked(checked) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
            second.remember(&checked);
        }
        assert_eq!(second.result("tree", &Check::Test(good.clone())), Some(None));
        assert_eq!(second.result("other", &Check::Test(good)), None);
        assert_eq!(second.result("tree", &Check::Test(bad)), Some(Some(failure)));
        assert_eq!(second.result("tree", &Check::Gate), first.result("tree", &Check::Gate));
        assert_eq!(second.result("tree", &Check::Test("later".parse().unwrap())), None);
    }

    #[test]
    fn what_is_being_run_is_told_until_it_ends() {
        let ledger = Ledger::default();
        let gate = ledger.underway("the gate".to_owned());
        assert_eq!(ledger.running(), [("the gate".to_owned(), 0)]);
        drop(gate);
        assert!(ledger.running().is_empty());
    }
}
