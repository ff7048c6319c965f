//! The words with which a [`DockerLine`](crate::DockerLine) calls our own program, as programs call `ssh`.

use mngr_host::remote::Terminal;
use mngr_model::HostPath;

use crate::endpoint::{Endpoint, EndpointError};

/// The verb by which the program knows that it is called like this.
pub const PIPE_VERB: &str = "docker-pipe";
/// Asks for a terminal.
pub(crate) const TERMINAL_FLAG: &str = "--tty";

/// A line of shell for a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipeRequest {
    /// Where the engine listens.
    pub endpoint: Endpoint,
    /// The folder of this machine for connections over ssh.
    pub links: HostPath,
    /// Whether it runs under a terminal.
    pub terminal: Terminal,
    /// The container.
    pub container: String,
    /// The line.
    pub line: String,
}

/// The words make no request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PipeRequestError {
    /// Some are missing, or there is an option that ssh has and we have not.
    #[error("usage: mngr {PIPE_VERB} ENDPOINT FOLDER [{TERMINAL_FLAG}] CONTAINER WORD...")]
    Usage,
    /// The engine's address is none.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

impl PipeRequest {
    /// Reads the words after the verb. Like `ssh`, it makes one line of the last ones.
    pub fn parse(words: &[String]) -> Result<Self, PipeRequestError> {
        let [endpoint, links, rest @ ..] = words else { return Err(PipeRequestError::Usage) };
        let (terminal, rest) = match rest {
            [flag, rest @ ..] if flag == TERMINAL_FLAG => (Terminal::Ours, rest),
            rest => (Terminal::None, rest),
        };
        match rest {
            [container, line @ ..] if !container.starts_with('-') && !line.is_empty() => Ok(Self {
                endpoint: endpoint.parse()?,
                links: HostPath::new(links),
                terminal,
                container: container.clone(),
                line: line.join(" "),
            }),
            _ => Err(PipeRequestError::Usage),
        }
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::remote::Line;

    use super::*;
    use crate::DockerLine;

    fn line() -> DockerLine {
        DockerLine::new("box", "mngr", &Endpoint::default(), &HostPath::new("/links"), "c0ffee")
    }

    fn parsed(extra: &[&str]) -> Result<PipeRequest, PipeRequestError> {
        let shell = line().copy_shell();
        assert_eq!(shell[..2], ["mngr", PIPE_VERB].map(str::to_owned));
        let extra = extra.iter().map(|word| (*word).to_owned());
        PipeRequest::parse(&shell[2..].iter().cloned().chain(extra).collect::<Vec<_>>())
    }

    #[test]
    fn what_a_line_says_is_understood() {
        let request = parsed(&["--tty", "c0ffee", "exec tmux"]).unwrap();
        assert_eq!((request.terminal, request.line.as_str()), (Terminal::Ours, "exec tmux"));
        assert_eq!(request.endpoint, Endpoint::default());
    }

    #[test]
    fn the_words_of_rsync_make_one_line() {
        let request = parsed(&[&line().copy_name(), "rsync", "--server", ".", "/a"]).unwrap();
        assert_eq!((request.terminal, request.line.as_str()), (Terminal::None, "rsync --server . /a"));
    }

    #[test]
    fn the_question_of_git_whether_it_is_ssh_is_answered_with_no() {
        assert_eq!(parsed(&["-G", "c0ffee"]), Err(PipeRequestError::Usage));
        assert_eq!(parsed(&["c0ffee"]), Err(PipeRequestError::Usage));
    }
}
