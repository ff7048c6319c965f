//! From Codex's own record and its hooks to a state. The newest evidence that contradicts wins.

use jiff::Timestamp;
use mngr_model::background::BackgroundTask;
use mngr_model::facts::{Markers, ProgramFacts, SubagentFacts};
use mngr_model::state::{AgentState, StateReport, StateSource, WaitingReason};

use super::rollout::{self, Tail, Turn, TurnEnd};

/// Whether this launch takes messages: it has opened a conversation.
pub(super) fn is_ready(facts: &ProgramFacts, markers: &Markers) -> bool {
    facts.ready.zip(markers.active).is_some_and(|(ready, launched)| ready >= launched)
}

/// The state that follows: from the agent's own turn, and from its sub-agents.
pub(super) fn state(facts: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
    let launched = markers.active?;
    let own = own_state(facts, markers, launched)?;
    let (subagents, at_work): (Vec<BackgroundTask>, Vec<Option<Tail>>) = facts
        .subagents
        .iter()
        .filter_map(|subagent| {
            at_work(subagent, launched).map(|tail| (as_task(subagent, tail.as_ref()), tail))
        })
        .unzip();
    let report = if at_work.is_empty() { own } else { beside_subagents(own, &at_work, markers) };
    Some(StateReport { background: subagents, ..report })
}

/// What is told of a sub-agent that works. Its record does not say what it is for.
fn as_task(subagent: &SubagentFacts, tail: Option<&Tail>) -> BackgroundTask {
    let since = match tail.map(|tail| &tail.turn) {
        Some(Turn::UnderWay { since }) => *since,
        Some(Turn::Ended { .. }) | None => subagent.changed,
    };
    let (id, kind) = (subagent.name.clone(), BackgroundTask::SUBAGENT.to_owned());
    BackgroundTask { id, kind, description: String::new(), since }
}

/// How far a sub-agent is that works; nothing is known of one that is only just starting.
fn at_work(subagent: &SubagentFacts, launched: Timestamp) -> Option<Option<Tail>> {
    match rollout::read(&subagent.record) {
        Some(tail) => {
            let works = matches!(tail.turn, Turn::UnderWay { .. }) && tail.newest() >= launched;
            works.then_some(Some(tail))
        }
        None => subagent.changed.is_none_or(|changed| changed >= launched).then_some(None),
    }
}

/// The agent works as long as its sub-agents do, and waits where one of them asks.
fn beside_subagents(own: StateReport, at_work: &[Option<Tail>], markers: &Markers) -> StateReport {
    let is_dialog = matches!(own.waiting_reason, Some(WaitingReason::Permissions | WaitingReason::Question));
    if own.state == AgentState::Unknown || is_dialog {
        return own;
    }
    let asks = |at: Timestamp| {
        at_work.iter().flatten().any(|tail| {
            let since = match tail.turn {
                Turn::UnderWay { since } => since,
                Turn::Ended { .. } => None,
            };
            since.is_none_or(|since| at >= since) && has_dialog(tail, at)
        })
    };
    match markers.waiting.zip(markers.waiting_reason) {
        Some((at, reason @ WaitingReason::Permissions)) if asks(at) => {
            let evidence = "a sub-agent of Codex asked for a permission";
            waiting(reason, StateSource::Marker, evidence, Some(at))
        }
        Some((at, reason @ WaitingReason::Question)) if asks(at) => {
            waiting(reason, StateSource::Marker, "a sub-agent of Codex asked a question", Some(at))
        }
        _ if own.waiting_reason == Some(WaitingReason::EndOfTurn) => {
            let count = at_work.len();
            let evidence = match count {
                1 => "Codex's own turn is over, and a sub-agent of it works".to_owned(),
                _ => format!("Codex's own turn is over, and {count} sub-agents of it work"),
            };
            let started = at_work.iter().flatten().map(Tail::newest).max();
            StateReport::new(AgentState::Running, StateSource::Program, evidence).since(own.since.or(started))
        }
        _ => own,
    }
}

