//! Where settings are kept: the user's own file, and the two files of the repository.

use std::io;
use std::path::{Path, PathBuf};

use mngr_config::LayerKind;
use mngr_host::files::{Access, Durability, Files};
use mngr_host::local::LocalFiles;
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::env as names;
use mngr_model::layout::HostLayout;

use super::repository::{self, Repository};
use super::surroundings::Surroundings;
use crate::error::{CliError, ErrorKind};

/// The settings of a repository on this machine.
const LOCAL_FILE: &str = "settings.local.toml";
/// Keeps git from seeing the local settings, and itself: a repository must not look changed because of them.
const IGNORE_LOCAL: &str = "/settings.local.toml\n/.gitignore\n";

/// Which file a setting is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// The user's own settings, for all repositories.
    User,
    /// The repository's settings, meant to be committed.
    Project,
    /// The repository's settings on this machine, meant to be ignored by git.
    Local,
}

impl Scope {
    /// All scopes, lowest precedence first.
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        self.layer().as_str()
    }

    /// The layer its file becomes.
    pub(crate) fn layer(self) -> LayerKind {
        match self {
            Self::User => LayerKind::User,
            Self::Project => LayerKind::Project,
            Self::Local => LayerKind::Local,
        }
    }
}

/// One settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScopeFile {
    /// Where it is, or would be.
    pub(crate) path: HostPath,
    /// What is in it; `None` when there is no such file.
    pub(crate) text: Option<String>,
}

/// A settings file that cannot be used.
#[derive(Debug, thiserror::Error)]
enum ScopeError {
    #[error("cannot read `{path}`")]
    Read {
        path: HostPath,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` does not name a profile: expected `profile = \"...\"` with letters and digits")]
    Profile { path: HostPath },
}

/// The places of all settings files.
#[derive(Debug, Clone)]
pub(crate) struct Scopes {
    layout: HostLayout,
    project_dir: Option<PathBuf>,
    /// The repository the project's settings belong to; `None` when they are the user's own.
    repository: Option<Repository>,
    root_name: String,
}

impl Scopes {
    /// Finds the places. Reads no settings yet.
    pub(crate) fn find(surroundings: &Surroundings) -> Self {
        let root_name = surroundings.root_name().to_owned();
        let host_dir = surroundings
            .var(names::MNGR_HOST_DIR)
            .filter(|dir| !dir.is_empty())
            .map_or_else(|| surroundings.path(&format!("~/.{root_name}")), |dir| surroundings.path(dir));
        let chosen = surroundings.var(names::MNGR_PROJECT_CONFIG_DIR).filter(|dir| !dir.is_empty());
        let (project_dir, repository) = match chosen {
            Some(dir) => {
                let dir = PathBuf::from(surroundings.path(dir).as_str());
                let repository = repository::around(&dir);
                (Some(dir), repository)
            }
            None => {
                let repository = repository::around(Path::new(surroundings.cwd.as_str()));
                (repository.as_ref().map(|found| found.root.join(format!(".{root_name}"))), repository)
            }
        };
        Self { layout: HostLayout::new(host_dir), project_dir, repository, root_name }
    }

    /// The folder all state of the user is in, unless the settings say otherwise.
    pub(crate) fn host_dir(&self) -> &HostPath {
        self.layout.root()
    }

    /// The top folder of the checkout; `None` outside one.
    pub(crate) fn checkout(&self) -> Option<HostPath> {
        let root = self.repository.as_ref()?.root.to_str()?;
        Some(HostPath::new(root))
    }

    /// What identifies the repository, the same for all its worktrees; `None` outside one.
    pub(crate) fn repository(&self) -> Option<String> {
        self.repository.as_ref().map(|repository| repository.common_dir.to_string_lossy().into_owned())
    }

    /// The file of a scope; `None` when the scope does not exist here, or the user has no settings yet.
    pub(crate) fn file(&self, scope: Scope) -> Result<Option<ScopeFile>, CliError> {
        let path = match scope {
            Scope::User => self.profile_dir()?.map(|dir| dir.join("settings.toml")),
            Scope::Project => self.in_project("settings.toml"),
            Scope::Local => self.in_project(LOCAL_FILE),
        };
        path.map(|path| Ok(ScopeFile { text: read(&path)?, path })).transpose()
    }

