//! The real agents, pinned and set up: found once, then given a home in which they start against a
//! [`ModelServer`] with no dialog and nothing beyond loopback.
//!
//! Budget: one run of `scripts/ensure-agents`, which only looks once they are installed. What the agents
//! themselves start inherits the environment and ends with it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ModelServer;
use crate::TestEnv;
use crate::or_fail::OrFail;

mod settings;

/// Names the folder of programs to use instead of the pinned ones.
const BIN_VARIABLE: &str = "MNGR_TEST_AGENTS_BIN";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/ensure-agents");

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brand {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
}

impl Brand {
    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }
}

/// Whether an agent has been started before by the user of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstStart {
    /// It has: its questions about the key and the trust in the work dir are answered.
    Over,
    /// It has not, and it will ask, where it does. opencode never does.
    Ahead,
}

/// The folders an agent is set up in.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// Gets a link to its program.
    pub bin: &'a Path,
    /// Gets its settings.
    pub home: &'a Path,
    /// The repository it is trusted with, unless its first start is ahead.
    pub work_dir: &'a Path,
}

/// The programs of the agents.
///
/// ```no_run
/// use mngr_testkit::TestEnv;
/// use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer};
///
/// let agents = Agents::installed();
/// let model = ModelServer::start();
/// let mut env = TestEnv::new("target/debug/mngr");
/// agents.set_up(Brand::Claude, FirstStart::Over, &mut env, &model);
/// env.mngr(["create", "fix", "--type", "claude", "--no-connect"]).success();
/// ```
#[derive(Clone, Debug)]
pub struct Agents {
    bin: PathBuf,
}

impl Agents {
    /// The agents of `agents.lock`, installed where that has not been done yet. A test that needs them fails without
    /// them: where npm cannot be reached, whoever runs the tests leaves those of real agents out and says so.
    #[track_caller]
    pub fn installed() -> Self {
        if let Some(bin) = std::env::var_os(BIN_VARIABLE) {
            return Self { bin: bin.into() };
        }
        let output = Command::new(SCRIPT).output().or_fail(format_args!("running `{SCRIPT}`"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{SCRIPT}` failed with {}:\n{}", output.status, errors.trim());
        Self { bin: String::from_utf8_lossy(&output.stdout).trim().into() }
    }

    /// The file of a program, all links followed.
    #[track_caller]
    pub fn program_file(&self, brand: Brand) -> PathBuf {
        let program = self.bin.join(brand.program());
        fs::canonicalize(&program).or_fail(format_args!("finding `{}`", program.display()))
    }

    /// Makes `brand` the one agent of the environment, ready to talk to `model`.
    ///
    /// Its program is put first on `PATH` and its settings into the home. Of the other agents only those stay
    /// visible that the machine itself has on its `PATH`.
    #[track_caller]
    pub fn set_up(&self, brand: Brand, first_start: FirstStart, env: &mut TestEnv, model: &ModelServer) {
        let (bin, home, work_dir) = (env.root().join("bin"), env.home(), env.work_dir());
        let folders = Folders { bin: &bin, home: &home, work_dir: &work_dir };
        for (name, value) in self.set_up_in(brand, first_start, &folders, model) {
            env.set_var(name, value);
        }
        let mut path = OsString::from(bin);
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        env.set_var("PATH", path);
    }

    /// The same for an environment that is not ours. What is left to do there: set the variables returned, and put the
    /// folder of programs first on `PATH`.
    #[track_caller]
    pub fn set_up_in(
        &self,
        brand: Brand,
        first_start: FirstStart,
        folders: &Folders<'_>,
        model: &ModelServer,
    ) -> Vec<(&'static str, String)> {
        fs::create_dir_all(folders.bin).or_fail("making the folder of the agent's program");
        let program = self.bin.join(brand.program());
        symlink(&program, folders.bin.join(brand.program()))
            .or_fail(format_args!("linking to `{}`", program.display()));
        let place = settings::Place { url: model.url(), work_dir: folders.work_dir.to_owned(), first_start };
        for (file, content) in settings::files(brand, &place) {
            write(&folders.home.join(file), &content);
        }
        settings::variables(brand, &place)
    }
}

#[track_caller]
fn write(path: &Path, content: &str) {
    let written = match path.parent() {
        Some(folder) => fs::create_dir_all(folder),
        None => Ok(()),
    };
    written.and_then(|()| fs::write(path, content)).or_fail(format_args!("writing `{}`", path.display()));
}

#[cfg(test)]
mod tests;
