//! What is really on a machine, found with plain tools: nothing here asks the program under test.

use std::collections::{BTreeMap, BTreeSet};

/// Prints the facts of a machine.
pub(super) const SCRIPT: &str = include_str!("inspect.sh");

/// The facts of all machines together.
#[derive(Debug, Default, Clone)]
pub(super) struct Facts {
    /// Contents of the files that were written.
    pub(super) files: BTreeSet<String>,
    /// Every commit some ref or work dir holds.
    pub(super) commits: BTreeSet<String>,
    /// Refs, behind the repository they are in.
    pub(super) refs: Vec<String>,
    /// Paths of work trees, by repository.
    pub(super) worktrees: Vec<String>,
    pub(super) prunable: Vec<String>,
    pub(super) fsck: Vec<String>,
    pub(super) locks: Vec<String>,
    /// What is in the folders of a host dir.
    pub(super) entries: BTreeMap<String, BTreeSet<String>>,
    pub(super) sessions: Vec<String>,
    /// What each agent was told: id and line.
    pub(super) got: Vec<(String, String)>,
    /// What each agent says it committed: commit and token.
    pub(super) wrote: Vec<(String, String)>,
}

impl Facts {
    /// Adds what the script printed on one machine.
    pub(super) fn add(&mut self, printed: &str) {
        for line in printed.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let pair = || rest.split_once(' ').map(|(one, two)| (one.to_owned(), two.to_owned()));
            match kind {
                "file" => drop(self.files.insert(rest.to_owned())),
                "commit" => drop(self.commits.insert(rest.to_owned())),
                "ref" => self.refs.push(rest.to_owned()),
                "worktree" => self.worktrees.push(rest.to_owned()),
                "prunable" => self.prunable.push(rest.to_owned()),
                "fsck" => self.fsck.push(rest.to_owned()),
                "lock" => self.locks.push(rest.to_owned()),
                "session" => self.sessions.push(rest.to_owned()),
                "got" => self.got.extend(pair()),
                "wrote" => self.wrote.extend(pair().and_then(|(_, said)| {
                    Some(said.split_once(' ')?).map(|(commit, token)| (commit.to_owned(), token.to_owned()))
                })),
                "entry" => {
                    if let Some((folder, name)) = pair() {
                        self.entries.entry(folder).or_default().insert(name);
                    }
                }
                _ => {}
            }
        }
    }

    /// What is in a folder of a host dir.
    pub(super) fn entries_of(&self, folder: &str) -> impl Iterator<Item = &str> {
        self.entries.get(folder).into_iter().flatten().map(String::as_str)
    }
}
