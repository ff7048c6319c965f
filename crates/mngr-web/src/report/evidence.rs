//! What an attempt left in the folder of the run: the last screen of its agent, their conversation, and what it published.
//!
//! Transcripts, recordings and conversations become pieces named after their contents, so that equal ones are written once.
//! Budget: two looks at an attempt whose folders did not change; else each file that did is read once or twice.

use std::collections::{HashMap, HashSet};

use mngr_host::file_reader::FileReader;
use mngr_host::files::{FileKind, Files, FilesError};
use mngr_model::HostPath;
use serde_json::{Value, json};

use crate::catalogue::{Key, Test, below, stamp};
use crate::folder::PageFolder;
use crate::pages::{self, Escapes, PageError};

/// The last screen of the agent.
const SCREEN_FILE: &str = "screen.txt";
/// The conversation, as `mngr transcript` prints it.
const CONVERSATION_FILE: &str = "transcript.jsonl";
/// What the agent published besides its outcome.
const ARTIFACTS: &str = "artifacts";

/// No screen is larger.
const MAX_SCREEN: usize = 128 * 1024;
/// A larger transcript or recording is named, not shown.
const MAX_SHOWN: u64 = 64 * 1024 * 1024;
/// So many other files are named.
const MAX_NAMED: usize = 300;
/// So many folders with transcripts or recordings are shown.
const MAX_SESSIONS: usize = 100;

/// What is known of the files that are part of the page already.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// The contents of each file at a state of it.
    contents: HashMap<HostPath, (String, Key)>,
    /// The pieces that are there.
    there: HashSet<String>,
    /// How many were made.
    pub(super) made: usize,
}

/// Takes what attempts left into the page.
pub(super) struct Collector<'a, 'f> {
    pub(super) files: &'a dyn Files,
    pub(super) folder: &'a mut PageFolder<'f>,
    pub(super) shelf: &'a mut Shelf,
}

/// Changes whenever something is added to the folder of an attempt or to what it published.
pub(super) fn state(files: &dyn Files, attempt: &HostPath) -> Result<String, FilesError> {
    let looks = [attempt.clone(), attempt.join(ARTIFACTS)];
    let stamps = looks.iter().map(|path| Ok(files.stat(path)?.map(|stat| stamp(&stat)).unwrap_or_default()));
    stamps.collect()
}

impl Collector<'_, '_> {
    /// All that is in the folder of an attempt. What cannot be read says so: it is no reason to have no report.
    pub(super) fn attempt(&mut self, folder: &HostPath) -> Value {
        let artifacts = folder.join(ARTIFACTS);
        let found = below(self.files, &artifacts).unwrap_or_default();
        let sessions: Vec<Value> =
            found.tests.iter().take(MAX_SESSIONS).map(|test| self.session(test)).collect();
        let conversation = folder.join(CONVERSATION_FILE);
        json!({
            "screen": self.screen(&folder.join(SCREEN_FILE)),
            "conversation": self.once("talk", &conversation, |files, prefix, sink| {
                pages::conversation(files, &conversation, prefix, sink)
            }),
            "sessions": sessions,
            "artifacts": artifacts,
            "files": found.others.iter().take(MAX_NAMED).collect::<Vec<_>>(),
            "more_files": found.others.len().saturating_sub(MAX_NAMED),
            "is_cut": found.is_cut || found.tests.len() > MAX_SESSIONS,
        })
    }

    /// The lines of a screen, with their looks.
    fn screen(&self, path: &HostPath) -> Option<Value> {
        let stat = self.files.stat(path).ok()??;
        let bytes =
            (stat.kind == FileKind::File).then(|| self.files.read_part(path, 0, MAX_SCREEN).ok())??;
        let mut escapes = Escapes::default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.trim_end().lines().map(|line| escapes.line(line)).collect();
        (!lines.is_empty()).then(|| json!(lines))
    }

    fn session(&mut self, test: &Test) -> Value {
        let transcript = test.transcript_file().map(|file| {
            self.once("rows", &file, |files, prefix, sink| {
                pages::transcript_of(files, test, prefix.to_owned(), sink)
            })
        });
        let recordings: Vec<Value> = test
            .recordings
            .iter()
            .filter_map(|name| {
                let path = test.folder.join(name);
                let mut recording = self.once("cast", &path, |files, prefix, sink| {
                    pages::recording_of(files, &path, prefix, sink)
                })?;
                recording["name"] = name.as_str().into();
                Some(recording)
            })
            .collect();
        let record = test.record.as_ref();
        json!({
            "run": test.run,
            "name": record.map_or(&test.name, |record| &record.name),
            "status": record.map(|_| pages::status(test)),
            "message": record.and_then(|record| record.message.as_ref()),
            "ms": record.and_then(|record| record.duration_ms),
            "transcript": transcript,
            "recordings": recordings,
        })
    }

    /// The pieces of a file, made unless equal ones are there: `{prefix}`, or `{problem}`. Nothing when there is no file.
    fn once(
        &mut self,
        what: &str,
        path: &HostPath,
        make: impl FnOnce(&dyn Files, &str, &mut PageFolder<'_>) -> Result<(), PageError>,
    ) -> Option<Value> {
        let stat = self.files.stat(path).ok()??;
        if stat.kind != FileKind::File {
            return None;
        }
        if stat.size > MAX_SHOWN {
            let size = stat.size / (1024 * 1024);
            return Some(json!({"problem": format!("{size} MiB are too much to be shown here: {path}")}));
        }
        let made = self.key(path, &stamp(&stat)).map_err(PageError::from).and_then(|key| {
            let prefix = format!("{what}/{key}");
            // The map is written last: where it is, the rest is.
            if !self.shelf.there.contains(&prefix) && !self.folder.has(&format!("{prefix}/map"))? {
                make(self.files, &prefix, self.folder)?;
                self.shelf.made += 1;
            }
            self.shelf.there.insert(prefix.clone());
            Ok(prefix)
        });
        Some(match made {
            Ok(prefix) => json!({"prefix": prefix}),
            Err(error) => json!({"problem": error.to_string()}),
        })
    }

    fn key(&mut self, path: &HostPath, stamp: &str) -> Result<Key, FilesError> {
        if let Some((_, key)) = self.shelf.contents.get(path).filter(|(known, _)| known == stamp) {
            return Ok(key.clone());
        }
        let key = Key::of_contents(FileReader::open(self.files, path)?).map_err(|source| FilesError {
            action: "read",
            path: path.clone(),
            source,
        })?;
        self.shelf.contents.insert(path.clone(), (stamp.to_owned(), key.clone()));
        Ok(key)
    }
}
