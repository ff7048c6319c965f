//! The corpus of changes of tests, read as it lies in the repository: whether every case is what it says.
//!
//! That the honest ones are merged and the others are not is measured in `strength/corpus.rs`.

use std::collections::BTreeMap;
use std::path::Path;

use mngr_host::files::{FileKind, Files};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_model::HostPath;
use mngr_model::run::ChangeKind;
use regex::Regex;
use serde::Deserialize;

use crate::syntax::Language;
use crate::syntax::contract::{broken, contract_texts};

/// The projects.
const PROJECTS: [&str; 3] = ["pytest", "rust", "sh"];

/// So many there are at least.
const CHEATS: usize = 40;
const HONEST: usize = 20;

/// `case.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    pub(crate) task: String,
    pub(crate) claim: String,
    pub(crate) title: String,
    why: String,
    author: String,
    #[serde(default)]
    pub(crate) delete: Vec<String>,
}

/// A case, with the texts of its files by their paths in the project.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) said: Said,
    /// The folder of the case.
    pub(crate) folder: HostPath,
    /// The project as the change finds it.
    before: BTreeMap<String, Vec<u8>>,
    /// What the change writes.
    change: BTreeMap<String, Vec<u8>>,
    has_base: bool,
}

pub(crate) struct Corpus {
    host: LocalHost,
    _dir: tempfile::TempDir,
}

/// The folder of a project and its cases.
pub(crate) fn folder(project: &str) -> HostPath {
    HostPath::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(project).to_str().unwrap())
}

impl Corpus {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().to_str().unwrap())).unwrap();
        Self { host, _dir: dir }
    }

    pub(crate) fn files(&self) -> &dyn Files {
        self.host.files()
    }

    /// All files below a folder; none if there is no such folder.
    fn below(&self, folder: &HostPath) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![(folder.clone(), String::new())];
        while let Some((folder, prefix)) = open.pop() {
            if !self.files().exists(&folder).unwrap() {
                continue;
            }
            for entry in self.files().list(&folder).unwrap() {
                let (path, name) = (folder.join(&entry.name), format!("{prefix}{}", entry.name));
                match entry.kind {
                    FileKind::Folder => open.push((path, format!("{name}/"))),
                    _ => drop(found.insert(name, self.files().read(&path).unwrap())),
                }
            }
        }
        found
    }

    /// The cases of a project.
    pub(crate) fn cases(&self, project: &str) -> Vec<Case> {
        let folder = folder(project);
        let mut names: Vec<String> =
            self.files().list(&folder.join("cases")).unwrap().into_iter().map(|entry| entry.name).collect();
        names.sort();
        let read = |name: String| {
            let case = folder.join("cases").join(&name);
            let text = self.files().read_text(&case.join("case.toml")).unwrap();
            let said = toml::from_str(&text).unwrap_or_else(|error| panic!("{project}/{name}: {error}"));
            let base = self.below(&case.join("base"));
            let mut before = self.below(&folder.join("project"));
            let has_base = !base.is_empty();
            before.extend(base);
            let change = self.below(&case.join("change"));
            Case { name, said, folder: case, before, change, has_base }
        };
        names.into_iter().map(read).collect()
    }
}

impl Case {
    pub(crate) fn is_cheat(&self) -> bool {
        self.name.starts_with("cheat-")
    }

    fn text(&self, path: &str) -> Option<String> {
        self.before.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Whether the project has the agent's test.
    fn has_task(&self, project: &str) -> bool {
        let task = self.said.task.as_str();
        match project {
            "sh" => self.before.contains_key(task),
            "pytest" => {
                let mut parts = task.split("::");
                let text = parts.next().and_then(|file| self.text(file)).unwrap_or_default();
                let name = parts.last().unwrap_or_default().split('[').next().unwrap_or_default();
                text.contains(&format!("def {name}("))
            }
            _ => {
                let name = task.rsplit([' ', ':']).next().unwrap_or_default();
                let mut sources = self.before.keys().filter(|path| path.ends_with(".rs"));
                sources.any(|path| self.text(path).unwrap_or_default().contains(&format!("fn {name}(")))
            }
        }
    }

    fn check(&self, project: &str) {
        let Self { name, said, .. } = self;
        let place = format!("{project}/{name}");
        assert!(self.has_task(project), "{place}: there is no test `{}`", said.task);
        assert!(["IMPROVE_TEST", "FIX_TEST"].contains(&said.claim.as_str()), "{place}: {}", said.claim);
        assert!(ChangeKind::named(&said.claim).is_some(), "{place}: {}", said.claim);
        assert!(["blind", "knowing"].contains(&said.author.as_str()), "{place}: {}", said.author);
        assert!(!said.title.trim().is_empty() && !said.why.trim().is_empty(), "{place}: says nothing");
        assert!(!(self.change.is_empty() && said.delete.is_empty()), "{place}: changes nothing");
        for (path, text) in &self.change {
            assert_ne!(self.before.get(path), Some(text), "{place}: `{path}` is as it was");
        }
        for path in &said.delete {
            assert!(self.before.contains_key(path), "{place}: there is no `{path}`");
        }
        assert!(said.claim != "FIX_TEST" || self.has_base, "{place}: its test does not fail before");
    }
}

#[test]
fn every_case_of_the_corpus_is_what_it_says_and_there_are_enough() {
    let corpus = Corpus::new();
    let pattern = Regex::new("^(cheat|honest)-[0-9]{2}-[a-z0-9-]+$").unwrap();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for project in PROJECTS {
        for case in corpus.cases(project) {
            let kind = pattern.captures(&case.name).unwrap_or_else(|| panic!("{project}/{}", case.name))[1]
                .to_owned();
            case.check(project);
            *counts.entry(kind).or_default() += 1;
        }
    }
    assert!(counts["cheat"] >= CHEATS && counts["honest"] >= HONEST, "{counts:?}");
}

#[test]
fn no_honest_case_changes_what_describes_a_test() {
    let corpus = Corpus::new();
    for project in PROJECTS {
        for case in corpus.cases(project).into_iter().filter(|case| !case.is_cheat()) {
            for (path, after) in &case.change {
                let (Some(language), Some(before)) = (Language::of(path, ""), case.text(path)) else {
                    continue;
                };
                let before = contract_texts(language, &before);
                let after = contract_texts(language, &String::from_utf8_lossy(after));
                assert_eq!(broken(&before, &after), [], "{project}/{}: {path}", case.name);
            }
        }
    }
}
