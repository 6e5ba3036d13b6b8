//! What the model is told and what becomes of what it says.

use crate::scene::{Scene, call, called, error, result, said};
use conform::testkit::{Bench, nobody, yes};
use gate::g2_admit::{Question, Reply, Scope};
use model::{Arguments, Message, ToolCall};
use policy::Action::{Allow, Ask, Deny};
use serde_json::{Value, json};
use tollgate_session::Stop;

fn unasked(question: &Question<'_>) -> Reply {
    panic!("asked {question:?}")
}

fn write(path: &str, content: &str) -> Value {
    json!({"filePath": path, "content": content})
}

#[tokio::test]
async fn a_call_sees_what_the_call_before_it_in_the_same_message_wrote() {
    let turns = json!([{"calls": [
        {"tool": "write", "args": write("n.txt", "new\n")},
        {"tool": "read", "args": {"filePath": "n.txt"}},
        {"tool": "edit", "args": {"filePath": "n.txt", "oldString": "new", "newString": "newer"}},
        {"tool": "bash", "args": {"command": "cat n.txt"}},
    ]}]);
    let scene = Scene::new(Bench::new(&[("*", "*", Allow)]), turns);
    let played = scene.play(unasked).await;
    let results = played.results();
    assert!(
        results.iter().all(|(_, _, is_error)| !is_error),
        "{results:?}"
    );
    assert!(results[1].1.contains("1: new\n"), "{results:?}");
    assert_eq!(results[3].1, "newer\n");
    assert_eq!(played.ended.unwrap().stop, Stop::Model);
    let calls: Vec<u64> = scene
        .bench
        .journal
        .records()
        .iter()
        .map(|it| it.ids.call.number())
        .collect();
    assert!(calls.is_sorted(), "one after another");
}

#[tokio::test]
async fn what_goes_wrong_is_told_to_the_model_and_the_session_goes_on() {
    let turns = json!([
        {"text": "Let me see.", "calls": [{"tool": "Read", "args": {"filePath": "a.txt"}}]},
        {"calls": [{"tool": "read", "args": "{\"filePath\": "}]},
        {"calls": [{"id": "mine", "tool": "read", "args": {"filePath": ".env"}}]},
        {"calls": [{"tool": "read", "args": {"filePath": "gone"}}]},
        {"calls": [{"tool": "bash", "args": {"command": "true"}}]},
    ]);
    let rules = [("*", "*", Allow), ("read", "*.env", Deny)];
    let played = Scene::new(Bench::new(&rules), turns).play(unasked).await;
    let text = |message: &Message| match message {
        Message::Result { output, .. } => output.clone(),
        Message::User { .. } | Message::Assistant { .. } => String::new(),
    };
    let not_json = text(&played.messages[4]);
    let start = "The read tool was called with invalid arguments:\ninput: ";
    assert!(not_json.starts_with(start), "{not_json}");
    let raw = ToolCall {
        id: "call_2".into(),
        tool: "read".into(),
        arguments: Arguments::Text("{\"filePath\": ".into()),
    };
    let first = Message::Assistant {
        text: Some("Let me see.".into()),
        calls: vec![call("call_1", "Read", json!({"filePath": "a.txt"}))],
    };
    let unknown =
        "There is no tool `Read`. Did you mean `read`? Available tools: bash, read, edit, write.";
    let denied = "Denied: `read` for `.env` is not allowed by the rule `read: *.env = deny`. Nothing \
                  was done. Do not try the same thing in another spelling; do it another way or tell \
                  the user.";
    let expected = [
        Message::User { text: "go".into() },
        first,
        error("call_1", "Read", unknown),
        called(vec![raw]),
        error("call_2", "read", &not_json),
        called(vec![call("mine", "read", json!({"filePath": ".env"}))]),
        error("mine", "read", denied),
        called(vec![call("call_3", "read", json!({"filePath": "gone"}))]),
        error("call_3", "read", "File not found: /w/gone"),
        called(vec![call("call_4", "bash", json!({"command": "true"}))]),
        result("call_4", "bash", "(no output)"),
        said("done"),
    ];
    assert_eq!(played.messages, expected);
    assert_eq!(played.kept, expected, "the transcript has the same");
    assert_eq!(
        played.heard,
        [1, 3, 5, 7, 9, 11],
        "the model sees all that came before"
    );

    let ended = played.ended.unwrap();
    assert_eq!((ended.stop, ended.text.as_str()), (Stop::Model, "done"));
    let refused: Vec<_> = ended
        .refused
        .iter()
        .map(|it| (it.call_id.as_str(), it.gate().unwrap().number()))
        .collect();
    assert_eq!(
        refused,
        [("call_1", 0), ("call_2", 1), ("mine", 2)],
        "a failure is no refusal"
    );
    assert_eq!(ended.unanswered_count(), 0);
}

