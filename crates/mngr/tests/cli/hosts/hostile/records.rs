//! State files that a host has made up.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{assert_list_answers, assert_unchanged, ground, picture, run};
use crate::support::text;

const ESCAPES: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\r\u{202e}";

/// A folder of a new agent with a record that differs from an honest one in these fields.
fn agent(home: &Path, number: u32, fields: &Value) -> PathBuf {
    let id = format!("agent-{number:032x}");
    let folder = home.join(".mngr/agents").join(&id);
    fs::create_dir(&folder).unwrap();
    let mut record = json!({
        "id": id, "name": format!("evil-{number}"), "type": "command", "work_dir": "/root",
        "create_time": "2026-01-02T03:04:05Z", "command": "sleep 300",
    });
    record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    fs::write(folder.join("data.json"), record.to_string()).unwrap();
    folder
}

#[test]
fn a_made_up_record_is_only_text() {
    let ground = ground();
    let home = ground.sshd().home();
    let touch = format!("touch {}", super::canary(&ground).display());
    let shell = format!("$({touch})`{touch}`';{touch};'");
    let odd = [
        json!({ "labels": { ESCAPES: ESCAPES, "x": shell } }),
        json!({ "work_dir": format!("/tmp/{ESCAPES}{shell}") }),
        json!({ "work_dir": "../../../../etc", "type": ESCAPES }),
        json!({ "work_dir": format!("-o{shell}") }),
        json!({ "command": format!("{ESCAPES}{shell}"), "type": shell }),
        json!({ "name": format!("a{ESCAPES}") }),
        json!({ "name": "../../../x" }),
        json!({ "id": "agent-../../../../../../tmp/x" }),
        json!({ "initial_branch": format!("--upload-pack={touch}"), "created_branch_name": ESCAPES }),
        json!({ "project": ESCAPES, "brand": "claude", "status_file": "../../../../etc/passwd" }),
        json!({ "brand": "codex", "status_file": "/etc/passwd", "ready_folder": "../../.." }),
        json!({ "workspace": { "kind": "worktree", "repository": shell, "path": ESCAPES } }),
        json!({ "labels": { "long": "x".repeat(3_000_000) } }),
    ];
    for (number, fields) in odd.iter().enumerate() {
        agent(&home, u32::try_from(number).unwrap(), fields);
    }
    let deep = agent(&home, 100, &json!({}));
    fs::write(deep.join("data.json"), "[".repeat(1_000_000)).unwrap();
    let before = picture(&ground);
    let listing = assert_list_answers(&ground);
    let shown: Vec<String> =
        listing["agents"].as_array().unwrap().iter().map(|row| text(&row["name"])).collect();
    assert!(shown.contains(&"far".to_owned()), "{shown:?}");
    let _ = run(&ground, &["list", "--fields", "name,labels,work_dir,command,initial_branch,state_evidence"]);
    let _ = run(&ground, &["list", "--format", "{name} {work_dir} {labels} {command}"]);
    let numbers = 0..odd.len();
    for name in numbers.map(|number| format!("evil-{number}")).filter(|name| shown.contains(name)) {
        let path = format!("{name}:x");
        for verb in [
            &["explain", &name][..],
            &["exec", &name, "--", "true"],
            &["message", &name, "-m", "hello"],
            &["pull", &path],
            &["pull", &name, "--sync-mode", "full"],
        ] {
            let _ = run(&ground, verb);
        }
    }
    assert_unchanged(&ground, &before);
}

#[test]
fn links_pipes_and_files_without_end_are_not_followed_waited_for_or_kept() {
    let ground = ground();
    let home = ground.sshd().home();
    let agents = home.join(".mngr/agents");
    let path = |number: u32| agents.join(format!("agent-{number:032x}"));
    symlink("/etc", path(1)).unwrap();
    symlink(path(2), path(2)).unwrap();
    symlink("..", path(3)).unwrap();
    let mut number = 10;
    let mut folder = |fields: Value| {
        number += 1;
        (number, agent(&home, number, &fields))
    };
    for name in ["data.json", "process", "env", "waiting"] {
        for target in ["/etc/passwd", "/dev/zero", "/root/.mngr/agents"] {
            let (_, folder) = folder(json!({}));
            let _ = fs::remove_file(folder.join(name));
            symlink(target, folder.join(name)).unwrap();
        }
        let (_, folder) = folder(json!({}));
        let _ = fs::remove_file(folder.join(name));
        let made = ground.env.command("mkfifo").arg(folder.join(name)).status().unwrap();
        assert!(made.success());
    }
    let (last, huge) = folder(json!({ "brand": "claude", "status_file": "status.json" }));
    for name in [
        "process",
        "status.json",
        "env",
        "events/messages/events.jsonl",
        "logs/transcript.jsonl",
        "status/url",
    ] {
        let file = huge.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // Two gigabytes that take no room.
        fs::File::create(file).unwrap().set_len(2 << 30).unwrap();
    }
    let (_, record) = folder(json!({}));
    fs::File::create(record.join("data.json")).unwrap().set_len(2 << 30).unwrap();
    let journals = home.join(".mngr/journal");
    fs::create_dir_all(&journals).unwrap();
    let _ =
        ground.env.command("mkfifo").arg(journals.join(format!("agent-{:032x}.jsonl", 7))).status().unwrap();
    fs::File::create(journals.join(format!("agent-{:032x}.jsonl", 8))).unwrap().set_len(2 << 30).unwrap();
    symlink("/etc/passwd", journals.join(format!("agent-{:032x}.jsonl", 9))).unwrap();
    let before = picture(&ground);
    let listing = assert_list_answers(&ground);
    assert!(listing["agents"].as_array().unwrap().iter().any(|agent| agent["name"] == "far"), "{listing}");
    for number in 11..=last {
        let output = run(&ground, &["exec", &format!("evil-{number}"), "--", "true"]);
        assert!(!output.stdout.contains("root:x:0"), "{output}");
    }
    let name = format!("evil-{last}");
    for verb in
        [&["explain", &name][..], &["transcript", &name], &["usage", &name], &["message", &name, "-m", "x"]]
    {
        let _ = run(&ground, verb);
    }
    assert_unchanged(&ground, &before);
    let _ = run(&ground, &["destroy", "far", "--force"]).success();
}

#[test]
fn a_host_cannot_pass_for_this_machine() {
    let ground = ground();
    let ours = fs::read_to_string(ground.env.host_dir().join("host_id")).unwrap();
    fs::write(ground.sshd().home().join(".mngr/host_id"), ours).unwrap();
    fs::remove_dir_all(ground.env.host_dir().join("cache")).unwrap();
    let listing = assert_list_answers(&ground);
    assert!(listing["errors"].to_string().contains("id of this machine"), "{listing}");
    let address = ground.address("more");
    let refused = run(&ground, &["create", &address, "--no-connect", "--", "sleep", "1000"]).code(1);
    assert!(refused.stderr.contains("id of this machine"), "{refused}");
}
