//! Chat completions as they go over the wire, both ways. Must not send or receive.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Arguments, Message, Request, ToolCall, ToolOffer};

/// The longest tool name that servers take.
const NAME_CHARS_MAX: usize = 64;

/// The body of a request that asks for a streamed answer with its usage.
pub(super) fn request(model: &str, request: Request<'_>) -> Value {
    let mut body = json!({
        "model": model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages(request.system, request.messages),
    });
    // Servers refuse an empty list.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn tool(offer: &ToolOffer) -> Value {
    json!({"type": "function", "function": {
        "name": offer.name,
        "description": offer.description,
        "parameters": offer.schema,
    }})
}

/// The conversation with the results of one turn in the order of its calls, whatever the order in
/// which they came to be.
fn messages(system: &str, messages: &[Message]) -> Vec<Value> {
    let mut said = Vec::new();
    if !system.is_empty() {
        said.push(json!({"role": "system", "content": system}));
    }
    let mut order: Vec<&str> = Vec::new();
    let is_result = |message: &Message| matches!(message, Message::Result { .. });
    for group in messages.chunk_by(|one, next| is_result(one) && is_result(next)) {
        let mut group: Vec<&Message> = group.iter().collect();
        group.sort_by_key(|message| match message {
            Message::Result { call_id, .. } => order.iter().position(|id| id == call_id),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        for message in group {
            if let Message::Assistant { calls, .. } = message {
                order = calls.iter().map(|call| call.id.as_str()).collect();
            }
            said.push(one(message));
        }
    }
    said
}

fn one(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text.as_deref().unwrap_or_default()})
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        Message::Result {
            call_id, output, ..
        } => json!({"role": "tool", "tool_call_id": call_id, "content": output}),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {
        "name": name(&call.tool),
        "arguments": arguments(&call.arguments),
    }})
}

/// A name the model made up may be one that no server takes back, and the whole conversation
/// would be refused for it.
fn name(tool: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain: String = (tool.chars().take(NAME_CHARS_MAX))
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    if plain.is_empty() {
        return "unnamed".to_owned();
    }
    plain
}

/// Arguments as text. Servers that read them back (Ollama, vLLM) refuse a conversation in which
/// some are not an object; those are wrapped into one.
fn arguments(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Json(value) if value.is_object() => value.to_string(),
        Arguments::Json(value) => json!({"raw": value.to_string()}).to_string(),
        Arguments::Text(text) if text.trim().is_empty() => "{}".to_owned(),
        Arguments::Text(text) => match serde_json::from_str(text) {
            Ok(Value::Object(_)) => text.clone(),
            Ok(_) | Err(_) => json!({"raw": text}).to_string(),
        },
    }
}

/// One event of a stream, or a whole answer. Whatever a server leaves out is none, and what it
/// adds is passed over.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Tokens>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    /// What an event of a stream adds.
    pub(super) delta: Option<Piece>,
    /// What a whole answer is.
    pub(super) message: Option<Piece>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Piece {
    pub(super) content: Option<Content>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
pub(super) struct Part {
    pub(super) text: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallPiece {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionPiece>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FunctionPiece {
    pub(super) name: Option<String>,
    /// Text as the protocol has it; some servers give the object itself.
    pub(super) arguments: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Tokens {
    #[serde(rename = "prompt_tokens")]
    pub(super) input: Option<u64>,
    #[serde(rename = "completion_tokens")]
    pub(super) output: Option<u64>,
    #[serde(rename = "prompt_tokens_details")]
    pub(super) input_details: Option<InputDetails>,
}

#[derive(Debug, Deserialize)]
pub(super) struct InputDetails {
    pub(super) cached_tokens: Option<u64>,
}

/// What an error body says, in whichever of the forms in use.
pub(super) fn complaint(body: &Value) -> Option<&str> {
    let places = [
        "/error/message",
        "/0/error/message",
        "/error",
        "/message",
        "/detail",
    ];
    places
        .iter()
        .find_map(|place| body.pointer(place)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::{arguments, complaint, name};
    use crate::Arguments;
    use serde_json::json;

    #[test]
    fn arguments_on_the_wire_are_always_an_object() {
        let text = |text: &str| arguments(&Arguments::Text(text.into()));
        assert_eq!(
            arguments(&Arguments::Json(json!({"z": 1, "a": 2}))),
            r#"{"z":1,"a":2}"#
        );
        assert_eq!(arguments(&Arguments::Json(json!([1]))), r#"{"raw":"[1]"}"#);
        assert_eq!(text(r#"{ "a" : 1 }"#), r#"{ "a" : 1 }"#);
        assert_eq!(text(r#"{"a": "#), r#"{"raw":"{\"a\": "}"#);
        assert_eq!(text(" "), "{}");
    }

    #[test]
    fn names_on_the_wire_are_plain() {
        assert_eq!(name("web-fetch_2"), "web-fetch_2");
        assert_eq!(name("functions.read é"), "functions_read__");
        assert_eq!(name(""), "unnamed");
        assert_eq!(name(&"x".repeat(90)).len(), 64);
    }

    #[test]
    fn a_complaint_is_found_in_every_form() {
        for body in [
            json!({"error": {"message": "m", "code": 3}}),
            json!([{"error": {"message": "m"}}]),
            json!({"error": "m"}),
            json!({"message": "m", "object": "error"}),
            json!({"detail": "m"}),
        ] {
            assert_eq!(complaint(&body), Some("m"), "{body}");
        }
        assert_eq!(complaint(&json!({"detail": [{"msg": "m"}]})), None);
    }
}
