//! `undo`: a destroyed agent comes back from the trash.

mod error;
mod list;
mod run;

pub use error::UndoError;
pub use list::{DamagedTrash, Sizes, TrashEntry, TrashList, list};
pub use run::{Restored, Resumed, resume, undo};
