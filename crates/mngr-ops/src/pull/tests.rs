//! Pulling for real: git and rsync in temporary folders.

use mngr_model::address::LocationPath;

use super::*;
use crate::sync::testing::{Ground, LINES, ODD_NAMES, treating};
use crate::sync::{Afterwards, Effect, FileChangeKind, MergeKind, SetAsideState, UncommittedChanges};

fn request(what: PullWhat) -> PullRequest {
    PullRequest { what, destination: None, options: SyncOptions::default() }
}

fn merging() -> PullRequest {
    request(PullWhat::Branch(MergeInto::Current))
}

fn with(request: PullRequest, uncommitted: UncommittedChanges) -> PullRequest {
    PullRequest { options: treating(uncommitted), ..request }
}

fn dry(request: PullRequest) -> PullRequest {
    let options = SyncOptions { effect: Effect::DryRun, ..request.options };
    PullRequest { options, ..request }
}

fn path(text: &str) -> LocationPath {
    LocationPath::new(text).unwrap()
}

fn of_path(text: &str) -> PullWhat {
    PullWhat::Path(path(text), Extraneous::Keep)
}

fn to(request: PullRequest, destination: &str) -> PullRequest {
    PullRequest { destination: Some(path(destination)), ..request }
}

/// `a.txt` with its first or last line changed.
fn lines(first: &str, last: &str) -> String {
    LINES.replacen("1\n", first, 1).replace("10\n", last)
}

mod branches {
    use super::*;

