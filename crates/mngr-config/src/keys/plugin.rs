//! `[plugins.<name>]`: whether a plugin is on, and settings only the plugin understands.

use crate::declare::settings_table;
use crate::kind::Field;

const NONE: &[Field] = &[];

settings_table! {
    /// `[plugins.<name>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct PluginSettings {
        /// Whether the plugin is used.
        pub enabled: Option<bool>,
        ..Kept + NONE, "The plugin's own settings."
    }
}
