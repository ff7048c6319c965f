//! Which part of a project a path belongs to. Pure; the patterns come from settings.

use mngr_host::git::RepoPath;
use serde::{Deserialize, Serialize};

use super::glob::{Glob, GlobError};

/// The part of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathClass {
    /// A test or what only tests use.
    Test,
    /// Documentation, the tutorial.
    Doc,
    /// Everything else.
    Implementation,
}

/// How paths are told apart.
#[derive(Debug, Clone)]
pub struct PathRules {
    tests: Vec<Glob>,
    docs: Vec<Glob>,
    tutorials: Vec<Glob>,
}

impl PathRules {
    /// Rules from patterns; what none matches is implementation.
    pub fn new(tests: &[String], docs: &[String]) -> Result<Self, GlobError> {
        Ok(Self { tests: Glob::all(tests)?, docs: Glob::all(docs)?, tutorials: Vec::new() })
    }

    /// The same rules, with tutorials, which are documentation wherever they lie.
    pub fn with_tutorials(self, tutorials: &[String]) -> Result<Self, GlobError> {
        Ok(Self { tutorials: Glob::all(tutorials)?, ..self })
    }

    /// Whether it is a tutorial.
    pub fn is_tutorial(&self, path: &RepoPath) -> bool {
        path.as_str().is_some_and(|path| self.tutorials.iter().any(|glob| glob.matches(path)))
    }

    /// The part a path belongs to. A name that is no text is implementation: nothing can say that it is not.
    pub fn class(&self, path: &RepoPath) -> PathClass {
        if self.is_tutorial(path) {
            return PathClass::Doc;
        }
        let Some(path) = path.as_str() else { return PathClass::Implementation };
        if self.tests.iter().any(|glob| glob.matches(path)) {
            PathClass::Test
        } else if self.docs.iter().any(|glob| glob.matches(path)) {
            PathClass::Doc
        } else {
            PathClass::Implementation
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_pattern_matches_is_implementation() {
        let rules = PathRules::new(&["tests/".to_owned()], &["*.md".to_owned()]).unwrap();
        for (path, class) in [
            ("tests/a.md", PathClass::Test),
            ("docs/a.md", PathClass::Doc),
            ("src/a.rs", PathClass::Implementation),
            ("Makefile", PathClass::Implementation),
        ] {
            assert_eq!(rules.class(&RepoPath::new(path)), class, "{path}");
        }
        assert_eq!(rules.class(&RepoPath::new(b"tests/\xff".to_vec())), PathClass::Implementation);
    }

    #[test]
    fn a_tutorial_is_documentation_wherever_it_lies() {
        let rules = PathRules::new(&["tests/".to_owned()], &[]).unwrap();
        let rules = rules.with_tutorials(&["tutorial.sh".to_owned()]).unwrap();
        for path in ["tutorial.sh", "guide/tutorial.sh", "tests/tutorial.sh"] {
            assert_eq!(rules.class(&RepoPath::new(path)), PathClass::Doc, "{path}");
        }
        assert_eq!(rules.class(&RepoPath::new("my-tutorial.sh")), PathClass::Implementation);
    }
}
