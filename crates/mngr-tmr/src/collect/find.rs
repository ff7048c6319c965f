//! Where in a repository the project is whose tests are meant, and which framework it uses: told by the files of the last
//! commit, because that is what is tested.
//!
//! Processes: 2 of git, and one for each file whose text has to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use mngr_config::CollectorSettings;
use mngr_host::git::Git;
use regex::Regex;

use super::builtin;
use super::collector::CollectorError;
use super::detect::Detected;
use crate::verify::Glob;

/// Folders that hold what others wrote.
const FOREIGN: [&str; 4] = ["node_modules", "site-packages", "vendor", "third_party"];

/// Where the user is, and what he named.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing<'a> {
    /// The folder of the repository he stands in; nothing for its root.
    pub folder: &'a str,
    /// The paths that he named, from the root of the repository.
    pub paths: &'a [String],
    /// The collector that he named.
    pub collector: Option<&'a str>,
}

/// Finds the project: at the root of the repository, else on the way to where the user stands or to the paths that he
/// named, else below that. A collector that was named runs at the root.
///
/// # Errors
/// When none is there, or there are several, or the repository cannot be read.
pub fn find_project(
    git: &Git<'_>,
    own: &BTreeMap<String, CollectorSettings>,
    standing: &Standing<'_>,
) -> Result<Detected, CollectorError> {
    if let Some(name) = standing.collector {
        builtin::find(name, own)?;
        return Ok(Detected { collector: name.to_owned(), file: None, folder: None });
    }
    let names = builtin::names(own);
    let mut search = Search { git, files: BTreeMap::new(), clues: Vec::new() };
    for (order, name) in names.iter().enumerate() {
        for (file, pattern) in builtin::find(name, own)?.detect {
            let pattern = Regex::new(pattern.as_str()).map_err(|source| CollectorError::Pattern {
                name: (*name).to_owned(),
                key: "detect",
                source,
            })?;
            search.clues.push(Clue { order, file, pattern });
        }
    }
    let commit = git.resolve("HEAD")?;
    search.files =
        git.files_in(&commit)?.into_iter().map(|file| (file.path.to_string(), file.blob)).collect();
    let found = search.plain(&start(standing))?;
    let found = match found {
        Some(found) => Some(found),
        None => search.anywhere()?,
    };
    match found {
        Some(Found { order, folder, file }) => {
            let folder = Some(folder).filter(|folder| !folder.is_empty());
            Ok(Detected { collector: names[order].to_owned(), file: Some(file), folder })
        }
        None => {
            let known = names.into_iter().map(str::to_owned).collect();
            Err(CollectorError::NotDetected { root: git.dir().clone(), known })
        }
    }
}

/// The folder to start from: that of the paths, else the one the user stands in.
fn start(standing: &Standing<'_>) -> String {
    let mut common: Option<Vec<&str>> = None;
    for path in standing.paths {
        let path = path.trim_start_matches("./").split("::").next().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        common = Some(match common {
            None => parts,
            Some(common) => {
                let same = common.iter().zip(&parts).take_while(|(one, other)| one == other).count();
                common[..same].to_vec()
            }
        });
    }
    common.map_or_else(|| standing.folder.to_owned(), |parts| parts.join("/"))
}

/// A file that tells of a framework.
struct Clue {
    /// The place of its collector among all.
    order: usize,
    file: String,
    pattern: Regex,
}

/// A project.
struct Found {
    order: usize,
    folder: String,
    file: String,
}

struct Search<'a> {
    git: &'a Git<'a>,
    /// The files of the commit, with their blobs.
    files: BTreeMap<String, String>,
    clues: Vec<Clue>,
}

