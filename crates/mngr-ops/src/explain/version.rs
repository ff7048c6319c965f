//! Which version of a coding agent's program is installed, and what is not proved of it.

use mngr_agents::installation::{self, Memory};
use mngr_agents::manifest::BuiltIn;
use serde::Serialize;

use crate::create::surrounding;
use crate::fleet::Agent;
use crate::world::World;

/// The version of the agent's program, as it is installed now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionLook {
    /// The version.
    pub installed: String,
    /// The versions this mngr was tested with.
    pub tested: String,
    /// What is not proved of the installed one; nothing where it is a tested one.
    pub not_proved: Option<String>,
}

/// Looks at the program of a coding agent; `None` for all others, and where the version cannot be told.
pub(super) fn look(world: &World, agent: &Agent) -> Option<VersionLook> {
    let (record, host) = (&agent.facts.record, agent.host.as_ref());
    let manifest = BuiltIn::named(record.brand.as_deref()?)?.manifest();
    let (program, about) = (manifest.program?, manifest.installation?);
    // A wrapper of the user's own is not run for this.
    record.argv.first().filter(|word| **word == program)?;
    let env = surrounding(world, host).ok()?;
    let search = env.get("PATH").map(String::as_str).unwrap_or_default();
    let path = installation::find(host.files(), search, &program).ok()??;
    let mut memory = Memory::read(host.files(), &host.layout().programs_seen());
    let version = installation::version_of(host, &path, &about, &mut memory).ok()??;
    Some(VersionLook {
        installed: version.to_string(),
        tested: about.tested.to_string(),
        not_proved: about.unproved(&manifest.summary, &version),
    })
}
