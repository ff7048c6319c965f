//! A command that says success and had its agents to itself: is it true?

use std::process::Stdio;

use serde_json::Value;

use super::book::{Done, Violation};
use super::oracle::restored;
use super::settings::Place;
use super::step::{Action, NAMES, Step};
use super::words::token;
use super::world::World;

/// What a successful command did not do. `undisturbed` says whether nothing has happened to a machine since it began.
pub(super) fn result(
    world: &World,
    step: &Step,
    done: &Done,
    undisturbed: impl Fn() -> bool,
) -> Vec<Violation> {
    let what = match step.action {
        Action::Create { .. } | Action::Clone { .. } => created(world, done),
        Action::Stop { name } => stopped(world, name),
        Action::Start { name, .. } => started(world, name),
        Action::Destroy { name, .. } | Action::Cleanup { name } => destroyed(world, name),
        Action::Undo { .. } => undone(world, done),
        Action::Rename { name, to } => renamed(world, done, name, to),
        Action::Label { name } => labelled(world, name, &token(done.client, step)),
        Action::Pull { name, .. } => pulled(world, name),
        _ => None,
    };
    // Something may have happened before it was looked at.
    let what = what.filter(|_| undisturbed());
    let said =
        |what| format!("client {} step {}: `mngr {}` {what}", done.client, done.number, done.args.join(" "));
    what.map(|what| Violation::new("false success", said(what))).into_iter().collect()
}

/// What a listing shows; none if it shows nothing.
fn listing(world: &World) -> Vec<Value> {
    let mut list = world.env.mngr_cmd();
    list.args(["list", "--format", "json"]).stdin(Stdio::null());
    let Ok(output) = list.output() else { return Vec::new() };
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    value["agents"].as_array().cloned().unwrap_or_default()
}

fn named(world: &World, name: usize) -> Option<Value> {
    listing(world).into_iter().find(|agent| agent["name"] == NAMES[name])
}

fn runs(agent: &Value) -> bool {
    matches!(agent["state"].as_str(), Some("RUNNING" | "WAITING" | "REPLACED"))
}

fn created(world: &World, done: &Done) -> Option<String> {
    let made: Value = serde_json::from_str(&done.stdout).ok()?;
    let agent = listing(world).into_iter().find(|agent| agent["id"] == made["agent_id"]);
    match agent {
        None => Some("is not listed".to_owned()),
        Some(agent) if !runs(&agent) => Some(format!("is {}: {}", agent["state"], agent["state_evidence"])),
        Some(_) => None,
    }
}

fn stopped(world: &World, name: usize) -> Option<String> {
    let agent = named(world, name)?;
    if runs(&agent) {
        return Some(format!("left it {}: {}", agent["state"], agent["state_evidence"]));
    }
    if world.place_of(name) != Place::Local {
        return None;
    }
    let id = agent["id"].as_str().unwrap_or_default();
    let left = mngr_testkit::processes_with_variable("MNGR_AGENT_ID", id);
    (!left.is_empty()).then(|| format!("left processes {left:?}"))
}

fn started(world: &World, name: usize) -> Option<String> {
    let agent = named(world, name)?;
    (!runs(&agent)).then(|| format!("left it {}: {}", agent["state"], agent["state_evidence"]))
}

fn destroyed(world: &World, name: usize) -> Option<String> {
    named(world, name).map(|agent| format!("left it listed as {}", agent["id"]))
}

fn undone(world: &World, done: &Done) -> Option<String> {
    let listing = listing(world);
    let missing =
        restored(&done.stdout).into_iter().find(|(id, _)| !listing.iter().any(|agent| agent["id"] == **id));
    missing.map(|(id, name)| format!("brought `{name}` ({id}), which is not listed"))
}

fn renamed(world: &World, done: &Done, name: usize, to: usize) -> Option<String> {
    let said: Value = serde_json::from_str(&done.stdout).ok()?;
    let agent = listing(world).into_iter().find(|agent| agent["id"] == said["agent_id"])?;
    (name != to && agent["name"] != NAMES[to]).then(|| format!("left it called {}", agent["name"]))
}

fn labelled(world: &World, name: usize, token: &str) -> Option<String> {
    let agent = named(world, name)?;
    (agent["labels"]["k"] != token).then(|| format!("left the labels {}", agent["labels"]))
}

/// Its last commit of before is in the user's repository.
fn pulled(world: &World, name: usize) -> Option<String> {
    let agent = named(world, name)?;
    let branch = agent["initial_branch"].as_str()?.to_owned();
    let mut git = world.env.command("git");
    git.args(["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).stdin(Stdio::null());
    let output = git.output().ok()?;
    (!output.status.success()).then(|| format!("did not bring the branch `{branch}`"))
}
