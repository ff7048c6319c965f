//! Lists of pages from the outside.
//!
//! Scope: what `PageList` promises to those who use the crate.

mod common;

use common::{assert_refused, list, pairs};
use pages::{describe, PageList, Range};

/// A list is shown as it was written, in order.
#[test]
fn reads_and_shows() {
    let list = list("7, 1-3,12-");
    assert_eq!(list.to_string(), "1-3,7,12-20");
    assert_eq!(list.len(), 13);
    assert!(!list.is_empty());
}

/// Ranges that touch become one.
///
/// Scope: overlapping ranges, neighbours, and a range that closes a gap.
#[test]
fn joins_ranges() {
    assert_eq!(pairs(&list("1-3,2-5")), [(1, 5)]);
    assert_eq!(pairs(&list("1-3,4-5")), [(1, 5)]);
    assert_eq!(pairs(&list("1-2,8-9,3-7")), [(1, 9)]);
    assert_eq!(pairs(&list("5,1")), [(1, 1), (5, 5)]);
}

// The ends belong to the range.
#[test]
fn contains_pages() {
    let list = list("2-4,9");
    let inside: Vec<u32> = (1..=20).filter(|page| list.contains(*page)).collect();
    if inside != [2, 3, 4, 9] {
        eprintln!("the pages are {inside:?}");
    }
}

/// A list with one mistake is refused as a whole.
#[test]
fn refuses_mistakes() {
    assert_refused("1,,3", "no pages");
    assert_refused("1,two", "not a page: `two`");
    assert_refused("0", "pages are counted from 1");
    assert_refused("1,9-3", "9-3 runs backwards");
}

/// Without a document a list has no end.
#[test]
fn parses_from_text() -> Result<(), Box<dyn std::error::Error>> {
    let list: PageList = "3-5,9".parse()?;
    assert_eq!(list.ranges(), [Range { first: 3, last: 5 }, Range { first: 9, last: 9 }]);
    assert!("x".parse::<PageList>().is_err());
    Ok(())
}

/// Descriptions are those of the golden file.
#[test]
fn describes() {
    let golden = include_str!("golden/descriptions.txt");
    let mut lines = 0;
    for line in golden.lines() {
        let (text, expected) = line.split_once(": ").unwrap();
        assert_eq!(describe(&list(text), true), expected);
        lines += 1;
    }
    assert_eq!(lines, 3);
    assert_eq!(describe(&list("4"), false), "1 page on 1 sheet, one side");
}