    #[test]
    fn the_branch_of_a_worktree_agent_is_there_already_and_is_counted() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.commit("foo", "one");
        let tip = ground.commit("foo", "two");
        ground.commit("repo", "ours");
        let before = ground.state_of("repo");
        let report = pull(&ground.world, &agent, &request(PullWhat::Branch(MergeInto::Nothing))).unwrap();
        let branch = report.branch.unwrap();
        assert_eq!((branch.change, branch.commit), (BranchChange::Shared, tip));
        assert_eq!((branch.compared_to.as_deref(), branch.ahead, branch.behind), (Some("main"), 2, 1));
        assert_eq!(branch.merge_command.as_deref(), Some("git merge mngr/foo"));
        assert_eq!(ground.state_of("repo"), before);
    }

    #[test]
    fn the_branch_of_a_copy_comes_under_its_own_name_and_no_file_is_touched() {
        let ground = Ground::new();
        let agent = ground.mirror_agent("foo");
        ground.write("foo/new", "x");
        let tip = ground.commit("foo", "one");
        ground.write("repo/a.txt", "uncommitted");
        let status = ground.git("repo", &["status", "--porcelain"]);
        let plain = request(PullWhat::Branch(MergeInto::Nothing));
        let branch = pull(&ground.world, &agent, &dry(plain.clone())).unwrap().branch.unwrap();
        assert_eq!(branch.change, BranchChange::Created);
        assert_eq!(ground.git("repo", &["branch", "--list", "mngr/*"]), "", "a dry run makes no branch");
        let branch = pull(&ground.world, &agent, &plain).unwrap().branch.unwrap();
        assert_eq!((branch.change, branch.ahead), (BranchChange::Created, 1));
        assert_eq!(ground.git("repo", &["rev-parse", "mngr/foo"]), tip);
        ground.commit("foo", "two");
        let branch = pull(&ground.world, &agent, &plain).unwrap().branch.unwrap();
        assert_eq!(branch.change, BranchChange::FastForwarded);
        let branch = pull(&ground.world, &agent, &plain).unwrap().branch.unwrap();
        assert_eq!(branch.change, BranchChange::UpToDate);
        assert_eq!(ground.git("repo", &["status", "--porcelain"]), status);
    }

    #[test]
    fn commits_of_a_branch_here_are_never_dropped() {
        let ground = Ground::new();
        let agent = ground.mirror_agent("foo");
        ground.commit("foo", "theirs");
        ground.git("repo", &["checkout", "--quiet", "-b", "mngr/foo"]);
        ground.commit("repo", "ours");
        ground.commit("repo", "ours too");
        ground.git("repo", &["checkout", "--quiet", "main"]);
        let before = ground.state_of("repo");
        for merge in [MergeInto::Nothing, MergeInto::Current] {
            let error = pull(&ground.world, &agent, &request(PullWhat::Branch(merge))).unwrap_err();
            assert!(matches!(error, SyncError::Diverged { ahead: 2, behind: 1, .. }), "{error:?}");
        }
        assert_eq!(ground.state_of("repo"), before);
    }

    #[test]
    fn a_branch_that_the_user_is_on_moves_only_by_a_merge() {
        let ground = Ground::new();
        let agent = ground.mirror_agent("foo");
        pull(&ground.world, &agent, &request(PullWhat::Branch(MergeInto::Nothing))).unwrap();
        ground.git("repo", &["checkout", "--quiet", "mngr/foo"]);
        ground.write("foo/new", "x");
        ground.commit("foo", "new");
        let plain = request(PullWhat::Branch(MergeInto::Nothing));
        assert!(matches!(pull(&ground.world, &agent, &plain), Err(SyncError::CheckedOut { .. })));
        let report = pull(&ground.world, &agent, &merging()).unwrap();
        assert_eq!(report.merge.unwrap().outcome, MergeKind::FastForward);
        assert_eq!(ground.read("repo/new").as_deref(), Some("x"));
    }

    #[test]
    fn what_was_looked_at_is_what_is_merged() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/new", "x");
        ground.commit("foo", "looked at");
        let at = ground.git("foo", &["rev-parse", "HEAD"]).trim().to_owned();
        ground.commit("foo", "slipped in");
        let merge = |commit: &str| {
            let what = PullWhat::Branch(MergeInto::CurrentAt(commit.to_owned()));
            pull(&ground.world, &agent, &request(what))
        };
        let before = ground.state_of("repo");
        assert!(matches!(merge(&at), Err(SyncError::Moved { .. })));
        assert_eq!(ground.state_of("repo"), before);
        let now = ground.git("foo", &["rev-parse", "HEAD"]).trim().to_owned();
        assert_eq!(merge(&now).unwrap().merge.unwrap().commits, 2);
    }

    #[test]
    fn another_project_is_refused() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.new_repository("other");
        let before = ground.state_of("other");
        for merge in [MergeInto::Nothing, MergeInto::Current] {
            let error =
                pull(&ground.world, &agent, &to(request(PullWhat::Branch(merge)), "../other")).unwrap_err();
            assert!(matches!(error, SyncError::OtherRepository { .. }), "{error:?}");
        }
        assert_eq!(ground.state_of("other"), before);
    }

    #[test]
    fn what_cannot_be_pulled_is_said_clearly() {
        let mut ground = Ground::new();
        let plain = request(PullWhat::Branch(MergeInto::Nothing));
        ground.write("folder/x", "x");
        let error = pull(&ground.world, &ground.agent("folder"), &plain).unwrap_err();
        assert!(matches!(error, SyncError::AgentWithoutGit { .. }), "{error:?}");
        let error = pull(&ground.world, &ground.agent("gone"), &plain).unwrap_err();
        assert!(matches!(error, SyncError::NoWorkDir { .. }), "{error:?}");
        let agent = ground.worktree_agent("foo");
        ground.git("foo", &["checkout", "--quiet", "--detach"]);
        let error = pull(&ground.world, &agent, &plain).unwrap_err();
        assert!(matches!(error, SyncError::Detached { .. }), "{error:?}");
        ground.world.cwd = ground.path("");
        let error = pull(&ground.world, &ground.worktree_agent("bar"), &plain).unwrap_err();
        assert!(matches!(error, SyncError::NotARepository { .. }), "{error:?}");
    }
}

mod merges {
    use super::*;

