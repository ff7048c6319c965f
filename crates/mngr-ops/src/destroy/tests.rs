//! `destroy` and `undo` against real git: whatever was there comes back.

use mngr_host::git::{BranchState, Git};
use mngr_host::host::Host;
use mngr_model::address::AgentRef;
use mngr_model::{AgentState, HostPath};

use super::*;
use crate::fleet::Agent;
use crate::trash::testing::Bench;
use crate::undo::{self, Restored, Sizes, UndoError};

fn options(bench: &Bench) -> DestroyOptions {
    DestroyOptions::from_settings(&bench.world.settings)
}

fn with_branch(bench: &Bench) -> DestroyOptions {
    DestroyOptions { remove_created_branch: true, ..options(bench) }
}

fn destroy_it(bench: &Bench, agent: &Agent) -> Destroyed {
    destroy(&bench.world, agent, &options(bench)).unwrap()
}

fn undo_name(bench: &Bench, name: &str) -> Result<Restored, UndoError> {
    undo::undo(&bench.world, &AgentRef::Name(name.parse().unwrap()))
}

fn undo_id(bench: &Bench, agent: &Agent) -> Restored {
    undo::undo(&bench.world, &AgentRef::Id(agent.id().clone())).unwrap()
}

/// Every kind of work an agent may leave behind, on a branch of its own.
fn agent_with_work(bench: &Bench, name: &str) -> Agent {
    let agent = bench.agent(name);
    let work = bench.work(name);
    bench.write(&format!("{work}/committed"), "c");
    bench.commit(&work, "unmerged");
    bench.write(&format!("{work}/a.txt"), "modified");
    bench.write(&format!("{work}/staged"), "index");
    bench.git(&work, &["add", "staged"]);
    bench.write(&format!("{work}/staged"), "index, then changed");
    bench.sh(&work, "rm gone.txt; mkdir -p build 'odd dir'; ln -s nowhere link; chmod +x b.txt");
    bench.write(&format!("{work}/untracked\nname"), "u");
    bench.write(&format!("{work}/odd dir/ü -x"), "u");
    bench.write(&format!("{work}/secret.log"), "ignored");
    bench.write(&format!("{work}/build/out"), "ignored");
    bench.git(&work, &["init", "--quiet", "nested"]);
    bench.write(&format!("{work}/nested/never committed"), "n");
    agent
}

#[test]
fn an_agent_that_is_in_the_trash_already_is_not_taken_back() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    destroy_it(&bench, &agent);
    // As after a link that broke between the last step and its answer.
    let host = bench.host.as_ref();
    let manifest = crate::trash::read_manifest(host, &host.layout().trash_of(agent.id())).unwrap();
    let refused = run::take_back(host, &manifest);
    assert!(matches!(refused, Err(TrashError::StillThere { .. })), "{refused:?}");
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn everything_in_a_work_dir_comes_back() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    let destroyed = destroy_it(&bench, &agent);
    assert_eq!(destroyed.notes, [""; 0]);
    assert!(bench.look("foo").is_none());
    assert!(!bench.exists(&bench.work("foo")));
    let events = destroyed.preserved.unwrap().join("events/messages/events.jsonl");
    assert!(bench.host.files().read_text(&events).unwrap().contains("to foo"));
    let git = Git::new(bench.host.as_ref(), bench.path("repo"));
    let state = git.branch_state("mngr/foo", "main").unwrap();
    assert!(matches!(state, BranchState::HasOwnCommits { .. }), "kept and free for others: {state:?}");
    let listed = undo::list(&bench.world, Sizes::Measure).entries;
    assert_eq!((listed.len(), listed[0].branch.as_deref()), (1, Some("mngr/foo")));
    assert_eq!(listed[0].project.as_deref(), Some("p"));
    assert!(listed[0].bytes.unwrap() > 0);
    let restored = undo_name(&bench, "foo").unwrap();
    assert_eq!((restored.branch.as_deref(), restored.notes.len()), (Some("mngr/foo"), 0));
    bench.assert_back(&agent, &picture);
}

