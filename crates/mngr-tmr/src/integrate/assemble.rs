//! Changes of many agents put on one tree, without a checkout.
//!
//! Processes: 3 for all parts that touch files nobody else changes differently, 3 more to bring them onto another tree
//! than the base, 6 for each further part.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{FileChange, Git, GitError, RepoPath, TreeEntry};
use mngr_model::HostPath;

use super::hunks::{FileKey, file_key};

/// A change to be put on a tree. All changes are relative to the base.
pub(super) struct Part<'a> {
    /// What the caller calls it.
    pub(super) id: usize,
    /// Its files.
    pub(super) changes: &'a [FileChange],
}

/// What came of it.
pub(super) struct Assembled {
    /// The tree.
    pub(super) tree: String,
    /// The parts that did not fit, with the files in conflict.
    pub(super) conflicted: Vec<(usize, Vec<String>)>,
}

/// Puts changes on trees.
pub(super) struct Assembler<'a> {
    pub(super) git: &'a Git<'a>,
    pub(super) base: &'a str,
    pub(super) base_tree: &'a str,
    pub(super) scratch: &'a HostPath,
}

impl Assembler<'_> {
    /// Puts the parts on a tree, in their order. Of two spellings of the same change the first is taken.
    pub(super) fn assemble(&self, start: &str, parts: &[Part<'_>]) -> Result<Assembled, GitError> {
        let mut spellings: BTreeMap<FileKey, TreeEntry> = BTreeMap::new();
        let mut variants: BTreeMap<&RepoPath, BTreeSet<FileKey>> = BTreeMap::new();
        for change in parts.iter().flat_map(|part| part.changes) {
            let key = file_key(change);
            spellings.entry(key.clone()).or_insert_with(|| change.into());
            variants.entry(&change.path).or_default().insert(key);
        }
        let entries = |part: &Part<'_>| -> Vec<TreeEntry> {
            part.changes.iter().filter_map(|change| spellings.get(&file_key(change)).cloned()).collect()
        };
        let is_alone = |part: &&Part<'_>| {
            part.changes.iter().all(|change| variants.get(&change.path).is_some_and(|keys| keys.len() == 1))
        };
        let (alone, mut contended): (Vec<&Part<'_>>, Vec<&Part<'_>>) = parts.iter().partition(is_alone);
        let mut tree = start.to_owned();
        let together: Vec<TreeEntry> = alone.iter().flat_map(|part| entries(part)).collect();
        match self.put(&tree, &together) {
            Ok(joined) => tree = joined,
            // Some of them do not fit: only one by one it shows which.
            Err(GitError::Conflict { .. }) => contended = parts.iter().collect(),
            Err(other) => return Err(other),
        }
        let mut conflicted = Vec::new();
        for part in contended {
            match self.put(&tree, &entries(part)) {
                Ok(joined) => tree = joined,
                Err(GitError::Conflict { files }) => conflicted.push((part.id, files)),
                Err(other) => return Err(other),
            }
        }
        Ok(Assembled { tree, conflicted })
    }

    /// Whether two changes fit beside each other; if not, the files in which they meet.
    pub(super) fn conflict(&self, one: &[FileChange], other: &[FileChange]) -> Result<Vec<String>, GitError> {
        let parts = [Part { id: 0, changes: one }, Part { id: 1, changes: other }];
        let conflicted = self.assemble(self.base_tree, &parts)?.conflicted;
        Ok(conflicted.into_iter().flat_map(|(_, files)| files).collect())
    }

    fn put(&self, tree: &str, entries: &[TreeEntry]) -> Result<String, GitError> {
        if entries.is_empty() {
            return Ok(tree.to_owned());
        }
        let changed = self.git.overlay_tree(self.base, entries, self.scratch)?;
        match tree == self.base_tree {
            true => Ok(changed),
            false => self.git.merge_trees(self.base, tree, &changed),
        }
    }
}
