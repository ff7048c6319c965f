//! What outlives the trash: an agent's events, its conversation and what a script says it used.
//!
//! Processes: one `cp` for each place, on another machine all of them in one round trip. A copy that fails keeps nobody
//! from being destroyed: everything is in the trash, too.

use mngr_agents::scripted;
use mngr_agents::transcript::Brand;
use mngr_host::errand::{Errand, ErrandError};
use mngr_host::files::{Change, FilesError};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_join;

use crate::trash::{Manifest, TrashError};

/// What is to be copied.
pub(super) struct Keepsakes {
    /// Where everything goes.
    root: HostPath,
    /// Each thing, and the folder that it goes into.
    copies: Vec<(HostPath, HostPath)>,
}

/// What was kept.
#[derive(Default)]
pub(super) struct Preserved {
    /// Where it is.
    pub(super) at: Option<HostPath>,
    /// Why it is not all.
    pub(super) problem: Option<String>,
}

/// What has to be looked at to know what is kept.
pub(super) fn signs(manifest: &Manifest, state: &AgentLayout) -> Vec<HostPath> {
    let brands = match Brand::of_type(manifest.agent_type.as_ref()) {
        Some(brand) => vec![brand],
        None => Brand::ALL.to_vec(),
    };
    let kept = brands.iter().flat_map(|brand| places(Some(*brand), state));
    kept.chain(Brand::signs(state.root())).collect()
}

/// What there is to be kept, as far as it can be known by a glance at [`signs`].
pub(super) fn find(
    host: &dyn Host,
    manifest: &Manifest,
    state: &AgentLayout,
    glance: &Glance<'_>,
) -> Result<Keepsakes, FilesError> {
    let brand = match Brand::of_type(manifest.agent_type.as_ref()) {
        Some(brand) => Some(brand),
        None => Brand::of_state(glance, state.root())?,
    };
    let root = host.layout().preserved_of(&manifest.name, &manifest.id);
    let mut copies = Vec::new();
    for from in places(brand, state) {
        let below = from.as_str().strip_prefix(state.root().as_str()).unwrap_or_default();
        let folder = root.join(below.trim_start_matches('/')).parent();
        if let Some(folder) = folder
            && glance.holds_something(&from)?
        {
            copies.push((from, folder));
        }
    }
    Ok(Keepsakes { root, copies })
}

fn places(brand: Option<Brand>, state: &AgentLayout) -> Vec<HostPath> {
    let conversation = brand.map(Brand::kept).unwrap_or_default().iter().map(|kept| state.root().join(kept));
    conversation.chain([state.root().join(scripted::USAGE), state.events()]).collect()
}

/// Copies what was found, and then makes the last changes, whatever became of the copies.
pub(super) fn copy(host: &dyn Host, found: Keepsakes, last: &[Change]) -> Result<Preserved, TrashError> {
    let Keepsakes { root, copies } = found;
    if copies.is_empty() {
        host.files().apply(last)?;
        return Ok(Preserved::default());
    }
    let folders: Vec<HostPath> = copies.iter().map(|(_, folder)| folder.clone()).collect();
    let changes: Vec<Change> = folders.iter().cloned().map(Change::MakeFolder).collect();
    let words = |(from, folder): &(HostPath, HostPath)| {
        ["cp", "-Rp", "--", from.as_str(), folder.as_str()].map(str::to_owned)
    };
    let cmds = match host.reach() {
        None => copies.iter().map(|copy| Cmd::from_words(words(copy))).collect(),
        Some(_) => {
            let lines: Vec<String> = copies.iter().map(|copy| sh_join(words(copy))).collect();
            vec![Cmd::shell(lines.join(" && "))]
        }
    };
    for (number, cmd) in cmds.iter().enumerate() {
        let changes = if number == 0 { &changes[..] } else { &[] };
        let then = if number + 1 == cmds.len() { last } else { &[] };
        let problem = match host.run_errand(&Errand { changes, cmd, then, awaited: None }) {
            Ok(done) if done.output.success() => continue,
            Ok(done) => done.output.stderr_text(),
            Err(ErrandError::Files(error)) if !folders.contains(&error.path) => return Err(error.into()),
            Err(error) => crate::error_chain(&error),
        };
        host.files().apply(last)?;
        return Ok(Preserved { at: None, problem: Some(problem) });
    }
    Ok(Preserved { at: Some(root), problem: None })
}
