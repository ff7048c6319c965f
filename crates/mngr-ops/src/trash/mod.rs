//! What a destroyed agent becomes: a folder in the trash that holds everything needed to bring it back.
//!
//! Shared by `destroy`, `undo` and `gc`. Nothing here deletes work; only `gc` does.

mod bring_back;
mod error;
mod examine;
mod manifest;
mod put_away;
mod rebuild;
mod store;
mod strays;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use bring_back::{bring_back, drop_rescues, keep_late_commits, refuse_links, signs_of_return};
pub use error::TrashError;
pub(crate) use examine::{Fate, Neighbours, examine, fate, signs};
pub(crate) use manifest::{KeptReason, Manifest, Request, Work};
pub(crate) use put_away::{BranchRemoval, put_away, remove_branch};
pub(crate) use rebuild::{read_or_rebuild, rebuild};
pub(crate) use store::{
    DamagedEntry, Entries, cold_entries, drop_unused, entries, expired_manifest, is_unused, manifest_change,
    manifest_in, read_expired, read_manifest, size_of, write_manifest,
};
pub(crate) use strays::{Stray, StrayPlace, set_aside, stray_state, stray_work, told};
