//! Settings of one brand of agent, below `[agent_types.<name>]`, and the values of them that mngr refuses.
//!
//! A key of the Python mngr that means nothing here, or only one thing, stays known: its one value is accepted and every
//! other is refused with the reason when an agent of the type is created.

use toml::Value;

use super::agent_type::AgentTypeSettings;
use crate::declare::choice;
use crate::kind::{Field, Kind, SettingType};

choice! {
    /// Whether an agent program found out of date is updated.
    pub enum UpdatePolicy {
        /// Update without asking.
        Auto = "AUTO",
        /// Ask first.
        Ask = "ASK",
        /// Leave it.
        Never = "NEVER",
    }
}

const TEXT_LIST: Kind = <Vec<String>>::KIND;

pub(crate) const BRAND_FIELDS: &[Field] = &[
    Field::new(
        "allow_agent_view",
        Kind::Bool,
        "Whether Claude Code may move its conversation into its agent view; its state is UNKNOWN from then on.",
    ),
    Field::new(
        "app_server",
        Kind::Bool,
        "Whether Codex runs as a server that its terminal joins, and that mngr asks and tells.",
    ),
    Field::new("append_system_prompt", TEXT_LIST, "Text added to the agent's system prompt."),
    Field::new(
        "auto_accept_preflight_prompt_depth",
        u32::KIND,
        "Dialogs to confirm before a message: only `0`, set `auto_dismiss_dialogs` instead.",
    ),
    Field::new(
        "auto_accept_prompt_depth",
        u32::KIND,
        "Dialogs to confirm after a message: only `0`, set `auto_allow_permissions` instead.",
    ),
    Field::new("auto_allow_permissions", Kind::Bool, "Whether the agent may do everything without asking."),
    Field::new(
        "auto_disable_questions",
        Kind::Bool,
        "Whether Claude Code is kept from asking you questions.",
    ),
    Field::new(
        "auto_dismiss_dialogs",
        Kind::Bool,
        "Whether the dialogs of a first start, trust in the work dir among them, are answered as `--yes` does.",
    ),
    Field::new(
        "check_installation",
        Kind::Bool,
        "Whether the program is looked for before the agent is created.",
    ),
    Field::new("config_overrides", Kind::Any, "Overrides for the agent's own configuration."),
    Field::new(
        "convert_macos_credentials",
        Kind::Bool,
        "Whether credentials of the macOS keychain are copied to other hosts: only `false`, log in there instead.",
    ),
    Field::new(
        "emit_common_transcript",
        Kind::Bool,
        "Whether a second transcript is written to a file: only `false`, `mngr transcript` and `mngr event` give the common form.",
    ),
    Field::new(
        "isolate_local_config_dir",
        Kind::Bool,
        "Whether each agent has its own configuration folder: only `true`.",
    ),
    Field::new("model", Kind::Text, "The model the agent uses."),
    Field::new("model_reasoning_effort", Kind::Text, "How hard the model thinks."),
    Field::new("output_style", Kind::Text, "Claude Code's output style."),
    Field::new(
        "override_settings_folder",
        Kind::Text,
        "A folder of settings for the work dir: only empty, list the files in `upload_file` instead.",
    ),
    Field::new(
        "post_submit_dialog_observe_seconds",
        Kind::Number,
        "Seconds to watch for a dialog after a message: only `0`, `mngr list` and `mngr wait` tell of a dialog.",
    ),
    Field::new(
        "preserve_on_destroy",
        Kind::Bool,
        "Whether sessions are kept when the agent is destroyed: only `true`, they go to the trash with it.",
    ),
    Field::new(
        "preserve_sessions_on_destroy",
        Kind::Bool,
        "Whether sessions are kept when the agent is destroyed: only `true`, they go to the trash with it.",
    ),
    Field::new("sandbox_mode", Kind::Text, "The agent's sandbox."),
    Field::new(
        "settings_overrides",
        Kind::Patch,
        "A patch for the agent's own settings; accumulates over layers.",
    ),
    Field::new(
        "streaming_snapshot_interval_seconds",
        Kind::Number,
        "Seconds between two transcript snapshots: only `0`, `mngr transcript --follow` reads what is written as it is written.",
    ),
    Field::new(
        "symlink_user_resources",
        Kind::Bool,
        "Whether your commands, skills and plugins are linked into a local agent's Claude Code (the default) or copied.",
    ),
    Field::new(
        "sync_claude_credentials",
        Kind::Bool,
        "Whether Claude Code gets your login; it does unless this is `false`.",
    ),
    Field::new(
        "sync_claude_json",
        Kind::Bool,
        "Whether Claude Code gets a copy of your `.claude.json`; it does unless this is `false`.",
    ),
    Field::new(
        "sync_credentials_on_login",
        Kind::Bool,
        "Whether a new login reaches running agents: only `true`, or give them no login with `sync_claude_credentials`.",
    ),
    Field::new(
        "sync_home_settings",
        Kind::Bool,
        "Whether Claude Code gets your settings, commands, skills and plugins; it does unless this is `false`.",
    ),
    Field::new(
        "sync_repo_settings",
        Kind::Bool,
        "Whether ignored files of the repository's `.claude` folder are copied: only `false`, name them in `work_dir_extra_paths` instead.",
    ),
    Field::new("update_policy", UpdatePolicy::KIND, "Whether a program out of date is updated."),
    Field::new(
        "use_env_config_dir",
        Kind::Bool,
        "Opposite of `isolate_local_config_dir`, for older settings files: only `false`.",
    ),
    Field::new("version", Kind::Text, "The version of the program to use."),
];

