//! What comes back when a question is not answered, and that a list asks leave as `todowrite`.

use conform::testkit::{Action, Bench, MemoryHost, block_on, nobody, yes};
use gate::{
    BoxFuture, Problem,
    access::AskUser,
    call::{NotRun, RawCall},
    g1_decode::RawArguments,
    g2_admit::{Answers, Approver, Question as Ask, Reply},
    g3_confine::Order,
    output::CallOutput,
    tool::AnyTool,
};
use serde_json::json;
use tollgate_tools::{Question, TodoWrite};

/// Says this to every question.
struct Says(Answers);

impl Approver for Says {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async { nobody() })
    }
    fn put<'a>(&'a self, _: &'a Order<AskUser>) -> BoxFuture<'a, Answers> {
        Box::pin(async { self.0.clone() })
    }
}

fn put(answers: Answers) -> Result<CallOutput, NotRun> {
    let bench = Bench::free(MemoryHost::with(&[]));
    let tools = [AnyTool::new(Question)];
    let asked = |question| json!({ "question": question, "header": "h", "options": [] });
    let raw = RawCall {
        id: "call_1".into(),
        tool: "question".into(),
        arguments: RawArguments::Json(json!({ "questions": [asked("one?"), asked("two?")] })),
        repeats: None,
    };
    bench.with_room(&bench.host, &tools, &Says(answers), |room| {
        block_on(room.run(raw))
    })
}

#[test]
fn a_question_left_open_is_unanswered() {
    let words = |words: &[&str]| words.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    for (given, want) in [
        (
            vec![words(&["a", "b"]), words(&[])],
            "\"one?\"=\"a, b\", \"two?\"=\"Unanswered\"",
        ),
        (
            vec![words(&["a"])],
            "\"one?\"=\"a\", \"two?\"=\"Unanswered\"",
        ),
        (vec![], "\"one?\"=\"Unanswered\", \"two?\"=\"Unanswered\""),
    ] {
        let output = put(Answers::Given(given)).unwrap();
        assert!(output.output.contains(want), "{}", output.output);
        assert_eq!(output.title, "Asked 2 questions");
    }
}

#[test]
fn a_question_can_be_dismissed() {
    let output = put(Answers::Dismissed).unwrap();
    assert_eq!(output.output, "User dismissed the question.");
    assert_eq!(output.metadata, json!({ "dismissed": true }));
}

#[test]
fn without_anybody_a_question_fails() {
    let why = put(Answers::Nobody).unwrap_err();
    let NotRun::Stopped(Problem::Failed(why)) = why else {
        panic!("{why:?}")
    };
    assert!(why.starts_with("Nobody is there to answer."), "{why}");
}

#[test]
fn a_list_asks_leave_under_its_own_name() {
    let todos = json!({ "todos": [
        { "content": "a", "status": "completed", "priority": "low" },
        { "content": "b", "status": "pending", "priority": "low" },
    ]});
    let bench = Bench::new(&[("todowrite", "*", Action::Ask)]);
    let output = bench.run(TodoWrite, todos.clone(), |_| yes()).unwrap();
    assert_eq!(output.title, "1 todos");
    assert_eq!(bench.asked(), ["todowrite *"]);
    bench
        .run(TodoWrite, todos.clone(), |_| nobody())
        .unwrap_err();
    let bench = Bench::new(&[("todowrite", "x", Action::Allow)]);
    bench.run(TodoWrite, todos, |_| nobody()).unwrap_err();
}
