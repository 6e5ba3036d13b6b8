//! One turn as a server would send it. Must not choose the turn.

use std::{collections::VecDeque, io, pin::Pin, time::Duration};

use futures::stream::{self, Stream};
use http_body_util::StreamBody;
use hyper::{
    Response,
    body::{Bytes, Frame},
};
use model::{Arguments, ToolCall, Turn};
use serde_json::{Value, json};

use super::Answer;

/// Words and arguments are streamed in pieces of so many characters: small enough that a client
/// has to put them together.
const PIECE_CHARS: usize = 24;

/// A body that is sent piece by piece.
pub(super) type Played = StreamBody<Pin<Box<dyn Stream<Item = io::Result<Frame<Bytes>>> + Send>>>;

/// What comes after the last piece.
#[derive(Clone, Copy, Debug)]
enum End {
    Close,
    Drop,
    Hang,
}

/// The response to a request with this body, or none for silence.
pub(super) fn answer(answer: Answer, turn: &Turn, request: &Value) -> Option<Response<Played>> {
    let pieces = || pieces(turn, request);
    Some(match answer {
        Answer::Silence => return None,
        Answer::Fixed {
            status,
            headers,
            body,
        } => {
            let headers: Vec<_> = (headers.iter())
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            respond(status, &headers, played(body, None, End::Close))
        }
        Answer::Whole => json_answer(200, &whole(turn, request)),
        Answer::Stream if request.get("stream") != Some(&Value::Bool(true)) => {
            json_answer(200, &whole(turn, request))
        }
        Answer::Stream => events(pieces(), None, End::Close),
        Answer::Slow(pause) => events(pieces(), Some(pause), End::Close),
        Answer::Cut(count) => events(first(count, pieces()), None, End::Drop),
        Answer::Hang(count) => events(first(count, pieces()), None, End::Hang),
    })
}

/// A refusal by the server itself.
pub(super) fn refusal(status: u16, message: &str) -> Response<Played> {
    json_answer(status, &json!({"error": {"message": message}}))
}

/// The models there are; whatever name is asked for, it is the same one.
pub(super) fn models() -> Response<Played> {
    let model = json!({"id": "mock", "object": "model", "created": 0, "owned_by": "tollgate"});
    json_answer(200, &json!({"object": "list", "data": [model]}))
}

fn first(count: usize, mut pieces: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    pieces.truncate(count);
    pieces
}

fn json_answer(status: u16, body: &Value) -> Response<Played> {
    let body = vec![body.to_string().into_bytes()];
    let kind = [("content-type", "application/json")];
    respond(status, &kind, played(body, None, End::Close))
}

fn events(pieces: Vec<Vec<u8>>, pause: Option<Duration>, end: End) -> Response<Played> {
    let headers = [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache"),
    ];
    respond(200, &headers, played(pieces, pause, end))
}

fn respond(status: u16, headers: &[(&str, &str)], body: Played) -> Response<Played> {
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    // A status or header that is none is a mistake of the test, and shows as one.
    builder.body(body).unwrap_or_else(|error| {
        let mut response = refusal(500, &format!("mock: {error}"));
        *response.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

fn played(pieces: Vec<Vec<u8>>, pause: Option<Duration>, end: End) -> Played {
    let pieces = VecDeque::from(pieces);
    StreamBody::new(Box::pin(stream::unfold(
        pieces,
        move |mut pieces| async move {
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                // Makes the server send what it has, so that pieces arrive as pieces.
                None => tokio::task::yield_now().await,
            }
            if let Some(piece) = pieces.pop_front() {
                return Some((Ok(Frame::data(Bytes::from(piece))), pieces));
            }
            match end {
                End::Close => None,
                End::Drop => Some((Err(io::Error::other("dropped")), pieces)),
                End::Hang => std::future::pending().await,
            }
        },
    )))
}

/// The turn as the events of a stream, the last of them included.
fn pieces(turn: &Turn, request: &Value) -> Vec<Vec<u8>> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    for text in chop(turn.text.as_deref().unwrap_or_default()) {
        deltas.push(json!({"content": text}));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let mut head = tool_call(call, "");
        head["index"] = index.into();
        deltas.push(json!({"tool_calls": [head]}));
        for text in chop(&arguments(call)) {
            let piece = json!({"index": index, "function": {"arguments": text}});
            deltas.push(json!({"tool_calls": [piece]}));
        }
    }
    let choice = |delta: Value, reason: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let mut pieces: Vec<Value> = (deltas.into_iter())
        .map(|delta| chunk(request, &choice(delta, None)))
        .collect();
    pieces.push(chunk(request, &choice(json!({}), Some(finish(turn)))));
    if request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)) {
        let mut last = chunk(request, &json!([]));
        last["usage"] = usage(turn, request);
        pieces.push(last);
    }
    let event = |data: String| format!("data: {data}\n\n").into_bytes();
    let mut events: Vec<Vec<u8>> = (pieces.iter())
        .map(|piece| event(piece.to_string()))
        .collect();
    events.push(event("[DONE]".to_owned()));
    events
}

fn chunk(request: &Value, choices: &Value) -> Value {
    answer_of("chat.completion.chunk", request, choices)
}

/// The turn as one answer.
fn whole(turn: &Turn, request: &Value) -> Value {
    let mut message = json!({"role": "assistant", "content": turn.text});
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter();
        message["tool_calls"] = calls
            .map(|call| tool_call(call, &arguments(call)))
            .collect();
    }
    let choices = json!([{"index": 0, "message": message, "finish_reason": finish(turn)}]);
    let mut answer = answer_of("chat.completion", request, &choices);
    answer["usage"] = usage(turn, request);
    answer
}

fn answer_of(object: &str, request: &Value, choices: &Value) -> Value {
    json!({
        "id": "chatcmpl-mock",
        "object": object,
        "created": 0,
        "model": request.get("model"),
        "choices": choices,
    })
}

fn tool_call(call: &ToolCall, arguments: &str) -> Value {
    let function = json!({"name": call.tool, "arguments": arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

fn arguments(call: &ToolCall) -> String {
    match &call.arguments {
        Arguments::Json(value) => value.to_string(),
        Arguments::Text(text) => text.clone(),
    }
}

fn finish(turn: &Turn) -> &'static str {
    if turn.calls.is_empty() {
        return "stop";
    }
    "tool_calls"
}

/// No tokens are counted: a token is four bytes here, and the same request costs the same.
fn usage(turn: &Turn, request: &Value) -> Value {
    let said = turn.text.as_ref().map_or(0, String::len)
        + (turn.calls.iter())
            .map(|call| arguments(call).len())
            .sum::<usize>();
    let heard = request
        .get("messages")
        .map_or(0, |list| list.to_string().len());
    let (prompt, completion) = (heard.div_ceil(4), said.div_ceil(4));
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    })
}

fn chop(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    (chars.chunks(PIECE_CHARS))
        .map(|piece| piece.iter().collect())
        .collect()
}
