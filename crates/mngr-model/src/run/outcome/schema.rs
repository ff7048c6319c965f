//! The JSON schema (draft 2020-12) of a shape. Word counts have no keyword there: they stand in the descriptions.

use serde_json::{Map, Value, json};

use super::shape::{
    Demand, Field, Kind, MAX_CHARS, MAX_LABEL_CHARS, MAX_PATH_CHARS, MAX_TEST_CHARS, Need, Rule, Shape,
};

/// The schema of a file that holds one such object.
pub(super) fn json_schema(shape: &Shape) -> Value {
    let mut schema = object(shape);
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    Value::Object(schema)
}

fn object(shape: &Shape) -> Map<String, Value> {
    let is_required = |field: &&Field| field.need == Need::Required;
    let required: Vec<_> = shape.fields.iter().filter(is_required).map(|field| field.name).collect();
    let properties: Map<_, _> =
        shape.fields.iter().map(|field| (field.name.to_owned(), property(field))).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if !shape.rules.is_empty() {
        schema.insert("allOf".to_owned(), shape.rules.iter().map(rule).collect());
    }
    schema
}

fn property(field: &Field) -> Value {
    let mut schema = kind(field.kind);
    let mut about = field.about.trim().to_owned();
    if let Kind::Markdown { words } = field.kind {
        about.push_str(&format!(" At most {words} words."));
    }
    // A list that is not there is left out or empty, never null.
    if field.need == Need::Optional && !matches!(field.kind, Kind::List(_)) {
        let with_null = json!([schema["type"], "null"]);
        schema["type"] = with_null;
    }
    schema["description"] = json!(about);
    schema
}

fn kind(kind: Kind) -> Value {
    match kind {
        Kind::Choice(words) => {
            json!({"type": "string", "enum": words.iter().map(|word| word.word).collect::<Vec<_>>()})
        }
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Count => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
        Kind::Markdown { .. } => json!({"type": "string", "minLength": 1, "maxLength": MAX_CHARS}),
        Kind::Label => json!({"type": "string", "minLength": 1, "maxLength": MAX_LABEL_CHARS}),
        Kind::TestName => json!({"type": "string", "minLength": 1, "maxLength": MAX_TEST_CHARS}),
        Kind::SourcePath => json!({"type": "string", "minLength": 1, "maxLength": MAX_PATH_CHARS}),
        Kind::List(shape) => json!({"type": "array", "maxItems": shape.at_most, "items": object(shape)}),
    }
}

fn rule(rule: &Rule) -> Value {
    let condition = json!({"properties": {rule.field: {"const": rule.is}}, "required": [rule.field]});
    let mut required = Vec::new();
    let mut properties = Map::new();
    for demand in rule.then {
        let (demanded, is_required) = match demand {
            Demand::Present(_) => (json!({"not": {"type": "null"}}), true),
            Demand::True(_) => (json!({"const": true}), true),
            Demand::NonEmpty(_) => (json!({"minItems": 1}), true),
            Demand::Empty(_) => (json!({"maxItems": 0}), false),
            Demand::AtMostWords(_, words) => {
                (json!({"description": format!("At most {words} words.")}), false)
            }
        };
        properties.insert(demand.field().to_owned(), demanded);
        if is_required {
            required.push(demand.field());
        }
    }
    json!({"if": condition, "then": {"properties": properties, "required": required}})
}
