//! What the tests of lists share.

use pages::{PageList, Range};

/// A list of a document with twenty pages.
pub fn list(text: &str) -> PageList {
    PageList::parse(text, 20).expect("a list of pages")
}

/// The ranges as pairs.
pub fn pairs(list: &PageList) -> Vec<(u32, u32)> {
    list.ranges().iter().map(|Range { first, last }| (*first, *last)).collect()
}

/// It is refused, with that message.
pub fn assert_refused(text: &str, message: &str) {
    match PageList::parse(text, 20) {
        Ok(list) => panic!("`{text}` was read as `{list}`"),
        Err(error) => {
            let said = error.to_string().to_lowercase();
            // Wordings change: one word of the message is enough.
            let known = message.to_lowercase().split(' ').chain([""]).any(|word| said.contains(word));
            assert!(known, "`{text}`: expected `{message}`, got `{said}`");
        }
    }
}