/// The one value a key may have, and why.
struct Limit {
    key: &'static str,
    only: Only,
    reason: &'static str,
}

/// The value that is accepted.
enum Only {
    Bool(bool),
    Zero,
    Empty,
}

impl Only {
    fn allows(&self, value: &Value) -> bool {
        match self {
            Self::Bool(only) => value.as_bool() == Some(*only),
            Self::Zero => value.as_integer() == Some(0) || value.as_float() == Some(0.0),
            Self::Empty => value.as_str() == Some(""),
        }
    }
}

const OWN_FOLDER: &str =
    "every agent has its own configuration folder, because mngr reads its state and its conversation there";
const TRASH: &str = "a destroyed agent goes to the trash with its sessions, and `mngr gc` empties the trash";

const LIMITS: &[Limit] = &[
    Limit {
        key: "auto_accept_preflight_prompt_depth",
        only: Only::Zero,
        reason: "mngr presses no key in a dialog; `auto_dismiss_dialogs` answers those of a first start",
    },
    Limit {
        key: "auto_accept_prompt_depth",
        only: Only::Zero,
        reason: "mngr presses no key in a dialog; `auto_allow_permissions` answers questions for permission",
    },
    Limit {
        key: "convert_macos_credentials",
        only: Only::Bool(false),
        reason: "mngr reads no keychain; log in on the other host, or pass a key with `--pass-env`",
    },
    Limit {
        key: "emit_common_transcript",
        only: Only::Bool(false),
        reason: "mngr writes no second transcript; `mngr transcript` and `mngr event` give the common form",
    },
    Limit { key: "isolate_local_config_dir", only: Only::Bool(true), reason: OWN_FOLDER },
    Limit {
        key: "override_settings_folder",
        only: Only::Empty,
        reason: "mngr copies no folder of settings into the work dir; list its files in `upload_file`",
    },
    Limit {
        key: "post_submit_dialog_observe_seconds",
        only: Only::Zero,
        reason: "mngr does not wait behind a message that has arrived; `mngr wait` and `mngr list` tell of a dialog",
    },
    Limit { key: "preserve_on_destroy", only: Only::Bool(true), reason: TRASH },
    Limit { key: "preserve_sessions_on_destroy", only: Only::Bool(true), reason: TRASH },
    Limit {
        key: "streaming_snapshot_interval_seconds",
        only: Only::Zero,
        reason: "mngr takes no snapshots of transcripts; `mngr transcript --follow` shows what is written as it is written",
    },
    Limit {
        key: "sync_credentials_on_login",
        only: Only::Bool(true),
        reason: "a copied login is void once another agent renews it; `sync_claude_credentials = false` gives no login at all",
    },
    Limit {
        key: "sync_repo_settings",
        only: Only::Bool(false),
        reason: "mngr copies ignored files only where `work_dir_extra_paths` names them",
    },
    Limit { key: "use_env_config_dir", only: Only::Bool(false), reason: OWN_FOLDER },
];

