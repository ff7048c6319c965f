//! A world with one host to run agents on: this machine, or another one.

use std::path::PathBuf;

use mngr_testkit::{CmdOutput, Containers, Dockerd, Sshd, TestEnv};
use serde_json::Value;

use crate::support;

/// What kind of host agents run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This machine.
    Local,
    /// Another one, behind a real sshd.
    Ssh,
    /// The same behind a link that can be cut.
    Linked,
    /// A container of a real engine.
    Docker,
}

/// The world. The environment comes first: what holds connections ends before the machine does.
pub(crate) struct Ground {
    pub(crate) env: TestEnv,
    pub(crate) sshd: Option<Sshd>,
    pub(crate) engine: Option<Dockerd>,
}

impl Ground {
    /// A repository of a few files here, and the host.
    #[track_caller]
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Local => Self::with(None, None, &[]),
            Kind::Ssh => Self::with(Some(Sshd::start()), None, &[]),
            Kind::Linked => Self::with(Some(Sshd::start_behind_link()), None, &[]),
            Kind::Docker => Self::with_engine(Containers::End),
        }
    }

    /// The same with a host in an engine of its own.
    #[track_caller]
    pub(crate) fn with_engine(containers: Containers) -> Self {
        Self::with(None, Some(Dockerd::start_with(containers)), &[])
    }

    /// The same with words for every container.
    #[track_caller]
    pub(crate) fn with_start_args(words: &[String]) -> Self {
        Self::with(None, Some(Dockerd::start()), words)
    }

    #[track_caller]
    fn with(sshd: Option<Sshd>, engine: Option<Dockerd>, start_args: &[String]) -> Self {
        let ground = Self { env: support::env_with_repo(), sshd, engine };
        if let Some(sshd) = &ground.sshd {
            ground.set("backend", "ssh");
            ground.set("hosts.box.address", &sshd.address().to_string());
            ground.set("hosts.box.port", &sshd.port().to_string());
            ground.set("hosts.box.user", "root");
            ground.set("hosts.box.key_file", sshd.key_file().to_str().unwrap());
            ground.set("hosts.box.host_keys", &format!("[{:?}]", sshd.host_key()));
        }
        if let Some(engine) = &ground.engine {
            ground.set("backend", "docker");
            ground.set("host", &engine.endpoint());
            ground.set("default_image", engine.image());
            ground.set("default_start_args", &format!("{start_args:?}"));
            let seed =
                ["create", "seed@box.lab", "--new-host", "--no-connect", "--type", "command", "--", "true"];
            let _ = ground.env.mngr(seed).success();
            let _ = ground.env.mngr(["destroy", "seed", "--force"]).success();
            // As if nobody had been there. A host without agents stops.
            engine.docker(&["start", "mngr-box"]);
            let forget =
                ["exec", "mngr-box", "find", "/mngr", "-mindepth", "1", "!", "-name", "host_id", "-delete"];
            engine.docker(&forget);
        }
        ground
    }

    /// Sets a key of the provider.
    #[track_caller]
    pub(crate) fn set(&self, key: &str, value: &str) {
        let key = format!("providers.lab.{key}");
        let _ = self.env.mngr(["config", "set", "--scope", "user", &key, value]).success();
    }

    /// The address of a new agent on the host.
    pub(crate) fn address(&self, name: &str) -> String {
        match (&self.sshd, &self.engine) {
            (None, None) => name.to_owned(),
            (Some(_), _) => format!("{name}@box"),
            (None, Some(_)) => format!("{name}@box.lab"),
        }
    }

    /// The other machine.
    #[track_caller]
    pub(crate) fn sshd(&self) -> &Sshd {
        self.sshd.as_ref().expect("another machine")
    }

    /// Creates an agent on the host. `options` hold its type and, after `--`, its command.
    #[track_caller]
    pub(crate) fn create(&self, name: &str, options: &[&str]) -> CmdOutput {
        let address = self.address(name);
        let mut args = vec!["create", address.as_str(), "--no-connect"];
        args.extend(options);
        self.env.mngr(args).success()
    }

    /// A path of the host, as this machine sees it.
    #[track_caller]
    pub(crate) fn seen_from_here(&self, path: &Value) -> PathBuf {
        let path = path.as_str().expect("a path");
        match (&self.sshd, path.strip_prefix("/root/")) {
            (Some(sshd), Some(below)) => sshd.home().join(below),
            _ => PathBuf::from(path),
        }
    }

    /// The work dir of an agent, as this machine sees it.
    #[track_caller]
    pub(crate) fn work_dir(&self, name: &str) -> PathBuf {
        self.seen_from_here(&support::agent(&self.env, name)["work_dir"])
    }
}
