//! Writing both forms of a transcript while the test runs.

use mngr_host::files::{Durability, Files, FilesError};
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use mngr_model::artifacts::{TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE, TranscriptEvent};

use super::TextRenderer;

/// The two files of one test. After the first failure nothing more is written, and the failure is kept for whoever asks:
/// a command that is being watched cannot be left alone for it.
#[derive(Debug)]
pub(crate) struct TranscriptWriter {
    lines: HostPath,
    text: HostPath,
    renderer: TextRenderer,
    failure: Option<FilesError>,
}

impl TranscriptWriter {
    /// Starts with two empty files in the folder of the test.
    pub(crate) fn new(folder: &HostPath) -> Self {
        let mut writer = Self {
            lines: folder.join(TRANSCRIPT_LINES_FILE),
            text: folder.join(TRANSCRIPT_TEXT_FILE),
            renderer: TextRenderer::default(),
            failure: None,
        };
        writer.append(&[], &[]);
        writer
    }

    /// Appends one event.
    pub(crate) fn push(&mut self, event: &TranscriptEvent) {
        let text = self.renderer.push(event);
        self.append(event.to_line().as_bytes(), &text);
    }

    /// Writes what is left of the text form.
    pub(crate) fn finish(&mut self) -> Result<(), FilesError> {
        let rest = std::mem::take(&mut self.renderer).finish();
        self.append(&[], &rest);
        self.take_failure()
    }

    /// The first failure, once.
    pub(crate) fn take_failure(&mut self) -> Result<(), FilesError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn append(&mut self, lines: &[u8], text: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let written = LocalFiles
            .append(&self.lines, lines, Durability::Cached)
            .and_then(|()| LocalFiles.append(&self.text, text, Durability::Cached));
        self.failure = written.err();
    }
}
