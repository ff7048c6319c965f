//! The wire formats, told apart by the path of a request, and what they have in common.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Ending, Refusal, Speech};
use super::{chat, messages, responses};

/// When a limit that has been reached is over, in seconds since 1970: long after any test.
const LIMIT_RESETS: u64 = 4_102_444_800;

/// What tells an agent that a limit of the subscription is the reason.
const LIMIT_HEADERS: [(&str, &str); 4] = [
    ("x-should-retry", "false"),
    ("anthropic-ratelimit-unified-status", "rejected"),
    ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
    ("anthropic-ratelimit-unified-reset", "4102444800"),
];

/// A wire format in which a model can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// Anthropic Messages, as Claude Code uses it.
    Messages,
    /// OpenAI Responses, as Codex uses it.
    Responses,
    /// OpenAI chat completions, as opencode uses it.
    Chat,
}

/// A piece of a stream and the pause before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) pause: Duration,
    pub(super) text: String,
}

/// An answer that is sent in one go.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plain {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) body: Value,
}

impl Plain {
    /// An answer to a request that went well.
    pub(super) fn ok(body: Value) -> Self {
        Self { status: 200, headers: Vec::new(), body }
    }
}

impl Frame {
    /// An event with a name and a body that repeats it, which two of the formats use.
    pub(super) fn named(pause: Duration, mut body: Value, name: &str) -> Self {
        body["type"] = name.into();
        Self { pause, text: format!("event: {name}\ndata: {body}\n\n") }
    }

    /// An event without a name.
    pub(super) fn unnamed(pause: Duration, body: &Value) -> Self {
        Self { pause, text: format!("data: {body}\n\n") }
    }
}

impl Wire {
    /// The format of a request that asks the model, or nothing if it asks for something else.
    pub(super) fn of(method: &str, path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match (method, path) {
            ("POST", "/v1/messages") => Some(Self::Messages),
            ("POST", "/v1/responses") => Some(Self::Responses),
            ("POST", "/v1/chat/completions") => Some(Self::Chat),
            _ => None,
        }
    }

    /// The answer as a stream of events. `number` makes the ids in it unique.
    pub(super) fn stream(self, speech: &Speech, number: usize) -> Vec<Frame> {
        let mut frames = match self {
            Self::Messages => messages::stream(speech, number),
            Self::Responses => responses::stream(speech, number),
            Self::Chat => chat::stream(speech, number),
        };
        if speech.ending == Ending::Dropped {
            frames.truncate(frames.len() / 2);
        }
        frames
    }

    /// The answer as one object. `number` makes the ids in it unique.
    pub(super) fn whole(self, speech: &Speech, number: usize) -> Plain {
        Plain::ok(match self {
            Self::Messages => messages::whole(speech, number),
            Self::Responses => responses::whole(speech, number),
            Self::Chat => chat::whole(speech, number),
        })
    }

    /// The refusal as the vendor words it.
    pub(super) fn refuse(self, refusal: Refusal) -> Plain {
        let (status, anthropic, openai, message) = match refusal {
            Refusal::RateLimited => {
                (429, "rate_limit_error", "rate_limit_exceeded", "This request would exceed your rate limit.")
            }
            Refusal::LimitReached => {
                (429, "rate_limit_error", "usage_limit_reached", "The usage limit has been reached.")
            }
            // The vendors have different codes for this one.
            Refusal::Overloaded if self == Self::Messages => (529, "overloaded_error", "", "Overloaded"),
            Refusal::Overloaded => (503, "", "server_is_overloaded", "The server is overloaded."),
            Refusal::Failed => (500, "api_error", "server_error", "Internal server error"),
            Refusal::Invalid => {
                (400, "invalid_request_error", "invalid_request_error", "The request cannot be read.")
            }
            Refusal::Unauthorized => {
                (401, "authentication_error", "invalid_api_key", "The API key is not valid.")
            }
        };
        let body = if self == Self::Messages {
            json!({"type": "error", "error": {"type": anthropic, "message": message}})
        } else {
            json!({"error": {"message": message, "type": openai, "code": openai, "resets_at": LIMIT_RESETS}})
        };
        let headers = match refusal {
            Refusal::RateLimited => vec![("retry-after", "1")],
            Refusal::LimitReached => LIMIT_HEADERS.to_vec(),
            Refusal::Overloaded | Refusal::Failed | Refusal::Invalid | Refusal::Unauthorized => Vec::new(),
        };
        Plain { status, headers, body }
    }
}

#[cfg(test)]
pub(super) fn bodies(frames: &[Frame]) -> Vec<Value> {
    let data = |frame: &Frame| frame.text.lines().find_map(|line| line.strip_prefix("data: ")?.parse().ok());
    frames.iter().filter_map(data).collect()
}

#[cfg(test)]
mod tests {
    use super::super::answer::Part;
    use super::*;

    fn speech(ending: Ending) -> Speech {
        let parts = vec![Part::Text("one two three".into())];
        Speech { parts, pace: Duration::from_millis(7), ending }
    }

    #[test]
    fn the_path_tells_the_format_and_the_query_does_not_matter() {
        assert_eq!(Wire::of("POST", "/v1/messages?beta=true"), Some(Wire::Messages));
        assert_eq!(Wire::of("POST", "/v1/responses"), Some(Wire::Responses));
        assert_eq!(Wire::of("POST", "/v1/chat/completions"), Some(Wire::Chat));
        assert_eq!(Wire::of("POST", "/v1/messages/count_tokens"), None);
        assert_eq!(Wire::of("GET", "/v1/messages"), None);
    }

    #[test]
    fn each_word_waits_for_its_turn_in_every_format() {
        for wire in [Wire::Messages, Wire::Responses, Wire::Chat] {
            let frames = wire.stream(&speech(Ending::Complete), 1);
            let paused = frames.iter().filter(|frame| frame.pause > Duration::ZERO).count();
            assert_eq!(paused, 3, "{wire:?}");
            assert!(frames.iter().all(|frame| frame.text.ends_with("\n\n")), "{wire:?}");
        }
    }

    #[test]
    fn a_dropped_stream_has_a_beginning_and_no_end() {
        for wire in [Wire::Messages, Wire::Responses, Wire::Chat] {
            let complete = wire.stream(&speech(Ending::Complete), 1);
            let dropped = wire.stream(&speech(Ending::Dropped), 1);
            assert!(!dropped.is_empty() && complete.starts_with(&dropped), "{wire:?}");
            assert!(dropped.len() < complete.len(), "{wire:?}");
        }
    }

    #[test]
    fn refusals_have_the_vendors_status() {
        assert_eq!(Wire::Messages.refuse(Refusal::Overloaded).status, 529);
        assert_eq!(Wire::Responses.refuse(Refusal::Overloaded).status, 503);
        assert_eq!(Wire::Chat.refuse(Refusal::Unauthorized).status, 401);
        let limited = Wire::Messages.refuse(Refusal::RateLimited);
        assert_eq!((limited.status, limited.headers.as_slice()), (429, &[("retry-after", "1")][..]));
        assert_eq!(limited.body["error"]["type"], "rate_limit_error");
    }
}
