//! Settings from environment variables: `MNGR__SECTION__KEY=value`, and a few short names.

use toml::Value;

use crate::key::KeyPath;
use crate::kind::Kind;
use crate::layer::{Layer, LayerError};
use crate::origin::{LayerKind, Origin, Place};
use crate::schema;
use crate::tree::Op;
use crate::value;

/// What the long names begin with; `__` then separates the parts of the key.
const LONG: &str = "MNGR__";

/// Short variables, and the key each one sets.
const ALIASES: &[(&str, &str)] =
    &[("MNGR_HEADLESS", "headless"), ("MNGR_HOST_DIR", "default_host_dir"), ("MNGR_PREFIX", "prefix")];

impl Layer {
    /// Reads the variables that set something, in the order of their names; all others are ignored.
    /// One layer each, so that each acts on those before it.
    pub fn from_env<'e>(
        variables: impl IntoIterator<Item = (&'e str, &'e str)>,
    ) -> Result<Vec<Self>, LayerError> {
        let mut ours: Vec<_> = variables
            .into_iter()
            .filter(|(name, _)| name.starts_with(LONG) || ALIASES.iter().any(|(alias, _)| alias == name))
            // A shell clears a variable this way; taken as a path it would be the folder one stands in.
            .filter(|variable| *variable != ("MNGR_HOST_DIR", ""))
            .collect();
        ours.sort_unstable();
        refuse_double(&ours)?;
        ours.into_iter().map(|(name, text)| read(name, text)).collect()
    }
}

fn refuse_double(ours: &[(&str, &str)]) -> Result<(), LayerError> {
    let is_set = |wanted: &str| ours.iter().any(|(name, _)| *name == wanted);
    for (alias, key) in ALIASES {
        let long = format!("{LONG}{}", key.to_ascii_uppercase());
        if is_set(alias) && is_set(&long) {
            return Err(LayerError::AliasConflict { alias: (*alias).to_owned(), long });
        }
    }
    Ok(())
}

fn read(name: &str, text: &str) -> Result<Layer, LayerError> {
    let origin = Origin { layer: LayerKind::Env, place: Place::Variable(name.into()) };
    if let Some((_, key)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        let key = KeyPath::from_segments([*key]);
        return Ok(Layer::from_assignment(&key, alias_value(&key, text), &origin));
    }
    let value = value::parse(text).map_err(|source| LayerError::Value { at: origin.clone(), source })?;
    Ok(Layer::from_assignment(&long_key(name)?, value, &origin))
}

/// The short variables hold plain words: a host dir called `5` is no number, and `1` means yes.
fn alias_value(key: &KeyPath, text: &str) -> Value {
    if matches!(schema::kind_of(key), Some(Kind::Bool)) {
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => return Value::Boolean(true),
            "" | "0" | "false" | "no" | "off" => return Value::Boolean(false),
            _ => {}
        }
    }
    Value::String(text.to_owned())
}

fn long_key(name: &str) -> Result<KeyPath, LayerError> {
    let lower = name[LONG.len()..].to_ascii_lowercase();
    let mut parts: Vec<_> = lower.split("__").map(str::to_owned).collect();
    if parts.iter().any(String::is_empty) {
        return Err(LayerError::EmptyPart { variable: name.to_owned() });
    }
    // `MNGR__UNSET_VARS__EXTEND` is the operator, spelled with the same `__` that separates the parts. Below a
    // table of settings it can only be a name.
    if let [before @ .., operator] = parts.as_slice()
        && let Some(op) = [Op::Extend, Op::Replace].into_iter().find(|op| op.suffix()[2..] == **operator)
        && let Some(holder) = schema::kind_of(&KeyPath::from_segments(before))
        && !holder.is_structure()
        && let Some(last) = before.len().checked_sub(1)
    {
        parts.truncate(before.len());
        parts[last].push_str(op.suffix());
    }
    Ok(KeyPath::from_segments(parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn leaves(variables: &[(&str, &str)]) -> Vec<(String, Value)> {
        let layers = Layer::from_env(variables.iter().copied()).unwrap();
        assert!(layers.iter().all(|layer| layer.problems().is_empty()), "{layers:?}");
        layers.iter().flat_map(Layer::leaves).map(|leaf| (leaf.key.to_string(), leaf.value)).collect()
    }

    #[test]
    fn long_names_are_lowered_and_split() {
        assert_eq!(
            leaves(&[("MNGR__TMUX__USER_CONFIG", "false"), ("HOME", "/x"), ("MNGR_USER_ID", "u")]),
            [("tmux.user_config".to_owned(), Value::Boolean(false))]
        );
    }

    #[test]
    fn an_empty_host_dir_is_none() {
        assert!(leaves(&[("MNGR_HOST_DIR", "")]).is_empty());
    }

    #[test]
    fn a_last_part_extend_or_assign_is_the_operator() {
        assert_eq!(leaves(&[("MNGR__UNSET_VARS__EXTEND", "[\"A\"]")])[0].0, "unset_vars__extend");
        assert_eq!(
            leaves(&[("MNGR__COMMANDS__CREATE__LABEL__ASSIGN", "[]")])[0].0,
            "commands.create.label__assign"
        );
        assert_eq!(leaves(&[("MNGR__PLUGINS__EXTEND__ENABLED", "true")])[0].0, "plugins.extend.enabled");
    }

    #[test]
    fn short_names_hold_plain_words() {
        assert_eq!(
            leaves(&[("MNGR_HOST_DIR", "5"), ("MNGR_HEADLESS", "1"), ("MNGR_PREFIX", "true")]),
            [
                ("headless".to_owned(), Value::Boolean(true)),
                ("default_host_dir".to_owned(), Value::String("5".into())),
                ("prefix".to_owned(), Value::String("true".into())),
            ]
        );
    }

    #[test]
    fn a_short_and_a_long_name_for_one_key_conflict() {
        let both = [("MNGR_HOST_DIR", "/a"), ("MNGR__DEFAULT_HOST_DIR", "/a")];
        assert!(matches!(Layer::from_env(both), Err(LayerError::AliasConflict { .. })));
    }

    #[test]
    fn empty_parts_are_refused() {
        for name in ["MNGR__", "MNGR__A____B", "MNGR__A__"] {
            assert!(matches!(Layer::from_env([(name, "1")]), Err(LayerError::EmptyPart { .. })), "{name}");
        }
    }

    #[test]
    fn an_unknown_variable_is_named_in_the_problem() {
        let layers = Layer::from_env([("MNGR__PREFX", "x")]).unwrap();
        let problem = layers[0].problems()[0].to_string();
        assert_eq!(problem, "environment variable `MNGR__PREFX`: `prefx`, did you mean `prefix`?");
    }

    proptest! {
        #[test]
        fn no_environment_panics(name in "MNGR__[A-Z_a-zé]{0,20}", text in ".*") {
            let _ = Layer::from_env([(name.as_str(), text.as_str())]);
        }

        #[test]
        fn a_plain_text_arrives_verbatim(text in "[^\\[{\"0-9tfn\\s-].*") {
            let found = leaves(&[("MNGR__PAGER", &text)]);
            prop_assert_eq!(&found[0].1, &Value::String(text));
        }
    }
}
