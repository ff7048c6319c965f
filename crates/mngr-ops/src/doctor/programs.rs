//! Which coding agents are installed on this machine. Spawns only a program whose files do not tell its version.

use mngr_agents::installation::{self, Memory};
use mngr_agents::manifest::BuiltIn;
use mngr_host::proc::Cmd;

use super::finding::Finding;
use crate::fanout::fan_out;
use crate::world::World;

const CHECK: &str = "coding_agents";
const IDENTITY: &str = "git_identity";

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
        let unproved = version.as_ref().and_then(|version| about.unproved(&manifest.summary, version));
        Some((version.map_or(program.clone(), |version| format!("{program} {version}")), unproved))
    });
    let (there, unproved): (Vec<String>, Vec<Option<String>>) = found.into_iter().flatten().unzip();
    let unproved: Vec<String> = unproved.into_iter().flatten().collect();
    let names = BuiltIn::GUESSES.map(BuiltIn::name).join(", ");
    Some(match there.as_slice() {
        [] => Finding::warn(CHECK, format!("none of {names} is on your PATH"))
            .because("agents of these types cannot be created on this machine")
            .advise("install one, or give `create` a program: `mngr create NAME -- PROGRAM`"),
        // It works; a warning would be there for as long as the program is newer than mngr.
        there if !unproved.is_empty() => {
            Finding::ok(CHECK, format!("{}; {}", there.join(", "), unproved.join("; ")))
        }
        there => Finding::ok(CHECK, there.join(", ")),
    })
}

/// Whether git knows who commits. One process; a machine without git is told of elsewhere.
pub(super) fn identity(world: &World) -> Option<Finding> {
    let ask = "command -v git >/dev/null || exit 0; git var GIT_AUTHOR_IDENT >/dev/null";
    let asked = world.client.exec(&Cmd::shell(ask).cwd(&world.cwd)).ok()?;
    (!asked.success()).then(|| {
        Finding::warn(IDENTITY, "git does not know your name and email address")
            .because("agents on this machine cannot commit")
            .advise("`git config --global user.name NAME` and `git config --global user.email ADDRESS`")
    })
}
