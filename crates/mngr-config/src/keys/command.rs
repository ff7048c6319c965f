//! `[commands.<verb>]`: what a verb's options are when they are not given.
//!
//! Options are spelled with their long name and underscores. Which options a verb has is known to the command
//! line alone, so it is asked ([`KnownOptions`]).

use crate::declare::settings_table;
use crate::kind::Field;

const NONE: &[Field] = &[];

settings_table! {
    /// `[commands.<verb>]`.
    #[derive(Default)]
    #[serde(default)]
    pub struct CommandSettings {
        /// What a group of commands does when it is called without a subcommand.
        pub default_subcommand: Option<String>,
        ..CommandOptions + NONE, "Defaults of the verb's options, by long name with underscores."
    }
}

/// The command line's knowledge of its verbs.
pub trait KnownOptions {
    /// The long names, with underscores, of the options of `verb` (spelled `create`, `config_list`, ...).
    /// `None` when there is no such verb here, which is no error: it may belong to another version.
    fn options(&self, verb: &str) -> Option<Vec<String>>;

    /// Every verb and group of verbs, of this version and of others, spelled in the same way. `None` when nobody
    /// knows them: then any verb may have settings.
    fn verbs(&self) -> Option<Vec<String>> {
        None
    }
}

/// Accepts every option of every verb, and every verb.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyOption;

impl KnownOptions for AnyOption {
    fn options(&self, _verb: &str) -> Option<Vec<String>> {
        None
    }
}
