//! What a request says, whichever wire format it is in.

use serde_json::Value;

/// What the model is to react to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// What the user said since the model spoke last: several texts if messages had been waiting.
    User(Vec<String>),
    /// What a tool said, with nothing from the user since.
    ToolResult(String),
}

/// The part of a request that decides the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversation {
    pub(super) turn: Turn,
    /// The names of the tools the model may use, `group/name` for those in a group. Requests for titles and the like offer
    /// none.
    pub(super) tools: Vec<String>,
    /// Whether the answer is wanted as a stream of events.
    pub(super) streamed: bool,
    /// How often the model has answered in it before.
    pub(super) answers: usize,
}

impl Conversation {
    /// Reads a request in which the messages are in the field `messages` or `input`.
    pub(super) fn read(request: &Value) -> Self {
        let tools = request["tools"].as_array().into_iter().flatten().flat_map(tool_names).collect();
        let messages = messages(request);
        Self {
            turn: turn(messages),
            tools,
            streamed: request["stream"] == true,
            answers: answers_in(messages),
        }
    }

    /// Whether it is about a title, a summary or the connection, beside the user's conversation.
    pub(super) fn is_beside(&self) -> bool {
        self.tools.is_empty()
    }

    /// What the user said, if it is the user's turn.
    pub(super) fn said(&self) -> &[String] {
        match &self.turn {
            Turn::User(said) => said,
            Turn::ToolResult(_) => &[],
        }
    }
}

/// The newest thing the user said that `is_cue` knows, and how often the model has answered since.
pub(super) fn newest_cue<T>(request: &Value, is_cue: impl Fn(&str) -> Option<T>) -> Option<(T, usize)> {
    let messages = messages(request);
    let from_users = messages.iter().enumerate().filter(|(_, message)| message["role"] == "user");
    let (at, found) = from_users
        .rev()
        .find_map(|(at, message)| Some((at, spoken(message).iter().rev().find_map(|text| is_cue(text))?)))?;
    Some((found, answers_in(&messages[at..])))
}

/// How often the model speaks in these messages.
fn answers_in(messages: &[Value]) -> usize {
    let runs = messages.chunk_by(|one, next| is_from_the_model(one) == is_from_the_model(next));
    runs.filter(|run| is_from_the_model(&run[0])).count()
}

/// The names a tool is offered under: its own, or those of the tools it groups.
fn tool_names(tool: &Value) -> Vec<String> {
    let Some(name) = tool["name"].as_str().or(tool["function"]["name"].as_str()) else { return Vec::new() };
    match tool["tools"].as_array() {
        None => vec![name.to_owned()],
        Some(grouped) => {
            let names = grouped.iter().filter_map(|tool| tool["name"].as_str());
            names.map(|tool| format!("{name}/{tool}")).collect()
        }
    }
}

/// Everything the user said in the conversation that a request carries, from its beginning.
pub(super) fn history(request: &Value) -> Vec<String> {
    messages(request).iter().filter(|message| message["role"] == "user").flat_map(spoken).collect()
}

fn messages(request: &Value) -> &[Value] {
    let list = request["messages"].as_array().or(request["input"].as_array());
    list.map_or(&[], Vec::as_slice)
}

fn turn(messages: &[Value]) -> Turn {
    let since = messages.iter().rposition(is_from_the_model).map_or(0, |position| position + 1);
    let news = &messages[since..];
    let said: Vec<String> =
        news.iter().filter(|message| message["role"] == "user").flat_map(spoken).collect();
    match news.iter().rev().find_map(tool_result) {
        Some(result) if said.is_empty() => Turn::ToolResult(result),
        _ => Turn::User(said),
    }
}

/// Items of the Responses format have a type, and not all of them a role.
fn is_from_the_model(message: &Value) -> bool {
    message["role"] == "assistant" || matches!(message["type"].as_str(), Some("function_call" | "reasoning"))
}

fn tool_result(message: &Value) -> Option<String> {
    if let Some(output) = message.get("output") {
        return Some(text_of(output));
    }
    if message["role"] == "tool" {
        return Some(text_of(&message["content"]));
    }
    let blocks = message["content"].as_array()?;
    let result = blocks.iter().rev().find(|block| block["type"] == "tool_result")?;
    Some(text_of(&result["content"]))
}

