//! Programs of a host that say anything, or never stop.

use super::super::ground::{Ground, Kind};
use super::{assert_list_answers, assert_unchanged, ground, picture, run};

/// What a program may do instead of its work. None of it fills a disk: a file there is the host's own trouble.
const LIES: [&str; 4] = [
    "printf '\\033]0;title\\007\\033[2J\\r%s\\n' \"$0\" \"$@\"; exit 0",
    "head -c 300000 /dev/urandom; exit 0",
    "printf '\\033[31mno\\033[0m\\n' >&2; exit 255",
    "sleep 60",
];

#[test]
fn programs_that_lie_are_not_believed_and_do_not_hold_anybody() {
    let ground = ground();
    std::fs::write(ground.work_dir("far").join("new"), "new").unwrap();
    let before = picture(&ground);
    let verbs: [(&str, &[&[&str]]); 4] = [
        ("tar", &[]),
        ("tmux", &[&["capture", "far"], &["message", "far", "-m", "hello"]]),
        ("git", &[&["pull", "far"], &["pull", "far", "--sync-mode", "full"]]),
        ("rsync", &[&["pull", "far:new"], &["pull", "far", "--sync-mode", "files"]]),
    ];
    for (program, verbs) in verbs {
        for lie in LIES {
            ground.sshd().replace_program(program, lie);
            assert_list_answers(&ground);
            // What waits for a program waits as long as its own limit says.
            for verb in verbs.iter().filter(|_| !lie.starts_with("sleep")) {
                let _ = run(&ground, verb);
            }
            ground.sshd().restore_program(program);
        }
        assert_unchanged(&ground, &before);
    }
}

/// Speaks as the shell of a host does up to the answer, and then says something else.
fn shell_that(answers: &str) -> String {
    format!(
        r#"read -r end
while read -r line; do
    case $line in "$end") break ;; id=*) id=${{line#id=}} ;; esac
done
echo "$id ready"
while read -r nonce lines bytes keep leftovers; do
    while [ "$lines" -gt 0 ]; do read -r line; lines=$((lines - 1)); done
    {answers}
done"#
    )
}

#[test]
fn a_shell_that_lies_is_not_believed() {
    let ground = ground();
    let before = picture(&ground);
    let sparse = r#"printf '%s 0 %s 0 none\n' "$nonce" "$(wc -c </tmp/answer)"; cat /tmp/answer"#;
    std::fs::write(ground.sshd().tmp().join("answer"), sparse_answer()).unwrap();
    let lies = [
        "exec cat /dev/zero".to_owned(),
        "exec yes".to_owned(),
        "echo welcome; exit 0".to_owned(),
        shell_that(r#"echo "$nonce 0 268435456 268435456 none"; exec cat /dev/zero"#),
        shell_that(r#"echo "$nonce 0 99999999999999999999 0 none"; exec cat /dev/zero"#),
        shell_that(r#"echo "$nonce 0 -1 -1 none""#),
        shell_that(r#"printf '%s 0 5 0 none\n\033[2J\n' "$nonce""#),
        shell_that(r#"echo other 0 0 0 none"#),
        shell_that(r#"exec sleep 60"#),
        shell_that(sparse),
    ];
    for lie in lies {
        ground.sshd().answer_with(&lie);
        assert_list_answers(&ground);
        // What waits for silence waits as long as its own limit says.
        if !lie.contains("sleep") {
            let output = run(&ground, &["exec", "far", "--", "true"]);
            assert_ne!(output.status.code(), Some(0), "{lie}: {output}");
        }
    }
    assert_unchanged(&ground, &before);
}

/// An answer to a look whose archive holds a file that claims to be a terabyte of zeros.
fn sparse_answer() -> Vec<u8> {
    let mut header = [0_u8; 512];
    let id = format!("agent-{:032x}/data.json", 1);
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, id.as_bytes());
    put(100, b"0000644\0");
    put(124, b"00000000000\0");
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"S");
    put(257, b"ustar  \0");
    // One piece of nothing at the end of a terabyte.
    put(386, b"10000000000000\0");
    put(386, b"77777777777\0");
    put(398, b"00000000000\0");
    put(483, b"77777777777\0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let facts = format!("boot x\nuptime 1\nnow 1\nfolder 1 agent-{:032x}\n\n", 1);
    [facts.as_bytes(), &header, &[0; 1024]].concat()
}

#[test]
fn docker_a_container_with_a_shell_that_lies_is_not_believed() {
    let ground = Ground::new(Kind::Docker);
    let _ = ground.create("far", &["--type", "command", "--", "sleep", "1000"]);
    crate::support::create(&ground.env, "near", &["sleep", "1000"]);
    ground.set("host_discovery_timeout_seconds", "2");
    let engine = ground.engine.as_ref().unwrap();
    let before = picture(&ground);
    engine.docker(&["exec", "mngr-box", "cp", "/bin/sh", "/bin/honest"]);
    let lies = [
        "exec cat /dev/zero".to_owned(),
        "printf '\\033]0;title\\007\\033[2J\\n'; exit 0".to_owned(),
        shell_that(r#"echo "$nonce 0 268435456 268435456 none"; exec cat /dev/zero"#),
        "exec sleep 60".to_owned(),
    ];
    for lie in lies {
        let script = format!("#!/bin/honest\n{lie}\n");
        let put = [
            "exec",
            "-i",
            "mngr-box",
            "/bin/honest",
            "-c",
            "rm -f /bin/sh; printf %s \"$1\" >/bin/sh; chmod 755 /bin/sh",
            "x",
            &script,
        ];
        engine.docker(&put);
        assert_list_answers(&ground);
        if !lie.contains("sleep") {
            let output = run(&ground, &["exec", "far", "--", "true"]);
            assert_ne!(output.status.code(), Some(0), "{lie}: {output}");
        }
    }
    assert_unchanged(&ground, &before);
}

#[test]
fn what_is_too_much_for_memory_comes_to_a_file_of_this_machine() {
    let ground = ground();
    let _ = ground.env.mngr(["config", "set", "--scope", "user", "exec.kept_output_mb", "1"]).success();
    // More than any other answer of a host may be.
    let command = "head -c 300000000 /dev/zero; echo few >&2; exit 3";
    let told = run(&ground, &["exec", "far", "--format", "json", "--", command]).code(3);
    let result = told.json()["results"][0].clone();
    assert_eq!((&result["truncated"], &result["exit_code"]), (&true.into(), &3.into()), "{}", told.stderr);
    assert_eq!((&result["stderr"], result["stdout"].as_str().unwrap().len()), (&"few".into(), 1 << 20));
    let file = result["stdout_file"].as_str().unwrap();
    assert!(std::path::Path::new(file).starts_with(ground.env.host_dir()), "{file}");
    assert_eq!(std::fs::metadata(file).unwrap().len(), 300_000_000);
    let next = run(&ground, &["exec", "far", "--format", "json", "--", "echo hi"]).success().json();
    assert_eq!(next["results"][0]["stdout"], "hi");
}
