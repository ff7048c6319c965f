//! tmux, driven by its command line. Every target is exact: a pane id, or a session name behind `=`.
//!
//! Budget: one tmux process per call. What belongs together goes into one command list.

mod config;
mod error;
mod pane;
mod pipe;
mod server;
mod session;
mod target;
mod view;

pub use config::{ServerConfig, render_config};
pub use error::TmuxError;
pub use pane::{CaptureRange, PaneFacts, PasteStyle};
pub use pipe::PaneSnapshot;
pub use server::{Socket, Tmux};
pub use session::{ExtraWindow, NewSession, SessionOwner};
pub use target::{PaneId, SessionName, SessionNameError};
pub use view::PaneView;
