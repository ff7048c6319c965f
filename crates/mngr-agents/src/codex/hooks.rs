//! mngr's hooks beside the user's, and Codex's trust in them.
//!
//! Codex runs a hook only when its configuration names the hash of what was agreed to. mngr vouches for its own hooks
//! alone; those of the user and of the repository are trusted in the agent's folders exactly as they are in theirs.
//! Should Codex ever hash differently, it asks, and the agent is reported as not ready: it fails safe.

use mngr_model::HostPath;
use mngr_model::quote::sh_quote;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toml::Table;

use crate::json::{edit_object, push};

/// Events mngr listens to. The end of a turn is not among them: its record tells
/// of it as soon, and Codex never answers a message that is submitted while hooks of the end run.
const EVENTS: [Event; 6] = [
    Event { name: "SessionStart", key: "session_start", matcher: None },
    Event { name: "UserPromptSubmit", key: "user_prompt_submit", matcher: None },
    Event { name: "PreToolUse", key: "pre_tool_use", matcher: None },
    // The turn goes on only when the hook is done: a sub-agent is known before the turn that began it can end.
    Event { name: "PostToolUse", key: "post_tool_use", matcher: Some(".*spawn_agent") },
    Event { name: "PermissionRequest", key: "permission_request", matcher: None },
    Event { name: "Interrupt", key: "interrupt", matcher: None },
];

/// An event mngr listens to.
struct Event {
    name: &'static str,
    /// What Codex calls it in its keys.
    key: &'static str,
    /// The tools it is about; all of them where none are named.
    matcher: Option<&'static str>,
}

/// The most Codex grants every one of these events; a longer time would be cut, and the hash be of the cut one.
const TIMEOUT_SECONDS: u64 = 3;

/// How permissions are dealt with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Permissions {
    /// The user is asked.
    Ask,
    /// Everything is allowed (`auto_allow_permissions`).
    Allow,
    /// This program says of every use of a tool whether the agent's permission set covers it.
    Judged(String),
}

/// Whether Codex asks questions also outside of plan mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Questions {
    /// Only in plan mode.
    InPlanMode,
    /// In every mode (its feature `default_mode_request_user_input`).
    Always,
}

/// Adds mngr's hooks to `hooks.json`, which will lie at `file`, and trust in them to `[hooks.state]`.
pub(super) fn add(
    all: &mut Map<String, Value>,
    state: &mut Table,
    file: &HostPath,
    script: &HostPath,
    permissions: &Permissions,
    questions: Questions,
) {
    edit_object(all, "hooks", |hooks| {
        for Event { name: event, key, matcher } in EVENTS {
            let answer = match (event, permissions, questions) {
                ("PermissionRequest", Permissions::Allow, _) => " allow".to_owned(),
                ("PreToolUse", Permissions::Judged(judge), questions) => {
                    let asks = if questions == Questions::Always { "asks" } else { "-" };
                    format!(" {asks} permit {}", sh_quote(judge))
                }
                ("PreToolUse", _, Questions::Always) => " asks".to_owned(),
                _ => String::new(),
            };
            // `exec`: the script looks for Codex right above itself.
            let command = format!("exec sh {} {event}{answer}", sh_quote(script.as_str()));
            let handler = json!({ "type": "command", "command": command, "timeout": TIMEOUT_SECONDS });
            let before = hooks.get(event).and_then(Value::as_array).map_or(0, Vec::len);
            let mut group = json!({ "hooks": [handler] });
            if let Some(matcher) = matcher {
                group["matcher"] = matcher.into();
            }
            push(hooks, event, group);
            let mut trust = Table::new();
            trust.insert("trusted_hash".to_owned(), hash(key, matcher, &command).into());
            state.insert(format!("{file}:{key}:{before}:0"), trust.into());
        }
    });
}

/// What Codex calls the hash of a hook: of its canonical JSON, keys sorted, no spaces.
fn hash(event_key: &str, matcher: Option<&str>, command: &str) -> String {
    let handler =
        json!({ "type": "command", "command": command, "timeout": TIMEOUT_SECONDS, "async": false });
    let mut identity = json!({ "event_name": event_key, "hooks": [handler] });
    if let Some(matcher) = matcher {
        identity["matcher"] = matcher.into();
    }
    let identity = sorted(&identity);
    let hex: String = Sha256::digest(identity).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// JSON with the keys of every object in order, whatever order this build of the library keeps.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), sorted(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// Trust in the hooks of one folder holds for the same hooks in another: the hash is of what they do, not of where
/// they lie.
pub(super) fn carry_trust(state: &mut Table, from: &HostPath, to: &HostPath) {
    let carried: Vec<_> = state
        .iter()
        .filter_map(|(key, trust)| {
            let inside = key.strip_prefix(from.as_str())?.strip_prefix('/')?;
            Some((format!("{to}/{inside}"), trust.clone()))
        })
        .collect();
    for (key, trust) in carried {
        state.entry(key).or_insert(trust);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_codex_computes() {
        // Sorted, compact JSON of the event and its one handler.
        let text = r#"{"event_name":"stop","hooks":[{"async":false,"command":"exec sh 'a \"b\"' Stop","timeout":3,"type":"command"}]}"#;
        let hex: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash("stop", None, r#"exec sh 'a "b"' Stop"#), format!("sha256:{hex}"));
    }

    #[test]
    fn the_users_hooks_keep_their_places_before_ours() {
        let theirs =
            json!({ "hooks": { "Interrupt": [{ "hooks": [{ "type": "command", "command": "theirs" }] }] } });
        let mut all = theirs.as_object().unwrap().clone();
        let mut state = Table::new();
        add(
            &mut all,
            &mut state,
            &HostPath::new("/h/hooks.json"),
            &HostPath::new("/s/hook.sh"),
            &Permissions::Ask,
            Questions::Always,
        );
        assert_eq!(
            all["hooks"]["PreToolUse"][0]["hooks"][0]["command"],
            "exec sh /s/hook.sh PreToolUse asks"
        );
        assert_eq!(all["hooks"]["Interrupt"][0]["hooks"][0]["command"], "theirs");
        assert_eq!(all["hooks"]["Interrupt"][1]["hooks"][0]["command"], "exec sh /s/hook.sh Interrupt");
        assert!(
            state.contains_key("/h/hooks.json:interrupt:1:0")
                && state.contains_key("/h/hooks.json:session_start:0:0")
        );
        assert_eq!(state.len(), EVENTS.len());
    }

    #[test]
    fn trust_moves_with_a_folder_and_only_with_it() {
        let mut state: Table = toml::from_str(
            "[\"/u/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"x\"\n[\"/u/.codexer/h:stop:0:0\"]\n",
        )
        .unwrap();
        carry_trust(&mut state, &HostPath::new("/u/.codex"), &HostPath::new("/a"));
        let keys: Vec<&str> = state.keys().map(String::as_str).collect();
        assert_eq!(keys.len(), 3);
        assert!(keys.contains(&"/a/hooks.json:stop:0:0"), "{keys:?}");
    }
}
