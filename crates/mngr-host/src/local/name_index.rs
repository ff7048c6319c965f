//! Which agent of this machine has which name, so that finding one among a thousand does not read a thousand records.
//!
//! The notes are only hints: whoever uses one looks at the agent's record, and reads all records when a name is not there.
//! A folder that the notes do not know is read every time, so an agent that was just made is found and two agents of one
//! name are both found. The file may be deleted at any moment, and is not written where there are few agents.

use std::collections::BTreeMap;

use mngr_model::HostPath;
use mngr_model::address::AgentRef;
use mngr_model::layout::HostLayout;
use serde::Deserialize;

use crate::files::{Access, Durability, Files as _};
use crate::local::LocalFiles;
use crate::survey::Sight;

/// With fewer agents, reading their records costs less than keeping notes.
const WORTH_NOTING: usize = 32;

/// The names of the agents in some folders.
pub(super) struct NameIndex {
    agents: HostPath,
    file: HostPath,
    folders: Vec<String>,
    /// The name of the agent in a folder, as far as it could be read.
    names: BTreeMap<String, String>,
}

/// As much of a record as is needed here.
#[derive(Deserialize)]
struct Named {
    name: String,
}

impl NameIndex {
    /// The names of the agents in these folders: those that were noted, and those read now of folders that are new.
    pub(super) fn open(layout: &HostLayout, folders: &[String], sight: &impl Sight) -> Self {
        let file = layout.agent_names();
        let noted = sight.read_small(&file).unwrap_or_default();
        let noted = String::from_utf8_lossy(&noted).into_owned();
        let noted: BTreeMap<&str, &str> = noted.lines().filter_map(|line| line.split_once(' ')).collect();
        let known = |folder: &String| Some((folder.clone(), (*noted.get(folder.as_str())?).to_owned()));
        let names: BTreeMap<String, String> = folders.iter().filter_map(known).collect();
        let mut index = Self { agents: layout.agents(), file, folders: folders.to_vec(), names };
        let is_new = |folder: &&String| !index.names.contains_key(folder.as_str());
        let new: Vec<String> = index.folders.iter().filter(is_new).cloned().collect();
        let has_learnt = index.read(&new, sight);
        if has_learnt || noted.len() > index.names.len() {
            index.save();
        }
        index
    }

    /// Reads every record again.
    pub(super) fn read_all(&mut self, sight: &impl Sight) {
        self.names.clear();
        self.read(&self.folders.clone(), sight);
        self.save();
    }

    /// The folders of the agents that are wanted.
    pub(super) fn folders_of(&self, wanted: &[AgentRef]) -> Vec<String> {
        let is_wanted = |folder: &&String| {
            wanted.iter().any(|wanted| match wanted {
                AgentRef::Id(id) => folder.as_str() == id.as_str(),
                AgentRef::Name(name) => {
                    self.names.get(folder.as_str()).map(String::as_str) == Some(name.as_ref())
                }
            })
        };
        self.folders.iter().filter(is_wanted).cloned().collect()
    }

    /// Reads the records in these folders, and says whether one of them has a name.
    fn read(&mut self, folders: &[String], sight: &impl Sight) -> bool {
        let before = self.names.len();
        for folder in folders {
            let record = sight.read_small(&self.agents.join(folder).join("data.json"));
            let name = record.ok().and_then(|bytes| serde_json::from_slice::<Named>(&bytes).ok());
            // A name with a line break would be read back as another one.
            if let Some(Named { name }) = name.filter(|Named { name }| !name.contains(['\n', '\r'])) {
                self.names.insert(folder.clone(), name);
            }
        }
        self.names.len() > before
    }

