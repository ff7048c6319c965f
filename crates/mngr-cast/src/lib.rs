//! Recordings of terminals, as asciinema writes them: read, written, cut, searched, and turned into frames.
//!
//! Pure: whoever calls hands in a reader or takes lines to write. A recording is only ever walked through, never held
//! whole: 100 MB are nothing special. What is in one was printed by programs nobody vouches for, so nothing leaves this
//! crate as something to be sent to a terminal or a page as it is: [`frames`] holds text and numbers, no sequences.
//!
//! Never in it: a file, a clock, a terminal.

mod cut;
mod event;
pub mod frames;
mod header;
mod idle;
mod playback;
mod read;
mod screen;
mod search;
mod steps;
mod summary;
mod text;
mod utf8;
mod write;

pub use cut::Cut;
pub use event::{Event, EventKind, Time};
pub use header::{Header, Size, Version};
pub use idle::IdleLimit;
pub use playback::Playback;
pub use read::{ReadError, Reader, Torn};
pub use search::{Hit, Search};
pub use summary::Summary;
pub use text::PlainText;
pub use utf8::TextDecoder;
pub use write::Writer;
