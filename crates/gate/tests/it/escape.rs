//! Leaving the sandbox: only after a failure, only by a person, only once. What the arguments alone decide
//! stands in `spec/calls/bash.jsonl`.

use crate::{
    rogues::{Nothing, says},
    world::{command, denied_by, intents, refusal, unasked, unsandboxed},
};
use conform::testkit::{Bench, MemoryHost, always, block_on, exactly, no, nobody, yes};
use policy::{
    Action::{Allow, Ask},
    Layer, Origin, Pattern, Rule,
};
use schema::RawArguments;
use serde_json::{Value, json};
use std::sync::Mutex;
use tollgate_gate::{
    BoxFuture,
    access::{Evidence, Spawn},
    call::{NotRun, RawCall},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::{Approver, Gate, Grants, Question, Refusal, Reply, Scope},
    g3_confine::{CallContext, Confinement},
    host::Exit,
    journal::Event,
    output::{CallOutput, ToolOutput},
    tool::{AnyTool, Tool},
};
use tools::Bash;

/// Fails inside: there is no such file.
const LINE: &str = "cat gone";

fn outside(line: &str) -> Value {
    json!({"command": line, "outside_sandbox": "the cache lies outside"})
}

/// Everything is allowed, and [`LINE`] has failed inside.
fn failed() -> Bench {
    failed_under(&[("*", "*", Allow)])
}

fn failed_under(rules: &[(&str, &str, policy::Action)]) -> Bench {
    let bench = Bench::on(MemoryHost::with(&[("sub/a", "")]), rules);
    fails(&bench);
    bench
}

fn fails(bench: &Bench) {
    let before = bench.host.ran().len();
    bench.run(Bash, command(LINE), unasked).unwrap();
    assert_eq!(bench.host.ran().len(), before + 1);
}

fn leave(
    bench: &Bench,
    answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
) -> Result<CallOutput, NotRun> {
    bench.run(Bash, outside(LINE), answer)
}

