//! Showing that a copy is like its source before anything runs in it, so that the source may go.

use mngr_agents::conversation::{self, Conversation};
use mngr_agents::transcript::Brand;
use mngr_host::git::{Difference, Git, IgnoredFiles};
use mngr_host::host::Host;
use mngr_host::rsync::{Endpoint, Extraneous, Rsync};
use mngr_model::HostPath;
use mngr_model::layout::AgentLayout;
use mngr_model::transfer::TransferMode;

use super::error::CreateError;
use super::plan::Plan;
use super::request::UncleanFiles;
use super::source::Source;

/// How many differences are told.
const TOLD: usize = 5;

/// Fails unless the work dir is at the commit of the source and has the same uncommitted files, contents compared.
pub(super) fn files(source: &Source, host: &dyn Host, plan: &Plan) -> Result<(), CreateError> {
    let ((home, path), (from, files)) = (source.home(), source.files());
    let mut found = differences(plan, (from, &files), (host, &plan.work_dir))?;
    if source.transit.is_some() {
        found.extend(differences(plan, (home, path), (from, &files))?);
    }
    told(found)
}

fn differences(
    plan: &Plan,
    (from, original): (&dyn Host, &HostPath),
    (to, copy): (&dyn Host, &HostPath),
) -> Result<Vec<String>, CreateError> {
    if plan.transfer == TransferMode::Rsync {
        let compare = Rsync::new(Endpoint::Contents(original.clone()), Endpoint::Contents(copy.clone()))
            .options(["--checksum", "--no-times"])
            .extraneous(Extraneous::Delete);
        let changes = compare.changes_between(from, to)?;
        return Ok(changes
            .into_iter()
            .map(|change| format!("`{}`", String::from_utf8_lossy(&change.path)))
            .collect());
    }
    let ignored = match plan.carries {
        Some(UncleanFiles::Carry { ignored: true }) => IgnoredFiles::Include,
        _ => IgnoredFiles::Leave,
    };
    let copy = Git::new(to, copy.clone());
    let found = Git::new(from, original.clone()).differences_to(&copy, ignored)?;
    Ok(found.iter().map(Difference::to_string).collect())
}

/// Fails unless the agent has all these conversations.
pub(super) fn conversations(
    theirs: &[Conversation],
    brand: Brand,
    host: &dyn Host,
    agent: &AgentLayout,
) -> Result<(), CreateError> {
    let ours = conversation::of_agent(host.files(), agent.root(), brand)?;
    let is_missing = |wanted: &&Conversation| !ours.iter().any(|own| own.id == wanted.id);
    told(theirs.iter().filter(is_missing).map(|missing| format!("conversation `{}`", missing.id)).collect())
}

fn told(mut differences: Vec<String>) -> Result<(), CreateError> {
    if differences.is_empty() {
        return Ok(());
    }
    differences.truncate(TOLD);
    Err(CreateError::CopyDiffers { differences })
}
