//! Leaving the sandbox in a session and at a desk: a failure of one message lets a later one ask, and only a
//! person says yes.

use crate::scene::Scene;
use conform::testkit::{Bench, DeskBench, ScriptedApprover, nobody, yes};
use gate::{
    BoxFuture,
    g2_admit::{Approver, Question, Reply, Scope},
};
use policy::{
    Action::{self, Allow, Ask},
    Origin, Pattern, Rule, RuleBook, RuleLayers,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tollgate_session::{
    Chain, Stop,
    desk::{Cascade, ReplyError, Seated, Shown},
};

const FREE: (&str, &str, Action) = ("*", "*", Allow);
const LINE: &str = "cat gone";

fn inside() -> Value {
    json!({ "command": LINE })
}

fn outside() -> Value {
    json!({"command": LINE, "outside_sandbox": "the cache lies outside"})
}

/// The line fails in one message, and leaves in the next.
fn scene() -> Scene {
    let turn = |args: Value| json!({"calls": [{"tool": "bash", "args": args}]});
    let turns = json!([turn(inside()), turn(outside())]);
    Scene::new(Bench::new(&[FREE]), turns)
}

#[tokio::test]
async fn what_failed_in_one_message_may_be_asked_for_in_the_next() {
    let scene = scene();
    let played = scene.play(|_| yes()).await;
    assert_eq!(played.asked, ["sandbox_escape cat gone"]);
    assert_eq!(scene.bench.host.ran_outside(), [LINE]);
    assert_eq!(played.ended.unwrap().stop, Stop::Model);
}

#[tokio::test]
async fn another_session_knows_nothing_of_it() {
    let first = scene();
    first.play(|_| nobody()).await;
    let second = Scene {
        turns: json!([{"calls": [{"tool": "bash", "args": outside()}]}]),
        ..first
    };
    let played = second.play(|_| yes()).await;
    assert_eq!(played.asked, [""; 0]);
    assert_eq!(second.bench.host.ran_outside(), [""; 0]);
}

#[tokio::test]
async fn with_nobody_there_the_ask_counts_as_one_that_went_unanswered() {
    let scene = scene();
    let ended = scene.play(|_| nobody()).await.ended.unwrap();
    assert_eq!(ended.unanswered_count(), 1);
    assert_eq!(scene.bench.host.ran_outside(), [""; 0]);
}

/// Says yes to everything, and never said that it asks a person.
struct Obliging;

impl Approver for Obliging {
    fn ask<'a>(&'a self, _: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async { yes() })
    }
}

