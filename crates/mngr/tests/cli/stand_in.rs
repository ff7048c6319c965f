//! A program in front of the real one, for tests that have to stop a verb at an exact moment.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use mngr_testkit::{Running, TestEnv};

use crate::support::*;

/// A program in front of the real one that does something first, on request, when it is given a certain word.
pub(crate) struct StandIn {
    pub(crate) armed: PathBuf,
    pub(crate) reached: PathBuf,
}

impl StandIn {
    /// From now on `program` first runs `script`, in which `reach` says so, whenever it is armed and one of its words is
    /// `word`.
    pub(crate) fn before(env: &mut TestEnv, program: &str, word: &str, script: &str) -> Self {
        let folder = env.root().join("stand-in");
        fs::create_dir(&folder).unwrap();
        let stand_in = Self { armed: folder.join("armed"), reached: folder.join("reached") };
        let path = std::env::var("PATH").unwrap();
        let text = format!(
            "#!/bin/sh\nreal=$(PATH='{path}' command -v {program})\nreach() {{ touch '{reached}'; }}\n\
             for word; do if [ \"$word\" = '{word}' ] && [ -e '{armed}' ]; then\n{script}\nbreak\nfi; done\n\
             exec \"$real\" \"$@\"\n",
            armed = stand_in.armed.display(),
            reached = stand_in.reached.display(),
        );
        let file = folder.join(program);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        env.set_var("PATH", format!("{}:{path}", folder.display()));
        stand_in
    }

    /// Starts the verb and waits until it stands there.
    #[track_caller]
    pub(crate) fn spawn(&self, env: &TestEnv, args: &[&str]) -> Running {
        fs::write(&self.armed, "").unwrap();
        let running = env.spawn(args);
        wait_until(PATIENCE, || self.reached.exists());
        running
    }

    /// From now on it is the real program.
    pub(crate) fn disarm(&self) {
        let _ = fs::remove_file(&self.armed);
        let _ = fs::remove_file(&self.reached);
    }
}
