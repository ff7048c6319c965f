//! A link that breaks while an agent is destroyed or brought back, and another command that takes up what was left: the lock
//! goes with the link, so both may be at it at once. Whatever happens when, the agent is listed or in the trash, whole.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::{Running, Signal};

use super::super::ground::{Ground, Kind};
use super::entries;
use crate::support::{PATIENCE, names, wait_until};

const WORK: &str = "what exists nowhere else";

/// An agent on a machine behind a real sshd, with work in it.
struct Stage {
    ground: Ground,
    work_dir: PathBuf,
}

/// A command that is held at one of its requests.
struct HeldUp {
    running: Running,
    folder: tempfile::TempDir,
}

impl HeldUp {
    fn is_met(&self) -> bool {
        self.folder.path().join("met").exists()
    }

    /// Waits until it is held. Whether it is: it may have ended before it came to that request.
    #[track_caller]
    fn wait(&mut self) -> bool {
        let mut has_ended = false;
        wait_until(PATIENCE, || {
            has_ended = !self.running.is_running();
            has_ended || self.is_met()
        });
        self.is_met()
    }

    /// Lets it go on to its end, and says how that was.
    fn release(self) -> String {
        fs::write(self.folder.path().join("go"), "").unwrap();
        let output = self.running.finish();
        assert!(output.status.code().is_some_and(|code| code != 101), "{output}");
        format!("{output}")
    }
}

impl Stage {
    fn new() -> Self {
        let ground = Ground::new(Kind::Ssh);
        let _ =
            ground.create("far", &["--transfer", "git-mirror", "--type", "command", "--", "sleep", "1000"]);
        // As it comes back from the trash, so that every round makes the same requests.
        let _ = ground.env.mngr(["stop", "far"]).success();
        let work_dir = ground.work_dir("far");
        fs::write(work_dir.join("own.txt"), WORK).unwrap();
        Self { ground, work_dir }
    }

    /// Starts a command that is held at the request of that number: before it is sent, or after it was done, and then nobody
    /// hears of it.
    fn hold(&mut self, number: u32, moment: &str, args: &[&str]) -> HeldUp {
        let folder = tempfile::tempdir().unwrap();
        let wanted = format!("{number} {moment} {}", folder.path().display());
        self.ground.env.set_var("MNGR_FAULT_HOLD_REQUEST", wanted);
        let running = self.ground.env.spawn(args);
        self.ground.env.set_var("MNGR_FAULT_HOLD_REQUEST", "");
        HeldUp { running, folder }
    }

    fn cut(&self) {
        self.ground.sshd().signal_connections(Signal::KILL);
    }

    fn is_in_trash(&self) -> bool {
        let listed = self.ground.env.mngr(["undo", "--format", "json"]).success().json();
        let destroyed = listed["agents"].as_array().unwrap_or_else(|| panic!("{listed}"));
        destroyed.iter().any(|agent| agent["name"] == "far")
    }

    /// Fails unless the agent is listed or can be brought back, with its work, and nothing else is left.
    #[track_caller]
    fn assert_whole(&self, what: &str) {
        let home = self.ground.sshd().home().join(".mngr");
        let listed = names(&self.ground.env);
        let (is_listed, is_in_trash) = (!listed.is_empty(), self.is_in_trash());
        assert_ne!(is_listed, is_in_trash, "{what}: listed {is_listed}, in the trash {is_in_trash}");
        if is_in_trash {
            let _ = self.ground.env.mngr(["undo", "far"]).success();
        }
        let kept = fs::read_to_string(self.work_dir.join("own.txt"));
        assert_eq!(kept.unwrap_or_else(|error| panic!("{what}: {error}")), WORK);
        let status = self.ground.env.mngr(["exec", "far", "--", "git", "status", "--short", "--branch"]);
        assert_eq!(status.success().stdout, "## mngr/far\n?? own.txt\n", "{what}");
        for folder in ["trash", "journal", "set-aside"] {
            assert_eq!(entries(&home.join(folder)), [""; 0], "{what}: {folder}");
        }
    }

