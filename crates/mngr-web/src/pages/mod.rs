//! From artifacts to pieces of data for the page. A piece is a script that hands over one JSON value under its name.
//!
//! | Name | Holds |
//! |---|---|
//! | `runs` | every run: key, name, version |
//! | `run/<run>` | a line for each of its tests |
//! | `test/<test>/test` | all that is known of one test |
//! | `test/<test>/rows/map`, `.../rows/<n>` | the transcript: where rows begin, and rows |
//! | `test/<test>/cast<i>/map`, `.../cast<i>/<n>` | a recording: when chunks begin, and frames |
//! | `test/<test>/diff/<other>` | what differs from another try |
//! | `report` | a run of the test map-reduce, with a line for each task |
//! | `task/<slug>`, `integrator` | all that is known of one task, or of the agent that integrates |
//! | `rows/<contents>/...`, `cast/<contents>/...` | transcripts and recordings of a report, equal ones once |
//! | `talk/<contents>/map`, `.../<n>` | a conversation with an agent |
//!
//! Everything is made piece by piece: no transcript or recording is ever held whole.

mod compare;
mod conversation;
mod escapes;
mod lines;
mod listing;
mod piece;
mod recording;
mod rows;
mod transcript;

pub(crate) use compare::{compare, worth_comparing};
pub(crate) use conversation::conversation;
pub(crate) use escapes::{Escapes, plain_lines};
pub(crate) use listing::{Comparable, run, runs, status, test};
pub use piece::PageError;
pub(crate) use piece::{Piece, Sink};
pub(crate) use recording::{recording, recording_of};
pub(crate) use transcript::{transcript, transcript_of};
