//! From facts to a state. Pure: the same facts always give the same answer, and the answer says what decided.

use mngr_model::facts::{AgentFacts, ProcessFact};
use mngr_model::process::Ending;
use mngr_model::state::{AgentState, StateReport, StateSource};

use crate::brand::Brand;
use crate::manifest::BuiltIn;

/// The state of an agent whose process decides.
pub fn process_state(facts: &AgentFacts) -> StateReport {
    let report = own_state(facts);
    // Its program has ended, and something of it may go on with the work: to call it over would be a guess.
    if let (true, [pid, ..]) = (report.state.is_final(), facts.elsewhere.as_slice()) {
        let evidence = format!(
            "{}, but its conversation may go on in the background: process {pid} is its own; `mngr stop` ends it",
            report.evidence
        );
        return StateReport::new(AgentState::Unknown, StateSource::Process, evidence).since(report.since);
    }
    report
}

fn own_state(facts: &AgentFacts) -> StateReport {
    match facts.process.ending {
        Some(Ending::Exited { status, at }) => {
            let how = status.describe();
            let mut report = if another_job_runs(facts.supervisor) {
                let evidence = format!("it ended with {how}; another program now runs in its terminal");
                StateReport::new(AgentState::Replaced, StateSource::Process, evidence)
            } else {
                let evidence = format!("its process ended with {how}");
                StateReport::new(AgentState::Done, StateSource::Process, evidence)
            };
            report.exit = Some(status);
            report.since(at)
        }
        Some(Ending::Stopped { at }) if !facts.agent.is_alive() => {
            StateReport::new(AgentState::Stopped, StateSource::Process, "stopped on request").since(at)
        }
        Some(Ending::Stopped { .. }) | None => without_exit(facts),
    }
}

fn brand_of(facts: &AgentFacts) -> Option<&'static dyn Brand> {
    facts.record.brand.as_deref().and_then(BuiltIn::named).and_then(BuiltIn::brand)
}

fn without_exit(facts: &AgentFacts) -> StateReport {
    let stopped = |evidence: &str| StateReport::new(AgentState::Stopped, StateSource::Process, evidence);
    let running = |evidence: &str| {
        StateReport::new(AgentState::Running, StateSource::Process, evidence).since(facts.started_at)
    };
    if facts.same_boot == Some(false) {
        return stopped("the machine was restarted since; no exit record");
    }
    let pid = facts.process.agent.map_or(0, |id| id.pid);
    match facts.agent {
        ProcessFact::Alive { terminal: None, .. } if !facts.supervisor.is_alive() => {
            let mut report = running(&format!("process {pid} outlives its terminal"));
            report.detached = true;
            report
        }
        ProcessFact::Alive { suspended: true, .. } => running(&format!("process {pid} lives, suspended")),
        // Nobody could answer it, so it never waits, whatever a hook says of a question.
        ProcessFact::Alive { .. } if facts.record.headless => {
            running(&format!("process {pid} lives, without a terminal"))
        }
        ProcessFact::Alive { .. } => alive(facts, pid),
        ProcessFact::Gone if facts.supervisor.is_alive() => {
            running(&format!("process {pid} has just gone; how it ended is about to be recorded"))
        }
        ProcessFact::Gone => stopped("no exit record: its supervisor or its terminal was killed"),
        ProcessFact::NotRecorded | ProcessFact::NotLooked if facts.supervisor.is_alive() => {
            running("it is being started")
        }
        ProcessFact::NotRecorded | ProcessFact::NotLooked => never_ran(facts),
        ProcessFact::Unreadable => {
            StateReport::new(AgentState::Unknown, StateSource::None, "the process table could not be read")
        }
    }
}

/// The process lives; what its program says of itself decides, else its markers may say that it waits.
fn alive(facts: &AgentFacts, pid: i32) -> StateReport {
    if let Some(report) = brand_of(facts)
        .zip(facts.program.as_ref())
        .and_then(|(brand, program)| brand.state(program, &facts.markers))
    {
        return report;
    }
    let markers = &facts.markers;
    let waiting = |evidence: &str, since| {
        let mut report = StateReport::new(AgentState::Waiting, StateSource::Marker, evidence).since(since);
        report.waiting_reason = markers.waiting_reason;
        report
    };
    if markers.waiting.is_some() {
        return waiting("the marker `waiting` exists", markers.waiting);
    }
    if markers.active.is_none() {
        return waiting("the marker `active` was removed", markers.folder_changed);
    }
    StateReport::new(AgentState::Running, StateSource::Process, format!("process {pid} lives"))
        .since(facts.started_at)
}

fn never_ran(facts: &AgentFacts) -> StateReport {
    if facts.process.boot.is_some() {
        return StateReport::new(AgentState::Stopped, StateSource::Process, "its launch was cut short");
    }
    if facts.record.workspace.is_none() {
        // Made by another program that keeps no such record: to call it stopped would be a guess.
        let evidence = "no supervisor record: the agent was not launched by this mngr";
        return StateReport::new(AgentState::Unknown, StateSource::None, evidence);
    }
    StateReport::new(AgentState::Stopped, StateSource::Process, "never started")
}

/// After the agent ended its pane holds a shell; a foreground group other than the shell's own is another program.
fn another_job_runs(supervisor: ProcessFact) -> bool {
    match supervisor {
        ProcessFact::Alive { group, terminal: Some(terminal), .. } => {
            terminal.foreground_group > 0 && terminal.foreground_group != group
        }
        _ => false,
    }
}