/// Everything was refused before anybody was asked or anything ran.
#[track_caller]
fn stays(bench: &Bench, result: Result<CallOutput, NotRun>) {
    assert_eq!(result.unwrap_err().gate(), Some(Gate::Decode));
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

#[test]
fn a_line_that_failed_inside_leaves_once_a_person_says_yes() {
    let bench = failed();
    let output = leave(&bench, |_| yes()).unwrap().output;
    assert!(
        output.contains("ran outside the sandbox, this once"),
        "{output}"
    );
    assert_eq!(bench.asked(), ["sandbox_escape cat gone"]);
    assert_eq!(bench.host.ran(), [LINE, LINE]);
    assert_eq!(bench.host.ran_outside(), [LINE]);
}

#[test]
fn a_person_is_shown_what_failed_and_the_words_of_the_model_apart() {
    let bench = failed();
    let answer = |question: &Question<'_>| {
        let Evidence::Escape {
            text,
            described_as,
            timeout_ms,
            reason,
            failed,
        } = question.evidence
        else {
            panic!("{question:?}")
        };
        assert_eq!((text, described_as), (LINE, None));
        assert_eq!((timeout_ms, failed.timeout_ms()), (120_000, 120_000));
        assert_eq!(reason, "the cache lies outside");
        assert_eq!(failed.exit(), Exit::Code(1));
        assert_eq!(failed.output(), "cat: gone: No such file or directory\n");
        assert_eq!(failed.refused(), [""; 0]);
        assert!(question.needs_person());
        assert_eq!(
            question.keepable.why_not.as_deref(),
            Some("it leaves the sandbox")
        );
        no()
    };
    let result = leave(&bench, answer);
    assert!(matches!(refusal(result), Refusal::Rejected { .. }));
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

#[test]
fn no_allow_of_any_kind_answers_it() {
    for permission in ["*", "sandbox_escape"] {
        for pattern in [Pattern::wildcard("*"), Pattern::exact(LINE)] {
            let bench = failed_under(&[("*", "*", Allow), ("sandbox_escape", "*", Allow)]);
            for layer in [Layer::Base, Layer::Session, Layer::Saved] {
                let origin = Origin::named("t");
                let rule = Rule::new(permission, pattern.clone(), Allow, origin);
                bench.rules.append(layer, vec![rule]);
            }
            let result = leave(&bench, |_| nobody());
            let Refusal::Unanswered { why, asked_by } = refusal(result) else {
                panic!("{permission} {pattern}")
            };
            assert_eq!(why, "no terminal");
            assert_eq!(asked_by.subject().permission, "sandbox_escape");
            assert_eq!(asked_by.action(), Ask);
            assert_eq!(bench.host.ran_outside(), [""; 0]);
        }
    }
}

#[test]
fn a_deny_of_it_or_of_anything_that_the_line_does_refuses_before_anybody_is_asked() {
    for (permission, pattern) in [
        ("sandbox_escape", "*"),
        ("sandbox_escape", "cat *"),
        ("*", "*gone"),
        ("bash", "cat *"),
        ("read", "gone"),
    ] {
        let bench = failed();
        bench.deny(permission, pattern);
        let by = denied_by(leave(&bench, unasked));
        assert_eq!(by, format!("added: {permission} {pattern}"));
        assert_eq!(bench.host.ran_outside(), [""; 0]);
    }
}

#[test]
fn a_deny_that_comes_while_a_person_thinks_wins() {
    let bench = failed();
    let result = leave(&bench, |_| {
        bench.deny("sandbox_escape", "*");
        yes()
    });
    assert_eq!(denied_by(result), "added: sandbox_escape *");
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

#[test]
fn whatever_the_reply_says_it_holds_once() {
    let everything = |_: &Question<'_>| Reply::Everything {
        who: "ann".into(),
        scope: Scope::Global,
    };
    let one_rule = |_: &Question<'_>| Reply::Always {
        who: "ann".into(),
        scope: Scope::Session,
        rules: Some(vec![Rule::new(
            "sandbox_escape",
            Pattern::wildcard("*"),
            Allow,
            Origin::named("t"),
        )]),
    };
    let replies: [&(dyn Fn(&Question<'_>) -> Reply + Send + Sync); 4] = [
        &everything,
        &one_rule,
        &|_| always(Scope::Project),
        &|question| exactly(question, Scope::Session),
    ];
    for reply in replies {
        let bench = failed();
        let generation = bench.rules.current().generation();
        leave(&bench, reply).unwrap();
        assert_eq!(bench.host.ran_outside(), [LINE]);
        assert_eq!(bench.approvals.kept(), []);
        assert_eq!(bench.rules.current().generation(), generation);
    }
}

#[test]
fn one_failure_is_good_for_one_question_whatever_the_answer() {
    for reply in [yes, no, nobody] {
        let bench = failed();
        let _whatever = leave(&bench, |_| reply());
        let ran = bench.host.ran_outside().len();
        let result = leave(&bench, unasked);
        assert_eq!(result.unwrap_err().gate(), Some(Gate::Decode));
        assert_eq!(bench.host.ran_outside().len(), ran);
        fails(&bench);
        leave(&bench, |_| yes()).unwrap();
        assert_eq!(bench.host.ran_outside().len(), ran + 1);
    }
}

#[test]
fn while_a_person_is_asked_nobody_else_is() {
    let bench = failed();
    leave(&bench, |_| {
        let result = leave(&bench, unasked);
        assert_eq!(result.unwrap_err().gate(), Some(Gate::Decode));
        yes()
    })
    .unwrap();
    assert_eq!(bench.host.ran_outside(), [LINE]);
}

#[test]
fn what_runs_well_later_is_a_failure_no_more() {
    let bench = failed();
    bench.host.put("gone", "it came");
    bench.run(Bash, command(LINE), unasked).unwrap();
    stays(&bench, leave(&bench, unasked));
}

#[test]
fn what_ran_since_and_may_write_makes_a_failure_one_no_more() {
    let writes = json!({"filePath": "b.sh", "content": "evil"});
    let acts: [&dyn Fn(&Bench); 3] = [
        &|bench| drop(bench.run(Bash, command("python3 w.py"), unasked).unwrap()),
        &|bench| drop(bench.run(Bash, command("make 2> gone"), unasked).unwrap()),
        &|bench| drop(bench.run(tools::Write, writes.clone(), unasked).unwrap()),
    ];
    for act in acts {
        let bench = failed();
        act(&bench);
        stays(&bench, leave(&bench, unasked));
    }
}

#[test]
fn a_look_since_then_changes_nothing() {
    let bench = failed();
    bench.run(Bash, command("cat sub/a"), unasked).unwrap();
    leave(&bench, |_| yes()).unwrap();
    assert_eq!(bench.host.ran_outside(), [LINE]);
}

#[test]
fn what_writes_while_a_person_thinks_keeps_the_line_inside() {
    let bench = failed();
    let result = leave(&bench, |_| {
        bench.run(Bash, command("python3 w.py"), unasked).unwrap();
        yes()
    });
    let Refusal::Walled(why) = refusal(result) else {
        panic!("not refused")
    };
    assert!(why.contains("run it inside again"), "{why}");
    assert_eq!(bench.host.ran_outside(), [""; 0]);
    assert_eq!(bench.asked().len(), 1);
}

#[test]
fn a_line_that_nobody_could_see_whole_is_never_asked_about() {
    for line in [
        format!("cat gone{}", " ".repeat(2_000)),
        format!("cat gone{}", "\n".repeat(21)),
    ] {
        let bench = Bench::free(MemoryHost::with(&[]));
        bench.run(Bash, command(&line), unasked).unwrap();
        let result = bench.run(Bash, outside(&line), unasked);
        let words = result.as_ref().unwrap_err().to_string();
        assert!(words.contains("20 lines and 2000 bytes"), "{words}");
        stays(&bench, result);
    }
}

#[test]
fn what_failed_outside_does_not_count() {
    let bench = Bench::free(unsandboxed());
    bench.run(Bash, command(LINE), |_| yes()).unwrap();
    let walled = MemoryHost::with(&[]);
    let tools = [AnyTool::new(Bash)];
    let raw = RawArguments::Json(outside(LINE));
    let result = bench.run_on(&walled, &tools, "bash", raw, unasked);
    assert_eq!(result.unwrap_err().gate(), Some(Gate::Decode));
    assert_eq!(walled.ran(), [""; 0]);
}

#[test]
fn where_there_is_no_sandbox_there_is_nothing_to_leave() {
    let bench = Bench::free(unsandboxed());
    let output = bench.run(Bash, outside(LINE), unasked).unwrap().output;
    let note = "there is no sandbox here to leave: `outside_sandbox` changed nothing";
    assert!(output.contains(note), "{output}");
    assert_eq!(bench.host.ran(), [LINE]);
    assert_eq!(bench.host.ran_outside(), [""; 0]);
    // What no wall holds is asked as ever, and not as an escape.
    let asks = |question: &Question<'_>| {
        assert!(!question.needs_person());
        assert!(matches!(question.evidence, Evidence::Command { .. }));
        no()
    };
    bench.run(Bash, outside("make"), asks).unwrap_err();
    assert_eq!(bench.asked(), ["bash make"]);
}

#[test]
fn in_the_partial_tier_it_is_the_same() {
    let gaps = vec!["a gap".to_owned()];
    let host = MemoryHost::confined(&[], Confinement::Partial { gaps });
    let bench = Bench::free(host);
    stays(&bench, leave(&bench, unasked));
    fails(&bench);
    leave(&bench, |_| yes()).unwrap();
    assert_eq!(bench.asked(), ["sandbox_escape cat gone"]);
    assert_eq!(bench.host.ran_outside(), [LINE]);
}

#[test]
fn all_else_of_the_line_is_asked_as_where_nothing_holds_it() {
    let bench = Bench::free(MemoryHost::with(&[]));
    let line = "cat gone && make && curl http://localhost:80/";
    let fails = json!({ "command": "cat gone" });
    bench.run(Bash, fails, unasked).unwrap();
    // The machine in memory knows no `&&`: it looks for a file of this name.
    bench.run(Bash, command(line), unasked).unwrap();
    let answer = |question: &Question<'_>| {
        let about = |permission: &str, text: &str| {
            let subjects = question.subjects.iter();
            let mut found = subjects.filter(|it| it.permission == permission);
            found.find(|it| it.canonical == text).unwrap().clone()
        };
        let make = about("bash", "make").ask_because.unwrap();
        assert!(make.starts_with("no sandbox holds this command"), "{make}");
        assert!(!about("network", "localhost:80").is_possible);
        assert_eq!(question.subjects[0].permission, "sandbox_escape");
        assert_eq!(question.subjects[0].source, line);
        no()
    };
    bench.run(Bash, outside(line), answer).unwrap_err();
}

