//! The journal as it is spelled, and what it adds up to.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + i64::try_from(second).unwrap()).unwrap()
}

/// Numbers and times the events: one line a second.
fn lines(events: impl IntoIterator<Item = Event>) -> Vec<Entry> {
    (1..).zip(events).map(|(seq, event)| Entry { time: at(seq), seq, event }).collect()
}

fn started() -> Event {
    Event::RunStarted(Started {
        run: RunName::new("1"),
        name: "tmr".into(),
        base_commit: "abc".into(),
        command: vec!["mngr".into(), "tmr".into()],
        settings: serde_json::Map::new(),
        tasks_total: 2,
    })
}

fn queued(task: &str) -> Event {
    Event::TaskQueued(Queued::new(id(task), QueueReason::Failing))
}

fn stage(task: &str, attempt: u32, stage: Stage) -> Event {
    Event::Stage(StageChange::new(id(task), AttemptNumber(attempt), stage, "seen"))
}

fn failed(kind: FailureKind) -> Stage {
    Stage::Failed { kind }
}

fn integration(step: IntegrationStep) -> Event {
    let (tasks, commit, reason) = (vec![], None, String::new());
    Event::Integration(Integration { step, tasks, commit, reason, details: serde_json::Map::new() })
}

fn as_json(event: Event) -> Value {
    let entry = Entry { time: at(0), seq: 7, event };
    let value = serde_json::to_value(&entry).unwrap();
    assert_eq!(serde_json::from_value::<Entry>(value.clone()).unwrap(), entry);
    value
}

#[test]
fn a_stage_is_one_flat_line() {
    let mut change = StageChange::new(id("a::b"), AttemptNumber(2), failed(FailureKind::Silent), "no output");
    change.tokens = Some(1200);
    change.cost = Some(0.25);
    let expected = json!({
        "time": "2023-11-14T22:13:20Z", "seq": 7, "event": "stage", "task": "a::b", "attempt": 2,
        "stage": "failed", "kind": "silent", "evidence": "no output", "tokens": 1200, "cost": 0.25,
    });
    assert_eq!(as_json(Event::Stage(change)), expected);
}

#[test]
fn every_event_is_spelled_as_documented_and_read_back() {
    let task = || id("t");
    let one = AttemptNumber(1);
    let commit = ClassifiedCommit {
        hash: "h".into(),
        subject: "[FIX_TEST] x".into(),
        claimed: Some(ChangeKind::FixTest),
        measured: Some(ChangeKind::FixImpl),
        paths: vec!["src/a".into()],
    };
    let measured = Measured {
        task: task(),
        attempt: one,
        what: What::Before,
        runs: vec![MeasuredRun { exit: Some(1), ms: 5 }, MeasuredRun { exit: None, ms: 9 }],
        passed: Some(0),
        verdict: Verdict::Failed,
    };
    let outcome = Published { task: task(), attempt: one, outcome: Outcome::example() };
    let mut picked = Integration {
        step: IntegrationStep::Picked,
        tasks: vec![task()],
        commit: Some("h".into()),
        reason: "most votes".into(),
        details: serde_json::Map::new(),
    };
    picked.details.insert("votes".into(), 47.into());
    let breaker = Breaker { state: BreakerState::Half, cluster: "launch".into(), reason: "canary".into() };
    let budget = BudgetNote { limit: LimitKind::Tokens, allowed: 10.0, used: 11.0 };
    for (event, name, field, value) in [
        (started(), "run_started", "base_commit", json!("abc")),
        (Event::RunResumed, "run_resumed", "seq", json!(7)),
        (queued("t"), "task_queued", "reason", json!("failing")),
        (Event::Outcome(outcome), "outcome", "attempt", json!(1)),
        (
            Event::Measured(measured),
            "measured",
            "runs",
            json!([{"exit": 1, "ms": 5}, {"exit": null, "ms": 9}]),
        ),
        (
            Event::Classified(Classified { task: task(), attempt: one, commits: vec![commit] }),
            "classified",
            "commits",
            json!([{"hash": "h", "subject": "[FIX_TEST] x", "claimed": "FIX_TEST", "measured": "FIX_IMPL",
                "paths": ["src/a"]}]),
        ),
        (Event::Integration(picked), "integration", "votes", json!(47)),
        (Event::Breaker(breaker), "breaker", "state", json!("half")),
        (Event::Budget(budget), "budget", "limit", json!("tokens")),
        (Event::RunEnded { reason: EndReason::Finished }, "run_ended", "reason", json!("finished")),
    ] {
        let line = as_json(event);
        assert_eq!(line["event"], name);
        assert_eq!(line[field], value, "{name}");
    }
}

