//! Putting lines into a file and taking them out again, with every other byte left as it is.

use std::ops::RangeInclusive;

/// Where each line begins, and where the last one ends.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    if starts.last() != Some(&bytes.len()) {
        starts.push(bytes.len());
    }
    starts
}

/// The text as a paragraph of its own after a line (counted from 1) that ends one.
pub(super) fn insert_after(bytes: &[u8], line: usize, text: &str) -> Vec<u8> {
    let starts = starts(bytes);
    let at = starts.get(line).copied().unwrap_or(bytes.len());
    let (before, after) = bytes.split_at(at);
    let newline: &[u8] = if bytes.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    let mut result = before.to_vec();
    if !before.is_empty() && !before.ends_with(b"\n") {
        result.extend(newline);
    }
    if !before.is_empty() {
        result.extend(newline);
    }
    for line in text.lines() {
        result.extend(line.as_bytes());
        result.extend(newline);
    }
    result.extend(after);
    result
}

/// Without these lines, counted from 1.
pub(super) fn remove(bytes: &[u8], lines: RangeInclusive<usize>) -> Vec<u8> {
    let starts = starts(bytes);
    let at = |line: usize| starts.get(line).copied().unwrap_or(bytes.len());
    [&bytes[..at(lines.start() - 1)], &bytes[at(*lines.end())..]].concat()
}

/// The number of the first line that says this, white space around it aside.
pub(super) fn find_line(bytes: &[u8], text: &str) -> Option<usize> {
    let line = bytes.split(|byte| *byte == b'\n').position(|line| line.trim_ascii() == text.as_bytes())?;
    Some(line + 1)
}

/// Whether there is nothing on this line, counted from 1.
pub(super) fn is_empty(bytes: &[u8], line: usize) -> bool {
    let found = line.checked_sub(1).and_then(|at| bytes.split(|byte| *byte == b'\n').nth(at));
    found.is_some_and(|line| line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_other_bytes_stay_as_they_are() {
        assert_eq!(insert_after(b"# a\n\n\xffb\n", 1, "x\ny"), b"# a\n\nx\ny\n\n\xffb\n");
        assert_eq!(insert_after(b"# a\r\n\r\nb", 1, "x"), b"# a\r\n\r\nx\r\n\r\nb");
        assert_eq!(insert_after(b"# a", 1, "x"), b"# a\n\nx\n");
        assert_eq!(insert_after(b"", 0, "x"), b"x\n");
    }

    #[test]
    fn what_was_put_in_can_be_taken_out() {
        let before = b"# a\n\nb\n";
        let with = insert_after(before, 1, "x\ny");
        assert_eq!(find_line(&with, "x"), Some(3));
        assert!(is_empty(&with, 2) && !is_empty(&with, 3) && !is_empty(&with, 0));
        assert_eq!(remove(&with, 2..=4), before);
        assert_eq!(remove(b"a\nb", 2..=2), b"a\n");
    }
}
