//! Looking for runs and tests below a folder.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::files::{FileKind, FileStat, Files, FilesError, FolderEntry};
use mngr_model::HostPath;
use mngr_model::artifacts::{
    DOCSTRING_FILE, RECORDING_SUFFIX, REENTER_FILE, TEST_FILE, TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE,
    TUTORIAL_BLOCK_FILE, TestRecord, TestStatus,
};

use super::{Catalogue, Key, Run, Test, TranscriptForm};

/// A record or docstring is not longer than this.
const MAX_RECORD: usize = 4 * 1024 * 1024;

/// So many folders, and so many other files, are looked at below one that an agent filled.
const MAX_BELOW: usize = 2000;
/// Files of a test that are shown as what they mean.
const PARTS: [&str; 5] =
    [TEST_FILE, TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE, DOCSTRING_FILE, TUTORIAL_BLOCK_FILE];

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// There is no such folder.
    #[error("there is no folder `{folder}`")]
    Missing {
        /// Where it should be.
        folder: HostPath,
    },
    /// It is something else.
    #[error("`{folder}` is no folder")]
    NotAFolder {
        /// What was named.
        folder: HostPath,
    },
    /// It cannot be read.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Everything below this folder, which may be that of all runs, of one run or of one test. What `before` knows of tests that
/// have ended and did not change since is taken over.
///
/// # Errors
/// When the folder itself cannot be read. A test that cannot be read is there without what it would say.
pub fn scan(files: &dyn Files, folder: &HostPath, before: &Catalogue) -> Result<Catalogue, ScanError> {
    // A link to the folder is what the user named; links inside of it are not.
    let folder = files.canonical(folder).map_err(|error| {
        if error.is_missing() { ScanError::Missing { folder: folder.clone() } } else { error.into() }
    })?;
    match files.stat(&folder)? {
        None => return Err(ScanError::Missing { folder }),
        Some(stat) if stat.kind != FileKind::Folder => return Err(ScanError::NotAFolder { folder }),
        Some(_) => {}
    }
    let before = before.tests().map(|test| (test.folder.clone(), test.clone())).collect();
    let scan = Scan { files, before };
    let own_name = folder.file_name().unwrap_or("run").to_owned();
    let mut runs = Vec::new();
    let mut own_tests = Vec::new();
    if is_test(&files.list(&folder)?) {
        let run =
            folder.parent().and_then(|parent| parent.file_name().map(str::to_owned)).unwrap_or_default();
        own_tests.push(scan.test(&run, &own_name, folder));
        runs.extend(Run::of(run, own_tests));
        return Ok(Catalogue { runs });
    }
    for child in folders(files, &folder)? {
        let path = folder.join(&child);
        let entries = files.list(&path)?;
        if is_test(&entries) {
            own_tests.push(scan.test(&own_name, &child, path));
            continue;
        }
        let tests = entries.iter().filter(|entry| entry.kind == FileKind::Folder);
        let tests =
            tests.filter_map(|entry| scan.test_if_it_is_one(&child, &entry.name, path.join(&entry.name)));
        let tests = tests.collect();
        runs.extend(Run::of(child, tests));
    }
    runs.extend(Run::of(own_name, own_tests));
    runs.sort_by_cached_key(|run| Reverse((run.started_ms(), run.name.clone())));
    Ok(Catalogue { runs })
}

/// What is at or below a folder, of which nothing is known but that an agent filled it.
#[derive(Debug, Default)]
pub(crate) struct Below {
    /// Every folder with a transcript, a record or a recording; its run is the path of the folder above it.
    pub(crate) tests: Vec<Arc<Test>>,
    /// All other files, by their paths from there.
    pub(crate) others: Vec<String>,
    /// Whether there is more than anybody would look through.
    pub(crate) is_cut: bool,
}

/// Looks through a folder and all below it, whatever its shape.
pub(crate) fn below(files: &dyn Files, folder: &HostPath) -> Result<Below, FilesError> {
    let scan = Scan { files, before: BTreeMap::new() };
    let mut found = Below::default();
    let mut waiting = vec![String::new()];
    let mut looked_at = 0;
    while let Some(path) = waiting.pop() {
        looked_at += 1;
        if looked_at > MAX_BELOW || found.others.len() > MAX_BELOW {
            found.is_cut = true;
            break;
        }
        let at = if path.is_empty() { folder.clone() } else { folder.join(&path) };
        let entries = files.list(&at)?;
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let is_part = entries.iter().any(is_recording) || is_test(&entries);
        if is_part {
            let (run, name) = path.rsplit_once('/').unwrap_or(("", &path));
            found.tests.push(scan.read(run, name, at, &entries));
        }
        let is_shown =
            |entry: &&FolderEntry| is_part && (PARTS.contains(&entry.name.as_str()) || is_recording(entry));
        let others = entries.iter().filter(|entry| entry.kind == FileKind::File && !is_shown(entry));
        found.others.extend(others.map(|entry| below(&entry.name)));
        let inner = entries.iter().filter(|entry| entry.kind == FileKind::Folder);
        // The last is looked at first.
        waiting.extend(inner.rev().map(|entry| below(&entry.name)));
    }
    Ok(found)
}

