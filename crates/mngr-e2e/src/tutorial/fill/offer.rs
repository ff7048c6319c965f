//! The file in which somebody proposes blocks: one JSON object per line. Nothing in it is trusted.

use serde::Deserialize;

/// A larger file is not read.
pub const LARGEST_FILE: usize = 256 * 1024;

/// How much of a line that is no proposal is kept.
const KEPT: usize = 500;

/// A proposed block.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Offer {
    /// The gap it is for, by its title.
    pub heading: String,
    /// The block.
    pub text: String,
    /// Why this one.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A line that is no proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its beginning.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    /// Proposals and what should have been some, in their order.
    pub lines: Vec<Result<Offer, Unreadable>>,
    /// How many lines more than wanted there were.
    pub left_out: usize,
}

/// The file is not read.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// It is too large to be what was asked for.
    #[error("the proposals are {size} bytes, more than the {LARGEST_FILE} that are read")]
    TooLarge {
        /// How large it is.
        size: usize,
    },
}

/// Reads at most `max` proposals.
pub fn read_offers(bytes: &[u8], max: usize) -> Result<Offers, OfferError> {
    if bytes.len() > LARGEST_FILE {
        return Err(OfferError::TooLarge { size: bytes.len() });
    }
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = lines.by_ref().take(max).map(read).collect();
    Ok(Offers { lines: read, left_out: lines.count() })
}

fn read(line: &str) -> Result<Offer, Unreadable> {
    serde_json::from_str(line).map_err(|error| Unreadable {
        text: line.chars().take(KEPT).collect(),
        problem: format!("this is no proposal: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_lines_are_read_beside_bad_ones_and_no_more_than_wanted() {
        let bytes = b"{\"heading\":\"a\",\"text\":\"b\",\"more\":1}\n\nSure! \xff Here you go:\n{\"heading\":\"a\"}\n{}\n";
        let offers = read_offers(bytes, 3).unwrap();
        assert_eq!(offers.lines[0], Ok(Offer { heading: "a".into(), text: "b".into(), reason: None }));
        let bad = offers.lines[1].as_ref().unwrap_err();
        assert!(bad.text.starts_with("Sure! \u{fffd}") && bad.problem.starts_with("this is no"), "{bad:?}");
        assert!(offers.lines[2].as_ref().unwrap_err().problem.contains("missing field `text`"));
        assert_eq!((offers.lines.len(), offers.left_out), (3, 1));
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_as_a_whole() {
        assert!(matches!(read_offers(&vec![b'x'; LARGEST_FILE + 1], 3), Err(OfferError::TooLarge { .. })));
    }
}
