//! Who is asked when the first cannot be.

use crate::scene::Scene;
use conform::testkit::{Bench, ScriptedApprover, nobody, yes};
use gate::g2_admit::{Approver, Question, Reply};
use policy::Action::{Allow, Ask};
use serde_json::{Value, json};
use tollgate_session::{Chain, Ended, Stop};

fn absent(why: &'static str) -> impl Approver {
    ScriptedApprover::new(move |_: &Question<'_>| Reply::Nobody { why: why.into() })
}

fn turns() -> Value {
    let question = json!({"questions": [{"question": "Which?", "header": "h", "options": []}]});
    json!([{"calls": [
        {"tool": "bash", "args": {"command": "true"}},
        {"tool": "question", "args": question},
        {"tool": "read", "args": {"filePath": "a.txt"}},
    ]}])
}

async fn play(approver: &dyn Approver) -> (Ended, Vec<String>) {
    let rules = [("*", "*", Allow), ("bash", "*", Ask)];
    let mut scene = Scene::new(Bench::new(&rules), turns());
    scene.tools = tools::builtins();
    let played = scene.play_before(approver).await;
    let results = played.results();
    let outputs = results.iter().map(|it| it.1.to_owned()).collect();
    (played.ended.unwrap(), outputs)
}

#[tokio::test]
async fn the_first_who_is_there_answers_and_those_behind_are_not_asked() {
    let (child, root) = (
        absent("no window"),
        ScriptedApprover::new(|_: &Question<'_>| nobody()),
    );
    let parent = ScriptedApprover::new(|_: &Question<'_>| yes());
    let chain = Chain::new(&child).then(&parent).then(&root);
    let (ended, outputs) = play(&chain).await;
    assert_eq!((ended.stop, ended.refused.len()), (Stop::Model, 0));
    assert_eq!((parent.asked().len(), root.asked().len()), (1, 0));
    assert!(outputs[1].contains("you asked: Which?"), "{}", outputs[1]);
}

#[tokio::test]
async fn a_no_of_the_first_is_an_answer() {
    let child = ScriptedApprover::new(|_: &Question<'_>| conform::testkit::no());
    let parent = ScriptedApprover::new(|_: &Question<'_>| yes());
    let chain = Chain::new(&child).then(&parent);
    let (ended, _) = play(&chain).await;
    assert_eq!((ended.stop, parent.asked().len()), (Stop::Rejected, 0));
}

#[tokio::test]
async fn with_nobody_in_the_whole_chain_it_is_a_denial_with_each_reason_once_and_the_loop_goes_on()
{
    let (child, parent, root) = (
        absent("no window"),
        absent("no terminal"),
        absent("no window"),
    );
    let chain = Chain::new(&child).then(&parent).then(&root);
    let (ended, outputs) = play(&chain).await;
    assert_eq!((ended.stop, ended.unanswered_count()), (Stop::Model, 1));
    assert!(
        outputs[0].contains("(no window; no terminal)"),
        "{}",
        outputs[0]
    );
    assert!(outputs[2].contains("1: one"), "what comes after is done");
}
