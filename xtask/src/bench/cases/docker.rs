//! Hosts that are containers, against the bare `docker`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mngr_testkit::{Dockerd, TestEnv};

use super::Bench;
use super::other_machine::{create, obstacle, set};
use crate::bench::error::BenchError;
use crate::bench::fleet::succeeded;
use crate::bench::measure::{interleaved, timed};
use crate::bench::row::Row;

const FILES: usize = 300;
const CONTAINERS: usize = 10;
const AGENTS: usize = 100;
const AT_ONCE: usize = 20;

/// What git runs in place of ssh.
const CARRIER: &str = "#!/bin/sh\nexec docker exec -i \"$1\" sh -c \"$2\"\n";

/// `create` on a container that runs, against the bare commands: the way there, the transfer, the work dir, the session.
pub(crate) fn create_warm(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    const WHAT: &str = "create, warm container";
    if let Some(why) = obstacle("dockerd") {
        return Ok(vec![Row::skipped(WHAT, why)]);
    }
    let (env, engine) = ground(bench)?;
    succeeded(&env.run(create(&env, "warm@box.lab", &["--new-host"])))?;
    let bare = Bare::new(&env, &engine)?;
    bare.create("warm")?;
    let mut rows = Vec::new();
    for (what, news) in [(WHAT, News::None), ("create, warm, new commits", News::Commit)] {
        let pair = interleaved(
            bench.effort.rounds(15),
            &bench.interrupt,
            |round| {
                news.arrive(&env)?;
                timed(&mut create(&env, &format!("agent-{}-{round}@box.lab", news.word()), &[]))
            },
            |round| {
                news.arrive(&env)?;
                bare.create(&format!("bare-{}-{round}", news.word()))
            },
        )?;
        rows.push(Row::ratio(what, "exec + push + worktree + tmux", pair, 1.6));
    }
    Ok(rows)
}

/// 100 agents over 10 containers.
pub(crate) fn hundred(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    const WHAT: &str = "create, 100 over 10 containers";
    if let Some(why) = obstacle("dockerd") {
        return Ok(vec![Row::skipped(WHAT, why)]);
    }
    let (env, _engine) = ground(bench)?;
    for number in 0..CONTAINERS {
        bench.interrupt.check()?;
        succeeded(&env.run(create(&env, &format!("first-{number}@h{number}.lab"), &["--new-host"])))?;
    }
    let start = Instant::now();
    let queue = Mutex::new((0..AGENTS).map(|n| format!("agent-{n}@h{}.lab", n % CONTAINERS)));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.next());
                    let Some(address) = next.filter(|_| bench.interrupt.check().is_ok()) else { break };
                    let output = env.run(create(&env, &address, &[]));
                    if !output.status.success()
                        && let Ok(mut failures) = failures.lock()
                    {
                        failures.push(output.to_string());
                    }
                }
            });
        }
    });
    let elapsed = start.elapsed();
    bench.interrupt.check()?;
    let failures = failures.into_inner().unwrap_or_default();
    for failure in &failures {
        eprintln!("{failure}");
    }
    let none = format!("{WHAT}: no failure");
    Ok(vec![Row::shown(WHAT, elapsed), Row::fact(&none, "none fails", failures.is_empty())])
}

/// An environment whose provider `lab` is an engine of its own. The environment ends first.
fn ground(bench: &Bench) -> Result<(TestEnv, Dockerd), BenchError> {
    let env = TestEnv::new(&bench.binary);
    env.repo(FILES);
    let engine = Dockerd::start();
    set(&env, "backend", "docker")?;
    set(&env, "host", &engine.endpoint())?;
    set(&env, "default_image", engine.image())?;
    Ok((env, engine))
}

/// Whether the source has changed since the last transfer.
#[derive(Clone, Copy)]
enum News {
    None,
    Commit,
}

impl News {
    fn word(self) -> &'static str {
        match self {
            Self::None => "same",
            Self::Commit => "new",
        }
    }

    fn arrive(self, env: &TestEnv) -> Result<(), BenchError> {
        match self {
            Self::None => Ok(()),
            Self::Commit => {
                let mut commit = env.command("git");
                commit.current_dir(env.work_dir()).args(["commit", "--quiet", "--allow-empty", "-m", "news"]);
                timed(&mut commit).map(drop)
            }
        }
    }
}

/// The same by hand.
struct Bare<'a> {
    env: &'a TestEnv,
    engine: &'a Dockerd,
    carrier: PathBuf,
}

/// The container, and a repository in it that nobody else uses.
const BOX: &str = "mngr-box";
const REPOSITORY: &str = "/bare/repo";

impl<'a> Bare<'a> {
    fn new(env: &'a TestEnv, engine: &'a Dockerd) -> Result<Self, BenchError> {
        let carrier = env.root().join("carrier");
        write_program(&carrier).map_err(|source| BenchError::Prepare { what: CARRIER.to_owned(), source })?;
        engine.docker(&["exec", BOX, "git", "init", "--quiet", REPOSITORY]);
        Ok(Self { env, engine, carrier })
    }

    fn docker(&self, words: &[&str]) -> Command {
        let mut docker = self.env.command("docker");
        docker.env("DOCKER_HOST", self.engine.endpoint()).args(["exec", BOX]).args(words);
        docker
    }

    /// The sum of the bare commands.
    fn create(&self, name: &str) -> Result<Duration, BenchError> {
        let tree = format!("/bare/trees/{name}");
        let mut push = self.env.command("git");
        push.current_dir(self.env.work_dir())
            .env("DOCKER_HOST", self.engine.endpoint())
            .env("GIT_SSH_COMMAND", &self.carrier)
            .env("GIT_SSH_VARIANT", "simple")
            .args([
                "push",
                "--quiet",
                "--force",
                &format!("{BOX}:{REPOSITORY}"),
                "+refs/heads/*:refs/source/*",
            ]);
        let add =
            ["git", "-C", REPOSITORY, "worktree", "add", "--quiet", "-b", name, &tree, "refs/source/main"];
        let session = ["tmux", "-L", "bare", "new-session", "-d", "-s", name, "-c", &tree, "sleep", "100000"];
        Ok(timed(&mut self.docker(&["true"]))?
            + timed(&mut push)?
            + timed(&mut self.docker(&add))?
            + timed(&mut self.docker(&session))?)
    }
}

fn write_program(path: &Path) -> std::io::Result<()> {
    fs::write(path, CARRIER)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
