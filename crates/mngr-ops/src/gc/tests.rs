//! What `gc` deletes and, more important, what it keeps.

use jiff::{SignedDuration, Timestamp};
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_model::address::AgentRef;

use super::empty_trash::{Candidate, Expiry, Limits, expired};
use super::leftovers::is_rotated;
use super::*;
use crate::destroy::{DestroyOptions, destroy};
use crate::fleet::Agent;
use crate::trash::testing::Bench;
use crate::undo::{self, Sizes};

fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

fn verdicts(candidates: &[(i64, u64)], max_days: i64, max_bytes: u64) -> Vec<Option<Expiry>> {
    let now = Timestamp::from_second(1_000_000_000).unwrap();
    let candidate = |(age, bytes): &(i64, u64)| Candidate { destroyed_at: now - days(*age), bytes: *bytes };
    let candidates: Vec<Candidate> = candidates.iter().map(candidate).collect();
    expired(&candidates, now, Limits { age: days(max_days), bytes: max_bytes })
}

#[test]
fn age_goes_first_and_then_the_oldest_until_the_rest_fits() {
    use Expiry::{Age, Size};
    assert_eq!(verdicts(&[(40, 5), (31, 5), (30, 5), (1, 5)], 30, 100), [Some(Age), Some(Age), None, None]);
    assert_eq!(verdicts(&[(9, 50), (8, 50), (7, 50)], 30, 100), [Some(Size), None, None]);
    assert_eq!(verdicts(&[(9, 50), (8, 50), (7, 101)], 30, 100), [Some(Size), Some(Size), Some(Size)]);
    assert_eq!(verdicts(&[(40, 900), (8, 50)], 30, 100), [Some(Age), None], "what goes by age makes room");
    assert_eq!(verdicts(&[(-3, 1)], 30, 100), [None], "a clock that went back deletes nothing");
    assert_eq!(verdicts(&[(9, u64::MAX), (8, u64::MAX)], 30, u64::MAX), [None, None]);
}

#[test]
fn only_numbered_logs_are_rotated_ones() {
    for name in ["events.jsonl.1", "sshd.log.12"] {
        assert!(is_rotated(name), "{name}");
    }
    for name in ["events.jsonl", "events.jsonl.", "notes.1", "a.log.1x", "x.jsonl.-1"] {
        assert!(!is_rotated(name), "{name}");
    }
}

fn destroyed(bench: &Bench, name: &str) -> Agent {
    let agent = bench.agent(name);
    bench.git(&bench.work(name), &["checkout", "--quiet", "--detach"]);
    bench.commit(&bench.work(name), "on no branch");
    destroy(&bench.world, &agent, &DestroyOptions::from_settings(&bench.world.settings)).unwrap();
    agent
}

fn gc(bench: &Bench) -> Collected {
    collect(&bench.world, &GcOptions::default()).unwrap()
}

fn rehearse(bench: &Bench) -> Collected {
    collect(&bench.world, &GcOptions { dry_run: true, ..GcOptions::default() }).unwrap()
}

