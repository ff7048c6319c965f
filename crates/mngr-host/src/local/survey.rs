//! One look at this machine's agents. Spawns nothing.
//!
//! Split over threads only where there are enough agents to pay for them.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use jiff::{SignedDuration, Timestamp};
use mngr_model::address::AgentRef;
use mngr_model::facts::{AgentFacts, Detail, HostActivity, ProcessFact, Survey};
use mngr_model::layout::HostLayout;
use mngr_model::process::ProcessId;
use mngr_model::{AgentId, HostPath};
use rustix::fs::OFlags;

use crate::local::name_index::NameIndex;
use crate::local::procfs;
use crate::survey::{self, FILE_LIMIT, Looked, Sight};

/// Below this many agents a second thread costs more than it saves.
const AGENTS_PER_THREAD: usize = 48;

/// Looks at every agent below the host dir.
pub(crate) fn survey(layout: &HostLayout, detail: Detail) -> io::Result<Survey> {
    let folders = Here.names_in(&layout.agents())?;
    survey_folders(layout, &folders, detail)
}

/// Looks at the agents of these names and ids.
pub(crate) fn survey_of(layout: &HostLayout, wanted: &[AgentRef], detail: Detail) -> io::Result<Survey> {
    let folders = Here.names_in(&layout.agents())?;
    let mut index = NameIndex::open(layout, &folders, &Here);
    let look = |index: &NameIndex| -> io::Result<Survey> {
        let mut survey = survey_folders(layout, &index.folders_of(wanted), detail)?;
        survey.agents.retain(|facts| wanted.iter().any(|wanted| wanted.is(&facts.record)));
        Ok(survey)
    };
    let survey = look(&index)?;
    if wanted.iter().all(|wanted| survey.agents.iter().any(|facts| wanted.is(&facts.record))) {
        return Ok(survey);
    }
    // An agent may have been renamed since its name was noted.
    index.read_all(&Here);
    look(&index)
}

fn survey_folders(layout: &HostLayout, folders: &[String], detail: Detail) -> io::Result<Survey> {
    let agents = layout.agents();
    let journals = Here.names_in(&layout.journals())?;
    let look = |folder: &String| survey::look_at(&Here, &agents, folder, detail);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(folders.len().div_ceil(AGENTS_PER_THREAD)).max(1);
    let looked: Vec<Looked> = if workers == 1 {
        folders.iter().map(look).collect()
    } else {
        let share = folders.len().div_ceil(workers);
        std::thread::scope(|scope| {
            let look = &look;
            let parts: Vec<_> = folders
                .chunks(share)
                .map(|part| scope.spawn(move || part.iter().map(look).collect::<Vec<_>>()))
                .collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        })
    };
    // This machine never stops by itself, and its clock is ours.
    let (activity, lead) = (HostActivity::default(), SignedDuration::ZERO);
    Ok(survey::gather(looked, journals, Timestamp::now(), lead, procfs::booted_at(), &activity))
}

/// Looks at one agent.
pub(crate) fn look_at_one(
    layout: &HostLayout,
    agent: &AgentId,
    detail: Detail,
) -> io::Result<Option<AgentFacts>> {
    survey::look_at_one(&Here, layout, agent, detail)
}

/// This machine.
pub(super) struct Here;

impl Sight for Here {
    fn read_small(&self, path: &HostPath) -> io::Result<Vec<u8>> {
        let (file, length) = open_ordinary(path)?;
        if length > FILE_LIMIT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        read_from(&file, 0, length, FILE_LIMIT)
    }

    fn read_end(&self, path: &HostPath, limit: u64) -> io::Result<(Vec<u8>, bool)> {
        let (file, length) = open_ordinary(path)?;
        let start = length.saturating_sub(limit);
        Ok((read_from(&file, start, length - start, limit)?, start == 0))
    }

    fn clock_lead(&self) -> SignedDuration {
        SignedDuration::ZERO
    }

    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn modified(&self, path: &HostPath) -> Option<Timestamp> {
        Timestamp::try_from(fs::metadata(path.as_str()).ok()?.modified().ok()?).ok()
    }

    fn names_in(&self, folder: &HostPath) -> io::Result<Vec<String>> {
        match fs::read_dir(folder.as_str()) {
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

    fn boot_id(&self) -> Option<&str> {
        procfs::boot_id()
    }

    fn look_up(&self, id: Option<ProcessId>) -> ProcessFact {
        procfs::look_up(id)
    }

    fn started_at(&self, start: u64) -> Option<Timestamp> {
        procfs::started_at(start)
    }

    fn has_env(&self, pid: i32, pair: &str) -> bool {
        procfs::has_env(pid, pair)
    }
}

/// Opens a file and says how long it is. A pipe in its place must not block us.
fn open_ordinary(path: &HostPath) -> io::Result<(fs::File, u64)> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = fs::File::options().read(true).custom_flags(flags).open(path.as_str())?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not an ordinary file"));
    }
    Ok((file, metadata.len()))
}

/// Reads a file to its end, at most `limit` bytes, with one call where it still has the length that is expected: several
/// files of each agent are read for every list.
fn read_from(file: &fs::File, start: u64, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    let room = |bytes: u64| usize::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
    let limit = room(limit)?;
    let mut bytes = vec![0; room(expected)?.saturating_add(1).min(limit)];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], start + filled as u64) {
            Ok(count) => {
                let is_end = count < bytes.len() - filled;
                filled += count;
                if is_end {
                    break;
                }
                // It has grown since.
                bytes.resize(bytes.len().saturating_mul(2).min(limit), 0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_to_its_end_or_to_the_limit_whatever_length_was_expected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let content: Vec<u8> = (0..1000_u32).map(|number| (number % 251) as u8).collect();
        fs::write(&path, &content).unwrap();
        let file = fs::File::open(&path).unwrap();
        for expected in [0, 1, 7, 499, 999, 1000, 1001, 5000] {
            for start in [0, 1, 600, 1000] {
                for limit in [1, 100, 1000, 4096] {
                    let end = content.len().min(start + limit);
                    let read = read_from(&file, start as u64, expected, limit as u64).unwrap();
                    assert_eq!(read, content[start..end], "{expected} from {start}, at most {limit}");
                }
            }
        }
    }

    #[test]
    fn the_end_of_a_long_file_is_not_all_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("file").to_str().unwrap());
        fs::write(path.as_str(), "one two three").unwrap();
        assert_eq!(Here.read_end(&path, 5).unwrap(), (b"three".to_vec(), false));
        assert_eq!(Here.read_end(&path, 13).unwrap(), (b"one two three".to_vec(), true));
        assert_eq!(Here.read_small(&path).unwrap(), b"one two three");
        fs::write(path.as_str(), "").unwrap();
        assert_eq!(Here.read_end(&path, 5).unwrap(), (Vec::new(), true));
    }
}
