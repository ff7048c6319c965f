//! What every verb is handed: settings, hosts, time and a way to say what is going on.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_config::Settings;
use mngr_host::clock::Clock;
use mngr_host::host::Host;
use mngr_host::provider::{HostMaker, Provider};
use mngr_host::tmux::{SessionName, SessionNameError, Socket, Tmux};
use mngr_model::{AgentName, HostPath};

/// Says what is going on while a verb works. Results are returned, not reported.
pub trait Reporter: Send + Sync {
    /// Something the user should know although the verb goes on.
    fn warn(&self, text: &str);

    /// Something the user did not ask for but should see.
    fn note(&self, text: &str);

    /// A step of long work has begun.
    fn progress(&self, text: &str);
}

/// A reporter that says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn warn(&self, _text: &str) {}

    fn note(&self, _text: &str) {}

    fn progress(&self, _text: &str) {}
}

/// Everything a verb may use.
pub struct World {
    /// The merged settings.
    pub settings: Settings,
    /// Settings that are refused when an agent is created with them, with their origin.
    pub refused: Vec<mngr_config::Problem>,
    /// Where hosts come from.
    pub providers: Vec<Box<dyn Provider>>,
    /// The machine mngr runs on. Files named on the command line are here.
    pub client: Arc<dyn Host>,
    /// The time.
    pub clock: Box<dyn Clock>,
    /// Says what is going on.
    pub reporter: Box<dyn Reporter>,
    /// `mngr`, or what `MNGR_ROOT_NAME` says.
    pub root_name: String,
    /// The host dir used when none is configured. A server for another one has its own socket.
    pub default_host_dir: HostPath,
    /// The mngr binary, for key bindings.
    pub binary: String,
    /// Where the user stands.
    pub cwd: HostPath,
    /// The user's home, where there is one.
    pub home: Option<HostPath>,
    /// The user's variables.
    pub vars: BTreeMap<String, String>,
}

impl World {
    /// The socket of the tmux server that holds a host's agents.
    pub fn socket(&self, host: &dyn Host) -> Socket {
        match self.settings.tmux.socket.as_str() {
            "default" => Socket::UserDefault,
            "" if host.info().host_dir == self.default_host_dir_of(host) => {
                Socket::Private(self.root_name.clone())
            }
            // Two host dirs never share a server: both may hold an agent of the same name.
            "" => Socket::Private(format!("{}-{}", self.root_name, &host.info().id.hex()[..12])),
            name => Socket::Private(name.to_owned()),
        }
    }

    /// The host dir a host has when none is configured. On another host it does not depend on who asks.
    fn default_host_dir_of(&self, host: &dyn Host) -> HostPath {
        match &host.info().home {
            Some(home) => home.join(&format!(".{}", self.root_name)),
            None => self.default_host_dir.clone(),
        }
    }

    /// Whether a host is the machine mngr runs on.
    pub fn is_client(&self, host: &dyn Host) -> bool {
        host.info().id == self.client.info().id
    }

    /// What makes and ends a host, where its provider does that.
    pub fn maker_of(&self, host: &dyn Host) -> Option<&dyn HostMaker> {
        let provider = self.providers.iter().find(|provider| *provider.name() == host.info().provider);
        provider.and_then(|provider| provider.maker())
    }

    /// The user's home on a host, where it is known.
    pub fn home_on<'a>(&'a self, host: &'a dyn Host) -> Option<&'a HostPath> {
        if self.is_client(host) { self.home.as_ref() } else { host.info().home.as_ref() }
    }

    /// The session of an agent.
    pub fn session_name(&self, name: &AgentName) -> Result<SessionName, SessionNameError> {
        SessionName::new(format!("{}{name}", self.settings.prefix.as_str()))
    }

    /// Runs something with the tmux server of a host.
    pub fn with_tmux<R>(&self, host: &dyn Host, run: impl FnOnce(Tmux<'_>) -> R) -> R {
        let socket = self.socket(host);
        run(Tmux::new(host, &socket))
    }
}
