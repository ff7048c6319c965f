//! Where an agent's state shows: the folders to watch for whoever waits for it to change. Spawns nothing.

use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::facts::AgentFacts;

/// The folders in which something changes when the agent's state does: its state folder, and where its program keeps
/// its own word. That may be behind a link, which may lead somewhere else later: look again after every change.
pub fn folders(host: &dyn Host, facts: &AgentFacts) -> Vec<HostPath> {
    let agent = host.layout().agent(&facts.record.id);
    let mut folders = vec![agent.root().clone()];
    let status = facts.process.agent.and_then(|process| facts.record.status_file_of(process.pid));
    if let Some(path) = status.map(|file| agent.root().join(&file)) {
        let behind = host.files().canonical(&path).ok();
        folders.extend([Some(path), behind].into_iter().flatten().filter_map(|path| path.parent()));
    }
    folders.dedup();
    folders
}