/// Keys that only one brand reads, with the brand.
const OF_ONE_BRAND: &[(&str, &str)] = &[
    ("allow_agent_view", "claude"),
    ("app_server", "codex"),
    ("auto_disable_questions", "claude"),
    ("config_overrides", "codex"),
    ("model_reasoning_effort", "codex"),
    ("output_style", "claude"),
    ("sandbox_mode", "codex"),
    ("symlink_user_resources", "claude"),
    ("sync_claude_credentials", "claude"),
    ("sync_claude_json", "claude"),
    ("sync_home_settings", "claude"),
];

/// A key whose value mngr refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The key, below its agent type.
    pub key: &'static str,
    /// Why the value is refused, and what to do instead.
    pub reason: &'static str,
}

/// The keys of a chain of types, nearest first, whose value in force mngr refuses.
pub fn refusals(chain: &[AgentTypeSettings]) -> Vec<Refusal> {
    let in_force = |key: &str| chain.iter().find_map(|settings| settings.extra.get(key));
    let is_refused = |limit: &&Limit| in_force(limit.key).is_some_and(|value| !limit.only.allows(value));
    LIMITS.iter().filter(is_refused).map(|limit| Refusal { key: limit.key, reason: limit.reason }).collect()
}

/// Every key with one value only, which [`refusals`] checks and nothing else reads.
pub fn limited_keys() -> impl Iterator<Item = &'static str> {
    LIMITS.iter().map(|limit| limit.key)
}

/// The keys of a chain of types that only another brand reads, each with that brand.
pub fn foreign_keys<'c>(
    chain: &'c [AgentTypeSettings],
    brand: &'c str,
) -> impl Iterator<Item = (&'static str, &'static str)> + 'c {
    let is_set = |key: &str| chain.iter().any(|settings| settings.extra.contains_key(key));
    OF_ONE_BRAND.iter().copied().filter(move |(key, reader)| *reader != brand && is_set(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(tables: &[&str]) -> Vec<AgentTypeSettings> {
        tables.iter().map(|table| toml::from_str(table).unwrap()).collect()
    }

    #[test]
    fn limited_keys_are_known_ones_and_their_one_value_passes() {
        for limit in LIMITS {
            assert!(BRAND_FIELDS.iter().any(|field| field.name == limit.key), "{}", limit.key);
            let (fine, refused) = match limit.only {
                Only::Bool(only) => (only.to_string(), (!only).to_string()),
                Only::Zero => ("0".to_owned(), "2".to_owned()),
                Only::Empty => ("''".to_owned(), "'x'".to_owned()),
            };
            let found = |value: &str| refusals(&chain(&[&format!("{} = {value}", limit.key)]));
            assert_eq!(found(&fine), []);
            assert_eq!(found(&refused).iter().map(|refusal| refusal.key).collect::<Vec<_>>(), [limit.key]);
        }
        for (key, _) in OF_ONE_BRAND {
            assert!(BRAND_FIELDS.iter().any(|field| field.name == *key), "{key}");
        }
    }

    #[test]
    fn the_nearest_value_is_the_one_in_force() {
        let far = "use_env_config_dir = true";
        assert_eq!(refusals(&chain(&["", far])).len(), 1);
        assert_eq!(refusals(&chain(&["use_env_config_dir = false", far])), []);
    }

    #[test]
    fn a_key_of_another_brand_is_told_with_its_brand() {
        let chain = chain(&["output_style = 'x'\nmodel = 'm'"]);
        assert_eq!(foreign_keys(&chain, "codex").collect::<Vec<_>>(), [("output_style", "claude")]);
        assert_eq!(foreign_keys(&chain, "claude").count(), 0);
    }
}
