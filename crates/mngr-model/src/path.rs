//! A path on some host. It has no file methods on purpose: only the host it belongs to can open it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A UTF-8 path as some host spells it. Which host is known from where the value was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostPath(String);

impl HostPath {
    /// Takes the text as it is.
    pub fn new(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This path with `tail` below it; an absolute `tail` replaces it.
    pub fn join(&self, tail: &str) -> Self {
        if tail.starts_with('/') {
            return Self(tail.to_owned());
        }
        let mut text = String::with_capacity(self.0.len() + 1 + tail.len());
        text.push_str(&self.0);
        if !text.ends_with('/') {
            text.push('/');
        }
        text.push_str(tail);
        Self(text)
    }

    /// The folder that holds it, if there is one.
    pub fn parent(&self) -> Option<Self> {
        let trimmed = self.0.trim_end_matches('/');
        match trimmed.rfind('/') {
            None => None,
            Some(0) if trimmed.len() > 1 => Some(Self("/".to_owned())),
            Some(0) => None,
            Some(at) => Some(Self(trimmed[..at].to_owned())),
        }
    }

    /// The last component.
    pub fn file_name(&self) -> Option<&str> {
        let name = self.0.trim_end_matches('/').rsplit('/').next()?;
        (!name.is_empty() && name != "." && name != "..").then_some(name)
    }

    /// Whether it starts at the root.
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Whether it is `folder` or lies below it, by spelling alone.
    pub fn is_within(&self, folder: &HostPath) -> bool {
        match self.0.strip_prefix(folder.0.trim_end_matches('/')) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// Without `.` and `..` components and doubled slashes, by spelling alone.
    pub fn normalized(&self) -> Self {
        let mut parts: Vec<&str> = Vec::new();
        for part in self.0.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                ".." if self.is_absolute() => {}
                other => parts.push(other),
            }
        }
        let joined = parts.join("/");
        Self(if self.is_absolute() { format!("/{joined}") } else { joined })
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for HostPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for HostPath {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_parent_and_name() {
        let path = HostPath::new("/a").join("b").join("c.txt");
        assert_eq!(path.as_str(), "/a/b/c.txt");
        assert_eq!(path.file_name(), Some("c.txt"));
        assert_eq!(path.parent(), Some(HostPath::new("/a/b")));
        assert_eq!(HostPath::new("/a").parent(), Some(HostPath::new("/")));
        assert_eq!(HostPath::new("/").parent(), None);
        assert_eq!(HostPath::new("/a").join("/b").as_str(), "/b");
    }

    #[test]
    fn within_compares_whole_components() {
        assert!(HostPath::new("/a/b").is_within(&HostPath::new("/a")));
        assert!(HostPath::new("/a").is_within(&HostPath::new("/a/")));
        assert!(!HostPath::new("/ab").is_within(&HostPath::new("/a")));
    }

    #[test]
    fn normalized_never_climbs_over_the_root() {
        assert_eq!(HostPath::new("/a/./b//../c").normalized().as_str(), "/a/c");
        assert_eq!(HostPath::new("/../../etc").normalized().as_str(), "/etc");
        assert_eq!(HostPath::new("../x").normalized().as_str(), "../x");
    }
}
