//! One look at a host's agents: what is read of each, and what that means. How it is read is the host's business.
//!
//! Per agent: three small files, one line of the process table, three times of change.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use jiff::{SignedDuration, Timestamp};
use mngr_model::activity::ActivitySource;
use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::facts::{
    AgentFacts, BrokenAgent, Detail, ExtraFacts, HostActivity, Markers, ProcessFact, ProgramFacts,
    SubagentFacts, Survey,
};
use mngr_model::layout::HostLayout;
use mngr_model::process::{Ending, ProcessId, ProcessRecord};
use mngr_model::state::WaitingReason;
use mngr_model::title::reported_title;
use mngr_model::{AgentId, AgentRecord, HostPath};

/// No file of a state folder is ever this large, unless somebody wants to fill our memory.
pub(crate) const FILE_LIMIT: u64 = 4 << 20;
/// How much of the end of a program's record is looked at: many lines, and still read in no time.
pub(crate) const END_LIMIT: u64 = 256 << 10;
/// The same of the record of a sub-agent, and how many of those are looked at.
pub(crate) const SUBAGENT_END_LIMIT: u64 = 64 << 10;
const MOST_SUBAGENTS: usize = 64;

/// What tells of an agent itself.
const AGENT_SOURCES: [ActivitySource; 4] =
    [ActivitySource::Create, ActivitySource::Start, ActivitySource::Agent, ActivitySource::Process];

/// What a look at one agent came to. `None`: not an agent's folder, or one that is only just being made or removed.
pub(crate) type Looked = Result<Option<AgentFacts>, BrokenAgent>;

/// What can be seen of a host. Nothing here may wait for what an agent has put there: a pipe is an error.
pub(crate) trait Sight {
    /// The contents of an ordinary file of at most [`FILE_LIMIT`].
    fn read_small(&self, path: &HostPath) -> io::Result<Vec<u8>>;
    /// The last bytes of an ordinary file, at most this many of [`END_LIMIT`], and whether that is all of it.
    fn read_end(&self, path: &HostPath, limit: u64) -> io::Result<(Vec<u8>, bool)>;
    /// When it last changed; nothing when it is not there.
    fn modified(&self, path: &HostPath) -> Option<Timestamp>;
    /// What is in a folder, sorted; a missing one is empty.
    fn names_in(&self, folder: &HostPath) -> io::Result<Vec<String>>;
    /// The id of the running boot.
    fn boot_id(&self) -> Option<&str>;
    /// What the process table says of a recorded process.
    fn look_up(&self, id: Option<ProcessId>) -> ProcessFact;
    /// When a process with that start value started.
    fn started_at(&self, start: u64) -> Option<Timestamp>;
    /// By how much the clock of the host is ahead of ours.
    fn clock_lead(&self) -> SignedDuration;
    /// What that clock shows.
    fn now(&self) -> Timestamp;
    /// Whether a process was started with `NAME=value` in its environment.
    fn has_env(&self, pid: i32, pair: &str) -> bool;
}

/// Puts the looks of all agents together.
pub(crate) fn gather(
    looked: Vec<Looked>,
    journals: Vec<String>,
    taken_at: Timestamp,
    clock_lead: SignedDuration,
    booted_at: Option<Timestamp>,
    host_activity: &HostActivity,
) -> Survey {
    let mut agents = Vec::with_capacity(looked.len());
    let mut broken = Vec::new();
    for result in looked {
        match result {
            Ok(facts) => agents.extend(facts.map(|mut facts| {
                facts.extra.host_activity = Some(host_activity.clone());
                facts
            })),
            Err(problem) => broken.push(problem),
        }
    }
    agents.sort_by(|a, b| (a.record.create_time, &a.record.id).cmp(&(b.record.create_time, &b.record.id)));
    Survey { taken_at, clock_lead, booted_at, machine: None, agents, broken, journals }
}

/// Looks at one agent whose folder is known. A record that cannot be read is an error here: nobody else would show it.
pub(crate) fn look_at_one(
    sight: &impl Sight,
    layout: &HostLayout,
    agent: &AgentId,
    detail: Detail,
) -> io::Result<Option<AgentFacts>> {
    look_at(sight, &layout.agents(), agent.as_str(), detail)
        .map_err(|broken| io::Error::new(io::ErrorKind::InvalidData, broken.problem))
}

