//! The chat-completions provider against a server of our own. Must not leave this machine.
#![expect(clippy::panic, reason = "a test may stop where it stands")]

use std::{fmt::Write as _, future::Future, time::Duration};

use conform::mock::{Answer, Mock};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tollgate_model::{
    Arguments, Finish, Message, Model as _, ModelError, Request, ToolCall, ToolOffer, Turn, Usage,
    openai::{OpenAi, Options, Retries, Secret, Timeouts},
};

const KEY: &str = "sk-test-51e1e1";

const HELLO: &str =
    r#"{"turns": [{"text": "Hello, this is more than one piece of text: é, 漢字."}]}"#;

fn hello() -> Turn {
    turn("Hello, this is more than one piece of text: é, 漢字.")
}

fn turn(text: &str) -> Turn {
    Turn {
        text: Some(text.into()),
        ..Turn::default()
    }
}

fn call(id: &str, tool: &str, arguments: Arguments) -> ToolCall {
    ToolCall {
        id: id.into(),
        tool: tool.into(),
        arguments,
    }
}

/// Three quick retries and little patience.
fn options(base_url: impl Into<String>) -> Options {
    Options {
        api_key: Some(Secret::new(KEY)),
        timeouts: Timeouts {
            header: Duration::from_secs(20),
            idle: Duration::from_secs(20),
        },
        retries: Retries {
            count_max: 3,
            wait: Duration::from_millis(2),
            wait_max: Duration::from_millis(2),
        },
        ..Options::new("mock", base_url, "x")
    }
}

fn request(messages: &[Message]) -> Request<'_> {
    Request {
        system: "You are a test.",
        messages,
        tools: &[],
    }
}

fn said(text: &str) -> Message {
    Message::User { text: text.into() }
}

async fn ask(options: Options) -> Result<Turn, ModelError> {
    let model = OpenAi::new(options).unwrap();
    model.complete(request(&[said("go")])).await
}

/// The turn that these answers come to, without its usage, and how many requests it took.
async fn play(script: &str, answers: impl IntoIterator<Item = Answer>) -> (Turn, usize) {
    let mock = Mock::start(script, answers).await.unwrap();
    let turn = ask(options(mock.base_url())).await.unwrap();
    (
        Turn {
            usage: None,
            ..turn
        },
        mock.received().len(),
    )
}

/// The reason why these answers come to nothing, and how many requests it took.
async fn fail(answers: impl IntoIterator<Item = Answer>, options: Options) -> (String, usize) {
    let mock = Mock::start(HELLO, answers).await.unwrap();
    let options = Options {
        base_url: mock.base_url(),
        ..options
    };
    let error = ask(options).await.unwrap_err();
    let line = error.to_string();
    assert!(!line.contains(KEY) && !line.contains('\n'), "{line}");
    let start = format!(
        "model `mock/x` cannot be reached: {}/chat/completions: ",
        mock.base_url()
    );
    let reason = line
        .strip_prefix(&start)
        .unwrap_or_else(|| panic!("{line}"));
    (reason.to_owned(), mock.received().len())
}

/// Events of a stream with these chunks in them.
fn stream(chunks: &[Value]) -> Answer {
    let mut text = String::new();
    for chunk in chunks {
        writeln!(text, "data: {chunk}\n").unwrap();
    }
    text.push_str("data: [DONE]\n\n");
    Answer::raw(&[text.as_bytes()])
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

/// What a stream of these calls, one list a chunk, comes to.
async fn calls(chunks: &[Value]) -> Vec<ToolCall> {
    let chunks: Vec<Value> = (chunks.iter())
        .map(|calls| delta(&json!({ "tool_calls": calls })))
        .collect();
    play(HELLO, [stream(&chunks)]).await.0.calls
}

fn held_to_golden(name: &str, golden: &str, body: &Value) {
    let text = serde_json::to_string_pretty(body).unwrap() + "\n";
    assert_eq!(text, golden, "{name}");
}

// --- answers

#[tokio::test]
async fn streamed_text_is_put_together() {
    assert_eq!(play(HELLO, []).await, (hello(), 1));
}

#[tokio::test]
async fn a_whole_answer_does_as_well_as_a_stream() {
    let script = r#"{"turns": [{"text": "One.", "calls": [
        {"tool": "read", "args": {"filePath": "a"}}, {"tool": "bash", "args": "{"}]}]}"#;
    let streamed = play(script, []).await;
    assert_eq!(streamed.0.calls.len(), 2);
    assert_eq!(play(script, [Answer::Whole]).await, streamed);
    let body = r#"{"choices": [{"message": {"content": [{"type": "text", "text": "a"},
        {"type": "text", "text": "b"}], "tool_calls": [
            {"function": {"name": "read", "arguments": {"b": 1, "a": 2}}},
            {"function": {"name": "read", "arguments": null}}]}}]}"#;
    let whole = Answer::Fixed {
        status: 200,
        headers: vec![("content-type", "Application/JSON; charset=utf-8".into())],
        body: vec![body.into()],
    };
    let expected = Turn {
        calls: vec![
            call("call_1_0", "read", Arguments::Json(json!({"b": 1, "a": 2}))),
            call("call_1_1", "read", Arguments::Text(String::new())),
        ],
        ..turn("ab")
    };
    assert_eq!(play(HELLO, [whole]).await, (expected, 1));
}

