//! A journal on a real disk: one owner, nothing lost but a line cut short.

use std::time::{Duration, Instant};

use mngr_host::clock::SystemClock;
use mngr_host::files::Access;
use mngr_host::local::LocalHost;
use mngr_host::proc::Cmd;
use mngr_model::run::{AttemptNumber, QueueReason, Queued, RunName, Stage, StageChange, TaskId};
use proptest::prelude::*;

use super::*;

struct Place {
    host: Arc<LocalHost>,
    folder: HostPath,
    _dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        Self {
            host: Arc::new(LocalHost::open(root.join("host")).unwrap()),
            folder: root.join("run"),
            _dir: dir,
        }
    }

    fn begin(&self) -> Result<Journal, JournalError> {
        Journal::begin(self.host.clone(), Arc::new(SystemClock), &self.folder, started())
    }

    fn resume(&self) -> Result<Journal, JournalError> {
        Journal::resume(self.host.clone(), Arc::new(SystemClock), &self.folder)
    }

    fn path(&self) -> HostPath {
        self.folder.join(JOURNAL)
    }

    fn bytes(&self) -> Vec<u8> {
        self.host.files().read(&self.path()).unwrap()
    }

    fn set_bytes(&self, bytes: &[u8]) {
        self.host.files().write(&self.path(), bytes, Access::Shared, Durability::Cached).unwrap();
    }
}

fn started() -> Started {
    Started {
        run: RunName::new("1"),
        name: "tmr".into(),
        base_commit: "abc".into(),
        command: Vec::new(),
        settings: serde_json::Map::new(),
        tasks_total: 1,
    }
}

fn task() -> TaskId {
    "t::one".parse().unwrap()
}

fn queued() -> Event {
    Event::TaskQueued(Queued::new(task(), QueueReason::Failing))
}

fn stage(stage: Stage) -> Event {
    Event::Stage(StageChange::new(task(), AttemptNumber(1), stage, ""))
}

#[test]
fn what_was_written_is_what_others_read_and_what_is_resumed() {
    let place = Place::new();
    let mut journal = place.begin().unwrap();
    journal.append(queued()).unwrap();
    journal.append(stage(Stage::Launching)).unwrap();
    let seen = read(place.host.as_ref(), &place.folder).unwrap();
    assert_eq!((&seen.run, seen.damaged), (journal.run(), 0));
    drop(journal);
    let resumed = place.resume().unwrap();
    assert_eq!(resumed.run().tasks, seen.run.tasks);
    assert_eq!(resumed.run().last_seq, seen.run.last_seq + 1);
}

#[test]
fn a_run_has_one_owner_and_a_folder_one_run() {
    let place = Place::new();
    assert!(matches!(place.resume(), Err(JournalError::Missing { .. })));
    let journal = place.begin().unwrap();
    assert!(matches!(place.begin(), Err(JournalError::Owned { .. })));
    assert!(matches!(place.resume(), Err(JournalError::Owned { .. })));
    drop(journal);
    assert!(matches!(place.begin(), Err(JournalError::Exists { .. })));
    assert!(place.resume().is_ok());
}

