//! What ends the turns, and that no call is left without a result when they end.

use crate::scene::Scene;
use conform::testkit::{Bench, no, yes};
use gate::{
    BoxFuture, Fault,
    g2_admit::{Approver, Question, Reply},
    tool::AnyTool,
};
use model::ModelError;
use policy::Action::{Allow, Ask};
use serde_json::{Value, json};
use std::future::pending;
use tollgate_session::{SessionError, Stop};
use tools::Read;

const RM_ASKS: [(&str, &str, policy::Action); 2] = [("bash", "*", Allow), ("bash", "rm *", Ask)];

fn bash(id: &str, line: &str) -> Value {
    json!({"id": id, "tool": "bash", "args": {"command": line}})
}

/// Two turns; the second call of the first is asked about.
fn turns() -> Value {
    json!([
        {"text": "One moment.", "calls": [bash("a", "true"), bash("b", "rm x"), bash("c", "true"), bash("d", "rm y")]},
        {"calls": [bash("e", "true")]},
    ])
}

#[tokio::test]
async fn a_plain_no_ends_the_turns_and_the_rest_is_answered_without_being_run() {
    let scene = Scene::new(Bench::new(&RM_ASKS), turns());
    let played = scene.play(|_| no()).await;
    assert!(played.every_call_has_its_result());
    let skipped = "Not run: an earlier call ended the turn.";
    assert_eq!(
        played.results()[2..],
        [("c", skipped, true), ("d", skipped, true)]
    );
    let events = [
        "text One moment.",
        "start a",
        "ok a",
        "start b",
        "error b",
        "skip c",
        "skip d",
    ];
    assert_eq!(played.events, events);
    assert_eq!(
        (played.asked.len(), scene.bench.host.ran()),
        (1, vec!["true".to_owned()])
    );
    let ended = played.ended.unwrap();
    assert_eq!(
        (ended.stop, ended.text.as_str()),
        (Stop::Rejected, "One moment.")
    );
    assert_eq!(
        ended.refused.len(),
        1,
        "what was skipped was refused by no gate"
    );
}

#[tokio::test]
async fn a_no_with_a_word_is_passed_on_and_the_session_goes_on() {
    let scene = Scene::new(Bench::new(&RM_ASKS), turns());
    let word = || Some("use the trash".to_owned());
    let played = scene
        .play(|_| Reply::Reject {
            who: "ann".into(),
            word: word(),
        })
        .await;
    assert!(played.every_call_has_its_result());
    let told = "The user rejected `bash` for `rm x` and says: use the trash";
    assert_eq!(played.results()[1], ("b", told, true));
    assert_eq!((played.asked.len(), scene.bench.host.ran().len()), (2, 3));
    assert_eq!(played.ended.unwrap().stop, Stop::Model);
}

#[tokio::test]
async fn a_fault_ends_the_session_after_its_result_is_kept() {
    let scene = Scene::new(Bench::new(&RM_ASKS), turns());
    let played = scene
        .play(|_| {
            scene.bench.journal.fill_up();
            yes()
        })
        .await;
    let fault = played.ended.as_ref().unwrap_err();
    assert!(
        matches!(fault, SessionError::Fault(Fault::Journal(_))),
        "{fault}"
    );
    let results = played.results();
    assert_eq!((results.len(), results[1].0), (2, "b"));
    assert!(
        results[1]
            .1
            .starts_with("The call was stopped by an internal fault")
    );
    assert_eq!(played.kept, played.messages);
    assert_eq!(scene.bench.host.ran(), ["true"]);
}

#[tokio::test]
async fn a_transcript_that_cannot_be_written_ends_the_session_before_the_next_step() {
    // 0 is the prompt, 1 what the model said, 2 the first result.
    for (full_at, ran) in [(0, 0), (1, 0), (2, 1)] {
        let mut scene = Scene::new(Bench::new(&RM_ASKS), turns());
        scene.full_at = Some(full_at);
        let played = scene.play(|_| yes()).await;
        let why = played.ended.as_ref().unwrap_err().to_string();
        assert_eq!(why, "the conversation could not be kept: no space left");
        assert_eq!(scene.bench.host.ran().len(), ran, "full at {full_at}");
        assert_eq!(
            (played.messages.len(), played.kept.len()),
            (full_at, full_at)
        );
    }
}

#[tokio::test]
async fn a_session_cancelled_before_it_begins_does_nothing() {
    let scene = Scene::new(Bench::new(&RM_ASKS), turns());
    scene.bench.cancel.cancel();
    let played = scene.play(|_| yes()).await;
    assert_eq!(played.ended.unwrap().stop, Stop::Cancelled);
    assert_eq!(
        (played.messages.len(), played.heard.len()),
        (1, 0),
        "the model is not asked"
    );
}

#[tokio::test]
async fn a_cancel_between_two_calls_of_a_message_stops_the_second() {
    let mut scene = Scene::new(Bench::new(&RM_ASKS), turns());
    scene.cancel_at = Some("c");
    let played = scene.play(|_| yes()).await;
    assert!(played.every_call_has_its_result());
    assert_eq!(scene.bench.host.ran(), ["true", "rm x"]);
    assert_eq!(
        played.results()[2],
        ("c", "The call was cancelled by the user.", true)
    );
    assert_eq!(played.events.last().unwrap(), "skip d");
    assert_eq!(played.ended.unwrap().stop, Stop::Cancelled);
}

/// Waits for an answer that never comes, and cancels the session meanwhile.
struct Impatient<'b>(&'b Bench);

impl Approver for Impatient<'_> {
    fn ask<'a>(&'a self, _: Question<'a>) -> BoxFuture<'a, Reply> {
        self.0.cancel.cancel();
        Box::pin(pending())
    }
}

#[tokio::test]
async fn a_cancel_while_a_person_thinks_ends_the_session() {
    let scene = Scene::new(Bench::new(&RM_ASKS), turns());
    let played = scene.play_before(&Impatient(&scene.bench)).await;
    assert!(played.every_call_has_its_result());
    assert_eq!(scene.bench.host.open_count(), 0);
    assert_eq!(scene.bench.host.ran(), ["true"]);
    assert_eq!(played.ended.unwrap().stop, Stop::Cancelled);
}

#[tokio::test]
async fn two_tools_of_one_name_are_found_before_the_model_is_asked() {
    let mut scene = Scene::new(Bench::new(&[]), json!([]));
    scene.tools.push(AnyTool::new(Read));
    let played = scene.play(|_| yes()).await;
    assert!(matches!(played.ended, Err(SessionError::Tools(_))));
    assert_eq!(played.heard.len(), 0);
}

#[tokio::test]
async fn a_model_without_a_turn_ends_the_session_with_its_own_error() {
    let unreachable = ModelError::Unreachable {
        name: "m".into(),
        reason: "refused".into(),
    };
    let error = SessionError::from(unreachable.clone());
    assert_eq!(error.to_string(), unreachable.to_string());
}
