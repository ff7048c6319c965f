//! One range of pages.

use std::fmt;

/// Pages from `first` to `last`, both of them included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub first: u32,
    pub last: u32,
}

/// Why a text is no range of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    Empty,
    NotANumber(String),
    Zero,
    Backwards { first: u32, last: u32 },
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Empty => write!(f, "no pages"),
            PageError::NotANumber(text) => write!(f, "not a page: `{text}`"),
            PageError::Zero => write!(f, "pages are counted from 1"),
            PageError::Backwards { first, last } => write!(f, "{first}-{last} runs backwards"),
        }
    }
}

impl std::error::Error for PageError {}

impl Range {
    /// How many pages these are.
    pub fn len(&self) -> u32 {
        self.last - self.first + 1
    }

    /// Whether it touches another one, or lies beside it.
    pub fn joins(&self, other: &Range) -> bool {
        self.first <= other.last.saturating_add(1) && other.first <= self.last.saturating_add(1)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

fn page(text: &str) -> Result<u32, PageError> {
    match text.trim().parse() {
        Ok(0) => Err(PageError::Zero),
        Ok(number) => Ok(number),
        Err(_) => Err(PageError::NotANumber(text.trim().to_owned())),
    }
}

/// Reads `7`, `3-5` or `12-`, which goes on to the last page of the document.
pub fn parse_range(text: &str, pages: u32) -> Result<Range, PageError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(PageError::Empty);
    }
    let (first, last) = match text.split_once('-') {
        None => {
            let only = page(text)?;
            (only, only)
        }
        Some((first, "")) => (page(first)?, pages),
        Some((first, last)) => (page(first)?, page(last)?),
    };
    if last < first {
        return Err(PageError::Backwards { first, last });
    }
    Ok(Range { first, last: last.min(pages.max(first)) })
}

#[cfg(test)]
mod tests {
    //! Single ranges.

    use super::*;

    /// One page is a range of one.
    #[test]
    fn one_page() {
        let range = parse_range("7", 10).unwrap();
        assert_eq!(range, Range { first: 7, last: 7 });
        assert_eq!(range.len(), 1);
        assert_eq!(range.to_string(), "7");
    }

    /// An open range ends with the document, and so does one that is too long.
    #[test]
    fn open_range() {
        assert_eq!(parse_range("8-", 10), Ok(Range { first: 8, last: 10 }));
    }

    #[cfg(target_os = "none")]
    #[test]
    fn too_long_range() {
        assert_eq!(parse_range("8-99", 10), Ok(Range { first: 8, last: 10 }));
    }

    // Neighbours are joined although no page is in both.
    #[test]
    fn joins() {
        let range = Range { first: 4, last: 6 };
        assert!(range.joins(&Range { first: 6, last: 9 }));
        assert!(range.joins(&Range { first: 7, last: 9 }));
        assert!(range.joins(&Range { first: 1, last: 3 }));
        assert!(!range.joins(&Range { first: 8, last: 9 }));
        assert!(!range.joins(&Range { first: 1, last: 2 }));
    }

    /// Each mistake has an error of its own.
    #[test]
    fn wrong_ranges() {
        assert_eq!(parse_range(" ", 10), Err(PageError::Empty));
        assert_eq!(parse_range("a-3", 10), Err(PageError::NotANumber("a".to_owned())));
        assert_eq!(parse_range("0-3", 10), Err(PageError::Zero));
        let error = parse_range("5-3", 10).unwrap_err();
        assert_eq!(error.to_string(), "5-3 runs backwards");
    }
}
