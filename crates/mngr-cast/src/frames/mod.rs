//! What a recording shows, moment by moment: lines that changed, as text and numbers. For a page and for a terminal.
//!
//! [`Chunks`] walks through a recording and gives pieces that stand for themselves: the first [`Frame`] of each is a
//! whole screen, the others say what changed since. To show a moment, take the last chunk that begins before it and
//! apply its frames up to that moment to a [`Canvas`]. A chunk is at most some 30 s and 256 KiB ([`Limits`]), so any
//! moment is cheap to reach, and no more than one chunk is held at a time.
//!
//! As JSON, one chunk:
//!
//! ```json
//! {"start":0,"end":1250,"frames":[
//!   {"t":0,"s":[80,24],"l":[[0,["$ ",["ls",2,-1,1]]]],"c":[4,0]},
//!   {"t":1250,"u":1,"l":[[22,["README"]],[23,["$ "]]],"c":[2,23]}]}
//! ```
//!
//! - `t`: milliseconds since the start of the recording.
//! - `s`: `[columns, rows]`. The frame is a whole screen: rows it does not name are blank. Without it rows it does not name
//!   stay as they are.
//! - `u`: move everything up by so many rows first; blank rows follow at the bottom.
//! - `l`: `[row, runs]`, the row counted from 0. The runs are the whole row; an empty list is a blank row.
//! - A run is its text, or `[text, foreground, background, flags]`. A colour is -1 (the default), 0 to 255 (of the usual
//!   palette) or 256 + 0xRRGGBB. Flags: 1 bold, 2 faint, 4 italic, 8 underlined, 16 struck through, 32 blinking, 64 inverse,
//!   128 every character is two columns wide.
//! - `c`: `[column, row]` of the cursor, `null` while it is hidden. The column may be one past the last.
//!
//! Text holds no control characters. It is still text that anybody may have written: set it as text, never as markup.

mod canvas;
mod chunk;
mod frame;
mod maker;
mod style;

pub use canvas::Canvas;
pub use chunk::{Chunk, Chunks, Limits, Overview};
pub use frame::{Cursor, Frame};
pub use maker::Frames;
pub use style::{Colour, Run, Style};
