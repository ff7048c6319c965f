//! Values as people type them on a command line or in the environment: JSON if it parses, else plain text.

use toml::Value;

/// Why a typed value cannot become a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// TOML has no null, so neither do settings.
    #[error("`null` is not a value a setting can have; unset the key instead")]
    Null,
}

/// Reads `text` as JSON, or, when it is not JSON, takes it verbatim as a string.
pub fn parse(text: &str) -> Result<Value, ValueError> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(json) => from_json(json),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// The JSON form of a setting, for machine-readable output. Dates become strings, non-finite numbers become null.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => serde_json::Value::from(text.as_str()),
        Value::Integer(number) => serde_json::Value::from(*number),
        Value::Float(number) => serde_json::Value::from(*number),
        Value::Boolean(flag) => serde_json::Value::from(*flag),
        Value::Datetime(date) => serde_json::Value::from(date.to_string()),
        Value::Array(items) => items.iter().map(to_json).collect(),
        Value::Table(table) => serde_json::Value::Object(
            table.iter().map(|(key, value)| (key.clone(), to_json(value))).collect(),
        ),
    }
}

/// The word for a value's type in messages.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

fn from_json(json: serde_json::Value) -> Result<Value, ValueError> {
    use serde_json::Value as Json;
    Ok(match json {
        Json::Null => return Err(ValueError::Null),
        Json::Bool(flag) => Value::Boolean(flag),
        Json::String(text) => Value::String(text),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(integer), ..) => Value::Integer(integer),
            // Beyond TOML's integers: its digits as text lose nothing, a float would.
            (None, Some(_), _) | (None, None, None) => Value::String(number.to_string()),
            (None, None, Some(float)) => Value::Float(float),
        },
        Json::Array(items) => Value::Array(items.into_iter().map(from_json).collect::<Result<_, _>>()?),
        Json::Object(fields) => Value::Table(
            fields
                .into_iter()
                .map(|(key, value)| Ok((key, from_json(value)?)))
                .collect::<Result<_, ValueError>>()?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_wins_over_text() {
        assert_eq!(parse("5"), Ok(Value::Integer(5)));
        assert_eq!(parse("true"), Ok(Value::Boolean(true)));
        assert_eq!(parse("\"5\""), Ok(Value::String("5".into())));
        assert_eq!(parse("[1]"), Ok(Value::Array(vec![Value::Integer(1)])));
        assert_eq!(parse("5s"), Ok(Value::String("5s".into())));
        assert_eq!(parse(""), Ok(Value::String(String::new())));
    }

    #[test]
    fn null_is_refused_wherever_it_stands() {
        for text in ["null", "[null]", "{\"a\": [1, null]}"] {
            assert_eq!(parse(text), Err(ValueError::Null), "{text}");
        }
    }

    #[test]
    fn integers_too_big_for_toml_keep_their_digits() {
        assert_eq!(parse("18446744073709551615"), Ok(Value::String("18446744073709551615".into())));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::Integer),
            any::<bool>().prop_map(Value::Boolean),
            ".*".prop_map(Value::String),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(".*", inner, 0..4)
                    .prop_map(|map| Value::Table(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_that_is_not_json_is_kept_verbatim(text in ".*") {
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assume!(!is_json);
            prop_assert_eq!(parse(&text), Ok(Value::String(text)));
        }

        #[test]
        fn any_setting_survives_json(value in any_value()) {
            prop_assert_eq!(parse(&to_json(&value).to_string()), Ok(value));
        }
    }
}