#[test]
fn commits_on_no_branch_survive_in_a_rescue_ref() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let work = bench.work("foo");
    bench.git(&work, &["checkout", "--quiet", "--detach"]);
    let commit = bench.commit(&work, "on no branch");
    let picture = bench.picture(&work);
    destroy_it(&bench, &agent);
    assert_eq!(bench.refs("refs/mngr"), [format!("refs/mngr/rescue/{}", agent.id())]);
    // Somebody tidies up: only the ref is left to hold the commit.
    bench.sh("repo", "cp -r .git ../copy; cd ../copy; rm -r worktrees; git gc --quiet --prune=now");
    assert_eq!(bench.git("copy", &["cat-file", "-t", &commit]), "commit");
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_removed_branch_comes_back_with_its_commits() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    let destroyed = destroy(&bench.world, &agent, &with_branch(&bench)).unwrap();
    assert_eq!(destroyed.deleted_branch.as_deref(), Some("mngr/foo"));
    assert_eq!(bench.refs("refs/heads"), ["refs/heads/main"]);
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_removed_branch_that_was_not_checked_out_comes_back_too() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let work = bench.work("foo");
    let left = bench.commit(&work, "left behind");
    bench.git(&work, &["checkout", "--quiet", "-b", "other", "main"]);
    let picture = bench.picture(&work);
    destroy(&bench.world, &agent, &with_branch(&bench)).unwrap();
    assert_eq!(bench.refs("refs/heads"), ["refs/heads/main", "refs/heads/other"]);
    assert_eq!(bench.refs("refs/mngr"), [format!("refs/mngr/rescue/{}-branch", agent.id())]);
    undo_id(&bench, &agent);
    assert_eq!(bench.git("repo", &["rev-parse", "mngr/foo"]), left);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_merged_branch_is_removed_without_a_rescue() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    bench.commit(&bench.work("foo"), "work");
    bench.git("repo", &["merge", "--quiet", "mngr/foo"]);
    destroy(&bench.world, &agent, &with_branch(&bench)).unwrap();
    assert_eq!(bench.refs("refs/mngr"), [""; 0]);
    assert_eq!(bench.refs("refs/heads"), ["refs/heads/main"]);
}

#[test]
fn a_branch_that_moved_since_is_left_alone() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let old = bench.commit(&bench.work("foo"), "old");
    destroy_it(&bench, &agent);
    bench.git("repo", &["branch", "--quiet", "--force", "mngr/foo", "main"]);
    let restored = undo_id(&bench, &agent);
    assert_eq!(restored.branch.as_deref(), Some("mngr/foo-2"));
    assert!(restored.notes[0].contains("`mngr/foo` has moved since"), "{:?}", restored.notes);
    assert_eq!(bench.git(&bench.work("foo"), &["rev-parse", "HEAD"]), old);
    assert_eq!(bench.git("repo", &["rev-parse", "mngr/foo"]), bench.git("repo", &["rev-parse", "main"]));
    let record = bench.look("foo").unwrap().facts.record;
    assert_eq!(
        record.created_branch_name.as_deref(),
        Some("mngr/foo-2"),
        "`destroy -b` removes the right one"
    );
}

#[test]
fn a_branch_that_was_deleted_since_is_made_again() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    destroy_it(&bench, &agent);
    bench.git("repo", &["branch", "--quiet", "-D", "mngr/foo"]);
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_taken_name_gets_a_number_in_record_and_environment() {
    let bench = Bench::new();
    let agent = bench.agent_in_copy("foo");
    destroy_it(&bench, &agent);
    bench.agent_in_place("foo", "repo");
    let restored = undo_id(&bench, &agent);
    assert_eq!((restored.name.as_str(), restored.notes.len()), ("foo-2", 1));
    let back = bench.look("foo-2").unwrap();
    assert_eq!(back.id(), agent.id());
    let state = bench.state(&back);
    let env = bench.host.files().read_text(&state.env_file()).unwrap();
    assert!(env.contains("MNGR_AGENT_NAME=foo-2\n") && env.contains("SECRET=x\n"), "{env}");
    let data = bench.host.files().read_text(&state.data()).unwrap();
    assert!(data.contains("kept_by_a_newer_mngr"), "{data}");
}

#[test]
fn a_taken_path_refuses_and_changes_nothing() {
    let bench = Bench::new();
    let agent = bench.agent_at("foo", "elsewhere/foo");
    let picture = bench.picture("elsewhere/foo");
    destroy_it(&bench, &agent);
    bench.write("elsewhere/foo/somebody's", "x");
    assert!(matches!(undo_name(&bench, "foo"), Err(UndoError::PathTaken { .. })));
    assert!(!bench.exists(&format!("host/journal/{}.jsonl", agent.id())));
    bench.sh("elsewhere", "rm -r foo");
    undo_id(&bench, &agent);
    assert_eq!(bench.picture("elsewhere/foo"), picture);
    // Nor is a checkout taken for something that a late program left.
    let other = bench.agent("bar");
    destroy_it(&bench, &other);
    bench.git("repo", &["worktree", "add", "--quiet", "--detach", bench.path(&bench.work("bar")).as_str()]);
    assert!(matches!(undo_name(&bench, "bar"), Err(UndoError::PathTaken { .. })));
}