    /// The link breaks at a request of the first command; another one takes up what was left and is held at a request of its
    /// own, if that is wanted, while the first one goes on to its end. Whether both came that far.
    #[track_caller]
    fn round(&mut self, first: &[&str], number: u32, moment: &str, second: Option<u32>) -> (bool, bool) {
        let mut failing = self.hold(number, moment, first);
        if !failing.wait() {
            let _ = failing.release();
            return (false, false);
        }
        self.cut();
        let mut other = self.hold(second.unwrap_or(0), "before", &["list"]);
        let is_held = other.wait();
        let said = failing.release();
        let said_then = other.release();
        self.assert_whole(&format!(
            "{first:?}, cut {moment} request {number}, the other at {second:?}\n{said}{said_then}"
        ));
        (true, is_held)
    }
}

const DESTROY: [&str; 3] = ["destroy", "far", "--force"];

/// The numbers of the requests, of those a command makes, that are called this.
#[track_caller]
fn numbers_of(stage: &mut Stage, args: &[&str], request: &str) -> Vec<u32> {
    let log = stage.ground.env.root().join("wire");
    stage.ground.env.set_var("MNGR_WIRE_LOG", &log);
    let _ = stage.ground.env.mngr(args).success();
    stage.ground.env.set_var("MNGR_WIRE_LOG", "");
    let record = fs::read_to_string(&log).unwrap();
    let asked = record.lines().filter_map(|line| line.strip_prefix("ask box "));
    let named = (1..).zip(asked).filter(|(_, line)| line.split(' ').next() == Some(request));
    named.map(|(number, _)| number).collect()
}

#[test]
fn a_removal_whose_link_broke_is_not_taken_back_while_another_command_completes_it() {
    let mut stage = Stage::new();
    // The beginning, a try whether a rename reaches the trash, and what becomes of the work dir: then it is moved.
    let numbers = numbers_of(&mut stage, &DESTROY, "change");
    let [_, _, noted, ..] = numbers[..] else { panic!("{numbers:?}") };
    let _ = stage.ground.env.mngr(["undo", "far"]).success();
    // The other one is about to move what it has seen, and has just moved it.
    for second in 7..=8 {
        // On this machine the other one leaves the journal of a living command alone, and may not come that far.
        let (is_cut, _) = stage.round(&DESTROY, noted, "after", Some(second));
        assert!(is_cut, "{second}");
    }
}

#[test]
fn soak_a_removal_whose_link_breaks_anywhere_is_completed_or_has_not_begun() {
    for moment in ["before", "after"] {
        let mut stage = Stage::new();
        let mut number = 0;
        loop {
            number += 1;
            if !stage.round(&DESTROY, number, moment, None).0 {
                break;
            }
            for second in 1.. {
                if stage.round(&DESTROY, number, moment, Some(second)) != (true, true) {
                    break;
                }
            }
        }
        assert!(number > 5, "{number}");
    }
}

#[test]
fn soak_a_return_whose_link_breaks_anywhere_is_completed_by_the_next_command() {
    let mut stage = Stage::new();
    let mut number = 0;
    loop {
        number += 1;
        let _ = stage.ground.env.mngr(DESTROY).success();
        if !stage.round(&["undo", "far"], number, "after", None).0 {
            break;
        }
    }
    assert!(number > 3, "{number}");
}

#[test]
fn an_agent_in_the_trash_that_has_lost_its_note_is_found_and_comes_back() {
    let stage = Stage::new();
    let env = &stage.ground.env;
    let home = stage.ground.sshd().home().join(".mngr");
    let _ = env.mngr(DESTROY).success();
    let id = entries(&home.join("trash")).pop().unwrap();
    fs::remove_file(home.join("trash").join(&id).join("manifest.json")).unwrap();
    // What a copy is when its agent was lost altogether.
    fs::create_dir_all(home.join("copies/lost")).unwrap();
    fs::write(home.join("copies/lost/own.txt"), WORK).unwrap();
    assert!(!stage.is_in_trash());
    let told = env.mngr(["doctor", "--format", "json"]).success().stdout;
    assert!(told.contains(&id) && told.contains("copies/lost"), "{told}");
    let _ = env.mngr(["doctor", "--fix"]);
    assert_eq!(fs::read_to_string(home.join("set-aside/lost/own.txt")).unwrap(), WORK);
    fs::remove_dir_all(home.join("set-aside/lost")).unwrap();
    assert!(stage.is_in_trash());
    stage.assert_whole("the note was lost");
}
