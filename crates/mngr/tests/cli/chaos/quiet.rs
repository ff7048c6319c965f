//! A quiet moment: nobody works, everything is reachable, and what is there must be what was done.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::book::{Intent, Listed, Violation};
use super::client::run_words;
use super::fault::Fault;
use super::oracle::{self, Quiet};
use super::random::Random;
use super::step::{Action, Step};
use super::trouble;
use super::words::Words;
use super::world::{Machine, World};

/// The client that looks, in logs.
pub(super) const WATCHER: usize = 9;
/// How long what was accepted may take to be noted, and what was killed to be gone.
const SETTLED: Duration = Duration::from_secs(6);
/// How many agents are destroyed and brought back in each quiet moment.
const CYCLES: usize = 2;

/// Prints what an agent's work dir is: commit, branch, and every file with its hash.
const HASHES: &str = r#"cd "$1" || exit
git rev-parse HEAD 2>&1; git symbolic-ref -q HEAD 2>&1
git status --porcelain --ignored 2>&1
find . -name .git -prune -o -type f -exec sha1sum {} + | sort; find . -name .git -prune -o -type l -print | sort"#;

/// Runs words of the watcher.
fn run(world: &World, number: usize, fault: Option<Fault>, dice: u64, args: &[&str]) -> super::book::Done {
    let step = Step { number, action: Action::List, fault, after: dice % 300, dice };
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    run_words(
        world,
        WATCHER,
        &step,
        &Words { args, intent: Intent::Other, also: Vec::new(), stdin: Vec::new(), names: Vec::new() },
    )
}

/// Looks at everything after a batch of steps.
pub(super) fn batch(world: &World, number: usize) -> Vec<Violation> {
    settle(world);
    let mut found = Vec::new();
    world.wake();
    // The first command after a killed one finishes what that began.
    let _ = run(world, 900, None, 0, &["list", "--format", "json"]);
    let quiet = look(world, &mut found);
    let mut facts = world.inspect();
    // What was accepted is noted soon; nothing else changes here.
    let began = Instant::now();
    while began.elapsed() < SETTLED && oracle::is_waiting(&world.book(), &facts, &quiet) {
        thread::sleep(Duration::from_millis(200));
        facts = world.inspect();
    }
    found.extend(oracle::judge_batch(&mut world.book(), &facts, &quiet));
    found.extend(user_can_commit(world));
    found.extend(cycles(world, number, &quiet));
    found
}

/// A tmux server that was started by a command without space has none either: nobody can work in it.
fn settle(world: &World) {
    for server in trouble::tmux_servers(world) {
        let limits = fs::read_to_string(format!("/proc/{server}/limits")).unwrap_or_default();
        let is_limited =
            limits.lines().any(|line| line.starts_with("Max file size") && !line.contains("unlimited"));
        if is_limited {
            let now = world.now();
            world.log(&format!("{now:>6} tmux server {server} has no space and is killed\n"));
            trouble::kill(server);
            // Whatever was said to its agents since then may not have been noted.
            world.book().troubles.push((Fault::FullDisk, 0, now));
        }
    }
}

