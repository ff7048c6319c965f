//! The assertions of tests that a change touches: which of them it changed or removed. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::only_adds::only_adds;
use super::test_files::{TestFile, TestFiles};
use super::touched::own_name;
use crate::syntax::{Source, Statement};

/// Beginnings of statements that decide whether what follows is run at all.
const CONTROL: [&str; 22] = [
    "if ", "if(", "elif ", "else", "for ", "while ", "until ", "try", "except", "catch", "match ", "switch",
    "case ", "return", "raise ", "throw ", "continue", "break", "exit", "set +e", "trap ", "with ",
];

/// An assertion of the old tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) lines: RangeInclusive<usize>,
    pub(super) text: String,
    /// Whether it was changed or removed, or whether it is run at all may have changed.
    pub(super) is_changed: bool,
}

/// The assertions of the old functions that a change touches, given the names of the tests that are run now. Those of a
/// file to which something was only added check what they checked.
pub(super) fn targets(files: &TestFiles, run: &BTreeSet<&str>) -> Vec<Target> {
    let only_adds = |file: &TestFile| match (&file.old_source, &file.new_source) {
        (Some(old), Some(new)) => only_adds(old, new),
        _ => false,
    };
    match files.iter().all(only_adds) {
        true => Vec::new(),
        false => files.iter().flat_map(|file| of_file(file, run)).collect(),
    }
}

/// The lines of all assertions of an old file.
pub(super) fn old_lines(file: &TestFile) -> Vec<RangeInclusive<usize>> {
    let statements = file.old_source.as_ref().map(Source::statements).unwrap_or_default();
    statements
        .into_iter()
        .filter(|statement| statement.is_assertion)
        .map(|statement| statement.lines)
        .collect()
}

