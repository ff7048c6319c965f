//! The real agents, pinned and set up: found once, then given a home in which they start against a
//! [`ModelServer`] with no dialog and nothing beyond loopback.
//!
//! Budget: one run of `scripts/ensure-agents`, which only looks once they are installed. What the agents
//! themselves start inherits the environment and ends with it.

use std::ffi::OsString;
use std::fmt;
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
/// With this code the script says that npm cannot be reached.
const UNREACHABLE: i32 = 3;

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

/// Why there are no agents: npm cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// The programs of the agents.
///
/// ```no_run
/// use mngr_testkit::TestEnv;
/// use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer};
///
/// let Some(agents) = Agents::or_skip() else { return };
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
    /// Finds the agents of `agents.lock`, and installs them where that has not been done yet.
    #[track_caller]
    pub fn find() -> Result<Self, Missing> {
        if let Some(bin) = std::env::var_os(BIN_VARIABLE) {
            return Ok(Self { bin: bin.into() });
        }
        let output = Command::new(SCRIPT).output().or_fail(format_args!("running `{SCRIPT}`"));
        let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.code() == Some(UNREACHABLE) {
            return Err(Missing(errors));
        }
        assert!(output.status.success(), "`{SCRIPT}` failed with {}:\n{errors}", output.status);
        Ok(Self { bin: String::from_utf8_lossy(&output.stdout).trim().into() })
    }

    /// Finds the agents, or says loudly why the test that needs them is skipped.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "the test runner shows this")]
    pub fn or_skip() -> Option<Self> {
        Self::find().map_err(|missing| eprintln!("SKIPPED, because\n{missing}")).ok()
    }

    /// Makes `brand` the one agent of the environment, ready to talk to `model`.
    ///
    /// Its program is put first on `PATH` and its settings into the home. Of the other agents only those stay
    /// visible that the machine itself has on its `PATH`.
    #[track_caller]
    pub fn set_up(&self, brand: Brand, first_start: FirstStart, env: &mut TestEnv, model: &ModelServer) {
        let bin = env.root().join("bin");
        fs::create_dir_all(&bin).or_fail("making the folder of the agent's program");
        let program = self.bin.join(brand.program());
        symlink(&program, bin.join(brand.program()))
            .or_fail(format_args!("linking to `{}`", program.display()));
        let mut path = OsString::from(bin);
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        env.set_var("PATH", path);
        let place = settings::Place { url: model.url(), work_dir: env.work_dir(), first_start };
        for (name, value) in settings::variables(brand, &place) {
            env.set_var(name, value);
        }
        for (file, content) in settings::files(brand, &place) {
            write(&env.home().join(file), &content);
        }
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