fn own_state(facts: &ProgramFacts, markers: &Markers, launched: Timestamp) -> Option<StateReport> {
    let Some(text) = facts.status.as_deref() else {
        return is_ready(facts, markers).then(|| no_turn_yet(facts.ready));
    };
    // A record that is there and empty has lost what it held: Codex makes it for a turn that has begun.
    let Some(tail) = rollout::read(text) else {
        let evidence = "Codex's record of the conversation is not understood";
        return Some(
            StateReport::new(AgentState::Unknown, StateSource::Program, evidence).since(facts.changed),
        );
    };
    // What an earlier launch left open was ended with it.
    if tail.newest() < launched {
        return is_ready(facts, markers).then(|| no_turn_yet(facts.ready));
    }
    Some(match tail.turn {
        Turn::UnderWay { since } => under_way(&tail, since, markers),
        Turn::Ended { at, how } => ended(at, how),
    })
}

fn waiting(
    reason: WaitingReason,
    source: StateSource,
    evidence: &str,
    since: Option<Timestamp>,
) -> StateReport {
    let mut report = StateReport::new(AgentState::Waiting, source, evidence).since(since);
    report.waiting_reason = Some(reason);
    report
}

fn no_turn_yet(ready: Option<Timestamp>) -> StateReport {
    let evidence = "Codex is ready; no turn has begun since it was started";
    waiting(WaitingReason::EndOfTurn, StateSource::Program, evidence, ready)
}

fn ended(at: Timestamp, how: TurnEnd) -> StateReport {
    let (reason, evidence) = match how {
        TurnEnd::Answered => (WaitingReason::EndOfTurn, "Codex recorded the end of its turn"),
        TurnEnd::Interrupted => (WaitingReason::EndOfTurn, "Codex recorded that its turn was interrupted"),
        TurnEnd::Failed(reason) => {
            (reason.unwrap_or(WaitingReason::EndOfTurn), "Codex recorded that its turn failed")
        }
    };
    waiting(reason, StateSource::Program, evidence, Some(at))
}

/// A turn without a recorded end: a hook may know of a dialog in it, or of an end that is about to be recorded.
fn under_way(tail: &Tail, since: Option<Timestamp>, markers: &Markers) -> StateReport {
    let hook = markers.waiting.zip(markers.waiting_reason);
    let is_of_this_turn = |at: Timestamp| since.is_none_or(|since| at >= since);
    match hook.filter(|(at, _)| is_of_this_turn(*at)) {
        Some((at, WaitingReason::Permissions)) if has_dialog(tail, at) => {
            waiting(WaitingReason::Permissions, StateSource::Marker, "Codex asked for a permission", Some(at))
        }
        Some((at, WaitingReason::Question)) if has_dialog(tail, at) => {
            waiting(WaitingReason::Question, StateSource::Marker, "Codex asked a question", Some(at))
        }
        // Another hook may have sent it on.
        Some((at, WaitingReason::EndOfTurn)) if !tail.has_grown_since(at) => {
            waiting(WaitingReason::EndOfTurn, StateSource::Marker, "Codex said that its turn ends", Some(at))
        }
        _ => {
            let evidence = "Codex recorded the beginning of a turn and not its end";
            StateReport::new(AgentState::Running, StateSource::Program, evidence).since(since)
        }
    }
}

