//! The page in a real browser: Chromium, driven by the scripts beside this file.
//!
//! `scripts/ensure-browser` installs what is needed. The names of all tests begin with `browser_` or `soak_browser_`, so that they can be left
//! out where it cannot be had. With `MNGR_TEST_SHOTS=FOLDER` pictures of the page are left there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "tests lay out files and run node")]

mod report;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use mngr_host::local::{LocalFiles, LocalHost};
use mngr_model::HostPath;
use mngr_web::Exporter;
use mngr_web::catalogue::{Catalogue, scan};
use mngr_web::serve::{ServeRequest, Server};
use serde_json::Value;
use tempfile::TempDir;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
const ENSURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/ensure-browser");

/// Artifacts of one kind, in a folder of their own.
struct World {
    dir: TempDir,
    told: Value,
}

impl World {
    fn new(kind: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let told = match kind {
            "empty" => Value::Null,
            kind => run(Command::new("node").arg(format!("{HERE}/fixture.mjs")).arg(kind).arg(&out)),
        };
        Self { dir, told }
    }

    fn at(&self, below: &str) -> HostPath {
        HostPath::new(self.dir.path().join(below).to_str().unwrap())
    }

    fn scan(&self) -> Catalogue {
        scan(&LocalFiles, &self.at("out"), &Catalogue::default()).unwrap()
    }

    /// Serves them until the test ends, and says where.
    fn serve(&self) -> String {
        let request = ServeRequest {
            host: Arc::new(LocalHost::open(self.at("state")).unwrap()),
            folder: self.at("out"),
            catalogue: self.scan(),
            workshop: self.at("workshop"),
            port: None,
        };
        let server = Server::bind(request).unwrap();
        let url = server.url();
        std::thread::spawn(move || server.run());
        url
    }

    /// Exports them, and says where.
    fn export(&self) -> String {
        let mut exporter = Exporter::begin(&LocalFiles, self.at("page"), "out".to_owned()).unwrap();
        exporter.write_all(&self.scan()).unwrap();
        format!("file://{}", self.at("page/index.html"))
    }
}

/// A script that visits the page.
fn scenario(script: &str, page: &str) -> Command {
    let ensured = Command::new(ENSURE).stderr(Stdio::inherit()).output().unwrap();
    assert!(ensured.status.success(), "there is no browser, see above");
    let mut node = Command::new("node");
    node.arg(Path::new(HERE).join(script)).env("PAGE", page);
    node.env("NODE_FOLDER", String::from_utf8(ensured.stdout).unwrap().trim());
    match std::env::var_os("MNGR_TEST_SHOTS") {
        Some(shots) => node.env("SHOTS", shots),
        None => node.env_remove("SHOTS"),
    };
    node
}

/// Runs it to its end; what it told.
fn run(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

#[test]
fn browser_the_served_page_shows_everything() {
    run(&mut scenario("usual.mjs", &World::new("usual").serve()));
}

#[test]
fn browser_the_exported_page_shows_the_same_from_disk() {
    let world = World::new("usual");
    run(&mut scenario("usual.mjs", &world.export()));
}

#[test]
fn browser_the_page_fits_a_phone_and_the_dark() {
    let world = World::new("usual");
    run(&mut scenario("looks.mjs", &world.export()));
}

#[test]
fn browser_hostile_text_stays_text_served_and_exported() {
    let world = World::new("hostile");
    run(&mut scenario("hostile.mjs", &world.serve()));
    run(&mut scenario("hostile.mjs", &world.export()));
}

#[test]
fn browser_a_test_appears_goes_on_and_ends_while_the_page_is_open() {
    let world = World::new("empty");
    let mut node = scenario("live.mjs", &world.serve());
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut tell, mut told) =
        (node.stdin.take().unwrap(), BufReader::new(node.stdout.take().unwrap()).lines());
    let folder = world.dir.path().join("out/run/t");
    let record = |status: &str| {
        let record = format!(
            r#"{{"schema":1,"id":"t","name":"t","file":"f","status":"{status}","started_at":"2026-01-01T00:00:00Z"}}"#
        );
        std::fs::write(folder.join("test.json"), record).unwrap();
    };
    let command = r#"{"kind":"command","id":1,"time":1,"command":"make","cwd":"/"}"#;
    let output = r#"{"kind":"output","id":1,"time":2,"stream":"stdout","text":"more output\n"}"#;
    let end = r#"{"kind":"end","id":1,"time":3,"exit_code":0}"#;

    assert_eq!(told.next().unwrap().unwrap(), "empty");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("transcript.jsonl"), format!("{command}\n")).unwrap();
    record("running");
    writeln!(tell, "begun").unwrap();
    assert_eq!(told.next().unwrap().unwrap(), "running");
    std::fs::write(folder.join("transcript.jsonl"), format!("{command}\n{output}\n{end}\n")).unwrap();
    record("passed");
    writeln!(tell, "ended").unwrap();
    assert!(node.wait().unwrap().success());
}

/// 100 MB each of transcript and recording. The limits are several times what was measured.
#[test]
fn soak_browser_100_megabytes_freeze_neither_page_nor_tool() {
    let world = World::new("large");
    let page = world.serve();
    let told = run(scenario("large.mjs", &page).env("ROWS", world.told["rows"].to_string()));
    println!("{told}");
    assert!(told["firstRows"].as_u64().unwrap() < 5000, "{told}");
    for gap in ["opening", "scrolling", "playing"] {
        assert!(told["gaps"][gap].as_u64().unwrap() < 1000, "{told}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    println!("peak memory of the server: {} MiB", kib / 1024);
    assert!(kib < 300 * 1024, "{kib} KiB");
}