#[tokio::test]
async fn events_come_in_order() {
    let turns = json!([
        {"text": "First.", "calls": [
            {"tool": "bash", "args": {"command": "true"}},
            {"tool": "nothing", "args": {}},
        ]},
        {"text": "Last."},
    ]);
    let played = Scene::new(Bench::new(&[("*", "*", Allow)]), turns)
        .play(unasked)
        .await;
    let expected = [
        "text First.",
        "start call_1",
        "ok call_1",
        "start call_2",
        "error call_2",
        "text Last.",
    ];
    assert_eq!(played.events, expected);
    assert_eq!(played.ended.unwrap().text, "Last.");
}

#[tokio::test]
async fn each_turn_offers_what_the_rules_leave_open_then() {
    let turns = json!([
        {"calls": [{"tool": "bash", "args": {"command": "true"}}]},
        {"calls": [{"tool": "edit", "args": {}}]},
    ]);
    let scene = Scene::new(Bench::new(&[("read", "*", Deny)]), turns);
    let played = scene
        .play(|_| {
            scene.bench.deny("edit", "*");
            yes()
        })
        .await;
    let all: &[&str] = &["bash", "edit", "write"];
    assert_eq!(played.offered, [all, &["bash"], &["bash"]]);
    let refused = played.ended.unwrap().refused;
    assert_eq!(refused.first().unwrap().gate().unwrap().number(), 0);
}

#[tokio::test]
async fn a_yes_for_the_session_holds_in_the_next_turn() {
    let bash = json!({"calls": [{"tool": "bash", "args": {"command": "true"}}]});
    let scene = Scene::new(Bench::new(&[("bash", "*", Ask)]), json!([bash, bash]));
    let played = scene
        .play(|_| Reply::Always {
            who: "ann".into(),
            scope: Scope::Session,
            rules: None,
        })
        .await;
    assert_eq!(played.asked, ["bash true"]);
    assert_eq!(scene.bench.host.ran(), ["true", "true"]);
}

#[tokio::test]
async fn an_ask_that_nobody_answers_does_not_end_the_session_and_is_counted() {
    let turns = json!([
        {"calls": [
            {"tool": "bash", "args": {"command": "rm x"}},
            {"tool": "bash", "args": {"command": "true"}},
        ]},
        {"calls": [{"tool": "bash", "args": {"command": "rm y"}}]},
    ]);
    let rules = [("bash", "*", Allow), ("bash", "rm *", Ask)];
    let scene = Scene::new(Bench::new(&rules), turns);
    let played = scene.play(|_| nobody()).await;
    assert!(played.every_call_has_its_result());
    assert_eq!(scene.bench.host.ran(), ["true"]);
    let ended = played.ended.unwrap();
    assert_eq!(
        (ended.stop, ended.unanswered_count(), ended.refused.len()),
        (Stop::Model, 2, 2)
    );
}

#[tokio::test]
async fn the_journal_names_session_message_and_call() {
    let turns = json!([
        {"calls": [{"tool": "bash", "args": {"command": "true"}}]},
        {"calls": [{"id": "b", "tool": "bash", "args": {"command": "true"}}]},
    ]);
    let scene = Scene::new(Bench::new(&[("*", "*", Allow)]), turns);
    scene.play(unasked).await.ended.unwrap();
    let ids: Vec<_> = scene
        .bench
        .journal
        .records()
        .into_iter()
        .map(|it| (it.ids.session, it.ids.message, it.ids.tool_call_id))
        .collect();
    let id = |message: &str, call: &str| ("ses_1".to_owned(), message.to_owned(), call.to_owned());
    let (first, second) = (id("msg_1_000001", "call_1"), id("msg_1_000003", "b"));
    assert_eq!(ids, [first.clone(), first, second.clone(), second]);
}
