//! From Codex's own record and its hooks to a state. The newest evidence that contradicts wins.

use jiff::Timestamp;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::state::{AgentState, StateReport, StateSource, WaitingReason};

use super::rollout::{self, Tail, Turn, TurnEnd};

/// Whether this launch takes messages: it has opened a conversation.
pub(super) fn is_ready(facts: &ProgramFacts, markers: &Markers) -> bool {
    facts.ready.zip(markers.active).is_some_and(|(ready, launched)| ready >= launched)
}

/// The state that follows.
pub(super) fn state(facts: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
    let launched = markers.active?;
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
    fn a_record_that_is_not_understood_is_not_guessed_at() {
        for damaged in ["{\"turn\":1}\n", "\u{fffd}\u{0}\n", ""] {
            assert_eq!(standing(&facts(damaged), &markers(None)), ("UNKNOWN", None), "{damaged:?}");
        }
    }
}
