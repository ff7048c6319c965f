//! `rsync`: the plain form. rsync itself between this machine and an agent's work dir or a host, over whatever reaches it.
//!
//! Processes: `rsync` to look what it would change, `git status` where the destination is a checkout, `rsync` to copy.

use std::sync::Arc;

use mngr_host::beneath;
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::address::LocationPath;

use crate::fleet::Agent;
use crate::sync::{
    self, Audience, Effect, PlainCopied, PlainEnd, SentKind, Spot, SyncError, SyncOptions,
    UncommittedChanges, UnderWay, Way,
};
use crate::world::World;

/// One end of the copy.
#[derive(Clone)]
pub enum End {
    /// A path on this machine, from where the user stands.
    Here(LocationPath),
    /// A path of an agent, from its work dir; without one, what is in the work dir.
    Agent(Box<Agent>, Option<LocationPath>),
    /// A path of a host, from the user's home there.
    Host(Arc<dyn Host>, LocationPath),
}

/// What to copy and how.
#[derive(Clone)]
pub struct RsyncRequest {
    /// What.
    pub from: End,
    /// Where to.
    pub to: End,
    /// Options of rsync.
    pub words: Vec<String>,
    /// What happens to uncommitted work that is in the way.
    pub uncommitted: UncommittedChanges,
    /// Who sees what rsync says.
    pub audience: Audience,
}

/// Copies.
pub fn rsync(world: &World, request: &RsyncRequest) -> Result<PlainCopied, SyncError> {
    let from = request.from.open(world)?;
    let to = request.to.open(world)?;
    let copy = sync::plain_copy(from, to, &request.words, request.audience)?;
    let effect = if is_dry_run(&request.words) { Effect::DryRun } else { Effect::Real };
    let options = SyncOptions { uncommitted: request.uncommitted, effect, ..SyncOptions::default() };
    let copied = [(&request.to, Way::To), (&request.from, Way::From)];
    let agent = copied.into_iter().find_map(|(end, way)| Some((end.agent()?, way)));
    let _under_way = agent.map(|(agent, way)| UnderWay::begin(world, agent, way, effect));
    let Some(agent) = request.to.agent() else { return copy.run_plain(&options) };
    let copied = copy.inside(&agent.facts.record.work_dir.normalized()).run_plain(&options);
    sync::arrived(agent, effect, SentKind::Files, copied)
}

/// Whether rsync was told to change nothing: then nothing may be set aside for it either.
fn is_dry_run(words: &[String]) -> bool {
    let is_short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('n');
    words.iter().any(|word| word == "--dry-run" || is_short(word))
}

impl End {
    fn agent(&self) -> Option<&Agent> {
        match self {
            Self::Agent(agent, _) => Some(agent),
            Self::Here(_) | Self::Host(..) => None,
        }
    }

    fn open<'h>(&'h self, world: &'h World) -> Result<PlainEnd<'h>, SyncError> {
        let (host, base, path): (&dyn Host, HostPath, Option<&LocationPath>) = match self {
            Self::Here(path) => (world.client.as_ref(), world.cwd.clone(), Some(path)),
            Self::Agent(agent, path) => (agent.host.as_ref(), sync::agent_work_dir(agent)?, path.as_ref()),
            Self::Host(host, path) => {
                let home = world.home_on(host.as_ref()).cloned();
                (host.as_ref(), home.unwrap_or_else(|| HostPath::new("/")), Some(path))
            }
        };
        let whole = path.map_or_else(|| base.clone(), |path| base.join(path.path()).normalized());
        let root = match self {
            Self::Here(_) => beneath::typed_root(&whole),
            Self::Agent(..) => whole.is_within(&base).then_some(base),
            Self::Host(..) => None,
        };
        let is_contents = path.is_none_or(LocationPath::has_trailing_slash);
        Ok(PlainEnd { spot: Spot::new(host, whole), is_contents, root })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_is_known_by_any_of_its_spellings() {
        let is_dry =
            |words: &[&str]| is_dry_run(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert!(is_dry(&["--delete", "--dry-run"]) && is_dry(&["-n"]) && is_dry(&["-vn"]));
        assert!(!is_dry(&["--exclude=n", "-v"]));
    }
}