    #[test]
    fn of_two_agents_that_changed_one_file_the_second_conflicts_and_changes_nothing() {
        for is_copy in [false, true] {
            let ground = Ground::new();
            let make = |name| if is_copy { ground.mirror_agent(name) } else { ground.worktree_agent(name) };
            let (first, second) = (make("first"), make("second"));
            for name in ["first", "second"] {
                ground.write(&format!("{name}/a.txt"), &lines(&format!("{name}\n"), "10\n"));
                ground.write(&format!("{name}/{name}"), "new");
                ground.commit(name, name);
            }
            let report = pull(&ground.world, &first, &merging()).unwrap();
            assert_eq!(report.merge.unwrap().outcome, MergeKind::FastForward);
            let before = ground.state_of("repo");
            for request in [dry(merging()), merging(), with(merging(), UncommittedChanges::Stash)] {
                let error = pull(&ground.world, &second, &request).unwrap_err();
                assert!(
                    matches!(&error, SyncError::Conflict { files, .. } if files == &["a.txt"]),
                    "{error:?}"
                );
                assert_eq!(ground.state_of("repo"), before);
            }
            assert_eq!(ground.read("repo/second"), None);
        }
    }

    #[test]
    fn both_sides_are_merged_into_the_current_branch() {
        let ground = Ground::new();
        let agent = ground.mirror_agent("foo");
        ground.write("foo/a.txt", &lines("1\n", "theirs\n"));
        ground.commit("foo", "theirs");
        ground.write("repo/a.txt", &lines("ours\n", "10\n"));
        ground.commit("repo", "ours");
        let preview = pull(&ground.world, &agent, &dry(merging())).unwrap().merge.unwrap();
        assert_eq!((preview.outcome, preview.commits, preview.commit), (MergeKind::Merged, 1, None));
        let merge = pull(&ground.world, &agent, &merging()).unwrap().merge.unwrap();
        assert_eq!((merge.outcome, merge.into.as_str()), (MergeKind::Merged, "main"));
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("ours\n", "theirs\n"));
        assert_eq!(ground.git("repo", &["log", "-1", "--format=%s"]), "Merge branch 'mngr/foo' into main");
        let again = pull(&ground.world, &agent, &merging()).unwrap();
        assert_eq!(again.merge.unwrap().outcome, MergeKind::UpToDate);
        assert_eq!(again.branch.unwrap().change, BranchChange::UpToDate, "it came under its own name too");
    }

    #[test]
    fn a_branch_that_is_not_checked_out_is_merged_into_without_touching_a_file() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/new", "x");
        ground.commit("foo", "new");
        ground.git("repo", &["branch", "release"]);
        ground.write("repo/a.txt", "uncommitted");
        let status = ground.git("repo", &["status", "--porcelain"]);
        let into = |name: &str| request(PullWhat::Branch(MergeInto::Branch(name.to_owned())));
        pull(&ground.world, &agent, &into("release")).unwrap();
        assert_eq!(ground.git("repo", &["show", "release:new"]), "x");
        assert_eq!(ground.git("repo", &["status", "--porcelain"]), status);
        let error = pull(&ground.world, &agent, &into("nope")).unwrap_err();
        assert!(matches!(error, SyncError::NoSuchBranch { .. }), "{error:?}");
        let itself = pull(&ground.world, &agent, &into("mngr/foo")).unwrap();
        assert_eq!(itself.merge, None);
    }

    /// An agent that changed the last line of `a.txt`, and a user who has changed the first and not committed it.
    fn dirty() -> (Ground, Agent) {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/a.txt", &lines("1\n", "theirs\n"));
        ground.commit("foo", "theirs");
        ground.write("repo/a.txt", &lines("mine\n", "10\n"));
        ground.write("repo/untracked", "mine");
        (ground, agent)
    }

    #[test]
    fn uncommitted_changes_stop_a_merge_unless_told_otherwise() {
        let (ground, agent) = dirty();
        let before = ground.state_of("repo");
        for request in [merging(), dry(merging())] {
            let error = pull(&ground.world, &agent, &request).unwrap_err();
            assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["a.txt"]), "{error:?}");
            assert_eq!(ground.state_of("repo"), before);
        }
    }

    #[test]
    fn untracked_files_only_stop_a_merge_that_would_overwrite_them() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("repo/untracked", "mine");
        ground.write("foo/new", "theirs");
        ground.commit("foo", "new");
        pull(&ground.world, &agent, &merging()).unwrap();
        ground.write("foo/untracked", "theirs");
        ground.commit("foo", "in the way");
        let before = ground.state_of("repo");
        let error = pull(&ground.world, &agent, &merging()).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["untracked"]), "{error:?}");
        assert_eq!(ground.state_of("repo"), before);
        assert_eq!(ground.read("repo/untracked").as_deref(), Some("mine"));
    }

    #[test]
    fn stashed_changes_are_left_in_the_stash() {
        let (ground, agent) = dirty();
        let report = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Stash)).unwrap();
        let aside = report.uncommitted.unwrap();
        assert_eq!(aside.state, SetAsideState::Stashed);
        assert_eq!(aside.stash.unwrap(), ground.git("repo", &["rev-parse", "stash@{0}"]));
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("1\n", "theirs\n"));
        assert_eq!(ground.read("repo/untracked"), None);
        ground.git("repo", &["stash", "pop", "--quiet"]);
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("mine\n", "theirs\n"));
    }

    #[test]
    fn merged_changes_come_back_on_top() {
        let (ground, agent) = dirty();
        let report = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Merge)).unwrap();
        assert_eq!(report.uncommitted.unwrap().state, SetAsideState::Restored);
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("mine\n", "theirs\n"));
        assert_eq!(ground.read("repo/untracked").as_deref(), Some("mine"));
        assert_eq!(ground.git("repo", &["stash", "list"]), "");
    }

    #[test]
    fn changes_that_do_not_fit_on_top_stay_in_the_stash() {
        let (ground, agent) = dirty();
        ground.write("repo/a.txt", &lines("1\n", "mine\n"));
        let error = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Merge)).unwrap_err();
        let SyncError::NotBroughtBack { stash, .. } = &error else { panic!("{error:?}") };
        assert_eq!(error.files(), ["a.txt"]);
        assert_eq!(
            ground.git("repo", &["show", &format!("{stash}:a.txt")]),
            lines("1\n", "mine\n").trim_end()
        );
        assert_eq!(ground.git("repo", &["log", "-1", "--format=%s"]), "theirs");
    }

    #[test]
    fn clobbered_changes_can_still_be_found() {
        let (ground, agent) = dirty();
        let report = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Clobber)).unwrap();
        let aside = report.uncommitted.unwrap();
        assert_eq!(aside.state, SetAsideState::Overwritten);
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("1\n", "theirs\n"));
        assert_eq!(ground.read("repo/untracked").as_deref(), Some("mine"), "it was not in the way");
        let kept = ground.git("repo", &["show", &format!("{}:a.txt", aside.stash.unwrap())]);
        assert_eq!(kept, lines("mine\n", "10\n").trim_end());
    }

    #[test]
    fn a_merge_that_fails_after_all_brings_everything_back_as_it_was() {
        let (ground, agent) = dirty();
        ground.write("foo/other", "theirs");
        ground.commit("foo", "in the way of an untracked file");
        ground.write("repo/other", "mine");
        ground.write("repo/staged", "mine");
        ground.git("repo", &["add", "staged"]);
        let before = ground.state_of("repo");
        let error = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Clobber)).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["other"]), "{error:?}");
        assert_eq!(ground.state_of("repo"), before);
    }

    #[test]
    fn a_merge_the_user_has_begun_is_left_alone() {
        let (ground, agent) = dirty();
        ground.commit("repo", "mine");
        ground.git("repo", &["checkout", "--quiet", "-b", "side", "main~1"]);
        ground.commit("repo", "side");
        ground.git("repo", &["merge", "--quiet", "--no-commit", "--no-ff", "main"]);
        let before = ground.state_of("repo");
        let error = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Stash)).unwrap_err();
        assert!(matches!(error, SyncError::Git(GitError::MergeInProgress { .. })), "{error:?}");
        assert_eq!(ground.state_of("repo"), before);
    }

    #[test]
    fn nothing_is_set_aside_when_there_is_nothing_to_merge() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("repo/a.txt", "mine");
        let report = pull(&ground.world, &agent, &with(merging(), UncommittedChanges::Stash)).unwrap();
        assert_eq!((report.merge.unwrap().outcome, report.uncommitted), (MergeKind::UpToDate, None));
        assert_eq!(ground.read("repo/a.txt").as_deref(), Some("mine"));
    }

    #[test]
    fn the_agent_is_stopped_afterwards_and_not_in_a_dry_run() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        let options = SyncOptions { afterwards: Afterwards::Stop, ..SyncOptions::default() };
        let request = PullRequest { options, ..merging() };
        assert!(!pull(&ground.world, &agent, &dry(request.clone())).unwrap().is_stopped);
        assert!(pull(&ground.world, &agent, &request).unwrap().is_stopped);
    }
}

