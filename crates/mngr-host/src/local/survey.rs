//! One look at this machine's agents. Spawns nothing.
//!
//! Per agent: two small files, one line of the process table, three `stat` calls. Split over threads only where there
//! are enough agents to pay for them.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::facts::{
    AgentFacts, BrokenAgent, Detail, ExtraFacts, Markers, ProcessFact, ProgramFacts, Survey,
};
use mngr_model::layout::HostLayout;
use mngr_model::process::{Ending, ProcessId, ProcessRecord};
use mngr_model::state::WaitingReason;
use mngr_model::{AgentId, AgentRecord};
use rustix::fs::OFlags;

use crate::local::procfs;

/// Below this many agents a second thread costs more than it saves.
const AGENTS_PER_THREAD: usize = 48;
/// No file of a state folder is ever this large, unless somebody wants to fill our memory.
const FILE_LIMIT: u64 = 4 << 20;
/// How much of the end of a program's record is looked at: many lines, and still read in no time.
const END_LIMIT: u64 = 256 << 10;

type Looked = Result<Option<AgentFacts>, BrokenAgent>;

/// Looks at every agent below the host dir.
pub(crate) fn survey(layout: &HostLayout, detail: Detail) -> io::Result<Survey> {
    let agents_dir = PathBuf::from(layout.agents().as_str());
    let folders = names_in(&agents_dir)?;
    let journals = names_in(Path::new(layout.journals().as_str()))?;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(folders.len().div_ceil(AGENTS_PER_THREAD)).max(1);
    let looked: Vec<Looked> = if workers == 1 {
        folders.iter().map(|folder| look_at(&agents_dir, folder, detail)).collect()
    } else {
        let share = folders.len().div_ceil(workers);
        std::thread::scope(|scope| {
            let dir = &agents_dir;
            let parts: Vec<_> = folders
                .chunks(share)
                .map(|part| {
                    scope.spawn(move || part.iter().map(|f| look_at(dir, f, detail)).collect::<Vec<_>>())
                })
                .collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        })
    };
    let mut agents = Vec::with_capacity(looked.len());
    let mut broken = Vec::new();
    for result in looked {
        match result {
            Ok(facts) => agents.extend(facts),
            Err(problem) => broken.push(problem),
        }
    }
    agents.sort_by(|a, b| (a.record.create_time, &a.record.id).cmp(&(b.record.create_time, &b.record.id)));
    Ok(Survey { taken_at: Timestamp::now(), booted_at: procfs::booted_at(), agents, broken, journals })
}

/// Looks at one agent. A record that cannot be read is an error here: nobody else would show it.
pub(crate) fn look_at_one(
    layout: &HostLayout,
    agent: &AgentId,
    detail: Detail,
) -> io::Result<Option<AgentFacts>> {
    look_at(Path::new(layout.agents().as_str()), agent.as_str(), detail)
        .map_err(|broken| io::Error::new(io::ErrorKind::InvalidData, broken.problem))
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            let mut names: Vec<String> =
                entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
            names.sort_unstable();
            Ok(names)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Looks at one agent. `None`: not an agent's folder, or one that is only just being made or removed.
fn look_at(agents_dir: &Path, folder: &str, detail: Detail) -> Looked {
    if AgentId::parse(folder).is_none() {
        return Ok(None);
    }
    let dir = agents_dir.join(folder);
    let broken = |problem: String| BrokenAgent { folder: folder.to_owned(), problem };
    let data = match read_small(&dir.join("data.json")) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(format!("cannot read `data.json`: {error}"))),
    };
    let record: AgentRecord =
        serde_json::from_slice(&data).map_err(|error| broken(format!("`data.json` is damaged: {error}")))?;
    if record.id.as_str() != folder {
        return Err(broken(format!("`data.json` belongs to another agent, `{}`", record.id)));
    }
    let mut process = read_process(&dir);
    let same_boot = process.boot.as_deref().zip(procfs::boot_id()).map(|(then, now)| then == now);
    // After a reboot the numbers mean nothing any more.
    let is_stale = same_boot == Some(false);
    let look_up = |id| if is_stale { ProcessFact::Gone } else { procfs::look_up(id) };
    let has_exited = |process: &ProcessRecord| matches!(process.ending, Some(Ending::Exited { .. }));
    let mut agent = if has_exited(&process) { ProcessFact::NotLooked } else { look_up(process.agent) };
    if agent == ProcessFact::Gone && process.ending.is_none() {
        // It may have ended between the two looks: the record tells.
        process = read_process(&dir);
        agent = if has_exited(&process) { ProcessFact::NotLooked } else { look_up(process.agent) };
    }
    let has_terminal = matches!(agent, ProcessFact::Alive { terminal: Some(_), .. });
    let needs_supervisor = detail == Detail::Full || !has_terminal;
    let supervisor = if needs_supervisor {
        own_or_gone(look_up(process.supervisor), process.supervisor, &record.id)
    } else {
        ProcessFact::NotLooked
    };
    let started_at = process.agent.filter(|_| !is_stale).and_then(|id| procfs::started_at(id.start));
    let markers = if agent.is_alive() { read_markers(&dir) } else { Markers::default() };
    let extra = match detail {
        Detail::Basic => ExtraFacts::default(),
        Detail::Full => extra_facts(&dir),
    };
    let program = program_facts(&dir, &record, &process).filter(|_| agent.is_alive());
    Ok(Some(AgentFacts {
        record,
        process,
        same_boot,
        supervisor,
        agent,
        markers,
        program,
        started_at,
        extra,
    }))
}

