//! Which attempt comes next, what a run that is resumed has left to do, and which failure is worth another try. Pure.

use std::collections::VecDeque;

use mngr_model::run::{
    Attempt, AttemptKey, AttemptNumber, EndReason, FailureKind, QueueReason, Run, Stage, Task, TaskId,
    Verdict, What,
};

/// What has to be done about a task, as the journal leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Todo {
    /// Nothing more before integration.
    Nothing,
    /// An agent.
    Launch(AttemptNumber),
    /// Its agent may be there; if not, a new one of the same number.
    Find(AttemptNumber),
    /// What it published is here: it has to be measured, and its agent let go.
    Measure(AttemptNumber),
    /// It was measured; what follows from that may not have been noted.
    Decide(AttemptNumber),
}

/// What has to be done about a task.
pub(super) fn todo(task: &Task, ended: Option<EndReason>, retries: u32) -> Todo {
    let Some(attempt) = task.latest() else { return Todo::Nothing };
    let number = attempt.number;
    match attempt.stage {
        Stage::Queued => Todo::Launch(number.max(AttemptNumber(1))),
        Stage::Launching | Stage::Ready | Stage::Working | Stage::Published => Todo::Find(number),
        Stage::Pulled => Todo::Measure(number),
        Stage::Verified => Todo::Decide(number),
        Stage::Failed { kind } if was_cut_short(kind) => Todo::Launch(number.next()),
        // Its next try was about to be noted, or nobody was launched any more.
        Stage::Failed { kind } if ended != Some(EndReason::Finished) && may_retry(task, kind, retries) => {
            Todo::Launch(number.next())
        }
        _ => Todo::Nothing,
    }
}

/// Whether the run, not the agent, is why an attempt failed: whoever goes on with the run tries again.
const fn was_cut_short(kind: FailureKind) -> bool {
    use FailureKind::*;
    matches!(kind, Budget | Breaker | Interrupted | Internal)
}

/// Whether a task that just failed like this gets another agent.
pub(super) fn may_retry(task: &Task, kind: FailureKind, retries: u32) -> bool {
    use FailureKind::*;
    let is_worth_it = matches!(kind, Launch | Dead | Silent | Asking | RateLimited | NoPublish | Host);
    let counts = |attempt: &&Attempt| match attempt.stage {
        Stage::Failed { kind } => !was_cut_short(kind),
        _ => false,
    };
    let failed = task.attempts.iter().filter(counts).count();
    is_worth_it && failed <= retries as usize
}

/// The tests that pass at the base: they have to go on passing. One that was seen to pass only sometimes says nothing.
pub(crate) fn guards(run: &Run) -> Vec<TaskId> {
    let passes =
        |task: &&Task| matches!(task.reason, QueueReason::Passing | QueueReason::Named | QueueReason::All);
    let is_steady = |task: &&Task| {
        let mut measured = task.attempts.iter().flat_map(|attempt| &attempt.measured);
        !measured.any(|it| it.what == What::Before && it.verdict != Verdict::Passed)
    };
    run.tasks.iter().filter(passes).filter(is_steady).map(|task| task.id.clone()).collect()
}

/// Attempts that wait for an agent.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<AttemptKey>);

impl Queue {
    pub(super) fn push(&mut self, key: AttemptKey) {
        self.0.push_back(key);
    }

