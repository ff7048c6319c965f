//! The set of fields a view touches, so that a caller builds only those.

use std::collections::BTreeSet;

/// Which fields a query reads. Starts empty; [`FieldSet::everything`] is the set of a view without a choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    everything: bool,
    paths: BTreeSet<String>,
}

impl FieldSet {
    /// The set of no field.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of all fields, for views that show whole records.
    pub fn everything() -> Self {
        Self { everything: true, paths: BTreeSet::new() }
    }

    /// Adds one path, such as `name` or `host.state`.
    pub fn insert(&mut self, path: impl Into<String>) {
        self.paths.insert(path.into());
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: Self) {
        self.everything |= other.everything;
        self.paths.extend(other.paths);
    }

    /// Whether the view touches any part of `path`: the path itself, something below it, or all of what it is in.
    pub fn wants(&self, path: &str) -> bool {
        self.everything || self.paths.iter().any(|wanted| is_within(wanted, path) || is_within(path, wanted))
    }

    /// The wanted paths, sorted. Empty for [`FieldSet::everything`].
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether all fields are wanted.
    pub fn is_everything(&self) -> bool {
        self.everything
    }
}

impl<S: Into<String>> Extend<S> for FieldSet {
    fn extend<I: IntoIterator<Item = S>>(&mut self, paths: I) {
        self.paths.extend(paths.into_iter().map(Into::into));
    }
}

impl<S: Into<String>> FromIterator<S> for FieldSet {
    fn from_iter<I: IntoIterator<Item = S>>(paths: I) -> Self {
        let mut set = Self::new();
        set.extend(paths);
        set
    }
}

fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_what_overlaps_a_path() {
        let set: FieldSet = ["host.name", "labels"].into_iter().collect();
        assert!(set.wants("host"), "something below is wanted");
        assert!(set.wants("host.name"));
        assert!(set.wants("labels.x"), "the whole map is wanted");
        assert!(!set.wants("host.snapshots"));
        assert!(!set.wants("host.name_too"), "a name that only begins alike is another field");
        assert!(!set.wants("pid"));
    }

    #[test]
    fn everything_wants_everything_even_when_merged() {
        let mut set: FieldSet = ["name"].into_iter().collect();
        set.merge(FieldSet::everything());
        assert!(set.is_everything() && set.wants("pid"));
    }
}
