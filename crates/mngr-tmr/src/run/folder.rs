//! The folder of a run: which file is where. Only paths, and the one file that is private.

use std::collections::BTreeSet;

use mngr_host::beneath::Beneath;
use mngr_host::files::{Access, Durability, FilesError};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::env::EnvPair;
use mngr_model::run::AttemptNumber;

/// The folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder(HostPath);

/// The variables agents were given. Secrets: they are in a file of their own, which only its owner can read.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// Of every agent.
    pub all: Vec<EnvPair>,
    /// Of the integrator besides.
    pub reducer: Vec<EnvPair>,
}

impl RunFolder {
    /// The folder at that path.
    pub fn new(path: HostPath) -> Self {
        Self(path)
    }

    /// Its path.
    pub fn path(&self) -> &HostPath {
        &self.0
    }

    /// What an attempt at a task left.
    pub fn attempt(&self, slug: &str, attempt: AttemptNumber) -> HostPath {
        self.0.join(&format!("tasks/{slug}/attempt-{attempt}"))
    }

    /// What the integrator left.
    pub fn integrator(&self) -> HostPath {
        self.0.join("integrator/attempt-1")
    }

    /// The page.
    pub fn report(&self) -> HostPath {
        self.0.join("report")
    }

    /// Whoever wants the run to end writes it; its orchestrator watches the folder it is in.
    pub fn stop_request(&self) -> HostPath {
        self.0.join("control/stop")
    }

    /// Forgets what an orchestrator before this one was asked. Whoever has just taken the journal does it: what is asked
    /// from then on is meant for him.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget_stop_request(&self, host: &dyn Host) -> Result<(), FilesError> {
        host.files().remove_file(&self.stop_request())
    }

    /// The folder of requests to the orchestrator.
    pub fn control(&self) -> HostPath {
        self.0.join("control")
    }

    fn variables(&self) -> HostPath {
        self.0.join("env.json")
    }

    /// Makes the folder, unseen by git, with the variables in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn make(&self, host: &dyn Host, variables: &Variables) -> Result<(), FilesError> {
        let files = host.files();
        // A repository may hold links that agents have made.
        files.make_folder_beneath(&Beneath::typed(&self.0), &BTreeSet::from([b"control".to_vec()]))?;
        files.make_folder(&self.control())?;
        // Otherwise each agent that sees the folder "mends" the project's own list.
        files.write(&self.0.join(".gitignore"), b"*\n", Access::Shared, Durability::Cached)?;
        let pairs = |pairs: &[EnvPair]| -> Vec<(String, String)> {
            pairs.iter().map(|pair| (pair.name().to_string(), pair.value().to_owned())).collect()
        };
        let kept = serde_json::json!({ "all": pairs(&variables.all), "reducer": pairs(&variables.reducer) });
        files.write(&self.variables(), kept.to_string().as_bytes(), Access::Private, Durability::Synced)
    }

    /// The variables the run was started with.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read_variables(&self, host: &dyn Host) -> Result<Variables, FilesError> {
        let Some(bytes) = host.files().read_if_there(&self.variables())? else {
            return Ok(Variables::default());
        };
        let kept: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let pairs = |key: &str| -> Vec<EnvPair> {
            let given: Vec<(String, String)> = serde_json::from_value(kept[key].clone()).unwrap_or_default();
            given.iter().filter_map(|(name, value)| format!("{name}={value}").parse().ok()).collect()
        };
        Ok(Variables { all: pairs("all"), reducer: pairs("reducer") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mngr_host::local::LocalHost;

    #[test]
    fn variables_come_back_as_they_were_and_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host = LocalHost::open(root.join("host")).unwrap();
        let folder = RunFolder::new(root.join("tmr_1"));
        let pair = |text: &str| -> EnvPair { text.parse().unwrap() };
        let variables = Variables { all: vec![pair("A=x y\nz='")], reducer: vec![pair("GH_TOKEN=secret")] };
        folder.make(&host, &variables).unwrap();
        let read = folder.read_variables(&host).unwrap();
        assert!(read.all == variables.all && read.reducer == variables.reducer);
        #[allow(clippy::disallowed_methods)]
        let mode = std::fs::metadata(dir.path().join("tmr_1/env.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