#[tokio::test]
async fn in_a_chain_only_one_that_asks_a_person_answers() {
    for (has_parent, want) in [(true, 1), (false, 0)] {
        let parent = ScriptedApprover::new(|_: &Question<'_>| yes());
        let mut chain = Chain::new(&Obliging);
        if has_parent {
            chain = chain.then(&parent);
        }
        let scene = scene();
        scene.play_before(&chain).await;
        assert_eq!(scene.bench.host.ran_outside().len(), want);
        assert_eq!(parent.asked().len(), want);
    }
}

/// A desk with a session in which all is allowed but `ls`, and where the line has failed.
fn desk() -> DeskBench {
    let mut bench = DeskBench::new();
    let rule = |permission: &str, pattern: &str, action| {
        let pattern = Pattern::wildcard(pattern);
        Rule::new(permission, pattern, action, Origin::named("t"))
    };
    let layers = RuleLayers {
        base: vec![rule("*", "*", Allow), rule("bash", "ls", Ask)],
        ..RuleLayers::default()
    };
    let seated = Seated {
        id: "s".into(),
        parent: None,
        workspace: "/w".into(),
        rules: Arc::new(RuleBook::new(layers)),
    };
    bench.open(seated).unwrap();
    fails(&mut bench, "fails");
    bench
}

fn fails(bench: &mut DeskBench, name: &str) {
    bench.call(name, "s", "bash", inside()).unwrap();
    assert_eq!(bench.came_to(name), "ran");
}

fn leave(bench: &mut DeskBench, name: &str) {
    bench.call(name, "s", "bash", outside()).unwrap();
    assert_eq!(bench.came_to(name), "waits");
}

/// Lets the calls go on after an answer that did not come by the bench.
fn settle(bench: &mut DeskBench) {
    bench.cancel("no such session");
}

#[test]
fn an_ask_at_a_desk_shows_what_failed_and_takes_a_yes_from_a_person_alone() {
    let mut bench = desk();
    leave(&mut bench, "A");
    let asks = bench.desk().list(Some("s"));
    let [ask] = asks.as_slice() else {
        panic!("{asks:?}")
    };
    assert!(ask.needs_person && ask.keepable.usual().is_none());
    let Shown::Escape {
        text,
        reason,
        failed,
        described_as,
        timeout_ms,
    } = &ask.shown
    else {
        panic!("{ask:?}")
    };
    assert_eq!((text.as_str(), described_as), (LINE, &None));
    assert_eq!(*timeout_ms, 120_000);
    assert_eq!(reason, "the cache lies outside");
    assert!(failed.output().contains("No such file"), "{failed:?}");
    let always = |rules| Reply::Always {
        who: "ann".into(),
        scope: Scope::Global,
        rules,
    };
    let everything = Reply::Everything {
        who: "ann".into(),
        scope: Scope::Global,
    };
    for reply in [yes(), always(None), always(Some(Vec::new())), everything] {
        let taken = bench.reply("A", reply, Cascade::Session);
        assert_eq!(taken, Err(ReplyError::NeedsPerson));
        assert_eq!(bench.came_to("A"), "waits");
    }
    let desk = bench.desk().clone();
    desk.reply_in_person(&ask.id, always(None), Cascade::Session)
        .unwrap();
    settle(&mut bench);
    assert_eq!(bench.came_to("A"), "ran");
    assert_eq!(bench.end_of("A"), Some("allowed once"));
    assert_eq!(bench.approvals().kept(), []);
}

#[test]
fn everything_from_a_person_is_a_yes_to_this_alone() {
    let mut bench = desk();
    leave(&mut bench, "A");
    bench
        .call("B", "s", "bash", json!({ "command": "ls" }))
        .unwrap();
    let id = bench.desk().list(Some("s"))[0].id.clone();
    let everything = Reply::Everything {
        who: "ann".into(),
        scope: Scope::Session,
    };
    let desk = bench.desk().clone();
    desk.reply_in_person(&id, everything, Cascade::Session)
        .unwrap();
    settle(&mut bench);
    assert_eq!(bench.came_to("A"), "ran");
    assert_eq!(bench.end_of("A"), Some("allowed once"));
    assert_eq!(bench.came_to("B"), "waits");
    assert_eq!(bench.approvals().kept(), []);
}

#[test]
fn a_program_may_say_no() {
    let mut bench = desk();
    leave(&mut bench, "A");
    bench
        .reply("A", conform::testkit::no(), Cascade::Session)
        .unwrap();
    assert_eq!(bench.came_to("A"), "rejected");
}

#[test]
fn no_answer_to_another_ask_is_one_to_this() {
    let mut bench = desk();
    leave(&mut bench, "A");
    bench
        .call("B", "s", "bash", json!({ "command": "ls" }))
        .unwrap();
    let everything = Reply::Everything {
        who: "ann".into(),
        scope: Scope::Global,
    };
    bench.reply("B", everything, Cascade::Session).unwrap();
    assert_eq!(bench.came_to("A"), "waits");
    bench.pass_time();
    assert_eq!(
        bench.came_to("A"),
        "unanswered: nobody answered within 120 s"
    );
}

#[test]
fn two_failures_are_two_asks_with_an_answer_each() {
    let mut bench = desk();
    leave(&mut bench, "A");
    fails(&mut bench, "fails again");
    leave(&mut bench, "B");
    assert_eq!(bench.listed(), ["A", "B"]);
    let id = bench.desk().list(Some("s"))[0].id.clone();
    let desk = bench.desk().clone();
    desk.reply_in_person(&id, yes(), Cascade::Session).unwrap();
    settle(&mut bench);
    assert_eq!((bench.came_to("A"), bench.came_to("B")), ("ran", "waits"));
}
