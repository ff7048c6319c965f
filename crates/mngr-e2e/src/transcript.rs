//! What the commands of one test printed, in the order it came.
//!
//! The truth is a file of JSON lines that grows while the test runs and loses no byte; the text for people is derived
//! from it, event by event. The types of the lines are in [`mngr_model::artifacts`], because the pytest plugin writes
//! them and the page reads them. Nothing here runs a command.

mod diff;
mod normalise;
mod pieces;
mod read;
mod text;
mod writer;

pub use diff::diff;
pub use normalise::normalise;
pub use pieces::Pieces;
pub use read::{Entry, TextEntry, Transcript, parse_lines, parse_text};
pub use text::TextRenderer;
pub(crate) use writer::TranscriptWriter;