#[test]
fn the_intent_says_that_it_ran_outside_and_by_whose_yes() {
    let bench = failed();
    leave(&bench, |_| yes()).unwrap();
    let records = bench.journal.records();
    let effects: Vec<_> = records
        .iter()
        .filter_map(|it| match &it.event {
            Event::Intent { effect, .. } => Some(effect.as_str()),
            Event::Outcome { .. } | Event::Refused(_) => None,
        })
        .collect();
    assert_eq!(
        effects,
        ["spawn `cat gone`", "spawn outside the sandbox `cat gone`"]
    );
    let decisions = intents(&records);
    assert_eq!(decisions[0].answer(), None);
    assert_eq!(decisions[1].answer().unwrap().who, "ann");
}

#[test]
fn without_a_journal_nothing_leaves() {
    let bench = failed();
    let result = leave(&bench, |_| {
        bench.journal.fill_up();
        yes()
    });
    assert!(result.is_err());
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

/// Says yes to everything, and never said that it asks a person.
struct Obliging;

impl Approver for Obliging {
    fn ask<'a>(&'a self, _: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async { yes() })
    }
}

#[test]
fn an_approver_that_asks_no_person_cannot_say_yes() {
    let bench = failed_under(&[("bash", "*", Allow), ("read", "*", Allow)]);
    let tools = [AnyTool::new(Bash)];
    let raw = RawCall {
        id: "call_1".into(),
        tool: "bash".into(),
        arguments: RawArguments::Json(outside(LINE)),
        repeats: None,
    };
    let result = bench.with_room(&bench.host, &tools, &Obliging, |room| {
        block_on(room.run(raw))
    });
    let Refusal::Unanswered { why, .. } = refusal(result) else {
        panic!("answered")
    };
    assert_eq!(why, "only a person may answer this, and none can be asked");
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

/// The ways to misuse a failure of [`LINE`].
enum Leaves {
    /// Has one line let out, and names another directory then.
    Moves,
    /// Wants the same twice in one call.
    Twice,
    /// Keeps what it was given in one call, and asks for it late in the next.
    Keeps(Mutex<Option<Spawn>>),
}

impl Tool for &'static Leaves {
    type Kinds = (Spawn,);
    type Arguments = Nothing;
    type Plan = Vec<Want<Spawn>>;
    fn name(&self) -> &'static str {
        "leaves"
    }
    fn permission(&self) -> &'static str {
        "bash"
    }
    fn describe(&self) -> &'static str {
        "Misbehaves."
    }
    fn prepare(
        &self,
        _: Nothing,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Self::Plan, ArgumentFault> {
        let leave = || {
            let spawn = scout.outside_sandbox(Spawn::new(LINE), "it must");
            spawn.map_err(|why| ArgumentFault::at_root(why.to_string()))
        };
        Ok(match self {
            Leaves::Moves => {
                let sub = scout.resolve("sub");
                let sub = sub.map_err(|why| ArgumentFault::at_root(why.to_string()))?;
                vec![asks.want(leave()?.in_directory(sub))]
            }
            Leaves::Twice => vec![asks.want(leave()?), asks.want(leave()?)],
            Leaves::Keeps(kept) => {
                let is_first = kept.lock().unwrap().is_none();
                if is_first {
                    *kept.lock().unwrap() = Some(leave()?);
                    return Ok(vec![asks.want(leave()?)]);
                }
                Vec::new()
            }
        })
    }
    async fn run<'call>(
        &self,
        plan: Self::Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, tollgate_gate::Problem> {
        for want in &plan {
            cx.effects.spawn(grants.take(want)?).await?;
        }
        if let Leaves::Keeps(kept) = self
            && plan.is_empty()
        {
            let old = kept.lock().unwrap().take().unwrap();
            let permit = grants.late(old).await?;
            cx.effects.spawn(permit).await?;
        }
        Ok(says("ran"))
    }
}

