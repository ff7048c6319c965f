//! What the app server says of an agent's state.

use mngr_model::facts::AgentFacts;
use mngr_model::state::{AgentState, StateReport, StateSource, WaitingReason};

use super::threads::{self, APPROVAL, QUESTION, Thread};
use super::{LOOK_PATIENCE, Server, ServerError};

impl Server<'_> {
    /// The state of a living agent, given what the evidence on disk says. Where the server does not answer, that decides;
    /// where it has ended, the agent has: its terminal program only shows what the server does.
    pub fn state(&self, facts: &AgentFacts, own: StateReport) -> StateReport {
        match self.ask(facts) {
            Ok(threads) => judge(own, &threads),
            Err(error) if error.is_gone() => ended(facts),
            Err(_) => own,
        }
    }

    fn ask(&self, facts: &AgentFacts) -> Result<Vec<Thread>, ServerError> {
        let mut client = self.connect(LOOK_PATIENCE)?;
        let subagents = facts.program.iter().flat_map(|program| &program.subagents);
        let ids: Vec<String> =
            self.noted_thread().into_iter().chain(subagents.map(|subagent| subagent.name.clone())).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        Ok(threads::read(&mut client, &ids)?.into_iter().flatten().collect())
    }
}

fn ended(facts: &AgentFacts) -> StateReport {
    let process = facts.process.server.map(|id| format!(" (process {})", id.pid)).unwrap_or_default();
    let evidence = format!("its app server{process} has ended; its terminal only shows what was");
    StateReport::new(AgentState::Stopped, StateSource::Protocol, evidence)
}

/// What is so, given the other evidence. A turn that has begun or ended a moment ago stands in one of them first, so an
/// agent waits for a message only where neither tells of a turn. Of dialogs the server knows exactly.
fn judge(own: StateReport, threads: &[Thread]) -> StateReport {
    let by_protocol = |state, reason, evidence: &str| {
        let since = own.since.filter(|_| own.state == state && own.waiting_reason == reason);
        let mut report = StateReport::new(state, StateSource::Protocol, evidence).since(since);
        report.waiting_reason = reason;
        report.background.clone_from(&own.background);
        report
    };
    let waits_on = |flag| threads.iter().any(|thread| thread.status.waits_on(flag));
    if waits_on(APPROVAL) {
        let evidence = "Codex's app server says that it waits for an approval";
        return by_protocol(AgentState::Waiting, Some(WaitingReason::Permissions), evidence);
    }
    if waits_on(QUESTION) {
        let evidence = "Codex's app server says that it waits for an answer to its question";
        return by_protocol(AgentState::Waiting, Some(WaitingReason::Question), evidence);
    }
    let is_dialog = matches!(own.waiting_reason, Some(WaitingReason::Permissions | WaitingReason::Question));
    match threads.iter().find(|thread| thread.status.is_active()) {
        Some(thread) if thread.parent_thread_id.is_some() => {
            let evidence = "Codex's app server says that a turn of a sub-agent is in progress";
            by_protocol(AgentState::Running, None, evidence)
        }
        Some(_) => {
            by_protocol(AgentState::Running, None, "Codex's app server says that a turn is in progress")
        }
        None if threads.is_empty() || own.state == AgentState::Running => own,
        // A reason that is more than the end of a turn is known from the record alone.
        None if own.state == AgentState::Waiting && !is_dialog => {
            StateReport { source: StateSource::Protocol, evidence: also(&own.evidence), ..own }
        }
        None => {
            let evidence = "Codex's app server says that no turn is in progress";
            by_protocol(AgentState::Waiting, Some(WaitingReason::EndOfTurn), evidence)
        }
    }
}

fn also(evidence: &str) -> String {
    format!("{evidence}; its app server says that no turn is in progress")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(status: &str, parent: Option<&str>) -> Thread {
        let text = serde_json::json!({ "id": "t", "parentThreadId": parent, "ephemeral": false });
        let mut value = text.as_object().unwrap().clone();
        value.insert("status".to_owned(), serde_json::from_str(status).unwrap());
        serde_json::from_value(value.into()).unwrap()
    }

    fn own(state: AgentState, reason: Option<WaitingReason>) -> StateReport {
        let mut report = StateReport::new(state, StateSource::Program, "on disk");
        report.waiting_reason = reason;
        report
    }

    const IDLE: &str = r#"{"type":"idle"}"#;
    const ACTIVE: &str = r#"{"type":"active","activeFlags":[]}"#;
    const ASKS: &str = r#"{"type":"active","activeFlags":["waitingOnApproval"]}"#;

    fn standing(own: StateReport, threads: &[Thread]) -> (AgentState, Option<WaitingReason>, StateSource) {
        let report = judge(own, threads);
        (report.state, report.waiting_reason, report.source)
    }

    #[test]
    fn the_server_knows_of_turns_and_dialogs() {
        use AgentState::{Running, Waiting};
        use WaitingReason::{EndOfTurn, Permissions, RateLimited};
        let (by, disk) = (StateSource::Protocol, StateSource::Program);
        let idle = || own(Waiting, Some(EndOfTurn));
        assert_eq!(standing(idle(), &[thread(ACTIVE, None)]), (Running, None, by));
        assert_eq!(standing(idle(), &[thread(ASKS, None)]), (Waiting, Some(Permissions), by));
        assert_eq!(standing(idle(), &[thread(IDLE, None)]), (Waiting, Some(EndOfTurn), by));
        assert_eq!(standing(idle(), &[thread(IDLE, None), thread(ACTIVE, Some("t"))]), (Running, None, by));
        assert_eq!(
            standing(idle(), &[thread(IDLE, None), thread(ASKS, Some("t"))]),
            (Waiting, Some(Permissions), by)
        );
        // The dialog that a hook told of has been answered.
        let asked = || own(Waiting, Some(Permissions));
        assert_eq!(standing(asked(), &[thread(ACTIVE, None)]), (Running, None, by));
        assert_eq!(standing(asked(), &[thread(IDLE, None)]), (Waiting, Some(EndOfTurn), by));
        // Why it waits, only the record tells.
        let limited = || own(Waiting, Some(RateLimited));
        assert_eq!(standing(limited(), &[thread(IDLE, None)]), (Waiting, Some(RateLimited), by));
        // A turn that has just begun.
        assert_eq!(standing(own(Running, None), &[thread(IDLE, None)]), (Running, None, disk));
        assert_eq!(standing(idle(), &[]), (Waiting, Some(EndOfTurn), disk));
    }

    #[test]
    fn what_a_later_version_says_is_not_guessed_at() {
        let other = thread(r#"{"type":"hibernating","depth":3}"#, None);
        assert_eq!(other.status, super::threads::Status::Other);
    }
}
