//! The readers on lines that the real programs wrote.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use mngr_host::files::{Access, Durability, Files};
use mngr_host::glance::Glance;
use mngr_host::host::Host;
use mngr_host::local::{LocalFiles, LocalHost};
use mngr_host::proc::Cmd;
use mngr_model::HostPath;
use proptest::prelude::*;

use super::*;

const CLAUDE: &str = include_str!("../../tests/fixtures/transcript/claude.jsonl");
const CODEX: &str = include_str!("../../tests/fixtures/transcript/codex.jsonl");
const OPENCODE: &str = include_str!("../../tests/fixtures/transcript/opencode.jsonl");

fn sample(brand: Brand) -> &'static str {
    match brand {
        Brand::Claude => CLAUDE,
        Brand::Codex => CODEX,
        Brand::Opencode => OPENCODE,
    }
}

fn read(brand: Brand, text: &str) -> Vec<Entry> {
    Reader::new(brand).feed(text.as_bytes())
}

fn records(entries: &[Entry]) -> Vec<&Record> {
    let mut found = Vec::new();
    for entry in entries {
        if let Entry::Said(record) = entry {
            found.push(record);
        }
    }
    found
}

/// Every record in a few words.
fn told(entries: &[Entry]) -> Vec<String> {
    let line = |record: &&Record| match &record.body {
        Body::UserMessage { content, .. } => format!("user: {content}"),
        Body::AssistantMessage { text, tool_calls, .. } => {
            let calls: String =
                tool_calls.iter().map(|c| format!("-> {}({})", c.tool_name, c.input_preview)).collect();
            format!("assistant: {text}{calls}")
        }
        Body::ToolResult { tool_name, output, is_error, .. } => {
            let first = output.lines().next().unwrap_or_default();
            let shown: String = first.chars().take(40).collect();
            format!(
                "tool {}: {shown}{}",
                tool_name.as_deref().unwrap_or("?"),
                if *is_error { " !" } else { "" }
            )
        }
        Body::ProgramMessage { kind, content, .. } => {
            let shown: String = content.chars().take(40).collect();
            format!("program {}: {}", kind.words(), shown.replace('\n', " "))
        }
    };
    records(entries).iter().filter(|record| !record.is_context()).map(line).collect()
}

#[test]
fn a_session_of_claude_reads_as_it_was_held() {
    let entries = read(Brand::Claude, CLAUDE);
    assert_eq!(
        told(&entries),
        [
            "user: hello there",
            "assistant: You said: hello there",
            "user: wait five seconds",
            "assistant: Let me see.",
            r#"assistant: -> Bash({"command":"sleep 5","description":"Runs a command of the test"})"#,
            "tool Bash: (Bash completed with no output)",
            "user: sent while a tool runs",
            "assistant: You said: sent while a tool runs",
            "tool ?: The user doesn't want to proceed with th !",
            "program notification: [Request interrupted by user for tool us",
            "assistant: Please run /login · API Error: 401 The API key is not valid.",
        ]
    );
    let first = serde_json::to_value(records(&entries)[1]).unwrap();
    assert_eq!(first["type"], "assistant_message");
    assert_eq!(first["source"], "claude/common_transcript");
    assert_eq!(first["finish_reason"], "end_turn");
    assert_eq!(first["usage"]["cache_read_tokens"], 3000);
    assert_eq!(first["parts"][0]["type"], "text");
    assert!(first.get("is_sidechain").is_none());
}

/// A line of Claude Code with this message to the model.
fn told_claude(content: serde_json::Value, more: serde_json::Value) -> String {
    let mut line = serde_json::json!({
        "type": "user", "uuid": "u", "sessionId": "s", "message": { "role": "user", "content": content },
    });
    for (key, value) in more.as_object().unwrap() {
        line[key] = value.clone();
    }
    format!("{line}\n")
}

