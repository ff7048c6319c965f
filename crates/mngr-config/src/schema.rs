//! The catalogue of every key: what `config list --schema` and completion show, and what editing checks against.

mod json;

use crate::key::KeyPath;
use crate::keys::top::Settings;
use crate::kind::{Kind, Rest, SettingType, TableShape};
use crate::layer;
use crate::tree::{self, Op};

pub use json::json_schema;

/// One key a user may set.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaEntry {
    /// The key; names chosen by the user are written `<name>`.
    pub key: KeyPath,
    /// What it holds, in words.
    pub kind: String,
    /// The words it accepts, when they are few.
    pub choices: &'static [&'static str],
    /// What it is when nobody sets it.
    pub default: Option<toml::Value>,
    /// What it is for.
    pub description: &'static str,
}

impl SchemaEntry {
    /// Whether it holds `true` or `false`.
    pub fn is_bool(&self) -> bool {
        matches!(kind_of(&self.key), Some(Kind::Bool))
    }
}

/// Stands in the catalogue for a name the user chooses.
const NAME: &str = "<name>";

/// The kind of the settings as a whole.
pub(crate) const ROOT: Kind = Settings::KIND;

/// The keys of the settings as a whole.
pub(crate) fn root_shape() -> &'static TableShape {
    const NO_SHAPE: &TableShape = &TableShape { typed: &[], untyped: &[], rest: Rest::Refused };
    match ROOT {
        Kind::Table(shape) => shape,
        _ => NO_SHAPE,
    }
}

/// Every key, in the order of the structs that declare them.
pub fn catalogue() -> Vec<SchemaEntry> {
    let defaults = layer::defaults();
    let mut entries = Vec::new();
    describe(root_shape(), &KeyPath::default(), &mut entries);
    for entry in &mut entries {
        entry.default = tree::find(&defaults.tree, &entry.key).map(|(_, found)| found.item.to_value());
    }
    entries
}

fn describe(shape: &TableShape, path: &KeyPath, entries: &mut Vec<SchemaEntry>) {
    for field in shape.fields() {
        let key = path.child(field.name);
        match field.kind {
            Kind::Table(below) => describe(below, &key, entries),
            Kind::Map(Kind::Table(below)) => describe(below, &key.child(NAME), entries),
            kind => entries.push(SchemaEntry {
                key,
                kind: kind.describe(),
                choices: if let Kind::Choice(words) = kind { words } else { &[] },
                default: None,
                description: field.doc.trim(),
            }),
        }
    }
}

/// What the key holds, operators and hyphens allowed; `None` for an unknown key.
pub(crate) fn kind_of(key: &KeyPath) -> Option<Kind> {
    key.segments().iter().try_fold(ROOT, |kind, segment| match kind {
        Kind::Table(_) => {
            let name = segment.replace('-', "_");
            kind.below(Op::split(&name).0)
        }
        _ => kind.below(segment),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildOptions, Merged};

    fn entry(key: &str) -> Option<SchemaEntry> {
        catalogue().into_iter().find(|entry| entry.key.to_string() == key)
    }

    #[test]
    fn keys_are_listed_with_kind_default_and_description() {
        let socket = entry("tmux.socket").unwrap();
        assert_eq!(socket.default, Some(toml::Value::String(String::new())));
        assert!(socket.description.starts_with("Which tmux server"), "{}", socket.description);
        assert_eq!(entry("work_dir_extra_paths").unwrap().kind, "a table");
        assert_eq!(entry("logging.file_level").unwrap().choices[0], "TRACE");
        assert!(entry("agent_types.<name>.model").is_some());
        assert!(entry("providers.<name>.hosts.<name>.port").is_some());
    }

    #[test]
    fn every_key_has_a_description() {
        for entry in catalogue() {
            assert!(!entry.description.is_empty(), "{}", entry.key);
        }
    }

    #[test]
    fn every_default_is_a_known_key() {
        let defaults = Merged::build(&[], &BuildOptions::default()).unwrap();
        for leaf in defaults.leaves() {
            assert!(kind_of(&leaf.key).is_some(), "{}", leaf.key);
        }
    }

    #[test]
    fn kinds_are_found_through_registries_hyphens_and_operators() {
        let kind = |text: &str| kind_of(&KeyPath::parse(text).unwrap());
        assert!(matches!(kind("agent_types.\"my-type\".check-installation"), Some(Kind::Bool)));
        assert!(matches!(kind("unset_vars__extend"), Some(Kind::List(_))));
        assert!(matches!(kind("commands.create.label"), Some(Kind::Any)));
        assert!(kind("prefix.below").is_none());
        assert!(kind("nope").is_none());
    }
}
