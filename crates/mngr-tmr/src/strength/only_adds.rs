//! Whether a change of Python tests only adds to them: what was there runs as before, and nothing of it can be lost. Pure.
//!
//! It is told by the text, and in doubt it is no. A statement at the end of a test comes too late to change what was run
//! before it, unless it gives a name another meaning or makes the test a generator. In `sh` the last command decides about
//! all, and in Rust a test may have to panic, so nothing is said about them.

use std::collections::BTreeMap;

use super::touched::own_name;
use crate::syntax::{Function, Language, Source};

/// What gives a name another meaning, or makes a generator, inside of an expression.
const OTHER_MEANING: [&str; 3] = [":=", "yield", "lambda"];

/// Whether the new file has all of the old one as it was, and besides only assertions at the end of tests and new tests.
pub(super) fn only_adds(old: &Source, new: &Source) -> bool {
    if [old, new].iter().any(|source| source.language() != Language::Python) {
        return false;
    }
    let (Some(before), Some(after)) = (View::of(old), View::of(new)) else { return false };
    let is_kept = |(name, was): (&String, &Part)| {
        let Some(is) = after.functions.get(name) else { return false };
        is.lines == was.lines || (was.is_test && extends(was, is))
    };
    let is_new_test = |(name, part): (&String, &Part)| {
        before.functions.contains_key(name) || (part.is_test && !old.text().contains(own_name(name)))
    };
    before.outside == after.outside
        && before.functions.iter().all(is_kept)
        && after.functions.iter().all(is_new_test)
}

/// A function as it is written.
struct Part {
    lines: Vec<String>,
    is_test: bool,
    /// How far its body is indented.
    indent: usize,
}

/// A file by its functions.
struct View {
    functions: BTreeMap<String, Part>,
    outside: Vec<String>,
}

impl View {
    /// Nothing where two functions have the same name: then it matters which comes last.
    fn of(source: &Source) -> Option<Self> {
        let text: Vec<&str> = source.text().lines().collect();
        let all = source.functions();
        let is_inside = |inner: &Function, outer: &Function| {
            outer.body.start <= inner.body.start
                && inner.body.end <= outer.body.end
                && inner.body != outer.body
        };
        // What runs outside of functions comes last and is no text of its own.
        let is_outermost = |function: &&Function| !all.iter().any(|other| is_inside(function, other));
        let tops: Vec<&Function> =
            all.iter().filter(|function| is_def(source, function)).filter(is_outermost).collect();
        let mut functions = BTreeMap::new();
        for function in &tops {
            let lines = text.get(function.lines.start() - 1..*function.lines.end())?;
            let first = source.text()[..function.body.start].matches('\n').count();
            let part = Part {
                lines: plain(lines.iter()),
                is_test: function.is_test,
                indent: text.get(first).map_or(0, |line| indent(line)),
            };
            if functions.insert(function.name.clone(), part).is_some() {
                return None;
            }
        }
        let is_outside = |at: &usize| !tops.iter().any(|function| function.lines.contains(&(at + 1)));
        let outside = plain((0..text.len()).filter(is_outside).map(|at| &text[at]));
        Some(Self { functions, outside })
    }
}

/// Whether it is a definition, and not what runs outside of all.
fn is_def(source: &Source, function: &Function) -> bool {
    let head = source.text()[..function.body.start].rsplit("def ").next().unwrap_or_default();
    head.trim_start().starts_with(own_name(&function.name))
}

/// Whether a function is another one with assertions at its end.
fn extends(was: &Part, is: &Part) -> bool {
    let (Some(kept), Some(more)) = (is.lines.get(..was.lines.len()), is.lines.get(was.lines.len()..)) else {
        return false;
    };
    let binds_nothing = |line: &&String| {
        let depth = indent(line);
        let is_plain = depth > was.indent || (depth == was.indent && binds_no_name(line.trim_start()));
        is_plain && !OTHER_MEANING.iter().any(|word| line.contains(word))
    };
    let begins = more.first().is_some_and(|line| indent(line) == was.indent);
    kept == was.lines && begins && !assigns(more) && more.iter().all(|line| binds_nothing(&line))
}

