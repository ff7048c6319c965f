//! What must be true, whatever happened. Pure: it compares what was written down with what is there.

use std::collections::{BTreeMap, BTreeSet};

use super::book::{Book, Done, Ending, Intent, Listed, Sent, Violation};
use super::fault::Fault;
use super::inspect::Facts;

/// No verb takes longer, in milliseconds.
pub(super) const LIMIT: u64 = 30_000;
/// So long after a message was accepted its agent has noted it, in milliseconds.
const NOTED: u64 = 3_000;

/// What a single command may not do, whatever else goes on.
pub(super) fn judge(done: &Done) -> Vec<Violation> {
    let mut found = Vec::new();
    let line = || format!("client {} step {}: mngr {}", done.client, done.number, done.args.join(" "));
    let frozen = if done.fault == Some(Fault::FrozenClient) { 2_000 } else { 0 };
    if done.ending == Ending::TooLong || done.ended - done.began > LIMIT + frozen {
        found.push(Violation::new("time", format!("{} took {} ms", line(), done.ended - done.began)));
    }
    if done.stderr.contains("panicked at") || done.stderr.contains("RUST_BACKTRACE") {
        found.push(Violation::new("panic", format!("{}: {}", line(), done.stderr)));
    }
    if !is_documented(done) {
        let ending = done.ending;
        found.push(Violation::new("exit code", format!("{} ended with {ending:?}: {}", line(), done.stderr)));
    }
    let wants_json = done.args.windows(2).any(|two| two[0] == "--format" && two[1] == "json");
    if wants_json
        && matches!(done.ending, Ending::Code(code) if code != 2)
        && done.fault != Some(Fault::FullDisk)
        && serde_json::from_str::<serde_json::Value>(&done.stdout).is_err()
    {
        found.push(Violation::new("json", format!("{} printed {:?} {}", line(), done.stdout, done.stderr)));
    }
    found
}

/// Whether a command may end like this.
fn is_documented(done: &Done) -> bool {
    let signalled = |number: i32| match done.fault {
        Some(Fault::KilledClient) => number == 9,
        Some(Fault::Interrupt) => number == 2,
        Some(Fault::Terminate) => number == 15,
        _ => false,
    };
    let code = match done.ending {
        Ending::Code(code) => code,
        Ending::Signal(number) => return signalled(number),
        Ending::TooLong => return true,
    };
    let codes: &[i32] = match done.verb().as_str() {
        "exec" => &[0, 2, 124, 125],
        "list" => &[0, 2, 6],
        "wait" => &[0, 1, 2, 6, 8, 9],
        "message" => &[0, 1, 2, 6, 7, 8, 9],
        "create" | "clone" | "destroy" | "stop" | "cleanup" | "undo" | "start" | "snapshot restore" => {
            &[0, 1, 2, 3, 4, 5, 6, 8, 9]
        }
        _ => &[0, 1, 2, 4, 5, 6, 8, 9],
    };
    let is_interrupted = matches!(done.fault, Some(Fault::Interrupt | Fault::Terminate)) && code == 130;
    // What a command cannot write it may say by its code.
    let is_full = done.fault == Some(Fault::FullDisk) && matches!(code, 1 | 4);
    // On one target the code is the program's own.
    let is_programs = matches!(done.verb().as_str(), "exec" | "git" | "rsync") && matches!(code, 1..=254);
    codes.contains(&code) || is_interrupted || is_full || is_programs
}

/// What is there in a quiet moment, next to the facts.
#[derive(Debug, Default, Clone)]
pub(super) struct Quiet {
    /// What `list` shows, by id.
    pub(super) listed: BTreeMap<String, Listed>,
    /// What `undo` shows: id and name.
    pub(super) trash: BTreeMap<String, String>,
}

