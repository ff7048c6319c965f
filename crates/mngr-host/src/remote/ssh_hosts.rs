//! The provider `ssh`: machines that are there already, named in the settings or in the user's own ssh config.
//!
//! What was seen of a machine is remembered on this one: its id, its host dir, its home. All of it may be deleted at any
//! moment and is asked for again.
//!
//! Budget: no process for a machine that was seen before; one round trip for one that was not. Two `ssh -G`, which
//! connect to nothing, for a name that no setting knows.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mngr_model::host::HostInfo;
use mngr_model::{HostId, HostName, HostPath, ProviderName};
use serde::{Deserialize, Serialize};

use super::bootstrap::{BootstrapError, Install, bootstrap};
use super::host::RemoteHost;
use super::line::detail_of;
use super::shells::Shells;
use super::ssh::{SshError, SshLine, SshTarget};
use crate::allowance::silence_for;
use crate::files::{Access, Durability, Files, FilesError};
use crate::host::Host;
use crate::local::LocalFiles;
use crate::proc::{self, Cmd, ExecError};
use crate::provider::{HostEntry, HostError, Provider, ProviderError};
use crate::random;

/// Prints the home, and the host dir and the id where they exist. Changes nothing.
const LOOK: &str = r#"case $1 in '~/'*) dir=$HOME/${1#??} ;; *) dir=$1 ;; esac
printf 'home %s\n' "$HOME"
[ -s "$dir/host_id" ] || exit 0
printf 'host_dir %s\n' "$(cd "$dir" && pwd -P)"
printf 'host_id %s\n' "$(head -c 100 "$dir/host_id")""#;

/// The file that holds what was seen of a machine.
const SEEN_FILE: &str = "info.json";

/// What `ssh -G` repeats of the name it was asked for.
const NAME_KEYS: [&str; 3] = ["host", "hostname", "originalhost"];

/// What all machines of one provider have in common.
#[derive(Debug, Clone)]
pub struct SshHosts {
    /// The instance's name.
    pub provider: ProviderName,
    /// Their host dir; it may begin with `~/`.
    pub host_dir: String,
    /// How long one may take to answer a look.
    pub patience: Duration,
    /// The id of this machine, which none of them has.
    pub client: HostId,
    /// The folder of this machine that remembers them.
    pub seen: HostPath,
    /// The folder of this machine for connections.
    pub connections: HostPath,
    /// An ssh config in place of the user's own.
    pub config_file: Option<HostPath>,
}

/// Whether a name that no setting knows may be one of the user's ssh config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SshConfigNames {
    /// It may.
    Known,
    /// It may not.
    Unknown,
}

/// Machines reached by ssh.
pub struct SshProvider {
    common: Arc<SshHosts>,
    names: SshConfigNames,
    entries: Mutex<Vec<Arc<SshEntry>>>,
}

struct SshEntry {
    name: HostName,
    target: SshTarget,
    common: Arc<SshHosts>,
    opened: Mutex<Option<Arc<RemoteHost>>>,
    /// One set for as long as we live: it knows whether the machine answers.
    shells: Mutex<Option<Arc<Shells>>>,
}

/// What is remembered of a machine.
#[derive(Serialize, Deserialize)]
struct Seen {
    /// Where it was: a machine at another place is another one.
    target: String,
    info: HostInfo,
}

/// Why a machine cannot be used.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error(transparent)]
    Line(#[from] SshError),
    #[error(transparent)]
    Prepare(#[from] BootstrapError),
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("it cannot be remembered")]
    Files(#[from] FilesError),
    #[error("it cannot be remembered")]
    Json(#[from] serde_json::Error),
    #[error(
        "it calls itself by the id of this machine, `{id}`; a copied host dir needs its file `host_id` removed"
    )]
    OurId { id: HostId },
    #[error("its answer makes no sense: {detail}")]
    Nonsense { detail: String },
}

