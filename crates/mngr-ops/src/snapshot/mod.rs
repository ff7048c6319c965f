//! `snapshot`: copies of hosts, where their provider can make them, and of single agents everywhere else.
//!
//! A copy of an agent is a folder on its own host: its state folder, and its files as a checkout of the same commit with
//! the same uncommitted and ignored files. It is made into an agent again by `create`, like any other source, so it can go
//! to any host. Nothing here deletes anything but snapshots.

mod copy;
mod create;
mod destroy;
mod error;
mod find;
mod list;
mod manifest;
mod restore;
mod settle;
mod store;

pub use create::{OnError, SnapshotRequest, Taken, TakenAll, create};
pub use destroy::{Which, destroy, plan_destroy};
pub use error::SnapshotError;
pub(crate) use find::of_host;
pub use list::{Kept, Listing, list};
pub use manifest::Form;
pub use restore::{RestoreRequest, Restored, restore};
pub use settle::SettledAgent;
pub(crate) use settle::settle_copies;
pub(crate) use store::{open, repositories};