/// Judges a batch of commands by what is there after it, and takes over what is there.
pub(super) fn judge_batch(book: &mut Book, facts: &Facts, quiet: &Quiet) -> Vec<Violation> {
    let mut found: Vec<Violation> = book.done.iter().flat_map(judge).collect();
    let holders = Holders::of(book, quiet);
    found.extend(agents(book, facts, quiet, &holders));
    let sent = sent(book, &holders);
    book.sent.extend(sent);
    found.extend(messages(&book.sent, facts));
    found.extend(work(book, facts));
    book.killed_agents |= book.troubles.iter().any(|(fault, ..)| fault.disturbs_agents());
    found.extend(order(facts, book.killed_agents));
    book.listed.clone_from(&quiet.listed);
    book.trash.clone_from(&quiet.trash);
    // The files of a container cannot be seen from here.
    let seen = quiet.listed.values().filter(|agent| agent.work_dir.is_absolute());
    book.work_dirs = seen.map(|agent| (agent.name.clone(), agent.work_dir.clone())).collect();
    book.done.clear();
    book.troubles.clear();
    found
}

/// Which agents may have had a name in this batch.
struct Holders(BTreeMap<String, BTreeSet<String>>);

impl Holders {
    fn of(book: &Book, quiet: &Quiet) -> Self {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut add = |name: &str, id: &str| names.entry(name.to_owned()).or_default().insert(id.to_owned());
        // Before and after: what a killed command did shows only then.
        for (id, agent) in book.listed.iter().chain(&quiet.listed) {
            add(&agent.name, id);
        }
        for (id, name) in book.trash.iter().chain(&quiet.trash) {
            add(name, id);
        }
        for done in &book.done {
            match &done.intent {
                Intent::Create { id, name, .. } => drop(add(name, id)),
                // Their ids are in what they printed, if they came so far.
                Intent::Restore { .. } | Intent::Undo { .. } | Intent::Replace => {
                    for (id, name) in restored(&done.stdout) {
                        add(&name, &id);
                    }
                }
                _ => {}
            }
        }
        let renames: Vec<(&String, &String)> = book
            .done
            .iter()
            .filter_map(|done| match &done.intent {
                Intent::Rename { name, to } if !done.failed() => Some((name, to)),
                _ => None,
            })
            .collect();
        // A chain of renames may have come in any order.
        for _ in 0..renames.len() {
            for (name, to) in &renames {
                let ids = names.get(*name).cloned().unwrap_or_default();
                names.entry((*to).clone()).or_default().extend(ids);
            }
        }
        Self(names)
    }

    fn ids(&self, name: &str) -> BTreeSet<String> {
        self.0.get(name).cloned().unwrap_or_default()
    }

    fn may_be(&self, name: &str, id: &str) -> bool {
        self.0.get(name).is_some_and(|ids| ids.contains(id))
    }
}

/// The agents that `undo` or `snapshot restore` say they brought: id and name.
pub(super) fn restored(stdout: &str) -> Vec<(String, String)> {
    let value: serde_json::Value = serde_json::from_str(stdout).unwrap_or_default();
    let agents = value["restored_agents"].as_array().or(value["agents"].as_array()).cloned();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let pair = |agent: serde_json::Value| Some((text(&agent["id"])?, text(&agent["name"])?));
    agents.unwrap_or_default().into_iter().filter_map(pair).collect()
}

