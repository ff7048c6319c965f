//! The generated scripts that run an agent and its further windows.

mod argv;
mod script;

pub use argv::{has_shell_syntax, words_after_dashes};
pub use script::{LaunchSpec, SHELL_SCRIPT_NAME, Streams, boot_launch_script, launch_script, window_script};