fn names(collected: &Collected, kind: ResourceKind) -> Vec<String> {
    collected.of(kind).map(|resource| resource.path.file_name().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_trash_is_emptied_when_its_time_has_come() {
    let bench = Bench::new();
    let old = destroyed(&bench, "old");
    bench.wait_days(20);
    let young = destroyed(&bench, "young");
    assert_eq!(gc(&bench).removed, []);
    bench.wait_days(11);
    let rehearsed = rehearse(&bench);
    assert_eq!(names(&rehearsed, ResourceKind::Trash), [old.id().as_str()]);
    assert_eq!(undo::list(&bench.world, Sizes::Known).entries.len(), 2, "a rehearsal deletes nothing");
    let collected = gc(&bench);
    assert_eq!(collected.removed, rehearsed.removed);
    assert!(collected.problems.is_empty() && collected.freed_bytes() > 0, "{collected:?}");
    assert!(!bench.exists(&format!("host/trash/{}", old.id())));
    assert_eq!(bench.refs("refs/mngr"), [format!("refs/mngr/rescue/{}", young.id())]);
    let worktrees = bench.git("repo", &["worktree", "list", "--porcelain"]);
    assert!(!worktrees.contains(old.id().as_str()) && worktrees.contains(young.id().as_str()), "{worktrees}");
    undo::undo(&bench.world, &AgentRef::Id(young.id().clone())).unwrap();
}

#[test]
fn commits_made_in_the_trash_outlive_it() {
    let bench = Bench::new();
    let agent = destroyed(&bench, "old");
    let late = bench.commit(&format!("host/trash/{}/work", agent.id()), "late");
    bench.wait_days(31);
    let collected = gc(&bench);
    assert_eq!(names(&collected, ResourceKind::Trash), [agent.id().as_str()]);
    let name = format!("refs/mngr/rescue/{}-late-{}", agent.id(), &late[..12]);
    assert!(collected.kept.iter().any(|kept| kept.reason.contains(&name)), "{collected:?}");
    assert_eq!(bench.refs("refs/mngr"), [name.clone()]);
    assert_eq!(bench.git("repo", &["rev-parse", &name]), late);
}

#[test]
fn what_was_set_aside_goes_when_its_time_is_over() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    destroy(&bench.world, &agent, &DestroyOptions::from_settings(&bench.world.settings)).unwrap();
    bench.write(&format!("host/agents/{}/late", agent.id()), "x");
    undo::undo(&bench.world, &AgentRef::Id(agent.id().clone())).unwrap();
    let aside = format!("host/set-aside/{}", agent.id());
    gc(&bench);
    assert!(bench.exists(&format!("{aside}/state-1/late")));
    bench.wait_days(31);
    assert_eq!(names(&gc(&bench), ResourceKind::Trash), [agent.id().as_str()]);
    assert!(!bench.exists(&aside) && bench.look("foo").is_some());
}

#[test]
fn a_full_trash_loses_its_oldest() {
    let mut bench = Bench::new();
    let first = destroyed(&bench, "first");
    bench.wait_days(1);
    destroyed(&bench, "second");
    let bytes = undo::list(&bench.world, Sizes::Measure).entries[0].bytes.unwrap();
    bench.world.settings.trash.max_size_gb = bytes as f64 * 1.5 / 1e9;
    assert_eq!(names(&gc(&bench), ResourceKind::Trash), [first.id().as_str()]);
}

#[test]
fn a_removal_from_the_trash_that_died_is_completed_and_not_undone() {
    let die_at_each = |deaths: i64| {
        let bench = Bench::new();
        let old = destroyed(&bench, "old");
        bench.wait_days(31);
        bench.host.die_after(deaths);
        let is_done = gc(&bench).problems.is_empty();
        bench.host.revive();
        let listed = undo::list(&bench.world, Sizes::Known);
        assert_eq!(listed.damaged, [], "after {deaths} actions");
        let collected = gc(&bench);
        assert!(collected.problems.is_empty(), "{collected:?}");
        assert!(!bench.exists(&format!("host/trash/{}", old.id())));
        assert_eq!(bench.refs("refs/mngr"), [""; 0]);
        is_done
    };
    let needed = (0..).find(|deaths| die_at_each(*deaths)).unwrap();
    assert!(needed > 3);
}

#[test]
fn only_orphans_that_hold_nothing_of_their_own_are_deleted() {
    let bench = Bench::new();
    let used = bench.agent("used");
    let add = |name: &str| {
        let path = bench.path(&bench.work(name));
        bench.git("repo", &["worktree", "add", "--quiet", "--detach", path.as_str()]);
    };
    for name in ["clean", "modified", "untracked", "ignored", "unheld", "merging"] {
        add(name);
    }
    bench.write(&format!("{}/a.txt", bench.work("modified")), "changed");
    bench.write(&format!("{}/new", bench.work("untracked")), "n");
    bench.write(&format!("{}/secret.log", bench.work("ignored")), "s");
    bench.commit(&bench.work("unheld"), "on no branch");
    bench.sh(&bench.work("merging"), "git rev-parse HEAD >\"$(git rev-parse --git-path MERGE_HEAD)\"");
    bench.write("host/worktrees/plain/file", "not a checkout");
    let collected = gc(&bench);
    assert_eq!(names(&collected, ResourceKind::WorkDir), ["clean"]);
    assert!(!bench.exists(&bench.work("clean")));
    let kept: Vec<&str> = collected.kept.iter().filter_map(|kept| kept.path.file_name()).collect();
    assert_eq!(kept, ["ignored", "merging", "modified", "plain", "unheld", "untracked"]);
    assert!(bench.exists(&bench.work("used")), "{:?}", used.name());
    assert_eq!(gc(&bench).removed, []);
}

#[test]
fn an_unreadable_agent_keeps_every_orphan() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    bench.write(&format!("host/agents/{}/data.json", agent.id()), "{");
    let collected = gc(&bench);
    assert_eq!((collected.removed.len(), collected.problems.len()), (0, 1));
    assert!(bench.exists(&bench.work("foo")));
}

