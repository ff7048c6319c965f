//! One moment: what lies on the disk and stands on the screen, without what names a machine or a session, as a case.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::Value;
use toml::Table;

use crate::brands::scene::{NAME, Scene};
use crate::support::*;

const OUT: &str = "MNGR_CORPUS_OUT";
const SUFFIX: &str = "MNGR_CORPUS_SUFFIX";
/// Where all agents of the corpus work.
const WORK_DIR: &str = "/home/user/work";
/// How many lines of a screen are kept.
const LINES: usize = 24;
/// How much of a text in a program's record is kept.
const TEXT: usize = 80;
/// How many lines of a program's record are kept.
const RECORD_LINES: usize = 40;

/// What is to be seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) state: Option<&'static str>,
    pub(super) reason: Option<&'static str>,
    pub(super) composer: &'static str,
}

/// The cases of one agent in one size.
pub(super) struct Recording {
    state_dir: PathBuf,
    work_dir: String,
    status_file: PathBuf,
    head: Table,
    cases: Vec<(&'static str, Table)>,
    wrong: Vec<String>,
}

/// What lies on the disk.
#[derive(Debug, PartialEq)]
struct Facts {
    status: Option<String>,
    failure: Option<String>,
    active: Option<Timestamp>,
    waiting: Option<Timestamp>,
    waiting_reason: Option<String>,
}

impl Recording {
    #[track_caller]
    pub(super) fn begin(scene: &Scene, name: &str, size: String, held_out: bool) -> Self {
        let state_dir = state_dir(&scene.env, name);
        let data: Value = serde_json::from_slice(&fs::read(state_dir.join("data.json")).unwrap()).unwrap();
        let pid = recorded_pid(&scene.env, name, "pid").to_string();
        let status_file = state_dir.join(text(&data["status_file"]).replace("{pid}", &pid));
        let explained = scene.env.mngr(["explain", name, "--format", "json"]).success().json();
        let mut head = Table::new();
        head.insert("brand".into(), scene.brand.program().into());
        head.insert("version".into(), text(&explained["version"]["installed"]).into());
        head.insert("size".into(), size.into());
        if held_out {
            head.insert("held_out".into(), true.into());
        }
        let work_dir = text(&data["work_dir"]);
        Self { state_dir, work_dir, status_file, head, cases: Vec::new(), wrong: Vec::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.cases.len()
    }

    #[track_caller]
    pub(super) fn take(
        &mut self,
        scene: &Scene,
        label: &'static str,
        note: &'static str,
        expected: Expected,
    ) {
        // What was taken at different moments contradicts itself.
        let (facts, screen) = loop {
            let before = self.facts();
            let screen = scene.env.tmux(["capture-pane", "-p", "-e", "-t", "=mngr-a:"]).success().stdout;
            if self.facts() == before {
                break (before, screen);
            }
        };
        let said = scene.standing_of(NAME);
        let wanted = [expected.state, expected.reason].into_iter().flatten().collect::<Vec<_>>().join(" ");
        if !wanted.is_empty() && said != wanted {
            let size = &self.head["size"];
            self.wrong.push(format!("{label} ({note}; {size}): mngr says {said}, not {wanted}\n{screen}"));
        }
        let mut case = self.head.clone();
        case.insert("label".into(), label.into());
        case.insert("note".into(), note.into());
        case.insert("expected".into(), expected.table().into());
        case.insert("evidence".into(), self.evidence(&facts, &screen).into());
        let title =
            scene.env.tmux(["display-message", "-p", "-t", "=mngr-a:", "#{pane_title}"]).success().stdout;
        let title = Table::from_iter([("title".to_owned(), self.anonymous(title.trim()).into())]);
        case.insert("recorded".into(), title.into());
        self.cases.push((label, case));
    }

    fn facts(&self) -> Facts {
        let read =
            |path: &Path| fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let dated = |name: &str| {
            let modified = fs::metadata(self.state_dir.join(name)).and_then(|meta| meta.modified()).ok();
            modified.map(|time: SystemTime| Timestamp::try_from(time).unwrap())
        };
        let waiting = dated("waiting");
        Facts {
            status: read(&self.status_file),
            failure: read(&self.state_dir.join("failure")),
            active: dated("active"),
            waiting,
            waiting_reason: waiting.and_then(|_| read(&self.state_dir.join("waiting"))),
        }
    }

    fn evidence(&self, facts: &Facts, screen: &str) -> Table {
        let mut table = Table::new();
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                table.insert(key.to_owned(), value.into());
            }
        };
        put("status", facts.status.as_deref().map(|text| self.anonymous(&short_record(text))));
        put("failure", facts.failure.as_deref().map(|text| self.anonymous(&short_line(text.trim()))));
        put("active", facts.active.map(|at| at.to_string()));
        put("waiting", facts.waiting.map(|at| at.to_string()));
        put("waiting_reason", facts.waiting_reason.as_deref().map(|reason| reason.trim().to_owned()));
        let lines: Vec<&str> = screen.trim_end().lines().collect();
        let lower = &lines[lines.len().saturating_sub(LINES)..];
        put("screen", Some(self.anonymous(&format!("{}\n", lower.join("\n")))));
        table
    }

