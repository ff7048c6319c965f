//! Real panes of a tmux server that belongs to the test.

use std::sync::atomic::{AtomicBool, Ordering};

use mngr_cast::{EventKind, PlainText, Playback, Reader, Summary, Time};
use mngr_host::clock::SystemClock;
use mngr_host::file_reader::FileReader;
use mngr_host::files::Durability;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::random;
use mngr_host::tmux::{CaptureRange, Socket};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

struct Fixture {
    dir: tempfile::TempDir,
    host: LocalHost,
    socket: Socket,
}

impl Fixture {
    /// A server with one pane of 60 by 12 that runs this.
    fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = LocalHost::open(HostPath::new(dir.path().join("host").to_str().unwrap())).unwrap();
        let fixture = Self { dir, host, socket: Socket::Private(format!("mngr-test-{}", random::hex32())) };
        let none = HostPath::new("/dev/null");
        let size = ["new-session", "-d", "-x", "60", "-y", "12", "sh", "-c", script];
        assert!(fixture.host.exec(&fixture.tmux().command(Some(&none)).args(size)).unwrap().success());
        fixture
    }

    fn tmux(&self) -> Tmux<'_> {
        Tmux::new(&self.host, &self.socket)
    }

    fn run(&self, words: &[&str]) -> String {
        self.host.exec(&self.tmux().command(None).args(words.iter().copied())).unwrap().stdout_text()
    }

    fn path(&self, name: &str) -> HostPath {
        HostPath::new(self.dir.path().join(name).to_str().unwrap())
    }

    fn source(&self, limits: SpoolLimits) -> PaneSource<'_> {
        let pane = self.tmux().list_panes().unwrap().remove(0);
        let folder = self.path("spool");
        PaneSource { host: &self.host, tmux: self.tmux(), pane: pane.pane(), tty: pane.tty, folder, limits }
    }

    fn start(&self, name: &str, limits: SpoolLimits) -> Result<PaneRecorder<'_>, RecordError> {
        let options = CastOptions::default();
        PaneRecorder::start(self.source(limits), &LocalFiles, &SystemClock, &self.path(name), &options)
    }

    /// Waits until the pane shows it.
    fn wait_for(&self, text: &str) {
        let pane = self.source(SpoolLimits::default()).pane;
        wait_until(|| self.tmux().capture(&pane, CaptureRange::Visible).unwrap().contains(text));
    }

    fn go(&self) {
        LocalFiles.touch(&self.path("go")).unwrap();
    }

    /// A script that says it is ready, waits for `go` and then runs `rest`.
    fn script(rest: &str) -> String {
        format!("printf '\\033[31mready\\033[0m'; while [ ! -e go ]; do sleep 0.02; done; {rest}")
    }

    fn in_own_folder(rest: &str) -> Self {
        // The folder is only known once it is made; the pane is told where to go.
        let fixture = Self::new(&format!("read dir; cd \"$dir\"; clear; {}", Self::script(rest)));
        fixture.run(&["send-keys", fixture.dir.path().to_str().unwrap(), "Enter"]);
        fixture.wait_for("ready");
        fixture
    }

    fn reader(&self, name: &str) -> Reader<FileReader<'static>> {
        Reader::new(FileReader::open(&LocalFiles, &self.path(name)).unwrap()).unwrap()
    }

    fn server_memory(&self) -> u64 {
        let pid = self.run(&["display-message", "-p", "#{pid}"]);
        let status = LocalFiles.read_text(&HostPath::new(format!("/proc/{pid}/status"))).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

fn wait_until(mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn it_begins_with_the_screen_follows_sizes_and_ends_with_the_pane() {
    let fixture = Fixture::in_own_folder("echo; printf 'wide: \\346\\227\\245'; sleep 0.5; echo; echo bye");
    let recorder = fixture.start("a.cast", SpoolLimits::default()).unwrap();
    fixture.run(&["resize-window", "-x", "70", "-y", "15"]);
    fixture.go();
    let recorded = recorder.run(|| false).unwrap();
    let events: Vec<_> = fixture.reader("a.cast").map(Result::unwrap).collect();
    assert_eq!(recorded.events, events.len() as u64);
    assert_eq!(recorded.bytes, LocalFiles.stat(&recorded.path).unwrap().unwrap().size);
    assert!(
        matches!(&events[0].kind, EventKind::Output(text) if text.contains("\u{1b}[31mready")),
        "{events:?}"
    );
    assert!(
        events.iter().any(|event| event.kind == EventKind::Resize(mngr_cast::Size { cols: 70, rows: 15 }))
    );
    let header = fixture.reader("a.cast").header().clone();
    assert_eq!((header.size.cols, header.size.rows), (60, 12));
    assert!(header.started_ms.is_some());
    let text: Vec<String> = PlainText::new(&header, fixture.reader("a.cast")).map(Result::unwrap).collect();
    assert_eq!(text, ["ready", "wide: 日", "bye"]);
    assert!(!LocalFiles.exists(&fixture.path("spool")).unwrap());
}

#[test]
fn the_recording_shows_what_the_pane_shows() {
    let fixture = Fixture::in_own_folder(
        "seq 1 200; printf '\\033[5;10Hhere\\033[1mbold\\033[0m\\033[?1049h\\033[3;3Hfull screen'; sleep 100",
    );
    let recorder = fixture.start("a.cast", SpoolLimits::default()).unwrap();
    fixture.go();
    fixture.wait_for("full screen");
    let pane = recorder.source.pane.clone();
    recorder.run(|| true).unwrap();
    let mut playback = Playback::new(fixture.reader("a.cast")).unwrap();
    playback.go_to(Time::from_seconds(1e6).unwrap()).unwrap();
    let shown = playback.canvas().text().join("\n");
    assert_eq!(shown.trim_end(), fixture.tmux().capture(&pane, CaptureRange::Visible).unwrap());
    assert!(!fixture.tmux().has_pipe(&pane).unwrap(), "the pane is left as it was");
}

#[test]
fn a_recorder_that_stalls_costs_tmux_no_memory_and_loses_nothing() {
    let fixture = Fixture::in_own_folder("seq 1 2000000 | head -c 10000000; echo; echo over; sleep 100");
    let recorder = fixture.start("a.cast", SpoolLimits::default()).unwrap();
    let before = fixture.server_memory();
    fixture.go();
    fixture.wait_for("over");
    let grown = fixture.server_memory().saturating_sub(before);
    assert!(grown < 5_000_000, "tmux has grown by {grown} bytes");
    recorder.run(|| true).unwrap();
    let summary = Summary::of(&mut fixture.reader("a.cast")).unwrap();
    // Each line feed comes as two bytes.
    assert!(summary.printed > 11_000_000, "{}", summary.printed);
}

#[test]
fn a_stall_beyond_the_limit_is_a_marked_gap_and_what_follows_is_right() {
    let fixture = Fixture::in_own_folder(
        "seq 1 100000; echo over; while [ ! -e more ]; do sleep 0.02; done; echo last",
    );
    let recorder = fixture.start("a.cast", SpoolLimits { files: 1, reads: 4 }).unwrap();
    let is_done = AtomicBool::new(false);
    fixture.go();
    fixture.wait_for("over");
    wait_until(|| LocalFiles.exists(&recorder.spool.folder().join("end")).unwrap());
    let recorded = std::thread::scope(|scope| {
        let running = scope.spawn(|| recorder.run(|| is_done.load(Ordering::Acquire)));
        wait_until(|| LocalFiles.read_text(&fixture.path("a.cast")).unwrap().contains(GAP_LABEL));
        LocalFiles.touch(&fixture.path("more")).unwrap();
        running.join().unwrap().unwrap()
    });
    assert_eq!(recorded.gaps, 1);
    let header = fixture.reader("a.cast").header().clone();
    let text: Vec<String> = PlainText::new(&header, fixture.reader("a.cast")).map(Result::unwrap).collect();
    assert_eq!(text[text.len() - 3..], ["100000", "over", "last"]);
}

#[test]
fn two_recorders_do_not_meet_and_a_killed_one_is_taken_over() {
    let fixture = Fixture::in_own_folder("echo; echo after; sleep 100");
    let first = fixture.start("a.cast", SpoolLimits::default()).unwrap();
    let error = fixture.start("b.cast", SpoolLimits::default()).err().unwrap();
    assert!(matches!(error, RecordError::Busy(_)), "{error:?}");
    // Dropped without an end, as if it had been killed: the pipe stays open.
    drop(first);
    let second = fixture.start("b.cast", SpoolLimits::default()).unwrap();
    fixture.go();
    fixture.wait_for("after");
    second.run(|| true).unwrap();
    assert!(LocalFiles.read_text(&fixture.path("b.cast")).unwrap().contains("after"));
    assert_eq!(
        fixture.reader("a.cast").map(Result::unwrap).count(),
        1,
        "what the first has written can be played"
    );
}

#[test]
fn the_pipe_of_somebody_else_is_left_alone() {
    let fixture = Fixture::in_own_folder("sleep 100");
    fixture.run(&["pipe-pane", "cat >/dev/null"]);
    let error = fixture.start("a.cast", SpoolLimits::default()).err().unwrap();
    assert!(matches!(error, RecordError::Piped { .. }), "{error:?}");
    assert!(!LocalFiles.exists(&fixture.path("a.cast")).unwrap());
}

#[test]
fn a_file_that_is_there_is_not_replaced_and_the_pane_is_left_as_it_was() {
    let fixture = Fixture::in_own_folder("sleep 100");
    LocalFiles.append(&fixture.path("a.cast"), b"precious", Durability::Cached).unwrap();
    let error = fixture.start("a.cast", SpoolLimits::default()).err().unwrap();
    assert!(matches!(error, RecordError::Exists { .. }), "{error:?}");
    assert_eq!(LocalFiles.read_text(&fixture.path("a.cast")).unwrap(), "precious");
    assert!(!fixture.tmux().has_pipe(&fixture.source(SpoolLimits::default()).pane).unwrap());
}