    /// The file of a scope that is about to be written or named. Makes the user's profile the first time.
    pub(crate) fn file_to_write(&self, scope: Scope) -> Result<ScopeFile, CliError> {
        if scope == Scope::User {
            self.make_profile()?;
        }
        self.file(scope)?.ok_or_else(|| {
            let text = format!("there is no {} scope here: this is not in a git repository", scope.as_str());
            CliError::failed(text).hinted("`--scope user` sets it for you everywhere")
        })
    }

    /// The record of trusted repositories; `None` when the user has no settings yet.
    pub(crate) fn trust_file(&self) -> Result<Option<ScopeFile>, CliError> {
        let Some(dir) = self.profile_dir()? else { return Ok(None) };
        let path = dir.join("trusted.toml");
        Ok(Some(ScopeFile { text: read(&path)?, path }))
    }

    /// The user's own prices of models, if there are any.
    pub(crate) fn prices_file(&self) -> Result<Option<ScopeFile>, CliError> {
        let Some(dir) = self.profile_dir()? else { return Ok(None) };
        let path = dir.join("prices.toml");
        Ok(Some(ScopeFile { text: read(&path)?, path }))
    }

    /// Replaces a file of settings in one step, making its folder.
    /// One that would hold nothing is removed.
    pub(crate) fn write(&self, path: &HostPath, text: &str) -> Result<(), CliError> {
        if text.trim().is_empty() {
            return LocalFiles.remove_file(path).map_err(|error| CliError::new(ErrorKind::Failed, error));
        }
        if self.repository.is_some() && self.in_project(LOCAL_FILE).as_ref() == Some(path) {
            self.hide_local_file()?;
        }
        self.write_whole(path, text)
    }

    /// A `.gitignore` that is there already is the user's own.
    fn hide_local_file(&self) -> Result<(), CliError> {
        match self.in_project(".gitignore") {
            Some(path) if read(&path)?.is_none() => self.write_whole(&path, IGNORE_LOCAL),
            _ => Ok(()),
        }
    }

    fn write_whole(&self, path: &HostPath, text: &str) -> Result<(), CliError> {
        let written = path
            .parent()
            .map_or(Ok(()), |folder| LocalFiles.make_folder(&folder))
            .and_then(|()| LocalFiles.write(path, text.as_bytes(), Access::Shared, Durability::Synced));
        written.map_err(|error| CliError::new(ErrorKind::Failed, error))
    }

    /// Makes sure that the user has a profile to keep settings in.
    pub(crate) fn make_profile(&self) -> Result<(), CliError> {
        if self.profile_dir()?.is_none() {
            let text = format!("profile = \"{}\"\n", random::hex32());
            self.write(&self.layout.config_file(), &text)?;
        }
        Ok(())
    }

    /// What the project folder is called.
    pub(crate) fn root_name(&self) -> &str {
        &self.root_name
    }

    fn in_project(&self, file: &str) -> Option<HostPath> {
        self.project_dir.as_ref().map(|dir| HostPath::new(dir.join(file).to_string_lossy()))
    }

    fn profile_dir(&self) -> Result<Option<HostPath>, CliError> {
        let path = self.layout.config_file();
        let Some(text) = read(&path)? else { return Ok(None) };
        let table: Option<toml::Table> = text.parse().ok();
        let profile = table.as_ref().and_then(|table| table.get("profile")).and_then(toml::Value::as_str);
        match profile {
            // It becomes a folder's name.
            Some(id)
                if !id.is_empty()
                    && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') =>
            {
                Ok(Some(self.layout.profiles().join(id)))
            }
            _ => Err(CliError::new(ErrorKind::Config, ScopeError::Profile { path })),
        }
    }
}

fn read(path: &HostPath) -> Result<Option<String>, CliError> {
    // A pipe in a work dir an agent can write would hold every command there for ever.
    let is_readable = |meta: std::fs::Metadata| match meta.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not an ordinary file")),
    };
    let text = std::fs::metadata(path.as_str())
        .and_then(is_readable)
        .and_then(|()| std::fs::read_to_string(path.as_str()));
    match text {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(CliError::new(ErrorKind::Config, ScopeError::Read { path: path.clone(), source })),
    }
}