#[test]
fn a_reader_skips_what_it_does_not_know_and_a_line_without_its_end() {
    let text = concat!(
        r#"{"time":"2026-01-01T00:00:00Z","seq":1,"event":"run_started","run":"1","name":"tmr","base_commit":"a","new":1}"#,
        "\n\n",
        r#"{"time":"2026-01-01T00:00:01Z","seq":2,"event":"from_the_future","what":{}}"#,
        "\n",
        "{\"time\":\n",
        r#"{"time":"2026-01-01T00:00:02Z","seq":3,"event":"run_ended","reason":"finished"}"#,
    );
    let read = read_lines(text.as_bytes());
    assert_eq!((read.entries.len(), read.damaged), (2, 1));
    assert_eq!(read.torn, text.rsplit('\n').next().unwrap().len());
    let run = Run::fold(&read.entries);
    assert_eq!((run.last_seq, run.irregular, run.ended), (2, 0, None));
}

#[test]
fn a_task_goes_through_its_stages_and_a_second_attempt() {
    let entries = lines([
        started(),
        queued("a b"),
        queued("a-b"),
        stage("a b", 1, Stage::Launching),
        stage("a b", 1, Stage::Working),
        stage("a b", 1, failed(FailureKind::Dead)),
        stage("a b", 2, Stage::Launching),
        stage("a b", 2, Stage::Working),
        stage("a b", 2, Stage::Working),
        stage("a-b", 0, Stage::Clean),
    ]);
    let run = Run::fold(&entries);
    assert_eq!(run.irregular, 0);
    let slugs: Vec<_> = run.tasks.iter().map(|task| (task.slug.as_str(), task.stage())).collect();
    assert_eq!(slugs, [("a-b", Stage::Working), ("a-b-2", Stage::Clean)]);
    let task = run.task(&id("a b")).unwrap();
    assert_eq!(task.attempts.len(), 3);
    assert_eq!(task.latest().unwrap().passages.len(), 2);
    let totals = run.totals();
    assert_eq!((totals.agents, totals.done, totals.stages["working"]), (2, 1, 1));
}

#[test]
fn what_contradicts_the_lines_before_is_left_out() {
    for (wrong, then) in [
        (stage("a", 1, Stage::Ready), Stage::Queued),
        (stage("a", 0, Stage::Launching), Stage::Queued),
        (stage("a", 2, Stage::Launching), Stage::Queued),
        (stage("b", 1, Stage::Launching), Stage::Queued),
        (queued("a"), Stage::Queued),
        (started(), Stage::Queued),
    ] {
        let run = Run::fold(&lines([started(), queued("a"), wrong.clone()]));
        assert_eq!((run.irregular, run.tasks.len()), (1, 1), "{wrong:?}");
        assert_eq!(run.tasks[0].stage(), then);
    }
    let gone_back = lines([
        started(),
        queued("a"),
        stage("a", 1, Stage::Launching),
        stage("a", 1, Stage::Working),
        stage("a", 1, Stage::Ready),
        stage("a", 2, Stage::Launching),
    ]);
    let run = Run::fold(&gone_back);
    assert_eq!((run.irregular, run.tasks[0].stage()), (2, Stage::Working));
    assert_eq!(Run::fold(&lines([queued("a")])).tasks.len(), 0);
}

#[test]
fn integration_that_begins_again_takes_back_what_it_had_decided() {
    let until_verified = [Stage::Launching, Stage::Published, Stage::Pulled, Stage::Verified];
    let mut events = vec![started(), queued("a"), queued("b"), queued("c")];
    for task in ["a", "b", "c"] {
        events.extend(until_verified.map(|next| stage(task, 1, next)));
    }
    events.extend([
        integration(IntegrationStep::Started),
        stage("a", 1, Stage::Integrated),
        stage("b", 1, failed(FailureKind::Gate)),
        stage("c", 1, failed(FailureKind::Verification)),
        integration(IntegrationStep::Started),
    ]);
    let run = Run::fold(&lines(events));
    let stages: Vec<_> = run.tasks.iter().map(Task::stage).collect();
    assert_eq!(stages, [Stage::Verified, Stage::Verified, failed(FailureKind::Verification)]);
    assert_eq!((run.irregular, run.integration.len()), (0, 1));
}

