//! Recording terminals as they are used: a command under a terminal of its own, or the pane an agent works in.
//!
//! A recording is a file that grows by one line for each event, each appended with one write: whatever happens to the
//! recorder, what is there can be played. Nothing is held back in memory. A command under our own terminal waits for us,
//! as it would for any slow terminal. A pane of tmux must not: tmux keeps in memory, without limit, what the reader of a
//! pane does not take. So between tmux and us stands a small script that always reads and puts everything into files of
//! limited number and size ([`pane`]); a recorder that stalls longer than these last finds a gap, marks it with
//! [`GAP_LABEL`] and goes on with what the screen shows then.

pub mod command;
mod error;
mod file;
pub mod pane;
mod spool;

pub use error::RecordError;
pub use file::{CastFile, CastOptions, Recorded};
pub use spool::{GAP_LABEL, SpoolLimits};