impl Search<'_> {
    /// By files with plain names.
    fn plain(&self, start: &str) -> Result<Option<Found>, CollectorError> {
        let mut folder = String::new();
        let steps = start.split('/').filter(|step| !step.is_empty());
        for step in std::iter::once("").chain(steps) {
            folder = join(&folder, step);
            if let Some(found) = self.in_folder(&folder)? {
                return Ok(Some(found));
            }
        }
        let mut folders: BTreeSet<(usize, &str)> = BTreeSet::new();
        for path in
            self.files.keys().filter(|path| start.is_empty() || path.starts_with(&format!("{start}/")))
        {
            for clue in self.clues.iter().filter(|clue| !clue.is_pattern()) {
                let folder = path.strip_suffix(&clue.file).and_then(|rest| rest.strip_suffix('/'));
                let is_own = |folder: &&str| {
                    !folder.split('/').any(|part| part.starts_with('.') || FOREIGN.contains(&part))
                };
                folders.extend(folder.filter(is_own).map(|folder| (folder.split('/').count(), folder)));
            }
        }
        let mut nearest: Option<(usize, Found)> = None;
        let mut others = Vec::new();
        for (depth, folder) in folders {
            if nearest.as_ref().is_some_and(|(known, _)| *known < depth) {
                break;
            }
            match (self.in_folder(folder)?, &nearest) {
                (Some(found), None) => nearest = Some((depth, found)),
                (Some(found), Some(_)) => others.push(found.folder),
                (None, _) => {}
            }
        }
        match nearest {
            Some((_, first)) if !others.is_empty() => {
                others.insert(0, first.folder);
                Err(CollectorError::Several { folders: others })
            }
            nearest => Ok(nearest.map(|(_, found)| found)),
        }
    }

    fn in_folder(&self, folder: &str) -> Result<Option<Found>, CollectorError> {
        for clue in self.clues.iter().filter(|clue| !clue.is_pattern()) {
            if self.is_told(clue, &join(folder, &clue.file))? {
                let (order, folder) = (clue.order, folder.to_owned());
                return Ok(Some(Found { order, folder, file: clue.file.clone() }));
            }
        }
        Ok(None)
    }

    /// By files anywhere, where no plain name tells anything.
    fn anywhere(&self) -> Result<Option<Found>, CollectorError> {
        for clue in self.clues.iter().filter(|clue| clue.is_pattern()) {
            let glob = Glob::new(&clue.file)?;
            for path in self.files.keys().filter(|path| glob.matches(path)) {
                if self.is_told(clue, path)? {
                    let (order, folder) = (clue.order, String::new());
                    return Ok(Some(Found { order, folder, file: path.clone() }));
                }
            }
        }
        Ok(None)
    }

    fn is_told(&self, clue: &Clue, path: &str) -> Result<bool, CollectorError> {
        let Some(blob) = self.files.get(path) else { return Ok(false) };
        if clue.pattern.as_str().is_empty() {
            return Ok(true);
        }
        let texts = self.git.read_blobs(std::slice::from_ref(blob))?;
        Ok(texts.iter().any(|text| clue.pattern.is_match(&String::from_utf8_lossy(text))))
    }
}

impl Clue {
    fn is_pattern(&self) -> bool {
        self.file.contains('*')
    }
}

fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;

    fn found(files: &[(&str, &str)], standing: Standing<'_>) -> Result<(String, Option<String>), String> {
        let lab = Lab::new(files);
        let git = Git::new(lab.host.as_ref(), lab.repository());
        let found = find_project(&git, &BTreeMap::new(), &standing).map_err(|error| error.to_string())?;
        Ok((found.collector, found.folder))
    }

    fn pytest(folder: Option<&str>) -> Result<(String, Option<String>), String> {
        Ok(("pytest".to_owned(), folder.map(str::to_owned)))
    }

    #[test]
    fn a_project_is_found_at_the_root_on_the_way_and_below() {
        let here = Standing::default();
        assert_eq!(found(&[("pytest.ini", ""), ("py/pytest.ini", "")], here), pytest(None));
        let below = [("py/pyproject.toml", "[tool.pytest.ini_options]"), ("other/pyproject.toml", "[build]")];
        assert_eq!(found(&below, here), pytest(Some("py")));
        let two = [("a/pytest.ini", ""), ("b/pytest.ini", ""), ("a/deep/pytest.ini", "")];
        assert_eq!(found(&two, Standing { folder: "b/x", ..here }), pytest(Some("b")));
        let paths = ["a/tests/test_x.py::test_y".to_owned()];
        assert_eq!(found(&two, Standing { paths: &paths, ..here }), pytest(Some("a")));
        let error = found(&two, here).unwrap_err();
        assert!(error.contains("`a`, `b`"), "{error}");
        assert_eq!(found(&two, Standing { collector: Some("pytest"), ..here }), pytest(None));
        assert_eq!(found(&[("node_modules/x/pytest.ini", ""), ("x", "")], here).map_err(drop), Err(()));
    }

    #[test]
    fn a_plain_folder_of_tests_is_pytest_unless_something_else_is_told() {
        let here = Standing::default();
        assert_eq!(found(&[("checks/test_a.py", "")], here), pytest(None));
        let rust = found(&[("checks/test_a.py", ""), ("Cargo.toml", "")], here).unwrap();
        assert_eq!(rust, ("cargo-nextest".to_owned(), None));
        assert!(found(&[("a.py", "")], here).is_err());
        assert_eq!(
            found(&[("a.py", "")], Standing { collector: Some("jest"), ..here }).unwrap().1,
            None,
            "one that was named runs at the root"
        );
    }
}