/// Nothing tells when a dialog is answered: later the answer to the call does, and until then a rule of the manifest
/// looks at the terminal's title.
fn has_dialog(tail: &Tail, asked: Timestamp) -> bool {
    tail.has_unanswered_call(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn line(second: i64, kind: &str, payload: &str) -> String {
        format!("{{\"timestamp\":\"{}\",\"type\":\"{kind}\",\"payload\":{payload}}}\n", at(second))
    }

    fn started(second: i64) -> String {
        line(second, "event_msg", r#"{"type":"task_started"}"#)
    }

    fn call(second: i64) -> String {
        line(second, "response_item", r#"{"type":"function_call","call_id":"c"}"#)
    }

    fn facts(rollout: &str) -> ProgramFacts {
        ProgramFacts { status: Some(rollout.to_owned()), ready: Some(at(11)), ..ProgramFacts::default() }
    }

    fn markers(waiting: Option<(i64, WaitingReason)>) -> Markers {
        Markers {
            active: Some(at(10)),
            waiting: waiting.map(|(second, _)| at(second)),
            waiting_reason: waiting.map(|(_, reason)| reason),
            folder_changed: None,
        }
    }

    #[track_caller]
    fn standing(facts: &ProgramFacts, markers: &Markers) -> (&'static str, Option<&'static str>) {
        let report = state(facts, markers).unwrap();
        (report.state.as_str(), report.waiting_reason.map(WaitingReason::as_str))
    }

    #[test]
    fn before_the_first_turn_it_waits_once_it_is_ready() {
        let mut facts = ProgramFacts { ready: Some(at(11)), ..ProgramFacts::default() };
        assert_eq!(standing(&facts, &markers(None)), ("WAITING", Some("END_OF_TURN")));
        facts.ready = Some(at(9));
        assert_eq!(state(&facts, &markers(None)), None, "what an earlier launch left behind is no sign");
        assert_eq!(state(&ProgramFacts::default(), &markers(None)), None);
    }

    #[test]
    fn a_turn_that_was_cut_off_by_a_restart_is_over() {
        assert_eq!(standing(&facts(&started(5)), &markers(None)), ("WAITING", Some("END_OF_TURN")));
        assert_eq!(standing(&facts(&started(15)), &markers(None)), ("RUNNING", None));
    }

    #[test]
    fn a_dialog_lasts_until_its_call_is_answered() {
        let asked = markers(Some((17, WaitingReason::Permissions)));
        let open = started(15) + &call(16);
        let mut facts = facts(&open);
        assert_eq!(standing(&facts, &asked), ("WAITING", Some("PERMISSIONS")));
        let answer = line(18, "response_item", r#"{"type":"function_call_output","call_id":"c"}"#);
        facts.status = Some(open + &answer);
        assert_eq!(standing(&facts, &asked), ("RUNNING", None));
    }

    #[test]
    fn the_end_a_hook_tells_of_holds_unless_the_turn_goes_on() {
        let ended = markers(Some((17, WaitingReason::EndOfTurn)));
        let message = |second| line(second, "response_item", r#"{"type":"message","role":"assistant"}"#);
        assert_eq!(standing(&facts(&(started(15) + &message(16))), &ended), ("WAITING", Some("END_OF_TURN")));
        assert_eq!(standing(&facts(&(started(15) + &message(18))), &ended), ("RUNNING", None));
        let old = markers(Some((14, WaitingReason::EndOfTurn)));
        assert_eq!(standing(&facts(&started(15)), &old), ("RUNNING", None));
    }

    #[test]
    fn sub_agents_at_work_are_work_and_what_one_asks_is_asked() {
        let over = started(15) + &line(16, "event_msg", r#"{"type":"task_complete"}"#);
        let subagent = |record: String, changed: i64| SubagentFacts {
            name: "b".to_owned(),
            record,
            changed: Some(at(changed)),
        };
        let beside = |subagents: Vec<SubagentFacts>| ProgramFacts { subagents, ..facts(&over) };
        assert_eq!(standing(&beside(Vec::new()), &markers(None)), ("WAITING", Some("END_OF_TURN")));
        let working = beside(vec![subagent(started(15), 15)]);
        assert_eq!(standing(&working, &markers(None)), ("RUNNING", None));
        let task = &state(&working, &markers(None)).unwrap().background[0];
        assert_eq!((task.id.as_str(), task.is_agent(), task.since), ("b", true, Some(at(15))));
        // Its record is not there yet.
        assert_eq!(standing(&beside(vec![subagent(String::new(), 15)]), &markers(None)), ("RUNNING", None));
        let idle = ("WAITING", Some("END_OF_TURN"));
        for old in
            [started(5), over.clone(), started(15) + &line(16, "event_msg", r#"{"type":"turn_aborted"}"#)]
        {
            assert_eq!(standing(&beside(vec![subagent(old, 5)]), &markers(None)), idle);
        }
        let asked = markers(Some((17, WaitingReason::Permissions)));
        let asking = beside(vec![subagent(started(15) + &call(16), 16), subagent(started(15), 15)]);
        assert_eq!(standing(&asking, &asked), ("WAITING", Some("PERMISSIONS")));
        let answer = line(18, "response_item", r#"{"type":"function_call_output","call_id":"c"}"#);
        let answered = beside(vec![subagent(started(15) + &call(16) + &answer, 18)]);
        assert_eq!(standing(&answered, &asked), ("RUNNING", None));
    }

    #[test]
    fn a_record_that_is_not_understood_is_not_guessed_at() {
        for damaged in ["{\"turn\":1}\n", "\u{fffd}\u{0}\n", ""] {
            assert_eq!(standing(&facts(damaged), &markers(None)), ("UNKNOWN", None), "{damaged:?}");
        }
    }
}
