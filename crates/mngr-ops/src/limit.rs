//! `limit`: when a host stops by itself, and which agents it starts when it boots.

use std::sync::Arc;

use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_host::provider::{HostError, ProviderError};
use mngr_model::activity::ActivityConfig;
use mngr_model::address::HostAddress;
use mngr_model::facts::Detail;
use mngr_model::host::HostInfo;

use crate::activity::{self, ActivityChanges, ActivityError};
use crate::again::{LookError, look_again};
use crate::boot::{self, BootError};
use crate::fleet::{self, Agent};
use crate::hosts;
use crate::record::{self, RecordError};
use crate::world::World;

/// Whether a host starts an agent when it boots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartOnBoot {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// There is no such host.
    #[error("there is no host `{address}`")]
    NoHost {
        /// What was given.
        address: String,
    },
    /// Several hosts are called that.
    #[error("`{address}` is the name of several hosts: {}", .matches.join(", "))]
    Ambiguous {
        /// What was given.
        address: String,
        /// Their addresses.
        matches: Vec<String>,
    },
    /// Its limits are kept on the host, which has to run.
    #[error("host `{host}` is {state}, and its limits are kept on it")]
    HostOff {
        /// Its address.
        host: String,
        /// What it does.
        state: &'static str,
    },
    /// The hosts of a provider cannot be listed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The host cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Its limits cannot be changed.
    #[error(transparent)]
    Activity(#[from] ActivityError),
    /// The agent cannot be seen.
    #[error(transparent)]
    Look(#[from] LookError),
    /// The host cannot start it, or cannot stop starting it.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// What starts it could not be removed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Its record could not be changed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// A host whose limits were changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitedHost {
    /// Which.
    pub host: HostInfo,
    /// What they are now.
    pub limits: ActivityConfig,
}

/// The host of an address, which runs.
pub fn host_of(world: &World, address: &HostAddress) -> Result<Arc<dyn Host>, LimitError> {
    let found = hosts::find_all(world, address)?;
    let entry = match found.as_slice() {
        [] => return Err(LimitError::NoHost { address: address.to_string() }),
        [entry] => entry,
        several => {
            let matches = several.iter().map(|entry| format!("{}.{}", entry.name(), entry.provider()));
            return Err(LimitError::Ambiguous { address: address.to_string(), matches: matches.collect() });
        }
    };
    let state = entry.report().state;
    if fleet::is_off(state) {
        return Err(LimitError::HostOff { host: address.to_string(), state: state.as_str() });
    }
    entry.open()?.ok_or_else(|| LimitError::NoHost { address: address.to_string() })
}

/// Changes the limits of a host.
pub fn limit_host(
    world: &World,
    host: &dyn Host,
    changes: &ActivityChanges,
) -> Result<LimitedHost, LimitError> {
    let limits = activity::change(world, host, changes)?;
    Ok(LimitedHost { host: host.info().clone(), limits })
}

/// Has an agent started when its host boots, or no longer.
pub fn start_on_boot(world: &World, agent: &Agent, wanted: StartOnBoot) -> Result<(), LimitError> {
    let agent = look_again(agent, Detail::Basic)?;
    let (host, record) = (agent.host.as_ref(), &agent.facts.record);
    let note = |is_wanted: bool| {
        let layout = host.layout().agent(agent.id());
        record::patch(host, &layout, |record| {
            drop(record.insert("start_on_boot".to_owned(), is_wanted.into()))
        })
    };
    match wanted {
        StartOnBoot::Yes => {
            boot::check(world, host)?;
            boot::write_scripts(world, host, record)?;
            boot::settle(world, host)?;
            Ok(note(true)?)
        }
        StartOnBoot::No => {
            note(false)?;
            boot::remove_scripts(host, record)?;
            Ok(boot::settle(world, host)?)
        }
    }
}