/// Looks at one agent.
pub(crate) fn look_at(sight: &impl Sight, agents: &HostPath, folder: &str, detail: Detail) -> Looked {
    if AgentId::parse(folder).is_none() {
        return Ok(None);
    }
    let dir = agents.join(folder);
    let broken = |problem: String| BrokenAgent { folder: folder.to_owned(), problem };
    let data = match sight.read_small(&dir.join("data.json")) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(format!("cannot read `data.json`: {error}"))),
    };
    let record: AgentRecord =
        serde_json::from_slice(&data).map_err(|error| broken(format!("`data.json` is damaged: {error}")))?;
    if record.id.as_str() != folder {
        return Err(broken(format!("`data.json` belongs to another agent, `{}`", record.id)));
    }
    let mut process = read_process(sight, &dir);
    let same_boot = process.boot.as_deref().zip(sight.boot_id()).map(|(then, now)| then == now);
    // After a reboot the numbers mean nothing any more.
    let is_stale = same_boot == Some(false);
    let look_up = |id| if is_stale { ProcessFact::Gone } else { sight.look_up(id) };
    let has_exited = |process: &ProcessRecord| matches!(process.ending, Some(Ending::Exited { .. }));
    let mut agent = if has_exited(&process) { ProcessFact::NotLooked } else { look_up(process.agent) };
    if agent == ProcessFact::Gone && process.ending.is_none() {
        // It may have ended between the two looks: the record tells.
        process = read_process(sight, &dir);
        agent = if has_exited(&process) { ProcessFact::NotLooked } else { look_up(process.agent) };
    }
    let has_terminal = matches!(agent, ProcessFact::Alive { terminal: Some(_), .. });
    let needs_supervisor = detail == Detail::Full || !has_terminal;
    let supervisor = if needs_supervisor {
        own_or_gone(sight, look_up(process.supervisor), process.supervisor, &record.id)
    } else {
        ProcessFact::NotLooked
    };
    let started_at = process.agent.filter(|_| !is_stale).and_then(|id| sight.started_at(id.start));
    let markers = if agent.is_alive() { read_markers(sight, &dir) } else { Markers::default() };
    let extra = match detail {
        Detail::Basic => ExtraFacts { title: reported(sight, &dir), ..ExtraFacts::default() },
        Detail::Activity | Detail::Full => extra_facts(sight, &dir),
    };
    let program = program_facts(sight, &dir, &record, &process).filter(|_| agent.is_alive());
    let elsewhere = if is_stale { Vec::new() } else { elsewhere(sight, &dir, &record.id) };
    Ok(Some(AgentFacts {
        record,
        process,
        same_boot,
        supervisor,
        agent,
        markers,
        program,
        elsewhere,
        started_at,
        clock_lead: sight.clock_lead(),
        extra,
    }))
}

/// The agent can write its own record: a process that was not started as its supervisor is none.
fn own_or_gone(
    sight: &impl Sight,
    fact: ProcessFact,
    recorded: Option<ProcessId>,
    agent: &AgentId,
) -> ProcessFact {
    let mark = || format!("{MNGR_AGENT_ID}={agent}");
    let is_own = |id: ProcessId| sight.has_env(id.pid, &mark());
    if fact.is_alive() && !recorded.is_some_and(is_own) { ProcessFact::Gone } else { fact }
}

/// What the agent's hooks noted to go on without its program, one `<pid>:<start>` a line, as far as it lives. Only its own
/// processes count: the agent can write the file.
fn elsewhere(sight: &impl Sight, dir: &HostPath, agent: &AgentId) -> Vec<i32> {
    let Some(text) = read_small_text(sight, &dir.join("elsewhere")) else { return Vec::new() };
    let noted: BTreeSet<ProcessId> = text.lines().filter_map(ProcessId::parse).collect();
    let lives = |id: &ProcessId| own_or_gone(sight, sight.look_up(Some(*id)), Some(*id), agent).is_alive();
    noted.into_iter().filter(lives).map(|id| id.pid).collect()
}

fn read_small_text(sight: &impl Sight, path: &HostPath) -> Option<String> {
    String::from_utf8(sight.read_small(path).ok()?).ok()
}