fn agents(book: &mut Book, facts: &Facts, quiet: &Quiet, holders: &Holders) -> Vec<Violation> {
    let mut found = Vec::new();
    let here: BTreeSet<&str> = facts.entries_of("agents").collect();
    let in_trash: BTreeSet<&str> = facts.entries_of("trash").collect();
    let may_be_removed = |id: &str| {
        book.done.iter().any(|done| match &done.intent {
            Intent::Remove { name } => holders.may_be(name, id),
            Intent::Replace => true,
            _ => false,
        })
    };
    let made = book.done.iter().filter_map(|done| match &done.intent {
        Intent::Create { id, name, .. } if done.succeeded() => Some((id.clone(), name.clone())),
        _ => None,
    });
    let restored = book.done.iter().filter(|done| done.succeeded()).flat_map(|done| match &done.intent {
        Intent::Restore { .. } | Intent::Undo { .. } | Intent::Replace => restored(&done.stdout),
        _ => Vec::new(),
    });
    let before = book.listed.iter().map(|(id, agent)| (id.clone(), agent.name.clone()));
    let expected: BTreeMap<String, String> = before.chain(made).chain(restored).collect();
    for (id, name) in &expected {
        let (is_listed, is_trash) = (quiet.listed.contains_key(id), quiet.trash.contains_key(id));
        if !is_listed && !is_trash {
            found.push(Violation::new(
                "agent lost",
                format!("`{name}` ({id}) is neither listed nor in the trash"),
            ));
        } else if !is_listed && !may_be_removed(id) {
            found.push(Violation::new("agent lost", format!("nobody destroyed `{name}` ({id})")));
        }
    }
    for (id, name) in &book.trash {
        if !quiet.listed.contains_key(id) && !quiet.trash.contains_key(id) {
            found.push(Violation::new(
                "trash lost",
                format!("`{name}` ({id}) cannot be brought back any more"),
            ));
        }
    }
    for (id, agent) in &quiet.listed {
        if quiet.trash.contains_key(id) {
            let what = format!("`{}` ({id}) is listed and in the trash", agent.name);
            found.push(Violation::new("agent twice", what));
        }
    }
    let mut names = BTreeMap::new();
    for (id, agent) in &quiet.listed {
        if let Some(other) = names.insert((&agent.host, &agent.name), id) {
            let what = format!("{other} and {id} are both called `{}`", agent.name);
            found.push(Violation::new("agent twice", what));
        }
    }
    // A creation that says it failed has left nothing; one that was killed is there or has left nothing.
    for done in &book.done {
        let Intent::Create { id, name, branch } = &done.intent else { continue };
        let exists = quiet.listed.contains_key(id) || quiet.trash.contains_key(id);
        if done.failed() && exists {
            let what = format!("`{name}` ({id}) exists although its creation ended with {:?}", done.ending);
            found.push(Violation::new("failed create", what));
        }
        if !exists && !done.succeeded() {
            let journal = format!("{id}.jsonl");
            let is_left = here.contains(id.as_str())
                || in_trash.contains(id.as_str())
                || facts.entries_of("journal").any(|entry| entry == journal);
            if is_left {
                let what = format!("`{name}` ({id}) is not listed and has left a folder or a journal");
                found.push(Violation::new("failed create", what));
            }
            book.forbidden_branches.extend(branch.clone());
        }
    }
    for branch in &book.forbidden_branches {
        let suffix = format!(" refs/heads/{branch}");
        if facts.refs.iter().any(|line| line.ends_with(&suffix)) {
            let what = format!("branch `{branch}` of a failed creation is left");
            found.push(Violation::new("failed create", what));
        }
    }
    for id in here {
        if !quiet.listed.contains_key(id) {
            found
                .push(Violation::new("stray folder", format!("`agents/{id}` is of no agent that is listed")));
        }
    }
    for id in in_trash {
        if !quiet.trash.contains_key(id) {
            found.push(Violation::new(
                "stray folder",
                format!("`trash/{id}` is of no agent that can come back"),
            ));
        }
    }
    found
}

/// Whether a message of this batch that must be in an agent is not there yet.
pub(super) fn is_waiting(book: &Book, facts: &Facts, quiet: &Quiet) -> bool {
    let sent = sent(book, &Holders::of(book, quiet));
    messages(&sent, facts).iter().any(|violation| violation.rule == "message lost")
}

/// The messages of this batch. Those with one token are one message.
fn sent(book: &Book, holders: &Holders) -> Vec<Sent> {
    let mut sent: BTreeMap<String, Sent> = BTreeMap::new();
    for done in &book.done {
        let Intent::Message { name, token } = &done.intent else { continue };
        let addressees = holders.ids(name);
        let until = done.ended + NOTED;
        let overlaps = |from: u64, to: u64| from <= until && to >= done.began;
        let halted = book.done.iter().any(|other| {
            let is_halted = match &other.intent {
                Intent::Halt { name } | Intent::Remove { name } | Intent::Undo { name } => {
                    !holders.ids(name).is_disjoint(&addressees)
                }
                Intent::Replace => true,
                Intent::Create { id, .. } => addressees.contains(id) && !other.succeeded(),
                _ => false,
            };
            is_halted && overlaps(other.began, other.ended)
        });
        let troubled =
            book.troubles.iter().any(|(fault, from, to)| fault.disturbs_agents() && overlaps(*from, *to));
        let one = sent.entry(token.clone()).or_insert_with(|| Sent {
            token: token.clone(),
            addressees: BTreeSet::new(),
            names: BTreeSet::new(),
            accepted: false,
            disturbed: false,
        });
        one.addressees.extend(addressees);
        one.names.insert(name.clone());
        one.accepted |= done.succeeded();
        one.disturbed |= halted || troubled;
    }
    sent.into_values().collect()
}

