//! Cases about what a yes keeps: each answered in a room where every command is asked about. Decides
//! nothing itself.

use gate::{
    check::Checked,
    g1_decode::RawArguments,
    g2_admit::{Question, Reply, Scope},
};
use serde_json::{Value, json};

use crate::cases::text;
use crate::testkit::{Action, Bench, always, exactly};
use crate::vectors::Put;

/// Puts one case.
pub(crate) fn put(input: &Value, expected: &Value) -> Result<Put, String> {
    let bench = Bench::new(&[("*", "*", Action::Ask)]);
    let plain = |_: &Question<'_>| always(Scope::Session);
    let exact = |question: &Question<'_>| exactly(question, Scope::Session);
    if input.get("approve_always").is_some() {
        approve(&bench, text(input, "approve_always")?, plain)?;
    } else if input.get("approve_exact").is_some() {
        approve(&bench, text(input, "approve_exact")?, exact)?;
    } else if input.get("acp_reply").is_some() {
        if text(input, "acp_reply")? != "allow_always" {
            return Err("no such reply".to_owned());
        }
        approve(&bench, text(input, "command")?, plain)?;
    } else {
        let checked = check(&bench, text(input, "command")?)?;
        let asks = checked.asks.into_iter();
        let offered: Vec<String> = asks.flat_map(|ask| ask.always).collect();
        return Ok(Put::Answered {
            expected: expected.to_string(),
            got: json!({ "always": offered }).to_string(),
        });
    }
    let checked = check(&bench, text(input, "then")?)?;
    let mut got = json!({ "action": checked.action.to_string() });
    if expected.get("saved").is_some() {
        let rules = bench.rules.current();
        let kept = rules.layers().session.iter();
        let kept: Vec<&str> = kept.map(|rule| rule.pattern.text()).collect();
        got["saved"] = json!(kept);
    }
    Ok(Put::Answered {
        expected: expected.to_string(),
        got: got.to_string(),
    })
}

fn approve(
    bench: &Bench,
    command: &str,
    reply: impl Fn(&Question<'_>) -> Reply + Send + Sync,
) -> Result<(), String> {
    let tools = tools::builtins();
    let ran = bench.run_on(&bench.host, &tools, "bash", arguments(command), reply);
    ran.map(drop).map_err(|why| why.to_string())
}

fn check(bench: &Bench, command: &str) -> Result<Checked, String> {
    let checked = bench.check(&tools::builtins(), "bash", arguments(command));
    checked.map_err(|why| why.to_string())
}

fn arguments(command: &str) -> RawArguments {
    RawArguments::Json(json!({ "command": command }))
}
