//! Creating an agent of a run, giving it its task, and letting it go. The order of these steps is the keeper's.

use std::time::{Duration, Instant};

use mngr_config::TmrPermissions as Permissions;
use mngr_host::files::{Access, Durability};
use mngr_host::git::Git;
use mngr_host::interrupt;
use mngr_host::tmux::CaptureRange;
use mngr_model::address::Location;
use mngr_model::branch::BranchSpec;
use mngr_model::env::MNGR_E2E_OUTPUT;
use mngr_model::permission::{GIT_OF_INTEGRATORS, GIT_OF_MAPPERS, PermissionSet};
use mngr_model::process::ExitStatus;
use mngr_model::run::{FailureKind, TaskId};
use mngr_model::title::title_of;
use mngr_model::{AgentState, HostPath};
use mngr_ops::again::LookError;
use mngr_ops::capture::{CaptureRequest, capture};
use mngr_ops::create::{Attendance, Audience, CreateRequest, SourceSpec, UncleanFiles, create};
use mngr_ops::fleet::Agent;
use mngr_ops::message::{MessageRequest, SendError, Sent, send};
use mngr_ops::pool::RUN_TAG;
use mngr_ops::remains::Remains;
use mngr_ops::stop::{StopError, StopOptions, stop};
use mngr_ops::transcript::Conversation;
use mngr_ops::{again, error_chain, hosts};

use super::news::Failure;
use crate::mapper::Limits;
use crate::mapper::publish::{self, Publishing, Role};
use crate::permit::runners_of;
use crate::run::Workshop;

/// How much of an agent's conversation is kept.
const KEPT_CONVERSATION: usize = 32 * 1024 * 1024;

/// What the labels of the agents of a run are called.
pub(crate) mod label {
    /// The run.
    pub(crate) const RUN: &str = "mapreduce_run_name";
    /// What it is there for.
    pub(crate) const ROLE: &str = "mapreduce_role";
    /// The test it looks after.
    pub(crate) const TASK: &str = "tmr_task";
    /// The commit that the integrator was asked about.
    pub(crate) const START: &str = "tmr_start";
}