    pub(super) fn pop(&mut self) -> Option<AttemptKey> {
        self.0.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all of them.
    pub(super) fn take(&mut self) -> Vec<AttemptKey> {
        self.0.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use mngr_model::run::{Entry, Event, Measured, Queued, RunName, StageChange, Started};

    fn task(stages: &[(u32, Stage)]) -> Task {
        let id: TaskId = "t".parse().unwrap();
        let mut events = vec![Event::TaskQueued(Queued::new(id.clone(), QueueReason::Failing))];
        for (number, stage) in stages {
            events.push(Event::Stage(StageChange::new(id.clone(), AttemptNumber(*number), *stage, "")));
        }
        run_of(events).tasks[0].clone()
    }

    /// A run whose journal has these lines.
    fn run_of(events: Vec<Event>) -> Run {
        let started = Started {
            run: RunName::new("1"),
            name: "tmr".to_owned(),
            base_commit: "b".to_owned(),
            command: Vec::new(),
            settings: serde_json::Map::new(),
            tasks_total: 1,
        };
        let events = std::iter::once(Event::RunStarted(started)).chain(events);
        let entry = |(place, event)| Entry { time: Timestamp::UNIX_EPOCH, seq: place as u64 + 1, event };
        let entries: Vec<Entry> = events.enumerate().map(entry).collect();
        let run = Run::fold(&entries);
        assert_eq!(run.irregular, 0);
        run
    }

    #[test]
    fn only_a_test_that_always_passed_at_the_base_has_to_go_on_passing() {
        let before = |task: &str, verdict| {
            let (task, attempt): (TaskId, _) = (task.parse().unwrap(), AttemptNumber(1));
            let launched = StageChange::new(task.clone(), attempt, Stage::Launching, "");
            let measured = |what, verdict| {
                let task = task.clone();
                Event::Measured(Measured { task, attempt, what, runs: Vec::new(), passed: None, verdict })
            };
            // What its agent did to it says nothing about the base.
            let after = measured(What::After, Verdict::Failed);
            [Event::Stage(launched), measured(What::Before, verdict), after]
        };
        let queued = |(task, reason): &(&str, QueueReason)| {
            Event::TaskQueued(Queued::new(task.parse().unwrap(), *reason))
        };
        use QueueReason::*;
        let tasks = [
            ("broken", Failing),
            ("flaky", All),
            ("named", Named),
            ("passing", Passing),
            ("red", All),
            ("skipped", Skipped),
            ("steady", All),
        ];
        let measured = [("flaky", Verdict::Flaky), ("red", Verdict::Failed), ("steady", Verdict::Passed)];
        let lines = measured.into_iter().flat_map(|(task, verdict)| before(task, verdict));
        let run = run_of(tasks.iter().map(queued).chain(lines).collect());
        let guards: Vec<String> = guards(&run).iter().map(ToString::to_string).collect();
        assert_eq!(guards, ["named", "passing", "steady"]);
    }

    fn failed(kind: FailureKind) -> Stage {
        Stage::Failed { kind }
    }

    #[test]
    fn a_killed_run_goes_on_where_each_task_was() {
        use Stage::*;
        for (stages, expected) in [
            (vec![], Todo::Launch(AttemptNumber(1))),
            (vec![(1, Launching)], Todo::Find(AttemptNumber(1))),
            (vec![(1, Launching), (1, Working)], Todo::Find(AttemptNumber(1))),
            (vec![(1, Launching), (1, Published), (1, Pulled)], Todo::Measure(AttemptNumber(1))),
            (
                vec![(1, Launching), (1, Published), (1, Pulled), (1, Verified)],
                Todo::Decide(AttemptNumber(1)),
            ),
            (vec![(1, Launching), (1, failed(FailureKind::Dead))], Todo::Launch(AttemptNumber(2))),
            (vec![(1, Launching), (1, failed(FailureKind::Timeout))], Todo::Nothing),
            (vec![(1, Launching), (1, failed(FailureKind::Budget))], Todo::Launch(AttemptNumber(2))),
            (
                vec![(1, Launching), (1, failed(FailureKind::Dead)), (2, Queued)],
                Todo::Launch(AttemptNumber(2)),
            ),
        ] {
            assert_eq!(todo(&task(&stages), None, 1), expected, "{stages:?}");
        }
    }

    #[test]
    fn a_run_that_ended_tries_again_only_what_it_had_cut_short() {
        let dead = task(&[(1, Stage::Launching), (1, failed(FailureKind::Dead))]);
        assert_eq!(todo(&dead, Some(EndReason::Finished), 1), Todo::Nothing);
        let cut = task(&[(1, Stage::Launching), (1, failed(FailureKind::Interrupted))]);
        for ended in [EndReason::Interrupted, EndReason::Budget, EndReason::Failed] {
            assert_eq!(todo(&cut, Some(ended), 1), Todo::Launch(AttemptNumber(2)));
            let next = todo(&dead, Some(ended), 1);
            assert_eq!(next, Todo::Launch(AttemptNumber(2)), "its second try could not be launched");
            assert_eq!(todo(&dead, Some(ended), 0), Todo::Nothing);
        }
    }

    #[test]
    fn a_task_is_tried_as_often_as_allowed_and_not_for_what_would_fail_again() {
        let once = task(&[(1, Stage::Launching), (1, failed(FailureKind::Dead))]);
        assert!(may_retry(&once, FailureKind::Dead, 1) && !may_retry(&once, FailureKind::Dead, 0));
        for kind in [FailureKind::Auth, FailureKind::BadOutcome, FailureKind::Timeout, FailureKind::TooBig] {
            assert!(!may_retry(&once, kind, 5), "{kind}");
        }
        let cut = [(1, Stage::Launching), (1, failed(FailureKind::Interrupted))];
        let twice =
            task(&[cut.as_slice(), &[(2, Stage::Launching), (2, failed(FailureKind::Dead))]].concat());
        assert!(may_retry(&twice, FailureKind::Dead, 1), "what was cut short does not count");
    }
}