impl SshProvider {
    /// The machines that settings name, and with [`SshConfigNames::Known`] those of the ssh config that were used before.
    pub fn new(common: SshHosts, hosts: Vec<(HostName, SshTarget)>, names: SshConfigNames) -> Self {
        let common = Arc::new(common);
        let mut entries: Vec<_> =
            hosts.into_iter().map(|(name, target)| entry(&common, name, target)).collect();
        if names == SshConfigNames::Known {
            for name in remembered(&common) {
                if !entries.iter().any(|entry| entry.name == name) {
                    let target = configured(&common, &name);
                    entries.push(entry(&common, name, target));
                }
            }
        }
        Self { common, names, entries: Mutex::new(entries) }
    }

    fn entries(&self) -> Vec<Arc<SshEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the user's ssh config says anything of the name that it does not say of any name.
    fn is_in_config(&self, name: &HostName) -> Result<bool, ExecError> {
        let stranger = format!("x{}", random::hex32());
        let of_name = self.config_of(name.as_ref())?;
        Ok(!of_name.is_empty() && of_name != self.config_of(&stranger)?)
    }

    fn config_of(&self, name: &str) -> Result<Vec<String>, ExecError> {
        let mut cmd = Cmd::new("ssh").arg("-G");
        if let Some(file) = &self.common.config_file {
            cmd = cmd.args(["-F", file.as_str()]);
        }
        let output = proc::run(&cmd.args(["--", name]))?;
        let text = output.stdout_text();
        let is_told = |line: &&str| {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            !NAME_KEYS.contains(&key) || value != name
        };
        Ok(text.lines().filter(is_told).map(str::to_owned).collect())
    }
}

/// A machine that the ssh config describes.
fn configured(common: &SshHosts, name: &HostName) -> SshTarget {
    SshTarget {
        name: name.to_string(),
        address: name.to_string(),
        config_file: common.config_file.clone(),
        ..SshTarget::default()
    }
}

fn entry(common: &Arc<SshHosts>, name: HostName, target: SshTarget) -> Arc<SshEntry> {
    Arc::new(SshEntry {
        name,
        target,
        common: common.clone(),
        opened: Mutex::default(),
        shells: Mutex::default(),
    })
}

/// The machines of which something is remembered.
fn remembered(common: &SshHosts) -> Vec<HostName> {
    let folders = LocalFiles.list(&common.seen).unwrap_or_default();
    folders.into_iter().filter_map(|folder| folder.name.parse().ok()).collect()
}

impl Provider for SshProvider {
    fn name(&self) -> &ProviderName {
        &self.common.provider
    }

    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
        Ok(self.entries().into_iter().map(|entry| entry as Arc<dyn HostEntry>).collect())
    }

    fn host_named(&self, name: &HostName) -> Result<Option<Arc<dyn HostEntry>>, ProviderError> {
        if let Some(known) = self.entries().into_iter().find(|entry| entry.name == *name) {
            return Ok(Some(known));
        }
        let failed = |source: ExecError| ProviderError {
            provider: self.common.provider.clone(),
            source: source.into(),
        };
        if self.names == SshConfigNames::Unknown || !self.is_in_config(name).map_err(failed)? {
            return Ok(None);
        }
        let found = entry(&self.common, name.clone(), configured(&self.common, name));
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(found.clone());
        Ok(Some(found))
    }
}

impl SshEntry {
    fn seen_file(&self) -> HostPath {
        self.common.seen.join(self.name.as_ref()).join(SEEN_FILE)
    }

    /// Where the machine is, in one text.
    fn place(&self) -> String {
        let SshTarget { address, user, port, .. } = &self.target;
        let port = port.map(|port| port.to_string());
        [user.as_deref().unwrap_or_default(), address, port.as_deref().unwrap_or_default()].join(" ")
    }

    fn remembered(&self) -> Option<HostInfo> {
        let bytes = LocalFiles.read_if_there(&self.seen_file()).ok()??;
        let seen: Seen = serde_json::from_slice(&bytes).ok()?;
        let is_it = seen.target == self.place() && seen.info.name == self.name;
        (is_it && seen.info.provider == self.common.provider).then_some(seen.info)
    }

