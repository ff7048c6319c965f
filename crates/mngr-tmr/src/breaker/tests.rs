//! Streaks, canaries, and what a breaker lets through whatever happens.

use mngr_model::run::{Entry, Event, QueueReason, Queued, RunName, Started};
use proptest::prelude::*;

use super::*;

const RULES: BreakerRules = BreakerRules { threshold: 3, pause: Duration::from_secs(10), tries: 2 };

const LAUNCH: Stage = Stage::Failed { kind: FailureKind::Launch };

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn change(task: usize, stage: Stage) -> StageChange {
    let evidence = format!("cannot create agent `t-{task}`: no space left on device");
    StageChange::new(format!("t{task}").parse().unwrap(), AttemptNumber(1), stage, evidence)
}

/// A breaker and the time.
struct Bench {
    breaker: Breaker,
    now: i64,
}

impl Bench {
    fn new() -> Self {
        Self { breaker: Breaker::of(RULES, &Run::default(), at(0)), now: 0 }
    }

    /// The agents of all these tasks come to a stage.
    fn note(&mut self, tasks: impl IntoIterator<Item = usize>, stage: Stage) -> Vec<run::Breaker> {
        let now = at(self.now);
        tasks.into_iter().filter_map(|task| self.breaker.note(&change(task, stage), now)).collect()
    }

    fn gate(&self) -> Gate {
        self.breaker.gate(at(self.now))
    }

    /// Stopped by three failures at launch, with task 9 under way.
    fn stopped() -> Self {
        let mut bench = Self::new();
        bench.note([0, 1, 2, 9], Stage::Launching);
        bench.note([0, 1, 2], LAUNCH);
        bench
    }
}

#[test]
fn equal_failures_in_a_row_stop_launches_with_one_line() {
    let mut bench = Bench::new();
    bench.note(0..8, Stage::Launching);
    assert_eq!(bench.note(0..2, LAUNCH), []);
    assert_eq!(bench.gate(), Gate::Free);
    let said = bench.note(2..8, LAUNCH);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].state, BreakerState::Open);
    assert_eq!(said[0].cluster, "launch in launching: cannot create agent `t-<n>`: no space left on device");
    assert_eq!(bench.gate(), Gate::WaitUntil(at(10)));
}

#[test]
fn an_attempt_that_gets_past_the_stage_ends_the_streak() {
    let mut bench = Bench::new();
    bench.note(0..6, Stage::Launching);
    bench.note(0..2, LAUNCH);
    bench.note([5], Stage::Ready);
    bench.note(2..4, LAUNCH);
    assert_eq!(bench.gate(), Gate::Free);
    // It was past it long ago, and so says nothing about launches now.
    bench.note([5], Stage::Published);
    assert_eq!(bench.note([4], LAUNCH).len(), 1);
}

#[test]
fn different_causes_and_failures_of_single_tasks_do_not_add_up() {
    let mut bench = Bench::new();
    bench.note(0..9, Stage::Launching);
    bench.note(0..2, LAUNCH);
    bench.note([2], Stage::Failed { kind: FailureKind::Auth });
    bench.note(3..9, Stage::Failed { kind: FailureKind::Verification });
    assert_eq!(bench.gate(), Gate::Free);
}

#[test]
fn what_passes_without_an_agent_says_nothing() {
    let mut bench = Bench::stopped();
    let clean = StageChange { attempt: AttemptNumber::NO_AGENT, ..change(7, Stage::Clean) };
    assert_eq!(bench.breaker.note(&clean, at(0)), None);
    assert_eq!(bench.gate(), Gate::WaitUntil(at(10)));
}

#[test]
fn one_canary_at_a_time_and_launches_go_on_when_it_gets_past_the_stage() {
    let mut bench = Bench::stopped();
    bench.now = 10;
    assert_eq!(bench.gate(), Gate::Canary);
    let said = bench.note([3], Stage::Launching);
    assert_eq!((said[0].state, said[0].reason.as_str()), (BreakerState::Half, "`t3` is tried"));
    assert_eq!(bench.gate(), Gate::WaitForCanary);
    // It was under way before, so it is not the canary.
    assert_eq!(bench.note([9], LAUNCH), []);
    assert_eq!(bench.gate(), Gate::WaitForCanary);
    let said = bench.note([3], Stage::Working);
    assert_eq!((said[0].state, said[0].reason.as_str()), (BreakerState::Closed, "`t3` got past it"));
    assert_eq!(bench.gate(), Gate::Free);
}

#[test]
fn the_pause_doubles_with_each_failed_canary_until_it_gives_up() {
    let mut bench = Bench::stopped();
    bench.now = 10;
    bench.note([3], Stage::Launching);
    let said = bench.note([3], LAUNCH);
    assert_eq!(said[0].reason, "`t3` failed too; another is tried later");
    assert_eq!(bench.gate(), Gate::WaitUntil(at(30)));
    bench.now = 30;
    bench.note([4], Stage::Launching);
    let said = bench.note([4], LAUNCH);
    assert_eq!(
        (said[0].state, said[0].reason.as_str()),
        (BreakerState::Open, "`t4` failed too; no more are tried")
    );
    assert_eq!(bench.gate(), Gate::GivenUp { cause: said[0].cluster.clone() });
}

