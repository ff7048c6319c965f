//! Which mutants are tried, and in which order: by a seed, so that the same question has the same answer. Pure.

use sha2::{Digest as _, Sha256};

use super::program::Program;

/// A mutant: an edit of a function of the program, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Choice {
    /// The function, by its place in the program.
    pub(super) function: usize,
    /// The edit, by its place among those of the function.
    pub(super) edit: usize,
}

/// The edits of these functions, in the order in which they are tried: one of each function before a second of any, the
/// most telling first.
pub(super) fn order(program: &Program, functions: &[usize], seed: &str) -> Vec<Choice> {
    let key = |text: String| -> [u8; 32] { Sha256::digest(format!("{seed}\n{text}")).into() };
    let mut queues: Vec<([u8; 32], Vec<Choice>)> = functions
        .iter()
        .map(|&function| {
            let mut edits: Vec<(u8, [u8; 32], usize)> = program
                .edits(function)
                .iter()
                .enumerate()
                .map(|(at, edit)| (edit.weight, key(program.spelling(function, edit)), at))
                .collect();
            edits.sort_unstable();
            let choices = edits.into_iter().map(|(_, _, edit)| Choice { function, edit });
            (key(program.name(function)), choices.rev().collect())
        })
        .collect();
    queues.sort_by_key(|(key, _)| *key);
    let mut order = Vec::new();
    while queues.iter().any(|(_, queue)| !queue.is_empty()) {
        order.extend(queues.iter_mut().filter_map(|(_, queue)| queue.pop()));
    }
    order
}
