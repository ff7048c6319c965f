//! What is left, in the words an agent is asked with. What other agents wrote is cleaned and cut.
//!
//! Processes: one of git for each change that is left, and the tests that were not run on the result yet.

use std::collections::BTreeSet;

use mngr_host::git::{FileChange, Git, Line};
use mngr_model::run::TaskId;
use mngr_query::sanitize_lines;

use super::checks::{Check, Snapshot};
use super::error::IntegrateError;
use super::message::clean;
use super::repeated::RepeatedGroup;
use super::run::{Conflict, Input, Integrated, Integrator};
use crate::mapper::prompts::{ConflictText, RepeatedText, ResultText};

/// So many lines of a change are told.
const TOLD_LINES: usize = 120;
/// And of all changes together.
const TOLD_IN_ALL: usize = 600;

/// What an agent is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// Changes that do not fit beside others, one for each task.
    pub conflicts: Vec<ConflictText>,
    /// The same edit in many files.
    pub repeated: Vec<RepeatedText>,
}

impl Left {
    /// Whether there is nothing to ask: what only repeats itself is told to an agent that is there, and is no reason for one.
    pub fn is_empty(&self) -> bool {
        self.conflicts.is_empty()
    }
}

impl Integrated {
    /// What is left for an agent. `inputs` are those that were integrated.
    pub fn left(&self, inputs: &[Input]) -> Left {
        let conflicts = self.remaining.conflicts.iter().flat_map(|conflict| {
            conflict.tasks.iter().filter_map(|task| self.conflict_text(conflict, task, inputs))
        });
        let repeated = self.remaining.repeated_groups.iter().map(repeated_text);
        Left { conflicts: conflicts.collect(), repeated: repeated.collect() }
    }

    fn conflict_text(&self, conflict: &Conflict, task: &TaskId, inputs: &[Input]) -> Option<ConflictText> {
        let input = inputs.iter().rev().find(|input| input.candidate.task == *task)?;
        let against = self.commits.iter().filter(|commit| {
            conflict.with.is_empty() || commit.tasks.iter().any(|task| conflict.with.contains(task))
        });
        Some(ConflictText {
            task: task.to_string(),
            commit: input.candidate.tip.clone(),
            reference: String::new(),
            evidence: clean(&input.verification.evidence()),
            command: String::new(),
            failure: String::new(),
            diff: String::new(),
            subject: clean(input.verification.subject()),
            paths: conflict.files.iter().map(|file| clean(file)).collect(),
            against: against.map(|commit| commit.oid.clone()).collect(),
        })
    }
}

impl Integrator<'_> {
    /// What is left for an agent and still fails on the result, with what it needs to know of it.
    pub fn left(&self, integrated: &Integrated, inputs: &[Input]) -> Result<Left, IntegrateError> {
        let mut left = integrated.left(inputs);
        if left.conflicts.is_empty() {
            return Ok(left);
        }
        let git = Git::new(self.host, self.repository.clone());
        let tip = Snapshot { commit: integrated.tip.clone(), tree: git.tree_of(&integrated.tip)? };
        let tests: Vec<TaskId> =
            left.conflicts.iter().filter_map(|conflict| conflict.task.parse().ok()).collect();
        let failures = self.checks().every_failure(&tip, &tests)?;
        let mut room = TOLD_IN_ALL;
        let mut red = Vec::new();
        for mut conflict in left.conflicts {
            let is_of = |check: &Check| check.test().is_some_and(|task| task.as_str() == conflict.task);
            let Some(failure) = failures.iter().find(|failure| is_of(&failure.check)) else { continue };
            conflict.failure = sanitize_lines(failure.tail.trim_end()).into_owned();
            if let Ok(task) = conflict.task.parse() {
                conflict.command = self.tests.one_line(&task);
            }
            let lines = as_lines(&git.patch_between(&self.base, &conflict.commit)?);
            let told = lines.len().min(TOLD_LINES).min(room);
            room -= told;
            conflict.diff = sanitize_lines(&lines[..told].join("\n")).into_owned();
            if told < lines.len() {
                conflict.diff.push_str(&format!("\n... ({} more lines)", lines.len() - told));
            }
            red.push(conflict);
        }
        left.conflicts = red;
        Ok(left)
    }
}

impl Integrated {
    /// The commits of the result, in the words of a prompt.
    pub fn in_words(&self) -> Vec<ResultText> {
        let text = |commit: &super::run::IntegratedCommit| ResultText {
            commit: commit.oid.clone(),
            subject: clean(&commit.subject),
            tasks: commit.tasks.iter().map(ToString::to_string).collect(),
            rank: commit.score.as_ref().map(ToString::to_string).unwrap_or_default(),
        };
        self.commits.iter().map(text).collect()
    }
}

/// Changes as a diff shows them, without what only a program reads.
fn as_lines(files: &[FileChange]) -> Vec<String> {
    let mut lines = Vec::new();
    for file in files {
        lines.push(format!("--- {}", clean(&file.path.to_string())));
        for hunk in &file.hunks {
            lines.push(format!("@@ from line {} @@", hunk.old_start));
            lines.extend(hunk.lines.iter().map(|line| match line {
                Line::Context(text) => format!(" {text}"),
                Line::Removed(text) => format!("-{text}"),
                Line::Added(text) => format!("+{text}"),
            }));
        }
    }
    lines
}

fn repeated_text(group: &RepeatedGroup) -> RepeatedText {
    let lines: Vec<String> = group.lines.iter().map(|line| format!("`{}`", clean(line))).collect();
    let tasks: BTreeSet<String> = group.places.iter().map(|(_, task)| task.to_string()).collect();
    let paths: BTreeSet<String> = group.places.iter().map(|(path, _)| clean(path)).collect();
    RepeatedText {
        summary: lines.join(", "),
        tasks: tasks.into_iter().collect(),
        paths: paths.into_iter().collect(),
    }
}
