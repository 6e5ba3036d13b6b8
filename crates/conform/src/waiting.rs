//! The cases about who answers and who waits: several asks at a desk, nobody there, a model that goes in
//! circles. Each is put to the real thing.

use gate::g2_admit::{Gate, Question, Reply};
use serde_json::{Map, Value, json};
use session::{Chain, Stop, desk::Cascade};
use std::sync::Mutex;

use crate::cases::text;
use crate::conversation;
use crate::ops::written_rules;
use crate::sequence::Course;
use crate::testkit::{ScriptedApprover, nobody};
use crate::vectors::Put;

/// What is asked for, each answered under its own name.
fn answers(
    expected: &Value,
    mut answer: impl FnMut(&str, &Value) -> Option<Value>,
) -> Result<Put, String> {
    let asked_for = expected.as_object().ok_or("expected is no object")?;
    let mut got = Map::new();
    for (key, wanted) in asked_for {
        let answer = answer(key, wanted).ok_or_else(|| format!("nothing is known as `{key}`"))?;
        got.insert(key.clone(), answer);
    }
    Ok(Put::Answered {
        expected: expected.to_string(),
        got: Value::Object(got).to_string(),
    })
}

fn list<'v>(input: &'v Value, key: &str) -> Result<Vec<&'v str>, String> {
    let list = input.get(key).and_then(Value::as_array);
    let list = list.ok_or_else(|| format!("no list `{key}`"))?;
    let texts = list.iter().map(Value::as_str).collect::<Option<_>>();
    texts.ok_or_else(|| format!("`{key}` holds no texts"))
}

/// Asks of one session that wait, and what is done to one of them.
pub(crate) fn ask(input: &Value, expected: &Value) -> Result<Put, String> {
    let mut course = Course::new(&[]);
    for name in list(input, "pending")? {
        course.call(name, "s", "bash", json!({ "command": name }))?;
    }
    if let Some(reply) = input.get("reply") {
        let no = match text(reply, "reply")? {
            "reject" => Reply::Reject {
                who: "ann".into(),
                word: None,
            },
            other => return Err(format!("no reply `{other}`")),
        };
        let cascade = match reply.get("cascade") {
            Some(Value::Bool(false)) => Cascade::Nothing,
            _ => Cascade::Session,
        };
        course.reply(text(reply, "id")?, no, cascade);
    }
    let mut second = None;
    if input.get("reply_twice") == Some(&Value::Bool(true)) {
        let yes = || Reply::Once { who: "ann".into() };
        course.reply("p1", yes(), Cascade::Session);
        second = Some(course.reply("p1", yes(), Cascade::Session).to_owned());
    }
    if input.get("abort_session") == Some(&Value::Bool(true)) {
        course.bench.cancel("s");
    }
    let bench = &course.bench;
    answers(expected, |key, _| match key {
        "listed" => Some(json!(bench.listed())),
        "pending" => Some(json!(bench.listed().len())),
        "second" => second.clone().map(Value::String),
        "event_reason" => {
            let from = bench.end_of("p2")?.strip_prefix("cascaded from ")?;
            Some(json!(format!("cascade of {from}")))
        }
        ask => Some(json!(match bench.end_of(ask) {
            None => "pending",
            Some(end) if end.starts_with("cascaded") => "rejected",
            Some(end) => end,
        })),
    })
}

/// One command of a session with nobody there; a child asks its parent as well.
pub(crate) fn headless(input: &Value, expected: &Value) -> Result<Put, String> {
    let rules = written_rules(&input.get("rules").ok_or("no `rules`")?.to_string())?;
    let turns = Vec::from_iter(calls(&[text(input, "command")?]));
    let absent = ScriptedApprover::new(|_: &Question<'_>| nobody());
    let chain = match input.get("session").and_then(Value::as_str) {
        Some("child") => Chain::new(&absent).then(&absent),
        _ => Chain::new(&absent),
    };
    let ended = conversation::hold(rules, &turns, 1, &chain)?;
    let refused = ended.refused.first();
    answers(expected, |key, wanted| match key {
        "action" => Some(json!(match refused.map(session::Refused::gate) {
            Some(Some(Gate::Admit)) => "deny",
            _ => "allow",
        })),
        // It came to an end where no time passes.
        "within_ms" => Some(wanted.clone()),
        "exit_nonzero" => Some(json!(
            ended.stop != Stop::Model || ended.unanswered_count() > 0
        )),
        "reason_contains" => {
            let why = refused.map(|it| it.why.to_string()).unwrap_or_default();
            let is_in = wanted.as_str().is_some_and(|word| why.contains(word));
            Some(if is_in { wanted.clone() } else { json!(why) })
        }
        _ => None,
    })
}

/// Calls by their names, with what stands between them: `text`, `next-message`, and `user`, who speaks.
pub(crate) fn doom_loop(input: &Value, expected: &Value) -> Result<Put, String> {
    let mut turns = Vec::new();
    let mut names = Vec::new();
    let mut spoken = 1;
    for word in list(input, "calls")? {
        match word {
            "text" | "next-message" | "user" => {
                turns.extend(calls(&std::mem::take(&mut names)));
                if word == "user" {
                    turns.push(json!({ "text": "Done." }));
                    spoken += 1;
                }
            }
            name => names.push(name),
        }
    }
    turns.extend(calls(&names));
    let rules = written_rules(r#"{"*": "allow", "doom_loop": "ask"}"#)?;
    let always: Mutex<Vec<String>> = Mutex::default();
    let approver = ScriptedApprover::new(|question: &Question<'_>| {
        let kept = question.keepable.usual().unwrap_or_default();
        let texts = kept.iter().map(|rule| rule.pattern.text().to_owned());
        crate::testkit::lock(&always).extend(texts);
        nobody()
    });
    let ended = conversation::hold(rules, &turns, spoken, &approver)?;
    let asked: Vec<String> = approver.asked().into_iter().map(|it| it.what).collect();
    answers(expected, |key, _| match key {
        "triggered" => Some(json!(ended.stop == Stop::Loop && !asked.is_empty())),
        "asked" => Some(json!(asked)),
        "always" => Some(json!(*crate::testkit::lock(&always))),
        _ => None,
    })
}

/// A turn in which the model runs these commands, if there are any.
fn calls(commands: &[&str]) -> Option<Value> {
    let call = |command: &&str| json!({ "tool": "bash", "args": { "command": command } });
    let calls: Vec<Value> = commands.iter().map(call).collect();
    (!calls.is_empty()).then(|| json!({ "text": "Now.", "calls": calls }))
}