/// The files and lines of all assertions of the new tests.
pub(super) fn new_lines(files: &TestFiles) -> Vec<(String, RangeInclusive<usize>)> {
    let of_file = |file: &TestFile| {
        let statements = file.new_source.as_ref().map(Source::statements).unwrap_or_default();
        let assertions = statements.into_iter().filter(|statement| statement.is_assertion);
        assertions.map(|statement| (file.path.clone(), statement.lines)).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

fn of_file(file: &TestFile, run: &BTreeSet<&str>) -> Vec<Target> {
    let Some(old) = &file.old_source else { return Vec::new() };
    let (before, after) = (by_function(old), file.new_source.as_ref().map(by_function).unwrap_or_default());
    let texts = |statements: &[Statement]| -> Vec<String> {
        statements.iter().map(|statement| statement.text.clone()).collect()
    };
    let is_changed =
        |name: &&String| after.get(*name).map(|new| texts(new)) != before.get(*name).map(|old| texts(old));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let changed: Vec<&String> = names.filter(is_changed).collect();
    // What moved to another test is still there, if that test is run and nothing decides about it there.
    let mut moved: BTreeMap<String, usize> = BTreeMap::new();
    for name in changed.iter().filter(|name| run.contains(name.as_str())) {
        let Some(new) = after.get(*name) else { continue };
        let old = before.get(*name).map(Vec::as_slice).unwrap_or_default();
        if has_new_control(old, new) {
            continue;
        }
        let was = assertion_counts(old);
        for (text, count) in assertion_counts(new) {
            let more = count.saturating_sub(was.get(&text).copied().unwrap_or_default());
            *moved.entry(text).or_default() += more;
        }
    }
    let mut targets = Vec::new();
    for name in changed {
        let Some(statements) = before.get(name) else { continue };
        let mut own = after.get(name).map(|new| assertion_counts(new)).unwrap_or_default();
        let is_controlled = after.get(name).is_none_or(|new| has_new_control(statements, new));
        for statement in statements.iter().filter(|statement| statement.is_assertion) {
            let is_own = take(&mut own, &statement.text) && !is_controlled;
            let is_kept = is_own || take(&mut moved, &statement.text);
            targets.push(Target {
                path: file.path.clone(),
                lines: with_body(file.old.as_deref().unwrap_or_default(), statement),
                text: statement.text.clone(),
                is_changed: !is_kept,
            });
        }
    }
    targets
}

/// How often each assertion is there.
fn assertion_counts(statements: &[Statement]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for statement in statements.iter().filter(|statement| statement.is_assertion) {
        *counts.entry(statement.text.clone()).or_default() += 1;
    }
    counts
}

/// Takes one of these, if there is one.
fn take(counts: &mut BTreeMap<String, usize>, text: &str) -> bool {
    match counts.get_mut(text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

/// The lines of an assertion; those of its body too where it looks at what happens there, as `with pytest.raises` does.
fn with_body(text: &str, statement: &Statement) -> RangeInclusive<usize> {
    let (start, end) = (*statement.lines.start(), *statement.lines.end());
    if !statement.text.starts_with("with ") {
        return start..=end;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let own = lines.get(start - 1).map_or(0, |line| indent(line));
    let body = lines.iter().skip(end).take_while(|line| line.trim().is_empty() || indent(line) > own);
    start..=end + body.count()
}

/// The statements of each function, by its own name; those outside of any under an empty one.
fn by_function(source: &Source) -> BTreeMap<String, Vec<Statement>> {
    let mut found: BTreeMap<String, Vec<Statement>> = BTreeMap::new();
    for statement in source.statements() {
        let function = statement.function.and_then(|at| source.functions().get(at));
        let name = function.map_or("", |function| own_name(&function.name));
        found.entry(name.to_owned()).or_default().push(statement);
    }
    found
}

/// Whether the new statements have something that can keep others from being run, and the old ones have not.
fn has_new_control(old: &[Statement], new: &[Statement]) -> bool {
    let count = |statements: &[Statement]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for statement in statements.iter().filter(|statement| is_control(statement)) {
            // Another list to go through is no other way through the test.
            let is_loop = statement.text.starts_with("for ");
            let key = if is_loop { "for".to_owned() } else { statement.text.clone() };
            *counts.entry(key).or_default() += 1;
        }
        counts
    };
    let old = count(old);
    count(new).into_iter().any(|(text, times)| times > old.get(&text).copied().unwrap_or_default())
}

/// What a command of a shell falls back to when its failure is to count for nothing.
const FORGIVING: [&str; 7] = ["true", ":", "exit 0", "return 0", "echo", "continue", "break"];

fn is_control(statement: &Statement) -> bool {
    let text = statement.text.as_str();
    let forgives = |rest: &str| FORGIVING.iter().any(|word| rest.trim_start().starts_with(word));
    let decides = CONTROL.iter().any(|word| text.starts_with(word));
    (decides && !statement.is_assertion)
        || text.split("||").skip(1).any(forgives)
        || text.contains("skip")
        || text.starts_with('@')
        || (text.starts_with("#[") && !is_test_mark(text))
}

/// Whether an attribute only says that something is a test.
fn is_test_mark(text: &str) -> bool {
    text == "#[test]" || text.ends_with("::test]")
}

/// Whether the statement of the old tests at this line is in the new ones too, in the same function, and nothing was put
/// around it that turns what it says into its opposite.
pub(super) fn is_unchanged(file: &TestFile, line: usize) -> bool {
    match (&file.old_source, &file.new_source) {
        (Some(old), Some(new)) => says_the_same(old, new, line),
        _ => false,
    }
}

fn says_the_same(old: &Source, new: &Source, line: usize) -> bool {
    let (before, after) = (by_function(old), by_function(new));
    let size = |statement: &Statement| statement.lines.end() - statement.lines.start();
    let failed = before
        .iter()
        .flat_map(|(name, statements)| statements.iter().map(move |statement| (name, statement)))
        .filter(|(_, statement)| statement.lines.contains(&line))
        .min_by_key(|(_, statement)| size(statement));
    let Some((name, failed)) = failed else { return false };
    let (Some(old), Some(new)) = (before.get(name), after.get(name)) else { return false };
    let expects_failure = |statement: &&Statement| {
        statement.is_assertion && CONTROL.iter().any(|word| statement.text.starts_with(word))
    };
    let count = |statements: &[Statement]| statements.iter().filter(expects_failure).count();
    new.iter().any(|statement| statement.text == failed.text)
        && !has_new_control(old, new)
        && count(new) <= count(old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Language;

    fn says_the_same_in(language: Language, old: &str, new: &str, line: usize) -> bool {
        let parse = |text: &str| Source::parse(language, text).unwrap();
        says_the_same(&parse(old), &parse(new), line)
    }

    #[test]
    fn a_statement_that_failed_is_unchanged_only_if_its_failure_still_counts() {
        let python = "def test_a():\n    x = f(1)\n    assert x == 2\n";
        let same = |new: &str| says_the_same_in(Language::Python, python, new, 3);
        assert!(same("import f\n\ndef test_a():\n    x = f(2)\n    assert x == 2\n"));
        for wrapped in [
            "def test_a():\n    x = f(1)\n    with pytest.raises(AssertionError):\n        assert x == 2\n",
            "def test_a():\n    x = f(1)\n    try:\n        assert x == 2\n    except Exception:\n        pass\n",
            "@pytest.mark.xfail\ndef test_a():\n    x = f(1)\n    assert x == 2\n",
            "def test_a():\n    x = f(1)\n    assert x == 3\n",
        ] {
            assert!(!same(wrapped), "{wrapped}");
        }
        let rust = "#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n";
        let same = |new: &str| says_the_same_in(Language::Rust, rust, new, 3);
        assert!(same("use f;\n#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n"));
        assert!(!same(
            "#[test]\n#[should_panic(expected = \"left\")]\nfn a() {\n    assert_eq!(f(), 1);\n}\n"
        ));
    }
}