#[test]
fn a_dropped_commit_opens_its_task_again_and_renames_the_later_ones() {
    let step = |step, task: &str, commit: &str, details: Value| {
        let details = details.as_object().cloned().unwrap_or_default();
        let (tasks, commit) = (vec![id(task)], Some(commit.to_owned()));
        Event::Integration(Integration { step, tasks, commit, reason: "dropped".into(), details })
    };
    let through = |task: &'static str, commit: &str| {
        let stages = [Stage::Launching, Stage::Published, Stage::Pulled, Stage::Verified];
        let mut events: Vec<Event> = stages.into_iter().map(|it| stage(task, 1, it)).collect();
        let integrated = StageChange::new(id(task), AttemptNumber(1), Stage::Integrated, commit);
        events.push(Event::Stage(integrated));
        events
    };
    let events = [started(), queued("a"), queued("b")]
        .into_iter()
        .chain([step(IntegrationStep::Picked, "a", "1", Value::Null)])
        .chain([step(IntegrationStep::Picked, "b", "2", Value::Null)])
        .chain(through("a", "1"))
        .chain(through("b", "2"))
        .chain([step(IntegrationStep::Dropped, "a", "1", json!({ "rewritten": { "2": "3" } }))]);
    let run = Run::fold(&lines(events));
    assert_eq!(run.irregular, 0);
    let shown = |task: &str| {
        let task = run.task(&id(task)).unwrap();
        (task.stage(), task.latest().unwrap().evidence.clone())
    };
    assert_eq!(shown("a"), (Stage::Unresolved, "dropped".to_owned()));
    assert_eq!(shown("b"), (Stage::Integrated, "3".to_owned()));
    let commits: Vec<_> = run.integration.iter().map(|it| (it.step, it.commit.as_deref())).collect();
    let picked = |commit| (IntegrationStep::Picked, Some(commit));
    assert_eq!(commits, [picked("1"), picked("3"), (IntegrationStep::Dropped, Some("1"))]);
    let again = step(IntegrationStep::Started, "a", "", Value::Null);
    let mut run = run;
    let seq = run.last_seq + 1;
    run.apply(&Entry { time: at(2000), seq, event: again });
    assert_eq!(run.task(&id("a")).unwrap().stage(), Stage::Verified, "it can be put together again");
}

#[test]
fn what_needs_review_is_taken_over_dropped_or_no_longer_fits() {
    let until_verified = [Stage::Launching, Stage::Published, Stage::Pulled, Stage::Verified];
    let mut events = vec![started()];
    for (task, commit) in [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")] {
        events.push(queued(task));
        events.extend(until_verified.map(|next| stage(task, 1, next)));
        let evidence = format!("{commit}: it is weaker: by one");
        let needs = StageChange::new(id(task), AttemptNumber(1), Stage::NeedsReview, evidence);
        events.push(Event::Stage(needs));
    }
    let step = |step, task: &str, commit: Option<&str>, details: Value| {
        let details = details.as_object().cloned().unwrap_or_default();
        let (tasks, commit) = (vec![id(task)], commit.map(str::to_owned));
        Event::Integration(Integration { step, tasks, commit, reason: "so".into(), details })
    };
    for (task, commit) in [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")] {
        events.push(step(IntegrationStep::Reviewed, task, Some(commit), Value::Null));
    }
    let rewritten = json!({ "rewritten": { "1": "5", "2": "6", "4": "4" } });
    events.extend([
        step(IntegrationStep::Taken, "a", Some("5"), rewritten),
        step(IntegrationStep::Conflict, "c", None, Value::Null),
        step(IntegrationStep::Dropped, "d", Some("4"), Value::Null),
    ]);
    let run = Run::fold(&lines(events));
    assert_eq!(run.irregular, 0);
    let shown = |task: &str| {
        let task = run.task(&id(task)).unwrap();
        (task.stage(), task.latest().unwrap().evidence.clone())
    };
    assert_eq!(shown("a"), (Stage::Integrated, "5".to_owned()));
    assert_eq!(shown("b"), (Stage::NeedsReview, "6: it is weaker: by one".to_owned()));
    assert_eq!(shown("c"), (failed(FailureKind::Conflict), "so".to_owned()));
    assert_eq!(shown("d"), (Stage::Unresolved, "so".to_owned()));
    assert!(run.tasks.iter().all(|task| run.can_be_integrated(task)), "all can be put together again");
    let on_review = run.integration.iter().filter(|step| step.step == IntegrationStep::Reviewed);
    let commits: Vec<Option<&str>> = on_review.map(|step| step.commit.as_deref()).collect();
    assert_eq!(commits, [Some("6")], "the commits of the review branch as it is now");
}

#[test]
fn a_test_that_passes_on_the_result_is_not_called_failed_until_the_result_changes() {
    let failing = |task: &'static str, kind| {
        [queued(task), stage(task, 1, Stage::Launching), stage(task, 1, failed(kind))]
    };
    let mut events = vec![started()];
    for (task, kind) in [("a", FailureKind::Dead), ("b", FailureKind::Gate), ("c", FailureKind::Dead)] {
        events.extend(failing(task, kind));
    }
    let found = FinalRun { passed: 2, failed: 1, tests: vec![id("c")], ..FinalRun::default() };
    assert_eq!(as_json(Event::FinalRun(found.clone()))["event"], "final_run");
    events.push(Event::FinalRun(found.clone()));
    let mut run = Run::fold(&lines(events));
    let stages = |run: &Run| run.tasks.iter().map(Task::stage).collect::<Vec<_>>();
    let (passes, dead) = (Stage::PassesOnResult, failed(FailureKind::Dead));
    assert_eq!(stages(&run), [passes, passes, dead]);
    assert_eq!(run.totals().stages, [("failed", 1), ("passes_on_result", 2)].into_iter().collect());
    assert_eq!(json!(run)["final"]["passed"], 2);
    assert!(run.can_be_integrated(&run.tasks[1]) && !run.can_be_integrated(&run.tasks[0]));
    let seq = run.last_seq + 1;
    run.apply(&Entry { time: at(2000), seq, event: integration(IntegrationStep::Dropped) });
    assert_eq!((stages(&run), &run.final_run), (vec![dead, failed(FailureKind::Gate), dead], &None));
}