#[test]
fn what_was_written_where_the_agent_had_been_is_set_aside_and_told() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    for round in 1..=2 {
        destroy_it(&bench, &bench.look("foo").unwrap());
        bench.write(&format!("host/agents/{}/activity/agent", agent.id()), "late hook");
        bench.write(&format!("{}/dir/out", bench.work("foo")), "late program");
        let restored = undo_id(&bench, &agent);
        let aside = format!("host/set-aside/{}", agent.id());
        for (place, file) in [("state", "activity/agent"), ("work", "dir/out")] {
            let to = format!("{aside}/{place}-{round}");
            assert!(bench.exists(&format!("{to}/{file}")), "{to}");
            assert!(restored.notes.iter().any(|note| note.contains(&to)), "{:?}", restored.notes);
        }
        bench.assert_back(&agent, &picture);
    }
}

#[test]
fn a_hook_that_is_late_at_the_last_step_hinders_no_return() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    destroy_it(&bench, &agent);
    let state = bench.host.layout().trash_of(agent.id()).state();
    let late = format!("mkdir -p host/agents/{0} && echo >host/agents/{0}/late", agent.id());
    // The state folder is looked at, and then moved; what runs there comes between.
    bench.meanwhile(&state, &format!("{late}; true"));
    let restored = undo_id(&bench, &agent);
    assert!(bench.was_met() && restored.notes[0].contains("set aside"), "{:?}", restored.notes);
    bench.assert_back(&agent, &picture);
}

#[test]
fn commits_made_in_the_trash_are_kept_by_a_ref_and_told() {
    for is_removed in [false, true] {
        let bench = Bench::new();
        let agent = bench.agent("foo");
        let before = bench.commit(&bench.work("foo"), "before");
        let options = if is_removed { with_branch(&bench) } else { options(&bench) };
        destroy(&bench.world, &agent, &options).unwrap();
        let late = bench.commit(&format!("host/trash/{}/work", agent.id()), "late");
        let restored = undo_id(&bench, &agent);
        let name = format!("refs/mngr/rescue/{}-late-{}", agent.id(), &late[..12]);
        assert_eq!(bench.refs("refs/mngr"), [name.as_str()]);
        assert_eq!(bench.git("repo", &["rev-parse", &name]), late);
        assert!(restored.notes.iter().any(|note| note.contains(&name)), "{:?}", restored.notes);
        assert_eq!(
            bench.git(&bench.work("foo"), &["rev-parse", "HEAD", "mngr/foo"]),
            [&*before; 2].join("\n")
        );
        assert_eq!(bench.git(&bench.work("foo"), &["branch", "--show-current"]), "mngr/foo");
    }
}

/// An agent with a repository of its own in its work dir, and the clone of it.
fn source_and_clone(bench: &Bench) -> [(Agent, String); 2] {
    let source = bench.agent_in_copy("source");
    let dir = "host/copies/source";
    bench.git(dir, &["init", "--quiet", "--initial-branch=main"]);
    bench.commit(dir, "first");
    let clone = bench.agent_of("clone", &bench.path(dir));
    bench.commit(&bench.work("clone"), "own");
    let pictures = [bench.picture(dir), bench.picture(&bench.work("clone"))];
    let [of_source, of_clone] = pictures;
    [(source, of_source), (clone, of_clone)]
}

#[test]
fn a_clone_whose_source_is_in_the_trash_waits_for_it_and_leaves_nothing_behind() {
    for (removes_branch, order) in [(false, ["clone", "source"]), (true, ["source", "clone"])] {
        let bench = Bench::new();
        let [(source, of_source), (clone, of_clone)] = source_and_clone(&bench);
        let options = if removes_branch { with_branch(&bench) } else { options(&bench) };
        let [first, second] = order.map(|name| bench.look(name).unwrap());
        // Both at once, whoever is named first: the worktree goes before its repository.
        for result in destroy_many(&bench.world, &[&first, &second], &options) {
            let destroyed = result.unwrap();
            assert_eq!(destroyed.notes, [""; 0], "{order:?}");
            assert!(matches!(destroyed.work_dir, WorkDir::Trashed { .. }), "{destroyed:?}");
        }
        let before = bench.sh("", "find . | sort");
        let refused = undo_name(&bench, "clone").unwrap_err();
        assert!(
            matches!(&refused, UndoError::NeedsSource { needed, .. } if needed.as_str() == "source"),
            "{refused:?}"
        );
        assert_eq!(bench.sh("", "find . | sort"), before, "nothing was begun");
        assert_eq!(undo_id(&bench, &source).notes, [""; 0]);
        assert_eq!(undo_id(&bench, &clone).notes, [""; 0]);
        assert_eq!(bench.picture("host/copies/source"), of_source);
        assert_eq!(bench.picture(&bench.work("clone")), of_clone);
    }
}

