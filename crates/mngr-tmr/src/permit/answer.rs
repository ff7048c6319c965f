//! The answer to a hook of an agent's program, which asks before a tool is used, and what was refused so far.

use mngr_host::files::FileKind;
use mngr_host::host::Host;
use mngr_model::layout::AgentLayout;
use mngr_model::permission::{Granted, Refusal};
use serde_json::{Value, json};

use super::{Judge, NotCovered};

/// The hidden verb of the binary that hooks call.
pub const ANSWER_VERB: &str = "tmr-permit";

/// How much of what was refused is read.
const LONGEST: usize = 256 * 1024;
/// How many refusals of one agent are told.
const MOST: usize = 20;
/// How much of a command line is told.
const LONGEST_LINE: usize = 300;

/// Tools that ask a person.
const QUESTIONS: [&str; 4] = ["AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "request_user_input"];
/// Tools that need no permission in any program: they read, or keep the agent's own notes.
const HARMLESS: [&str; 22] = [
    "Read",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "TodoWrite",
    "TodoRead",
    "Task",
    "Agent",
    "BashOutput",
    "KillShell",
    "KillBash",
    "TaskOutput",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "update_plan",
    "view_image",
    "write_stdin",
    "wait_agent",
    "spawn_agent",
];

/// What a hook is told, and what it notes down where the agent is refused.
pub fn answer(granted: &Granted, event: &str) -> (Value, Option<Value>) {
    let mut event: Value = serde_json::from_str(event).unwrap_or_default();
    let judge = Judge { granted };
    let refused = tool(&judge, &event).err();
    let is_request = event["hook_event_name"] == "PermissionRequest";
    let Some(NotCovered(why)) = refused else {
        let allowed = match is_request {
            true => json!({ "hookSpecificOutput": {
                "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } } }),
            // Nothing to say: what the program allows by itself it goes on with.
            false => Value::Null,
        };
        return (allowed, None);
    };
    let told = format!(
        "This run does not allow that: {why}. Allowed are: {}. Do without it, or say in the outcome what you needed it for.",
        judge.in_words()
    );
    let refusal = match is_request {
        true => json!({ "hookSpecificOutput": {
            "hookEventName": "PermissionRequest", "decision": { "behavior": "deny", "message": told } } }),
        false => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": told } }),
    };
    if let Some(fields) = event.as_object_mut() {
        fields.insert("why".to_owned(), why.into());
    }
    (refusal, Some(event))
}

fn tool(judge: &Judge<'_>, event: &Value) -> Result<(), NotCovered> {
    let name = event["tool_name"].as_str().unwrap_or_default();
    let input = &event["tool_input"];
    let cwd = event["cwd"].as_str().unwrap_or(&judge.granted.work_dir);
    match name {
        "Bash" | "bash" | "exec_command" | "shell" | "shell_command" | "local_shell" => {
            match command_of(input) {
                Some(line) => judge.command(&line, input["workdir"].as_str().unwrap_or(cwd)),
                None => Err(NotCovered("it is not known what it would run".to_owned())),
            }
        }
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            let path = input["file_path"].as_str().or_else(|| input["notebook_path"].as_str());
            path.map_or_else(
                || Err(NotCovered("it names no file".to_owned())),
                |path| judge.writes(path, cwd),
            )
        }
        "apply_patch" => patched(input).iter().try_for_each(|path| judge.writes(path, cwd)),
        name if QUESTIONS.contains(&name) => {
            Err(NotCovered("nobody is there to answer a question".to_owned()))
        }
        name if HARMLESS.contains(&name) => Ok(()),
        name => Err(NotCovered(format!("the tool `{name}` is not covered"))),
    }
}

/// The command line of a tool that runs one; a list of words is what a shell is called with.
fn command_of(input: &Value) -> Option<String> {
    let command = input.get("command").or_else(|| input.get("cmd"))?;
    match command {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            match words.as_slice() {
                [shell, option, line] if shell.ends_with("sh") && option.ends_with('c') => Some(line.clone()),
                words => Some(mngr_model::quote::sh_join(words)),
            }
        }
        _ => None,
    }
}

/// The files that a patch changes.
fn patched(input: &Value) -> Vec<String> {
    let text = input.as_str().or_else(|| input["command"].as_str()).or_else(|| input["input"].as_str());
    let heads = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let path =
        |line: &str| heads.iter().find_map(|head| line.strip_prefix(head)).map(|path| path.trim().to_owned());
    text.unwrap_or_default().lines().filter_map(path).collect()
}

/// What was refused to an agent, each thing once. Untrusted text: an agent may be able to write the file as well.
pub fn refusals(host: &dyn Host, agent: &AgentLayout) -> Vec<Refusal> {
    let (files, path) = (host.files(), agent.refused_tools());
    let is_file = files.stat(&path).ok().flatten().is_some_and(|stat| stat.kind == FileKind::File);
    let bytes = if is_file { files.read_part(&path, 0, LONGEST).unwrap_or_default() } else { Vec::new() };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut found: Vec<Refusal> = Vec::new();
    for event in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let refusal = refusal_of(&event);
        if found.len() < MOST && !found.contains(&refusal) {
            found.push(refusal);
        }
    }
    found
}

fn refusal_of(event: &Value) -> Refusal {
    let input = &event["tool_input"];
    let what = command_of(input)
        .or_else(|| {
            ["file_path", "notebook_path", "url", "query"]
                .iter()
                .find_map(|key| Some(input[*key].as_str()?.to_owned()))
        })
        .or_else(|| patched(input).first().cloned())
        .unwrap_or_default();
    let text = |text: &str| mngr_query::sanitize(text).chars().take(LONGEST_LINE).collect::<String>();
    Refusal {
        tool: text(event["tool_name"].as_str().unwrap_or_default()),
        what: text(&what),
        why: text(event["why"].as_str().unwrap_or("the run's permission set does not cover it")),
    }
}
