//! What a person may choose about all sessions of a run, by variables. The pytest plugin has options for the same.

use mngr_model::HostPath;
use mngr_model::env::{MNGR_E2E_ARTIFACTS, MNGR_E2E_BIN, MNGR_E2E_KEEP_ENV, MNGR_E2E_OUTPUT, MNGR_E2E_RUN};

use super::error::SessionError;

/// Set by cargo-nextest, which runs every test in a process of its own: the same for all tests of one run.
const NEXTEST_RUN_ID: &str = "NEXTEST_RUN_ID";

/// After which tests something is kept, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// After none.
    No,
    /// After those that failed.
    OnFailure,
    /// After all.
    Yes,
}

impl Keep {
    /// Whether it is kept after a test that ended so.
    pub(crate) fn applies(self, has_failed: bool) -> bool {
        self == Self::Yes || (self == Self::OnFailure && has_failed)
    }

    fn parse(variable: &'static str, text: &str) -> Result<Self, SessionError> {
        match text {
            "no" => Ok(Self::No),
            "on-failure" => Ok(Self::OnFailure),
            "yes" => Ok(Self::Yes),
            _ => Err(SessionError::BadChoice { variable, found: text.to_owned() }),
        }
    }
}

/// The choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// When the environment stays.
    pub keep_env: Keep,
    /// When the artifacts stay.
    pub artifacts: Keep,
    /// The name of the run.
    pub run: Option<String>,
    /// What processes of one run have in common, where each test has its own.
    pub run_key: Option<String>,
    /// Where the folders of runs are.
    pub output: Option<HostPath>,
    /// Folders that come first on `PATH`, as `PATH` spells them.
    pub bin: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { keep_env: Keep::No, artifacts: Keep::Yes, run: None, run_key: None, output: None, bin: None }
    }
}

impl Options {
    /// Reads them from variables. An empty variable is none; a relative path starts at `here`.
    pub(crate) fn from_variables(
        here: &HostPath,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SessionError> {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let choice =
            |name: &'static str, default| get(name).map_or(Ok(default), |text| Keep::parse(name, &text));
        let defaults = Self::default();
        let options = Self {
            keep_env: choice(MNGR_E2E_KEEP_ENV, defaults.keep_env)?,
            artifacts: choice(MNGR_E2E_ARTIFACTS, defaults.artifacts)?,
            run: get(MNGR_E2E_RUN),
            run_key: get(NEXTEST_RUN_ID),
            output: get(MNGR_E2E_OUTPUT).map(|path| here.join(&path)),
            bin: get(MNGR_E2E_BIN).map(|folders| absolute(here, &folders)),
        };
        if options.keep_env > options.artifacts {
            let (keep_env, artifacts) = (MNGR_E2E_KEEP_ENV, MNGR_E2E_ARTIFACTS);
            return Err(SessionError::NarrowArtifacts { keep_env, artifacts });
        }
        Ok(options)
    }
}

/// The folders of a search path as a command finds them that runs elsewhere.
fn absolute(here: &HostPath, folders: &str) -> String {
    let folders: Vec<String> = folders.split(':').map(|folder| here.join(folder).to_string()).collect();
    folders.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> Result<Options, SessionError> {
        Options::from_variables(&HostPath::new("/p"), |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn without_variables_artifacts_are_kept_and_environments_are_not() {
        assert_eq!(options(&[(MNGR_E2E_RUN, "")]).unwrap(), Options::default());
    }

    #[test]
    fn an_environment_without_the_way_into_it_is_refused() {
        let variables = [(MNGR_E2E_KEEP_ENV, "yes"), (MNGR_E2E_ARTIFACTS, "on-failure")];
        assert!(matches!(options(&variables), Err(SessionError::NarrowArtifacts { .. })));
        assert!(options(&[(MNGR_E2E_KEEP_ENV, "on-failure")]).is_ok());
    }

    #[test]
    fn relative_paths_are_made_absolute_because_commands_run_elsewhere() {
        let options = options(&[(MNGR_E2E_BIN, "bin:/usr/bin"), (MNGR_E2E_OUTPUT, "out")]).unwrap();
        assert_eq!(options.bin.as_deref(), Some("/p/bin:/usr/bin"));
        assert_eq!(options.output, Some(HostPath::new("/p/out")));
    }

    #[test]
    fn a_word_that_is_no_choice_is_named() {
        let error = options(&[(MNGR_E2E_KEEP_ENV, "maybe")]).unwrap_err();
        assert_eq!(error.to_string(), "`MNGR_E2E_KEEP_ENV` is `maybe`, expected `no`, `on-failure` or `yes`");
    }
}
