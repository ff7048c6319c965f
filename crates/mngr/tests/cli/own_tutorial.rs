//! Our own tutorial and its tests, held against each other by the binary itself; and the README, held against both. That it
//! shows every command is a test of the command line (`src/commands/tutorial/own_grammar.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use mngr_testkit::CmdOutput;

use crate::support::*;

/// The fewest blocks the tutorial may have.
const FEWEST_BLOCKS: usize = 60;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs `mngr tutorial` at the top of this project, with a home of its own.
fn tutorial(words: &[&str]) -> CmdOutput {
    let env = env();
    let mut command = env.mngr_cmd();
    command.arg("tutorial").args(words).current_dir(project());
    env.run(command)
}

/// What a line of commands says, without the comment at its end.
fn without_comment(line: &str) -> &str {
    line.split(" # ").next().unwrap_or_default().trim()
}

#[test]
fn every_block_has_a_test_in_rust_and_every_cited_block_exists() {
    let checked = tutorial(&["check", "tutorial/tutorial.sh", "crates/mngr/tests/tutorial"]).success();
    assert!(checked.stderr.is_empty(), "{checked}");
    let _ =
        tutorial(&["check", "tutorial/tutorial.sh", "crates/mngr/tests/tutorial", "python/tests/tutorial"])
            .success();
}

#[test]
fn a_dozen_blocks_have_a_test_in_python() {
    let words = ["coverage", "tutorial/tutorial.sh", "python/tests/tutorial", "--format", "json"];
    let coverage = tutorial(&words).success().json();
    let blocks = coverage["blocks"].as_array().unwrap();
    let cited = blocks.iter().filter(|block| !block["tests"].as_array().unwrap().is_empty()).count();
    assert!(cited >= 12, "{cited} blocks");
}

#[test]
fn its_commands_are_right() {
    let _ = tutorial(&["lint", "tutorial/tutorial.sh"]).success();
    let blocks = tutorial(&["list", "tutorial/tutorial.sh", "--format", "jsonl"]).success().json_lines();
    assert!(blocks.len() >= FEWEST_BLOCKS, "{} blocks", blocks.len());
}

#[test]
fn the_commands_of_the_readme_are_in_the_tutorial() {
    let readme = fs::read_to_string(project().join("README.md")).unwrap();
    let script = fs::read_to_string(project().join("tutorial/tutorial.sh")).unwrap();
    let shown: Vec<&str> = script.lines().map(without_comment).collect();
    let prompts = readme.lines().filter_map(|line| line.strip_prefix("$ "));
    let commands: Vec<&str> = prompts
        .map(without_comment)
        .filter(|line| line.split_whitespace().any(|word| word == "mngr"))
        .collect();
    assert!(commands.len() >= 15, "{commands:?}");
    let missing: Vec<&&str> = commands.iter().filter(|command| !shown.contains(command)).collect();
    assert!(missing.is_empty(), "not in tutorial/tutorial.sh: {missing:#?}");
}
