//! Journals made up for tests.

use jiff::Timestamp;
use mngr_model::HostPath;
use mngr_model::run::{
    AttemptNumber, Entry, Event, QueueReason, Queued, Run, RunName, Stage, StageChange, Started,
};

use super::seen::Seen;

/// The moment so many seconds after the beginning.
pub(super) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

/// A run of these tests, which has just begun.
pub(super) fn begun(tests: &[&str]) -> Run {
    let mut run = Run::default();
    note(
        &mut run,
        Event::RunStarted(Started {
            run: RunName::new("1"),
            name: "tmr".into(),
            base_commit: "0123456789abcdef".into(),
            command: Vec::new(),
            settings: serde_json::Map::new(),
            tasks_total: tests.len() as u64,
        }),
    );
    for test in tests {
        note(&mut run, Event::TaskQueued(Queued::new(test.parse().unwrap(), QueueReason::Failing)));
    }
    run
}

/// Adds a line, a second after the last one, and returns it.
pub(super) fn note(run: &mut Run, event: Event) -> Event {
    let seq = run.last_seq + 1;
    run.apply(&Entry { time: second(seq as i64), seq, event: event.clone() });
    assert_eq!(run.irregular, 0, "{event:?}");
    event
}

/// A test is at a stage, in its first attempt with an agent.
pub(super) fn at(run: &mut Run, test: &str, stage: Stage, evidence: &str) -> Event {
    let change = StageChange::new(test.parse().unwrap(), AttemptNumber(1), stage, evidence);
    note(run, Event::Stage(change))
}

/// The run as it looks right after its last line.
pub(super) fn seen(run: &Run) -> Seen {
    Seen::from_within(&HostPath::new("/w/tmr_1"), run, run.latest.unwrap_or_default())
}
