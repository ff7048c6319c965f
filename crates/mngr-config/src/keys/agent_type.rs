//! `[agent_types.<name>]`: custom kinds of agents, and settings of the built-in ones.
//!
//! The fields every type has are typed. Those of one brand are only known by name and kind here and kept in
//! `extra`: the brand's own room gives them their meaning.

use std::collections::BTreeMap;

use super::screen::{DeliverySettings, InputBoxSettings, ProofSettings, ScreenRuleSettings};
use crate::declare::{choice, opaque_debug, settings_table};
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

/// Arguments put after a type's command.
#[derive(Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(untagged)]
pub enum CliArgs {
    /// A piece of command line, quoting included.
    Line(String),
    /// One word each.
    Words(Vec<String>),
}

opaque_debug!(CliArgs);

impl SettingType for CliArgs {
    const KIND: Kind = Kind::TextOrList;
}

settings_table! {
    /// `[agent_types.<name>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct AgentTypeSettings {
        /// The type this one is built on; what is not set here comes from there.
        pub parent_type: Option<String>,
        /// The plugin the type belongs to.
        pub plugin: Option<String>,
        /// The program to run.
        pub command: Option<String>,
        /// Arguments for the program: a piece of command line, or a list of words.
        pub cli_args: Option<CliArgs>,
        /// Further arguments, right behind the program, when the agent is started again: to go on with its conversation.
        pub resume_args: Vec<String>,
        /// Shell commands run in the work directory before the agent starts.
        pub extra_provision_command: Vec<String>,
        /// Files to bring along, as `LOCAL:REMOTE`.
        pub upload_file: Vec<String>,
        /// Directories to make before the agent starts.
        pub create_directory: Vec<String>,
        /// Environment variables of the agent.
        pub env: BTreeMap<String, String>,
        /// Files with environment variables of the agent.
        pub env_file: Vec<String>,
        /// What the terminal shows and what that means: rules by name, before those of the parent type.
        pub screen: BTreeMap<String, ScreenRuleSettings>,
        /// The input box.
        pub input_box: InputBoxSettings,
        /// How messages are typed.
        pub delivery: DeliverySettings,
        /// The program's own record of what it was told.
        pub proof: ProofSettings,
        ..Refused + BRAND_FIELDS, "Settings of one brand of agent, checked for their kind but not interpreted here."
    }
}

const TEXT_LIST: Kind = <Vec<String>>::KIND;

const BRAND_FIELDS: &[Field] = &[
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
        "How many prompts before the first message are accepted.",
    ),
    Field::new(
        "auto_accept_prompt_depth",
        u32::KIND,
        "How many prompts in a row are accepted by themselves.",
    ),
    Field::new("auto_allow_permissions", Kind::Bool, "Whether the agent may do everything without asking."),
    Field::new("auto_disable_questions", Kind::Bool, "Whether the agent is kept from asking questions."),
    Field::new("auto_dismiss_dialogs", Kind::Bool, "Whether start-up dialogs are dismissed."),
    Field::new(
        "check_installation",
        Kind::Bool,
        "Whether the program is looked for before the agent is created.",
    ),
    Field::new("config_overrides", Kind::Any, "Overrides for the agent's own configuration."),
    Field::new(
        "convert_macos_credentials",
        Kind::Bool,
        "Whether credentials of the macOS keychain are converted.",
    ),
    Field::new("emit_common_transcript", Kind::Bool, "Whether a transcript in the common form is written."),
    Field::new(
        "isolate_local_config_dir",
        Kind::Bool,
        "Whether each local agent has its own configuration directory.",
    ),
    Field::new("model", Kind::Text, "The model the agent uses."),
    Field::new("model_reasoning_effort", Kind::Text, "How hard the model thinks."),
    Field::new("output_style", Kind::Text, "The agent's output style."),
    Field::new(
        "override_settings_folder",
        Kind::Text,
        "A folder of settings to use instead of the user's own.",
    ),
    Field::new(
        "post_submit_dialog_observe_seconds",
        Kind::Number,
        "Seconds to watch for a dialog after a message.",
    ),
    Field::new(
        "preserve_on_destroy",
        Kind::Bool,
        "Whether the agent's sessions are kept when it is destroyed.",
    ),
    Field::new(
        "preserve_sessions_on_destroy",
        Kind::Bool,
        "Whether the agent's sessions are kept when it is destroyed.",
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
        "Seconds between two transcript snapshots; 0 for none.",
    ),
    Field::new(
        "symlink_user_resources",
        Kind::Bool,
        "Whether the user's commands, skills and the like are linked in.",
    ),
    Field::new("sync_claude_credentials", Kind::Bool, "Whether the user's credentials are passed on."),
    Field::new("sync_claude_json", Kind::Bool, "Whether the user's `.claude.json` is passed on."),
    Field::new("sync_credentials_on_login", Kind::Bool, "Whether a new login reaches running agents."),
    Field::new("sync_home_settings", Kind::Bool, "Whether the user's settings are passed on."),
    Field::new("sync_repo_settings", Kind::Bool, "Whether the repository's settings are passed on."),
    Field::new("update_policy", UpdatePolicy::KIND, "Whether a program out of date is updated."),
    Field::new(
        "use_env_config_dir",
        Kind::Bool,
        "Opposite of `isolate_local_config_dir`, for older settings files.",
    ),
    Field::new("version", Kind::Text, "The version of the program to use."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_keeps_brand_fields_beside_its_own() {
        let agent: AgentTypeSettings =
            toml::from_str("command = 'x'\ncli_args = ['-a']\nmodel = 'm'\n[env]\nA = '1'").unwrap();
        assert_eq!(agent.cli_args, Some(CliArgs::Words(vec!["-a".into()])));
        assert_eq!(agent.env["A"], "1");
        assert_eq!(agent.extra["model"].as_str(), Some("m"));
    }
}