    fn remember(&self, info: &HostInfo) -> Result<(), OpenError> {
        if self.remembered().as_ref() == Some(info) {
            return Ok(());
        }
        let seen = Seen { target: self.place(), info: info.clone() };
        LocalFiles.make_folder(&self.common.seen.join(self.name.as_ref()))?;
        let text = serde_json::to_vec_pretty(&seen)?;
        Ok(LocalFiles.write(&self.seen_file(), &text, Access::Private, Durability::Cached)?)
    }

    fn shells(&self) -> Result<Arc<Shells>, OpenError> {
        let mut shells = self.shells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shells) = &*shells {
            return Ok(shells.clone());
        }
        let line = SshLine::open(self.target.clone(), &self.common.connections)?;
        let new = Shells::new(Arc::new(line)).with_silence_limit(silence_for(self.common.patience));
        Ok(shells.insert(Arc::new(new)).clone())
    }

    fn info(&self, id: HostId, host_dir: HostPath, home: Option<HostPath>) -> HostInfo {
        HostInfo { id, name: self.name.clone(), provider: self.common.provider.clone(), host_dir, home }
    }

    /// Asks a machine that was not seen before. `None`: mngr was never there.
    fn ask(&self, shells: &Shells) -> Result<Option<HostInfo>, OpenError> {
        let words = ["look", self.common.host_dir.as_str()];
        let output = shells.look(&Cmd::shell(LOOK).args(words).deadline(self.common.patience))?;
        let text = output.stdout_text();
        let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        let nonsense = || OpenError::Nonsense { detail: detail_of(&text) };
        let home = of("home").filter(|home| home.starts_with('/')).ok_or_else(nonsense)?;
        let Some(id) = of("host_id") else { return Ok(None) };
        let host_dir = of("host_dir").filter(|dir| dir.starts_with('/')).ok_or_else(nonsense)?;
        let id = id.trim().parse().map_err(|_| nonsense())?;
        Ok(Some(self.info(id, HostPath::new(host_dir), Some(HostPath::new(home)))))
    }

    fn enter(&self, info: HostInfo, shells: Arc<Shells>) -> Result<Arc<RemoteHost>, OpenError> {
        // Who has our id would have its paths taken for ours.
        if info.id == self.common.client {
            return Err(OpenError::OurId { id: info.id });
        }
        self.remember(&info)?;
        let host = Arc::new(RemoteHost::new(info, shells).with_patience(self.common.patience));
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(host.clone());
        Ok(host)
    }

    fn opened(&self) -> Option<Arc<RemoteHost>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn failed(&self, error: OpenError) -> HostError {
        let source = match error {
            // As itself, so that callers can tell a refusal from silence.
            OpenError::Exec(error) => error.into(),
            other => other.into(),
        };
        HostError { host: self.name.clone(), source }
    }

    fn look(&self) -> Result<Option<Arc<RemoteHost>>, OpenError> {
        if let Some(host) = self.opened() {
            return Ok(Some(host));
        }
        let shells = self.shells()?;
        let info = match self.remembered() {
            Some(info) => Some(info),
            None => self.ask(&shells)?,
        };
        info.map(|info| self.enter(info, shells)).transpose()
    }

    fn make_ready(&self) -> Result<Arc<RemoteHost>, OpenError> {
        let opened = self.opened();
        let shells = match &opened {
            Some(host) => host.shells().clone(),
            None => self.shells()?,
        };
        let prepared = bootstrap(&shells, &self.common.host_dir, Install::Missing)?;
        let info = self.info(prepared.id, prepared.host_dir, prepared.home);
        match opened.filter(|host| *host.info() == info) {
            Some(host) => Ok(host),
            None => self.enter(info, shells),
        }
    }
}

impl HostEntry for SshEntry {
    fn name(&self) -> &HostName {
        &self.name
    }

    fn provider(&self) -> &ProviderName {
        &self.common.provider
    }

    fn id(&self) -> Option<HostId> {
        self.remembered().map(|info| info.id)
    }

    fn open(&self) -> Result<Option<Arc<dyn Host>>, HostError> {
        let host = self.look().map_err(|error| self.failed(error))?;
        Ok(host.map(|host| host as Arc<dyn Host>))
    }

    fn prepare(&self) -> Result<Arc<dyn Host>, HostError> {
        Ok(self.make_ready().map_err(|error| self.failed(error))?)
    }
}
