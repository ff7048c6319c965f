//! The line to a container: our own program, which opens an exec through the engine.

use mngr_host::proc::{Cmd, Exit};
use mngr_host::remote::{Line, Terminal};
use mngr_model::HostPath;

use crate::endpoint::Endpoint;
use crate::request::{PIPE_VERB, TERMINAL_FLAG};

/// What the program returns when it speaks of itself, as ssh does.
pub const BROKEN: u8 = 255;

/// A line to one container.
#[derive(Debug, Clone)]
pub struct DockerLine {
    name: String,
    words: Vec<String>,
    container: String,
}

impl DockerLine {
    /// The line to a container, by the program `mngr` and the folder of its ssh connections.
    pub fn new(name: &str, mngr: &str, endpoint: &Endpoint, links: &HostPath, container: &str) -> Self {
        let words = [mngr, PIPE_VERB, &endpoint.to_string(), links.as_str()].map(str::to_owned);
        Self { name: name.to_owned(), words: words.to_vec(), container: container.to_owned() }
    }
}

impl Line for DockerLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn command(&self, line: &str, terminal: Terminal) -> Cmd {
        let cmd = Cmd::from_words(self.words.clone());
        let cmd = match terminal {
            Terminal::None => cmd,
            Terminal::Ours => cmd.arg(TERMINAL_FLAG),
        };
        cmd.args([&self.container, line])
    }

    fn is_broken_by(&self, exit: Exit) -> bool {
        exit == Exit::Code(i32::from(BROKEN)) || matches!(exit, Exit::Signal(_))
    }

    fn copy_shell(&self) -> Vec<String> {
        self.words.clone()
    }

    fn copy_name(&self) -> String {
        self.container.clone()
    }
}
