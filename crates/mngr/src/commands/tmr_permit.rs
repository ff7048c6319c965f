//! `mngr tmr-permit`: asked by the hook of an agent's program whether the permission set of its run covers a use of a tool. The
//! event is on standard input, the answer goes to standard output; no settings, no state but the agent's own.

use std::io::Read;

use mngr_host::files::{Durability, Files};
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use mngr_model::env::MNGR_AGENT_STATE_DIR;
use mngr_model::layout::AgentLayout;
use mngr_model::permission::Granted;
use mngr_tmr::permit;

use crate::ctx::Surroundings;
use crate::exit_code::ExitCode;
use crate::ui::console::Console;

/// The longest event that is read.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Answers. One that cannot be answered is left to the hook, which refuses.
pub(crate) fn run(surroundings: &Surroundings, console: &Console) -> ExitCode {
    match answered(surroundings, console) {
        Some(()) => ExitCode::Done,
        None => ExitCode::Failed,
    }
}

fn answered(surroundings: &Surroundings, console: &Console) -> Option<()> {
    let agent = AgentLayout::new(HostPath::new(surroundings.var(MNGR_AGENT_STATE_DIR)?));
    let granted: Granted = serde_json::from_slice(&LocalFiles.read(&agent.permissions()).ok()?).ok()?;
    let mut event = String::new();
    std::io::stdin().lock().take(LONGEST).read_to_string(&mut event).ok()?;
    let (answer, refused) = permit::answer(&granted, &event);
    if let Some(refused) = refused {
        LocalFiles
            .append(&agent.refused_tools(), format!("{refused}\n").as_bytes(), Durability::Cached)
            .ok()?;
    }
    match answer.is_null() {
        true => Some(()),
        false => console.print(&format!("{answer}\n")).ok(),
    }
}