/// What a new agent of a run is.
pub(crate) struct Commission {
    /// What all agents of its role are created with.
    pub(crate) blueprint: CreateRequest,
    /// Its name.
    pub(crate) name: String,
    /// Its branch.
    pub(crate) branch: String,
    /// The commit it starts from.
    pub(crate) start: String,
    /// Its labels.
    pub(crate) labels: Vec<(&'static str, String)>,
    /// Its variables.
    pub(crate) env: Vec<(&'static str, String)>,
}

/// Variables that name folders below an agent's state folder: where its tests leave transcripts and recordings.
const STATE_FOLDERS: [(&str, &str); 1] = [(MNGR_E2E_OUTPUT, publish::TEST_ARTIFACTS)];

/// Creates it. Nothing is left of one that could not be created.
pub(crate) fn launch(shop: &Workshop, commission: &Commission) -> Result<Agent, Failure> {
    let failed = |message: String| Failure::new(FailureKind::Launch, message);
    let mut request = commission.blueprint.clone();
    request.name = Some(commission.name.parse().map_err(|error| failed(format!("{error}")))?);
    let here: Result<Location, _> = shop.settings.source.as_str().parse();
    request.source = SourceSpec::Location(here.map_err(|error| failed(format!("{error}")))?);
    request.branch =
        BranchSpec::New { base: Some(commission.start.clone()), pattern: commission.branch.clone() };
    request.unclean = UncleanFiles::LeaveBehind;
    request.attendance = Attendance::Background;
    request.audience = Audience::Nobody;
    request.message = None;
    request.state_folders = STATE_FOLDERS.to_vec();
    request.provision_patience = shop.settings.patience.launch;
    let task = commission.labels.iter().find(|(name, _)| *name == label::TASK).map(|(_, task)| task.as_str());
    request.permissions = permissions(shop, task);
    // A host that is made for it is found again by this, whoever made it and however he ended.
    request.host_spec.tags.insert(RUN_TAG.to_owned(), shop.mark());
    request.labels.extend(commission.labels.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    // Its prompt begins as that of every other one does.
    let task = commission.labels.iter().find(|(name, _)| *name == label::TASK);
    request.title = task.and_then(|(_, task)| title_of(task));
    for (name, value) in &commission.env {
        let pair = format!("{name}={value}").parse().map_err(|error| failed(format!("{error}")))?;
        request.env.push(pair);
    }
    let created = create(&shop.world, &request).map_err(|error| failed(error_chain(&error)))?;
    let host =
        hosts::with_id(&shop.world, &created.host.id).ok_or_else(|| failed("its host is gone".to_owned()))?;
    match again::find(&host, &created.id) {
        Ok(Some(agent)) => Ok(agent),
        Ok(None) => Err(failed("it was destroyed at once".to_owned())),
        Err(error) => Err(failed(error_chain(&error))),
    }
}

/// What an agent of the run may do without anybody being asked; nothing where that is left to its program's settings. One
/// without a task puts changes together.
fn permissions(shop: &Workshop, task: Option<&str>) -> Option<PermissionSet> {
    let said = &shop.world.settings.tmr;
    if said.permissions == Permissions::Own {
        return None;
    }
    let task: Option<TaskId> = task.and_then(|task| task.to_owned().try_into().ok());
    let mut lines: Vec<String> = task.iter().map(|task| shop.tests.one_line(task)).collect();
    lines.extend(shop.tests.together_line());
    let runners = lines.iter().flat_map(|line| runners_of(line)).collect();
    lines.extend(shop.settings.checks.gate.clone());
    let mut git: Vec<String> = GIT_OF_MAPPERS.map(str::to_owned).to_vec();
    if task.is_none() {
        git.extend(GIT_OF_INTEGRATORS.map(str::to_owned));
    }
    let judge = Some(shop.world.binary.clone());
    Some(PermissionSet { lines, runners, git, allow: said.allow.clone(), judge })
}

/// The branch an agent was created with.
pub(crate) fn branch_of(agent: &Agent) -> String {
    let record = &agent.facts.record;
    record.created_branch_name.clone().or_else(|| record.checked_out_branch_name.clone()).unwrap_or_default()
}

/// Puts the tool to publish with into its state folder.
pub(crate) fn equip(agent: &Agent, start: &str, limits: &Limits, role: Role) -> Result<(), Failure> {
    let publishing = Publishing { base_commit: start, branch: &branch_of(agent), limits, role };
    publish::install(agent.host.as_ref(), &agent.host.layout().agent(agent.id()), &publishing)
        .map_err(|error| Failure::new(FailureKind::Launch, error_chain(&error)))
}

/// Gives it commits of others as refs of its repository: pairs of commit and name.
pub(crate) fn hand_over(shop: &Workshop, agent: &Agent, refs: &[(String, String)]) -> Result<(), Failure> {
    let there = Git::new(agent.host.as_ref(), agent.facts.record.work_dir.clone());
    shop.git().hand_over(&there, refs).map_err(|error| {
        let kind = if error.is_interrupted() { FailureKind::Interrupted } else { FailureKind::Launch };
        Failure::new(kind, format!("it cannot get the changes: {}", error_chain(&error)))
    })
}

/// Sends it a message, once: a key that was used before sends nothing.
pub(crate) fn tell(
    shop: &Workshop,
    agent: &Agent,
    key: &str,
    text: &str,
    patience: Duration,
) -> Result<Sent, SendError> {
    let idempotency_key = key.parse().ok();
    send(
        &shop.world,
        agent,
        &MessageRequest { text: text.to_owned(), idempotency_key, patience, start: false },
    )
}

/// What its terminal shows, without what only a terminal understands; nothing where it has none.
pub(crate) fn screen(shop: &Workshop, agent: &Agent) -> Option<String> {
    let request = CaptureRequest { window: None, range: CaptureRange::Visible, start: false };
    let text = capture(&shop.world, agent, &request).ok()?;
    Some(mngr_query::sanitize_lines(&text).into_owned())
}

/// Keeps what its terminal shows and what was said, in the folder of its attempt. That is evidence, and worth an attempt,
/// but nothing depends on it.
pub(crate) fn keep_traces(shop: &Workshop, agent: &Agent, folder: &HostPath) {
    let files = shop.host().files();
    if files.make_folder(folder).is_err() {
        return;
    }
    let keep = |name: &str, bytes: &[u8]| {
        let _ = files.write(&folder.join(name), bytes, Access::Private, Durability::Cached);
    };
    if let Some(text) = screen(shop, agent).filter(|text| !text.trim().is_empty()) {
        keep("screen.txt", text.as_bytes());
    }
    let Ok(mut conversation) = Conversation::of(&shop.world, Remains::of(agent)) else { return };
    let Ok(said) = conversation.read_more() else { return };
    let mut lines = Vec::new();
    for record in said.records.iter().filter(|record| !record.is_context()) {
        if lines.len() > KEPT_CONVERSATION || serde_json::to_writer(&mut lines, record).is_err() {
            break;
        }
        lines.push(b'\n');
    }
    if !lines.is_empty() {
        keep("transcript.jsonl", &lines);
    }
}

/// Stops it. It stays, stopped, until the user destroys it, which may have happened.
pub(crate) fn let_go(shop: &Workshop, agent: &Agent) -> Result<(), String> {
    // Whatever else is interrupted, no agent is left running.
    let _shield = interrupt::shield();
    let options = StopOptions::from_settings(&shop.world.settings);
    match stop(&shop.world, agent, &options) {
        Ok(_) | Err(StopError::Look(LookError::Gone { .. })) => Ok(()),
        Err(error) => Err(error_chain(&error)),
    }
}

/// The last line that a program which has ended printed itself; nothing where that cannot be told. `told` is what it was
/// told, which its terminal may show as well.
pub(crate) fn last_words(shop: &Workshop, agent: &Agent, told: &[&str]) -> Option<String> {
    // A program that was killed had no time for words.
    if agent.state.state != AgentState::Done || !matches!(agent.state.exit, Some(ExitStatus::Code(_))) {
        return None;
    }
    let until = Instant::now() + LAST_LINE;
    loop {
        let text = screen(shop, agent)?;
        if text.lines().any(is_end) {
            return own_words(&text, told);
        }
        if Instant::now() >= until {
            return None;
        }
        std::thread::sleep(LAST_LINE / 10);
    }
}

/// What is put below the last line of a program that has ended, before the prompt of the shell that is left there.
const END: &str = "[mngr] the agent ended with status";
/// How long that may take.
const LAST_LINE: Duration = Duration::from_secs(1);

fn is_end(line: &str) -> bool {
    line.trim_start().starts_with(END)
}

/// The last line above the end that is not a piece of what was told.
fn own_words(screen: &str, told: &[&str]) -> Option<String> {
    // Lines of a message may be wrapped, and framed by the input box they were typed into.
    let told: Vec<String> = told.iter().map(|text| text.split_whitespace().collect()).collect();
    let bare = |line: &str| -> String {
        let line = line.trim_matches(|c: char| !c.is_alphanumeric());
        line.split_whitespace().collect()
    };
    let is_own = |line: &&str| {
        let bare = bare(line);
        !bare.is_empty() && !told.iter().any(|text| text.contains(&bare))
    };
    let above: Vec<&str> = screen.lines().take_while(|line| !is_end(line)).map(str::trim).collect();
    above.into_iter().rev().find(is_own).map(|line| line.chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_neither_those_of_the_prompt_nor_of_the_supervisor_nor_of_the_shell() {
        let end = "\n[mngr] the agent ended with status 3; this is a plain shell in its work dir\nmotd\n$ ";
        let told = ["Look after the test `tests/a.sh`.\n\nRun it, then publish what you have.", "x"];
        let own = |screen: &str| own_words(&format!("{screen}{end}"), &told);
        assert_eq!(own("working\nno key: log in first\n\n").as_deref(), Some("no key: log in first"));
        // The terminal repeats what was typed into it, wrapped and in a frame.
        let typed = "no key\n> Look after the\n| test `tests/a.sh`. |\nRun it, then publish what you have.";
        assert_eq!(own(typed).as_deref(), Some("no key"));
        assert_eq!(own("Look after the test `tests/a.sh`."), None);
        assert_eq!(own("---\n"), None);
    }
}