#[tokio::test]
async fn calls_come_in_order_with_their_arguments_as_the_model_gave_them() {
    let content = "line of a long file\n".repeat(20);
    let script = json!({"turns": [{"calls": [
        {"id": "one", "tool": "write", "args": {"filePath": "n.txt", "content": content}},
        {"id": "two", "tool": "nothing", "args": {}},
        {"id": "three", "tool": "read", "args": "{\"filePath\": "},
        {"id": "four", "tool": "read", "args": ""},
        {"id": "five", "tool": "read", "args": "[1]"},
    ]}]});
    let expected = vec![
        call(
            "one",
            "write",
            Arguments::Json(json!({"filePath": "n.txt", "content": content})),
        ),
        call("two", "nothing", Arguments::Json(json!({}))),
        call("three", "read", Arguments::Text("{\"filePath\": ".into())),
        call("four", "read", Arguments::Text(String::new())),
        call("five", "read", Arguments::Json(json!([1]))),
    ];
    let (turn, _) = play(&script.to_string(), []).await;
    assert_eq!((turn.text, turn.calls), (None, expected));
}

#[tokio::test]
async fn pieces_of_several_calls_may_be_mixed() {
    let found = calls(&[
        json!([{"index": 1, "id": "b", "function": {"name": "two", "arguments": "{\"x"}}]),
        json!([
            {"index": 0, "id": "a", "function": {"name": "one"}},
            {"index": 1, "id": "new", "function": {"name": null, "arguments": "\":"}},
        ]),
        json!([{"index": 0, "function": {"arguments": "{}"}}, {"index": 1, "function": {"arguments": "1}"}}]),
        json!([{"index": 1, "id": "b", "function": {"name": "two", "arguments": " "}}]),
    ])
    .await;
    let expected = [
        call("a", "one", Arguments::Json(json!({}))),
        call("b", "two", Arguments::Json(json!({"x": 1}))),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn calls_that_all_have_the_same_number_or_none_are_still_several() {
    let one = |index: Value, id: &str| json!([{"index": index, "id": id, "function": {"name": "read", "arguments": "{}"}}]);
    let read = |id: &str| call(id, "read", Arguments::Json(json!({})));
    for index in [json!(0), json!(null)] {
        let found = calls(&[one(index.clone(), "a"), one(index.clone(), "b")]).await;
        assert_eq!(found, [read("a"), read("b")], "{index}");
    }
    let found = calls(&[one(json!(0), ""), one(json!(1), "a"), one(json!(2), "a")]).await;
    assert_eq!(found, [read("call_1_0"), read("a"), read("a_")]);
}

#[tokio::test]
async fn a_stream_reads_the_same_with_other_line_ends_and_cut_within_characters() {
    let text = ": hello\r\n\r\nevent: message\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"é漢\"},\
                \"finish_reason\":\"\"}]}\r\n\r\ndata: {\"choices\":[],\"usage\":null}\r\n\r\n\
                data: {\"choices\":[{\"delta\":{\"refusal\":\"!\"},\"finish_reason\":\"length\"}]}\r\n\r\n";
    let pieces: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    let expected = Turn {
        finish: Finish::Length,
        ..turn("é漢!")
    };
    assert_eq!(play(HELLO, [Answer::raw(&pieces)]).await, (expected, 1));
}

#[tokio::test]
async fn why_the_model_stopped_and_what_it_cost_come_with_the_turn() {
    let stop =
        |reason: &str| json!({"choices": [{"delta": {"content": "a"}, "finish_reason": reason}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 3,
        "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 8}}});
    for (reason, finish) in [
        ("stop", Finish::Done),
        ("tool_calls", Finish::Done),
        ("length", Finish::Length),
        ("content_filter", Finish::Filtered),
    ] {
        let answer = stream(&[stop(reason), usage.clone()]);
        let mock = Mock::start(HELLO, [answer]).await.unwrap();
        let turn = ask(options(mock.base_url())).await.unwrap();
        let cost = Usage {
            input_tokens: 10,
            cached_tokens: 8,
            output_tokens: 3,
        };
        assert_eq!((turn.finish, turn.usage), (finish, Some(cost)), "{reason}");
    }
    let mock = Mock::start(HELLO, []).await.unwrap();
    let usage = ask(options(mock.base_url())).await.unwrap().usage.unwrap();
    assert!(
        usage.input_tokens > 0 && usage.output_tokens > 0,
        "{usage:?}"
    );
}

// --- requests

#[tokio::test]
async fn the_key_and_headers_are_sent_and_a_first_request_has_no_empty_lists() {
    let mock = Mock::start(HELLO, []).await.unwrap();
    let mut keyed = options(mock.base_url() + "/?api-version=2");
    keyed.headers = vec![("x-title".into(), Secret::new("a title"))];
    ask(keyed).await.unwrap();
    let received = mock.received().remove(0);
    assert_eq!(received.path, "/v1/chat/completions?api-version=2");
    assert_eq!(received.authorization, Some(format!("Bearer {KEY}")));
    let expected = json!({
        "model": "x", "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "You are a test."},
            {"role": "user", "content": "go"},
        ],
    });
    assert_eq!(received.body, expected);

    let mut own = options(mock.base_url());
    own.headers = vec![("Authorization".into(), Secret::new("Basic x"))];
    ask(own).await.unwrap();
    let mut keyless = options(mock.base_url());
    keyless.api_key = Some(Secret::new(" \n"));
    ask(keyless).await.unwrap();
    let sent: Vec<_> = mock
        .received()
        .into_iter()
        .map(|it| it.authorization)
        .collect();
    assert_eq!(sent[1..], [Some("Basic x".to_owned()), None]);
}

#[tokio::test]
async fn a_conversation_goes_out_with_results_in_the_order_of_their_calls() {
    let script = json!({"turns": [
        {"text": "Two things.", "calls": [
            {"id": "a", "tool": "read", "args": {"filePath": "a.txt"}},
            {"id": "b", "tool": "web fetch", "args": "{\"url\": "},
        ]},
        {"text": "Good."},
        {"calls": [{"tool": "bash", "args": {"command": "true"}}]},
    ]});
    let mock = Mock::start(&script.to_string(), []).await.unwrap();
    let model = OpenAi::new(options(mock.base_url())).unwrap();
    assert_eq!(model.name(), "mock/x");
    let tools = [ToolOffer {
        name: "read".into(),
        description: "Reads a file.".into(),
        schema: json!({"type": "object", "properties": {"filePath": {"type": "string"}}}),
    }];
    let result = |id: &str, output: &str, is_error| Message::Result {
        call_id: id.into(),
        tool: "any".into(),
        output: output.into(),
        is_error,
    };
    let mut messages = vec![said("go")];
    let more: [&[Message]; 3] = [
        &[
            result("b", "not JSON", true),
            result("a", "1: one\n", false),
        ],
        &[said("and now?")],
        &[],
    ];
    for more in more {
        let asked = Request {
            tools: &tools,
            ..request(&messages)
        };
        messages.push(model.complete(asked).await.unwrap().into());
        messages.extend_from_slice(more);
    }
    assert_eq!(messages.len(), 7);
    let received = mock.received();
    let golden = include_str!("../golden/second_request.json");
    held_to_golden("second", golden, &received[1].body);
    let golden = include_str!("../golden/third_request.json");
    held_to_golden("third", golden, &received[2].body);
}

// --- tries

#[tokio::test]
async fn what_may_pass_is_tried_again_and_the_same_turn_comes() {
    for answer in [
        Answer::refusal_until(429, "slow down", "0"),
        Answer::refusal_until(503, "busy", "Sun, 06 Nov 1994 08:49:37 GMT"),
        Answer::refusal(408, "late"),
        Answer::refusal(409, "twice"),
        Answer::refusal(500, "oops"),
        Answer::Cut(0),
        Answer::Cut(1),
        Answer::Cut(3),
        stream(&[
            delta(&json!({"content": "a"})),
            json!({"error": {"message": "overloaded"}}),
        ]),
        stream(&[json!({"error": {"message": "overloaded", "code": 502}})]),
        Answer::raw(&[b"data: {\"choices\":[{\"delta\":{\"content\":\"He\"}}]}\n\n"]),
        Answer::raw(&[]),
    ] {
        let shown = format!("{answer:?}");
        let twice = [answer.clone(), answer];
        assert_eq!(play(HELLO, twice).await, (hello(), 3), "{shown}");
    }
}

#[tokio::test]
async fn tries_end_and_the_line_says_what_where_how_often_and_what_to_do() {
    let four = |answer: Answer| vec![answer; 9];
    let any = || options("");
    let (line, count) = fail(four(Answer::refusal(503, "no \u{1b}[2J\nroom")), any()).await;
    assert_eq!(
        (line.as_str(), count),
        (
            "the server answers 503 Service Unavailable: no \\u{1b}[2J room (tried 4 times); the \
             fault is the server's; try again later",
            4
        )
    );
    let (line, count) = fail(four(Answer::Cut(2)), any()).await;
    assert_eq!(count, 4);
    assert!(line.starts_with("the answer broke off: "), "{line}");
    assert!(
        line.ends_with(" (tried 4 times); try again later"),
        "{line}"
    );

    let once = Options {
        retries: Retries {
            count_max: 0,
            ..Retries::default()
        },
        ..any()
    };
    let (line, count) = fail(four(Answer::refusal(500, "oops")), once).await;
    assert_eq!(count, 1);
    assert!(line.contains("oops (tried once); "), "{line}");
}

#[tokio::test]
async fn what_would_fail_again_is_not_tried_again() {
    let page = Answer::Fixed {
        status: 200,
        headers: vec![("content-type", "text/html; charset=utf-8".into())],
        body: vec![b"<html>data: [DONE]\n\n".into()],
    };
    let json = |body: &str| Answer::Fixed {
        status: 200,
        headers: vec![("content-type", "application/json".into())],
        body: vec![body.into()],
    };
    let moved = Answer::Fixed {
        status: 308,
        headers: vec![("location", "http://127.0.0.1:1/".into())],
        body: vec![],
    };
    let many: Vec<Value> = (0..257)
        .map(|at| json!({"index": at, "id": at.to_string(), "function": {"name": "read"}}))
        .collect();
    for (answer, expected) in [
        (
            Answer::refusal(400, "bad request"),
            "the server answers 400 Bad Request: bad request",
        ),
        (
            Answer::refusal(404, "no model x"),
            "the server answers 404 Not Found: no model x",
        ),
        (moved, "the server answers 308 Permanent Redirect"),
        (page, "the answer is a web page"),
        (
            json("{\"choices\": []}"),
            "the answer holds no turn: {\"choices\": []}",
        ),
        (json("[]"), "the answer is not a chat completion: []"),
        (
            json("{\"error\": \"no\"}}"),
            "the answer is not a chat completion",
        ),
        (
            json("\u{fffd}"),
            "the answer is not a chat completion: \u{fffd}",
        ),
        (
            Answer::raw(&[b"data: [DONE]\n\n"]),
            "the answer holds no turn",
        ),
        (
            Answer::raw(&[b"data: {\"choices\"\n\n"]),
            "the answer is not a chat completion: {\"choices\"",
        ),
        (
            Answer::raw(&[b"data: {\"a\": \"\xff\"}\n\n"]),
            "the stream is not UTF-8",
        ),
        (
            stream(&[json!({"error": {"message": "who?", "code": 403}})]),
            "the server answers 403 Forbidden: who?",
        ),
        (
            stream(&[delta(&json!({ "tool_calls": many }))]),
            "the answer has too many calls",
        ),
        (
            Answer::refusal_until(429, "tomorrow", "86400"),
            "the server answers 429 Too Many Requests: \
            tomorrow, and asks to wait 86400 s",
        ),
    ] {
        let (line, count) = fail([answer], options("")).await;
        assert!(line.starts_with(expected), "{line}");
        assert!(line.contains(" (tried once); "), "{line}");
        assert_eq!(count, 1, "{line}");
    }
}

#[tokio::test]
async fn a_wrong_key_is_told_without_the_key() {
    let message = format!("Incorrect API key provided: {KEY}. You can find your key elsewhere.");
    let (line, count) = fail([Answer::refusal(401, &message)], options("")).await;
    assert_eq!(
        (line.as_str(), count),
        (
            "the server answers 401 Unauthorized: Incorrect API key provided: [secret]. You can \
             find your key elsewhere. (tried once); check the key of this provider",
            1
        )
    );
}

#[tokio::test]
async fn a_large_answer_is_not_taken_whole() {
    let piece = format!(
        "data: {}\n\n",
        delta(&json!({"content": "x".repeat(1 << 20)}))
    );
    let pieces = vec![piece.as_bytes(); 33];
    let (line, count) = fail([Answer::raw(&pieces)], options("")).await;
    assert!(
        line.starts_with("the answer is larger than 33554432 bytes"),
        "{line}"
    );
    assert_eq!(count, 1);

    let huge = Answer::Fixed {
        status: 400,
        headers: Vec::new(),
        body: vec![vec![b'x'; 1 << 20]; 33],
    };
    let (line, _) = fail([huge], options("")).await;
    assert!(line.len() < 500, "{line}");
}

// --- silence

#[tokio::test]
async fn silence_before_the_answer_is_not_waited_out() {
    let brief = Options {
        timeouts: Timeouts {
            header: Duration::from_millis(50),
            ..Timeouts::default()
        },
        ..options("")
    };
    let (line, _) = fail(vec![Answer::Silence; 9], brief).await;
    assert_eq!(
        line,
        "no answer within 0.05 s (tried 4 times); is the server busy? a larger header timeout may \
         help"
    );
}

#[tokio::test]
async fn silence_within_the_answer_is_not_waited_out() {
    let brief = Options {
        timeouts: Timeouts {
            idle: Duration::from_millis(50),
            ..Timeouts::default()
        },
        ..options("")
    };
    let (line, count) = fail(vec![Answer::Hang(2); 9], brief.clone()).await;
    assert_eq!(count, 4);
    assert!(
        line.starts_with("the answer stopped for 0.05 s (tried 4 times); "),
        "{line}"
    );
    let mock = Mock::start(HELLO, [Answer::Hang(2)]).await.unwrap();
    let brief = Options {
        base_url: mock.base_url(),
        ..brief
    };
    assert_eq!(ask(brief).await.unwrap().text, hello().text);
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_longer_than_any_pause_within_it() {
    let script = json!({"turns": [{"text": "word ".repeat(400)}]}).to_string();
    let mock = Mock::start(&script, [Answer::Slow(Duration::from_secs(5))])
        .await
        .unwrap();
    let began = tokio::time::Instant::now();
    let turn = ask(options(mock.base_url())).await.unwrap();
    assert_eq!(turn.text, Some("word ".repeat(400)));
    assert!(
        began.elapsed() > Duration::from_mins(5),
        "by the paused clock"
    );
    assert_eq!(mock.received().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_complete_but_not_ended_is_taken() {
    let script = r#"{"turns": [{"text": "a"}]}"#;
    let began = tokio::time::Instant::now();
    // The head, one piece of text, the finish, the usage, the end.
    let (turn, count) = play(script, [Answer::Hang(5)]).await;
    assert_eq!((turn.text.as_deref(), count), (Some("a"), 1));
    let waited = began.elapsed();
    assert!(
        waited < Duration::from_secs(1),
        "{waited:?} by the paused clock"
    );
}

#[tokio::test]
async fn dropping_the_future_ends_the_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let model = OpenAi::new(options(base_url)).unwrap();
    let messages = [said("go")];
    let mut asked = model.complete(request(&messages));
    let accepted = tokio::select! {
        accepted = listener.accept() => accepted,
        turn = &mut asked => panic!("{turn:?}"),
    };
    let (mut stream, _) = accepted.unwrap();
    drop(asked);
    let mut bytes = Vec::new();
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut bytes);
    // A reset is an end as well.
    within(ended).await.ok();
}

/// Fails the test if it never ends.
async fn within<F: Future>(future: F) -> F::Output {
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, future).await.unwrap()
}

// --- no connection

#[tokio::test]
async fn a_closed_port_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = ask(options(format!("http://{address}/v1?key=abcdef")))
        .await
        .unwrap_err();
    let line = error.to_string();
    let start = format!(
        "model `mock/x` cannot be reached: http://{address}/v1/chat/completions: no connection: \
         Connection refused (os error "
    );
    let end = ") (tried 4 times); is the server running and `base_url` right?";
    assert!(line.starts_with(&start) && line.ends_with(end), "{line}");
}

#[tokio::test]
async fn a_server_without_tls_is_not_spoken_to_in_plain_text() {
    let mock = Mock::start(HELLO, []).await.unwrap();
    let base_url = mock.base_url().replace("http:", "https:");
    let error = ask(options(base_url)).await.unwrap_err().to_string();
    assert!(error.contains(": no connection: "), "{error}");
    assert_eq!(mock.received(), []);
}

// --- settings and keys

#[test]
fn settings_that_cannot_be_used_are_told_without_what_they_hold() {
    let set = |change: fn(&mut Options)| {
        let mut options = options("https://127.0.0.1/v1");
        change(&mut options);
        match OpenAi::new(options) {
            Err(error @ ModelError::Settings { .. }) => {
                let line = error.to_string();
                assert!(!line.contains(KEY), "{line}");
                let start = "model `mock/x` cannot be used: ";
                line.strip_prefix(start)
                    .unwrap_or_else(|| panic!("{line}"))
                    .to_owned()
            }
            other => panic!("{other:?}"),
        }
    };
    let plain = "a key, header or query is not sent over plain http to another machine; begin \
                 `base_url` with `https`, or leave the key, the headers and the query out";
    assert_eq!(
        set(|it| it.base_url = "http://192.168.1.2/v1".into()),
        plain
    );
    assert_eq!(
        set(|it| {
            it.base_url = "http://box/v1".into();
            it.api_key = None;
            it.headers = vec![("api-key".into(), Secret::new(KEY))];
        }),
        plain
    );
    assert_eq!(
        set(|it| {
            it.base_url = format!("http://box/v1?key={KEY}");
            it.api_key = None;
        }),
        plain
    );
    assert_eq!(
        set(|it| it.base_url = format!("https://me:{KEY}@box/v1")),
        "`base_url` must not hold a user or password; use the key or a header"
    );
    assert_eq!(
        set(|it| it.base_url = "ftp://box/v1".into()),
        "`base_url` must begin with `http://` or `https://`"
    );
    assert_eq!(
        set(|it| it.base_url = KEY.into()),
        "`base_url` is no URL: relative URL without a base"
    );
    assert_eq!(
        set(|it| it.api_key = Some(Secret::new(format!("{KEY}\n{KEY}")))),
        "the key holds a character that cannot be sent"
    );
    assert_eq!(
        set(|it| it.headers = vec![("x-a".into(), Secret::new(format!("{KEY}\0")))]),
        "the header `x-a` holds a character that cannot be sent"
    );
    assert_eq!(
        set(|it| it.headers = vec![("x a".into(), Secret::new(KEY))]),
        "`x a` is no name of a header"
    );
}

#[test]
fn a_server_in_the_house_without_a_key_is_fine() {
    let keyless = Options {
        api_key: None,
        ..options("http://192.168.1.2:11434/v1")
    };
    assert!(OpenAi::new(keyless).is_ok());
}

#[test]
fn nothing_shows_a_key() {
    let mut options = options(format!("http://localhost/v1?key={KEY}"));
    options.headers = vec![("x-a".into(), Secret::new(KEY))];
    let secret = Secret::new(KEY);
    let shown = format!("{options:#?} {options:?} {secret:?} {secret}");
    let model = OpenAi::new(options).unwrap();
    let shown = format!("{shown} {model:?} {model:#?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(
        shown.contains("OpenAi(mock/x at http://localhost/v1/chat/completions)"),
        "{shown}"
    );
    assert!(shown.contains("[secret] [secret]"), "{shown}");
}
