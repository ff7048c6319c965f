//! The agents' tools that the model knows how to use, by the names under which they are offered.

use serde_json::{Value, json};

use super::answer::ToolCall;

/// Whether the agent is meant to ask the user before it runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permission {
    Asked,
    NotNeeded,
}

/// A call of the first offered tool that runs shell commands.
pub(super) fn shell(offered: &[String], command: &str, permission: Permission) -> Option<ToolCall> {
    let described = json!({"command": command, "description": "Runs a command of the test"});
    first(offered, |name| match name {
        "Bash" | "bash" => Some(described.clone()),
        "exec_command" => Some(escalated(json!({"cmd": command}), permission)),
        "shell_command" => Some(escalated(json!({"command": command}), permission)),
        _ => None,
    })
}

/// A call of the first offered tool that asks the user something.
pub(super) fn question(offered: &[String]) -> Option<ToolCall> {
    let options = json!([
        {"label": "Red", "description": "The colour of fire"},
        {"label": "Blue", "description": "The colour of the sea"},
    ]);
    let question = json!({
        "id": "colour",
        "header": "Colour",
        "question": "Which colour do you want?",
        "options": options,
        "multiSelect": false,
    });
    first(offered, |name| {
        matches!(name, "AskUserQuestion" | "question" | "request_user_input")
            .then(|| json!({"questions": [question.clone()]}))
    })
}

/// A call of the tool with this name, if it is offered, in whichever group.
pub(super) fn named(offered: &[String], wanted: &str, input: &Value) -> Option<ToolCall> {
    first(offered, |name| (name.rsplit('/').next() == Some(wanted)).then(|| input.clone()))
}

/// Codex asks only about a command that the model itself wants to run outside of the sandbox.
fn escalated(mut input: Value, permission: Permission) -> Value {
    if permission == Permission::Asked {
        input["sandbox_permissions"] = "require_escalated".into();
        input["justification"] = "Do you allow the command of the test?".into();
    }
    input
}

fn first(offered: &[String], input: impl Fn(&str) -> Option<Value>) -> Option<ToolCall> {
    offered.iter().find_map(|name| Some(ToolCall { name: name.clone(), input: input(name)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_shell_goes_by_the_name_the_agent_gives_it() {
        let call = shell(&offered(&["Read", "Bash"]), "ls", Permission::Asked).unwrap();
        assert_eq!((call.name.as_str(), &call.input["command"]), ("Bash", &json!("ls")));
        let call = shell(&offered(&["exec_command"]), "ls", Permission::NotNeeded).unwrap();
        assert_eq!(call.input, json!({"cmd": "ls"}));
        assert_eq!(shell(&offered(&["Read"]), "ls", Permission::Asked), None);
    }

    #[test]
    fn permission_is_requested_where_the_model_has_to_do_it() {
        let call = shell(&offered(&["exec_command"]), "ls", Permission::Asked).unwrap();
        assert_eq!(call.input["sandbox_permissions"], "require_escalated");
    }

    #[test]
    fn a_question_needs_a_tool_for_questions() {
        assert!(question(&offered(&["Bash", "AskUserQuestion"])).is_some());
        assert_eq!(question(&offered(&["Bash"])), None);
    }
}