#[test]
fn a_repository_that_a_clone_works_in_stays_when_its_agent_is_destroyed() {
    let bench = Bench::new();
    let [(source, _), (clone, of_clone)] = source_and_clone(&bench);
    let destroyed = destroy_it(&bench, &source);
    let reason = "it is used by clone".to_owned();
    assert_eq!(destroyed.work_dir, WorkDir::Kept { path: bench.path("host/copies/source"), reason });
    assert_eq!(bench.picture(&bench.work("clone")), of_clone);
    destroy_it(&bench, &clone);
    undo_id(&bench, &clone);
    assert_eq!(bench.picture(&bench.work("clone")), of_clone);
    undo_id(&bench, &source);
}

#[test]
fn an_agent_renamed_in_the_last_moment_is_destroyed_under_its_new_name() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let trash = bench.host.layout().trash_of(agent.id());
    // Another client is faster, between our look and our journal.
    let rename =
        format!("sed -i 's/\"name\":\"foo\"/\"name\":\"bar\"/' host/agents/{}/data.json", agent.id());
    bench.meanwhile(trash.root(), &rename);
    assert_eq!(destroy_it(&bench, &agent).name.as_str(), "bar");
    assert!(bench.was_met());
    bench.agent_in_place("bar", "repo");
    let restored = undo_id(&bench, &agent);
    assert_eq!((restored.old_name.as_str(), restored.name.as_str()), ("bar", "bar-2"));
    assert_eq!(bench.look("bar-2").unwrap().id(), agent.id());
}

#[test]
fn an_agent_that_was_brought_back_and_destroyed_again_meanwhile_is_left_alone() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    destroy_it(&bench, &agent);
    let manifest = bench.host.layout().trash_of(agent.id()).manifest();
    let journal = bench.host.layout().journal(agent.id());
    bench.meanwhile(&journal, &format!("sed -i 's/\"destroyed_at\": \"2/\"destroyed_at\": \"3/' {manifest}"));
    assert!(matches!(undo_name(&bench, "foo"), Err(UndoError::Busy { .. })));
    assert!(bench.was_met() && !bench.exists(&bench.work("foo")));
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_clone_that_comes_back_while_its_source_is_destroyed_keeps_its_repository() {
    let bench = Bench::new();
    let [(source, _), (clone, of_clone)] = source_and_clone(&bench);
    // Both are named, and another client works on the clone.
    let journal = bench.host.layout().journal(clone.id());
    bench.write(&format!("host/journal/{}.jsonl", clone.id()), "");
    let at_work = bench.host.lock(&journal, mngr_host::lock::LockWait::Try).unwrap();
    let results = destroy_many(&bench.world, &[&source, &clone], &options(&bench));
    assert!(matches!(&results[1], Err(DestroyError::Busy { .. })), "{results:?}");
    let used = |result: &Destroyed| matches!(&result.work_dir, WorkDir::Kept { reason, .. } if reason == "it is used by clone");
    assert!(used(results[0].as_ref().unwrap()), "{results:?}");
    drop(at_work);
    undo_id(&bench, &source);
    // The clone comes back between the look at all agents and the beginning of the removal.
    destroy_it(&bench, &bench.look("clone").unwrap());
    let gone = bench.host.layout().trash_of(clone.id());
    let home = bench.host.layout().agent(clone.id());
    let work = bench.path(&bench.work("clone"));
    let back = format!(
        "git -C host/copies/source worktree move {} {work} && mv {} {} && rm -r {}",
        gone.work(),
        gone.state(),
        home.root(),
        gone.root()
    );
    let source_now = bench.look("source").unwrap();
    bench.meanwhile(bench.host.layout().trash_of(source.id()).root(), &back);
    let destroyed = destroy_it(&bench, &source_now);
    assert!(bench.was_met() && used(&destroyed), "{destroyed:?}");
    bench.git(&bench.work("clone"), &["checkout", "--quiet", "mngr/clone"]);
    assert_eq!(bench.picture(&bench.work("clone")), of_clone);
}