fn messages(sent: &[Sent], facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut received: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, line) in &facts.got {
        received.entry(line.split(' ').next().unwrap_or_default()).or_default().push(id);
    }
    for sent in sent {
        let got = received.get(sent.token.as_str()).cloned().unwrap_or_default();
        let token = &sent.token;
        for id in &got {
            if !sent.addressees.contains(*id) {
                let what = format!("message {token} for {:?} is in {id}", sent.addressees);
                found.push(Violation::new("wrong agent", what));
            }
        }
        let agents: BTreeSet<&&str> = got.iter().collect();
        if got.len() > agents.len() || got.len() > sent.names.len() {
            found.push(Violation::new("message doubled", format!("message {token} is in {got:?}")));
        }
        if got.len() < sent.names.len() && sent.accepted && !sent.disturbed {
            let what = format!("message {token} for {:?} was accepted and is in {got:?}", sent.names);
            found.push(Violation::new("message lost", what));
        }
    }
    found
}

fn work(book: &mut Book, facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    for done in book.done.iter().filter(|done| done.succeeded()) {
        if let Intent::Write { token } = &done.intent {
            book.writes.insert(token.clone());
        }
    }
    for (commit, token) in &facts.wrote {
        book.commits.insert(commit.clone());
        book.writes.insert(token.clone());
    }
    for token in &book.writes {
        if !facts.files.contains(token) {
            found.push(Violation::new("file lost", format!("file `w-{token}` is nowhere")));
        }
    }
    for commit in &book.commits {
        if !facts.commits.contains(commit) {
            found.push(Violation::new("commit lost", format!("no ref and no work dir holds {commit}")));
        }
    }
    found
}

/// What is never right in a quiet moment. The git of an agent that was killed may have left a lock of its own.
fn order(facts: &Facts, killed_agents: bool) -> Vec<Violation> {
    let of = |rule: &'static str, lines: &[String]| -> Vec<Violation> {
        lines.iter().map(|line| Violation::new(rule, line.clone())).collect()
    };
    let mut found = of("git fsck", &facts.fsck);
    let is_agents = |lock: &str| {
        ["/.git/worktrees/", "/refs/heads/c/", "/copies/", "/projects/", "/trash/", "/repositories/"]
            .iter()
            .any(|part| lock.contains(part))
    };
    let locks = facts.locks.iter().filter(|lock| !(killed_agents && is_agents(lock)));
    found.extend(locks.map(|lock| Violation::new("lock left", lock.clone())));
    for entry in facts.entries_of("journal") {
        found.push(Violation::new("journal left", entry));
    }
    found
}

/// Judges what is left when every agent was destroyed and somebody tidied up.
pub(super) fn judge_end(book: &Book, facts: &Facts, quiet: &Quiet, main: &str) -> Vec<Violation> {
    let mut found = order(facts, book.killed_agents);
    for (id, agent) in &quiet.listed {
        found.push(Violation::new("left", format!("agent `{}` ({id})", agent.name)));
    }
    for session in &facts.sessions {
        found.push(Violation::new("left", format!("tmux session `{session}`")));
    }
    for folder in ["agents", "worktrees", "copies", "projects", "transit", "made", "making"] {
        for entry in facts.entries_of(folder) {
            // A repository stays while a clone of its agent in the trash is a work tree of it.
            let repository = format!("/{folder}/{entry}/.git ");
            let is_needed = |line: &&String| line.contains(&repository) && line.contains("/trash/");
            if !facts.worktrees.iter().any(|line| is_needed(&line)) {
                found.push(Violation::new("left", format!("`{folder}/{entry}`")));
            }
        }
    }
    for line in &facts.prunable {
        found.push(Violation::new("left", format!("worktree entry without a folder: {line}")));
    }
    for line in &facts.worktrees {
        let (_, path) = line.split_once(' ').unwrap_or_default();
        let is_known = path == main || path.contains("/trash/") || path.contains("/snapshots/") || {
            // A repository is the first of its own work trees.
            line.split_once(' ').is_some_and(|(git, _)| git == path || git == format!("{path}/.git"))
        };
        if !is_known {
            found.push(Violation::new("left", format!("worktree {line}")));
        }
    }
    found
}

mod tests;
