//! Pushing for real: git and rsync in temporary folders.

use super::*;
use crate::sync::testing::{Ground, LINES, ODD_NAMES, treating};
use crate::sync::{Effect, MergeKind, SetAsideState, UncommittedChanges};

fn request(what: PushWhat) -> PushRequest {
    PushRequest { what, source: None, options: SyncOptions::default() }
}

fn with(request: PushRequest, uncommitted: UncommittedChanges) -> PushRequest {
    PushRequest { options: treating(uncommitted), ..request }
}

fn dry(request: PushRequest) -> PushRequest {
    let options = SyncOptions { effect: Effect::DryRun, ..request.options };
    PushRequest { options, ..request }
}

fn path(text: &str) -> LocationPath {
    LocationPath::new(text).unwrap()
}

fn from(source: &str, place: Option<&str>) -> PushRequest {
    let what = PushWhat::Path(place.map(path), Extraneous::Keep);
    PushRequest { source: Some(path(source)), ..request(what) }
}

/// `a.txt` with its first or last line changed.
fn lines(first: &str, last: &str) -> String {
    LINES.replacen("1\n", first, 1).replace("10\n", last)
}

#[test]
fn commits_are_merged_into_the_agents_branch_and_its_other_work_stays() {
    for is_copy in [false, true] {
        let ground = Ground::new();
        let agent = if is_copy { ground.mirror_agent("foo") } else { ground.worktree_agent("foo") };
        ground.write("repo/new", "ours");
        ground.commit("repo", "ours");
        ground.write("foo/a.txt", "uncommitted work of the agent");
        ground.write("foo/untracked", "its too");
        let preview = push(&ground.world, &agent, &dry(request(PushWhat::Branch))).unwrap();
        assert_eq!(preview.merge.unwrap().outcome, MergeKind::FastForward);
        assert_eq!(ground.read("foo/new"), None);
        let report = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap();
        let (merge, branch) = (report.merge.unwrap(), report.branch.unwrap());
        assert_eq!((merge.into.as_str(), merge.commits), ("mngr/foo", 1));
        assert_eq!((branch.name.as_str(), branch.ahead, branch.behind), ("main", 1, 0));
        assert_eq!(ground.read("foo/new").as_deref(), Some("ours"));
        assert_eq!(ground.read("foo/a.txt").as_deref(), Some("uncommitted work of the agent"));
        ground.commit("foo", "theirs");
        ground.commit("repo", "more of ours");
        let again = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap();
        assert_eq!(again.merge.unwrap().outcome, MergeKind::Merged);
        let last = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap();
        assert_eq!(last.merge.unwrap().outcome, MergeKind::UpToDate);
    }
}

#[test]
fn uncommitted_work_of_the_agent_in_the_way_is_protected_as_chosen() {
    let ground = Ground::new();
    let agent = ground.worktree_agent("foo");
    ground.write("repo/a.txt", &lines("ours\n", "10\n"));
    ground.commit("repo", "ours");
    ground.write("foo/a.txt", &lines("1\n", "theirs\n"));
    let before = ground.state_of("foo");
    for request in [dry(request(PushWhat::Branch)), request(PushWhat::Branch)] {
        let error = push(&ground.world, &agent, &request).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["a.txt"]), "{error:?}");
        assert_eq!(ground.state_of("foo"), before);
    }
    let merge = with(request(PushWhat::Branch), UncommittedChanges::Merge);
    let report = push(&ground.world, &agent, &merge).unwrap();
    assert_eq!(report.uncommitted.unwrap().state, SetAsideState::Restored);
    assert_eq!(ground.read("foo/a.txt").unwrap(), lines("ours\n", "theirs\n"));
}

#[test]
fn a_conflict_or_another_project_changes_nothing_in_the_work_dir() {
    let mut ground = Ground::new();
    let agent = ground.mirror_agent("foo");
    for (checkout, line) in [("repo", "ours\n"), ("foo", "theirs\n")] {
        ground.write(&format!("{checkout}/a.txt"), &lines(line, "10\n"));
        ground.commit(checkout, line);
    }
    ground.new_repository("other");
    let before = ground.state_of("foo");
    let error = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap_err();
    assert!(matches!(&error, SyncError::Conflict { files, .. } if files == &["a.txt"]), "{error:?}");
    ground.world.cwd = ground.path("other");
    let error = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap_err();
    assert!(matches!(error, SyncError::OtherRepository { .. }), "{error:?}");
    assert_eq!(ground.state_of("foo"), before);
}

