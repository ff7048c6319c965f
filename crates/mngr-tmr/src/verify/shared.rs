//! Files whose change touches more than the test it was made for. Pure; the patterns come from settings.

use mngr_host::git::{FileChange, RepoPath};
use mngr_model::run::{ReviewKind, ReviewReason};

use super::rules::Rules;

/// Loaded for every test below its folder, whether or not a test asks for it: a new one is as bad as a changed one.
const LOADED_UNASKED: [&str; 2] = ["conftest.py", "__init__.py"];

/// How many files a reason names.
const NAMED: usize = 3;

impl Rules {
    /// Whether several tests use this file.
    pub fn is_shared(&self, path: &RepoPath) -> bool {
        path.as_str().is_some_and(|path| self.shared.iter().any(|glob| glob.matches(path)))
    }

    /// Whether this file says how tests are found, built or run.
    pub fn is_configuration(&self, path: &RepoPath) -> bool {
        path.as_str().is_some_and(|path| self.runner.iter().any(|glob| glob.matches(path)))
    }

    /// Why a change of tests and documents touches more than its own test. A new file of data or help is used only by
    /// tests that were written for it.
    pub fn reasons_of_reach(&self, changes: &[FileChange]) -> Vec<ReviewReason> {
        let is_loaded_unasked = |path: &RepoPath| {
            let name = path.as_str().and_then(|path| path.rsplit('/').next());
            name.is_some_and(|name| LOADED_UNASKED.contains(&name))
        };
        let is_shared = |change: &&FileChange| {
            let counts = !change.old_mode.is_absent() || is_loaded_unasked(&change.path);
            counts && self.is_shared(&change.path)
        };
        let configured = changes.iter().filter(|change| self.is_configuration(&change.path));
        let configured = named(configured.map(|change| &change.path));
        let shared = named(changes.iter().filter(is_shared).map(|change| &change.path));
        let reason = |kind, text: &str, files: Option<String>| {
            files.map(|files| ReviewReason { kind, text: format!("{text}: {files}") })
        };
        let how = reason(ReviewKind::Configuration, "it changes how tests are run", configured);
        how.into_iter()
            .chain(reason(ReviewKind::Shared, "it changes files that other tests use", shared))
            .collect()
    }
}

/// The first few files, and how many more.
fn named<'p>(paths: impl Iterator<Item = &'p RepoPath>) -> Option<String> {
    let all: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
    let more = all.len().saturating_sub(NAMED);
    let shown = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| if more > 0 { format!("{shown} and {more} more") } else { shown })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mngr_config::{BuildOptions, Merged};

    fn rules() -> Rules {
        let settings = Merged::build(&[], &BuildOptions::default()).unwrap().settings().tmr.clone();
        Rules::new(&settings).unwrap()
    }

    #[test]
    fn the_usual_shared_files_and_configurations_are_known() {
        let rules = rules();
        for path in [
            "conftest.py",
            "src/pkg/conftest.py",
            "tests/helpers/run.py",
            "crates/a/tests/common/mod.rs",
            "tests/unit/fixtures/user.json",
            "tests/golden/out.txt",
            "web/__snapshots__/list.test.ts.snap",
            "pkg/testdata/a.txt",
            "tests/utils.py",
            "tests/__init__.py",
        ] {
            assert!(rules.is_shared(&RepoPath::new(path)), "{path}");
        }
        for path in [
            "pytest.ini",
            "sub/tox.ini",
            "setup.cfg",
            "pyproject.toml",
            ".config/nextest.toml",
            "crates/a/Cargo.toml",
            "build.rs",
            "vitest.config.ts",
            "web/jest.config.js",
            "package.json",
            "go.mod",
            "Makefile",
            "sitecustomize.py",
            "lib/x.pth",
        ] {
            assert!(rules.is_configuration(&RepoPath::new(path)), "{path}");
        }
        for path in
            ["tests/test_login.py", "tests/cli/list.rs", "src/common/a.py", "docs/data/a.md", "tests/common"]
        {
            let path = RepoPath::new(path);
            assert!(!rules.is_shared(&path) && !rules.is_configuration(&path), "{path}");
        }
    }
}