fn is_recording(entry: &FolderEntry) -> bool {
    entry.kind == FileKind::File && entry.name.ends_with(RECORDING_SUFFIX)
}

fn folders(files: &dyn Files, folder: &HostPath) -> Result<Vec<String>, FilesError> {
    let entries = files.list(folder)?.into_iter();
    Ok(entries.filter(|entry| entry.kind == FileKind::Folder).map(|entry| entry.name).collect())
}

fn is_test(entries: &[FolderEntry]) -> bool {
    let names = [TEST_FILE, TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE];
    entries.iter().any(|entry| entry.kind == FileKind::File && names.contains(&entry.name.as_str()))
}

impl Run {
    /// The run with these tests; nothing when there are none.
    fn of(name: String, tests: Vec<Arc<Test>>) -> Option<Self> {
        (!tests.is_empty()).then(|| Self { key: Key::of([name.as_str()]), name, tests })
    }
}

struct Scan<'a> {
    files: &'a dyn Files,
    before: BTreeMap<HostPath, Arc<Test>>,
}

impl Scan<'_> {
    fn test_if_it_is_one(&self, run: &str, name: &str, folder: HostPath) -> Option<Arc<Test>> {
        if let Some(test) = self.unchanged(&folder) {
            return Some(test);
        }
        let entries = self.files.list(&folder).ok()?;
        is_test(&entries).then(|| self.read(run, name, folder, &entries))
    }

    fn test(&self, run: &str, name: &str, folder: HostPath) -> Arc<Test> {
        let unchanged = self.unchanged(&folder);
        unchanged.unwrap_or_else(|| {
            let entries = self.files.list(&folder).unwrap_or_default();
            self.read(run, name, folder, &entries)
        })
    }

    /// A test that has ended changes no more, unless its record does.
    fn unchanged(&self, folder: &HostPath) -> Option<Arc<Test>> {
        let test = self.before.get(folder)?;
        let has_ended = test.status().is_some_and(|status| status != TestStatus::Running);
        let stat = self.files.stat(&folder.join(TEST_FILE)).ok()??;
        (has_ended && test.version.starts_with(&stamp(&stat))).then(|| test.clone())
    }

    fn read(&self, run: &str, name: &str, folder: HostPath, entries: &[FolderEntry]) -> Arc<Test> {
        let has = |name: &str| entries.iter().any(|entry| entry.kind == FileKind::File && entry.name == name);
        let recordings = entries.iter().filter(|entry| is_recording(entry));
        let recordings: Vec<String> = recordings.map(|entry| entry.name.clone()).collect();
        let transcript = if has(TRANSCRIPT_LINES_FILE) {
            Some(TranscriptForm::Lines)
        } else {
            has(TRANSCRIPT_TEXT_FILE).then_some(TranscriptForm::Text)
        };
        // The record comes first: `unchanged` looks at its stamp alone.
        let watched = [TEST_FILE, TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE].into_iter();
        let watched = watched.filter(|name| has(name)).chain(recordings.iter().map(String::as_str));
        let stamps = watched.filter_map(|name| self.files.stat(&folder.join(name)).ok()?);
        let version = stamps.map(|stat| stamp(&stat)).collect::<String>();
        let record = has(TEST_FILE).then(|| self.record(&folder)).flatten();
        let text_file = [DOCSTRING_FILE, TUTORIAL_BLOCK_FILE].into_iter().find(|name| has(name));
        let text = if record.is_none() { text_file.and_then(|name| self.text(&folder, name)) } else { None };
        Arc::new(Test {
            key: Key::of([run, name]),
            run: run.to_owned(),
            name: name.to_owned(),
            record,
            text,
            transcript,
            recordings,
            can_reenter: has(REENTER_FILE),
            version,
            folder,
        })
    }

    fn record(&self, folder: &HostPath) -> Option<TestRecord> {
        let bytes = self.files.read_part(&folder.join(TEST_FILE), 0, MAX_RECORD).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    fn text(&self, folder: &HostPath, name: &str) -> Option<String> {
        let bytes = self.files.read_part(&folder.join(name), 0, MAX_RECORD).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Differs for every state of a file. Only digits, letters and a mark at its end.
pub(crate) fn stamp(stat: &FileStat) -> String {
    let modified = stat.modified.map_or(0, |time| time.as_microsecond());
    format!("{:x}s{modified:x}.", stat.size)
}
