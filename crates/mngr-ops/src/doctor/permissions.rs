//! Who else may write to the host dir or read the variables of agents. One round trip.

use mngr_model::HostPath;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::world::World;

const CHECK: &str = "permissions";

/// Others may write.
const WRITABLE: u32 = 0o022;
/// Others may do anything.
const OPEN: u32 = 0o077;

/// Checks the host dir itself and the files with secrets in it.
pub(super) fn check(_world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let (host, layout) = (&place.host, place.host.layout());
    let agents = place.survey.agents.iter().map(|agent| layout.agent(&agent.record.id).env_file());
    let paths: Vec<HostPath> = [layout.root().clone(), layout.env_file()].into_iter().chain(agents).collect();
    let stats = match host.files().stat_all(&paths) {
        Ok(stats) => stats,
        Err(error) => return vec![unknown(CHECK, &error)],
    };
    let (mut writable, mut readable) = (Vec::new(), Vec::new());
    for (place, (path, stat)) in paths.into_iter().zip(stats).enumerate() {
        let mode = stat.map_or(0, |stat| stat.mode);
        match place {
            0 if mode & WRITABLE != 0 => writable.push(path),
            0 => {}
            _ if mode & OPEN != 0 => readable.push(path),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(path) = writable.first() {
        found.push(
            Finding::fail(CHECK, format!("others can write to `{path}`"))
                .because("whoever can write there can run programs as you")
                .mended_by(Repair::Restrict { host: host.clone(), mode: "go-w", paths: writable }),
        );
    }
    if let Some(path) = readable.first() {
        found.push(
            Finding::fail(CHECK, format!("others can read {} file(s) such as `{path}`", readable.len()))
                .because("the variables of agents are in there, keys and tokens too")
                .mended_by(Repair::Restrict { host: host.clone(), mode: "go-rwx", paths: readable }),
        );
    }
    if found.is_empty() {
        found.push(Finding::ok(CHECK, "only you can write to the host dir and read the variables of agents"));
    }
    found
}