#[test]
fn a_clone_is_not_brought_back_while_its_source_is_being_destroyed() {
    let bench = Bench::new();
    let [(source, _), (clone, _)] = source_and_clone(&bench);
    destroy_it(&bench, &clone);
    // The source is at the point where everything is noted and nothing has moved.
    let journal = bench.host.layout().journal(source.id());
    let manifest = bench.host.layout().trash_of(source.id()).manifest();
    destroy_it(&bench, &source);
    let noted = bench.host.files().read(&manifest).unwrap();
    undo_id(&bench, &source);
    bench.write(&format!("host/trash/{}/manifest.json", source.id()), &String::from_utf8(noted).unwrap());
    bench.write(&format!("host/journal/{}.jsonl", source.id()), "");
    let _at_work = bench.host.lock(&journal, mngr_host::lock::LockWait::Try).unwrap();
    let refused = undo_name(&bench, "clone").unwrap_err();
    assert!(matches!(&refused, UndoError::Busy { name } if name.as_str() == "source"), "{refused:?}");
    assert!(!bench.exists(&bench.work("clone")));
}

#[test]
fn a_repository_that_a_clone_is_just_being_made_of_stays() {
    let bench = Bench::new();
    let [(source, _), (clone, _)] = source_and_clone(&bench);
    destroy_it(&bench, &clone);
    let id = mngr_host::random::agent_id();
    let (repository, path) = (bench.path("host/copies/source/.git"), bench.path("host/worktrees/new"));
    let lines = format!(
        "{{\"operation\":\"create\",\"agent_id\":\"{id}\",\"name\":\"new\",\"started\":\"2026-01-01T00:00:00Z\"}}\n\
         {{\"step\":\"worktree\",\"repository\":\"{repository}\",\"path\":\"{path}\"}}\n"
    );
    let journal = bench.host.layout().journal(&id);
    bench.write(&format!("host/journal/{id}.jsonl"), &lines);
    let _at_work = bench.host.lock(&journal, mngr_host::lock::LockWait::Try).unwrap();
    let destroyed = destroy_it(&bench, &source);
    assert!(
        matches!(&destroyed.work_dir, WorkDir::Kept { reason, .. } if reason == "it is used by new"),
        "{destroyed:?}"
    );
}

#[test]
fn a_git_that_a_killed_return_left_behind_costs_neither_branch_nor_work() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let (work, picture) = (bench.path(&bench.work("foo")), bench.picture(&bench.work("foo")));
    destroy(&bench.world, &agent, &with_branch(&bench)).unwrap();
    // A journal that nobody holds: `undo` was killed while git moved the work dir.
    let header = format!(
        r#"{{"operation":"undo","agent_id":"{}","name":"foo","started":"2026-01-01T00:00:00Z"}}"#,
        agent.id()
    );
    bench.write(&format!("host/journal/{}.jsonl", agent.id()), &format!("{header}\n"));
    let trash = bench.host.layout().trash_of(agent.id()).work();
    // Git ends just after the next command has seen that the work dir is not back.
    bench.meanwhile(&work, &format!("git -C repo worktree move --force --force {trash} {work}"));
    let back = bench.look("foo").unwrap();
    assert!(bench.was_met());
    assert_eq!(back.id(), agent.id());
    assert_eq!(bench.refs("refs/heads"), ["refs/heads/main", "refs/heads/mngr/foo"]);
    bench.assert_back(&agent, &picture);
}

#[test]
fn several_of_one_name_are_told_apart_newest_first() {
    let bench = Bench::new();
    let (first, second) = (bench.agent_in_copy("foo"), "foo");
    destroy_it(&bench, &first);
    bench.wait_days(1);
    let second = bench.agent_at(second, "host/worktrees/foo");
    destroy_it(&bench, &second);
    let Err(UndoError::Ambiguous { candidates, .. }) = undo_name(&bench, "foo") else {
        panic!("not ambiguous")
    };
    assert!(
        candidates[0].starts_with(second.id().as_str()) && candidates[1].starts_with(first.id().as_str())
    );
    let Err(UndoError::NotFound { similar, .. }) = undo_name(&bench, "fooo") else { panic!("found") };
    assert_eq!(similar, ["foo"]);
    undo_id(&bench, &first);
    assert_eq!(undo_name(&bench, "foo").unwrap().name.as_str(), "foo-2");
}

