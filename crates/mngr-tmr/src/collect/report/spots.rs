//! Where a test failed, found in what its framework says of the failure.

use std::sync::LazyLock;

use regex::Regex;

use super::super::outcome::Spot;

/// Folders in a checkout that hold what others wrote.
const FOREIGN: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];

#[expect(clippy::expect_used, reason = "compiled-in patterns that tests compile")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a built-in pattern is valid")
}

/// `tests/test_a.py:12: in test_b`, or `tests/test_a.py:12: AssertionError`.
static PYTHON: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^(?P<path>[^\s:][^:\n]*):(?P<line>\d+): "));
/// `panicked at tests/a.rs:12:5`; of a backtrace `at ./src/lib.rs:7:15`.
static RUST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)(?:panicked at |^\s+at )(?P<path>[^\n:]+\.rs):(?P<line>\d+)(?::\d+)?"));
/// `    a_test.go:12: text`; of a panic `\t/root/a_test.go:12 +0x1d`.
static GO: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s+(?P<path>[^\s:][^:\n]*\.go):(?P<line>\d+)(?::|\s|$)"));
/// `at add (/root/src/a.js:2:25)`, `at /root/src/a.js:2:25`, `at file:///root/src/a.js:2:25`.
static JAVASCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^\s+at (?:.*\()?(?:async )?(?:file://)?(?P<path>[^\n():]+):(?P<line>\d+):\d+\)?$")
});

/// The steps of a failure in Python.
pub(super) fn of_python(text: &str, root: &str) -> Vec<Spot> {
    // What the exception says is marked and may look like a place.
    let without_message: Vec<&str> = text.lines().filter(|line| !line.starts_with("E ")).collect();
    all(&PYTHON, &without_message.join("\n"), root)
}

/// The steps of a failure in Rust.
pub(super) fn of_rust(text: &str, root: &str) -> Vec<Spot> {
    innermost_last(all(&RUST, text, root))
}

/// The steps of a failure in Go.
pub(super) fn of_go(text: &str, root: &str) -> Vec<Spot> {
    innermost_last(all(&GO, text, root))
}

/// The steps of a failure in JavaScript.
pub(super) fn of_javascript(text: &str, root: &str) -> Vec<Spot> {
    innermost_last(all(&JAVASCRIPT, text, root))
}

fn innermost_last(mut spots: Vec<Spot>) -> Vec<Spot> {
    spots.reverse();
    spots.dedup();
    spots
}

fn all(pattern: &Regex, text: &str, root: &str) -> Vec<Spot> {
    let spots = pattern.captures_iter(text).filter_map(|found| {
        let path = in_checkout(found.name("path")?.as_str(), root)?;
        Some(Spot { path, line: found.name("line")?.as_str().parse().ok()? })
    });
    spots.collect()
}

/// The path as it is in the checkout; nothing for files elsewhere.
pub(super) fn in_checkout(path: &str, root: &str) -> Option<String> {
    let path = match path.strip_prefix(root) {
        Some(rest) => rest.strip_prefix('/')?,
        None => path,
    };
    let path = path.trim_start_matches("./");
    let is_foreign = |part: &str| part == ".." || FOREIGN.contains(&part);
    let is_here = !path.is_empty() && !path.starts_with(['/', '<']) && !path.split('/').any(is_foreign);
    is_here.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(spots: &[Spot]) -> Vec<String> {
        spots.iter().map(|spot| format!("{}:{}", spot.path, spot.line)).collect()
    }

    #[test]
    fn steps_in_python_are_found_and_what_the_exception_says_is_not_one() {
        let text = "tests/test_a.py:6: in test_bad\n    prog.divide(1, 0)\n/p/src/prog.py:2: in divide\n    return a / b\n\
            /usr/lib/python3/os.py:3: in x\n../else.py:1: in y\n.venv/lib/site-packages/z.py:1: in z\n\
            E   tests/test_b.py:9: in fake\nE   ZeroDivisionError: division by zero\n";
        assert_eq!(shown(&of_python(text, "/p")), ["tests/test_a.py:6", "src/prog.py:2"]);
        let long =
            "    def test_x():\n>       assert 0\nE       assert 0\n\ntests/test_a.py:3: AssertionError";
        assert_eq!(shown(&of_python(long, "/p")), ["tests/test_a.py:3"]);
    }

    #[test]
    fn steps_in_rust_are_found_with_and_without_a_backtrace() {
        let plain = "\nthread 'outer' (29693) panicked at tests/it.rs:2:14:\nassertion failed\n";
        assert_eq!(shown(&of_rust(plain, "/p")), ["tests/it.rs:2"]);
        let backtrace = "thread 'x' panicked at src/lib.rs:1:37:\nbig\nstack backtrace:\n   1: core::panicking::panic_fmt\n\
             \x20            at /rustc/59/library/core/src/panicking.rs:80:14\n   2: small::add\n\
             \x20            at ./src/lib.rs:1:37\n   3: small::breaks\n             at ./tests/a.rs:7:15\n";
        assert_eq!(shown(&of_rust(backtrace, "/p")), ["tests/a.rs:7", "src/lib.rs:1"]);
    }

    #[test]
    fn steps_in_go_and_javascript_are_found() {
        let go = "    a_test.go:4: no\n";
        assert_eq!(shown(&of_go(go, "/p")), ["a_test.go:4"]);
        let panic = "panic: x\n\ngoroutine 7 [running]:\nm.f(...)\n\t/p/a.go:3\nm.TestX(0xc0)\n\t/p/a_test.go:6 +0x25\n\
            testing.tRunner()\n\t/usr/lib/go/src/testing/testing.go:1 +0x1\n";
        assert_eq!(shown(&of_go(panic, "/p")), ["a_test.go:6", "a.go:3"]);
        let js = "Error: boom\n    at boom (/p/src/a.js:2:25)\n    at /p/src/a.test.js:13:22\n    at async run (file:///p/src/b.js:1:2)\n    \
            at file:///p/node_modules/@vitest/runner/x.js:302:11\n    at new Promise (<anonymous>)";
        assert_eq!(shown(&of_javascript(js, "/p")), ["src/b.js:1", "src/a.test.js:13", "src/a.js:2"]);
    }
}
