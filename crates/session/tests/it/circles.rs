//! A model that goes in circles: asked about before it goes round again, and ended if nobody lets it.

use crate::scene::{Played, Scene};
use conform::testkit::{Bench, no, nobody, yes};
use gate::{
    access::Evidence,
    g2_admit::{Question, Reply},
};
use policy::Action::{self, Allow, Ask, Deny};
use serde_json::{Value, json};
use tollgate_session::Stop;

const FREE: (&str, &str, Action) = ("*", "*", Allow);
const LOOP_ASKS: (&str, &str, Action) = ("doom_loop", "*", Ask);

/// A message that says this and calls `bash` once.
fn turn(line: &str) -> Value {
    json!({"text": "Again.", "calls": [{"tool": "bash", "args": {"command": line}}]})
}

fn turns(lines: &[&str]) -> Value {
    lines.iter().map(|line| turn(line)).collect()
}

fn scene(rules: &[(&str, &str, Action)], turns: Value) -> Scene {
    Scene::new(Bench::new(rules), turns)
}

fn stop(played: &Played) -> Stop {
    played.ended.as_ref().unwrap().stop
}

#[tokio::test]
async fn the_third_of_the_same_calls_is_asked_about_before_it_runs() {
    let turns = turns(&["true", "true", "true", "echo on"]);
    let scene = scene(&[FREE, LOOP_ASKS], turns);
    let ran_then = |question: &Question<'_>| {
        assert_eq!(scene.bench.host.ran(), ["true", "true"]);
        let shown = Evidence::Repeats("bash {\"command\":\"true\"}");
        assert_eq!(question.evidence, shown);
        yes()
    };
    let played = scene.play(ran_then).await;
    assert_eq!(played.asked, ["doom_loop bash"]);
    assert_eq!(
        scene.bench.host.ran(),
        ["true", "true", "true", "echo on"],
        "a yes lets it go on"
    );
    assert_eq!(stop(&played), Stop::Model);
    let verbs = scene.bench.journal.verbs();
    let third = ["intend declare", "did declare", "intend spawn", "did spawn"];
    assert_eq!(verbs[4..8], third, "the answer is in the journal");
}

#[tokio::test]
async fn with_nobody_there_it_ends_the_run_with_the_reason() {
    let calls = json!([{"calls": [
        {"id": "a", "tool": "bash", "args": {"command": "true"}},
        {"id": "b", "tool": "bash", "args": "{\"command\" : \"true\"}"},
        {"id": "c", "tool": "bash", "args": {"command": "true"}},
        {"id": "d", "tool": "bash", "args": {"command": "echo on"}},
    ]}]);
    let scene = scene(&[FREE, LOOP_ASKS], calls);
    let played = scene.play(|_| nobody()).await;
    assert_eq!(scene.bench.host.ran(), ["true", "true"]);
    assert!(played.every_call_has_its_result());
    let ended = played.ended.unwrap();
    assert_eq!(ended.stop, Stop::Loop);
    let [refused] = ended.refused.as_slice() else {
        panic!("{:?}", ended.refused)
    };
    let why = refused.why.to_string();
    assert_eq!(refused.call_id, "c");
    assert!(
        why.contains("`doom_loop` for `bash`") && why.contains("no terminal"),
        "{why}"
    );
    assert_eq!(scene.bench.journal.verbs().last().unwrap(), "refused");
}

#[tokio::test]
async fn calls_that_take_turns_are_a_loop_as_well() {
    let lines = ["true", "echo a", "true", "echo a", "true", "echo a"];
    let scene = scene(&[FREE, LOOP_ASKS], turns(&lines));
    let played = scene.play(|_| nobody()).await;
    assert_eq!(
        (stop(&played), scene.bench.host.ran().len()),
        (Stop::Loop, 5)
    );
}

#[tokio::test]
async fn what_is_denied_or_does_not_fit_or_is_unknown_is_a_loop_as_well() {
    let denied = turns(&["rm x"; 3]);
    let misfit = json!({"calls": [{"tool": "bash", "args": {"comand": "true"}}]});
    let unknown = json!({"calls": [{"tool": "Bash", "args": {"command": "true"}}]});
    let rules = [FREE, LOOP_ASKS, ("bash", "rm *", Deny)];
    for calls in [
        denied,
        json!([misfit, misfit, misfit]),
        json!([unknown, unknown, unknown]),
    ] {
        let played = scene(&rules, calls).play(|_| nobody()).await;
        assert_eq!((stop(&played), played.asked.len()), (Stop::Loop, 1));
    }
}

#[tokio::test]
async fn a_word_of_the_user_begins_anew() {
    let line = turn("true");
    let done = json!({"text": "Done."});
    let mut scene = scene(
        &[FREE, LOOP_ASKS],
        json!([line, done, line, done, line, done]),
    );
    scene.prompts = vec!["go"; 3];
    let played = scene.play(|_| nobody()).await;
    assert_eq!(stop(&played), Stop::Model);
    assert_eq!(scene.bench.host.ran().len(), 3);
}

#[tokio::test]
async fn a_rule_answers_like_any_other() {
    for (rules, asked, end) in [
        (vec![FREE, ("doom_loop", "bash", Allow)], 0, Stop::Model),
        (vec![FREE, ("doom_loop", "bash", Deny)], 0, Stop::Loop),
        (vec![("bash", "*", Allow)], 1, Stop::Loop),
    ] {
        let scene = scene(&rules, turns(&["true"; 3]));
        let played = scene.play(|_| no()).await;
        assert_eq!(
            (stop(&played), played.asked.len()),
            (end, asked),
            "{rules:?}"
        );
        let ran = if end == Stop::Model { 3 } else { 2 };
        assert_eq!(scene.bench.host.ran().len(), ran);
    }
}

#[tokio::test]
async fn a_no_with_a_word_is_passed_on_and_the_session_goes_on() {
    let scene = scene(
        &[FREE, LOOP_ASKS],
        turns(&["true", "true", "true", "echo on"]),
    );
    let played = scene
        .play(|_| Reply::Reject {
            who: "ann".into(),
            word: Some("read the log".into()),
        })
        .await;
    assert!(played.results()[2].1.ends_with("says: read the log"));
    assert_eq!(scene.bench.host.ran(), ["true", "true", "echo on"]);
    assert_eq!(stop(&played), Stop::Model);
}

#[tokio::test]
async fn each_further_round_is_asked_about_again() {
    let scene = scene(&[FREE, LOOP_ASKS], turns(&["true"; 5]));
    let played = scene.play(|_| yes()).await;
    assert_eq!(played.asked, ["doom_loop bash"; 3]);
}
