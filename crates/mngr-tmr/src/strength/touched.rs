//! Which tests a change touches: their own source, or something in their file that they use. Pure.

use std::collections::{BTreeMap, BTreeSet};

use mngr_model::run::TaskId;

use super::measure::Subject;
use super::test_files::{TestFile, TestFiles};
use crate::syntax::Source;

/// The tests a change touches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// Those there were.
    pub(super) old: BTreeSet<TaskId>,
    /// Those there are.
    pub(super) new: BTreeSet<TaskId>,
    /// Those there are and were not.
    pub(super) added: BTreeSet<TaskId>,
    /// Those there are whose own source was changed or added. What another test of the file notices is not theirs.
    pub(super) own: BTreeSet<TaskId>,
}

impl Touched {
    /// Given what is found with the old and with the new tests. The test of the task is always touched.
    pub(super) fn of(subject: &Subject<'_>, old_ids: &BTreeSet<TaskId>, new_ids: &BTreeSet<TaskId>) -> Self {
        let (task, files) = (subject.task, subject.files);
        let added: BTreeSet<TaskId> = new_ids.difference(old_ids).cloned().collect();
        let gone = old_ids.difference(new_ids).cloned();
        let ids = old_ids.iter().chain(new_ids).chain([task]);
        let tests: BTreeSet<&str> = ids.map(|id| own_name(id.as_str())).collect();
        let views: Vec<FileView<'_>> = files.iter().map(FileView::of).collect();
        let is_touched = |id: &&TaskId| views.iter().any(|view| view.touches(id, &tests));
        let of = |ids: &BTreeSet<TaskId>| ids.iter().filter(is_touched).cloned().collect::<BTreeSet<_>>();
        let (mut old, mut new) = (of(old_ids), of(new_ids));
        let is_own = |id: &&TaskId| views.iter().any(|view| view.is_own(id));
        let mut own: BTreeSet<TaskId> = new.iter().filter(is_own).cloned().collect();
        own.extend(added.iter().cloned());
        own.insert(task.clone());
        old.extend(gone);
        new.extend(added.iter().cloned());
        if !subject.is_new && (old_ids.is_empty() || old_ids.contains(task)) {
            old.insert(task.clone());
        }
        new.insert(task.clone());
        Self { old, new, added, own }
    }
}

/// The tests of a change that was made for no task.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnTests {
    /// Those whose own source was changed.
    pub(crate) changed: BTreeSet<TaskId>,
    /// Those that use something else in their file that was changed.
    pub(crate) touched: BTreeSet<TaskId>,
    /// Those that are new.
    pub(crate) added: BTreeSet<TaskId>,
    /// Those that are gone.
    pub(crate) gone: BTreeSet<TaskId>,
}

/// Finds them, given what is found with the old and with the new tests.
pub(crate) fn own_tests(
    files: &TestFiles,
    old_ids: &BTreeSet<TaskId>,
    new_ids: &BTreeSet<TaskId>,
) -> OwnTests {
    let views: Vec<FileView<'_>> = files.iter().map(FileView::of).collect();
    let names: BTreeSet<&str> = old_ids.union(new_ids).map(|id| own_name(id.as_str())).collect();
    let mut own = OwnTests {
        added: new_ids.difference(old_ids).cloned().collect(),
        gone: old_ids.difference(new_ids).cloned().collect(),
        ..OwnTests::default()
    };
    for id in old_ids.intersection(new_ids) {
        if views.iter().any(|view| view.is_own(id)) {
            own.changed.insert(id.clone());
        } else if views.iter().any(|view| view.touches(id, &names)) {
            own.touched.insert(id.clone());
        }
    }
    own
}

/// Whether an id names a test of this file.
pub(super) fn is_in(file: &TestFile, id: &TaskId) -> bool {
    FileView::of(file).has(id)
}

/// What of a file was changed.
struct FileView<'a> {
    path: &'a str,
    /// The functions there are, before or after; nothing where the file cannot be read.
    known: Option<BTreeSet<String>>,
    /// Those that were changed.
    changed: BTreeSet<String>,
    /// Whether something outside of functions was changed, or a function that is no test.
    is_wide: bool,
}

