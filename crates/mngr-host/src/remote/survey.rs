//! One look at another machine's agents: one script, one round trip, whatever their number.
//!
//! The script copies what is there; what it means is decided here, by the same code as for this machine. The other
//! machine is not trusted: what it sends is limited, and names no path that is read or written here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use jiff::{SignedDuration, Timestamp};
use mngr_model::activity::ActivityConfig;
use mngr_model::address::AgentRef;
use mngr_model::env::MNGR_AGENT_ID;
use mngr_model::facts::{AgentFacts, Detail, HostActivity, MachineFacts, ProcessFact, Survey};
use mngr_model::layout::HostLayout;
use mngr_model::process::ProcessId;
use mngr_model::{AgentId, HostPath};

use super::script::without_comments;
use super::shells::Shells;
use crate::local::procfs::{self, Stat};
use crate::proc::Cmd;
use crate::survey::{self, FILE_LIMIT, Sight};

/// What prints everything.
const SCRIPT: &str = include_str!("survey.sh");

/// Clocks that differ by less are the same: times must not change from one look to the next.
const SAME_CLOCK: SignedDuration = SignedDuration::from_secs(2);

/// When each machine booted, and the id of that boot, as the first look of this process had it. Each look works it out of two
/// readings, and is off by what lies between them.
static BOOTED: Mutex<BTreeMap<String, (Option<String>, Timestamp)>> = Mutex::new(BTreeMap::new());

/// What a word of the script begins with that is an agent's name and not its id.
const NAMED: &str = "name:";

/// More than this no honest host sends.
const MOST_BYTES: usize = 128 << 20;

/// Looks at every agent of the host.
pub(super) fn survey(
    shells: &Shells,
    layout: &HostLayout,
    detail: Detail,
    patience: Duration,
) -> io::Result<Survey> {
    survey_words(shells, layout, Vec::new(), detail, patience)
}

/// Looks at the agents of these names and ids. The script compares names loosely, so more agents may be answered.
pub(super) fn survey_of(
    shells: &Shells,
    layout: &HostLayout,
    wanted: &[AgentRef],
    detail: Detail,
    patience: Duration,
) -> io::Result<Survey> {
    let word = |wanted: &AgentRef| match wanted {
        AgentRef::Id(id) => id.to_string(),
        AgentRef::Name(name) => format!("{NAMED}{name}"),
    };
    let words = wanted.iter().map(word).collect();
    let mut survey = survey_words(shells, layout, words, detail, patience)?;
    survey.agents.retain(|facts| wanted.iter().any(|wanted| wanted.is(&facts.record)));
    Ok(survey)
}

fn survey_words(
    shells: &Shells,
    layout: &HostLayout,
    wanted: Vec<String>,
    detail: Detail,
    patience: Duration,
) -> io::Result<Survey> {
    let seen = Seen::of(shells, layout, wanted, patience)?;
    let agents = layout.agents();
    let looked = seen.folders.keys().map(|folder| survey::look_at(&seen, &agents, folder, detail)).collect();
    let journals = seen.journals.iter().cloned().collect();
    let survey = survey::gather(looked, journals, seen.now, seen.clock_lead, seen.booted_at, &seen.activity);
    Ok(Survey { machine: Some(seen.machine), ..survey })
}

/// Looks at one agent.
pub(super) fn look_at_one(
    shells: &Shells,
    layout: &HostLayout,
    agent: &AgentId,
    detail: Detail,
    patience: Duration,
) -> io::Result<Option<AgentFacts>> {
    survey::look_at_one(&Seen::of(shells, layout, vec![agent.to_string()], patience)?, layout, agent, detail)
}

/// What the script printed.
struct Seen {
    now: Timestamp,
    clock_lead: SignedDuration,
    booted_at: Option<Timestamp>,
    boot_id: Option<String>,
    machine: MachineFacts,
    activity: HostActivity,
    /// Agents' folders and when they changed.
    folders: BTreeMap<String, Option<Timestamp>>,
    journals: BTreeSet<String>,
    processes: BTreeMap<i32, Stat>,
    /// The agent each process says it belongs to.
    marks: BTreeMap<i32, String>,
    files: BTreeMap<HostPath, SeenFile>,
    /// The ends of files that may be long.
    ends: BTreeMap<HostPath, SeenEnd>,
}