/// A tool for one test; what it keeps has to outlive its calls.
fn rogue(leaves: Leaves) -> &'static Leaves {
    Box::leak(Box::new(leaves))
}

#[test]
fn a_line_that_is_moved_runs_inside() {
    let bench = failed();
    bench.run(rogue(Leaves::Moves), json!({}), unasked).unwrap();
    assert_eq!(bench.host.ran(), [LINE, LINE]);
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

#[test]
fn two_wants_of_one_failure_are_one_too_many() {
    let bench = failed();
    let result = bench.run(rogue(Leaves::Twice), json!({}), |_| yes());
    let Refusal::Walled(why) = refusal(result) else {
        panic!("not refused")
    };
    assert!(why.contains("was put to a person by another call"), "{why}");
    assert_eq!(bench.asked().len(), 1);
    assert_eq!(bench.host.ran_outside(), [""; 0]);
}

#[test]
fn a_failure_that_is_kept_from_an_earlier_call_is_worth_nothing() {
    let bench = failed();
    let rogue = rogue(Leaves::Keeps(Mutex::default()));
    bench.run(rogue, json!({}), |_| yes()).unwrap();
    assert_eq!(bench.host.ran_outside(), [LINE]);
    // Not even where the line has failed again.
    fails(&bench);
    let result = bench.run(rogue, json!({}), unasked);
    assert!(matches!(refusal(result), Refusal::Walled(_)));
    assert_eq!(bench.host.ran_outside(), [LINE]);
}

#[test]
fn a_line_that_left_and_failed_there_has_to_fail_inside_again() {
    let bench = failed();
    leave(&bench, |_| yes()).unwrap();
    let result = leave(&bench, unasked);
    let words = result.unwrap_err().to_string();
    assert!(words.contains("once for each failure"), "{words}");
}
