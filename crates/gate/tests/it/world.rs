//! What the tests share: arguments, and short ways to say how a call ended. Must not hold a test.

use conform::testkit::{MemoryHost, exactly};
use policy::{Action, Rule};
use serde_json::{Value, json};
use tollgate_gate::{
    Fault, Problem,
    call::NotRun,
    g2_admit::{Question, Refusal, Reply, Scope},
    g3_confine::Confinement,
    journal::{Event, Record},
    output::CallOutput,
};

pub(crate) const BOTH_ASK: [(&str, &str, Action); 2] =
    [("read", "*", Action::Ask), ("edit", "*", Action::Ask)];

/// For `edit`: `two` becomes `2` in `a.txt`.
pub(crate) fn two() -> Value {
    json!({"filePath": "a.txt", "oldString": "two", "newString": "2"})
}

pub(crate) fn command(line: &str) -> Value {
    json!({ "command": line })
}

pub(crate) fn file(path: &str) -> Value {
    json!({ "filePath": path })
}

/// Yes, and to these very words in this session.
pub(crate) fn session(question: &Question<'_>) -> Reply {
    exactly(question, Scope::Session)
}

/// For questions that must not come.
pub(crate) fn unasked(question: &Question<'_>) -> Reply {
    panic!("asked {question:?}")
}

pub(crate) fn unsandboxed() -> MemoryHost {
    let why = "none in this test".to_owned();
    MemoryHost::confined(&[("a.txt", "one\n")], Confinement::NotEnforced { why })
}

pub(crate) fn refusal(result: Result<CallOutput, NotRun>) -> Refusal {
    match result {
        Err(NotRun::Stopped(Problem::Refused(refusal))) => refusal,
        other => panic!("no refusal: {other:?}"),
    }
}

pub(crate) fn fault(result: Result<CallOutput, NotRun>) -> Fault {
    match result {
        Err(NotRun::Stopped(Problem::Fault(fault))) => fault,
        other => panic!("no fault: {other:?}"),
    }
}

pub(crate) fn failure(result: Result<CallOutput, NotRun>) -> String {
    match result {
        Err(NotRun::Stopped(Problem::Failed(why))) => why,
        other => panic!("no failure: {other:?}"),
    }
}

/// The rule behind a refusal by the rules, as `origin: permission pattern`.
pub(crate) fn denied_by(result: Result<CallOutput, NotRun>) -> String {
    match refusal(result) {
        Refusal::Denied(decision) => shown(decision.rule()),
        other => panic!("no denial: {other:?}"),
    }
}

pub(crate) fn unanswered_by(result: Result<CallOutput, NotRun>) -> String {
    match refusal(result) {
        Refusal::Unanswered { asked_by, .. } => shown(asked_by.rule()),
        other => panic!("no unanswered ask: {other:?}"),
    }
}

fn shown(rule: Option<&Rule>) -> String {
    let line = |rule: &Rule| format!("{}: {} {}", rule.origin, rule.permission, rule.pattern);
    rule.map_or_else(|| "no rule".to_owned(), line)
}

/// The decisions under which effects were had, in order.
pub(crate) fn intents(records: &[Record]) -> Vec<policy::Decision> {
    let decision = |record: &Record| match &record.event {
        Event::Intent { decision, .. } => Some(decision.clone()),
        Event::Outcome { .. } | Event::Refused(_) => None,
    };
    records.iter().filter_map(decision).collect()
}
