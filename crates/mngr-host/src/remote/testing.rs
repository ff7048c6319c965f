//! Lines for tests that lead no further than to another shell of this machine.

use std::path::PathBuf;
use std::sync::Arc;

use super::line::{Line, Terminal};
use super::shells::Shells;
use crate::proc::{Cmd, Exit};

/// A line to a shell of this machine, with its own folder for temporary files.
pub(crate) struct ShellLine {
    shell: String,
    path: String,
    pub(crate) root: tempfile::TempDir,
    prefix: String,
    suffix: String,
}

/// The exit code by which the line speaks of itself, as ssh does.
const BROKEN: i32 = 255;

impl ShellLine {
    /// A line to that shell.
    pub(crate) fn to(shell: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("tmp")).unwrap();
        let path = std::env::var("PATH").unwrap();
        Self { shell: shell.to_owned(), path, root, prefix: String::new(), suffix: String::new() }
    }

    /// A line to busybox, where the small programs are busybox too. What it lacks is this machine's.
    pub(crate) fn to_busybox() -> Self {
        let mut line = Self::to("/bin/sh");
        let bin = line.root.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let installed = std::process::Command::new("busybox").args(["--install", "-s"]).arg(&bin).status();
        assert!(installed.unwrap().success());
        line.shell = bin.join("sh").to_str().unwrap().to_owned();
        line.path = format!("{}:{}", bin.display(), line.path);
        line
    }

    /// The same line, on which this is run before anything else.
    pub(crate) fn with_prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// The same line, with this behind everything that is run on it.
    pub(crate) fn with_suffix(mut self, suffix: &str) -> Self {
        suffix.clone_into(&mut self.suffix);
        self
    }

    /// The same line, with these folders of programs.
    pub(crate) fn with_path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// The folders of programs there.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Where the shells there keep their files.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }
}

impl Line for ShellLine {
    fn name(&self) -> &str {
        "test"
    }

    fn command(&self, line: &str, _terminal: Terminal) -> Cmd {
        // A session of its own, as behind a real link: what ends our side must not reach the other.
        Cmd::new("setsid")
            .args(["--wait", "env", &format!("PATH={}", self.path), "sh", "-c"])
            .arg(format!("{}{line}{}", self.prefix, self.suffix))
            .env("TMPDIR", self.tmp().to_str().unwrap())
            .cwd(&mngr_model::HostPath::new(self.root.path().to_str().unwrap()))
    }

    fn is_broken_by(&self, exit: Exit) -> bool {
        exit == Exit::Code(BROKEN)
    }

    fn copy_shell(&self) -> Vec<String> {
        vec!["false".to_owned()]
    }

    fn copy_name(&self) -> String {
        self.name().to_owned()
    }

    fn shell(&self) -> &str {
        &self.shell
    }
}

/// Shells of every kind that a host may have.
pub(crate) fn all_kinds() -> Vec<(Arc<ShellLine>, Shells)> {
    let lines = [ShellLine::to("/bin/dash"), ShellLine::to("/bin/bash"), ShellLine::to_busybox()];
    lines.into_iter().map(with_shells).collect()
}

/// The line and shells on it.
pub(crate) fn with_shells(line: ShellLine) -> (Arc<ShellLine>, Shells) {
    let line = Arc::new(line);
    (line.clone(), Shells::new(line))
}
