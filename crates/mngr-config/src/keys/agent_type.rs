//! `[agent_types.<name>]`: custom kinds of agents, and settings of the built-in ones.
//!
//! The fields every type has are typed. Those of one brand are only known by name and kind here and kept in
//! `extra`: the brand's own room gives them their meaning.

use std::collections::BTreeMap;

use super::brand::BRAND_FIELDS;
use super::screen::{DeliverySettings, InputBoxSettings, ProofSettings, ScreenRuleSettings};
use crate::declare::{opaque_debug, settings_table};
use crate::kind::{Kind, SettingType};

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
