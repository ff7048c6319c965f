//! The published schemas of JSON output, held against what the commands really print.

use std::fs;

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

/// Fails unless each line is what the schema of that command's lines says.
#[track_caller]
pub(crate) fn assert_lines(env: &TestEnv, command: &str, printed: &[Value]) {
    let everything = env.mngr(["help", "--format", "json"]).success().json();
    assert!(!printed.is_empty(), "{command} printed nothing");
    for line in printed {
        let found = problems(&everything["schemas"]["lines"][command], line, command);
        assert!(found.is_empty(), "{found:#?}\n{line:#}");
    }
}

/// Which test looks at the output of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// `tmr`, where it is tested.
    Runs,
    /// `tutorial` and below it.
    Tutorials,
    /// What moves work, records, plays, shows and writes settings.
    Tools,
    /// The rest.
    Agents,
}

impl Family {
    fn of(command: &str) -> Self {
        match command.split(' ').next().unwrap_or_default() {
            "tmr" => Self::Runs,
            "tutorial" => Self::Tutorials,
            "completion" | "config" | "git" | "help" | "migrate" | "observe" | "record" | "replay"
            | "rsync" | "view" => Self::Tools,
            _ => Self::Agents,
        }
    }
}

/// Commands that are run in two forms, and what has been seen of them.
struct Checks<'e> {
    env: &'e TestEnv,
    outputs: serde_json::Map<String, Value>,
    lines: serde_json::Map<String, Value>,
    unseen: Vec<String>,
}