    /// Without the folders of the test.
    fn anonymous(&self, text: &str) -> String {
        let root = self.work_dir.split('/').take(3).collect::<Vec<_>>().join("/");
        text.replace(&self.work_dir, WORK_DIR).replace(&root, "/home/user")
    }

    /// Writes the cases, where somebody wants them, and gives what mngr tells otherwise.
    pub(super) fn finish(self) -> Vec<String> {
        if let Some(out) = std::env::var_os(OUT) {
            let folder = PathBuf::from(out).join(self.head["brand"].as_str().unwrap());
            fs::create_dir_all(&folder).unwrap();
            let suffix = std::env::var(SUFFIX).map(|suffix| format!("-{suffix}")).unwrap_or_default();
            let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
            for (label, case) in &self.cases {
                let path = loop {
                    let number = numbers.entry(label).or_default();
                    *number += 1;
                    let path = folder.join(format!("{label}{suffix}-{number}.toml"));
                    if !path.exists() {
                        break path;
                    }
                };
                fs::write(path, toml::to_string_pretty(case).unwrap()).unwrap();
            }
        }
        self.wrong
    }
}

impl Expected {
    fn table(self) -> Table {
        let mut table = Table::new();
        for (key, word) in [("state", self.state), ("reason", self.reason), ("composer", Some(self.composer))]
        {
            table.extend(word.map(|word| (key.to_owned(), word.into())));
        }
        table
    }
}

/// The end of a program's record with its long texts cut.
fn short_record(text: &str) -> String {
    // What a turn is allowed to do is long, and tells nothing of how it stands.
    let matters = |line: &&str| !line.contains(r#""type":"turn_context""#);
    let lines: Vec<&str> = text.lines().filter(matters).collect();
    let kept = &lines[lines.len().saturating_sub(RECORD_LINES)..];
    // Where the newest turn begins, nothing before it matters.
    let begins = kept.iter().rposition(|line| line.contains("\"task_started\"")).unwrap_or(0);
    let kept: Vec<String> = kept[begins..].iter().map(|line| short_line(line)).collect();
    match kept.as_slice() {
        [line] => line.clone(),
        lines => format!("{}\n", lines.join("\n")),
    }
}

fn short_line(line: &str) -> String {
    match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            shorten(&mut value);
            value.to_string()
        }
        Err(_) => line.to_owned(),
    }
}

/// Keys that tell of a machine or a session and nothing of a state.
const LEFT_OUT: [&str; 9] = [
    "procStart",
    "pidDomain",
    "tmux",
    "messagingSocketPath",
    "name",
    "transcript_path",
    "git",
    "base_instructions",
    "world_state",
];

fn shorten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
            for (key, value) in object {
                match key.as_str() {
                    "sessionId" | "session_id" => *value = "00000000-0000-4000-8000-000000000001".into(),
                    "pid" => *value = 1000.into(),
                    _ => shorten(value),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::String(text) if text.chars().count() > TEXT => *text = text.chars().take(TEXT).collect(),
        _ => {}
    }
}
