//! A project in a folder of its repository: its framework is asked there, and ids that name files begin at the root of the
//! repository all the same, because everything else in a run does.

use mngr_model::run::TaskId;

use super::collector::Collector;
use super::outcome::TestResult;

impl Collector {
    /// An id or a path as the framework is told: without the folder it runs in.
    pub(super) fn inner<'a>(&self, outer: &'a str) -> &'a str {
        match &self.selection.folder {
            Some(folder) if self.paths_are_files => match below(folder, outer) {
                Some("") => ".",
                Some(inner) => inner,
                None => outer,
            },
            _ => outer,
        }
    }

    /// An id that the framework said, as everybody else knows it.
    pub(super) fn outer(&self, inner: &TaskId) -> TaskId {
        let named = match &self.selection.folder {
            Some(folder) if self.paths_are_files => format!("{folder}/{inner}").parse().ok(),
            _ => None,
        };
        named.unwrap_or_else(|| inner.clone())
    }

    /// A result that the framework reported: its places are where everybody else finds them.
    pub(super) fn outer_result(&self, mut result: TestResult) -> TestResult {
        if let Some(folder) = &self.selection.folder {
            for spot in &mut result.spots {
                spot.path = format!("{folder}/{}", spot.path);
            }
        }
        result
    }

    /// The paths that were asked for, as the framework is told.
    pub(super) fn inner_paths(&self) -> Vec<String> {
        let paths = self.selection.paths.iter();
        paths.filter(|path| self.is_inside(path)).map(|path| self.inner(path).to_owned()).collect()
    }

    /// Whether a path is in the folder that commands run in.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        match &self.selection.folder {
            Some(folder) if self.paths_are_files => below(folder, path).is_some(),
            _ => true,
        }
    }
}

/// The rest of a path below a folder.
fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.trim_start_matches("./").strip_prefix(folder)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}