mod full {
    use super::*;

    /// An agent with a commit and with uncommitted work of every kind.
    fn busy() -> (Ground, Agent) {
        let ground = Ground::new();
        let agent = ground.mirror_agent("foo");
        ground.write("foo/committed", "x");
        ground.commit("foo", "committed");
        ground.write("foo/a.txt", &lines("1\n", "theirs\n"));
        ground.write("foo/new\nline", "new");
        ground.write("foo/x.log", "ignored");
        ground.remove("foo/b.txt");
        (ground, agent)
    }

    #[test]
    fn commits_are_merged_and_uncommitted_work_lies_on_top() {
        let (ground, agent) = busy();
        ground.write("repo/ours", "x");
        ground.commit("repo", "ours");
        let expected = ground.git("foo", &["status", "--porcelain", "-z"]);
        let preview = pull(&ground.world, &agent, &dry(request(PullWhat::Full))).unwrap().files.unwrap();
        assert_eq!((preview.written, preview.deleted), (2, 1));
        assert_eq!(ground.git("repo", &["status", "--porcelain"]), "");
        let report = pull(&ground.world, &agent, &request(PullWhat::Full)).unwrap();
        assert_eq!(report.merge.unwrap().outcome, MergeKind::Merged);
        assert_eq!(ground.git("repo", &["status", "--porcelain", "-z"]), expected);
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("1\n", "theirs\n"));
        assert_eq!((ground.read("repo/ours").as_deref(), ground.read("repo/x.log")), (Some("x"), None));
        let before = ground.state_of("repo");
        pull(&ground.world, &agent, &request(PullWhat::Full)).unwrap();
        assert_eq!(ground.state_of("repo"), before, "a second time there is nothing to do");
        ground.write("foo/new\nline", "newer");
        let error = pull(&ground.world, &agent, &request(PullWhat::Full)).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["new\\nline"]), "{error:?}");
    }

    #[test]
    fn uncommitted_work_on_a_file_that_changed_here_is_a_conflict() {
        let (ground, agent) = busy();
        ground.write("repo/a.txt", &lines("ours\n", "10\n"));
        ground.commit("repo", "ours");
        let before = ground.state_of("repo");
        let error = pull(&ground.world, &agent, &request(PullWhat::Full)).unwrap_err();
        assert!(
            matches!(&error, SyncError::OverlayConflict { files, .. } if files == &["a.txt"]),
            "{error:?}"
        );
        assert_eq!(ground.state_of("repo"), before);
    }

    #[test]
    fn uncommitted_work_here_is_kept_stashed_merged_or_overwritten() {
        let (ground, agent) = busy();
        ground.write("repo/a.txt", &lines("mine\n", "10\n"));
        let before = ground.state_of("repo");
        let error = pull(&ground.world, &agent, &request(PullWhat::Full)).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["a.txt"]), "{error:?}");
        assert_eq!(ground.state_of("repo"), before);
        pull(&ground.world, &agent, &with(request(PullWhat::Full), UncommittedChanges::Merge)).unwrap();
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("mine\n", "theirs\n"));
        assert_eq!(ground.read("repo/b.txt"), None);
        let report =
            pull(&ground.world, &agent, &with(request(PullWhat::Full), UncommittedChanges::Clobber)).unwrap();
        assert_eq!(report.uncommitted.unwrap().state, SetAsideState::Overwritten);
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("1\n", "theirs\n"));
    }

    #[test]
    fn an_agent_that_works_right_here_has_nothing_to_copy() {
        let ground = Ground::new();
        let agent = ground.agent("repo");
        for what in [PullWhat::Full, PullWhat::Files(Extraneous::Delete)] {
            assert!(matches!(pull(&ground.world, &agent, &request(what)), Err(SyncError::SamePlace { .. })));
        }
        let report = pull(&ground.world, &agent, &merging()).unwrap();
        assert_eq!(report.merge.unwrap().outcome, MergeKind::UpToDate);
    }
}

