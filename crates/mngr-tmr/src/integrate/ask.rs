//! What is left, in the words an agent is asked with. Pure. What other agents wrote is cleaned and cut.

use std::collections::BTreeSet;

use mngr_model::run::TaskId;

use super::message::clean;
use super::repeated::RepeatedGroup;
use super::run::{Conflict, Input, Integrated};
use crate::mapper::prompts::{ConflictText, RepeatedText};

/// What an agent is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// Changes that do not fit beside others, one for each task.
    pub conflicts: Vec<ConflictText>,
    /// The same edit in many files.
    pub repeated: Vec<RepeatedText>,
}

impl Left {
    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.conflicts.is_empty() && self.repeated.is_empty()
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
            subject: clean(input.verification.subject()),
            paths: conflict.files.iter().map(|file| clean(file)).collect(),
            against: against.map(|commit| commit.oid.clone()).collect(),
        })
    }
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