struct SeenFile {
    bytes: Vec<u8>,
    modified: Option<Timestamp>,
}

struct SeenEnd {
    bytes: Vec<u8>,
    is_whole: bool,
    modified: Option<Timestamp>,
}

impl Seen {
    fn of(shells: &Shells, layout: &HostLayout, wanted: Vec<String>, patience: Duration) -> io::Result<Self> {
        let cmd = Cmd::shell(without_comments(SCRIPT))
            .arg("look")
            .arg(layout.root().as_str())
            .args(wanted)
            .keep_last(MOST_BYTES)
            .deadline(patience);
        let asked = Timestamp::now();
        let output = shells.look(&cmd).map_err(io::Error::other)?;
        let mut seen = Self::parse(layout, &output.stdout)?;
        seen.clock_lead = clock_lead(seen.now, asked, Timestamp::now());
        let name = shells.line().name();
        seen.booted_at = seen.booted_at.map(|at| steady_boot(name, seen.boot_id.as_deref(), at));
        Ok(seen)
    }

    fn parse(layout: &HostLayout, printed: &[u8]) -> io::Result<Self> {
        let end = printed.windows(2).position(|pair| pair == b"\n\n");
        let end = end.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the look was cut short"))?;
        let (facts, archive) = (&printed[..=end], &printed[end + 2..]);
        let mut seen = Self {
            now: Timestamp::now(),
            clock_lead: SignedDuration::ZERO,
            booted_at: None,
            boot_id: None,
            machine: MachineFacts::default(),
            activity: HostActivity::default(),
            folders: BTreeMap::new(),
            journals: BTreeSet::new(),
            processes: BTreeMap::new(),
            marks: BTreeMap::new(),
            files: BTreeMap::new(),
            ends: BTreeMap::new(),
        };
        let mut uptime = None;
        for line in String::from_utf8_lossy(facts).lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "boot" => seen.boot_id = Some(rest.trim().to_owned()),
                "now" => seen.now = seconds(rest).unwrap_or(seen.now),
                "processors" => seen.machine.processors = rest.to_owned(),
                "memory" => seen.machine.memory = rest.to_owned(),
                "host" => seen.activity.config = config_in(rest).unwrap_or_else(ActivityConfig::never),
                "activity" => {
                    let (source, time) = rest.split_once(' ').unwrap_or((rest, ""));
                    seen.activity.seen.extend(source.parse().ok().zip(seconds(time)));
                }
                "uptime" => uptime = rest.trim().parse::<f64>().ok(),
                "journal" if is_journal(rest) => drop(seen.journals.insert(rest.to_owned())),
                "folder" => {
                    let (modified, name) = rest.split_once(' ').unwrap_or((rest, ""));
                    seen.folders.insert(name.to_owned(), seconds(modified));
                }
                "stat" => {
                    let pid = rest.split(' ').next().and_then(|pid| pid.parse().ok());
                    let stat = pid.and_then(|pid| Stat::parse(pid, rest.as_bytes()));
                    seen.processes.extend(stat.map(|stat| (stat.pid, stat)));
                }
                "end" => seen.ends.extend(end_of_file(&layout.agents(), rest)),
                _ => seen.marks.extend(mark_of(line)),
            }
        }
        seen.booted_at = uptime
            .and_then(|uptime| SignedDuration::try_from_secs_f64(uptime).ok())
            .and_then(|uptime| seen.now.checked_sub(uptime).ok());
        seen.take_files(&layout.agents(), archive)?;
        Ok(seen)
    }

    fn take_files(&mut self, agents: &HostPath, archive: &[u8]) -> io::Result<()> {
        // An archive that breaks off is one whose last files were not seen.
        let mut archives = tar::Archive::new(archive);
        // Many names make several archives, one behind the other.
        archives.set_ignore_zeros(true);
        for entry in archives.entries()? {
            let Ok(mut entry) = entry else { break };
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let precise = precise_time(&mut entry);
            let modified =
                precise.or_else(|| Timestamp::from_second(entry.header().mtime().ok()? as i64).ok());
            let mut bytes = Vec::new();
            // An entry may claim to be longer than what is there: a sparse one is filled with zeros.
            if entry.by_ref().take(FILE_LIMIT + 1).read_to_end(&mut bytes).is_err() {
                break;
            }
            self.files.insert(agents.join(&name), SeenFile { bytes, modified });
        }
        Ok(())
    }

    fn file(&self, path: &HostPath) -> io::Result<&SeenFile> {
        self.files.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// When the host stops by itself, from the base64 of its record.
fn config_in(text: &str) -> Option<ActivityConfig> {
    serde_json::from_slice(&BASE64.decode(text).ok()?).ok()
}

/// The moment as the first look had it, if it may be the same boot.
fn steady_boot(machine: &str, id: Option<&str>, at: Timestamp) -> Timestamp {
    let mut booted = BOOTED.lock().unwrap_or_else(PoisonError::into_inner);
    match booted.get(machine) {
        Some((known, first)) if known.as_deref() == id && first.duration_since(at).abs() < SAME_CLOCK => {
            *first
        }
        _ => {
            booted.insert(machine.to_owned(), (id.map(str::to_owned), at));
            at
        }
    }
}

/// By how much a clock is ahead that showed `there` at some moment between two of ours.
fn clock_lead(there: Timestamp, asked: Timestamp, answered: Timestamp) -> SignedDuration {
    let nearest = there.clamp(asked, answered.max(asked));
    let lead = there.duration_since(nearest);
    if lead.abs() < SAME_CLOCK { SignedDuration::ZERO } else { lead }
}

/// `<agent id>.jsonl`: nothing else is ever read as one.
fn is_journal(name: &str) -> bool {
    name.strip_suffix(".jsonl").and_then(AgentId::parse).is_some()
}

/// `/proc/<pid>/environ:MNGR_AGENT_ID=<agent>`.
fn mark_of(line: &str) -> Option<(i32, String)> {
    let (pid, variable) = line.strip_prefix("/proc/")?.split_once("/environ:")?;
    let agent = variable.strip_prefix(MNGR_AGENT_ID)?.strip_prefix('=')?;
    Some((pid.parse().ok()?, agent.to_owned()))
}

/// `<size> <time> <base64 of its end> <path>`.
fn end_of_file(agents: &HostPath, line: &str) -> Option<(HostPath, SeenEnd)> {
    let mut words = line.splitn(4, ' ');
    let size: u64 = words.next()?.parse().ok()?;
    let modified = seconds(words.next()?);
    let bytes = BASE64.decode(words.next()?).ok()?;
    let is_whole = size <= bytes.len() as u64;
    Some((agents.join(words.next()?), SeenEnd { bytes, is_whole, modified }))
}

/// The time with its fraction, where the archive has one.
fn precise_time(entry: &mut tar::Entry<'_, &[u8]>) -> Option<Timestamp> {
    let extensions = entry.pax_extensions().ok()??;
    let time = extensions.flatten().find(|extension| extension.key() == Ok("mtime"))?;
    seconds(time.value().ok()?)
}

/// Seconds since 1970, with a fraction.
fn seconds(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Timestamp::new(whole.parse().ok()?, digits.parse().ok()?).ok()
}

impl Sight for Seen {
    fn read_small(&self, path: &HostPath) -> io::Result<Vec<u8>> {
        let file = self.file(path)?;
        match file.bytes.len() as u64 > FILE_LIMIT {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(file.bytes.clone()),
        }
    }

    fn read_end(&self, path: &HostPath, limit: u64) -> io::Result<(Vec<u8>, bool)> {
        let end = self.ends.get(path).ok_or(io::ErrorKind::NotFound)?;
        let cut = end.bytes.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok((end.bytes[cut..].to_vec(), end.is_whole && cut == 0))
    }

    fn modified(&self, path: &HostPath) -> Option<Timestamp> {
        let file = self.files.get(path).map(|file| file.modified);
        let end = self.ends.get(path).map(|end| end.modified);
        file.or(end).unwrap_or_else(|| self.folders.get(path.file_name()?).copied().flatten())
    }

    fn names_in(&self, folder: &HostPath) -> io::Result<Vec<String>> {
        let below = format!("{folder}/");
        let paths = self.files.keys().chain(self.ends.keys());
        let names = paths.filter_map(|path| path.as_str().strip_prefix(&below));
        Ok(names.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    fn boot_id(&self) -> Option<&str> {
        self.boot_id.as_deref()
    }

    fn clock_lead(&self) -> SignedDuration {
        self.clock_lead
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn look_up(&self, id: Option<ProcessId>) -> ProcessFact {
        let Some(id) = id else { return ProcessFact::NotRecorded };
        procfs::fact(id, self.processes.get(&id.pid).copied())
    }

    fn started_at(&self, start: u64) -> Option<Timestamp> {
        procfs::started_since(self.booted_at?, start)
    }

    fn has_env(&self, pid: i32, pair: &str) -> bool {
        self.marks.get(&pid).is_some_and(|agent| pair.strip_suffix(agent.as_str()).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::{Child, Command};

    use serde_json::json;

    use super::super::line::Line as _;
    use super::super::testing::all_kinds;
    use super::*;
    use crate::local;
    use crate::random;

    #[test]
    fn a_boot_is_at_the_same_moment_in_every_look_until_there_is_another_one() {
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        let look = |machine, id, millis| steady_boot(machine, id, at(millis)).as_millisecond();
        assert_eq!(look("boot test", Some("one"), 100_000), 100_000);
        assert_eq!(look("boot test", Some("one"), 100_003), 100_000);
        assert_eq!(look("another boot test", Some("one"), 100_003), 100_003);
        assert_eq!(look("boot test", Some("two"), 100_004), 100_004);
        // Its clock was set.
        assert_eq!(look("boot test", Some("two"), 160_000), 160_000);
        assert_eq!(look("boot test", Some("two"), 159_999), 160_000);
    }

    #[test]
    fn a_clock_is_ahead_only_as_far_as_the_time_of_the_look_cannot_explain() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let lead = |there| clock_lead(at(there), at(100), at(110)).as_secs();
        assert_eq!([lead(100), lead(105), lead(110), lead(111), lead(99)], [0; 5]);
        assert_eq!((lead(3710), lead(-3500)), (3600, -3600));
    }

    #[test]
    fn a_file_that_claims_to_be_endless_is_cut() {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::GNUSparse);
        header.set_path("agent-00000000000000000000000000000001/data.json").unwrap();
        header.set_mode(0o644);
        header.set_size(0);
        let gnu = header.as_gnu_mut().unwrap();
        // A terabyte of nothing.
        gnu.realsize.copy_from_slice(b"17777777777\0");
        gnu.sparse[0].offset.copy_from_slice(b"17777777777\0");
        gnu.sparse[0].numbytes.copy_from_slice(b"00000000000\0");
        header.set_cksum();
        let printed = [b"boot x\n\n", &header.as_bytes()[..], &[0; 1024]].concat();
        let layout = HostLayout::new(HostPath::new("/host"));
        let seen = Seen::parse(&layout, &printed).unwrap();
        assert!(seen.files.values().all(|file| file.bytes.len() as u64 <= FILE_LIMIT + 1));
        assert_eq!(seen.files.len(), 1);
    }

    const LIMIT: Duration = Duration::from_secs(60);
    const EACH: [Detail; 3] = [Detail::Basic, Detail::Activity, Detail::Full];

    /// A host dir with agents of every sort. What runs is ended by the caller.
    fn populate(root: &Path) -> Vec<Child> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let agent = |more: serde_json::Value| {
            let id = random::agent_id();
            let folder = root.join("agents").join(id.as_str());
            fs::create_dir_all(folder.join("activity")).unwrap();
            let mut record = json!({
                "id": id, "name": format!("n-{}", &id.as_str()[6..12]), "type": "command", "work_dir": "/tmp",
                "create_time": "2026-01-02T03:04:05Z", "command": "sleep 300",
            });
            record.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
            fs::write(folder.join("data.json"), serde_json::to_vec_pretty(&record).unwrap()).unwrap();
            (id, folder)
        };
        let live = |id: &AgentId, folder: &Path| {
            let child = Command::new("sleep").arg("300").env("MNGR_AGENT_ID", id.as_str()).spawn().unwrap();
            let pid = child.id() as i32;
            let start = Stat::read(pid).unwrap().unwrap().start;
            let text =
                format!("start boot={} supervisor={pid}:{start}\nagent pid={pid}:{start}\n", boot.trim());
            fs::write(folder.join("process"), text).unwrap();
            child
        };
        let (id, folder) = agent(json!({}));
        let mut children = vec![live(&id, &folder)];
        fs::write(folder.join("waiting"), "QUESTION\n").unwrap();
        // One of its own that lives, one that does not, and one of somebody else.
        let own = children[0].id() as i32;
        let start = Stat::read(own).unwrap().unwrap().start;
        fs::write(folder.join("elsewhere"), format!("{own}:{start}\n4194302:1\n1:1\nnothing\n")).unwrap();
        fs::create_dir(folder.join("status")).unwrap();
        fs::write(folder.join("status/url"), "http://x\n").unwrap();
        fs::write(folder.join("activity/agent"), "").unwrap();

        let (id, folder) = agent(json!({ "status_file": "plugin/{pid}.json", "ready_folder": "locks" }));
        let child = live(&id, &folder);
        fs::create_dir_all(folder.join("plugin")).unwrap();
        fs::create_dir_all(folder.join("locks")).unwrap();
        fs::write(folder.join("background"), "Stop 1 +0000 []\n").unwrap();
        fs::write(folder.join("locks/one"), "").unwrap();
        // Longer than what is looked at, so that only its last lines count.
        let long = "x".repeat(300 * 1024) + "\nlast line\n";
        fs::write(root.join("elsewhere"), long).unwrap();
        std::os::unix::fs::symlink(
            root.join("elsewhere"),
            folder.join(format!("plugin/{}.json", child.id())),
        )
        .unwrap();
        fs::create_dir(folder.join("subagents")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), folder.join("subagents/01a1-b")).unwrap();
        std::os::unix::fs::symlink(root.join("nowhere"), folder.join("subagents/01a1-c")).unwrap();
        for name in ["01a2-b", "of two\nlines", ".hidden"] {
            fs::write(folder.join("subagents").join(name), "").unwrap();
        }
        children.push(child);

        let (_, folder) = agent(json!({}));
        fs::write(
            folder.join("process"),
            "start boot=b supervisor=4194300:1\nagent pid=4194301:1\nexit status=3 at=5\n",
        )
        .unwrap();
        // Another agent's process is not this one's supervisor.
        let (_, folder) = agent(json!({}));
        let strange = children[0].id() as i32;
        let start = Stat::read(strange).unwrap().unwrap().start;
        fs::write(
            folder.join("process"),
            format!("start boot={} supervisor={strange}:{start}\n", boot.trim()),
        )
        .unwrap();
        // One that says it belongs to this agent, but only in the middle of a longer text.
        let (id, folder) = agent(json!({}));
        let said = format!("agent-0\n/proc/self/environ:MNGR_AGENT_ID={id}");
        let liar = Command::new("sleep").arg("300").env("MNGR_AGENT_ID", said).spawn().unwrap();
        let (pid, boot) = (liar.id() as i32, boot.trim());
        let start = Stat::read(pid).unwrap().unwrap().start;
        fs::write(folder.join("process"), format!("start boot={boot} supervisor={pid}:{start}\n")).unwrap();
        children.push(liar);
        // What must harm nobody: a pipe, damaged text, strange names.
        let (_, folder) = agent(json!({}));
        assert!(Command::new("mkfifo").arg(folder.join("process")).status().unwrap().success());
        let (_, folder) = agent(json!({}));
        fs::write(folder.join("data.json"), "{").unwrap();
        fs::create_dir_all(root.join("agents/not an agent\n")).unwrap();
        fs::create_dir_all(root.join("journal")).unwrap();
        fs::write(root.join("journal").join(format!("{}.jsonl", random::agent_id())), "").unwrap();
        children
    }

    /// Without what differs between two looks.
    fn steady(mut facts: AgentFacts) -> String {
        facts.started_at = facts.started_at.map(|_| Timestamp::UNIX_EPOCH);
        // The time of a folder comes without its fraction.
        facts.markers.folder_changed = None;
        if let Some(program) = &mut facts.program {
            program.looked_at = None;
        }
        // A look at one agent does not bring what its host counts.
        facts.extra.host_activity = None;
        format!("{facts:#?}")
    }

    /// Busybox tells no fractions of seconds.
    fn whole_seconds(text: &str) -> String {
        let parts = text.split('Z').map(|part| match part.rsplit_once('.') {
            Some((before, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => before,
            _ => part,
        });
        parts.collect::<Vec<_>>().join("Z")
    }

    fn all_steady(survey: Survey) -> (Vec<String>, String, Vec<String>) {
        let agents = survey.agents.into_iter().map(steady).collect();
        (agents, format!("{:?}", survey.broken), survey.journals)
    }

    #[test]
    fn a_look_from_afar_sees_what_a_look_on_the_spot_sees() {
        let dir = tempfile::tempdir().unwrap();
        let mut children = populate(dir.path());
        let layout = HostLayout::new(HostPath::new(dir.path().to_str().unwrap()));
        for (line, shells) in all_kinds() {
            let is_precise = line.shell().starts_with("/bin/");
            let spelled = |text: String| if is_precise { text } else { whole_seconds(&text) };
            for detail in EACH {
                let here = local::survey::survey(&layout, detail).unwrap();
                assert_eq!((here.agents.len(), here.broken.len(), here.journals.len()), (6, 1, 1));
                let programs = here.agents.iter().filter_map(|agent| agent.program.as_ref());
                let subagents: Vec<_> = programs.flat_map(|program| &program.subagents).collect();
                let told = |at: usize| (subagents[at].name.as_str(), subagents[at].record.as_str());
                assert_eq!(
                    (subagents.len(), told(0), told(1)),
                    (2, ("01a1-b", "last line\n"), ("01a2-b", ""))
                );
                let elsewhere: Vec<i32> =
                    here.agents.iter().flat_map(|agent| agent.elsewhere.iter().copied()).collect();
                assert_eq!(elsewhere, [children[0].id() as i32]);
                let there = survey(&shells, &layout, detail, LIMIT).unwrap();
                let name = here.agents[0].record.name.clone();
                let named = [AgentRef::Name(name), AgentRef::Id(here.agents[1].record.id.clone())];
                let nobody = [AgentRef::Name("nobody".parse().unwrap())];
                for wanted in [&named[..], &named[..1], &named[1..], &nobody] {
                    let here = local::survey::survey_of(&layout, wanted, detail).unwrap();
                    let there = survey_of(&shells, &layout, wanted, detail, LIMIT).unwrap();
                    assert!(here.agents.iter().all(|agent| wanted.iter().any(|one| one.is(&agent.record))));
                    assert_eq!(here.agents.is_empty(), wanted == nobody, "{wanted:?}");
                    let (there, here) = (all_steady(there).0, all_steady(here).0);
                    assert_eq!(spelled(format!("{there:?}")), spelled(format!("{here:?}")), "{wanted:?}");
                }
                for agent in &here.agents {
                    let one =
                        look_at_one(&shells, &layout, &agent.record.id, detail, LIMIT).unwrap().unwrap();
                    assert_eq!(spelled(steady(one)), spelled(steady(agent.clone())));
                }
                let (there, here) = (all_steady(there), all_steady(here));
                assert_eq!(spelled(format!("{there:?}")), spelled(format!("{here:?}")), "{}", line.shell());
            }
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_host_without_agents_is_empty_and_nonsense_is_an_error() {
        let (_line, shells) = all_kinds().remove(0);
        let layout = HostLayout::new(HostPath::new("/nonexistent/host"));
        let survey = survey(&shells, &layout, Detail::Full, LIMIT).unwrap();
        assert!(survey.agents.is_empty() && survey.journals.is_empty());
        assert!(look_at_one(&shells, &layout, &random::agent_id(), Detail::Full, LIMIT).unwrap().is_none());
        for printed in [&b"boot x"[..], b"", b"\xff\xfe"] {
            assert!(Seen::parse(&layout, printed).is_err());
        }
        for printed in [&b"folder 1 agent-x\nend 5 x !! ../../etc\nstat 1\n\nno tar"[..], b"now x\n\n"] {
            let _ = Seen::parse(&layout, printed);
        }
    }
}
