//! An engine, a provider for it, and the program that lines to containers run.

use std::path::PathBuf;
use std::sync::Arc;

use mngr_docker::{DockerProvider, DockerSettings};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::proc::Cmd;
use mngr_host::provider::{HostMaker, NewHost, Provider};
use mngr_host::random;
use mngr_model::HostPath;
use mngr_testkit::Dockerd;

/// Everything a test needs. The engine is declared last, so that it ends last.
pub(crate) struct World {
    pub(crate) provider: DockerProvider,
    client: Arc<LocalHost>,
    folder: tempfile::TempDir,
    pub(crate) engine: Dockerd,
}

impl World {
    /// A fresh engine without hosts.
    pub(crate) fn new() -> Self {
        let engine = Dockerd::start();
        let folder = tempfile::tempdir().unwrap();
        let client = Arc::new(LocalHost::open(path(folder.path().join("host"))).unwrap());
        let provider = provider_of(&engine, &folder, &client);
        Self { provider, client, folder, engine }
    }

    /// The provider as another mngr would have it: it knows nothing but the engine's address.
    pub(crate) fn another_client(&self) -> DockerProvider {
        provider_of(&self.engine, &self.folder, &self.client)
    }

    /// Makes a host.
    #[track_caller]
    pub(crate) fn host(&self, name: &str) -> Arc<dyn Host> {
        self.maker().make(&new_host(name)).unwrap()
    }

    /// What makes hosts.
    pub(crate) fn maker(&self) -> &dyn HostMaker {
        self.provider.maker().unwrap()
    }
}

fn provider_of(engine: &Dockerd, folder: &tempfile::TempDir, client: &Arc<LocalHost>) -> DockerProvider {
    let mut settings = DockerSettings::new(pipe_program(), path(folder.path().join("links")));
    settings.endpoint = engine.endpoint().parse().unwrap();
    settings.default_image = Some(engine.image().to_owned());
    DockerProvider::new("docker".parse().unwrap(), settings, client.clone())
}

/// A host of which nothing more is asked.
pub(crate) fn new_host(name: &str) -> NewHost {
    NewHost::new(random::host_id(), name.parse().unwrap())
}

/// Runs a line there, which must succeed, and gives what it printed.
#[track_caller]
pub(crate) fn sh(host: &dyn Host, line: &str) -> String {
    let output = host.exec(&Cmd::shell(line)).unwrap();
    assert!(output.success(), "{line}: {}", output.stderr_text());
    output.stdout_text().trim().to_owned()
}

fn path(path: PathBuf) -> HostPath {
    HostPath::new(path.to_str().unwrap())
}

/// Built with the tests, beside them.
fn pipe_program() -> String {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("examples/pipe");
    program.to_str().unwrap().to_owned()
}
