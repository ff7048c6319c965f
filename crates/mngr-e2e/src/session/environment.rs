//! A world of its own for one test: home, git identity, tmux servers, host dir, temporary files, a project to work in.
//!
//! Of this machine it sees the programs on `PATH` and nothing else; what is started in it ends with it. The cleaning is
//! done by a process that waits for our end, because a test may be killed. Budget: one `sh` for that, and one `sh` with
//! four `git` for the repository.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_host::host::Host;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::proc::{Cmd, Guard};
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::artifacts::{DESTROY_FILE, REENTER_FILE};
use mngr_model::env::{MNGR_E2E_OUTPUT_DIR, MNGR_HOST_DIR, MNGR_SETTING_PREFIX};
use mngr_model::quote::sh_quote;

use super::error::SessionError;
use super::secrets::looks_secret;

const GIT_CONFIG: &str = include_str!("../../../../python/src/mngr_e2e/shared/gitconfig");
const CLEAN_UP: &str = include_str!("../../../../python/src/mngr_e2e/shared/clean_up.sh");
const REENTER: &str = include_str!("../../../../python/src/mngr_e2e/shared/reenter.sh");

/// Where environments are made. Not `TMPDIR`: the path of a tmux socket has to fit into 108 bytes.
const PARENT: &str = "/tmp";
/// What is on `PATH` where there is none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How long the cleaning may take.
const CLEANING: Duration = Duration::from_secs(60);
/// What mngr does in the place of attaching, where there is nobody to look.
const RECORD: &str = "mngr record --connect";
/// Makes the project a repository.
const MAKE_REPOSITORY: &str =
    "git init --quiet && echo '# A project' >README.md && git add . && git commit --quiet -m 'First commit'";

/// What is in the project folder when the test begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Project {
    /// A git repository with one commit.
    #[default]
    Repository,
    /// Nothing.
    Empty,
}

/// The variable that makes mngr record an agent's terminal in the place of attaching to it. A command in a terminal is
/// recorded anyway, and attaches.
pub(crate) fn connect_setting() -> String {
    format!("{MNGR_SETTING_PREFIX}CONNECT_COMMAND")
}

/// The variables of a test, by name.
pub(crate) type Variables = BTreeMap<String, String>;

/// What becomes of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Remove,
    Keep,
}

/// The environment of one test.
#[derive(Debug)]
pub(crate) struct Environment {
    root: HostPath,
    guard: Option<Guard>,
}

impl Environment {
    /// A folder for it, with nothing in it but the host dir.
    pub(crate) fn make_root() -> Result<(HostPath, LocalHost), SessionError> {
        let root = HostPath::new(PARENT).join(&format!("e2e-{}", &random::hex32()[..8]));
        LocalFiles.make_new_folder(&root, Access::Private)?;
        let host = LocalHost::open(root.join("host"))?;
        Ok((root, host))
    }

    /// Fills the folder. From here on everything is cleaned up, whatever happens.
    pub(crate) fn open(
        host: &LocalHost,
        root: HostPath,
        artifacts: &HostPath,
        variables: &Variables,
        project: Project,
    ) -> Result<Self, SessionError> {
        let path = variables.get("PATH").map_or(USUAL_PATH, String::as_str);
        let cleaner = Cmd::shell(CLEAN_UP).args(["clean_up", root.as_str(), artifacts.as_str()]);
        let cleaner = cleaner.cwd(&HostPath::new("/")).env_clear().env("PATH", path).deadline(CLEANING);
        let environment = Self { root, guard: Some(host.start_guard(&cleaner)?) };
        let root = &environment.root;
        for folder in ["home", "project", "t", "tmp"] {
            LocalFiles.make_new_folder(&root.join(folder), Access::Private)?;
        }
        let config = root.join("home/.gitconfig");
        LocalFiles.write(&config, GIT_CONFIG.as_bytes(), Access::Shared, Durability::Cached)?;
        environment.write_variables(variables)?;
        if project == Project::Repository {
            environment.make_repository(host, variables)?;
        }
        Ok(environment)
    }

    /// The variables every test starts with.
    pub(crate) fn variables(root: &HostPath, artifacts: &HostPath, path: &str) -> Variables {
        let below = |folder: &str| root.join(folder).as_str().to_owned();
        let mut variables: Variables = [
            ("PATH", path.to_owned()),
            ("HOME", below("home")),
            ("TMPDIR", below("tmp")),
            ("TMUX_TMPDIR", below("t")),
            (MNGR_HOST_DIR, below("host")),
            (MNGR_E2E_OUTPUT_DIR, artifacts.as_str().to_owned()),
            ("GIT_CONFIG_GLOBAL", below("home/.gitconfig")),
            ("GIT_CONFIG_SYSTEM", "/dev/null".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        variables.insert(connect_setting(), RECORD.to_owned());
        variables
    }

    /// `PATH` inside: first what is under test, then what is on ours.
    pub(crate) fn path(first: &[&str], inherited: Option<&str>) -> String {
        let inherited = inherited.unwrap_or(USUAL_PATH);
        first.iter().copied().chain([inherited]).collect::<Vec<_>>().join(":")
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &HostPath {
        &self.root
    }

    /// The folder commands run in.
    pub(crate) fn project(&self) -> HostPath {
        self.root.join("project")
    }

    /// Leaves it for a person to look at, with the scripts to enter and to remove it among the artifacts.
    pub(crate) fn keep(&self, artifacts: &HostPath, variables: &Variables) -> Result<(), SessionError> {
        self.write_variables(variables)?;
        let root = sh_quote(self.root.as_str());
        let reenter = format!("#!/bin/sh\nset -- {root} \"$@\"\n{REENTER}");
        let folder = sh_quote(artifacts.as_str());
        let destroy = format!("#!/bin/sh\nset -- {root} {folder}\nexec </dev/null\n{CLEAN_UP}");
        for (name, text) in [(REENTER_FILE, reenter), (DESTROY_FILE, destroy)] {
            let script = artifacts.join(name);
            LocalFiles.write(&script, text.as_bytes(), Access::PrivateExecutable, Durability::Cached)?;
        }
        Ok(())
    }

    /// Lets the cleaner do its work, or go without it.
    pub(crate) fn end(&mut self, ending: Ending) -> Result<(), SessionError> {
        let Some(guard) = self.guard.take() else { return Ok(()) };
        let last_words: &[u8] = if ending == Ending::Keep { b"keep\n" } else { b"" };
        if guard.finish(last_words)?.success() {
            Ok(())
        } else {
            Err(SessionError::Remains { root: self.root.clone() })
        }
    }

    fn write_variables(&self, variables: &Variables) -> Result<(), FilesError> {
        let mut text = String::new();
        for (name, value) in variables.iter().filter(|(name, _)| !looks_secret(name)) {
            text.push_str(&format!("export {name}={}\n", sh_quote(value)));
        }
        let file = self.root.join("env.sh");
        LocalFiles.write(&file, text.as_bytes(), Access::Private, Durability::Cached)
    }

    fn make_repository(&self, host: &LocalHost, variables: &Variables) -> Result<(), SessionError> {
        let mut cmd = Cmd::shell(MAKE_REPOSITORY).cwd(&self.project()).env_clear();
        for (name, value) in variables {
            cmd = cmd.env(name, value);
        }
        let output = host.exec(&cmd)?;
        if output.success() {
            return Ok(());
        }
        Err(SessionError::Repository { path: self.project(), message: output.stderr_text() })
    }
}
