//! `cargo xtask rooms`: an arrow between crates only ever points down.
//!
//! The floors are the ones of `ARCHITECTURE.md`. A crate uses floors below its own, never one beside or above
//! it; there are no exceptions to write down here, and none may be added.

mod bans;

use std::io;
use std::path::PathBuf;

use crate::metadata::{self, DependencyKind, MetadataError, Package};

/// Every crate the house has or will have, and where it stands.
const FLOORS: &[(&str, Place)] = &[
    ("mngr", Place::Floor(5)),
    ("mngr-tmr", Place::Floor(4)),
    ("mngr-web", Place::Floor(4)),
    ("mngr-ops", Place::Floor(3)),
    ("mngr-agents", Place::Floor(2)),
    ("mngr-docker", Place::Floor(2)),
    ("mngr-e2e", Place::Floor(2)),
    ("mngr-host", Place::Floor(1)),
    ("mngr-model", Place::Floor(0)),
    ("mngr-config", Place::Floor(0)),
    ("mngr-query", Place::Floor(0)),
    ("mngr-cast", Place::Floor(0)),
    ("mngr-testkit", Place::Aside(Aside::Testkit)),
    ("xtask", Place::Aside(Aside::Chores)),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Floor(u8),
    /// Beside the house, and no part of the binary.
    Aside(Aside),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aside {
    /// Any crate's tests may use it.
    Testkit,
    /// Nobody may use it.
    Chores,
}

/// One broken rule.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Violation {
    #[error("`{krate}` stands on no floor: give it a place in the table of `xtask/src/rooms.rs`")]
    NoFloor { krate: String },
    #[error("`{krate}` on floor {floor} uses `{used}` on floor {used_floor}, which is not below it")]
    NotDown { krate: String, floor: u8, used: String, used_floor: u8 },
    #[error("`{krate}` uses `{used}` outside its [dev-dependencies]")]
    DevOnly { krate: String, used: String },
    #[error("`{krate}` uses `{used}`, which no crate may use")]
    Chores { krate: String, used: String },
    #[error("`{krate}` stands beside the house and uses `{used}`, which is in it")]
    FromAside { krate: String, used: String },
    #[error("`{krate}` has the features {features:?}: there is one build")]
    Features { krate: String, features: Vec<String> },
    #[error("`{krate}` on floor {floor} may use `{banned}`: ban it in `{}`", file.display())]
    MissingBan { krate: String, floor: u8, banned: &'static str, file: PathBuf },
}

/// Why the chore failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RoomsError {
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is not TOML", path.display())]
    Toml { path: PathBuf, source: toml::de::Error },
    #[error("the rooms of the house are not in order (see ARCHITECTURE.md):\n{0}")]
    Violations(String),
}

/// Checks the workspace.
pub(crate) fn run() -> Result<(), RoomsError> {
    let packages = metadata::load()?.packages;
    let mut violations = check(&packages);
    for package in &packages {
        if let Some(Place::Floor(floor)) = place_of(&package.name) {
            violations.extend(bans::check(package, floor)?);
        }
    }
    if violations.is_empty() {
        println!("rooms: {} crates, every arrow points down", packages.len());
        return Ok(());
    }
    let lines: Vec<String> = violations.iter().map(|violation| format!("  - {violation}")).collect();
    Err(RoomsError::Violations(lines.join("\n")))
}

fn check(packages: &[Package]) -> Vec<Violation> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Violation> {
    let krate = package.name.clone();
    let Some(place) = place_of(&krate) else { return vec![Violation::NoFloor { krate }] };
    let mut violations = Vec::new();
    if !package.features.is_empty() {
        let features = package.features.keys().cloned().collect();
        violations.push(Violation::Features { krate: krate.clone(), features });
    }
    for dependency in &package.dependencies {
        // What is not in the table is a crate from outside, or is reported as a package of its own.
        if let Some(used) = place_of(&dependency.name) {
            violations.extend(check_edge(&krate, place, &dependency.name, used, dependency.kind));
        }
    }
    violations
}

fn check_edge(
    krate: &str,
    place: Place,
    used: &str,
    used_place: Place,
    kind: Option<DependencyKind>,
) -> Option<Violation> {
    let (krate, used) = (krate.to_owned(), used.to_owned());
    match (place, used_place) {
        (Place::Floor(floor), Place::Floor(used_floor)) => {
            (used_floor >= floor).then_some(Violation::NotDown { krate, floor, used, used_floor })
        }
        (Place::Floor(_), Place::Aside(Aside::Testkit)) => {
            (kind != Some(DependencyKind::Dev)).then_some(Violation::DevOnly { krate, used })
        }
        // The benchmark runs in the same hermetic world as the tests.
        (Place::Aside(Aside::Chores), Place::Aside(Aside::Testkit)) => None,
        (_, Place::Aside(_)) => Some(Violation::Chores { krate, used }),
        (Place::Aside(_), Place::Floor(_)) => Some(Violation::FromAside { krate, used }),
    }
}

fn place_of(krate: &str) -> Option<Place> {
    FLOORS.iter().find(|(name, _)| *name == krate).map(|(_, place)| *place)
}

#[cfg(test)]
mod tests;
