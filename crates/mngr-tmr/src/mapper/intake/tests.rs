//! Archives nobody should trust. Each is refused for its own reason, and leaves nothing behind.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress};
use mngr_host::proc::Cmd;
use mngr_model::run::FailureKind;
use mngr_model::run::outcome::Claim;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::*;
use crate::mapper::Limits;
use crate::mapper::testing::{BRANCH, Desk, clean_outcome, fixed_outcome};

/// One tar header with whatever it should say.
fn header(name: &[u8], kind: u8, mode: &str, size: &str) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len().min(100)].copy_from_slice(&name[..name.len().min(100)]);
    block[100..100 + mode.len()].copy_from_slice(mode.as_bytes());
    block[124..124 + size.len()].copy_from_slice(size.as_bytes());
    block[156] = kind;
    block[148..156].copy_from_slice(b"        ");
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// An entry with its contents.
fn entry(name: impl AsRef<[u8]>, kind: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = header(name.as_ref(), kind, "0000644", &format!("{:011o}", contents.len()));
    bytes.extend_from_slice(contents);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(name: impl AsRef<[u8]>) -> Vec<u8> {
    entry(name, b'0', b"x")
}

/// A file whose header names something harmless.
fn long_name(name: &str) -> Vec<u8> {
    [entry("././@LongLink", b'L', format!("{name}\0").as_bytes()), file("artifacts/harmless")].concat()
}

/// A whole tar: the outcome, what is given, the end.
fn tar(more: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = entry("outcome.json", b'0', clean_outcome().to_string().as_bytes());
    bytes.extend(more.concat());
    bytes.extend([0; 1024]);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn with_outcome(outcome: &[u8]) -> Vec<u8> {
    gzip(&[entry("outcome.json", b'0', outcome), vec![0; 1024]].concat())
}

/// The reason, after making sure that nothing is left.
fn refusal(desk: &Desk, result: Result<Admitted, IntakeError>) -> Refusal {
    assert_eq!(desk.list("run/tasks/a-test"), Vec::<String>::new());
    match result {
        Err(IntakeError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plain_archive_is_taken_in() {
    let desk = Desk::new();
    let long = format!("artifacts/{}/{}", "a".repeat(80), "b".repeat(80));
    let pax = format!("{} path=artifacts/pax\n", "path=artifacts/pax\n".len() + 3);
    let bytes = tar(&[
        entry("./artifacts/", b'5', b""),
        file("artifacts/one"),
        entry("artifacts/empty", b'0', b""),
        long_name(&long),
        entry("PaxHeaders", b'x', pax.as_bytes()),
        file("ignored"),
        // A folder after what is in it.
        entry("artifacts/", b'5', b""),
    ]);
    let admitted = desk.take_bytes(&gzip(&bytes)).unwrap();
    assert_eq!((admitted.outcome.result, admitted.artifacts, admitted.artifact_bytes), (Claim::Clean, 4, 3));
    let folder = "run/tasks/a-test/attempt-1";
    assert_eq!(desk.read(&format!("{folder}/{long}")), "x");
    assert_eq!(desk.list(&format!("{folder}/artifacts"))[1..], ["empty", "one", "pax"]);
}

#[test]
fn entries_that_could_do_harm_are_refused_by_kind_path_and_name() {
    let deep = format!("artifacts{}", "/d".repeat(30));
    let rows: [(Vec<u8>, &str); 21] = [
        (entry("artifacts/l", b'2', b""), "`artifacts/l` is a symbolic link"),
        (entry("artifacts/l", b'1', b""), "`artifacts/l` is a hard link"),
        (entry("artifacts/l", b'3', b""), "`artifacts/l` is a device"),
        (entry("artifacts/l", b'6', b""), "`artifacts/l` is a pipe"),
        (entry("artifacts/l", b'S', b""), "`artifacts/l` is a sparse file"),
        (entry("artifacts/l", b'Z', b""), "`artifacts/l` is of an unknown kind"),
        (header(b"artifacts/s", b'0', "0004755", "0"), "`artifacts/s` has a set-user-id"),
        (header(b"artifacts/s", b'0', "0002755", "0"), "`artifacts/s` has a set-user-id or set-group-id bit"),
        (file("/etc/passwd"), "`/etc/passwd` is not a plain relative path"),
        (file("artifacts/../../x"), "`artifacts/../../x` is not a plain relative path"),
        (file("artifacts//x"), "`artifacts//x` is not a plain relative path"),
        (entry("..", b'5', b""), "`..` is not a plain relative path"),
        (long_name("artifacts/../../../x"), "`artifacts/../../../x` is not a plain relative path"),
        (file(b"artifacts/\xff\xfe"), "is not printable text"),
        (
            file("artifacts/\x1b]0;evil\x07"),
            "the name `artifacts/\\u{1b}]0;evil\\u{7}` is not printable text",
        ),
        (file("artifacts/\u{202e}txt.exe"), "is not printable text"),
        (file(&deep), "is too large: at most 20 folders are allowed"),
        (file("outcome.json"), "`outcome.json` is in the archive twice"),
        (file("config"), "`config` does not belong into the archive"),
        (entry(".git", b'5', b""), "`.git` does not belong into the archive"),
        (header(b"artifacts/x", b'0', "0000644", "\u{7f}"), "no valid tar header"),
    ];
    let desk = Desk::new();
    for (bytes, expected) in rows {
        let refused = refusal(&desk, desk.take_bytes(&gzip(&tar(&[bytes])))).to_string();
        assert!(refused.contains(expected), "{refused:?}, expected {expected}");
    }
}

#[test]
fn a_path_is_used_once_and_is_not_both_file_and_folder() {
    let desk = Desk::new();
    let rows = [
        [file("artifacts/a"), file("./artifacts/a")],
        [file("artifacts/a"), file("artifacts/a/b")],
        [file("artifacts/a/b"), file("artifacts/a")],
        [file("artifacts/a"), entry("artifacts/a", b'5', b"")],
    ];
    for more in rows {
        let refused = refusal(&desk, desk.take_bytes(&gzip(&tar(&more))));
        assert!(matches!(refused, Refusal::Duplicate { .. }), "{refused:?}");
        assert_eq!(refused.failure(), FailureKind::HostileArchive);
    }
}

#[test]
fn sizes_names_and_counts_beyond_the_limits_are_refused() {
    let limits =
        Limits { entries: 3, file_bytes: 600, unpacked_bytes: 4096, path_bytes: 50, ..Limits::default() };
    let desk = Desk::with_limits(limits);
    let many: Vec<_> = (0..4).map(|index| file(format!("artifacts/{index}"))).collect();
    let rows = [
        (many, "the number of entries is too large: at most 3"),
        (vec![entry("artifacts/a", b'0', &[1; 601])], "`artifacts/a` is too large: at most 600 bytes"),
        (vec![file(format!("artifacts/{}", "a".repeat(60)))], "at most 50 bytes are allowed"),
        (vec![entry("artifacts/a", b'0', &[1; 600]), vec![0; 4096]], "the unpacked archive is too large"),
        (vec![entry("n", b'L', &[b'a'; 17 * 1024])], "the name of a file is too large"),
    ];
    for (more, expected) in rows {
        let refused = refusal(&desk, desk.take_bytes(&gzip(&tar(&more))));
        assert!(refused.to_string().contains(expected), "{refused}, expected {expected}");
        assert_eq!(refused.failure(), FailureKind::TooBig);
    }
    // The binary form of a size is a way around the limits of the octal one.
    let mut binary = header(b"artifacts/a", b'0', "0000644", "");
    binary[124] = 0x80;
    binary[130] = 0xff;
    let refused = refusal(&desk, desk.take_bytes(&gzip(&tar(&[binary]))));
    assert_eq!(refused, Refusal::NotTar);
}

/// A gigabyte of zeros in some hundred kilobytes, without compressing a gigabyte: the block of one mebibyte again and again.
fn bomb() -> Vec<u8> {
    let mut compress = Compress::new(Compression::fast(), false);
    let mut block = Vec::with_capacity(64 * 1024);
    let zeros = vec![0; 1024 * 1024];
    compress.compress_vec(&zeros, &mut block, FlushCompress::Full).unwrap();
    assert_eq!(compress.total_in(), 1024 * 1024);
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut first = Compress::new(Compression::fast(), false);
    let mut start = Vec::with_capacity(64 * 1024);
    let claim = header(b"artifacts/zeros", b'0', "0000644", "00400000000");
    let begin = [entry("outcome.json", b'0', clean_outcome().to_string().as_bytes()), claim].concat();
    first.compress_vec(&begin, &mut start, FlushCompress::Full).unwrap();
    bytes.extend(start);
    for _ in 0..1024 {
        bytes.extend_from_slice(&block);
    }
    bytes
}

#[test]
fn a_gigabyte_in_a_small_archive_is_refused_after_a_few_megabytes() {
    let desk = Desk::new();
    let bytes = bomb();
    assert!(bytes.len() < 8 * 1024 * 1024, "{}", bytes.len());
    let started = Instant::now();
    let refused = refusal(&desk, desk.take_bytes(&bytes));
    assert_eq!(refused, Refusal::Bomb { limit: 200 });
    assert_eq!(refused.failure(), FailureKind::TooBig);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn damaged_archives_are_refused_wherever_they_are_cut() {
    let desk = Desk::new();
    let whole = gzip(&tar(&[file("artifacts/a")]));
    for end in 0..whole.len() {
        let refused = refusal(&desk, desk.take_bytes(&whole[..end]));
        assert!(matches!(refused, Refusal::Truncated | Refusal::NotGzip), "{end}: {refused:?}");
        assert_eq!(refused.failure(), FailureKind::BadOutcome);
    }
    assert_eq!(refusal(&desk, desk.take_bytes(b"PK\x03\x04 not gzip at all")), Refusal::NotGzip);
    assert_eq!(refusal(&desk, desk.take_bytes(&gzip(b"<html>"))), Refusal::Truncated);
    assert_eq!(refusal(&desk, desk.take_bytes(&gzip(&[b'<'; 2048]))), Refusal::NotTar);
    let mut longer = tar(&[]);
    longer.extend(file("artifacts/hidden"));
    assert_eq!(refusal(&desk, desk.take_bytes(&gzip(&longer))), Refusal::TrailingData);
    let mut wrong_sum = whole.clone();
    let at = wrong_sum.len() - 8;
    wrong_sum[at] ^= 1;
    assert_eq!(refusal(&desk, desk.take_bytes(&wrong_sum)), Refusal::NotGzip);
    assert!(desk.take_bytes(&whole).is_ok());
}

#[test]
fn no_change_to_the_bytes_leads_out_of_the_folder_or_to_a_panic() {
    let desk = Desk::new();
    let plain = tar(&[file("artifacts/a")]);
    let change = |length: usize| (0..length, any::<u8>());
    let changes = (change(plain.len()), change(gzip(&plain).len()));
    let mut runner = TestRunner::new(Config::with_cases(300));
    let run = runner.run(&changes, |((at, byte), (at_packed, packed_byte))| {
        let mut bytes = plain.clone();
        bytes[at] = byte;
        let _ = desk.take_bytes(&gzip(&bytes));
        let mut packed = gzip(&plain);
        packed[at_packed] = packed_byte;
        let _ = desk.take_bytes(&packed);
        prop_assert_eq!(desk.list(""), ["host", "repo", "run", "state", "work"]);
        prop_assert_eq!(desk.list("run/tasks"), ["a-test"]);
        Ok(())
    });
    run.unwrap();
}

#[test]
fn something_else_in_the_place_of_the_archive_is_not_read() {
    let desk = Desk::new();
    desk.write("real", gzip(&tar(&[])));
    let place = "state/plugin/tmr/outputs.tar.gz";
    assert_eq!(refusal(&desk, desk.take()), Refusal::NotAFile);
    for make in ["ln -s ../../../real", "mkfifo", "mkdir"] {
        let script = format!("mkdir -p state/plugin/tmr && rm -rf {place} && {make} {place}");
        assert!(desk.run(Cmd::shell(script).cwd(&desk.path(""))).success());
        assert_eq!(refusal(&desk, desk.take()), Refusal::NotAFile, "{make}");
    }
}

#[test]
fn an_outcome_that_breaks_the_contract_is_answered_line_by_line() {
    let desk = Desk::new();
    let rows: [(&[u8], &str, FailureKind); 5] = [
        (b"{\"result\": ", "`outcome.json` is not valid JSON: EOF while", FailureKind::BadOutcome),
        (
            b"{\"result\": \"\xff\"}",
            "`outcome.json` is not valid JSON: invalid unicode",
            FailureKind::BadOutcome,
        ),
        (b"[[[[", "`outcome.json` is not valid JSON", FailureKind::BadOutcome),
        (&[b'['; 1000], "recursion limit exceeded", FailureKind::BadOutcome),
        (&[b' '; 256 * 1024 + 1], "`outcome.json` is too large", FailureKind::TooBig),
    ];
    for (outcome, expected, kind) in rows {
        let refused = refusal(&desk, desk.take_bytes(&with_outcome(outcome)));
        assert!(refused.to_string().contains(expected), "{refused}");
        assert_eq!(refused.failure(), kind);
    }
    let wrong = json!({"result": "done", "summary_markdown": ""}).to_string();
    let refused = refusal(&desk, desk.take_bytes(&with_outcome(wrong.as_bytes())));
    let lines = refused.lines();
    assert_eq!(
        lines[0],
        "`result`: `done` is not one of `clean`, `fixed`, `improved`, `blocked`, `escalated`"
    );
    assert_eq!(lines[1], "`summary_markdown`: is empty");
    assert_eq!(refusal(&desk, desk.take_bytes(&gzip(&[0; 1024]))), Refusal::NoOutcome);
}

#[test]
fn escape_codes_become_visible_and_markup_stays_text() {
    let desk = Desk::new();
    let mut outcome = clean_outcome();
    outcome["summary_markdown"] = json!("a\x1b[2J\u{202e}b\n<script>alert(1)</script>\u{0}");
    let admitted = desk.take_bytes(&with_outcome(outcome.to_string().as_bytes())).unwrap();
    let expected = "a\\x1b[2J\\u{202e}b\n<script>alert(1)</script>\\x00";
    assert_eq!(admitted.outcome.summary_markdown.as_str(), expected);
    let written: Value = serde_json::from_str(&desk.read("run/tasks/a-test/attempt-1/outcome.json")).unwrap();
    assert_eq!(written["summary_markdown"], expected);
}

/// What the tool would never pack.
fn take_bundle(desk: &Desk, outcome: &Value, bundle: &[u8]) -> Result<Admitted, IntakeError> {
    let outcome = entry("outcome.json", b'0', outcome.to_string().as_bytes());
    desk.take_bytes(&gzip(&[outcome, entry("branch.bundle", b'0', bundle), vec![0; 1024]].concat()))
}

fn bundle(desk: &Desk, folder: &str, revisions: &[&str]) -> Vec<u8> {
    let path = desk.path("made.bundle");
    let args = [&["bundle", "create", "--quiet", path.as_str()], revisions].concat();
    desk.git_in(folder, &args);
    desk.files().read(&path).unwrap()
}

#[test]
fn commits_come_in_and_the_users_repository_stays_as_it_was() {
    let desk = Desk::new();
    let tip = desk.commit("[FIX_IMPL] repair");
    let range = format!("main..{BRANCH}");
    let bytes = bundle(&desk, "work", &[&range]);
    let before = desk.git(&["for-each-ref"]);
    let admitted = take_bundle(&desk, &fixed_outcome("FIX_IMPL"), &bytes).unwrap();
    assert_eq!(admitted.commits.iter().map(|commit| &*commit.oid).collect::<Vec<_>>(), [&*tip]);
    assert_eq!(desk.list("run/tasks/a-test/attempt-1"), ["branch.bundle", "outcome.json"]);
    assert_eq!(desk.git(&["for-each-ref"]), before);
    assert!(!desk.files().exists(&desk.path("repo/.git/FETCH_HEAD")).unwrap());
}

#[test]
fn a_bundle_holds_the_agents_branch_on_the_base_and_nothing_else() {
    let desk = Desk::new();
    desk.commit("[FIX_IMPL] repair");
    let range = format!("main..{BRANCH}");
    desk.git(&["branch", "evil", BRANCH]);
    let outcome = fixed_outcome("FIX_IMPL");

    let extra = bundle(&desk, "work", &[&range, "evil"]);
    let refused = refusal(&desk, take_bundle(&desk, &outcome, &extra)).to_string();
    assert!(
        refused.contains("and nothing else, it holds refs/heads/") && refused.contains("evil"),
        "{refused}"
    );
    let other = bundle(&desk, "work", &["main..evil"]);
    assert!(matches!(refusal(&desk, take_bundle(&desk, &outcome, &other)), Refusal::Refs { .. }));
    // All of history, so that nothing is needed beforehand.
    let whole = bundle(&desk, "work", &[BRANCH]);
    assert!(matches!(refusal(&desk, take_bundle(&desk, &outcome, &whole)), Refusal::Base { .. }));

    // A history of its own under the right name, first honestly, then with the base written into the header.
    desk.files().make_folder(&desk.path("foreign")).unwrap();
    desk.git_in("foreign", &["init", "--quiet", &format!("--initial-branch={BRANCH}")]);
    desk.git_in("foreign", &["commit", "--quiet", "--allow-empty", "-m", "[FIX_IMPL] foreign"]);
    let foreign = bundle(&desk, "foreign", &[BRANCH]);
    assert!(matches!(refusal(&desk, take_bundle(&desk, &outcome, &foreign)), Refusal::Base { .. }));
    let first_line = foreign.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let prerequisite = format!("-{} forged\n", desk.base);
    let forged = [&foreign[..first_line], prerequisite.as_bytes(), &foreign[first_line..]].concat();
    let refused = refusal(&desk, take_bundle(&desk, &outcome, &forged));
    assert!(matches!(refused, Refusal::NotLinear { .. }), "{refused:?}");
    assert_eq!(refused.failure(), FailureKind::HostileArchive);
}

#[test]
fn history_that_is_not_a_line_or_too_long_is_refused() {
    let desk = Desk::with_limits(Limits { commits: 2, ..Limits::default() });
    desk.commit("[FIX_IMPL] one");
    desk.git_in("work", &["checkout", "--quiet", "-b", "side", "main"]);
    desk.git_in("work", &["commit", "--quiet", "--allow-empty", "-m", "[FIX_IMPL] side"]);
    desk.git_in("work", &["checkout", "--quiet", BRANCH]);
    desk.git_in("work", &["merge", "--quiet", "--no-edit", "side"]);
    let range = format!("main..{BRANCH}");
    let merged = bundle(&desk, "work", &[&range]);
    let outcome = fixed_outcome("FIX_IMPL");
    assert!(matches!(refusal(&desk, take_bundle(&desk, &outcome, &merged)), Refusal::NotLinear { .. }));
    desk.commit("[FIX_IMPL] three");
    let long = bundle(&desk, "work", &[&range]);
    assert_eq!(refusal(&desk, take_bundle(&desk, &outcome, &long)).failure(), FailureKind::TooBig);
}

#[test]
fn objects_that_unpack_to_too_much_never_reach_git() {
    let limits = Limits { object_bytes: 1024 * 1024, bundle_objects: 5, ..Limits::default() };
    let desk = Desk::with_limits(limits);
    let range = format!("main..{BRANCH}");
    desk.write("work/zeros", vec![0; 2 * 1024 * 1024]);
    desk.git_in("work", &["add", "zeros"]);
    desk.commit("[FIX_IMPL] large");
    let large = bundle(&desk, "work", &[&range]);
    assert!(large.len() < 20_000);
    let outcome = fixed_outcome("FIX_IMPL");
    let refused = refusal(&desk, take_bundle(&desk, &outcome, &large)).to_string();
    assert!(refused.contains("a file in the commits is too large: at most 1048576 bytes"), "{refused}");

    desk.git_in("work", &["reset", "--quiet", "--hard", "main"]);
    for index in 0..3 {
        desk.write(&format!("work/{index}"), index.to_string());
    }
    desk.git_in("work", &["add", "--all"]);
    desk.commit("[FIX_IMPL] many");
    let many = bundle(&desk, "work", &[&range]);
    let refused = refusal(&desk, take_bundle(&desk, &outcome, &many)).to_string();
    assert!(refused.contains("the number of objects in the bundle is too large: at most 5"), "{refused}");
}

#[test]
fn the_size_a_delta_makes_counts() {
    let mut desk = Desk::with_limits(Limits { object_bytes: 100_000, ..Limits::default() });
    let noise: Vec<u8> = (0_u64..150_000).map(|index| (index * index % 251) as u8).collect();
    desk.write("repo/noise", &noise);
    desk.git(&["add", "--all"]);
    desk.git(&["commit", "--quiet", "-m", "noise"]);
    desk.base = desk.git(&["rev-parse", "HEAD"]);
    desk.git_in("work", &["reset", "--quiet", "--hard", "main"]);
    desk.write("work/noise", [&noise[..], b"and more"].concat());
    desk.commit("[FIX_IMPL] longer");
    let bytes = bundle(&desk, "work", &[&format!("main..{BRANCH}")]);
    assert!(bytes.len() < 5_000, "{}", bytes.len());
    let refused = refusal(&desk, take_bundle(&desk, &fixed_outcome("FIX_IMPL"), &bytes)).to_string();
    assert!(refused.contains("a file in the commits is too large"), "{refused}");
}

#[test]
fn damaged_bundles_are_refused_wherever_they_are_cut_or_changed() {
    let desk = Desk::new();
    desk.commit("[FIX_IMPL] repair");
    let whole = bundle(&desk, "work", &[&format!("main..{BRANCH}")]);
    let outcome = fixed_outcome("FIX_IMPL");
    for end in (0..whole.len()).step_by(7) {
        let refused = refusal(&desk, take_bundle(&desk, &outcome, &whole[..end]));
        assert!(matches!(refused, Refusal::Bundle { .. }), "{end}: {refused:?}");
    }
    let longer = [&whole[..], b"more"].concat();
    assert!(matches!(refusal(&desk, take_bundle(&desk, &outcome, &longer)), Refusal::Bundle { .. }));
    for at in (whole.len() / 2..whole.len()).step_by(11) {
        let mut changed = whole.clone();
        changed[at] ^= 0x15;
        refusal(&desk, take_bundle(&desk, &outcome, &changed));
    }
}

#[test]
fn commits_and_outcome_must_speak_of_the_same_changes() {
    let desk = Desk::new();
    let range = format!("main..{BRANCH}");
    let missing =
        refusal(&desk, desk.take_bytes(&with_outcome(fixed_outcome("FIX_TEST").to_string().as_bytes())));
    assert_eq!(missing, Refusal::Uncommitted { kind: "FIX_TEST" });
    desk.commit("[FIX_IMPL] repair");
    let bytes = bundle(&desk, "work", &[&range]);
    let refused = refusal(&desk, take_bundle(&desk, &fixed_outcome("FIX_TEST"), &bytes));
    assert!(matches!(refused, Refusal::Undeclared { kind: "FIX_IMPL", .. }), "{refused:?}");
    desk.commit("repair \x1b[31m");
    let bytes = bundle(&desk, "work", &[&range]);
    let refused = refusal(&desk, take_bundle(&desk, &fixed_outcome("FIX_IMPL"), &bytes)).to_string();
    assert!(refused.contains("kind in brackets, found `repair \\u{1b}[31m`"), "{refused}");
}

#[test]
fn everything_that_the_commits_may_not_change_is_told_at_once() {
    let mut desk = Desk::with_rules();
    let test = "def test_a():\n    \"\"\"One is one.\"\"\"\n    assert 1 == 1\n";
    desk.write("repo/tests/test_a.py", test);
    desk.write("repo/tests/b.sh", "# B is B.\ntrue\n");
    desk.git(&["add", "--all"]);
    desk.git(&["commit", "--quiet", "-m", "tests"]);
    desk.base = desk.git(&["rev-parse", "HEAD"]);
    desk.git_in("work", &["reset", "--quiet", "--hard", "main"]);
    desk.write("work/tests/test_a.py", test.replace("One is one", "\u{1b}One is 1"));
    desk.write("work/tests/b.sh", "true # t.Skip()\n");
    desk.commit("[IMPROVE_TEST] better");
    let outcome = fixed_outcome("IMPROVE_TEST");
    let range = format!("main..{BRANCH}");
    let refused = refusal(&desk, take_bundle(&desk, &outcome, &bundle(&desk, "work", &[&range])));
    assert_eq!(refused.failure(), FailureKind::Contract);
    assert_eq!(
        refused.lines(),
        [
            "the commit `[IMPROVE_TEST] better` also changes the implementation: `program`",
            "`tests/b.sh` breaks the rule `escape_marks` in line 1: `true # t.Skip()`",
            "`tests/b.sh` breaks the rule `leading comments` in line 1: `B is B.`",
            "`tests/test_a.py` breaks the rule `doc strings` in line 2: `One is one.`",
        ]
    );

    desk.git_in("work", &["reset", "--quiet", "--hard", "main"]);
    desk.write("work/tests/test_a.py", test.replace("1 == 1", "2 - 1 == 1"));
    desk.git_in("work", &["commit", "--quiet", "--all", "-m", "[IMPROVE_TEST] better"]);
    let admitted = take_bundle(&desk, &outcome, &bundle(&desk, "work", &[&range])).unwrap();
    assert_eq!(admitted.commits.len(), 1);
}
