//! What every command is handed: the surroundings of the process, the settings in force, a console, and the world
//! the verbs act on. Read once; nothing after this looks at the environment.

mod repository;
mod scopes;
mod settings;
mod surroundings;

use std::path::{Path, PathBuf};

use mngr_config::trust::Untrusted;
use mngr_config::{Merged, Settings};
use mngr_ops::world::World;

use crate::error::{CliError, ErrorKind};
use crate::ui::{Console, Format};
use crate::wiring;

pub(crate) use scopes::{Scope, ScopeFile, Scopes};
pub(crate) use settings::{Guard, Loaded, current_trust, load, trust_repository};
pub(crate) use surroundings::Surroundings;

/// What all checkouts of the repository around a folder share.
pub(crate) fn common_dir(folder: &Path) -> Option<PathBuf> {
    repository::around(folder).map(|repository| repository.common_dir)
}

/// Everything a command may use besides its own arguments.
pub(crate) struct Ctx {
    /// The process: variables, folders, terminals.
    pub(crate) surroundings: Surroundings,
    /// Where to print.
    pub(crate) console: Console,
    /// What `--format` asks for.
    pub(crate) format: Format,
    /// Whether `--headless` was given.
    pub(crate) headless: bool,
    /// Where settings are kept.
    pub(crate) scopes: Scopes,
    /// Fields that templates set for the type of a new agent.
    pub(crate) type_fields: toml::Table,
    /// The settings in force, or why there are none.
    pub(crate) loaded: Result<Loaded, CliError>,
}

impl Ctx {
    /// The settings with their origins.
    pub(crate) fn merged(&mut self) -> Result<&Merged, CliError> {
        match &mut self.loaded {
            Ok(loaded) => Ok(&loaded.merged),
            // An error is told once: whoever asks first ends the command with it.
            Err(error) => Err(std::mem::replace(error, told_already())),
        }
    }

    /// The settings.
    pub(crate) fn settings(&mut self) -> Result<&Settings, CliError> {
        Ok(self.merged()?.settings())
    }

    /// What an untrusted repository wanted to set.
    pub(crate) fn untrusted(&self) -> Option<&Untrusted> {
        self.loaded.as_ref().ok().map(|loaded| &loaded.untrusted)
    }

    /// Whether nobody may be asked and no terminal taken over, by this command line or by the settings.
    pub(crate) fn is_headless(&self) -> bool {
        self.headless || self.loaded.as_ref().is_ok_and(|loaded| loaded.merged.settings().headless)
    }

    /// Whether the user can be asked something or shown a full-screen program.
    pub(crate) fn is_interactive(&mut self) -> Result<bool, CliError> {
        self.settings()?;
        let terminals = self.surroundings.terminals;
        Ok(!self.is_headless() && terminals.stdin && terminals.stdout)
    }

    /// The world the verbs act on.
    pub(crate) fn world(&mut self) -> Result<World, CliError> {
        let merged = self.merged()?;
        let (settings, refused) = (merged.settings().clone(), merged.refused());
        let world = wiring::world(settings, &self.surroundings, &self.console)?;
        Ok(World { refused, ..world })
    }
}

fn told_already() -> CliError {
    CliError::message(ErrorKind::Config, "the settings cannot be used")
}
