//! Lists of pages as people write them for a printer: `1-3,7,12-`.

mod layout;
mod list;
mod range;

pub use layout::{count_sheets, describe, wrap};
pub use list::PageList;
pub use range::{parse_range, PageError, Range};
