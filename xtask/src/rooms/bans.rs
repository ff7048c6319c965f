//! Whether the `clippy.toml` of a crate keeps it on its floor.
//!
//! clippy enforces the bans; this only sees to it that none is forgotten, because a crate's own file replaces
//! the one at the root.

use std::fs;
use std::io;

use toml::Table;
use toml::Value;

use super::{RoomsError, Violation};
use crate::metadata::Package;

/// Pure crates: no files, no processes, no environment, no clock.
const FLOOR_0: &[&str] = &[
    "std::fs",
    "std::process::Command",
    "std::env",
    "std::time::SystemTime::now",
    "std::time::Instant::now",
];
/// Crates that reach the machine through `mngr-host`.
const FLOORS_2_TO_4: &[&str] = &["std::fs", "std::process::Command"];
/// What the file at the root bans for every crate.
const EVERYWHERE: &[&str] = &["std::env::set_var", "std::process::exit"];

/// The bans that a crate on this floor lacks.
pub(super) fn check(package: &Package, floor: u8) -> Result<Vec<Violation>, RoomsError> {
    let needed: &[&str] = match floor {
        0 => FLOOR_0,
        2..=4 => FLOORS_2_TO_4,
        _ => &[],
    };
    let path = package.folder().join("clippy.toml");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // Without a file of its own the one at the root holds.
        Err(error) if error.kind() == io::ErrorKind::NotFound && needed.is_empty() => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(RoomsError::Read { path, source }),
    };
    let table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(source) => return Err(RoomsError::Toml { path, source }),
    };
    let banned = banned_paths(&table);
    let missing = needed.iter().chain(EVERYWHERE).filter(|ban| !covers(&banned, ban));
    let violation = |ban: &&'static str| Violation::MissingBan {
        krate: package.name.clone(),
        floor,
        banned: ban,
        file: path.clone(),
    };
    Ok(missing.map(violation).collect())
}

/// A module is banned by banning what is in it: clippy knows paths of functions and types, not of modules.
fn covers(banned: &[&str], needed: &str) -> bool {
    let inside = |path: &str| path.strip_prefix(needed).is_some_and(|rest| rest.starts_with("::"));
    banned.iter().any(|path| *path == needed || inside(path))
}

fn banned_paths(table: &Table) -> Vec<&str> {
    ["disallowed-methods", "disallowed-types", "disallowed-macros"]
        .into_iter()
        .filter_map(|key| table.get(key)?.as_array())
        .flatten()
        .filter_map(|entry| match entry {
            Value::String(path) => Some(path.as_str()),
            entry => entry.get("path")?.as_str(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_spellings_of_a_ban() {
        let table: Table = r#"
            disallowed-methods = ["std::fs::read", { path = "std::env::var", reason = "pure" }]
            disallowed-types = [{ path = "std::process::Command" }]
        "#
        .parse()
        .unwrap();
        assert_eq!(banned_paths(&table), ["std::fs::read", "std::env::var", "std::process::Command"]);
    }

    #[test]
    fn a_module_is_covered_by_a_ban_inside_it_only() {
        assert!(covers(&["std::fs::read"], "std::fs"));
        assert!(covers(&["std::process::Command"], "std::process::Command"));
        assert!(covers(&["std::process::Command::new"], "std::process::Command"));
        assert!(!covers(&["std::fs_other::read"], "std::fs"));
        assert!(!covers(&[], "std::fs"));
    }
}