fn read_process(sight: &impl Sight, dir: &HostPath) -> ProcessRecord {
    match sight.read_small(&dir.join("process")) {
        Ok(text) => ProcessRecord::parse(&String::from_utf8_lossy(&text)),
        Err(_) => ProcessRecord::default(),
    }
}

fn read_markers(sight: &impl Sight, dir: &HostPath) -> Markers {
    let waiting = sight.modified(&dir.join("waiting"));
    let reason = waiting.and_then(|_| read_small_text(sight, &dir.join("waiting")));
    Markers {
        active: sight.modified(&dir.join("active")),
        waiting,
        waiting_reason: reason.and_then(|text| WaitingReason::parse(text.trim())),
        folder_changed: sight.modified(dir),
    }
}

/// What the agent's program says of itself, for types that name a status file.
fn program_facts(
    sight: &impl Sight,
    dir: &HostPath,
    record: &AgentRecord,
    process: &ProcessRecord,
) -> Option<ProgramFacts> {
    let is_below = |path: &&str| !path.starts_with('/') && !path.split('/').any(|part| part == "..");
    let path = dir.join(&record.status_file_of(process.agent?.pid)?);
    let newest = |folder: &str| newest_in(sight, &dir.join(folder));
    Some(ProgramFacts {
        status: sight.read_end(&path, END_LIMIT).ok().map(|(bytes, is_whole)| whole_lines(&bytes, is_whole)),
        failure: read_small_text(sight, &dir.join("failure")),
        background: read_small_text(sight, &dir.join("background")),
        changed: sight.modified(&path),
        looked_at: Some(sight.now()),
        ready: record.ready_folder.as_deref().filter(is_below).and_then(newest),
        subagents: subagents(sight, &dir.join("subagents")),
    })
}

fn subagents(sight: &impl Sight, folder: &HostPath) -> Vec<SubagentFacts> {
    let mut names = sight.names_in(folder).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    names.retain(|name| !name.starts_with('.') && name.bytes().all(is_plain));
    // The newest names come last.
    let first = names.len().saturating_sub(MOST_SUBAGENTS);
    let seen = names.into_iter().skip(first).filter_map(|name| {
        let path = folder.join(&name);
        let (bytes, is_whole) = sight.read_end(&path, SUBAGENT_END_LIMIT).ok()?;
        Some(SubagentFacts { name, record: whole_lines(&bytes, is_whole), changed: sight.modified(&path) })
    });
    seen.collect()
}

/// The whole lines at the end of a file that may be long.
fn whole_lines(bytes: &[u8], is_whole: bool) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut = if is_whole { 0 } else { text.find('\n').map_or(text.len(), |at| at + 1) };
    text[cut..].to_owned()
}

/// When something last appeared in a folder; what is hidden does not count.
fn newest_in(sight: &impl Sight, folder: &HostPath) -> Option<Timestamp> {
    let names = sight.names_in(folder).ok()?;
    let shown = names.iter().filter(|name| !name.starts_with('.'));
    shown.filter_map(|name| sight.modified(&folder.join(name))).max()
}

/// What the agent's program says it works on.
fn reported(sight: &impl Sight, dir: &HostPath) -> Option<String> {
    reported_title(&read_small_text(sight, &dir.join("status/title"))?)
}

fn extra_facts(sight: &impl Sight, dir: &HostPath) -> ExtraFacts {
    let url = read_small_text(sight, &dir.join("status/url"));
    let modified = |source: ActivitySource| sight.modified(&dir.join(&format!("activity/{source}")));
    let activity: BTreeMap<_, _> =
        AGENT_SOURCES.into_iter().filter_map(|source| Some((source, modified(source)?))).collect();
    let by_agent = [ActivitySource::Agent, ActivitySource::Start, ActivitySource::Create];
    let by_user = [modified(ActivitySource::User), sight.modified(&dir.join("events/messages/events.jsonl"))];
    ExtraFacts {
        url: url.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        title: reported(sight, dir),
        agent_activity: by_agent.iter().filter_map(|source| activity.get(source).copied()).max(),
        user_activity: by_user.into_iter().flatten().max(),
        activity,
        host_activity: None,
    }
}
