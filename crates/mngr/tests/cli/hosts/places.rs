//! A world with this machine and two others that cannot reach each other.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::Sshd;

use super::ground::{Ground, Kind};
use crate::support;

/// The world: `box` and `other` are behind sshds of their own.
pub(super) struct Places {
    pub(super) ground: Ground,
    pub(super) other: Sshd,
}

impl Places {
    #[track_caller]
    pub(super) fn new() -> Self {
        let (ground, other) = (Ground::new(Kind::Ssh), Sshd::start());
        ground.set("hosts.other.address", "127.0.0.1");
        ground.set("hosts.other.port", &other.port().to_string());
        ground.set("hosts.other.user", "root");
        ground.set("hosts.other.key_file", other.key_file().to_str().unwrap());
        ground.set("hosts.other.host_keys", &format!("[{:?}]", other.host_key()));
        Self { ground, other }
    }

    /// The work dir of an agent, as this machine sees it.
    #[track_caller]
    pub(super) fn work_dir(&self, name: &str) -> PathBuf {
        let agent = support::agent(&self.ground.env, name);
        let path = support::text(&agent["work_dir"]);
        let home = match agent["host"]["name"].as_str() {
            Some("box") => self.ground.sshd().home(),
            Some("other") => self.other.home(),
            _ => return PathBuf::from(path),
        };
        home.join(path.strip_prefix("/root/").unwrap())
    }
}

/// Names that are anything but a word.
pub(super) const ODD_NAMES: [&str; 5] = ["new\nline", "it's \"quoted\"", "-dash", "#hash", "ü mlaut"];

/// Uncommitted work of every kind in a checkout with an ignored file. Committed are `one` and the rule.
#[track_caller]
pub(super) fn leave_work(env: &mngr_testkit::TestEnv, name: &str, dir: &std::path::Path) {
    let line = "echo one >one; echo '*.log' >.gitignore; git add one .gitignore; git commit -qm one; \
                echo staged >staged; git add staged; rm dir-2/file-0002.txt; echo changed >dir-0/file-0000.txt";
    let _ = env.mngr(["exec", name, "--", "sh", "-c", line]).success();
    for odd in ODD_NAMES {
        fs::write(dir.join(odd), odd).unwrap();
    }
    fs::write(dir.join("build.log"), "ignored").unwrap();
}

/// Fails unless all of that work is there.
#[track_caller]
pub(super) fn assert_work(dir: &std::path::Path) {
    let read =
        |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name:?}: {error}"));
    for odd in ODD_NAMES {
        assert_eq!(read(odd), odd);
    }
    assert_eq!(
        (read("one"), read("staged"), read("build.log")),
        ("one\n".into(), "staged\n".into(), "ignored".into())
    );
    assert_eq!(read("dir-0/file-0000.txt"), "changed\n");
    assert!(!dir.join("dir-2/file-0002.txt").exists(), "what was deleted is deleted");
}