mod files {
    use super::*;

    fn all() -> PullRequest {
        request(PullWhat::Files(Extraneous::Keep))
    }

    #[test]
    fn committed_and_uncommitted_files_of_any_name_come_and_ignored_ones_do_not() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        for name in ODD_NAMES {
            ground.write(&format!("foo/dir/{name}"), name);
        }
        ground.commit("foo", "odd names");
        for name in ODD_NAMES {
            ground.write(&format!("foo/{name}"), name);
        }
        ground.write("foo/x.log", "ignored");
        let head = ground.git("repo", &["rev-parse", "HEAD"]);
        let preview = pull(&ground.world, &agent, &dry(all())).unwrap().files.unwrap();
        assert_eq!((preview.written, preview.deleted), (2 * ODD_NAMES.len(), 0));
        assert_eq!(ground.git("repo", &["status", "--porcelain"]), "");
        let report = pull(&ground.world, &agent, &all()).unwrap().files.unwrap();
        assert_eq!(report, preview);
        for name in ODD_NAMES {
            assert_eq!(ground.read(&format!("repo/{name}")).as_deref(), Some(name));
            assert_eq!(ground.read(&format!("repo/dir/{name}")).as_deref(), Some(name));
        }
        assert_eq!(ground.read("repo/x.log"), None);
        assert_eq!(ground.git("repo", &["rev-parse", "HEAD"]), head, "git's own state is not copied");
        assert_eq!(pull(&ground.world, &agent, &all()).unwrap().files.unwrap().written, 0);
    }

    #[test]
    fn files_only_here_are_deleted_only_on_request_and_never_when_they_are_nowhere_else() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.remove("foo/b.txt");
        ground.write("repo/x.log", "ignored");
        let deleting = request(PullWhat::Files(Extraneous::Delete));
        pull(&ground.world, &agent, &all()).unwrap();
        assert!(ground.read("repo/b.txt").is_some());
        ground.write("repo/mine", "untracked");
        let error = pull(&ground.world, &agent, &deleting).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["mine"]), "{error:?}");
        assert!(ground.read("repo/b.txt").is_some());
        ground.remove("repo/mine");
        let report = pull(&ground.world, &agent, &deleting).unwrap().files.unwrap();
        assert_eq!((report.written, report.deleted), (0, 1));
        assert_eq!(ground.read("repo/b.txt"), None);
        assert!(ground.read("repo/x.log").is_some(), "ignored files are not part of it");
    }

    #[test]
    fn uncommitted_work_that_would_be_overwritten_is_protected_as_chosen() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/a.txt", &lines("1\n", "theirs\n"));
        ground.write("repo/a.txt", &lines("mine\n", "10\n"));
        ground.write("repo/b.txt", "mine, and not in the way\n");
        let reset = || {
            ground.write("repo/a.txt", &lines("mine\n", "10\n"));
            ground.write("repo/b.txt", "mine, and not in the way\n");
        };
        // The agent's `b.txt` is as committed, so only a change of ours in it is in the way.
        let error = pull(&ground.world, &agent, &all()).unwrap_err();
        assert!(
            matches!(&error, SyncError::InTheWay { files, .. } if files == &["a.txt", "b.txt"]),
            "{error:?}"
        );
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("mine\n", "10\n"));
        pull(&ground.world, &agent, &with(all(), UncommittedChanges::Merge)).unwrap();
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("mine\n", "theirs\n"));
        assert_eq!(ground.read("repo/b.txt").as_deref(), Some("mine, and not in the way\n"));
        assert_eq!(ground.git("repo", &["stash", "list"]), "");
        reset();
        pull(&ground.world, &agent, &with(all(), UncommittedChanges::Stash)).unwrap();
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("1\n", "theirs\n"));
        let stashed = ground.git("repo", &["show", "stash@{0}:a.txt"]);
        assert_eq!(stashed, lines("mine\n", "10\n").trim_end());
        reset();
        let report = pull(&ground.world, &agent, &with(all(), UncommittedChanges::Clobber)).unwrap();
        assert_eq!(ground.read("repo/a.txt").unwrap(), lines("1\n", "theirs\n"));
        let kept = format!("{}:a.txt", report.uncommitted.unwrap().stash.unwrap());
        assert_eq!(ground.git("repo", &["show", &kept]), lines("mine\n", "10\n").trim_end());
    }

    #[test]
    fn a_plain_folder_comes_whole_and_repositories_inside_a_checkout_stay() {
        let ground = Ground::new();
        ground.write("plain/dir/x.log", "x");
        let agent = ground.agent("plain");
        pull(&ground.world, &agent, &to(all(), "../target")).unwrap();
        assert_eq!(ground.read("target/dir/x.log").as_deref(), Some("x"));
        let agent = ground.worktree_agent("foo");
        ground.new_repository("foo/nested");
        pull(&ground.world, &agent, &all()).unwrap();
        assert_eq!(ground.read("repo/nested/a.txt"), None);
    }

    #[test]
    fn nothing_is_deleted_where_git_cannot_tell_what_may_go() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("target/keep", "x");
        let deleting = request(PullWhat::Files(Extraneous::Delete));
        let error = pull(&ground.world, &agent, &to(deleting, "../target")).unwrap_err();
        assert!(matches!(error, SyncError::CannotDelete { .. }), "{error:?}");
        assert!(ground.read("target/keep").is_some() && ground.read("target/a.txt").is_none());
    }
}

