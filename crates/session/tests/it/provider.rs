//! A session with a model behind a server: what goes over the wire when much goes wrong.

use conform::{
    mock::{Answer, Mock},
    testkit::{Bench, ScriptedApprover, StoppedClock},
};
use gate::{
    authority::root_authority,
    g2_admit::Question,
    g3_confine::{ChildWrites, Profile, Silent},
};
use model::openai::{OpenAi, Options, Retries, Secret};
use policy::Action::{Allow, Deny};
use serde_json::{Value, json};
use std::time::Duration;
use tollgate_session::{Furniture, Session, Stop, Unheard, Untold};
use tools::builtins;

/// One message with two calls that work, one that is not JSON, one of a tool there is not, and one
/// that a rule denies; then a word.
fn script() -> String {
    let calls = json!([
        {"id": "works", "tool": "bash", "args": {"command": "cat a.txt"}},
        {"id": "reads", "tool": "read", "args": {"filePath": "a.txt"}},
        {"id": "broken", "tool": "read", "args": "{\"filePath\": "},
        {"id": "unknown", "tool": "Reed", "args": {"filePath": "a.txt"}},
        {"id": "denied", "tool": "read", "args": {"filePath": ".env"}},
    ]);
    json!({"turns": [{"text": "Let me see.", "calls": calls}, {"text": "That is all."}]})
        .to_string()
}

/// Tools by name only: their words have tests of their own.
fn without_tool_words(mut body: Value) -> Value {
    if let Some(Value::Array(tools)) = body.get_mut("tools") {
        for tool in tools {
            assert!(tool["function"]["parameters"].is_object(), "{tool}");
            *tool = tool["function"]["name"].clone();
        }
    }
    body
}

#[tokio::test]
async fn a_session_over_a_bad_line_says_in_its_second_request_what_came_of_each_call() {
    let trouble = [Answer::refusal_until(429, "slow down", "0"), Answer::Cut(5)];
    let mock = Mock::start(&script(), trouble).await.unwrap();
    let model = OpenAi::new(Options {
        api_key: Some(Secret::new("sk-test")),
        retries: Retries {
            wait: Duration::from_millis(1),
            ..Retries::default()
        },
        ..Options::new("mock", mock.base_url(), "x")
    })
    .unwrap();

    let bench = Bench::new(&[("*", "*", Allow), ("read", "*.env", Deny)]);
    let approver = ScriptedApprover::new(|question: &Question<'_>| panic!("asked {question:?}"));
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is the root of what it tests"
    )]
    let root = root_authority();
    // Two of them, so that a new tool is no new golden file.
    let mut tools = builtins();
    tools.retain(|tool| matches!(tool.name(), "bash" | "read"));
    let mut session = Session::new(Furniture {
        root: &root,
        model: &model,
        tools: &tools,
        rules: &bench.rules,
        approver: &approver,
        approvals: &bench.approvals,
        profile: &Profile {
            child_writes: ChildWrites::Workspace,
        },
        host: &bench.host,
        journal: &bench.journal,
        transcript: &Untold,
        clock: &StoppedClock(7),
        progress: &Silent,
        events: &Unheard,
        cancel: &bench.cancel,
        limits: bench.limits,
        agent: "code",
        system: "You are a test.",
        id: "ses_1",
    });
    let ended = session.run("go").await.unwrap();

    assert_eq!(
        (ended.stop, ended.text.as_str()),
        (Stop::Model, "That is all.")
    );
    let refused = ended.refused.iter().map(|it| it.call_id.as_str());
    assert_eq!(refused.collect::<Vec<_>>(), ["broken", "unknown", "denied"]);
    assert_eq!(
        bench.host.ran(),
        ["cat a.txt"],
        "once, however often the turn was sent"
    );
    let bodies: Vec<Value> = mock.received().into_iter().map(|it| it.body).collect();
    assert_eq!(bodies.len(), 4);
    assert!(
        bodies[..3].iter().all(|body| body == &bodies[0]),
        "the same request until it is answered"
    );
    let second = without_tool_words(bodies[3].clone());
    let text = serde_json::to_string_pretty(&second).unwrap() + "\n";
    assert_eq!(text, include_str!("../golden/second_request.json"));
}
