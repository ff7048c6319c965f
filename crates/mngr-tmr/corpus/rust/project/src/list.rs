//! Many ranges as one list.

use std::fmt;
use std::str::FromStr;

use crate::range::{parse_range, PageError, Range};

/// Ranges in order, none of which joins another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageList {
    ranges: Vec<Range>,
}

impl PageList {
    /// Reads a list of a document with that many pages.
    pub fn parse(text: &str, pages: u32) -> Result<PageList, PageError> {
        let mut list = PageList::default();
        for part in text.split(',') {
            list.add(parse_range(part, pages)?);
        }
        Ok(list)
    }

    /// Adds a range, and joins what touches it.
    pub fn add(&mut self, range: Range) {
        let mut joined = range;
        self.ranges.retain(|other| {
            if other.joins(&joined) {
                joined = Range { first: joined.first.min(other.first), last: joined.last.max(other.last) };
                false
            } else {
                true
            }
        });
        let place = self.ranges.partition_point(|other| other.first < joined.first);
        self.ranges.insert(place, joined);
    }

    /// The ranges.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// How many pages there are.
    pub fn len(&self) -> u32 {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether a page is in it.
    pub fn contains(&self, page: u32) -> bool {
        self.ranges.iter().any(|range| range.first <= page && page <= range.last)
    }
}

impl FromStr for PageList {
    type Err = PageError;

    fn from_str(text: &str) -> Result<PageList, PageError> {
        PageList::parse(text, u32::MAX)
    }
}

impl fmt::Display for PageList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.ranges.iter().map(Range::to_string).collect();
        f.write_str(&parts.join(","))
    }
}