impl<'a> FileView<'a> {
    fn of(file: &'a TestFile) -> Self {
        let side = |text: &Option<String>, source: &Option<Source>| match (text, source) {
            (Some(text), Some(source)) => Some(parts(text, source)),
            (None, _) => Some(Parts::default()),
            (Some(_), None) => None,
        };
        let both = side(&file.old, &file.old_source).zip(side(&file.new, &file.new_source));
        let Some((old, new)) = both.filter(|_| file.language.is_some()) else {
            return Self { path: &file.path, known: None, changed: BTreeSet::new(), is_wide: true };
        };
        let names = old.functions.keys().chain(new.functions.keys());
        let known: BTreeSet<String> = names.cloned().collect();
        let is_changed = |name: &&String| old.functions.get(*name) != new.functions.get(*name);
        let changed: BTreeSet<String> = known.iter().filter(is_changed).cloned().collect();
        let is_wide = old.outside != new.outside;
        Self { path: &file.path, known: Some(known), changed, is_wide }
    }

    /// Whether the test is in this file.
    fn has(&self, id: &TaskId) -> bool {
        let id = id.as_str();
        let below = |mark: &str| id.strip_prefix(self.path).is_some_and(|rest| rest.starts_with(mark));
        if id == self.path || below("::") || below(" > ") {
            return true;
        }
        // Frameworks that name a binary or a package and no file: by the name of the function.
        let names_a_file = id.contains(".py::") || id.contains(" > ");
        let is_known = |known: &BTreeSet<String>| known.contains(own_name(id));
        !names_a_file && self.known.as_ref().is_some_and(is_known)
    }

    /// Whether the source of this test itself was changed, or nobody can say that it was not.
    fn is_own(&self, id: &TaskId) -> bool {
        let name = own_name(id.as_str());
        let is_function = self.known.as_ref().is_some_and(|known| known.contains(name));
        self.has(id) && (!is_function || self.changed.contains(name))
    }

    /// Whether the change touches this test.
    fn touches(&self, id: &TaskId, tests: &BTreeSet<&str>) -> bool {
        if !self.has(id) {
            return false;
        }
        let name = own_name(id.as_str());
        let is_function = self.known.as_ref().is_some_and(|known| known.contains(name));
        // What is no test may be used by every test of the file.
        let helper_changed = self.changed.iter().any(|changed| !tests.contains(changed.as_str()));
        self.is_wide || !is_function || self.changed.contains(name) || helper_changed
    }
}

#[derive(Default, PartialEq)]
struct Parts {
    functions: BTreeMap<String, Vec<String>>,
    outside: Vec<String>,
}

fn parts(text: &str, source: &Source) -> Parts {
    let mut parts = Parts::default();
    let functions = source.functions();
    let plain = |line: &str| line.trim().to_owned();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut inside = functions.iter().filter(|function| function.lines.contains(&(at + 1))).peekable();
        if inside.peek().is_none() {
            parts.outside.push(plain(line));
        }
        for function in inside {
            let name = own_name(&function.name).to_owned();
            parts.functions.entry(name).or_default().push(plain(line));
        }
    }
    parts
}

/// The part of an id that names a file, where ids name files.
pub(crate) fn file_of(id: &TaskId) -> &str {
    let id = id.as_str();
    let end = ["::", " > "].into_iter().filter_map(|mark| id.find(mark)).min();
    &id[..end.unwrap_or(id.len())]
}

/// The last part of the name of a test or function, without its parameters.
pub(crate) fn own_name(id: &str) -> &str {
    let plain = id.split_once('[').map_or(id, |(plain, _)| plain);
    plain.rsplit([':', '.', ' ', '>']).next().unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_name_of_a_test_is_its_last_part() {
        for (id, name) in [
            ("tests/test_a.py::TestB::test_c[1-a.b::c]", "test_c"),
            ("krate::it outer::adds", "adds"),
            ("example.com/m TestAdds", "TestAdds"),
            ("Class.method", "method"),
        ] {
            assert_eq!(own_name(id), name);
        }
    }
}
