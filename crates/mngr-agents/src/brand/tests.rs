//! What a host finds by itself at boot is what mngr would have found: the words that go on with a conversation.

use crate::brand::{Brand, is_bare_slash, is_odd_name, is_slash_command};
use crate::manifest::BuiltIn;
use mngr_host::files::{Access, Durability};
use mngr_host::host::Host;
use mngr_host::local::LocalHost;
use mngr_host::proc::Cmd;
use mngr_model::layout::AgentLayout;
use mngr_model::{AgentRecord, HostPath};
use serde_json::json;

struct World {
    host: LocalHost,
    agent: AgentLayout,
    record: AgentRecord,
    _dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().join("it's $HOME").to_str().unwrap());
        let host = LocalHost::open(root).unwrap();
        let id = mngr_host::random::agent_id();
        let agent = host.layout().agent(&id);
        let record = serde_json::from_value(json!({
            "id": id, "name": "a", "type": "claude", "work_dir": "/some/where", "command": "x",
            "create_time": "2026-01-01T00:00:00Z",
        }));
        Self { host, agent, record: record.unwrap(), _dir: dir }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.agent.root().join(path);
        self.host.files().make_folder(&path.parent().unwrap()).unwrap();
        self.host.files().write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
    }

    /// The words, which both ways of finding them agree on.
    #[track_caller]
    fn words(&self, brand: &dyn Brand) -> Vec<String> {
        let found = brand.conversation_words(&self.host, &self.agent, &self.record).unwrap();
        let script = brand.conversation_at_boot(&self.agent, &self.record);
        for shell in [&["dash"][..], &["bash"], &["busybox", "sh"]] {
            let print = format!("set --\n{script}for word; do printf '%s\\n' \"$word\"; done\n");
            let cmd = Cmd::from_words(shell.iter().copied()).arg("-c").arg(print);
            let output = self.host.exec(&cmd).unwrap();
            let lines = output.stdout_text();
            assert_eq!(lines.lines().collect::<Vec<_>>(), found, "{shell:?} {}", output.stderr_text());
        }
        found
    }
}

const THREAD: &str = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000";

#[test]
fn claude_goes_on_with_the_session_it_was_in() {
    let world = World::new();
    let brand = BuiltIn::Claude.brand().unwrap();
    let first = world.words(brand);
    assert_eq!(first[0], "--session-id");
    let projects = "plugin/claude/anthropic/projects/-some-where";
    world.write(&format!("{projects}/{}.jsonl", first[1]), "{}");
    assert_eq!(world.words(brand), ["--resume", &first[1]]);
    world.write("claude_session_id", &format!("{THREAD}\n"));
    assert_eq!(world.words(brand), ["--session-id", THREAD]);
    world.write(&format!("{projects}/{THREAD}.jsonl"), "{}");
    assert_eq!(world.words(brand), ["--resume", THREAD]);
    world.write("claude_session_id", "$(touch pwned) of thirty-six characters\n");
    assert_eq!(world.words(brand), ["--resume", &first[1]]);
}

#[test]
fn codex_goes_on_with_a_thread_that_it_has_a_record_of() {
    let world = World::new();
    let brand = BuiltIn::Codex.brand().unwrap();
    assert!(world.words(brand).is_empty());
    world.write("plugin/codex/thread", THREAD);
    assert!(world.words(brand).is_empty());
    world.write("plugin/codex/rollout", "{}");
    assert_eq!(world.words(brand), ["resume", THREAD]);
    world.write("plugin/codex/thread", "--dangerous");
    assert!(world.words(brand).is_empty());
}

#[test]
fn opencode_goes_on_with_a_session_that_it_has_a_store_of() {
    let world = World::new();
    let brand = BuiltIn::Opencode.brand().unwrap();
    world.write("plugin/opencode/session", "ses_1aB\n");
    assert!(world.words(brand).is_empty());
    world.write("plugin/opencode/opencode.db", "");
    assert_eq!(world.words(brand), ["--session", "ses_1aB"]);
    world.write("plugin/opencode/session", "ses_1;id");
    assert!(world.words(brand).is_empty());
}

#[test]
fn a_slash_without_a_name_is_no_command_and_a_name_begins_with_a_letter() {
    for bare in ["/", "/ ", "/ x", "/\nx"] {
        assert!(is_bare_slash(bare) && !is_slash_command(bare), "{bare:?}");
    }
    for odd in ["/1st thing", "/_x", "/\u{fc}ber", "/?"] {
        assert!(is_odd_name(odd) && !is_bare_slash(odd), "{odd:?}");
    }
    for named in ["/compact", "/a:b c", "/foo.bar"] {
        assert!(is_slash_command(named) && !is_odd_name(named), "{named:?}");
    }
    assert!(!is_slash_command("/usr/bin") && !is_odd_name("//x") && !is_bare_slash("x"));
}
