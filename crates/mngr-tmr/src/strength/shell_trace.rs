//! Where a test written in `sh` fails: it says which of its assertions it comes to, because no framework tells. Pure.

use std::ops::RangeInclusive;

/// What a line that is told begins with. No program prints it by chance.
const MARK: &str = "+mngr-line:";

/// The script, which tells the line of each of these statements before it is run. No line moves.
pub(super) fn traced(text: &str, statements: &[RangeInclusive<usize>]) -> String {
    let is_told = |line: usize| statements.iter().any(|lines| *lines.start() == line);
    let mut traced = String::with_capacity(text.len() + statements.len() * 32);
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if is_told(at + 1) {
            let indent = line.len() - line.trim_start().len();
            traced.push_str(&line[..indent]);
            traced.push_str(&format!("echo '{MARK}{}:' >&2; ", at + 1));
            traced.push_str(&line[indent..]);
        } else {
            traced.push_str(line);
        }
    }
    traced
}

/// The last line that was told.
pub(super) fn last_line(printed: &str) -> Option<usize> {
    let mut numbers = printed.lines().rev().filter_map(|line| {
        let told = line.split_once(MARK)?.1;
        told.split_once(':')?.0.parse().ok()
    });
    numbers.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_tell_their_line_and_no_line_moves() {
        let text = "#!/bin/sh\nset -e\n  [ 1 = 1 ]\nequal 1 2\n";
        let told = traced(text, &[3..=3, 4..=4]);
        assert_eq!(told.lines().count(), 4);
        assert_eq!(told.lines().nth(2), Some("  echo '+mngr-line:3:' >&2; [ 1 = 1 ]"));
        assert_eq!(told.lines().nth(1), Some("set -e"));
    }

    #[test]
    fn the_last_line_that_was_told_is_where_it_ended() {
        assert_eq!(last_line("out\n+mngr-line:3:\nx\nno newline+mngr-line:12:\nwrong\n"), Some(12));
        assert_eq!(last_line("nothing"), None);
    }
}
