//! Gate 3: look first, ask with the diff, write exactly that; walls; the journal.

use crate::{
    rogues::{Asker, Cat, Exists, Late},
    world::{BOTH_ASK, command, failure, fault, file, intents, refusal, two, unasked},
};
use conform::testkit::{Asked, Bench, MemoryHost, ScriptedApprover, block_on, no, nobody, yes};
use policy::Action::{Allow, Ask, Deny};
use schema::RawArguments;
use serde_json::{Value, json};
use tollgate_gate::{
    BoxFuture, Fault,
    access::{Evidence, Inquiry},
    call::RawCall,
    g2_admit::{Approver, Gate, Question, Refusal, Reply},
    journal::Event,
    tool::AnyTool,
};
use tools::{Bash, Edit, Read, Write};

fn read_is_free() -> Bench {
    Bench::new(&[("read", "*", Allow), ("edit", "*", Ask)])
}

#[test]
fn a_write_is_asked_with_its_diff_after_the_read_was_admitted() {
    let bench = Bench::new(&[]);
    bench.run(Edit, two(), |_| yes()).unwrap();
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let asked = |what: &str, diff: Option<&str>| Asked {
        what: what.into(),
        diff: diff.map(str::to_owned),
    };
    assert_eq!(
        bench.asked_with_diffs(),
        [asked("read a.txt", None), asked("edit a.txt", Some(diff))]
    );
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\n2\n");
    assert_eq!(
        bench.journal.verbs(),
        ["intend read", "did read", "intend write", "did write"]
    );
}

#[test]
fn a_new_file_is_asked_as_one() {
    let bench = read_is_free();
    bench
        .run(Write, json!({"filePath": "n", "content": "x\n"}), |_| yes())
        .unwrap();
    let asked = bench.asked_with_diffs();
    let diff = asked.first().and_then(|it| it.diff.clone()).unwrap();
    assert_eq!(
        diff,
        "new file\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
    );
}

#[test]
fn what_stands_in_a_file_is_told_only_behind_the_read_permit() {
    let absent = json!({"filePath": "a.txt", "oldString": "absent", "newString": "x"});
    let bench = Bench::new(&BOTH_ASK);
    assert!(matches!(
        refusal(bench.run(Edit, absent.clone(), |_| no())),
        Refusal::Rejected { .. }
    ));
    let why = failure(bench.run(Edit, absent, |_| yes()));
    assert!(why.starts_with("Could not find oldString"), "{why}");
    // The write was never asked about: there was nothing to show.
    assert_eq!(bench.asked(), ["read a.txt", "read a.txt"]);
}

#[test]
fn whether_a_file_exists_is_not_told_by_a_refusal() {
    let words = |path: &str| {
        let bench = Bench::new(&[
            ("read", "*", Deny),
            ("read", "x", Allow),
            ("edit", "*", Allow),
        ]);
        let arguments = json!({"filePath": path, "oldString": "a", "newString": "b"});
        bench.run(Edit, arguments, unasked).unwrap_err().to_string()
    };
    assert_eq!(
        words(".env").replace(".env", "?"),
        words("missing").replace("missing", "?")
    );
}

#[test]
fn the_scout_tells_existence_only_where_reading_is_plainly_allowed() {
    let told = |rules: &[(&str, &str, policy::Action)], path: &str| {
        Bench::new(rules)
            .run(Exists, json!({ "path": path }), unasked)
            .unwrap()
            .output
    };
    let allow = [("read", "*", Allow)];
    assert_eq!(told(&allow, "a.txt"), "Some(true)");
    assert_eq!(told(&allow, "missing"), "Some(false)");
    for rules in [&[("read", "*", Ask)][..], &[("read", "*", Deny)], &[]] {
        assert_eq!(
            (told(rules, "a.txt"), told(rules, "missing")),
            ("None".into(), "None".into())
        );
    }
    assert_eq!(
        told(&allow, "/etc/hosts"),
        "None",
        "outside is asked as well"
    );
}

