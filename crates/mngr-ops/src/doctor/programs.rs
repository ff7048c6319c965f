//! Which coding agents are installed on this machine. Spawns only a program whose files do not tell its version.

use mngr_agents::installation::{self, Memory};
use mngr_agents::manifest::BuiltIn;

use super::finding::Finding;
use crate::fanout::fan_out;
use crate::world::World;

const CHECK: &str = "coding_agents";

/// Looks for them.
pub(super) fn check(world: &World) -> Option<Finding> {
    let host = world.client.as_ref();
    let search = world.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let found = fan_out(BuiltIn::GUESSES.to_vec(), |built_in| {
        let manifest = built_in.manifest();
        let (program, about) = (manifest.program?, manifest.installation?);
        let path = installation::find(host.files(), search, &program).ok()??;
        let mut memory = Memory::read(host.files(), &host.layout().programs_seen());
        let version = installation::version_of(host, &path, &about, &mut memory).ok().flatten();
        Some(version.map_or(program.clone(), |version| format!("{program} {version}")))
    });
    let there: Vec<String> = found.into_iter().flatten().collect();
    let names = BuiltIn::GUESSES.map(BuiltIn::name).join(", ");
    Some(match there.as_slice() {
        [] => Finding::warn(CHECK, format!("none of {names} is on your PATH"))
            .because("agents of these types cannot be created on this machine")
            .advise("install one, or give `create` a program: `mngr create NAME -- PROGRAM`"),
        there => Finding::ok(CHECK, there.join(", ")),
    })
}
