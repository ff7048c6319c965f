//! The settings as a JSON schema, for editors that check and complete TOML files.

use serde_json::{Map, Value, json};

use super::{ROOT, catalogue};
use crate::kind::{Kind, Rest, TableShape};
use crate::value;

/// What may follow a key: the operators of lists and tables.
const OPERATORS: &str = "^.+__(extend|assign)$";

/// The schema of a settings file.
pub fn json_schema() -> Value {
    let mut schema = object(&ROOT, "");
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("settings of mngr"));
    let mut schema = Value::Object(schema);
    for entry in catalogue() {
        let Some(default) = &entry.default else { continue };
        let pointer: String =
            entry.key.segments().iter().map(|segment| format!("/properties/{segment}")).collect();
        if let Some(Value::Object(found)) = schema.pointer_mut(&pointer) {
            found.insert("default".to_owned(), value::to_json(default));
        }
    }
    schema
}

fn object(kind: &Kind, doc: &str) -> Map<String, Value> {
    let mut schema = match kind {
        Kind::Bool => typed("boolean"),
        Kind::Integer { max } => json!({ "type": "integer", "minimum": 0, "maximum": max }),
        Kind::Number => json!({ "type": "number", "minimum": 0 }),
        Kind::Text | Kind::RuledText(_) => typed("string"),
        Kind::Duration => json!({ "type": ["string", "number"] }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::List(item) => json!({ "type": "array", "items": object(item, "") }),
        Kind::TextOrList => json!({ "type": ["string", "array"], "items": typed("string") }),
        Kind::Map(item) => json!({ "type": "object", "additionalProperties": object(item, "") }),
        Kind::Table(shape) => table(shape),
        Kind::Patch => typed("object"),
        Kind::Any => json!({}),
    };
    if let Value::Object(fields) = &mut schema
        && !doc.is_empty()
    {
        fields.insert("description".to_owned(), json!(doc));
    }
    match schema {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn table(shape: &TableShape) -> Value {
    let properties: Map<String, Value> = shape
        .fields()
        .map(|field| (field.name.to_owned(), Value::Object(object(&field.kind, field.doc.trim()))))
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": { OPERATORS: {} },
        "additionalProperties": shape.rest != Rest::Refused,
    })
}

fn typed(name: &str) -> Value {
    json!({ "type": name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_type_default_and_description() {
        let schema = json_schema();
        let socket = &schema["properties"]["tmux"]["properties"]["socket"];
        assert_eq!((&socket["type"], &socket["default"]), (&json!("string"), &json!("")));
        assert!(socket["description"].as_str().is_some_and(|text| text.starts_with("Which tmux server")));
        let level = &schema["properties"]["logging"]["properties"]["file_level"];
        assert_eq!(level["enum"][0], "TRACE");
    }

    #[test]
    fn unknown_keys_are_refused_where_the_settings_refuse_them() {
        let schema = json_schema();
        assert_eq!(schema["additionalProperties"], false);
        let types = &schema["properties"]["agent_types"]["additionalProperties"];
        assert_eq!(types["type"], "object", "{types}");
        let command = &schema["properties"]["commands"]["additionalProperties"];
        assert_eq!(command["additionalProperties"], true, "options of verbs are the command line's to check");
    }
}
