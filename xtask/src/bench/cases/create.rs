//! Creating agents in a repository of 300 files.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mngr_testkit::TestEnv;

use super::Bench;
use crate::bench::error::BenchError;
use crate::bench::fleet::{all_at_once, succeeded};
use crate::bench::measure::{interleaved, timed};
use crate::bench::row::Row;

const FILES: usize = 300;
const AT_ONCE: usize = 50;

/// `create` against the two commands it cannot do without.
pub(crate) fn one(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let env = TestEnv::new(&bench.binary);
    env.repo(FILES);
    // Both tmux servers run before the first sample is taken.
    succeeded(&env.run(create(&env, &env.work_dir(), "warm")))?;
    succeeded(&env.run(new_session(&env, "warm", &env.work_dir())))?;
    let pair = interleaved(
        bench.effort.rounds(25),
        &bench.interrupt,
        |round| timed(&mut create(&env, &env.work_dir(), &format!("agent-{round}"))),
        |round| {
            let name = format!("bare-{round}");
            let tree = env.root().join("trees").join(&name);
            Ok(timed(&mut worktree_add(&env, &env.work_dir(), &tree, &name))?
                + timed(&mut new_session(&env, &name, &tree))?)
        },
    )?;
    Ok(vec![Row::ratio("create", "worktree add + new-session", pair, 1.6)])
}

/// 50 creates at once against 50 bare worktrees in a row, each time in a new repository.
pub(crate) fn fifty(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let env = TestEnv::new(&bench.binary);
    env.repo(FILES);
    succeeded(&env.run(create(&env, &env.work_dir(), "warm")))?;
    let pair = interleaved(
        bench.effort.rounds(5),
        &bench.interrupt,
        |round| {
            let repo = env.repo_at(&format!("parallel-{round}"), FILES);
            let name = |number| format!("agent-{round}-{number}");
            let commands = (0..AT_ONCE).map(|number| create(&env, repo.path(), &name(number))).collect();
            let start = Instant::now();
            all_at_once(commands)?;
            Ok(start.elapsed())
        },
        |round| {
            let repo = env.repo_at(&format!("serial-{round}"), FILES);
            let mut total = Duration::ZERO;
            for number in 0..AT_ONCE {
                let name = format!("bare-{number}");
                let tree = env.root().join(format!("trees-{round}")).join(&name);
                total += timed(&mut worktree_add(&env, repo.path(), &tree, &name))?;
            }
            Ok(total)
        },
    )?;
    Ok(vec![Row::ratio("create, 50 at once", "50 worktree add in a row", pair, 1.0)])
}

fn create(env: &TestEnv, repo: &Path, name: &str) -> Command {
    let mut command = env.mngr_cmd();
    command.current_dir(repo).args(["create", name, "--type", "command", "--no-connect"]);
    command.args(["--", "sleep", "100000"]);
    command
}

fn worktree_add(env: &TestEnv, repo: &Path, tree: &Path, branch: &str) -> Command {
    let mut command = env.command("git");
    command.current_dir(repo).args(["worktree", "add", "--quiet", "-b", branch]).arg(tree);
    command
}

/// On a server of its own, so that the one of the agents is not measured twice.
fn new_session(env: &TestEnv, name: &str, folder: &Path) -> Command {
    let mut command = env.command("tmux");
    // The name of the socket is one that the environment cleans up.
    command.arg("-S").arg(env.root().join("terminal-bare"));
    command.args(["new-session", "-d", "-s", name, "-x", "200", "-y", "50", "-c"]).arg(folder);
    command.args(["sleep", "100000"]);
    command
}
