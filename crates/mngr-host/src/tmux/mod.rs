//! tmux, driven by its command line. Every target is exact: a session name behind `=`, or a pane whose first process is
//! compared in the same call.
//!
//! Budget: one tmux process per call. What belongs together goes into one command list.

mod config;
mod error;
mod pane;
mod pipe;
mod proven;
mod quote;
mod server;
mod session;
mod target;
mod view;

pub use config::{ServerConfig, render_config};
pub use error::TmuxError;
pub use pane::{CaptureRange, Cursor, PaneFacts, PasteStyle};
pub use pipe::PaneSnapshot;
pub use server::{Restored, Socket, Tmux};
pub use session::{ExtraWindow, NewSession, ServerStart, SessionClaim, SessionOwner};
pub use target::{AgentPane, PaneId, SessionName, SessionNameError};
pub use view::PaneView;
