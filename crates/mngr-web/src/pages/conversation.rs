//! What an agent and its model said, as `mngr transcript --format jsonl` prints it, in pieces of messages.
//!
//! Read leniently: a line that is something else is left out.

use mngr_host::files::Files;
use mngr_model::HostPath;
use serde::Deserialize;
use serde_json::{Value, json};

use super::escapes::plain_lines;
use super::lines::Lines;
use super::piece::{PageError, Piece, Sink};

/// About so many bytes of JSON go into one piece.
const PIECE: usize = 128 * 1024;
/// So much is shown of what was said.
const MAX_SAID: usize = 20_000;
/// So much is shown of what a tool took or gave.
const MAX_TOOL: usize = 4000;

/// A line of the conversation.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(flatten)]
    body: Body,
}

/// What was said.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Body {
    UserMessage {
        content: String,
    },
    AssistantMessage {
        text: String,
        #[serde(default)]
        tool_calls: Vec<Call>,
    },
    ToolResult {
        tool_name: Option<String>,
        output: String,
        #[serde(default)]
        is_error: bool,
    },
    ProgramMessage {
        #[serde(default)]
        kind: String,
        content: String,
    },
}

/// A call of a tool.
#[derive(Debug, Deserialize)]
struct Call {
    tool_name: String,
    #[serde(default)]
    input_preview: String,
}

/// Makes the pieces of a conversation, called `<prefix>/<n>`, and a map that counts them.
pub(crate) fn conversation(
    files: &dyn Files,
    path: &HostPath,
    prefix: &str,
    sink: &mut dyn Sink,
) -> Result<(), PageError> {
    let mut lines = Lines::open(files, path)?;
    let (mut held, mut weight, mut pieces, mut count): (Vec<Value>, _, _, _) = (Vec::new(), 0, 0, 0_usize);
    while let Some(line) = lines.next_line()? {
        let Ok(line) = serde_json::from_slice::<Line>(&line) else { continue };
        let message = message(&line);
        weight += message.to_string().len();
        held.push(message);
        count += 1;
        if weight >= PIECE {
            sink.put(Piece::new(format!("{prefix}/{pieces}"), &std::mem::take(&mut held)))?;
            (weight, pieces) = (0, pieces + 1);
        }
    }
    if !held.is_empty() {
        sink.put(Piece::new(format!("{prefix}/{pieces}"), &held))?;
        pieces += 1;
    }
    sink.put(Piece::new(format!("{prefix}/map"), &json!({"pieces": pieces, "count": count})))
}

fn message(line: &Line) -> Value {
    let calls = |calls: &[Call]| -> Vec<Value> {
        let call = |call: &Call| json!({"tool": cut(&call.tool_name, 100), "input": cut(&call.input_preview, MAX_TOOL)});
        calls.iter().map(call).collect()
    };
    let mut message = match &line.body {
        Body::UserMessage { content } => json!({"who": "user", "text": cut(content, MAX_SAID)}),
        Body::AssistantMessage { text, tool_calls } => {
            json!({"who": "assistant", "text": cut(text, MAX_SAID), "calls": calls(tool_calls)})
        }
        Body::ToolResult { tool_name, output, is_error } => json!({
            "who": "tool",
            "tool": tool_name.as_deref().map(|name| cut(name, 100)),
            "text": cut(output, MAX_TOOL),
            "is_error": is_error,
        }),
        Body::ProgramMessage { kind, content } => {
            json!({"who": "program", "kind": cut(kind, 40), "text": cut(content, MAX_TOOL)})
        }
    };
    message["at"] = cut(&line.timestamp, 40).into();
    message["is_aside"] = line.is_sidechain.into();
    message
}

/// The beginning of a text, without its looks.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => plain_lines(&text[..end]) + "\u{2026}",
        None => plain_lines(text),
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::local::LocalFiles;

    use super::*;
    use crate::pages::piece::tests::value;
    use crate::testing::Artifacts;

    fn pieces(text: &str) -> Vec<Value> {
        let dir = Artifacts::new();
        dir.put("t.jsonl", text);
        let mut pieces: Vec<Piece> = Vec::new();
        conversation(&LocalFiles, &dir.at("t.jsonl"), "talk/x", &mut pieces).unwrap();
        pieces.iter().map(value).collect()
    }

    #[test]
    fn everybody_who_speaks_is_named_and_other_lines_are_left_out() {
        let pieces = pieces(concat!(
            r#"{"timestamp":"2026-01-01T00:00:00Z","type":"user_message","role":"user","content":"fix\u001b[31m it"}"#,
            "\nnonsense\n{\"type\":\"from_the_future\"}\n",
            r#"{"type":"assistant_message","text":"Yes.","tool_calls":[{"tool_name":"bash","input_preview":"ls"}]}"#,
            "\n",
            r#"{"type":"tool_result","tool_call_id":"1","tool_name":"bash","output":"a","is_error":true}"#,
            "\n",
            r#"{"type":"program_message","role":"program","kind":"summary","content":"so far"}"#,
        ));
        let said = pieces[0].as_array().unwrap();
        let who: Vec<_> = said.iter().map(|message| message["who"].as_str().unwrap()).collect();
        assert_eq!(who, ["user", "assistant", "tool", "program"]);
        assert_eq!((&said[0]["text"], &said[1]["calls"][0]["input"]), (&json!("fix it"), &json!("ls")));
        assert_eq!((&said[2]["is_error"], &pieces[1]), (&json!(true), &json!({"pieces": 1, "count": 4})));
    }

    #[test]
    fn a_long_conversation_is_several_pieces_and_a_long_message_is_cut() {
        let line = format!(r#"{{"type":"user_message","content":"{}"}}{}"#, "x".repeat(60_000), "\n");
        let pieces = pieces(&line.repeat(20));
        assert_eq!(pieces.last().unwrap(), &json!({"pieces": pieces.len() - 1, "count": 20}));
        assert!(pieces.len() > 3, "{}", pieces.len());
        assert_eq!(pieces[0][0]["text"].as_str().unwrap().chars().count(), MAX_SAID + 1);
    }
}