#[test]
fn what_claude_puts_into_the_users_mouth_is_the_programs() {
    use serde_json::json;
    let human = json!({ "origin": { "kind": "human" } });
    let notice = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";
    let cases = [
        (json!("plain"), human.clone(), "user: plain"),
        (
            json!("<system-reminder>mine</system-reminder>"),
            human.clone(),
            "user: <system-reminder>mine</system-reminder>",
        ),
        (
            json!("<command-name>/compact</command-name>\n<command-args></command-args>"),
            human,
            "program command: /compact",
        ),
        (
            json!("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"),
            json!({}),
            "program output of a command: a</bash-stdout><bash-stderr>",
        ),
        (
            json!(notice),
            json!({ "origin": { "kind": "task-notification" } }),
            "program notification: <task-notification> <task-id>b1</task-id",
        ),
        (json!(notice), json!({}), "program notification: <task-notification> <task-id>b1</task-id"),
        (json!("from a peer"), json!({ "origin": { "kind": "peer" } }), "program notification: from a peer"),
        (
            json!("This session goes on"),
            json!({ "isCompactSummary": true, "origin": { "kind": "human" } }),
            "program summary: This session goes on",
        ),
    ];
    for (content, more, wanted) in cases {
        assert_eq!(told(&read(Brand::Claude, &told_claude(content.clone(), more))), [wanted], "{content}");
    }
    let meta = told_claude(json!("Caveat: ..."), json!({ "isMeta": true }));
    assert!(records(&read(Brand::Claude, &meta))[0].is_context());
    let mixed = json!([
        { "type": "text", "text": "look at this" },
        { "type": "text", "text": "<system-reminder>be brief</system-reminder>" },
        { "type": "text", "text": "please" },
    ]);
    let entries = read(Brand::Claude, &told_claude(mixed, json!({})));
    assert_eq!(told(&entries), ["user: look at this\nplease"]);
    assert!(records(&entries).iter().any(|record| record.is_context()));
}

#[test]
fn what_an_agent_adopted_was_spent_by_somebody_else() {
    let state = State::new();
    let path = state.root().join("plugin/claude/anthropic/projects/-w/s.jsonl");
    let put = |text: &str| {
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
    };
    put(CLAUDE);
    crate::conversation::note_adopted(&LocalFiles, &state.root(), Brand::Claude).unwrap();
    let mut log = NativeLog::new(Brand::Claude, state.root(), Scope::Everything);
    let spent = |entries: &[Entry]| entries.iter().filter(|entry| matches!(entry, Entry::Spent(_))).count();
    let entries = log.read_more(&LocalFiles).unwrap();
    assert_eq!((spent(&entries), records(&entries).len()), (0, 11), "it is read, and not counted");
    // A resumed conversation may repeat what was said before, and goes on.
    let more = CLAUDE.replace("\"id\":\"msg_000015\"", "\"id\":\"msg_new\"");
    put(&format!("{CLAUDE}{more}"));
    let again = log.read_more(&LocalFiles).unwrap();
    assert_eq!(spent(&again), 2, "two lines of the one new answer");
}

#[test]
fn a_thread_of_codex_reads_as_it_was_held() {
    assert_eq!(
        told(&read(Brand::Codex, CODEX)),
        [
            "user: hello there",
            "assistant: You said: hello there",
            "user: wait five seconds",
            "assistant: Let me see.",
            r#"assistant: -> exec_command({"cmd":"sleep 5"})"#,
            "tool exec_command: Chunk ID: cd9a30",
            "user: sent while a tool runs",
            "assistant: You said: sent while a tool runs",
            "tool ?: Wall time: 1.2 seconds",
            "program notification: <turn_aborted> The user interrupted the ",
        ]
    );
}