#[test]
fn a_detached_head_on_either_side_is_refused() {
    let ground = Ground::new();
    let agent = ground.worktree_agent("foo");
    ground.git("repo", &["checkout", "--quiet", "--detach"]);
    let error = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap_err();
    assert!(
        matches!(&error, SyncError::Detached { checkout } if *checkout == ground.path("repo")),
        "{error:?}"
    );
    ground.git("foo", &["checkout", "--quiet", "--detach"]);
    let error = push(&ground.world, &agent, &request(PushWhat::Branch)).unwrap_err();
    assert!(
        matches!(&error, SyncError::Detached { checkout } if *checkout == ground.path("foo")),
        "{error:?}"
    );
}

#[test]
fn full_carries_uncommitted_work_on_top_of_the_commits() {
    let ground = Ground::new();
    let agent = ground.mirror_agent("foo");
    ground.commit("repo", "ours");
    ground.write("repo/a.txt", &lines("mine\n", "10\n"));
    ground.write("repo/new", "mine");
    ground.remove("repo/b.txt");
    let expected = ground.git("repo", &["status", "--porcelain"]);
    let report = push(&ground.world, &agent, &request(PushWhat::Full)).unwrap();
    assert_eq!(report.merge.unwrap().outcome, MergeKind::FastForward);
    assert_eq!(ground.git("foo", &["status", "--porcelain"]), expected);
    assert_eq!(ground.read("foo/a.txt").unwrap(), lines("mine\n", "10\n"));
}

#[test]
fn all_files_go_to_the_work_dir_from_wherever_in_the_repository_the_user_stands() {
    let mut ground = Ground::new();
    let agent = ground.worktree_agent("foo");
    for name in ODD_NAMES {
        ground.write(&format!("repo/sub/{name}"), name);
    }
    ground.world.cwd = ground.path("repo/sub");
    let files =
        push(&ground.world, &agent, &request(PushWhat::Files(Extraneous::Keep))).unwrap().files.unwrap();
    assert_eq!(files.written, ODD_NAMES.len());
    for name in ODD_NAMES {
        assert_eq!(ground.read(&format!("foo/sub/{name}")).as_deref(), Some(name));
    }
}

#[test]
fn a_path_goes_to_the_same_place_below_the_work_dir_or_where_it_is_told() {
    let mut ground = Ground::new();
    let agent = ground.worktree_agent("foo");
    ground.write("repo/sub/f", "f");
    ground.write("outside/dir/g", "g");
    ground.world.cwd = ground.path("repo/sub");
    for (request, expected) in [
        (from("f", None), "foo/sub/f"),
        (from("./", Some("copy")), "foo/copy/f"),
        (from("f", Some("other/")), "foo/other/f"),
        (from("f", Some("other/name")), "foo/other/name"),
        (from("../../outside/dir", None), "foo/dir/g"),
        (from("../../outside/dir/", None), "foo/g"),
        (from("f", Some(ground.path("elsewhere").as_str())), "elsewhere"),
    ] {
        push(&ground.world, &agent, &request).unwrap();
        assert!(ground.read(expected).is_some(), "{request:?} did not make {expected}");
    }
    ground.remove("foo/sub");
    push(&ground.world, &agent, &request(PushWhat::Path(Some(path("sub/f")), Extraneous::Keep))).unwrap();
    assert!(ground.read("foo/sub/f").is_some(), "a place alone names the source too");
    let outside = PushWhat::Path(Some(path("/nowhere/else")), Extraneous::Keep);
    let error = push(&ground.world, &agent, &request(outside)).unwrap_err();
    assert!(matches!(error, SyncError::NoSource { .. }), "{error:?}");
}

#[test]
fn files_the_agent_has_changed_are_not_overwritten_unasked() {
    let ground = Ground::new();
    let agent = ground.worktree_agent("foo");
    ground.write("repo/a.txt", "ours");
    ground.write("foo/a.txt", "theirs");
    let error = push(&ground.world, &agent, &from("a.txt", None)).unwrap_err();
    assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["a.txt"]), "{error:?}");
    assert_eq!(ground.read("foo/a.txt").as_deref(), Some("theirs"));
    push(&ground.world, &agent, &with(from("a.txt", None), UncommittedChanges::Clobber)).unwrap();
    assert_eq!(ground.read("foo/a.txt").as_deref(), Some("ours"));
}
