//! Blocks, their texts, their tests and what is wrong with them, as people read them in every verb of `tutorial`.

use mngr_e2e::tutorial::{Block, CitingTest, Problem, Severity};
use mngr_query::{sanitize, sanitize_lines};

/// One line about a problem, as compilers write it.
pub(super) fn problem(problem: &Problem) -> String {
    let severity = match problem.kind.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let line = format!("{}:{}: {severity}: {}", problem.file, problem.line, problem.kind);
    format!("{}\n", sanitize(&line))
}

/// `tutorial.sh:12  1a2b3c4d  Create an agent`
pub(super) fn block(script: &str, block: &Block) -> String {
    format!("{}:{}  {}  {}\n", sanitize(script), block.line, block.id, sanitize(&block.title))
}

/// Lines of a block, as deep as no other text of a report.
pub(super) fn text(text: &str) -> String {
    text.lines().map(|line| format!("      {}\n", sanitize_lines(line))).collect()
}

/// Where a block is cited, each line after `before`: `tests/test_list.py:7  test_list`.
pub(super) fn tests(before: &str, tests: &[CitingTest]) -> String {
    let place = |test: &CitingTest| {
        let name = test.id.strip_prefix(&test.file).unwrap_or(&test.id).trim_start_matches(':');
        format!("{before}{}\n", sanitize(&format!("{}:{}  {name}", test.file, test.line)))
    };
    tests.iter().map(place).collect()
}