#[test]
fn an_owner_that_is_killed_leaves_the_run_to_the_next() {
    let place = Place::new();
    drop(place.begin().unwrap());
    let lock = place.folder.join(LOCK);
    // Another process holds the lock as an orchestrator does, and is killed at its deadline.
    let holder = Cmd::new("flock").args([lock.as_str(), "sleep", "60"]).deadline(Duration::from_millis(500));
    let host = place.host.clone();
    let owner = std::thread::spawn(move || host.exec(&holder));
    let mut was_owned = false;
    while !owner.is_finished() {
        was_owned |= super::owner(place.host.as_ref(), &place.folder).unwrap() == Owner::Working;
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(was_owned && owner.join().unwrap().is_err());
    // What it had started is killed at the same time, and may be gone a moment later.
    let give_up = Instant::now() + Duration::from_secs(5);
    while place.resume().is_err() {
        assert!(Instant::now() < give_up, "the lock is still held");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_event_that_contradicts_the_run_is_not_written() {
    let place = Place::new();
    let mut journal = place.begin().unwrap();
    journal.append(queued()).unwrap();
    let before = place.bytes();
    assert!(matches!(journal.append(stage(Stage::Integrated)), Err(JournalError::Irregular(_))));
    assert_eq!(place.bytes(), before);
}

#[test]
fn a_journal_that_cannot_be_written_says_so_and_goes_on_at_the_same_place() {
    let place = Place::new();
    let mut journal = place.begin().unwrap();
    let aside = place.folder.join("aside");
    place.host.files().rename(&place.path(), &aside).unwrap();
    place.host.files().make_folder(&place.path()).unwrap();
    assert!(matches!(journal.append(queued()), Err(JournalError::Files(_))));
    assert!(journal.run().tasks.is_empty());
    place.host.files().remove_tree(&place.path()).unwrap();
    place.host.files().rename(&aside, &place.path()).unwrap();
    journal.append(queued()).unwrap();
    let seen = read(place.host.as_ref(), &place.folder).unwrap();
    assert_eq!((seen.run.tasks.len(), seen.run.last_seq, seen.damaged), (1, 2, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_journal_cut_anywhere_is_resumed_and_loses_only_the_torn_line(cut in 0.0..1.0f64) {
        let place = Place::new();
        let mut journal = place.begin().unwrap();
        journal.append(queued()).unwrap();
        journal.append(stage(Stage::Launching)).unwrap();
        drop(journal);
        let bytes = place.bytes();
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let cut = first + ((bytes.len() - first) as f64 * cut) as usize;
        place.set_bytes(&bytes[..cut]);
        let lines = bytes[..cut].split(|byte| *byte == b'\n').filter(|line| serde_json::from_slice::<Entry>(line).is_ok());
        let whole = lines.count() as u64;
        let resumed = place.resume().unwrap().run().clone();
        prop_assert_eq!((resumed.last_seq, resumed.irregular), (whole + 1, 0));
        let seen = read(place.host.as_ref(), &place.folder).unwrap();
        prop_assert_eq!(seen.run, resumed);
        prop_assert!(seen.damaged <= 1);
    }
}

#[test]
fn a_look_tells_how_a_run_began_and_whether_somebody_works_on_it() {
    let place = Place::new();
    assert_eq!(beginning(place.host.as_ref(), &place.folder).unwrap(), None);
    let journal = place.begin().unwrap();
    let began = beginning(place.host.as_ref(), &place.folder).unwrap().unwrap();
    assert_eq!((began.started, Some(began.at)), (started(), journal.run().began));
    assert_eq!(owner(place.host.as_ref(), &place.folder).unwrap(), Owner::Working);
    drop(journal);
    assert_eq!(owner(place.host.as_ref(), &place.folder).unwrap(), Owner::Gone);
    place.set_bytes(b"{\"time\":");
    assert_eq!(beginning(place.host.as_ref(), &place.folder).unwrap(), None, "a line cut short says nothing");
}

#[test]
fn a_follower_reads_every_line_once_and_none_before_its_end() {
    let place = Place::new();
    let mut journal = place.begin().unwrap();
    let mut follower = Follower::new(place.host.clone(), &place.folder);
    let seqs = |follower: &mut Follower| -> Vec<u64> {
        follower.read().unwrap().iter().map(|entry| entry.seq).collect()
    };
    assert_eq!(seqs(&mut follower), [1]);
    assert_eq!(seqs(&mut follower), [0; 0]);
    let task: TaskId = "a".parse().unwrap();
    journal.append(Event::TaskQueued(Queued::new(task, QueueReason::Failing))).unwrap();
    let whole = place.bytes();
    place.set_bytes(&whole[..whole.len() - 3]);
    assert_eq!(seqs(&mut follower), [0; 0], "half a line says nothing yet");
    place.set_bytes(&whole);
    assert_eq!(seqs(&mut follower), [2]);
    assert_eq!(follower.damaged(), 0);
}