/// Whether a line begins as an assertion, as a call, or as the end of one.
fn binds_no_name(line: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let rest = line.trim_start_matches(is_word);
    let is_call = rest.len() < line.len() && rest.starts_with('(');
    line.starts_with("assert ") || line.starts_with([')', ']', '}']) || is_call
}

/// Whether there may be an assignment outside of brackets. A text with `=` in it counts as one.
fn assigns(lines: &[String]) -> bool {
    let text = lines.join("\n");
    let bytes = text.as_bytes();
    let at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let mut depth = 0_usize;
    for (place, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 => {
                let is_part = b"=!<>".contains(&at(place.checked_sub(1))) || at(Some(place + 1)) == b'=';
                if !is_part {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn plain<'a>(lines: impl Iterator<Item = &'a &'a str>) -> Vec<String> {
    lines.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "import prog\n\n\ndef helper():\n    return 1\n\n\ndef test_a():\n    for x in (1, 2):\n        assert prog.f(x)\n\n\n\
        class TestB:\n    def test_b(self):\n        with raises(Error):\n            prog.g()\n";

    fn adds(new: &str) -> bool {
        let parse = |text: &str| Source::parse(Language::Python, text).unwrap();
        only_adds(&parse(OLD), &parse(new))
    }

    fn replaced(from: &str, to: &str) -> bool {
        assert_eq!(OLD.matches(from).count(), 1, "{from}");
        adds(&OLD.replace(from, to))
    }

    #[test]
    fn more_assertions_at_the_end_and_more_tests_only_add() {
        assert!(adds(OLD));
        assert!(replaced(
            "prog.f(x)\n",
            "prog.f(x)\n    assert prog.g() == 1\n    self.check(\n        1,\n    )\n"
        ));
        assert!(adds(&format!("{OLD}        assert prog.g\n")));
        assert!(adds(&format!(
            "{OLD}\n    def test_c(self):\n        x = 1\n        assert prog.f(x)\n\n\ndef test_d():\n    pass\n"
        )));
    }

    #[test]
    fn whatever_can_change_what_ran_before_does_not() {
        for (from, to) in [
            // Inside of the loop, it ends it; inside of the block, it raises.
            ("prog.f(x)\n", "prog.f(x)\n        break\n"),
            ("prog.f(x)\n", "prog.f(x)\n    yield\n"),
            ("prog.f(x)\n", "prog.f(x)\n    assert (yield)\n"),
            // Names that were global are local now.
            ("prog.f(x)\n", "prog.f(x)\n    prog = 1\n"),
            ("prog.f(x)\n", "prog.f(x)\n    len([]).a,prog=(1, 2)\n"),
            ("prog.f(x)\n", "prog.f(x)\n    import prog\n"),
            ("prog.f(x)\n", "prog.f(x)\n    assert (prog := 1)\n"),
            ("prog.f(x)\n", "prog.f(x) or True\n"),
            ("for x in (1, 2)", "for x in ()"),
            ("return 1", "return 2"),
            ("import prog", "import other as prog"),
            ("class TestB:", "@skip\nclass TestB:"),
            ("def test_a", "@skip\ndef test_a"),
        ] {
            assert!(!replaced(from, to), "{to}");
        }
        assert!(!adds(&format!("{OLD}            prog.h()\n")), "in the block that raises");
        assert!(!adds(&format!("{OLD}\n\ndef test_a():\n    pass\n")), "the later one is run");
        assert!(!adds(&format!("{OLD}\n\ndef raises(kind):\n    pass\n")), "it takes the place of another");
        assert!(!adds(&OLD.replace("def test_a", "def test_z")), "one is gone");
    }
}