#[test]
fn a_repository_that_is_gone_hinders_neither_way() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    bench.sh("", "mv repo hidden");
    destroy_it(&bench, &agent);
    assert!(!bench.exists(&bench.work("foo")));
    undo_id(&bench, &agent);
    bench.sh("", "mv hidden repo");
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_repository_that_vanishes_meanwhile_costs_only_the_branch() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    bench.write(&format!("{}/untracked", bench.work("foo")), "u");
    destroy_it(&bench, &agent);
    bench.sh("", "mv repo hidden");
    let restored = undo_id(&bench, &agent);
    assert!(restored.notes[0].contains("could not be told"), "{:?}", restored.notes);
    assert!(bench.exists(&format!("{}/untracked", bench.work("foo"))));
}

#[test]
fn a_deleted_work_dir_frees_its_branch_and_is_checked_out_again() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let tip = bench.commit(&bench.work("foo"), "work");
    let picture = bench.picture(&bench.work("foo"));
    bench.sh("host/worktrees", "rm -r foo");
    let destroyed = destroy_it(&bench, &agent);
    assert!(matches!(destroyed.work_dir, WorkDir::Missing { .. }));
    assert_eq!(bench.git("repo", &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    let restored = undo_id(&bench, &agent);
    assert_eq!(restored.notes.len(), 1);
    assert_eq!(bench.git(&bench.work("foo"), &["rev-parse", "HEAD"]), tip);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_checkout_whose_branch_was_deleted_keeps_its_commits() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let tip = bench.commit(&bench.work("foo"), "only here");
    let picture = bench.picture(&bench.work("foo"));
    bench.git("repo", &["update-ref", "-d", "refs/heads/mngr/foo"]);
    destroy_it(&bench, &agent);
    assert_eq!(bench.refs("refs/mngr").len(), 1);
    undo_id(&bench, &agent);
    assert_eq!(bench.git("repo", &["rev-parse", "mngr/foo"]), tip);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_checkout_before_its_first_commit_comes_back() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let work = bench.work("foo");
    bench.git(&work, &["checkout", "--quiet", "--orphan", "fresh"]);
    bench.sh(&work, "git rev-parse --git-path logs/HEAD | xargs rm -f");
    let picture = bench.picture(&work);
    destroy_it(&bench, &agent);
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_locked_worktree_and_worktrees_inside_come_back() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let work = bench.work("foo");
    bench.git(&work, &["worktree", "lock", "."]);
    bench.git(&work, &["worktree", "add", "--quiet", "-b", "inner", "inside"]);
    bench.commit(&format!("{work}/inside"), "inner work");
    let (picture, inner) = (bench.picture(&work), bench.picture(&format!("{work}/inside")));
    destroy_it(&bench, &agent);
    bench.git("repo", &["worktree", "prune", "--expire=now"]);
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
    assert_eq!(bench.picture(&format!("{work}/inside")), inner);
}

#[test]
fn submodules_come_back() {
    let bench = Bench::new();
    bench.make_repository("sub");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../sub", "lib"];
    bench.git("repo", &add);
    bench.commit("repo", "submodule");
    let agent = bench.agent("foo");
    let inside = format!("{}/lib", bench.work("foo"));
    bench.commit(&inside, "inside the submodule");
    bench.write(&format!("{inside}/a.txt"), "modified");
    let (picture, sub) = (bench.picture(&bench.work("foo")), bench.picture(&inside));
    destroy_it(&bench, &agent);
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
    assert_eq!(bench.picture(&inside), sub);
}

#[test]
fn another_file_system_keeps_its_trash_beside_the_work_dir() {
    let bench = Bench::new();
    let agent = bench.agent_at("foo", "island/foo");
    bench.write("island/foo/untracked", "u");
    let picture = bench.picture("island/foo");
    let destroyed = destroy_it(&bench, &agent);
    let to = bench.path("island/.mngr-trash").join(agent.id().as_str());
    assert_eq!(destroyed.work_dir, WorkDir::Trashed { from: bench.path("island/foo"), to: to.clone() });
    assert!(bench.host.files().exists(&to.join("untracked")).unwrap());
    undo_id(&bench, &agent);
    assert_eq!(bench.picture("island/foo"), picture);
    assert!(!bench.exists("island/.mngr-trash"));
}

#[test]
fn a_folder_of_the_users_own_is_never_touched() {
    let bench = Bench::new();
    let agent = bench.agent_in_place("foo", "repo");
    bench.write("repo/untracked", "u");
    let picture = bench.picture("repo");
    let destroyed = destroy_it(&bench, &agent);
    assert!(matches!(destroyed.work_dir, WorkDir::Kept { .. }));
    assert_eq!(bench.picture("repo"), picture);
    undo_id(&bench, &agent);
    assert_eq!(bench.look("foo").unwrap().state.state, AgentState::Stopped);
    assert_eq!(bench.picture("repo"), picture);
}

#[test]
fn a_worktree_that_may_not_be_removed_stays_on_its_branch() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let picture = bench.picture(&bench.work("foo"));
    let stay = DestroyOptions { allow_worktree_removal: false, ..with_branch(&bench) };
    let destroyed = destroy(&bench.world, &agent, &stay).unwrap();
    assert_eq!(destroyed.deleted_branch, None);
    assert_eq!(bench.picture(&bench.work("foo")), picture);
    undo_id(&bench, &agent);
    bench.assert_back(&agent, &picture);
}