#[test]
fn the_events_of_opencode_read_as_the_conversation_was_held() {
    let told = told(&read(Brand::Opencode, OPENCODE));
    assert_eq!(
        told[..7],
        [
            "user: hello world",
            "assistant: You said: hello world",
            "user: [[tool]]",
            r#"assistant: -> bash({"command":"touch made-by-the-model","description":"Runs a command of the test"})"#,
            "assistant: Let me see.",
            "tool bash: (no output)",
            "assistant: The tool said: (no output)",
        ]
    );
    assert_eq!(told.len(), 10, "a question without an answer has no result: {told:#?}");
}

#[test]
fn what_opencode_sums_up_is_the_programs_and_its_own_cost_is_taken() {
    use serde_json::json;
    let info =
        json!({ "id": "m", "sessionID": "s", "role": "assistant", "mode": "compaction", "modelID": "house" });
    let part = |id: &str, more: serde_json::Value| {
        let mut part = json!({ "id": id, "messageID": "m", "sessionID": "s" });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "type": "message.part.updated", "properties": { "part": part } })
    };
    let tokens = json!({ "input": 10, "output": 4, "reasoning": 0, "cache": { "write": 0, "read": 100 } });
    let lines = [
        json!({ "type": "message.updated", "properties": { "info": info } }),
        part("t", json!({ "type": "text", "text": "so far", "time": { "start": 1, "end": 2 } })),
        part("f", json!({ "type": "step-finish", "cost": 6.8e-5, "tokens": tokens })),
        part("g", json!({ "type": "step-finish", "cost": 0, "tokens": tokens })),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let entries = read(Brand::Opencode, &text);
    assert_eq!(told(&entries), ["program summary: so far"]);
    let mut costs = Vec::new();
    for entry in &entries {
        if let Entry::Spent(spend) = entry {
            costs.push(spend.cost);
        }
    }
    assert_eq!(costs, [Some(6.8e-5), None], "nothing is said where it knows no price");
}

#[test]
fn an_answer_counts_once_however_often_it_is_written() {
    let samples = [(Brand::Claude, 3, 9675), (Brand::Codex, 4, 12_059), (Brand::Opencode, 3, 9043)];
    for (brand, answers, total) in samples {
        let mut written = 0;
        let mut spends = std::collections::BTreeMap::new();
        for entry in read(brand, sample(brand)) {
            if let Entry::Spent(spend) = entry {
                written += 1;
                spends.insert(spend.key.clone(), spend);
            }
        }
        assert_eq!(spends.len(), answers, "{brand:?}: {spends:#?}");
        assert!(brand == Brand::Opencode || written > answers, "{brand:?} repeats itself in the sample");
        assert_eq!(spends.values().map(|spend| spend.tokens.total()).sum::<u64>(), total, "{brand:?}");
        assert!(spends.values().all(|spend| spend.model.is_some()), "{spends:#?}");
    }
}

#[test]
fn an_answer_at_another_speed_does_not_pass_for_one_at_the_usual_price() {
    let fast = CLAUDE.replace("\"speed\":\"standard\"", "\"speed\":\"fast\"");
    for entry in read(Brand::Claude, &fast) {
        if let Entry::Spent(spend) = entry {
            assert_eq!(spend.model.as_deref(), Some("claude-sonnet-4-5-20250929 (fast)"));
        }
    }
}

#[test]
fn what_codex_read_from_the_cache_is_not_counted_as_fresh_input() {
    let entries = read(Brand::Codex, CODEX);
    let Some(Entry::Spent(spend)) = entries.iter().find(|entry| matches!(entry, Entry::Spent(_))) else {
        panic!("no spend in {entries:?}")
    };
    assert_eq!(
        (spend.tokens.input_tokens, spend.tokens.cache_read_tokens, spend.tokens.total()),
        (10, 3000, 3014)
    );
}