/// The agent can write its own record: a process that was not started as its supervisor is none.
fn own_or_gone(fact: ProcessFact, recorded: Option<ProcessId>, agent: &AgentId) -> ProcessFact {
    let mark = || format!("{MNGR_AGENT_ID}={agent}");
    let is_own = |id: ProcessId| procfs::has_env(id.pid, &mark());
    if fact.is_alive() && !recorded.is_some_and(is_own) { ProcessFact::Gone } else { fact }
}

/// A file the agent can write: an endless one must not fill our memory.
fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_ordinary(path)?;
    let length = file.metadata()?.len();
    if length > FILE_LIMIT {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(length as usize + 1);
    file.take(FILE_LIMIT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A pipe in its place must not block us.
fn open_ordinary(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = fs::File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not an ordinary file"));
    }
    Ok(file)
}

fn read_small_text(path: &Path) -> Option<String> {
    String::from_utf8(read_small(path).ok()?).ok()
}

fn read_process(dir: &Path) -> ProcessRecord {
    match read_small(&dir.join("process")) {
        Ok(text) => ProcessRecord::parse(&String::from_utf8_lossy(&text)),
        Err(_) => ProcessRecord::default(),
    }
}

fn read_markers(dir: &Path) -> Markers {
    let waiting = modified(&dir.join("waiting"));
    let reason = waiting.and_then(|_| read_small_text(&dir.join("waiting")));
    Markers {
        active: modified(&dir.join("active")),
        waiting,
        waiting_reason: reason.and_then(|text| WaitingReason::parse(text.trim())),
        folder_changed: modified(dir),
    }
}

/// What the agent's program says of itself, for types that name a status file.
fn program_facts(dir: &Path, record: &AgentRecord, process: &ProcessRecord) -> Option<ProgramFacts> {
    let is_below = |path: &&str| !path.starts_with('/') && !path.split('/').any(|part| part == "..");
    let path = dir.join(record.status_file_of(process.agent?.pid)?);
    Some(ProgramFacts {
        status: read_end(&path).ok(),
        failure: read_small_text(&dir.join("failure")),
        changed: modified(&path),
        ready: record
            .ready_folder
            .as_deref()
            .filter(is_below)
            .and_then(|folder| newest_in(&dir.join(folder))),
    })
}

/// The whole lines at the end of a file that may be long.
fn read_end(path: &Path) -> io::Result<String> {
    let mut file = open_ordinary(path)?;
    let start = file.metadata()?.len().saturating_sub(END_LIMIT);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(END_LIMIT).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let cut = if start == 0 { 0 } else { text.find('\n').map_or(text.len(), |at| at + 1) };
    Ok(text[cut..].to_owned())
}

/// When something last appeared in a folder; what is hidden does not count.
fn newest_in(folder: &Path) -> Option<Timestamp> {
    let names = names_in(folder).ok()?;
    names.iter().filter(|name| !name.starts_with('.')).filter_map(|name| modified(&folder.join(name))).max()
}

fn extra_facts(dir: &Path) -> ExtraFacts {
    let url = read_small_text(&dir.join("status/url"));
    let newest = |names: &[&str]| names.iter().filter_map(|name| modified(&dir.join(name))).max();
    ExtraFacts {
        url: url.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        agent_activity: newest(&["activity/agent", "activity/start", "activity/create"]),
        user_activity: newest(&["activity/user", "events/messages/events.jsonl"]),
    }
}

fn modified(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(fs::metadata(path).ok()?.modified().ok()?).ok()
}