#[test]
fn a_folder_another_agent_stands_in_stays_unless_both_go() {
    let bench = Bench::new();
    let owner = bench.agent("owner");
    let guest = bench.agent_in_place("guest", &bench.work("owner"));
    let planned = plan(&bench.world, &[&owner], &options(&bench)).pop().unwrap().unwrap();
    let used = WorkDir::Kept { path: bench.path(&bench.work("owner")), reason: "it is used by guest".into() };
    assert_eq!(planned.work_dir, used);
    assert_eq!(destroy_it(&bench, &owner).work_dir, used);
    undo_id(&bench, &owner);
    let results = destroy_many(&bench.world, &[&bench.look("owner").unwrap(), &guest], &options(&bench));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert!(!bench.exists(&bench.work("owner")));
}

#[test]
fn a_running_agent_is_refused_without_force_and_ended_with_it() {
    let bench = Bench::new();
    let agent = bench.agent("foo");
    let line = format!(
        "MNGR_AGENT_ID={} setsid sleep 300 >/dev/null 2>&1 </dev/null & cat /proc/sys/kernel/random/boot_id; cat /proc/$!/stat",
        agent.id()
    );
    let printed = bench.sh("", &line);
    let (boot, stat) = printed.split_once('\n').unwrap();
    let (pid, start) = (stat.split(' ').next().unwrap(), stat.split(' ').nth(21).unwrap());
    let process = format!("start boot={boot} supervisor={pid}:{start}\nagent pid={pid}:{start}\n");
    let state = format!("host/agents/{}", agent.id());
    bench.write(&format!("{state}/process"), &process);
    // What it was seen to be does not count: it was started since.
    assert_eq!(agent.state.state, AgentState::Done);
    let error = destroy(&bench.world, &agent, &options(&bench)).unwrap_err();
    assert!(error.to_string().contains("Use --force to destroy running agents"), "{error}");
    assert!(bench.exists(&format!("/proc/{pid}")) && bench.exists(&bench.work("foo")));
    let force = DestroyOptions { force: true, ..options(&bench) };
    destroy(&bench.world, &agent, &force).unwrap();
    assert!(bench.look("foo").is_none());
    undo_id(&bench, &agent);
    let back = bench.look("foo").unwrap();
    assert_eq!((back.state.state, back.state.evidence.as_str()), (AgentState::Stopped, "stopped on request"));
}

#[test]
fn a_dry_run_changes_nothing() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.sh("", "find . | sort");
    bench.host.die_after(0);
    let planned = plan(&bench.world, &[&agent], &with_branch(&bench)).pop().unwrap().unwrap();
    bench.host.revive();
    assert!(matches!(planned.work_dir, WorkDir::Trashed { .. }));
    assert_eq!((planned.removed_branch.as_deref(), planned.needs_force), (Some("mngr/foo"), false));
    assert_eq!(bench.sh("", "find . | sort"), picture);
}

