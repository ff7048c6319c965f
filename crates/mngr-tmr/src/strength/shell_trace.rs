//! Where a test written in `sh` fails: its own trace, because no framework tells. Pure.

/// What a traced line begins with. No program prints it by chance.
const MARK: &str = "+mngr-line:";

/// The script with its trace switched on; no line moves.
pub(super) fn traced(text: &str) -> String {
    let switch = format!("PS4='{MARK}$LINENO: '; set -x; ");
    match text.strip_prefix("#!").and_then(|rest| rest.split_once('\n')) {
        Some((first, rest)) => format!("#!{first}\n{switch}{rest}"),
        None => format!("{switch}{text}"),
    }
}

/// The lines that were run, in order, as the trace tells them.
pub(super) fn lines(printed: &str) -> Vec<usize> {
    let numbers = printed.lines().filter_map(|line| {
        // Commands inside of others repeat the first character.
        let rest = line.trim_start_matches('+').strip_prefix(&MARK[1..])?;
        rest.split_once(':')?.0.parse().ok()
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_switched_on_without_moving_a_line() {
        assert_eq!(traced("#!/bin/sh\nset -e\ntrue\n").lines().count(), 3);
        assert!(traced("#!/bin/sh\nset -e\n").starts_with("#!/bin/sh\nPS4="));
        assert!(traced("true\n").starts_with("PS4="));
        assert!(traced("#!/bin/sh\n# comment\ntrue\n").lines().nth(1).unwrap().ends_with("# comment"));
    }

    #[test]
    fn only_the_trace_is_read() {
        let printed = "+mngr-line:2: set -e\nout\n++mngr-line:3: add 1 2\n+mngr-line:3: '[' 3 = 4 ']'\n";
        assert_eq!(lines(printed), [2, 3, 3]);
    }
}