#[test]
fn a_damaged_line_is_told_and_passed_over_and_a_half_written_one_is_not_there_yet() {
    for brand in Brand::ALL {
        let whole = sample(brand);
        let (first, rest) = whole.split_once('\n').unwrap();
        let damaged = format!("{first}\n{{\"type\":\"us\u{0}\n\n[1]\n{rest}");
        let entries = read(brand, &damaged);
        let lines: Vec<&Entry> = entries.iter().filter(|e| matches!(e, Entry::Damaged { .. })).collect();
        assert_eq!(lines, [&Entry::Damaged { line: 2 }, &Entry::Damaged { line: 4 }]);
        assert_eq!(records(&entries), records(&read(brand, whole)));
        let half = &whole[..whole.len() - 20];
        assert!(read(brand, half).iter().all(|entry| !matches!(entry, Entry::Damaged { .. })));
    }
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_entries(cuts in prop::collection::vec(0_usize..30_000, 0..20)) {
        for brand in Brand::ALL {
            let bytes = sample(brand).as_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut reader = Reader::new(brand);
            let pieces = cuts.windows(2).flat_map(|pair| reader.feed(&bytes[pair[0]..pair[1]])).collect::<Vec<_>>();
            prop_assert_eq!(pieces, read(brand, sample(brand)));
        }
    }

    #[test]
    fn no_bytes_at_all_make_a_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..400), from in 0_usize..9_000) {
        for brand in Brand::ALL {
            let sample = sample(brand).as_bytes();
            let mut reader = Reader::new(brand);
            reader.feed(&sample[from.min(sample.len())..]);
            reader.feed(&bytes);
            reader.feed(b"\n");
        }
    }
}

struct State {
    dir: tempfile::TempDir,
}

impl State {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> HostPath {
        HostPath::new(self.dir.path().to_str().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
    }

