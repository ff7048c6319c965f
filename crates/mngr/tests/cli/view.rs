//! `view`: the page of what tests left behind, served to this user only or exported. How it looks is tested in `mngr-web`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use mngr_testkit::TestEnv;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::*;

/// A project whose only test has a transcript and a recording.
fn env_with_artifacts() -> TestEnv {
    let env = env_with_repo();
    let folder = env.work_dir().join(".test_output/e2e/nightly/test_a--b");
    fs::create_dir_all(&folder).unwrap();
    let record = r#"{"schema":1,"id":"a::b","name":"b","file":"a","status":"passed","started_at":"2026-01-01T00:00:00Z"}"#;
    fs::write(folder.join("test.json"), record).unwrap();
    let command = r#"{"kind":"command","id":1,"time":1,"command":"echo </script>","cwd":"/"}"#;
    fs::write(folder.join("transcript.jsonl"), format!("{command}\n")).unwrap();
    fs::write(folder.join("x.cast"), "{\"version\":2,\"width\":9,\"height\":2}\n[0,\"o\",\"hi\"]\n").unwrap();
    env
}

/// A server that runs until it is interrupted.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Served {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let mut command = env.mngr_cmd();
        command.args(["view", "--format", "jsonl"]).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&told["event"], &told["tests"]), (&"serving".into(), &1.into()), "{told}");
        let url = told["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:").unwrap().to_owned();
        let (port, token) = url.split_once("/?token=").unwrap();
        Self { child, port: port.parse().unwrap(), token: token.to_owned() }
    }

    /// The whole answer to a request with these headers.
    fn ask(&self, path: &str, headers: &[&str]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let host = if headers.contains("Host:") {
            String::new()
        } else {
            format!("Host: 127.0.0.1:{}\r\n", self.port)
        };
        write!(stream, "GET {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn cookie(&self) -> String {
        format!("Cookie: mngr_view_{}={}", self.port, self.token)
    }

    fn interrupt(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn only_who_has_the_token_is_answered_and_ctrl_c_leaves_nothing_behind() {
    let env = env_with_artifacts();
    let served = Served::start(&env, &[]);
    assert!(served.ask("/", &[]).starts_with("HTTP/1.1 403"));
    assert!(served.ask("/data/runs.js", &["Cookie: mngr_view=guess"]).starts_with("HTTP/1.1 403"));
    let welcome = served.ask(&format!("/?token={}", served.token), &[]);
    assert!(welcome.starts_with("HTTP/1.1 303") && welcome.contains("HttpOnly"), "{welcome}");
    let cookie = served.cookie();
    let page = served.ask("/", &[&cookie]);
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("content-security-policy: default-src 'none'"),
        "{page}"
    );
    assert!(served.ask("/", &[&cookie, "Host: evil.example"]).starts_with("HTTP/1.1 421"));
    assert!(
        served.ask("/data/runs.js", &[&cookie, "Origin: http://evil.example"]).starts_with("HTTP/1.1 403")
    );
    let runs = served.ask("/data/runs.js", &[&cookie]);
    assert!(runs.contains("mngr.add(\"runs\",") && runs.contains("nightly"), "{runs}");
    served.interrupt();
    let left: Vec<_> =
        fs::read_dir(env.root().join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| !path.to_string_lossy().contains("mngr-view")), "{left:?}");
}

#[test]
fn files_are_sent_in_parts_and_no_name_leads_out_of_the_folder() {
    let env = env_with_artifacts();
    let served = Served::start(&env, &[]);
    let cookie = served.cookie();
    let key_in = |text: &str| text.split("\"key\":\"").nth(1).unwrap()[..16].to_owned();
    let run = key_in(&served.ask("/data/runs.js", &[&cookie]));
    let test =
        key_in(served.ask(&format!("/data/run/{run}.js"), &[&cookie]).split("\"tests\":").nth(1).unwrap());
    let rows = served.ask(&format!("/data/test/{test}/rows/0.js"), &[&cookie]);
    assert!(rows.contains("echo \\u003c/script\\u003e"), "{rows}");
    let part = served.ask(&format!("/raw/{test}/x.cast"), &[&cookie, "Range: bytes=0-9"]);
    assert!(part.starts_with("HTTP/1.1 206") && part.ends_with("{\"version\""), "{part}");
    for path in ["../test.json", "..%2f..%2f..%2fetc%2fpasswd", "test.json", "%2fetc%2fpasswd"] {
        let answer = served.ask(&format!("/raw/{test}/{path}"), &[&cookie]);
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    served.interrupt();
}

#[test]
fn an_export_is_a_page_and_other_folders_are_left_alone() {
    let env = env_with_artifacts();
    let told = env.mngr(["view", "--export", "page", "--format", "json"]).success().json();
    assert_eq!((&told["tests"], &told["written"]), (&1.into(), &1.into()));
    for file in ["index.html", "assets/main.js", "data/runs.js"] {
        assert!(env.work_dir().join("page").join(file).exists(), "{file}");
    }
    env.mngr(["view", "nightly", "--export", "page"]).code(1);
    env.mngr(["view", ".test_output/e2e/nightly", "--export", "page"]).success();
    let refused = env.mngr(["view", "--export", "."]).code(1);
    assert!(
        refused.stderr.contains("is not empty") && refused.stderr.contains("hint:"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_cannot_be_shown_is_said_with_advice() {
    let env = env_with_repo();
    let missing = env.mngr(["view"]).code(1);
    assert!(
        missing.stderr.contains("there is no folder") && missing.stderr.contains("hint:"),
        "{}",
        missing.stderr
    );
    env.mngr(["view", "--watch"]).code(2);
    let env = env_with_artifacts();
    let served = Served::start(&env, &[]);
    let taken = env.mngr(["view", "--port", &served.port.to_string()]).code(1);
    assert!(taken.stderr.contains("is in use") && taken.stderr.contains("hint:"), "{}", taken.stderr);
    served.interrupt();
}

#[test]
fn the_browser_gets_a_private_file_and_not_the_token() {
    let mut env = env_with_artifacts();
    let bin = env.root().join("fake-bin");
    fs::create_dir_all(&bin).unwrap();
    let note = env.root().join("opened");
    let script = format!("#!/bin/sh\necho \"$1\" >{0}.new && mv {0}.new {0}\n", note.display());
    fs::write(bin.join("xdg-open"), script).unwrap();
    fs::set_permissions(bin.join("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    env.set_var("PATH", format!("{}:{path}", bin.display()));
    let served = Served::start(&env, &["--open"]);
    wait_until(Duration::from_secs(20), || note.exists());
    let opened = fs::read_to_string(&note).unwrap();
    assert!(!opened.contains(&served.token), "{opened}");
    let door = fs::read_to_string(opened.trim()).unwrap();
    assert!(door.contains(&format!("127.0.0.1:{}/?token={}", served.port, served.token)), "{door}");
    assert_eq!(fs::metadata(opened.trim()).unwrap().permissions().mode() & 0o077, 0);
    served.interrupt();
}