    /// Notes the names. Whoever cannot write them reads the records again next time.
    fn save(&self) {
        if self.names.len() < WORTH_NOTING {
            return;
        }
        let text: String = self.names.iter().map(|(folder, name)| format!("{folder} {name}\n")).collect();
        let _ = self.file.parent().map(|folder| LocalFiles.make_folder(&folder));
        let _ = LocalFiles.write(&self.file, text.as_bytes(), Access::Private, Durability::Cached);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::io;
    use std::path::Path;

    use jiff::{SignedDuration, Timestamp};
    use mngr_model::facts::ProcessFact;
    use mngr_model::process::ProcessId;

    use super::*;
    use crate::local::survey::Here;
    use crate::random;

    /// This machine, and which files were read.
    #[derive(Default)]
    struct Counting(RefCell<Vec<String>>);

    impl Sight for Counting {
        fn read_small(&self, path: &HostPath) -> io::Result<Vec<u8>> {
            self.0.borrow_mut().push(path.to_string());
            Here.read_small(path)
        }

        fn read_end(&self, path: &HostPath, limit: u64) -> io::Result<(Vec<u8>, bool)> {
            Here.read_end(path, limit)
        }

        fn modified(&self, path: &HostPath) -> Option<Timestamp> {
            Here.modified(path)
        }

        fn names_in(&self, folder: &HostPath) -> io::Result<Vec<String>> {
            Here.names_in(folder)
        }

        fn boot_id(&self) -> Option<&str> {
            None
        }

        fn look_up(&self, _id: Option<ProcessId>) -> ProcessFact {
            ProcessFact::NotLooked
        }

        fn started_at(&self, _start: u64) -> Option<Timestamp> {
            None
        }

        fn clock_lead(&self) -> SignedDuration {
            SignedDuration::ZERO
        }

        fn now(&self) -> Timestamp {
            Timestamp::now()
        }

        fn has_env(&self, _pid: i32, _pair: &str) -> bool {
            false
        }
    }

    fn add(root: &Path, name: &str) -> String {
        let folder = random::agent_id().to_string();
        fs::create_dir_all(root.join("agents").join(&folder)).unwrap();
        rename(root, &folder, name);
        folder
    }

    fn rename(root: &Path, folder: &str, name: &str) {
        let record = format!("{{\"name\": \"{name}\"}}");
        fs::write(root.join("agents").join(folder).join("data.json"), record).unwrap();
    }

    /// The folders of the agents of a name, and how many files were read to find them.
    fn found(root: &Path, name: &str) -> (Vec<String>, usize) {
        let layout = HostLayout::new(HostPath::new(root.to_str().unwrap()));
        let sight = Counting::default();
        let folders = sight.names_in(&layout.agents()).unwrap();
        let index = NameIndex::open(&layout, &folders, &sight);
        let found = index.folders_of(&[AgentRef::Name(name.parse().unwrap())]);
        (found, sight.0.into_inner().len())
    }

    #[test]
    fn one_agent_among_many_is_found_by_reading_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let folders: Vec<String> = (0..200).map(|number| add(root, &format!("a{number}"))).collect();
        assert_eq!(found(root, "a7"), (vec![folders[7].clone()], 201));
        assert_eq!(found(root, "a7"), (vec![folders[7].clone()], 1));

        // Only what is new is read, and another agent of the same name is found as well.
        let mut both = vec![folders[7].clone(), add(root, "a7")];
        both.sort_unstable();
        assert_eq!(found(root, "a7"), (both, 2));
        fs::remove_dir_all(root.join("agents").join(&folders[8])).unwrap();
        assert_eq!(found(root, "a8"), (Vec::new(), 1));

        // What cannot be read is tried again.
        fs::write(root.join("agents").join(&folders[9]).join("data.json"), "{").unwrap();
        fs::remove_file(root.join("cache/agent_names")).unwrap();
        assert_eq!(found(root, "a9"), (Vec::new(), 201));
        rename(root, &folders[9], "a9");
        assert_eq!(found(root, "a9"), (vec![folders[9].clone()], 2));
        fs::write(root.join("cache/agent_names"), b"\xff\n x\n\0").unwrap();
        assert_eq!(found(root, "a9").0, [folders[9].clone()]);
    }

    #[test]
    fn few_agents_leave_no_notes() {
        let dir = tempfile::tempdir().unwrap();
        let folder = add(dir.path(), "one");
        assert_eq!(found(dir.path(), "one"), (vec![folder], 2));
        assert!(!dir.path().join("cache").exists());
    }

    #[test]
    fn a_renamed_agent_is_found_by_its_new_name_only() {
        let dir = tempfile::tempdir().unwrap();
        let folders: Vec<String> = (0..40).map(|number| add(dir.path(), &format!("a{number}"))).collect();
        found(dir.path(), "a7");
        rename(dir.path(), &folders[7], "new");
        let layout = HostLayout::new(HostPath::new(dir.path().to_str().unwrap()));
        let names = Here.names_in(&layout.agents()).unwrap();
        let mut index = NameIndex::open(&layout, &names, &Here);
        let wanted = [AgentRef::Name("new".parse().unwrap())];
        assert!(index.folders_of(&wanted).is_empty());
        index.read_all(&Here);
        assert_eq!(index.folders_of(&wanted), [folders[7].clone()]);
        assert_eq!(found(dir.path(), "a7").0, Vec::<String>::new());
        assert_eq!(found(dir.path(), "new"), (vec![folders[7].clone()], 1));
    }
}
