//! Whether one command line or one written file is covered by a permission set.

use mngr_model::HostPath;
use mngr_model::permission::Granted;

/// Why something is not covered by the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCovered(pub String);

/// Judges what one agent is about to do.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'g> {
    /// What it may do.
    pub granted: &'g Granted,
}

impl Judge<'_> {
    /// Whether this command line may be run in this folder.
    ///
    /// # Errors
    /// What of it is not covered.
    pub fn command(&self, line: &str, cwd: &str) -> Result<(), NotCovered> {
        if self.granted.set.lines.iter().any(|known| known.trim() == line.trim()) {
            return Ok(());
        }
        super::shell::judge(self, line, cwd)
    }

    /// Whether this file may be written; a path that is not absolute is below `cwd`.
    ///
    /// # Errors
    /// Why not.
    pub fn writes(&self, path: &str, cwd: &str) -> Result<(), NotCovered> {
        let path = absolute(path, cwd);
        if matches!(path.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty") {
            return Ok(());
        }
        let state = &self.granted.state_dir;
        let is_open = ["status", "activity"].iter().any(|name| is_below(&path, &format!("{state}/{name}")))
            || is_below(&path, &format!("{state}/plugin/tmr"));
        if is_open {
            return Ok(());
        }
        // The work dir may itself lie in the folder for temporary files, and its state folder too.
        if is_below(&path, &self.granted.work_dir) {
            let inside = &path[self.granted.work_dir.len()..];
            return match inside.split('/').any(|part| part == ".git") {
                true => Err(NotCovered(format!("`{path}` belongs to git"))),
                false => Ok(()),
            };
        }
        if is_below(&path, state) {
            return Err(NotCovered(format!("`{path}` belongs to mngr")));
        }
        if is_below(&path, "/tmp") && path != "/tmp" {
            return Ok(());
        }
        Err(NotCovered(format!("`{path}` is outside of the work dir")))
    }

    /// What the set covers, for an agent that was refused something.
    pub fn in_words(&self) -> String {
        let set = &self.granted.set;
        let mut parts = vec![
            "changing files in the work dir".to_owned(),
            "commands that only read".to_owned(),
            "the command you were given for the test, with other tests and options too".to_owned(),
            format!("git {}", set.git.join(", ")),
            "publish".to_owned(),
        ];
        parts.extend(set.allow.iter().map(|pattern| format!("`{pattern}`")));
        parts.join("; ")
    }
}

/// The path without `.`, `..` and doubled slashes, by its letters alone.
pub(super) fn absolute(path: &str, cwd: &str) -> String {
    let joined = HostPath::new(cwd).join(path).to_string();
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether a path is this folder or below it.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    !folder.is_empty()
        && path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