/// What the user really wrote in a message: agents add notes of their own, each as a block inside tags.
fn spoken(message: &Value) -> Vec<String> {
    let said = |text: &str| (!is_note(text)).then(|| text.trim().to_owned());
    match &message["content"] {
        Value::String(text) => said(text).into_iter().collect(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| said(block["text"].as_str()?)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a text begins with a tag and ends with the end of one.
fn is_note(text: &str) -> bool {
    let text = text.trim();
    let name = |tag: &str| !tag.is_empty() && !tag.contains(char::is_whitespace);
    let opens =
        text.strip_prefix('<').and_then(|rest| rest.split_once('>')).is_some_and(|(tag, _)| name(tag));
    let closes =
        text.strip_suffix('>').and_then(|rest| rest.rsplit_once("</")).is_some_and(|(_, tag)| name(tag));
    text.is_empty() || opens && closes
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(request: Value) -> Turn {
        Conversation::read(&request).turn
    }

    fn user(text: &str) -> Turn {
        Turn::User(vec![text.into()])
    }

    #[test]
    fn the_last_user_message_counts_even_before_a_system_message() {
        let request = json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
            {"role": "user", "content": [{"type": "text", "text": "second"}]},
            {"role": "system", "content": "be brief"},
        ]});
        assert_eq!(turn(request), user("second"));
    }

    #[test]
    fn notes_of_the_agent_are_not_what_the_user_said() {
        let request = json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>\nnote\n</system-reminder>\n"},
            {"type": "text", "text": "a <b>bold</b> wish"},
            {"type": "text", "text": "<command-name>/clear</command-name><command-args></command-args>"},
        ]}]});
        assert_eq!(turn(request), user("a <b>bold</b> wish"));
    }

    #[test]
    fn tool_results_are_found_in_all_three_formats() {
        let result = Turn::ToolResult("out".into());
        let blocks = json!([{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}]);
        assert_eq!(turn(json!({"messages": [{"role": "user", "content": blocks}]})), result);
        assert_eq!(turn(json!({"messages": [{"role": "tool", "content": "out"}]})), result);
        let items = json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "function_call", "call_id": "c", "name": "shell"},
            {"type": "function_call_output", "call_id": "c", "output": "out"},
        ]);
        assert_eq!(turn(json!({"input": items})), result);
    }

    #[test]
    fn a_message_that_follows_a_tool_result_is_the_users_turn() {
        let blocks = json!([
            {"type": "tool_result", "content": "out"},
            {"type": "text", "text": "wait, also this"},
        ]);
        assert_eq!(turn(json!({"messages": [{"role": "user", "content": blocks}]})), user("wait, also this"));
    }

    #[test]
    fn messages_that_waited_are_all_heard_and_the_history_has_each_once() {
        let request = json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": [{"text": "second\n"}, {"text": "third"}]},
            {"role": "user", "content": "fourth"},
        ]});
        assert_eq!(history(&request), ["first", "second", "third", "fourth"]);
        assert_eq!(turn(request), Turn::User(vec!["second".into(), "third".into(), "fourth".into()]));
    }

    #[test]
    fn the_newest_cue_counts_with_the_answers_since() {
        let cue = |text: &str| ["first", "second"].into_iter().find(|cue| text.contains(cue));
        let request = json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": "second"},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": "<note>first</note>"},
        ]});
        assert_eq!(newest_cue(&request, cue), Some(("second", 1)));
        assert_eq!(newest_cue(&json!({"messages": []}), cue), None);
    }

    #[test]
    fn an_answer_counts_once_however_many_messages_it_is_spread_over() {
        let items = json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "reasoning"},
            {"type": "function_call", "call_id": "c", "name": "shell"},
            {"type": "function_call_output", "call_id": "c", "output": "out"},
            {"type": "message", "role": "assistant", "content": []},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "more"}]},
        ]);
        assert_eq!(Conversation::read(&json!({"input": items})).answers, 2);
        assert_eq!(Conversation::read(&json!({"messages": []})).answers, 0);
    }

    #[test]
    fn tools_are_known_by_name_in_all_formats() {
        let request = json!({"stream": true, "tools": [
            {"name": "Bash"},
            {"type": "function", "function": {"name": "bash"}},
            {"type": "web_search"},
        ]});
        let conversation = Conversation::read(&request);
        assert_eq!(conversation.tools, ["Bash", "bash"]);
        assert!(conversation.streamed);
    }
}