#[test]
fn many_agents_of_one_repository_go_and_come_back_at_once() {
    let bench = Bench::new();
    let names: Vec<String> = (0..16).map(|n| format!("foo{n}")).collect();
    let agents: Vec<Agent> = names.iter().map(|name| bench.agent(name)).collect();
    // Two branches at one commit that nothing else holds: neither may rely on the other.
    let shared = bench.commit(&bench.work("foo0"), "shared");
    bench.git(&bench.work("foo1"), &["reset", "--quiet", "--hard", "mngr/foo0"]);
    let pictures: Vec<String> = names.iter().map(|name| bench.picture(&bench.work(name))).collect();
    let results = destroy_many(&bench.world, &agents.iter().collect::<Vec<_>>(), &with_branch(&bench));
    for result in &results {
        assert!(
            result.as_ref().is_ok_and(|done| done.deleted_branch.is_some() && done.notes.is_empty()),
            "{result:?}"
        );
    }
    assert_eq!(bench.refs("refs/heads"), ["refs/heads/main"]);
    let holders = bench.git("repo", &["for-each-ref", "--contains", &shared, "--format=%(refname)"]);
    assert!(!holders.is_empty(), "a ref holds the shared commit");
    let restored = crate::fanout::fan_out(agents.iter().collect(), |agent| undo_id(&bench, agent));
    assert!(restored.iter().all(|restored| restored.notes.is_empty()), "{restored:?}");
    for (agent, picture) in agents.iter().zip(&pictures) {
        bench.assert_back(agent, picture);
    }
}

/// The agent `foo`, detached at a commit of its own, with its branch elsewhere.
fn precious(bench: &Bench) -> Agent {
    let agent = agent_with_work(bench, "foo");
    bench.git(&bench.work("foo"), &["checkout", "--quiet", "--detach"]);
    bench.git(&bench.work("foo"), &["commit", "--quiet", "--allow-empty", "-m", "detached"]);
    agent
}

/// Lets the host die after 0, 1, 2, ... actions of `attempt`, until it lives long enough for it to succeed.
fn die_at_every_action(bench: &Bench, mut attempt: impl FnMut() -> bool, mut check: impl FnMut(bool)) {
    let mut in_commands = Vec::new();
    for deaths in 0.. {
        bench.host.die_after(deaths);
        let has_succeeded = attempt();
        in_commands.extend(bench.host.has_died_in_command().then_some(deaths));
        bench.host.revive();
        check(has_succeeded);
        if has_succeeded {
            assert!(deaths > 8, "it never died in the middle");
            break;
        }
    }
    assert!(!in_commands.is_empty());
    // The same, but the last command was carried out before the host died.
    for deaths in in_commands {
        bench.host.die_during(deaths);
        let has_succeeded = attempt();
        bench.host.revive();
        check(has_succeeded);
    }
}

#[test]
fn a_removal_cut_short_anywhere_is_carried_through_or_never_began() {
    let bench = Bench::new();
    let agent = precious(&bench);
    let picture = bench.picture(&bench.work("foo"));
    let attempt = || destroy(&bench.world, &agent, &with_branch(&bench)).is_ok();
    die_at_every_action(&bench, attempt, |has_succeeded| {
        if bench.look("foo").is_some() {
            assert!(!has_succeeded);
            assert_eq!(bench.picture(&bench.work("foo")), picture);
            assert_eq!(bench.refs("refs/heads"), ["refs/heads/main", "refs/heads/mngr/foo"]);
        } else {
            assert_eq!(bench.refs("refs/heads"), ["refs/heads/main"], "carried through to its end");
            undo_id(&bench, &agent);
        }
        bench.assert_intact("foo", &picture);
    });
}

#[test]
fn a_return_cut_short_anywhere_is_carried_through_or_never_began() {
    let bench = Bench::new();
    let agent = precious(&bench);
    let picture = bench.picture(&bench.work("foo"));
    let with_branch = with_branch(&bench);
    destroy(&bench.world, &agent, &with_branch).unwrap();
    let attempt = || undo_name(&bench, "foo").is_ok();
    die_at_every_action(&bench, attempt, |has_succeeded| match bench.look("foo") {
        None => {
            assert!(!has_succeeded);
            assert!(!bench.exists(&bench.work("foo")));
        }
        Some(back) => {
            assert_eq!(back.state.state, AgentState::Stopped);
            bench.assert_intact("foo", &picture);
            destroy(&bench.world, &back, &with_branch).unwrap();
        }
    });
}

#[test]
fn a_work_dir_that_cannot_be_moved_stays_as_it_was() {
    let bench = Bench::new();
    let agent = agent_with_work(&bench, "foo");
    let picture = bench.picture(&bench.work("foo"));
    // Something is in the way where the move would end.
    let beside: HostPath = bench.path("host/trash");
    bench.write("host/trash", "not a folder");
    assert!(destroy(&bench.world, &agent, &options(&bench)).is_err());
    bench.host.files().remove_file(&beside).unwrap();
    assert_eq!(bench.picture(&bench.work("foo")), picture);
    assert_eq!(bench.look("foo").unwrap().facts.record, agent.facts.record);
    assert!(!bench.exists(&format!("host/journal/{}.jsonl", agent.id())));
}