#[test]
fn a_file_changed_while_its_diff_was_on_screen_is_not_written() {
    type Meddle = fn(&MemoryHost);
    let cases: [(Meddle, Option<&str>); 4] = [
        // Another file with the same bytes, as a rename would put there.
        (|host| host.put("a.txt", "one\ntwo\n"), Some("one\ntwo\n")),
        (
            |host| host.touch("a.txt", "one\ntwo\nTHREE\n"),
            Some("one\ntwo\nTHREE\n"),
        ),
        (|host| host.remove("a.txt"), None),
        (|host| host.link("a.txt"), Some("one\ntwo\n")),
    ];
    for (meddle, after) in cases {
        let bench = read_is_free();
        let result = bench.run(Edit, two(), |_| {
            meddle(&bench.host);
            yes()
        });
        let refusal = refusal(result);
        assert_eq!(refusal.gate(), Gate::Confine);
        assert!(matches!(refusal, Refusal::Changed(_)), "{refusal:?}");
        assert_eq!(bench.host.text("a.txt").as_deref(), after);
        assert_eq!(
            bench.journal.verbs(),
            [
                "intend read",
                "did read",
                "intend write",
                "failed write",
                "refused"
            ]
        );
    }
}

#[test]
fn a_file_that_appeared_while_it_was_to_be_made_is_not_overwritten() {
    let bench = read_is_free();
    let result = bench.run(Write, json!({"filePath": "new", "content": "x"}), |_| {
        bench.host.put("new", "theirs");
        yes()
    });
    assert!(matches!(refusal(result), Refusal::Changed(_)));
    assert_eq!(bench.host.text("new").unwrap(), "theirs");
}

#[test]
fn a_file_changed_between_the_decision_and_the_read_is_not_read() {
    let bench = Bench::new(&[]);
    let result = bench.run(Read, file("a.txt"), |_| {
        bench.host.put("a.txt", "other");
        yes()
    });
    assert!(matches!(refusal(result), Refusal::Changed(_)));
}

#[test]
fn the_journal_has_both_digests_of_a_write() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench.run(Edit, two(), unasked).unwrap();
    bench
        .run(Write, json!({"filePath": "n", "content": "x"}), unasked)
        .unwrap();
    let effects: Vec<String> = bench.journal.records().iter().filter_map(effect).collect();
    let [edited, made] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    let words: Vec<&str> = edited.split(' ').collect();
    let [write, path, before, arrow, after] = words.as_slice() else {
        panic!("{edited}")
    };
    assert_eq!((*write, *path, *arrow), ("write", "a.txt", "->"));
    assert_eq!((before.len(), after.len()), (64, 64));
    assert_ne!(before, after);
    let x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    assert_eq!(*made, format!("write n new -> {x}"));
}

fn effect(record: &tollgate_gate::journal::Record) -> Option<String> {
    match &record.event {
        Event::Intent { effect, .. } if effect.starts_with("write") => Some(effect.clone()),
        _ => None,
    }
}

#[test]
fn without_a_journal_there_is_no_effect() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench.journal.fill_up();
    let full = Fault::Journal("no space left".into());
    assert_eq!(fault(bench.run(Edit, two(), unasked)), full);
    assert_eq!(fault(bench.run(Bash, command("true"), unasked)), full);
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(bench.host.ran(), [""; 0]);
}

#[test]
fn a_journal_that_fills_up_between_the_read_and_the_write_stops_the_write() {
    let bench = read_is_free();
    let result = bench.run(Edit, two(), |_| {
        bench.journal.fill_up();
        yes()
    });
    assert!(matches!(fault(result), Fault::Journal(_)));
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(bench.journal.verbs(), ["intend read", "did read"]);
}

#[test]
fn a_refusal_that_cannot_be_journalled_is_a_fault() {
    let bench = Bench::new(&BOTH_ASK);
    let result = bench.run(Edit, two(), |_| {
        bench.journal.fill_up();
        no()
    });
    assert!(matches!(fault(result), Fault::Journal(_)));
}

#[test]
fn a_path_that_a_command_names_is_open_to_it_once_it_is_answered_for() {
    let rules = [
        ("bash", "*", Allow),
        ("read", "*", Allow),
        ("read", ".env", Ask),
    ];
    let bench = Bench::new(&rules);
    let cat = |path: &str| {
        bench
            .run(Bash, command(&format!("cat {path}")), |_| yes())
            .unwrap()
            .output
    };
    assert_eq!(cat("a.txt"), "one\ntwo\n");
    assert_eq!(cat(".env"), "KEY=1");
    assert_eq!(cat("/w/../w/.env"), "KEY=1", "by any spelling");
    // So does a permit for the path, for its own call. The line that is then run is asked about itself.
    let with_permit = bench.run(Cat, json!({"path": ".env"}), |_| yes()).unwrap();
    assert_eq!(with_permit.output, "KEY=1");
    assert_eq!(cat(".env"), "KEY=1");
    assert_eq!(bench.asked(), ["read .env"; 5]);
}