impl<'e> Checks<'e> {
    fn new(env: &'e TestEnv, family: Family) -> Self {
        let everything = env.mngr(["help", "--format", "json"]).success().json();
        let schemas = |name: &str| everything["schemas"][name].as_object().unwrap().clone();
        let (outputs, lines) = (schemas("outputs"), schemas("lines"));
        let names = |form: &str, of: &serde_json::Map<String, Value>| -> Vec<String> {
            let wanted = of.keys().filter(|name| Family::of(name) == family);
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

    /// A command that runs until it is interrupted: what it printed by then, once it has printed something.
    #[track_caller]
    fn endless(&mut self, command: &str, words: &str, form: &str) {
        let log = self.env.root().join("endless");
        let mut cmd = self.env.mngr_cmd();
        let mut child = cmd
            .args(words.split(' '))
            .args(["--format", form])
            .stdout(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        wait_until(PATIENCE, || fs::read_to_string(&log).unwrap().contains('\n'));
        kill("-INT", child.id());
        let _ = child.wait().unwrap();
        let schemas = if form == "json" { &self.outputs } else { &self.lines };
        for line in fs::read_to_string(&log).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            // The interruption is told as any failure is.
            let command = if line["event"] == "error" { "error" } else { command };
            let found = problems(&schemas[command], &line, command);
            assert!(found.is_empty(), "{found:#?}\n{line:#}");
        }
        self.unseen.retain(|name| *name != format!("{command} --format {form}"));
    }

    #[track_caller]
    fn all_seen(&self) {
        assert!(self.unseen.is_empty(), "no command was tried for {:#?}", self.unseen);
    }
}

/// Commands without a schema for a form, and why.
const WITHOUT: &[(&str, &str, &str)] = &[
    ("connect", "json", "it gives its terminal away and prints nothing"),
    ("connect", "jsonl", "it gives its terminal away and prints nothing"),
    ("observe", "json", "it never ends, so it refuses to print one object"),
];

#[test]
fn every_command_that_takes_a_format_has_a_schema_for_it() {
    let env = env();
    let everything = env.mngr(["help", "--format", "json"]).success().json();
    let mut missing = Vec::new();
    for page in everything["commands"].as_array().unwrap() {
        let options =
            page["sections"].as_array().unwrap().iter().flat_map(|it| it["options"].as_array().unwrap());
        if !options.clone().any(|option| option["long"] == "--format") {
            continue;
        }
        let name = text(&page["name"]);
        let name = name.strip_prefix("mngr ").unwrap();
        for (form, schemas) in [("json", "outputs"), ("jsonl", "lines")] {
            let has_schema = everything["schemas"][schemas].get(name).is_some();
            let is_excused = WITHOUT.iter().any(|(command, of, _)| (*command, *of) == (name, form));
            if has_schema == is_excused {
                missing.push(format!("{name} --format {form}"));
            }
        }
    }
    assert!(missing.is_empty(), "neither a schema nor a reason, or both: {missing:#?}");
}

#[test]
fn what_commands_print_is_what_the_schemas_say() {
    let env = env_with_repo();
    let _ = crate::transcript::pretend(&env, "talked", "claude");
    let mut check = Checks::new(&env, Family::Agents);
    check.json("create", "create one --type scripted --no-connect -- spend+10+1 ask+well? read read read");
    check.lines("create", "create five --type scripted --no-connect -- read");
    check.json("create", "create --type headless_command --foreground -- true");
    check.lines("create", "create --type headless_command --foreground -- echo hello");
    check.both("doctor", "doctor");
    check.json("clone", "clone one two --no-connect");
    check.lines("clone", "clone one four --no-connect");
    check.both("wait", "wait one WAITING --timeout 20s");
    check.both("list", "list");
    check.both("list", "list --hosts");
    check.both("list", "list --schema");
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
    check.both("file list", "file list one");
    check.both("file put", "file put one notes --input .git/config");
    check.both("file get", "file get one notes");
    check.both("file get", "file get one notes --output copy");
    check.both("snapshot create", "snapshot create one");
    check.both("snapshot list", "snapshot list");
    let ids = env.mngr(["snapshot", "list", "--format", "{id}"]).success().stdout;
    let [first, second] = ids.lines().collect::<Vec<_>>()[..] else { panic!("{ids}") };
    check.json("snapshot restore", &format!("snapshot restore {first} again"));
    check.lines("snapshot restore", &format!("snapshot restore {first} anew"));
    check.json("snapshot destroy", &format!("snapshot destroy --snapshot {first} --force"));
    check.lines("snapshot destroy", &format!("snapshot destroy --snapshot {second} --force"));
    check.both("limit", "limit one --no-start-on-boot");
    check.both("plugin list", "plugin list");
    check.both("plugin disable", "plugin disable codex --scope user");
    check.both("plugin enable", "plugin enable codex --scope user");
    check.both("cleanup", "cleanup --include name=='five' --dry-run");
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
    check.both("error", "rename nobody somebody");
    check.all_seen();
}

#[test]
fn what_commands_print_that_move_record_show_and_set_is_what_the_schemas_say() {
    let mut env = env_with_repo();
    env.set_var("EDITOR", "true");
    env.set_var("SHELL", "/bin/bash");
    create(&env, "a", &["sleep", "1000"]);
    let run = env.work_dir().join(".test_output/e2e/nightly/test_a--b");
    fs::create_dir_all(&run).unwrap();
    let record = r#"{"schema":1,"id":"a::b","name":"b","file":"a","status":"passed","started_at":"2026-01-01T00:00:00Z"}"#;
    fs::write(run.join("test.json"), record).unwrap();
    let mut check = Checks::new(&env, Family::Tools);
    check.both("git pull", "git pull a -- --no-rebase");
    check.both("git push", "git push a");
    check.both("rsync", "rsync a ./copy/");
    check.endless("observe", "observe", "jsonl");
    check.json("record", "record -o a.cast -- echo hello");
    check.lines("record", "record -o b.cast -- sh -c exit+3");
    for more in ["", " --dump", " --screen", " --search hello"] {
        check.both("replay", &format!("replay a.cast{more}"));
    }
    check.json("view", "view --export page");
    check.lines("view", "view --export page-2");
    check.endless("view", "view", "json");
    check.endless("view", "view", "jsonl");
    check.both("config set", "config set prefix x- --scope user");
    check.both("config assign", r#"config assign unset_vars ["X"] --scope user"#);
    check.both("config extend", r#"config extend unset_vars ["Y"] --scope user"#);
    check.both("config get", "config get prefix");
    check.both("config get", "config get prefix --scope user");
    check.both("config list", "config list");
    check.both("config list", "config list --scope user");
    check.both("config list", "config list --schema");
    check.both("config path", "config path");
    check.both("config path", "config path --scope user");
    check.both("config edit", "config edit --scope user");
    check.json("config unset", "config unset prefix --scope user");
    check.lines("config unset", "config unset unset_vars --scope user");
    let _ = env.mngr(["config", "set", "prefix", "y-", "--scope", "project"]).success();
    check.both("config trust", "config trust");
    check.both("completion", "completion zsh");
    check.both("completion install", "completion install bash");
    check.both("help", "help");
    check.both("help", "help create");
    check.both("help", "help states");
    let _ = env.mngr(["stop", "a"]).success();
    check.json("migrate", "migrate a b --no-connect");
    let _ = env.mngr(["stop", "b"]).success();
    check.lines("migrate", "migrate b c --no-connect");
    check.all_seen();
}

#[test]
fn what_tutorial_prints_is_what_the_schemas_say() {
    let env = crate::tutorial_agents::env_with_tutorial();
    let proposed = |text: &str| crate::tutorial_agents::line("Stopping", text);
    let lines: String = ["one", "two", "three", "four"]
        .map(|name| proposed(&format!("# Stop {name}\nmngr stop {name}")))
        .concat();
    let more = proposed("# Stop it\nmngr stop five") + &proposed("mngr halt");
    let mut check = Checks::new(&env, Family::Tutorials);
    check.both("tutorial list", "tutorial list tutorial.sh");
    check.both("tutorial check", "tutorial check tutorial.sh tests --strict");
    check.both("tutorial coverage", "tutorial coverage tutorial.sh tests");
    fs::write(env.work_dir().join("wrong.sh"), "# Wrong\nmngr halt\n").unwrap();
    check.both("tutorial lint", "tutorial lint wrong.sh");
    check.both("tutorial skill", "tutorial skill");
    check.both("tutorial fill", "tutorial fill tutorial.sh");
    check.both("tutorial sync", "tutorial sync tutorial.sh tests");
    let fill = |lines: &str| {
        let step = crate::tutorial_agents::proposing(&env, lines).replace(' ', "+");
        format!("tutorial fill tutorial.sh --launch --type scripted -- read {step}")
    };
    check.json("tutorial fill", &fill(&lines));
    check.lines("tutorial fill", &fill(&more));
    check.both("tutorial proposals", "tutorial proposals");
    let ids = env.mngr(["tutorial", "proposals", "--format", "{id}"]).success().stdout;
    let [a, b, c, d, ..] = ids.lines().collect::<Vec<_>>()[..] else { panic!("{ids}") };
    check.json("tutorial accept", &format!("tutorial accept {a} 00000000"));
    check.lines("tutorial accept", &format!("tutorial accept {b}"));
    check.json("tutorial reject", &format!("tutorial reject {c}"));
    check.lines("tutorial reject", &format!("tutorial reject {d} --reason no"));
    check.both("tutorial confusing", "tutorial confusing");
    let step = crate::tutorial_agents::writing_the_test(&env).replace(' ', "+");
    let sync =
        format!("tutorial sync tutorial.sh tests --launch --type scripted -- read {step} commit+tests");
    check.both("tutorial sync", &sync);
    check.all_seen();
}
