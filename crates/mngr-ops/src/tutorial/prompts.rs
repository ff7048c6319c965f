//! What agents are asked to do, in words. The texts are in `prompts/`; here they are put together with the work.
//!
//! Text of a tutorial is data to the agent: it stands indented below the rules.

use mngr_e2e::tutorial::fill::Gap;
use mngr_e2e::tutorial::work::{WorkGroup, WorkItem};
use mngr_e2e::tutorial::{Block, CitingTest};

/// What a proposed block has to be like.
pub(super) const FILL_RULES: &str = include_str!("prompts/fill_rules.md");
/// What a test of a block has to be like.
pub(super) const SYNC_RULES: &str = include_str!("prompts/sync_rules.md");
/// `fill` as a slash command, without its rules.
pub(super) const FILL_COMMAND: &str = include_str!("prompts/fill_command.md");
/// `sync` as a slash command, without its rules.
pub(super) const SYNC_COMMAND: &str = include_str!("prompts/sync_command.md");

const FILL: &str = include_str!("prompts/fill.md");
const SYNC: &str = include_str!("prompts/sync.md");

/// The task of proposing blocks for these gaps.
pub(super) fn fill_task(gaps: &[Gap], max: usize) -> String {
    let mut text =
        format!("{FILL}{FILL_RULES}- At most {max} blocks in all.\n\n## Headings and comments\n\n");
    for gap in gaps {
        text += &format!("- `{}` (line {})\n", gap.title, gap.line);
    }
    text
}

/// The task of writing and mending the tests of a group.
pub(super) fn sync_task(script: &str, tests: &[String], group: &WorkGroup) -> String {
    let places = tests.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
    let mut text = format!("{SYNC}{SYNC_RULES}\nThe tutorial is `{script}`, the tests are in {places}.\n");
    for item in &group.items {
        text += "\n";
        text += &match item {
            WorkItem::Uncited { block } => {
                format!("## No test cites {}\n\n{}", place(block), indented(&block.text))
            }
            WorkItem::Changed(changed) => format!(
                "## The block changed, {}\n\nIt is now\n\n{}\n{}:\n\n{}",
                place(&changed.block),
                indented(&changed.block.text),
                citing(&changed.tests),
                indented(&changed.was),
            ),
            WorkItem::Stale(stale) => {
                let near = stale.nearest.as_ref().map(|block| format!("It resembles {}.\n", place(block)));
                format!(
                    "## There is no such block any more\n\n{}\n{}.\n{}",
                    indented(&stale.text),
                    citing(&stale.tests),
                    near.unwrap_or_default()
                )
            }
        };
    }
    text
}

fn place(block: &Block) -> String {
    format!("line {}: {}", block.line, block.title)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn citing(tests: &[CitingTest]) -> String {
    let tests: Vec<String> = tests.iter().map(|test| format!("`{}` (line {})", test.id, test.line)).collect();
    format!("Still cited by {}", tests.join(", "))
}

#[cfg(test)]
mod tests {
    use mngr_e2e::tutorial::fill::gaps;
    use mngr_e2e::tutorial::work::{groups, work_list};
    use mngr_e2e::tutorial::{Report, Script, Stale, Strictness, Suite, check};

    use super::*;

    #[test]
    fn a_task_names_every_gap_and_the_limit() {
        let script = Script::parse("t.sh", b"# Bare\n\n# Full\n\nx\n\n# TODO: more\n");
        let task = fill_task(&gaps(&script), 7);
        assert!(task.contains("- At most 7 blocks in all.\n"), "{task}");
        assert!(task.ends_with("- `Bare` (line 1)\n- `TODO: more` (line 7)\n"), "{task}");
    }

    #[test]
    fn a_task_shows_every_thing_to_do_with_its_text() {
        let script = Script::parse("t.sh", b"# One\nx one\n");
        let mut report: Report = check(&script, &Suite::default(), Strictness::Tutorial);
        let test = CitingTest { id: "a.py::test_b".into(), file: "a.py".into(), line: 3 };
        report.stale.push(Stale { text: "x gone".into(), nearest: None, tests: vec![test] });
        let group = groups(&work_list(&report)).remove(0);
        let task = sync_task("t.sh", &["tests".to_owned()], &group);
        for expected in [
            "The tutorial is `t.sh`, the tests are in `tests`.\n",
            "## No test cites line 1: One\n\n    # One\n    x one\n",
            "## There is no such block any more\n\n    x gone\n\nStill cited by `a.py::test_b` (line 3).\n",
        ] {
            assert!(task.contains(expected), "{expected} in {task}");
        }
    }
}