    fn log(&self, brand: Brand, scope: Scope) -> NativeLog {
        NativeLog::new(brand, self.root(), scope)
    }
}

#[test]
fn a_growing_file_is_told_bit_by_bit_and_never_twice() {
    let state = State::new();
    let path = "plugin/codex/home/sessions/2026/11/15/rollout-2026-11-15T12-12-17-x.jsonl";
    let mut log = state.log(Brand::Codex, Scope::Conversation);
    assert_eq!(log.read_more(&LocalFiles).unwrap(), []);
    let half = CODEX.len() / 2;
    state.write(path, &CODEX[..half]);
    let mut all = log.read_more(&LocalFiles).unwrap();
    state.write(path, CODEX);
    all.extend(log.read_more(&LocalFiles).unwrap());
    assert_eq!(told(&all), told(&read(Brand::Codex, CODEX)));
    assert_eq!(log.read_more(&LocalFiles).unwrap(), []);
    state.write(path, &CODEX[..half]);
    assert_eq!(told(&log.read_more(&LocalFiles).unwrap()), [""; 0], "cut off, it only repeats itself");
}

#[test]
fn the_history_says_which_sessions_are_the_agents_own() {
    let state = State::new();
    let folder = "plugin/claude/anthropic/projects/-home-me-project";
    let other = CLAUDE.replace("hello there", "hello from a script").replace("\"uuid\":\"", "\"uuid\":\"x");
    let side = CLAUDE
        .replace("\"isSidechain\":false", "\"isSidechain\":true")
        .replace("\"uuid\":\"", "\"uuid\":\"s");
    state.write(&format!("{folder}/one.jsonl"), CLAUDE);
    state.write(&format!("{folder}/other.jsonl"), &other);
    state.write(&format!("{folder}/one/subagents/agent-1.jsonl"), &side);
    let count = |scope| told(&state.log(Brand::Claude, scope).read_more(&LocalFiles).unwrap()).len();
    let one = told(&read(Brand::Claude, CLAUDE)).len();
    assert_eq!(count(Scope::Conversation), 3 * one, "without a history everything is the agent's");
    state.write("claude_session_id_history", "gone\none\n");
    assert_eq!(count(Scope::Conversation), 2 * one);
    assert_eq!(count(Scope::Everything), 3 * one);
    let entries = state.log(Brand::Claude, Scope::Conversation).read_more(&LocalFiles).unwrap();
    assert_eq!(records(&entries).iter().filter(|record| record.is_sidechain).count(), one);
}

#[test]
fn a_resumed_session_that_repeats_its_beginning_is_told_once() {
    let state = State::new();
    let folder = "plugin/claude/anthropic/projects/-home-me-project";
    state.write(&format!("{folder}/one.jsonl"), CLAUDE);
    state.write(&format!("{folder}/two.jsonl"), CLAUDE);
    let entries = state.log(Brand::Claude, Scope::Conversation).read_more(&LocalFiles).unwrap();
    assert_eq!(told(&entries), told(&read(Brand::Claude, CLAUDE)));
}

#[test]
fn a_thread_that_the_user_did_not_begin_is_a_side_conversation() {
    let side = CODEX.replace("\"thread_source\":\"user\"", "\"thread_source\":\"subagent\"");
    assert!(records(&read(Brand::Codex, &side)).iter().all(|record| record.is_sidechain));
    assert!(records(&read(Brand::Codex, CODEX)).iter().all(|record| !record.is_sidechain));
}

#[test]
fn a_pipe_where_a_file_is_expected_holds_nobody() {
    let state = State::new();
    state.write("plugin/opencode/here", "");
    let host = LocalHost::open(state.root()).unwrap();
    for path in ["claude_session_id_history", "plugin/opencode/transcript.jsonl"] {
        let path = state.root().join(path);
        assert!(host.exec(&Cmd::new("mkfifo").args([path.as_str()])).unwrap().success());
    }
    for brand in [Brand::Claude, Brand::Opencode] {
        assert_eq!(state.log(brand, Scope::Everything).read_more(&LocalFiles).unwrap(), []);
    }
}

#[test]
fn a_brand_is_known_by_its_type_or_by_what_it_left() {
    assert_eq!(Brand::of_type("headless_codex"), Some(Brand::Codex));
    assert_eq!(Brand::of_type("command"), None);
    let state = State::new();
    assert_eq!(Brand::of_state(&Glance::at(&LocalFiles, &[]).unwrap(), &state.root()).unwrap(), None);
    state.write("plugin/opencode/transcript.jsonl", "");
    assert_eq!(
        Brand::of_state(&Glance::at(&LocalFiles, &[]).unwrap(), &state.root()).unwrap(),
        Some(Brand::Opencode)
    );
}

#[test]
fn a_record_that_is_written_late_is_waited_for_while_the_agent_has_just_been_active() {
    let dir = tempfile::tempdir().unwrap();
    let state = HostPath::new(dir.path().to_str().unwrap());
    let activity = state.join("activity/agent");
    LocalFiles.make_folder(&activity.parent().unwrap()).unwrap();
    let settling = |brand: Brand, age: SignedDuration| {
        LocalFiles.write(&activity, b"", Access::Private, Durability::Cached).unwrap();
        let active = LocalFiles.stat(&activity).unwrap().unwrap().modified.unwrap();
        let log = NativeLog::new(brand, state.clone(), Scope::Conversation);
        let started = Instant::now();
        log.settle(&LocalFiles, active + age).unwrap();
        started.elapsed()
    };
    let lag = Brand::Claude.lag();
    assert!(settling(Brand::Claude, SignedDuration::ZERO) >= lag);
    assert!(settling(Brand::Claude, SignedDuration::from_hours(-1)) >= lag, "its host's clock is ahead");
    assert!(settling(Brand::Claude, SignedDuration::from_secs(1)) < lag);
    assert!(settling(Brand::Codex, SignedDuration::ZERO) < lag);
    LocalFiles.remove_tree(&activity).unwrap();
    NativeLog::new(Brand::Claude, state, Scope::Conversation).settle(&LocalFiles, Timestamp::MIN).unwrap();
}
