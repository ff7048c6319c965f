//! `[tmux]`: the server agents run in and how one attaches to it.

use super::names::{SocketName, WindowName};
use crate::declare::settings_table;

settings_table! {
    /// `[tmux]`.
    pub struct TmuxSettings {
        /// Which tmux server agents run in: `""` is a private server of our own, `"default"` the user's own server,
        /// anything else a server by that name (`tmux -L NAME`).
        pub socket: SocketName,
        /// Whether our private server reads the user's own tmux configuration.
        pub user_config: bool,
        /// Name of the window the agent runs in.
        pub primary_window_name: WindowName,
        /// Extra arguments for `tmux attach`.
        pub attach_args: Vec<String>,
        /// A tmux configuration file read after ours.
        pub additional_config_path: Option<String>,
    }
}