#[test]
fn a_clone_goes_when_a_remote_has_all_of_it_and_nobody_needs_it() {
    let bench = Bench::new();
    bench.sh("", "mkdir -p host/clones");
    for name in ["idle", "ahead", "stashed", "needed"] {
        bench.git("", &["clone", "--quiet", "repo", &format!("host/clones/{name}")]);
    }
    bench.commit("host/clones/ahead", "unpushed");
    bench.write("host/clones/stashed/a.txt", "changed");
    bench.git("host/clones/stashed", &["stash", "--quiet"]);
    bench.agent_in_place("foo", "host/clones/needed");
    assert_eq!(names(&gc(&bench), ResourceKind::Clone), ["idle"]);
    assert!(bench.exists("host/clones/ahead") && bench.exists("host/clones/stashed"));
    assert!(bench.exists("host/clones/needed"));
}

#[test]
fn a_clone_that_a_destroyed_agent_comes_back_to_is_kept() {
    let bench = Bench::new();
    bench.sh("", "mkdir -p host/clones; mv repo host/clones/repo; ln -s host/clones/repo repo");
    let agent = bench.agent("foo");
    bench.git("host/clones/repo", &["update-ref", "refs/remotes/origin/main", "main"]);
    destroy(&bench.world, &agent, &DestroyOptions::from_settings(&bench.world.settings)).unwrap();
    assert_eq!(gc(&bench).removed, []);
    assert!(bench.exists("host/clones/repo/.git"));
}

#[test]
fn old_temp_files_and_rotated_logs_go() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let state = format!("host/agents/{}", agent.id());
    let old = [format!("{state}/.mngr-aBc123"), "host/events/logs/mngr/events.jsonl.1".to_owned()];
    let young = [format!("{state}/.mngr-young"), "host/events/logs/mngr/events.jsonl.2".to_owned()];
    for path in old.iter().chain(&young) {
        bench.write(path, "x");
    }
    bench.write("host/events/logs/mngr/events.jsonl", "current");
    for path in old.iter().chain([&"host/events/logs/mngr/events.jsonl".to_owned()]) {
        bench.sh("", &format!("touch -d '31 days ago' {path}"));
    }
    let collected = gc(&bench);
    assert_eq!(names(&collected, ResourceKind::TempFile), [".mngr-aBc123"]);
    assert_eq!(names(&collected, ResourceKind::Log), ["events.jsonl.1"]);
    assert!(old.iter().all(|path| !bench.exists(path)) && young.iter().all(|path| bench.exists(path)));
    assert!(bench.host.files().exists(&bench.path("host/events/logs/mngr/events.jsonl")).unwrap());
}

#[test]
fn what_a_removal_left_that_died_before_it_began_goes_at_once() {
    let bench = Bench::new();
    let (empty, noted) = (bench.agent("empty"), bench.agent("noted"));
    bench.sh("host", &format!("mkdir -p trash/{}", empty.id()));
    // The folder of journals, its own and the note of what is to be done are written by then, the journal is not.
    bench.host.die_after(3);
    destroy(&bench.world, &noted, &DestroyOptions::from_settings(&bench.world.settings)).unwrap_err();
    bench.host.revive();
    assert!(bench.exists(&format!("host/trash/{}/manifest.json", noted.id())));
    // The one with a journal was put right before.
    assert_eq!(gc(&bench).of(ResourceKind::Trash).count(), 1);
    let is_left = |agent: &Agent| bench.exists(&format!("host/trash/{}", agent.id()));
    assert!(!is_left(&empty) && !is_left(&noted));
    assert!(bench.exists(&bench.work("empty")) && bench.exists(&bench.work("noted")));
}

#[test]
fn a_repository_that_was_brought_goes_when_nobody_uses_it_and_nothing_in_it_is_its_own() {
    let bench = Bench::new();
    let source = Git::new(bench.host.as_ref(), bench.path("repo"));
    let base = source.resolve("HEAD").unwrap();
    for name in ["plain", "worked", "used"] {
        let deposit = Git::new(bench.host.as_ref(), bench.path(&format!("host/repositories/{name}")));
        source.deposit_into(&deposit, &base).unwrap();
    }
    let tree = format!("{base}^{{tree}}");
    let own = bench.git("host/repositories/worked", &["commit-tree", "-p", &base, "-m", "own", &tree]);
    bench.git("host/repositories/worked", &["branch", "mngr/x", own.trim()]);
    bench.agent_in_place("w", "host/repositories/used");
    let collected = gc(&bench);
    assert_eq!(names(&collected, ResourceKind::Clone), ["plain"]);
    assert!(!bench.exists("host/repositories/plain") && bench.exists("host/repositories/used"));
    let kept: Vec<_> = collected.kept.iter().map(|kept| kept.path.file_name().unwrap_or_default()).collect();
    assert_eq!(kept, ["worked"]);
    bench.sh("host/repositories", "mkdir .gone-half");
    gc(&bench);
    assert!(!bench.exists("host/repositories/.gone-half"));
}
