//! `[create_templates.<name>]`: bundles of `create` options that `create -t NAME` applies.

use super::agent_type::AgentTypeSettings;
use crate::declare::{ruled_text, settings_table};
use crate::kind::{Field, Kind, SettingType};
use crate::layer::split_assignment;
use crate::schema;

const NONE: &[Field] = &[];

ruled_text! {
    /// `KEY=VALUE`, applied like `-S` when the template is.
    pub struct TemplateSetting, "`KEY=VALUE`", check_setting
}

settings_table! {
    /// `[create_templates.<name>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct CreateTemplate {
        /// Settings that hold while the template is applied, as `KEY=VALUE`; `commands` and `create_templates` are
        /// out of reach.
        pub setting: Vec<TemplateSetting>,
        ..CreateOptions + NONE, "Options of `create` by long name with underscores, and fields of agent types."
    }
}

/// What holds for living agents, too, whichever template made them: it is said of their type.
const OF_LIVING_AGENTS: [&str; 5] = ["screen", "input_box", "delivery", "proof", "resume_args"];

/// Whether `name` is a field of agent types that a template may set too.
pub(crate) fn is_agent_type_field(name: &str) -> bool {
    !OF_LIVING_AGENTS.contains(&name)
        && matches!(AgentTypeSettings::KIND, Kind::Table(shape) if shape.field(name).is_some())
}

fn check_setting(text: &str) -> Result<(), String> {
    let (key, _) = split_assignment(text).map_err(|error| error.to_string())?;
    match key.segments().first().map(String::as_str) {
        Some(first @ ("commands" | "create_templates")) => {
            Err(format!("a template cannot set anything under `{first}`"))
        }
        _ if schema::kind_of(&key).is_none() => Err(format!("there is no setting `{key}`")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_at_later_is_no_part_of_a_template() {
        assert!(is_agent_type_field("command") && !is_agent_type_field("screen"));
    }

    #[test]
    fn a_template_may_set_known_keys_outside_the_registries_it_lives_in() {
        assert_eq!(check_setting("tmux.user_config=false"), Ok(()));
        assert_eq!(check_setting("unset_vars__extend=[\"A\"]"), Ok(()));
        for text in ["prefix", "=x", "prefx=1", "commands.create.type=x", "create_templates.a.type=x"] {
            assert!(check_setting(text).is_err(), "{text}");
        }
    }
}
