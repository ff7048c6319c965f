//! The published schemas of JSON output, held against what the commands really print.

use serde_json::Value;

use crate::support::*;

/// Why the value is not what the schema says; fields that the schema does not name are wrong here, though readers may
/// ignore them.
fn problems(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if let Some(any) = schema["anyOf"].as_array() {
        let all: Vec<Vec<String>> = any.iter().map(|schema| problems(schema, value, at)).collect();
        return if all.iter().any(Vec::is_empty) { Vec::new() } else { all.concat() };
    }
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_kind(kind, value)) {
        return vec![format!("{at} is {value}, not {kinds:?}")];
    }
    let mut found = Vec::new();
    if let Value::Object(fields) = value {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                found.push(format!("{at}.{name} is missing"));
            }
        }
        for (name, value) in fields {
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(schema), _) | (None, Some(schema)) => {
                    found.extend(problems(schema, value, &format!("{at}.{name}")));
                }
                (None, None) if schema["properties"].is_object() => {
                    found.push(format!("{at}.{name} is not in the schema"));
                }
                (None, None) => {}
            }
        }
    }
    if let (Value::Array(items), Some(schema)) = (value, schema.get("items")) {
        found.extend(items.iter().flat_map(|item| problems(schema, item, &format!("{at}[]"))));
    }
    found
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

#[test]
fn what_commands_print_is_what_the_schemas_say() {
    let env = env_with_repo();
    let everything = env.mngr(["help", "--format", "json"]).success().json();
    let schemas = everything["schemas"]["outputs"].as_object().unwrap();
    let mut unseen: Vec<&String> = schemas.keys().collect();
    let mut check = |command: &str, words: &str| {
        // Words with a space in them are written with `_`.
        let words = words.split(' ').map(|word| word.replace('_', " "));
        let args: Vec<String> = ["--format", "json"].map(str::to_owned).into_iter().chain(words).collect();
        // Options stand after the verb.
        let verb = if command == "error" { 1 } else { command.split(' ').count() };
        let args: Vec<&String> =
            args[2..2 + verb].iter().chain(&args[..2]).chain(&args[2 + verb..]).collect();
        let printed = env.mngr(&args).json();
        let found = problems(&schemas[command], &printed, command);
        assert!(found.is_empty(), "{args:?}: {found:#?}\n{printed:#}");
        unseen.retain(|name| *name != command);
    };
    check("create", "create one --type scripted --no-connect -- ask_well? read");
    check("doctor", "doctor");
    check("clone", "clone one two --no-connect");
    check("wait", "wait one WAITING --timeout 20s");
    check("list", "list");
    check("message", "message one hello");
    check("message", "message nobody hello");
    check("exec", "exec one true");
    check("exec", "exec one nobody -- true");
    check("capture", "capture one");
    check("event", "event one");
    check("label", "label one -l team=web");
    check("pull", "pull one");
    check("push", "push one");
    check("stop", "stop one nobody");
    check("start", "start one");
    check("rename", "rename two three");
    check("destroy", "destroy one three nobody --force");
    check("config set", "config set prefix x- --scope user");
    check("config get", "config get prefix");
    check("config list", "config list");
    check("config path", "config path");
    check("error", "rename nobody somebody");
    assert!(unseen.is_empty(), "no command was tried for {unseen:?}");
}