#[test]
fn a_question_is_put_and_its_answer_comes_back() {
    let bench = Bench::new(&[("question", "*", Allow)]);
    let answer = bench.run(Asker, json!({}), unasked).unwrap();
    assert_eq!(answer.output, "you asked: red or blue?");
    assert_eq!(bench.journal.verbs(), ["intend ask", "did ask"]);

    let bench = Bench::new(&[("question", "*", Ask)]);
    bench
        .run(Asker, json!({}), |question| {
            let put = [Inquiry::open("red or blue?")];
            assert_eq!(question.evidence, Evidence::Inquiries(&put));
            yes()
        })
        .unwrap();
    let bench = Bench::new(&[("question", "x", Deny)]);
    assert!(matches!(
        refusal(bench.run(Asker, json!({}), |_| nobody())),
        Refusal::Unanswered { .. }
    ));
    assert_eq!(bench.journal.verbs(), ["refused"]);
}

/// Nobody, and nothing more than an approver must have.
struct Empty;

impl Approver for Empty {
    fn ask<'a>(&'a self, _: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async { nobody() })
    }
}

#[test]
fn a_question_without_a_person_has_no_answer() {
    let bench = Bench::new(&[("question", "*", Allow)]);
    let raw = raw("question", json!({}));
    let output = bench.with_room(&bench.host, &[AnyTool::new(Asker)], &Empty, |room| {
        block_on(room.run(raw)).unwrap().output
    });
    assert_eq!(output, "nobody is there");
}

fn raw(tool: &str, arguments: Value) -> RawCall {
    RawCall {
        id: "call_1".into(),
        tool: tool.into(),
        arguments: RawArguments::Json(arguments),
        repeats: None,
    }
}

#[test]
fn a_declared_permission_is_asked_by_its_own_name_and_journalled() {
    let bench = Bench::new(&[("mcp_*", "*", Ask), ("mcp_b", "*", Allow)]);
    bench
        .run(
            Late(vec!["mcp_a".into(), "mcp_b".into()]),
            json!({}),
            |_| yes(),
        )
        .unwrap();
    assert_eq!(bench.asked(), ["mcp_a x"]);
    let lines: Vec<u32> = intents(&bench.journal.records())
        .iter()
        .map(|it| it.rule().unwrap().origin.line)
        .collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn a_command_is_asked_with_its_whole_text_and_the_words_of_the_model_apart() {
    let bench = Bench::new(&[("bash", "*", Ask), ("bash", "true", Allow)]);
    let arguments = json!({"command": "true && rm x", "description": "Cleans up"});
    bench
        .run(Bash, arguments, |question| {
            let text = "true && rm x";
            let described_as = Some("Cleans up");
            assert_eq!(question.evidence, Evidence::Command { text, described_as });
            let subjects = question.subjects.iter().map(|it| it.source.as_str());
            assert_eq!(subjects.collect::<Vec<_>>(), ["/w/x", "true", "rm x"]);
            assert_eq!((question.tool, question.tool_call_id), ("bash", "call_1"));
            yes()
        })
        .unwrap();
    assert_eq!(bench.asked(), ["bash rm x"]);
}

#[test]
fn a_check_asks_reads_runs_and_writes_down_nothing() {
    let bench = Bench::new(&BOTH_ASK);
    let tools = [AnyTool::new(Edit)];
    let approver = ScriptedApprover::new(unasked);
    let checked = bench.with_room(&bench.host, &tools, &approver, |room| {
        room.check(raw("edit", two())).unwrap()
    });
    assert_eq!(checked.action, Ask);
    let asks: Vec<_> = checked
        .asks
        .iter()
        .map(|it| (it.permission.as_str(), it.patterns.as_slice()))
        .collect();
    let path = ["a.txt".to_owned()];
    assert_eq!(asks, [("read", &path[..]), ("edit", &path[..])]);
    assert_eq!(
        (bench.journal.verbs(), bench.host.open_count()),
        (vec![], 0)
    );
}
