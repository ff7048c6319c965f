//! An agent's commits, classified by the paths they touch and compared with what their subjects say. Pure.

use std::collections::BTreeSet;

use mngr_host::git::{CommitInfo, RepoPath};
use mngr_model::run::ChangeKind;
use serde::{Deserialize, Serialize};

use super::paths::{PathClass, PathRules};

/// How a commit's subject stands to its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// It says what it touches, or nothing.
    Fits,
    /// It says implementation and touches none: harmless, and treated as what it is.
    Overstated,
    /// It says test or documentation and touches the implementation.
    Understated,
}

/// A commit: claimed and measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitFacts {
    /// Its name.
    pub oid: String,
    /// The first line of its message; untrusted text.
    pub subject: String,
    /// The kind its subject names in brackets.
    pub claimed: Option<ChangeKind>,
    /// The parts of the project it touches.
    pub measured: BTreeSet<PathClass>,
    /// The files it changed.
    pub paths: Vec<RepoPath>,
}

impl CommitFacts {
    /// Classifies a commit.
    pub fn new(commit: &CommitInfo, rules: &PathRules) -> Self {
        Self {
            oid: commit.oid.clone(),
            subject: commit.subject().to_owned(),
            claimed: ChangeKind::of_subject(commit.subject()),
            measured: commit.paths.iter().map(|path| rules.class(path)).collect(),
            paths: commit.paths.clone(),
        }
    }

    /// The same, where source files are known in which only test code was changed.
    #[must_use]
    pub fn with_inline_tests(mut self, inline: &[String], rules: &PathRules) -> Self {
        let is_inline =
            |path: &RepoPath| path.as_str().is_some_and(|path| inline.iter().any(|test| test == path));
        let is_program = |path: &RepoPath| rules.class(path) == PathClass::Implementation && !is_inline(path);
        if self.paths.iter().any(is_inline) {
            self.measured.insert(PathClass::Test);
            if !self.paths.iter().any(is_program) {
                self.measured.remove(&PathClass::Implementation);
            }
        }
        self
    }

    /// Whether it touches the implementation.
    pub fn touches_implementation(&self) -> bool {
        self.measured.contains(&PathClass::Implementation)
    }

    /// How its subject stands to its paths.
    pub fn label(&self) -> Label {
        match self.claimed.map(ChangeKind::is_implementation) {
            Some(false) if self.touches_implementation() => Label::Understated,
            Some(true) if !self.touches_implementation() => Label::Overstated,
            _ => Label::Fits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(subject: &str, paths: &[&str]) -> CommitFacts {
        let rules = PathRules::new(&["tests/".to_owned()], &["*.md".to_owned()]).unwrap();
        let commit = CommitInfo {
            oid: "1".to_owned(),
            tree: "2".to_owned(),
            parents: vec![],
            committer_email: String::new(),
            message: format!("{subject}\n\n[FIX_IMPL] in the body counts for nothing"),
            paths: paths.iter().map(|path| RepoPath::new(*path)).collect(),
        };
        CommitFacts::new(&commit, &rules)
    }

    #[test]
    fn paths_decide_and_the_subject_is_compared() {
        for (subject, paths, label) in [
            ("[FIX_TEST] a", &["tests/a"][..], Label::Fits),
            ("[FIX_TEST] a", &["tests/a", "src/b"], Label::Understated),
            ("[FIX_TUTORIAL] a", &["README.md"], Label::Fits),
            ("[FIX_IMPL] a", &["tests/a"], Label::Overstated),
            ("[FIX_IMPL] a", &["tests/a", "src/b"], Label::Fits),
            ("no tag", &["src/b"], Label::Fits),
            ("[OTHER] a", &["src/b"], Label::Fits),
        ] {
            assert_eq!(facts(subject, paths).label(), label, "{subject} {paths:?}");
        }
        assert_eq!(facts("[FIX_IMPL] a", &["src/b"]).claimed, Some(ChangeKind::FixImpl));
        assert_eq!(facts("no tag", &[]).claimed, None);
    }
}