/// What `list` and `undo` show.
fn look(world: &World, found: &mut Vec<Violation>) -> Quiet {
    let mut quiet = Quiet::default();
    let listed = run(world, 901, None, 0, &["list", "--format", "json"]);
    let value: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
    if !listed.succeeded() || value["errors"].as_array().is_none_or(|errors| !errors.is_empty()) {
        found.push(Violation::new("list", format!("in a quiet moment: {} {}", listed.stdout, listed.stderr)));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for agent in value["agents"].as_array().into_iter().flatten() {
        let host = text(&agent["host"]["name"]);
        let path = text(&agent["work_dir"]);
        let work_dir = world.seen_from_here(&host, path.as_ref()).unwrap_or_default();
        let (name, state) = (text(&agent["name"]), text(&agent["state"]));
        let listed = Listed { name, state, work_dir, path, host };
        quiet.listed.insert(text(&agent["id"]), listed);
    }
    let undo = run(world, 902, None, 0, &["undo", "--format", "json"]);
    if !undo.succeeded() {
        found.push(Violation::new("undo", format!("in a quiet moment: {} {}", undo.stdout, undo.stderr)));
    }
    let value: Value = serde_json::from_str(&undo.stdout).unwrap_or_default();
    for agent in value["agents"].as_array().into_iter().flatten() {
        quiet.trash.insert(text(&agent["id"]), text(&agent["name"]));
    }
    quiet
}

/// Nobody holds a lock of the user's repository.
fn user_can_commit(world: &World) -> Option<Violation> {
    let mut git = world.env.command("git");
    git.args(["commit", "--quiet", "--allow-empty", "--message", "quiet"]);
    let output = git.output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // A merge that the user has to finish is their own.
    let is_refused = !output.status.success() && !said.contains("unmerged") && !said.contains("MERGE_HEAD");
    is_refused.then(|| Violation::new("user's git", format!("git commit fails: {said}")))
}

/// Destroys agents and brings them back, with something happening to both commands: every file is as it was.
fn cycles(world: &World, number: usize, quiet: &Quiet) -> Vec<Violation> {
    let mut found = Vec::new();
    let part = &world.part;
    let mut random = Random::of(&[part.seed, part.episode, number as u64, 77]);
    let mut agents: Vec<(&String, &Listed)> = quiet.listed.iter().collect();
    for cycle in 0..CYCLES {
        // An agent in the user's own folder has no work dir that could be moved.
        agents.retain(|(_, agent)| agent.work_dir != world.env.work_dir() && agent.name != "seed");
        if agents.is_empty() {
            break;
        }
        let (id, agent) = agents.swap_remove(random.below(agents.len()));
        let mut fault = || {
            random.chance(60).then(|| random.pick(&[Fault::KilledClient, Fault::Interrupt, Fault::Terminate]))
        };
        let (first, second) = (fault(), fault());
        let dice = random.next();
        if let Some(violation) = cycle_of(world, 910 + cycle * 10, id, agent, (first, second), dice) {
            found.push(violation);
        }
    }
    // What happened in these is looked at in the next quiet moment.
    world.book().done.retain(|done| done.client != WATCHER || done.number < 900);
    found
}

fn cycle_of(
    world: &World,
    number: usize,
    id: &str,
    agent: &Listed,
    faults: (Option<Fault>, Option<Fault>),
    dice: u64,
) -> Option<Violation> {
    let machine = machine_of(world, agent)?;
    let path = &agent.path;
    let stop = run(world, number, None, 0, &["stop", id]);
    if !stop.succeeded() {
        return Some(Violation::new("quiet stop", format!("{}: {}", agent.name, stop.stderr)));
    }
    let before = world.shell(machine, HASHES, &[path]);
    let destroy = ["destroy", id, "--force", "--format", "json"];
    let first = run(world, number + 1, faults.0, dice, &destroy);
    if !first.succeeded() {
        // Whatever became of it: said once more it is done, or there is nothing to do.
        let again = run(world, number + 2, None, 0, &destroy);
        if !again.succeeded() {
            return Some(Violation::new("quiet destroy", format!("{}: {}", agent.name, again.stderr)));
        }
    }
    let undo = ["undo", id, "--format", "json"];
    let first = run(world, number + 3, faults.1, dice / 7, &undo);
    if !first.succeeded() {
        let again = run(world, number + 4, None, 0, &undo);
        let listed = run(world, number + 5, None, 0, &["list", "--format", "json"]);
        if !again.succeeded() && !listed.stdout.contains(id) {
            let what = format!("{} ({id}) cannot be brought back: {}", agent.name, again.stderr);
            return Some(Violation::new("undo", what));
        }
    }
    let after = world.shell(machine, HASHES, &[path]);
    if before != after {
        let what = format!("{} ({id}) was\n{before}\nand is\n{after}", agent.name);
        return Some(Violation::new("undo differs", what));
    }
    None
}

/// The machine an agent is on.
fn machine_of<'world>(world: &'world World, agent: &Listed) -> Option<&'world Machine> {
    world.machines.iter().find(|machine| match machine {
        Machine::Local => agent.host == "localhost",
        Machine::Ssh(_) => agent.host == "box",
        Machine::Docker(_) => agent.host == "cell",
    })
}

/// Destroys everything as a user would, and looks at what is left.
pub(super) fn end(world: &World) -> Vec<Violation> {
    let mut found = Vec::new();
    let quiet = look(world, &mut found);
    for (number, (id, agent)) in quiet.listed.iter().enumerate() {
        let done = run(world, 960 + number, None, 0, &["destroy", id, "--force", "-b"]);
        if !done.succeeded() {
            found.push(Violation::new("quiet destroy", format!("{}: {}", agent.name, done.stderr)));
        }
    }
    for (number, args) in [&["gc"][..], &["doctor", "--fix"]].into_iter().enumerate() {
        let done = run(world, 950 + number, None, 0, args);
        if !done.succeeded() {
            found.push(Violation::new("tidying up", format!("{args:?}: {} {}", done.stdout, done.stderr)));
        }
    }
    let quiet = look(world, &mut found);
    // A host without agents stops.
    world.wake();
    let main = world.env.work_dir().display().to_string();
    let mut facts = world.inspect();
    let mut left = oracle::judge_end(&world.book(), &facts, &quiet, &main);
    let began = Instant::now();
    let mut strays = strays(world);
    while began.elapsed() < SETTLED && !(left.is_empty() && strays.is_empty()) {
        thread::sleep(Duration::from_millis(200));
        facts = world.inspect();
        left = oracle::judge_end(&world.book(), &facts, &quiet, &main);
        strays = self::strays(world);
    }
    found.extend(left);
    found.extend(
        world.containers().into_iter().map(|name| Violation::new("left", format!("container {name}"))),
    );
    found.extend(strays.into_values().map(|line| Violation::new("left", format!("process {line}"))));
    found
}

/// Processes of the environment that nobody needs any more. A connection to another machine may stay for a while.
fn strays(world: &World) -> BTreeMap<u32, String> {
    let line =
        |pid: u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    let all = world.env.processes().into_iter().map(|pid| (pid, line(pid)));
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with("ssh: ")).collect()
}
