//! Providers and hosts that do not answer, hosts that mngr made and nobody uses, storage of hosts that are gone.

use std::sync::Arc;

use mngr_host::provider::HostEntry;

use super::finding::Finding;
use super::place::{self, Place};
use crate::hosts;
use crate::world::World;

const PROVIDERS: &str = "providers";
const HOSTS: &str = "hosts";
const STORAGE: &str = "storage";

/// The hosts of all providers, and the providers that cannot be asked.
pub(super) fn providers(world: &World) -> (Vec<Arc<dyn HostEntry>>, Vec<Finding>) {
    let (entries, failures) = hosts::entries(world, |_| true);
    let told = failures.into_iter().map(|failure| {
        Finding::fail(PROVIDERS, failure.message)
            .because("what it holds is not known, so `list` may show too little")
            .advise(format!(
                "mend it, or switch it off: `mngr config set providers.{}.is_enabled false`",
                failure.provider
            ))
    });
    (entries, told.collect())
}

/// What a look at one host came to.
#[derive(Default)]
pub(super) struct Looked {
    /// The host, if it answered.
    pub(super) place: Option<Place>,
    /// What is to be said of it.
    pub(super) found: Vec<Finding>,
    /// Whether agents may be there that were not seen.
    pub(super) is_silent: bool,
}

/// Opens one host and looks at it. One that does not run is not started.
pub(super) fn look(world: &World, entry: &dyn HostEntry) -> Looked {
    let address = format!("{}.{}", entry.name(), entry.provider());
    if crate::fleet::is_off(entry.report().state) {
        return Looked { is_silent: true, ..Looked::default() };
    }
    let silent = |error: &dyn std::error::Error| {
        let found = Finding::fail(HOSTS, crate::error_chain(error))
            .because("its agents cannot be seen or reached")
            .advise("see whether it runs and lets you in; `mngr list --hosts` shows what is known of it");
        Looked { place: None, found: vec![found.at(&address)], is_silent: true }
    };
    match entry.open() {
        Ok(None) => Looked::default(),
        Err(error) => silent(&error),
        Ok(Some(host)) => match Place::look(host, place::limit(world, entry.provider())) {
            Err(error) => silent(&error),
            Ok(place) => {
                let empty = unused(world, &place).map(|found| found.at(&address));
                let broken = broken(&place).into_iter().map(|found| found.at(&address));
                let found = empty.into_iter().chain(broken).collect();
                Looked { place: Some(place), found, is_silent: false }
            }
        },
    }
}

/// A host of our own making that runs for nobody. It may be wanted for the next agent, so it is only told.
fn unused(world: &World, place: &Place) -> Option<Finding> {
    world.maker_of(place.host.as_ref())?;
    let is_empty = place.survey.agents.is_empty() && place.survey.journals.is_empty();
    (is_empty && place.survey.broken.is_empty()).then(|| {
        Finding::warn(HOSTS, "it runs and no agent is on it")
            .because("it takes up memory, and perhaps costs money")
            .advise(format!(
                "`mngr stop @{0}`, after which `mngr gc` removes it one day, or `mngr destroy @{0}`",
                place.address()
            ))
    })
}

fn broken(place: &Place) -> Vec<Finding> {
    let told = |folder: &str, problem: &str| {
        let path = place.host.layout().agents().join(folder);
        Finding::fail("agents", format!("the agent folder `{path}` cannot be read: {problem}"))
            .because("an agent whose record is broken can be neither used nor destroyed")
            .advise("mend its `data.json`, or move the folder away")
    };
    place.survey.broken.iter().map(|agent| told(&agent.folder, &agent.problem)).collect()
}

/// A host that answered at first and then took too long.
pub(super) fn late(place: &Place) -> Finding {
    Finding::fail(HOSTS, format!("it did not answer within {} s", place.limit.as_secs_f32()))
        .because("not everything there was examined, and nothing there is put right")
        .advise("see whether it is busy or hangs, then run `mngr doctor` again")
}

/// Everybody was reached.
pub(super) fn all_answered(places: &[Place]) -> Finding {
    let agents: usize = places.iter().map(|place| place.survey.agents.len()).sum();
    Finding::ok(HOSTS, format!("{} host(s) answered, with {agents} agent(s)", places.len()))
}

/// Storage whose host is gone.
pub(super) fn storage(world: &World) -> Vec<Finding> {
    let mut found = Vec::new();
    for provider in &world.providers {
        // Whoever cannot be asked was told of already.
        let left = provider.maker().and_then(|maker| maker.abandoned_storage().ok()).unwrap_or_default();
        found.extend(left.into_iter().map(|name| {
            Finding::warn(STORAGE, format!("`{name}` of provider `{}` belongs to no host", provider.name()))
                .because("the host was removed by other means than mngr; its agents' work may be in there")
                .advise(format!("look into it, then remove it, as with `docker volume rm {name}`"))
        }));
    }
    found
}
