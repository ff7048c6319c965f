//! The field catalogue: which fields a record may have, what they mean and how a column of them is headed.
//!
//! The catalogue is data. It checks names and suggests better ones; it never looks at a record.

mod agents;

use std::borrow::Cow;

use crate::path::FieldError;

/// A name longer than this is not worth comparing with the catalogue.
const LONGEST_NAME_TO_COMPARE: usize = 64;

/// How alike two names must be (0 to 1) before one is suggested for the other.
const LEAST_SIMILARITY: f64 = 0.6;

/// The type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number, whole or not.
    Float,
    /// True or false.
    Bool,
    /// A point in time, written as RFC 3339 text.
    Time,
    /// A list of values.
    List,
    /// Named values. The names are free unless the catalogue lists some of them.
    Map,
    /// Not declared: part of a free map, or a field of [`Catalog::of`].
    Any,
}

impl FieldKind {
    /// The word for this kind in messages and in the schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Time => "time",
            Self::List => "list",
            Self::Map => "map",
            Self::Any => "any",
        }
    }

    /// Whether a value of this kind may be formatted as a number.
    pub(crate) fn may_be_number(self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Any)
    }
}

/// One field a record may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Where it is in the record: `name`, `host.state`.
    pub path: Cow<'static, str>,
    /// The type of its value.
    pub kind: FieldKind,
    /// What it says, in one line.
    pub help: &'static str,
    /// The heading of a column that shows it.
    pub header: Cow<'static, str>,
    /// For a field that is another name of a stored one: the path that is really read.
    pub reads: Option<&'static str>,
}

/// The fields that may be asked for.
#[derive(Debug, Clone)]
pub struct Catalog {
    fields: Cow<'static, [Field]>,
}

/// What the catalogue knows about a path: the deepest listed field on the way, and how many keys lead to it.
pub(crate) struct Known<'a> {
    pub(crate) field: &'a Field,
    pub(crate) covered: usize,
}

impl Catalog {
    /// The fields of agent records.
    pub fn agents() -> Self {
        Self { fields: Cow::Borrowed(agents::FIELDS) }
    }

    /// A catalogue of exactly these top-level names, for verbs whose results are not agents.
    pub fn of(names: &[&str]) -> Self {
        let field = |name: &&str| Field {
            path: Cow::Owned((*name).to_owned()),
            kind: FieldKind::Any,
            help: "",
            header: Cow::Owned(name.to_uppercase().replace('_', " ")),
            reads: None,
        };
        Self { fields: names.iter().map(field).collect() }
    }

    /// All fields, in the order they are documented.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The listed field with exactly this path.
    pub fn field(&self, path: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.path == path)
    }

    /// Whether a record may have this top-level field.
    pub(crate) fn has_root(&self, root: &str) -> bool {
        self.field(root).is_some()
    }

    /// Checks the keys of a path. Keys below a free map (`labels`, `host.tags`, `plugin`) are always right.
    pub(crate) fn check(&self, keys: &[&str]) -> Result<Known<'_>, FieldError> {
        let unknown = || self.unknown(&keys.join("."));
        let known = (1..=keys.len())
            .rev()
            .find_map(|covered| self.field(&keys[..covered].join(".")).map(|field| Known { field, covered }))
            .ok_or_else(unknown)?;
        if known.covered == keys.len() {
            return Ok(known);
        }
        match known.field.kind {
            FieldKind::Any => Ok(known),
            FieldKind::Map if !self.lists_parts_of(&known.field.path) => Ok(known),
            FieldKind::Map => Err(unknown()),
            kind => Err(FieldError::NoParts {
                field: known.field.path.to_string(),
                part: keys[known.covered].to_owned(),
                kind: kind.name(),
            }),
        }
    }

    fn lists_parts_of(&self, path: &str) -> bool {
        self.fields
            .iter()
            .any(|field| field.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }

    fn unknown(&self, path: &str) -> FieldError {
        let names = || self.fields.iter().map(|field| field.path.as_ref());
        // Records are agents: `agent.name` is the field `name`.
        let own = path.strip_prefix("agent.").filter(|own| names().any(|name| name == *own));
        let suggestion = own.or_else(|| closest(path, names())).map(str::to_owned);
        FieldError::Unknown { field: path.to_owned(), suggestion }
    }
}

/// The candidate most like `name`, if any is like it at all; of equals, the first.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_NAME_TO_COMPARE {
        return None;
    }
    let lower = name.to_lowercase();
    let mut best = None;
    for candidate in candidates {
        let likeness = strsim::normalized_damerau_levenshtein(&lower, &candidate.to_lowercase());
        if likeness >= LEAST_SIMILARITY && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(path: &str) -> String {
        let keys: Vec<&str> = path.split('.').collect();
        Catalog::agents().check(&keys).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_mistyped_field_gets_a_suggestion() {
        assert_eq!(error("stat"), "unknown field `stat`, did you mean `state`?");
        assert_eq!(error("host.stat"), "unknown field `host.stat`, did you mean `host.state`?");
        assert_eq!(error("agent.name"), "unknown field `agent.name`, did you mean `name`?");
        assert_eq!(error("Name"), "unknown field `Name`, did you mean `name`?");
        assert_eq!(error("zzzzzz"), "unknown field `zzzzzz`");
        assert_eq!(error(&"x".repeat(10_000)), format!("unknown field `{}`", "x".repeat(10_000)));
    }

    #[test]
    fn keys_below_free_maps_are_always_right() {
        let catalog = Catalog::agents();
        for path in
            ["labels.anything", "host.tags.x", "plugin.claude.waiting_reason", "host.resource.cpu.count"]
        {
            let keys: Vec<&str> = path.split('.').collect();
            assert!(catalog.check(&keys).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_scalar_has_no_parts() {
        assert_eq!(error("name.first"), "field `name` is a string and has no part `first`");
    }

    #[test]
    fn paths_are_unique_and_every_alias_and_parent_is_listed() {
        let catalog = Catalog::agents();
        for (index, field) in catalog.fields().iter().enumerate() {
            let twice = catalog.fields()[index + 1..].iter().any(|other| other.path == field.path);
            assert!(!twice, "{} is listed twice", field.path);
            assert!(!field.help.is_empty() && !field.header.is_empty(), "{}", field.path);
            for path in field.reads.into_iter().chain(field.path.rsplit_once('.').map(|(parent, _)| parent)) {
                let keys: Vec<&str> = path.split('.').collect();
                assert!(catalog.check(&keys).is_ok(), "{} needs {path}", field.path);
            }
        }
    }

    #[test]
    fn an_ad_hoc_catalogue_knows_only_its_names() {
        let catalog = Catalog::of(&["agent", "exit_code"]);
        assert!(catalog.check(&["exit_code"]).is_ok());
        assert!(catalog.check(&["name"]).is_err());
        assert_eq!(catalog.field("exit_code").unwrap().header, "EXIT CODE");
    }
}
