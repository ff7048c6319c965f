//! Changes of many agents put on one tree, without a checkout.
//!
//! Processes: 3 for all parts that touch files nobody else changes differently, 3 more to bring them onto another tree
//! than the base, 6 for each further part. Where two changes of a file meet: 2, 4 for each such file, and 9.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use mngr_host::git::{FileChange, Git, GitError, RepoPath, TreeEntry};
use mngr_model::HostPath;

use super::hunks::{FileKey, file_key};
use super::lines;
use super::replay::Draft;

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
    /// The parts that touch neighbouring lines of others, with the files that were joined line by line.
    pub(super) joined: Vec<(usize, Vec<String>)>,
}

/// A tree, and the files that were joined line by line.
struct Put {
    tree: String,
    joined: Vec<String>,
}

/// Puts changes on trees.
pub(super) struct Assembler<'a> {
    pub(super) git: &'a Git<'a>,
    pub(super) base: &'a str,
    pub(super) base_tree: &'a str,
    pub(super) scratch: &'a HostPath,
    /// What was put together before, by the tree it began with and what was put on it.
    pub(super) drafts: Drafts,
}

/// Trees that were put together before.
pub(super) type Drafts = Mutex<BTreeMap<(String, Vec<usize>), Draft>>;

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
        let mut joined = Vec::new();
        let together: Vec<TreeEntry> = alone.iter().flat_map(|part| entries(part)).collect();
        match self.put(&tree, &together) {
            Ok(put) => {
                let touches = |part: &&&Part<'_>| {
                    part.changes.iter().any(|change| put.joined.contains(&change.path.to_string()))
                };
                joined.extend(alone.iter().filter(touches).map(|part| (part.id, put.joined.clone())));
                tree = put.tree;
            }
            // Some of them do not fit: only one by one it shows which.
            Err(GitError::Conflict { .. }) => contended = parts.iter().collect(),
            Err(other) => return Err(other),
        }
        let mut conflicted = Vec::new();
        for part in contended {
            match self.put(&tree, &entries(part)) {
                Ok(put) => {
                    joined.extend((!put.joined.is_empty()).then_some((part.id, put.joined)));
                    tree = put.tree;
                }
                Err(GitError::Conflict { files }) => conflicted.push((part.id, files)),
                Err(other) => return Err(other),
            }
        }
        Ok(Assembled { tree, conflicted, joined })
    }

    /// Whether two changes meet: they do not fit beside each other, or only line by line.
    pub(super) fn meet(&self, one: &[FileChange], other: &[FileChange]) -> Result<bool, GitError> {
        let parts = [Part { id: 0, changes: one }, Part { id: 1, changes: other }];
        let assembled = self.assemble(self.base_tree, &parts)?;
        Ok(!assembled.conflicted.is_empty() || !assembled.joined.is_empty())
    }

    fn put(&self, tree: &str, entries: &[TreeEntry]) -> Result<Put, GitError> {
        let plain = |tree| Put { tree, joined: Vec::new() };
        if entries.is_empty() {
            return Ok(plain(tree.to_owned()));
        }
        let changed = self.git.overlay_tree(self.base, entries, self.scratch)?;
        if tree == self.base_tree {
            return Ok(plain(changed));
        }
        match self.git.merge_trees(self.base, tree, &changed) {
            Err(GitError::Conflict { files }) => match self.join(tree, &changed, entries, &files)? {
                Some(tree) => Ok(Put { tree, joined: files }),
                None => Err(GitError::Conflict { files }),
            },
            other => Ok(plain(other?)),
        }
    }

    /// The tree with files joined line by line that git cannot join; nothing if one of them cannot be.
    fn join(
        &self,
        tree: &str,
        changed: &str,
        entries: &[TreeEntry],
        files: &[String],
    ) -> Result<Option<String>, GitError> {
        let ours = self.git.patch_between(self.base_tree, tree)?;
        let theirs = self.git.patch_between(self.base_tree, changed)?;
        let mut joined = Vec::new();
        for file in files {
            let of =
                |side: &[FileChange]| side.iter().find(|change| change.path.to_string() == *file).cloned();
            let (Some(our), Some(their)) = (of(&ours), of(&theirs)) else { return Ok(None) };
            match self.join_file(tree, changed, &our, &their)? {
                Some(entry) => joined.push(entry),
                None => return Ok(None),
            }
        }
        let is_plain = |entry: &&TreeEntry| !files.contains(&entry.path.to_string());
        let rest: Vec<TreeEntry> = entries.iter().filter(is_plain).cloned().collect();
        let merged = match rest.is_empty() {
            true => tree.to_owned(),
            false => {
                let changed = self.git.overlay_tree(self.base, &rest, self.scratch)?;
                self.git.merge_trees(self.base, tree, &changed)?
            }
        };
        Ok(Some(self.git.overlay_tree(&merged, &joined, self.scratch)?))
    }

    /// One file with the changes of both; nothing unless it is a text with whole lines on all sides.
    fn join_file(
        &self,
        tree: &str,
        changed: &str,
        our: &FileChange,
        their: &FileChange,
    ) -> Result<Option<TreeEntry>, GitError> {
        let is_edited = |change: &FileChange| {
            change.old_mode == change.new_mode && !change.hunks.is_empty() && !change.old_mode.is_absent()
        };
        let (true, true, Some(path)) = (is_edited(our), is_edited(their), our.path.as_str()) else {
            return Ok(None);
        };
        let text = |rev: &str| -> Result<Option<String>, GitError> {
            let bytes = self.git.file_at(rev, path)?.unwrap_or_default();
            Ok(String::from_utf8(bytes).ok().filter(|text| text.ends_with('\n')))
        };
        let (Some(base), Some(_), Some(_)) = (text(self.base_tree)?, text(tree)?, text(changed)?) else {
            return Ok(None);
        };
        let Some(joined) = lines::join(&base, &our.hunks, &their.hunks) else { return Ok(None) };
        let blob = self.git.write_blob(joined.as_bytes())?;
        Ok(Some(TreeEntry { path: our.path.clone(), mode: our.new_mode.clone(), blob }))
    }
}
