//! The names that the user's ssh config has for machines, in the file itself and in those it includes.

use mngr_host::files::Files as _;
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;

use crate::ctx::Surroundings;

/// Where the config is, and what it includes by relative paths.
const FOLDER: &str = "~/.ssh";

/// The names that stand for one machine and can be a host's.
pub(super) fn names(surroundings: &Surroundings) -> Vec<String> {
    let mut found = Vec::new();
    read(surroundings, surroundings.path(FOLDER).join("config"), &mut Vec::new(), &mut found);
    found
}

fn read(surroundings: &Surroundings, file: HostPath, seen: &mut Vec<HostPath>, found: &mut Vec<String>) {
    // Files may include each other.
    if seen.contains(&file) {
        return;
    }
    let bytes = LocalFiles.read_if_there(&file).ok().flatten().unwrap_or_default();
    seen.push(file);
    for (word, values) in String::from_utf8_lossy(&bytes).lines().filter_map(directive) {
        let values = values.split_whitespace();
        if word.eq_ignore_ascii_case("host") {
            found.extend(values.filter(|name| is_one_machine(name)).map(str::to_owned));
        } else if word.eq_ignore_ascii_case("include") {
            for included in values.flat_map(|pattern| matching(surroundings, pattern)) {
                read(surroundings, included, seen, found);
            }
        }
    }
}

/// `Host box lab` and `host=box`.
fn directive(line: &str) -> Option<(&str, &str)> {
    line.trim().split_once([' ', '\t', '='])
}

fn is_one_machine(name: &str) -> bool {
    !name.contains(['*', '?', '!', '.', '"'])
}

/// The files that an `Include` means. Only the last part of a path may be a pattern here.
fn matching(surroundings: &Surroundings, pattern: &str) -> Vec<HostPath> {
    let pattern = pattern.trim_matches('"');
    let is_whole = pattern.starts_with(['~', '/']);
    let path = if is_whole { surroundings.path(pattern) } else { surroundings.path(FOLDER).join(pattern) };
    let Some((folder, name)) = path.as_str().rsplit_once('/') else { return Vec::new() };
    if !name.contains(['*', '?']) {
        return vec![path];
    }
    let folder = HostPath::new(folder);
    let mut names: Vec<String> =
        LocalFiles.list(&folder).unwrap_or_default().into_iter().map(|entry| entry.name).collect();
    names.retain(|it| is_like(name.as_bytes(), it.as_bytes()));
    names.sort();
    names.iter().map(|name| folder.join(name)).collect()
}

/// Whether a name fits a pattern of `*` and `?`.
fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if is_like(rest, name) => true,
        (Some((b'*', _)), Some((_, more))) => is_like(pattern, more),
        (Some((b'?', rest)), Some((_, more))) => is_like(rest, more),
        (Some((wanted, rest)), Some((letter, more))) => wanted == letter && is_like(rest, more),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_are_hosts_and_patterns_are_not_in_all_files() {
        let home = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(home.path().join(file), text).unwrap();
        fs::create_dir_all(home.path().join(".ssh/conf.d")).unwrap();
        let config = "Include conf.d/*.conf ~/more\nHost box lab *.example\n  HostName 10.0.0.1\nHost *\nhost=other\n\
                      # Host no\nHost a.b\nInclude nowhere\n";
        write(".ssh/config", config);
        write(".ssh/conf.d/one.conf", "Host one\nInclude config\n");
        write(".ssh/conf.d/two.bak", "Host two\n");
        write("more", "Host three\n");
        let home = home.path().to_str().unwrap();
        let mut found = names(&Surroundings::of(&[("HOME", home)], "/nonexistent"));
        found.sort();
        found.dedup();
        assert_eq!(found, ["box", "lab", "one", "other", "three"]);
    }

    #[test]
    fn a_pattern_is_matched_from_end_to_end() {
        for (pattern, name, expected) in [
            ("*.conf", "a.conf", true),
            ("*.conf", "a.conf~", false),
            ("?", "a", true),
            ("?", "", false),
            ("*", "", true),
        ] {
            assert_eq!(is_like(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
