//! Which framework a project uses, when nobody says so: told by the files at its root.

use std::collections::BTreeMap;

use mngr_config::CollectorSettings;
use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;
use regex::Regex;

use super::builtin;
use super::collector::CollectorError;

/// How much of a file is looked at.
const LOOKED_AT: usize = 256 * 1024;

/// A framework, and what told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// The name of the collector.
    pub collector: String,
    /// The file that told, as seen from its folder; nothing where the collector was named and no file tells of it.
    pub file: Option<String>,
    /// The folder of the project, where that is not the root of the repository.
    pub folder: Option<String>,
}

/// The first collector whose file is there: those of the settings, then the built-in ones in their order.
///
/// # Errors
/// When none is there, or a file cannot be read.
pub fn detect(
    files: &dyn Files,
    root: &HostPath,
    own: &BTreeMap<String, CollectorSettings>,
) -> Result<Detected, CollectorError> {
    for name in builtin::names(own) {
        for (file, pattern) in builtin::find(name, own)?.detect {
            // Patterns are for whole repositories: see `find_project`.
            if file.contains('*') {
                continue;
            }
            let pattern = Regex::new(pattern.as_str()).map_err(|source| CollectorError::Pattern {
                name: name.to_owned(),
                key: "detect",
                source,
            })?;
            if is_told_by(files, &root.join(&file), &pattern)? {
                return Ok(Detected { collector: name.to_owned(), file: Some(file), folder: None });
            }
        }
    }
    let known = builtin::names(own).into_iter().map(str::to_owned).collect();
    Err(CollectorError::NotDetected { root: root.clone(), known })
}

fn is_told_by(files: &dyn Files, path: &HostPath, pattern: &Regex) -> Result<bool, FilesError> {
    match files.read_part(path, 0, LOOKED_AT) {
        Ok(bytes) => Ok(pattern.is_match(&String::from_utf8_lossy(&bytes))),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::files::{Access, Durability};
    use mngr_host::local::LocalFiles;

    use super::*;

    #[test]
    fn files_tell_of_the_framework_and_own_collectors_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let put = |name: &str, text: &str| {
            LocalFiles.write(&root.join(name), text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
        };
        let mut own = BTreeMap::new();
        let found = |own: &_| {
            detect(&LocalFiles, &root, own).ok().map(|found| (found.collector, found.file.unwrap()))
        };
        assert_eq!(found(&own), None);
        put("package.json", r#"{"devDependencies": {"jest": "30"}}"#);
        assert_eq!(found(&own), Some(("jest".into(), "package.json".into())));
        put("package.json", r#"{"devDependencies": {"vitest": "4"}}"#);
        assert_eq!(found(&own), Some(("vitest".into(), "package.json".into())));
        put("Cargo.toml", "");
        assert_eq!(found(&own), Some(("cargo-nextest".into(), "Cargo.toml".into())));
        put("setup.cfg", "[metadata]");
        assert_eq!(found(&own), Some(("cargo-nextest".into(), "Cargo.toml".into())));
        put("setup.cfg", "[tool:pytest]");
        assert_eq!(found(&own), Some(("pytest".into(), "setup.cfg".into())));
        put("tests.list", "");
        own = toml::from_str("[mine.detect]\n'tests.list' = ''").unwrap();
        assert_eq!(found(&own), Some(("mine".into(), "tests.list".into())));
    }
}
