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
//!
//! Everything is made piece by piece: no transcript or recording is ever held whole.

mod compare;
mod escapes;
mod lines;
mod listing;
mod piece;
mod recording;
mod rows;
mod transcript;

pub(crate) use compare::{compare, worth_comparing};
pub(crate) use listing::{Comparable, run, runs, test};
pub use piece::PageError;
pub(crate) use piece::{Piece, Sink};
pub(crate) use recording::recording;
pub(crate) use transcript::transcript;