#[test]
fn one_under_way_that_gets_past_the_stage_ends_the_pause() {
    let mut bench = Bench::stopped();
    bench.now = 1;
    assert_eq!(bench.note([9], Stage::Ready), []);
    assert_eq!(bench.gate(), Gate::Canary);
}

#[test]
fn a_canary_that_the_user_stops_is_not_counted() {
    let mut bench = Bench::stopped();
    bench.now = 10;
    bench.note([3], Stage::Launching);
    bench.note([3], Stage::Failed { kind: FailureKind::Interrupted });
    assert_eq!(bench.gate(), Gate::Canary);
}

#[test]
fn a_canary_whose_launch_came_to_nothing_is_launched_again() {
    let mut bench = Bench::stopped();
    bench.now = 10;
    bench.note([3], Stage::Launching);
    let launching = change(3, Stage::Launching);
    bench.breaker.not_launched(&(launching.task, launching.attempt), at(10));
    assert_eq!(bench.gate(), Gate::Canary);
    assert_eq!(bench.note([3], Stage::Launching)[0].state, BreakerState::Half);
    assert_eq!(bench.gate(), Gate::WaitForCanary, "one at a time");
}

/// A dispatcher with a queue without end, at most `cap` agents at once, and a journal.
struct World {
    breaker: Breaker,
    entries: Vec<Entry>,
    running: Vec<usize>,
    launched: usize,
    now: i64,
}

impl World {
    fn new() -> Self {
        let started = Event::RunStarted(Started {
            run: RunName::new("1"),
            name: "tmr".into(),
            base_commit: "abc".into(),
            command: vec![],
            settings: serde_json::Map::new(),
            tasks_total: 0,
        });
        let breaker = Breaker::of(RULES, &Run::default(), at(0));
        let mut world = Self { breaker, entries: vec![], running: vec![], launched: 0, now: 0 };
        world.journal(started);
        world
    }

    fn journal(&mut self, event: Event) {
        self.now += 1;
        let seq = self.entries.len() as u64 + 1;
        self.entries.push(Entry { time: at(self.now), seq, event });
    }

    fn note(&mut self, change: StageChange) {
        self.journal(Event::Stage(change.clone()));
        self.breaker.note(&change, at(self.now));
    }

    fn launch(&mut self, cap: usize) -> bool {
        let may = matches!(self.breaker.gate(at(self.now)), Gate::Free | Gate::Canary);
        if !may || self.running.len() >= cap {
            return false;
        }
        let task = change(self.launched, Stage::Launching);
        self.journal(Event::TaskQueued(Queued::new(task.task.clone(), QueueReason::Failing)));
        self.running.push(self.launched);
        self.launched += 1;
        self.note(task);
        true
    }

    fn end(&mut self, which: usize, stage: Stage) {
        if !self.running.is_empty() {
            let task = self.running.remove(which % self.running.len());
            self.note(change(task, stage));
        }
    }
}

#[test]
fn a_run_that_gave_up_tries_again_each_time_it_is_resumed() {
    let mut world = World::new();
    while !matches!(world.breaker.gate(at(world.now)), Gate::GivenUp { .. }) {
        world.launch(1);
        world.end(0, LAUNCH);
        world.now += 100;
    }
    let resumed = |world: &World| Breaker::of(RULES, &Run::fold(&world.entries), at(world.now));
    world.breaker = resumed(&world);
    assert!(world.launch(1));
    assert_eq!(resumed(&world).gate(at(world.now)), Gate::WaitForCanary);
    world.end(0, Stage::Ready);
    assert_eq!(resumed(&world).gate(at(world.now)), Gate::Free);
}

proptest! {
    #[test]
    fn a_cause_that_hits_everybody_costs_the_threshold_what_was_under_way_and_the_canaries(
        cap in 1..12usize,
        order in prop::collection::vec((0..12usize, 0..20i64), 200),
    ) {
        let mut world = World::new();
        for (which, seconds) in order {
            while world.launch(cap) {}
            world.end(which, LAUNCH);
            world.now += seconds;
        }
        let is_given_up = matches!(world.breaker.gate(at(world.now)), Gate::GivenUp { .. });
        prop_assert!(is_given_up);
        prop_assert!(world.launched < RULES.threshold + cap + RULES.tries as usize + 1);
    }

    #[test]
    fn while_launches_are_stopped_only_canaries_start_and_the_journal_restores_it(
        steps in prop::collection::vec((0..4u8, 0..12usize, 0..15i64), 1..150),
    ) {
        let (mut world, mut canaries) = (World::new(), 0);
        for (what, which, seconds) in steps {
            let stopped = world.breaker.gate(at(world.now)) != Gate::Free;
            match what {
                0 | 1 => canaries += u32::from(world.launch(8) && stopped),
                2 => world.end(which, LAUNCH),
                _ => world.end(which, Stage::Ready),
            }
            world.now += seconds;
            canaries = if world.breaker.gate(at(world.now)) == Gate::Free { 0 } else { canaries };
            prop_assert!(canaries <= RULES.tries);
        }
        let now = at(world.now);
        let restored = Breaker::of(RULES, &Run::fold(&world.entries), now).gate(now);
        let expected = match world.breaker.gate(now) {
            Gate::WaitUntil(_) | Gate::GivenUp { .. } => Gate::Canary,
            same => same,
        };
        prop_assert_eq!(restored, expected);
    }
}