mod paths {
    use super::*;

    #[test]
    fn a_path_goes_to_the_same_place_below_the_top_of_the_repository() {
        let mut ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        for name in ODD_NAMES {
            ground.write(&format!("foo/some dir/{name}"), name);
        }
        ground.write("repo/sub/x", "x");
        ground.world.cwd = ground.path("repo/sub");
        for name in ODD_NAMES {
            let report = pull(&ground.world, &agent, &request(of_path(&format!("some dir/{name}")))).unwrap();
            assert_eq!(report.files.unwrap().written, 1);
            assert_eq!(ground.read(&format!("repo/some dir/{name}")).as_deref(), Some(name));
        }
        for spelled in ["some dir", "some dir/"] {
            ground.remove("repo/some dir");
            let files = pull(&ground.world, &agent, &request(of_path(spelled))).unwrap().files.unwrap();
            assert_eq!(files.written, ODD_NAMES.len());
            assert!(files.changes.iter().all(|file| file.change == FileChangeKind::New));
            assert_eq!(ground.read("repo/some dir/new\nline").as_deref(), Some("new\nline"));
        }
    }

    #[test]
    fn a_destination_is_read_as_rsync_reads_it() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/dir/f", "f");
        for (source, destination, expected) in [
            ("dir", "../out1", "out1/dir/f"),
            ("dir/", "../out2", "out2/f"),
            ("dir/f", "../out3/deep/name", "out3/deep/name"),
            ("dir/f", "../out4/deep/", "out4/deep/f"),
            ("dir/f", "..", "f"),
        ] {
            let request = to(request(of_path(source)), destination);
            assert_eq!(pull(&ground.world, &agent, &dry(request.clone())).unwrap().files.unwrap().written, 1);
            assert_eq!(ground.read(expected), None, "a dry run makes nothing");
            pull(&ground.world, &agent, &request).unwrap();
            assert_eq!(ground.read(expected).as_deref(), Some("f"), "{source} to {destination}");
        }
        let outside = request(of_path(ground.path("out1/dir/f").as_str()));
        pull(&ground.world, &agent, &outside).unwrap();
        assert_eq!(ground.read("repo/f").as_deref(), Some("f"), "an absolute path comes under its own name");
    }

    #[test]
    fn a_second_pull_of_a_changed_file_asks_only_where_work_would_be_lost() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/out.log", "one");
        ground.write("foo/notes", "one");
        ground.write("repo/elsewhere", "uncommitted, and not in the way");
        for name in ["out.log", "notes"] {
            pull(&ground.world, &agent, &request(of_path(name))).unwrap();
            ground.write(&format!("foo/{name}"), "two");
        }
        pull(&ground.world, &agent, &request(of_path("out.log"))).unwrap();
        assert_eq!(
            ground.read("repo/out.log").as_deref(),
            Some("two"),
            "an ignored file is git's to overwrite"
        );
        let error = pull(&ground.world, &agent, &request(of_path("notes"))).unwrap_err();
        assert!(matches!(&error, SyncError::InTheWay { files, .. } if files == &["notes"]), "{error:?}");
        pull(&ground.world, &agent, &with(request(of_path("notes")), UncommittedChanges::Clobber)).unwrap();
        assert_eq!(ground.read("repo/notes").as_deref(), Some("two"));
    }

    #[test]
    fn deleting_makes_a_folder_like_the_agents_and_protects_ignored_files() {
        let ground = Ground::new();
        let agent = ground.worktree_agent("foo");
        ground.write("foo/dir/new", "new");
        ground.write("repo/dir/old", "old");
        ground.commit("repo", "dir");
        ground.write("repo/dir/keys.log", "secret");
        let deleting = request(PullWhat::Path(path("dir"), Extraneous::Delete));
        let error = pull(&ground.world, &agent, &deleting).unwrap_err();
        assert!(
            matches!(&error, SyncError::InTheWay { files, .. } if files == &["dir/keys.log"]),
            "{error:?}"
        );
        ground.remove("repo/dir/keys.log");
        let report = pull(&ground.world, &agent, &deleting).unwrap().files.unwrap();
        assert_eq!((report.written, report.deleted), (1, 1));
        assert_eq!((ground.read("repo/dir/old"), ground.read("repo/dir/new").is_some()), (None, true));
    }

    #[test]
    fn git_state_is_never_copied_and_wrong_paths_are_named() {
        let ground = Ground::new();
        let agent = ground.mirror_agent("foo");
        let head = ground.git("repo", &["rev-parse", "--abbrev-ref", "HEAD"]);
        pull(&ground.world, &agent, &request(of_path("."))).unwrap();
        assert_eq!(ground.git("repo", &["rev-parse", "--abbrev-ref", "HEAD"]), head);
        let fails = |what| pull(&ground.world, &agent, &request(what)).unwrap_err();
        assert!(matches!(fails(of_path("nope")), SyncError::Missing { .. }));
        assert!(matches!(fails(of_path("a.txt/")), SyncError::NotAFolder { .. }));
        let single = PullWhat::Path(path("a.txt"), Extraneous::Delete);
        assert!(matches!(fails(single), SyncError::NothingToDelete { .. }));
        let overlapping = to(request(PullWhat::Path(path("./"), Extraneous::Delete)), "..");
        let error = pull(&ground.world, &agent, &overlapping).unwrap_err();
        assert!(matches!(error, SyncError::Overlap { .. }), "{error:?}");
    }
}
