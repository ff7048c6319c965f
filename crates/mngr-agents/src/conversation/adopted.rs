//! How much of an agent's conversation was there before the agent: what it adopted was paid for by somebody else.
//!
//! A note of how long each file was. Clocks would not do: the conversation may come from a machine with another one.

use std::collections::BTreeMap;

use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_model::HostPath;

use crate::ordinary::read_ordinary;
use crate::transcript::Brand;

/// The note, relative to the agent's state folder.
pub(crate) const ADOPTED: &str = "adopted.json";

/// Notes that everything of this brand in the state folder was adopted.
pub fn note_adopted(files: &dyn Files, state: &HostPath, brand: Brand) -> Result<(), FilesError> {
    let found = brand.sizes(files, state)?.into_iter();
    let below = |path: &HostPath| path.as_str().strip_prefix(state.as_str()).map(|rest| rest[1..].to_owned());
    let lengths: BTreeMap<String, u64> =
        found.filter_map(|(path, size)| Some((below(&path)?, size))).collect();
    let text = serde_json::to_vec(&lengths).unwrap_or_default();
    files.write(&state.join(ADOPTED), &text, Access::Private, Durability::Cached)
}

/// How much of each file was adopted.
pub(crate) fn adopted(files: &dyn Files, state: &HostPath) -> Result<BTreeMap<HostPath, u64>, FilesError> {
    let text = read_ordinary(files, &state.join(ADOPTED))?.unwrap_or_default();
    let lengths: BTreeMap<String, u64> = serde_json::from_slice(&text).unwrap_or_default();
    Ok(lengths.into_iter().map(|(path, length)| (state.join(&path), length)).collect())
}