#[test]
fn a_step_of_a_later_version_is_read() {
    let line = json!({"time": "2023-11-14T22:13:20Z", "seq": 2, "event": "integration", "step": "polished"});
    let entry: Entry = serde_json::from_value(line).unwrap();
    assert!(matches!(entry.event, Event::Integration(step) if step.step == IntegrationStep::Unknown));
}

#[test]
fn only_time_with_an_orchestrator_is_worked() {
    let mut entries = lines([started(), queued("a"), Event::RunResumed, stage("a", 0, Stage::Clean)]);
    entries[2].time = at(1002);
    entries[3].time = at(1005);
    let mut run = Run::fold(&entries);
    assert_eq!(run.worked(at(1010)), Duration::from_secs(1 + 8));
    let end = Event::RunEnded { reason: EndReason::Finished };
    run.apply(&Entry { time: at(1006), seq: 5, event: end });
    assert_eq!(run.worked(at(5000)), Duration::from_secs(1 + 4));
}

fn any_event() -> impl Strategy<Value = Event> {
    let task = prop::sample::select(vec!["a", "b", "a!"]);
    let kind = prop::sample::select(FailureKind::ALL.to_vec());
    let any_stage = prop_oneof![
        4 => prop::sample::select(Stage::WITHOUT_FAILURES.to_vec()),
        1 => kind.prop_map(failed),
    ];
    prop_oneof![
        1 => Just(started()),
        2 => task.clone().prop_map(queued),
        8 => (task, 0..3u32, any_stage).prop_map(|(task, attempt, next)| stage(task, attempt, next)),
        1 => Just(integration(IntegrationStep::Started)),
        1 => Just(Event::RunResumed),
        1 => Just(Event::Unknown),
        1 => Just(Event::RunEnded { reason: EndReason::Interrupted }),
    ]
}

proptest! {
    #[test]
    fn any_prefix_folds_and_the_rest_can_be_added(events in prop::collection::vec(any_event(), 0..60), cut in 0..60usize) {
        let events = std::iter::once(started()).chain(events);
        let entries = lines(events);
        let cut = cut.min(entries.len());
        let mut run = Run::fold(&entries[..cut]);
        entries[cut..].iter().for_each(|entry| run.apply(entry));
        prop_assert_eq!(run, Run::fold(&entries));
    }

    #[test]
    fn repeated_lines_change_nothing(events in prop::collection::vec(any_event(), 0..40), again in prop::collection::vec(0..40usize, 0..20)) {
        let entries = lines(std::iter::once(started()).chain(events));
        let mut repeated = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            repeated.push(entry);
            repeated.extend(again.iter().filter(|&&back| back <= place).map(|&back| &entries[place - back]));
        }
        prop_assert_eq!(Run::fold(repeated), Run::fold(&entries));
    }

    #[test]
    fn within_an_attempt_no_task_goes_back_but_for_integration(events in prop::collection::vec(any_event(), 0..60)) {
        let entries = lines(std::iter::once(started()).chain(events));
        for attempt in Run::fold(&entries).tasks.iter().flat_map(|task| &task.attempts) {
            for pair in attempt.passages.windows(2) {
                let is_again = pair[0].stage.is_from_integration() && pair[1].stage == Stage::Verified;
                prop_assert!(is_again || pair[0].stage.may_become(pair[1].stage));
            }
        }
    }

    #[test]
    fn a_journal_cut_at_any_byte_is_read_up_to_there(cut in 0..2000usize) {
        let entries = lines([started(), queued("a"), stage("a", 1, Stage::Launching), stage("a", 1, Stage::Ready)]);
        let text: String = entries.iter().map(|entry| serde_json::to_string(entry).unwrap() + "\n").collect();
        let cut = cut.min(text.len());
        let read = read_lines(&text.as_bytes()[..cut]);
        prop_assert_eq!(read.damaged, 0);
        prop_assert_eq!(read.entries.len(), text[..cut].matches('\n').count());
        prop_assert_eq!(&read.entries[..], &entries[..read.entries.len()]);
    }
}
