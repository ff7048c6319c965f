//! The published schemas of JSON output, held against what the commands really print.

use mngr_testkit::{CmdOutput, TestEnv};
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
    if let Some(only) = schema.get("const") {
        return if only == value { Vec::new() } else { vec![format!("{at} is {value}, not {only}")] };
    }
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

/// Fails unless a value is what the schema of that command's JSON says.
#[track_caller]
pub(crate) fn assert_output(env: &TestEnv, command: &str, printed: &Value) {
    let everything = env.mngr(["help", "--format", "json"]).success().json();
    let found = problems(&everything["schemas"]["outputs"][command], printed, command);
    assert!(found.is_empty(), "{found:#?}\n{printed:#}");
}

/// Commands whose output is checked where they are tested.
const ELSEWHERE: &str = "tmr";

/// Commands that are run in two forms, and what has been seen of them.
struct Checks<'e> {
    env: &'e TestEnv,
    outputs: serde_json::Map<String, Value>,
    lines: serde_json::Map<String, Value>,
    unseen: Vec<String>,
}

impl<'e> Checks<'e> {
    fn new(env: &'e TestEnv) -> Self {
        let everything = env.mngr(["help", "--format", "json"]).success().json();
        let schemas = |name: &str| everything["schemas"][name].as_object().unwrap().clone();
        let (outputs, lines) = (schemas("outputs"), schemas("lines"));
        let names = |form: &str, of: &serde_json::Map<String, Value>| -> Vec<String> {
            let wanted = of.keys().filter(|name| !name.starts_with(ELSEWHERE));
            wanted.map(|name| format!("{name} --format {form}")).collect()
        };
        let unseen = [names("json", &outputs), names("jsonl", &lines)].concat();
        Self { env, outputs, lines, unseen }
    }

    /// The words with the form right after the verb. Words with a space in them are written with `+`.
    fn run(&mut self, command: &str, words: &str, form: &str) -> CmdOutput {
        let words: Vec<String> = words.split(' ').map(|word| word.replace('+', " ")).collect();
        let verb = if command == "error" { 1 } else { command.split(' ').count() };
        let (verb, rest) = words.split_at(verb);
        let form_words = ["--format".to_owned(), form.to_owned()];
        self.unseen.retain(|name| *name != format!("{command} --format {form}"));
        self.env.mngr(verb.iter().chain(&form_words).chain(rest))
    }

    #[track_caller]
    fn json(&mut self, command: &str, words: &str) {
        let output = self.run(command, words, "json");
        let found = problems(&self.outputs[command], &output.json(), command);
        assert!(found.is_empty(), "{found:#?}\n{output}");
    }

    #[track_caller]
    fn lines(&mut self, command: &str, words: &str) {
        let output = self.run(command, words, "jsonl");
        let lines = output.json_lines();
        assert!(!lines.is_empty(), "{output}");
        let errors: Vec<Value> = lines.iter().filter(|line| line["event"] == "error").cloned().collect();
        for line in lines.iter().filter(|line| command == "error" || !errors.contains(line)) {
            let found = problems(&self.lines[command], line, command);
            assert!(found.is_empty(), "{found:#?}\n{output}");
        }
    }

    /// In both forms, of what may be done twice.
    #[track_caller]
    fn both(&mut self, command: &str, words: &str) {
        self.json(command, words);
        self.lines(command, words);
    }
}

#[test]
fn what_commands_print_is_what_the_schemas_say() {
    let env = env_with_repo();
    let _ = crate::transcript::pretend(&env, "talked", "claude");
    let mut check = Checks::new(&env);
    check.json("create", "create one --type scripted --no-connect -- spend+10+1 ask+well? read read read");
    check.lines("create", "create five --type scripted --no-connect -- read");
    check.json("doctor", "doctor");
    check.json("clone", "clone one two --no-connect");
    check.lines("clone", "clone one four --no-connect");
    check.both("wait", "wait one WAITING --timeout 20s");
    check.both("list", "list");
    check.both("message", "message one hello");
    check.both("message", "message nobody hello");
    check.both("exec", "exec one true");
    check.both("exec", "exec one nobody -- true");
    check.both("capture", "capture one");
    check.both("event", "event one");
    check.both("explain", "explain one");
    check.both("transcript", "transcript talked");
    check.both("usage", "usage");
    check.both("label", "label one -l team=web");
    check.both("pull", "pull one");
    check.both("push", "push one");
    check.json("file list", "file list one");
    check.json("file put", "file put one notes --input .git/config");
    check.json("file get", "file get one notes");
    check.json("file get", "file get one notes --output copy");
    check.json("snapshot create", "snapshot create one");
    check.json("snapshot list", "snapshot list");
    let id = env.mngr(["snapshot", "list", "--format", "{id}"]).success().stdout;
    check.json("snapshot restore", &format!("snapshot restore {} again", id.trim()));
    check.json("snapshot destroy", &format!("snapshot destroy --snapshot {} --force", id.trim()));
    check.json("limit", "limit one --no-start-on-boot");
    check.json("plugin list", "plugin list");
    check.json("plugin disable", "plugin disable codex --scope user");
    check.json("plugin enable", "plugin enable codex --scope user");
    check.json("cleanup", "cleanup --include name=='five' --dry-run");
    check.json("cleanup", "cleanup --include name=='five' --yes");
    check.both("stop", "stop one nobody");
    check.both("archive", "archive one");
    check.both("unarchive", "unarchive one");
    check.both("start", "start one");
    check.json("rename", "rename two three");
    check.lines("rename", "rename three two");
    check.json("destroy", "destroy one two nobody --force");
    check.lines("destroy", "destroy four nobody --force");
    check.both("undo", "undo");
    check.json("undo", "undo two");
    check.lines("undo", "undo four");
    check.both("gc", "gc -S trash.max_age_days=0");
    check.both("config set", "config set prefix x- --scope user");
    check.both("config get", "config get prefix");
    check.both("config list", "config list");
    check.both("config path", "config path");
    check.both("error", "rename nobody somebody");
    assert!(check.unseen.is_empty(), "no command was tried for {:#?}", check.unseen);
}
