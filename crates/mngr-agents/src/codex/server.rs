//! Codex's app server: one process that lives with the agent, holds its conversations and answers for them. The terminal
//! program joins it, and so does every command of ours for as long as it takes to ask.
//!
//! Round trips on a socket of this machine; nothing of ours stays connected. The protocol is marked experimental in the
//! program, so what is not understood is no answer, and the evidence on disk decides.

use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::socket::{SocketError, Sockets};
use mngr_model::agent::AgentServer;
use mngr_model::layout::AgentLayout;
use mngr_model::{AgentRecord, HostPath};

use super::places;
use crate::ordinary::read_ordinary;

mod approval;
mod rpc;
mod state;
mod submit;
mod threads;

pub use approval::{Answered, Decision};
pub(crate) use submit::Submission;

/// How long a state is waited for.
const LOOK_PATIENCE: Duration = Duration::from_millis(700);
/// How long anything else is.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why the app server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It cannot be reached.
    #[error("Codex's app server cannot be reached")]
    Socket(#[from] SocketError),
    /// The connection broke, or it did not answer in time.
    #[error("Codex's app server did not answer")]
    Line(#[source] Box<tungstenite::Error>),
    /// It answered in words that are not known.
    #[error("the answer of Codex's app server is not understood")]
    NotUnderstood,
    /// It refused.
    #[error("Codex's app server refused: {message}")]
    Refused {
        /// Its words.
        message: String,
    },
    /// No approval is open.
    #[error("nothing waits for an approval")]
    NothingOpen,
    /// What is open cannot be answered with yes or no.
    #[error("Codex asks something that cannot be answered with yes or no")]
    NoYesOrNo,
}

impl ServerError {
    /// Whether it is certain that the server has ended.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Socket(error) if error.is_nobody_there())
    }
}

/// The app server of one agent.
#[derive(Clone, Copy)]
pub struct Server<'a> {
    host: &'a dyn Host,
    sockets: &'a dyn Sockets,
    agent: &'a AgentLayout,
    socket: &'a str,
}

impl<'a> Server<'a> {
    /// The server of this agent, where it has one that can be reached from here.
    pub fn of(host: &'a dyn Host, agent: &'a AgentLayout, record: &'a AgentRecord) -> Option<Self> {
        let socket = record.server_socket().filter(|_| record.brand.as_deref() == Some("codex"))?;
        Some(Self { host, sockets: host.sockets()?, agent, socket })
    }

    fn connect(&self, patience: Duration) -> Result<rpc::Client, ServerError> {
        rpc::Client::connect(self.sockets, &self.agent.root().join(self.socket), patience)
    }

    /// The threads that Codex keeps records of. Beside them it has many that last for one question to the model, a title
    /// say, and reading each would take its time.
    fn kept_threads(&self) -> Vec<String> {
        let locks = self.host.files().list(&self.agent.root().join(places::LOCKS)).unwrap_or_default();
        let id =
            |name: &str| name.strip_suffix(".lock").filter(|id| places::is_thread(id)).map(str::to_owned);
        locks.iter().filter_map(|entry| id(&entry.name)).collect()
    }

    /// The thread of the agent's conversation, as its hooks noted it.
    fn noted_thread(&self) -> Option<String> {
        let path = self.agent.root().join(places::THREAD);
        let noted = read_ordinary(self.host.files(), &path).ok()??;
        let thread = String::from_utf8_lossy(&noted).trim().to_owned();
        places::is_thread(&thread).then_some(thread)
    }
}

/// The server that an agent with these words is to have, and the words its terminal program joins it with. What the user
/// says about settings on the command line is said to the server: it is the one that acts on them.
pub(super) fn plan(
    agent: &AgentLayout,
    work_dir: &HostPath,
    argv: &[String],
) -> Option<(AgentServer, Vec<String>)> {
    let (program, words) = argv.split_first()?;
    let place = format!("unix://{}", socket(agent));
    let mut server = vec![program.clone(), "app-server".to_owned(), "--listen".to_owned(), place.clone()];
    server.extend(settings_in(words));
    let server = AgentServer { argv: server, socket: places::SOCKET.to_owned() };
    let mut joining = vec!["--remote".to_owned(), place];
    // Where the terminal runs means nothing to a server.
    if !words.iter().any(|word| word == "-C" || word == "--cd" || word.starts_with("--cd=")) {
        joining.extend(["--cd".to_owned(), work_dir.to_string()]);
    }
    Some((server, joining))
}

fn socket(agent: &AgentLayout) -> HostPath {
    agent.root().join(places::SOCKET)
}

/// The words of a command line that set something, with their values.
fn settings_in(words: &[String]) -> Vec<String> {
    const NAMES: [&str; 4] = ["-c", "--config", "--enable", "--disable"];
    let mut found = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if NAMES.contains(&word.as_str()) {
            found.push(word.clone());
            found.extend(rest.next().cloned());
        } else if NAMES.iter().any(|name| word.strip_prefix(name).is_some_and(|value| value.starts_with('=')))
        {
            found.push(word.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_command_line_sets_is_set_for_the_server_too() {
        let argv =
            ["codex", "-m", "x", "-c", "a=1", "--enable", "f", "--config=b=2", "say this", "--remotely"];
        let argv = argv.map(str::to_owned);
        assert_eq!(settings_in(&argv[1..]), ["-c", "a=1", "--enable", "f", "--config=b=2"]);
        let agent = AgentLayout::new(HostPath::new("/h/agents/agent-1"));
        let work_dir = HostPath::new("/w");
        let (server, words) = plan(&agent, &work_dir, &argv).unwrap();
        assert_eq!(server.argv[..4], ["codex", "app-server", "--listen", words[1].as_str()]);
        let place = "unix:///h/agents/agent-1/plugin/codex/server.sock";
        assert_eq!(words, ["--remote", place, "--cd", "/w"]);
        let elsewhere = ["codex", "--cd", "/x"].map(str::to_owned);
        assert_eq!(plan(&agent, &work_dir, &elsewhere).unwrap().1, ["--remote", place]);
    }
}
