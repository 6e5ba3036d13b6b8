//! `tollgate log`: the journal, what was meant and what came of it.

use crate::{
    Exit,
    args::LogArgs,
    error::CliError,
    print,
    workbench::{open_store, state_dir},
};
use serde_json::{Value, json};
use store::{Filter, Ruling, Store, StoredEvent, StoredRecord, Verified};
use text::escape::visible_line;

pub(crate) fn log(args: &LogArgs) -> Result<Exit, CliError> {
    let store = open_store(&state_dir()?)?;
    if args.verify {
        return verify(&store, args);
    }
    let filter = args.session.as_deref().map_or(Filter::All, Filter::Session);
    let records = store
        .journal(filter)
        .map_err(|error| CliError::fault(&error))?;
    let is_asked = |it: &&StoredRecord| {
        args.call
            .as_ref()
            .is_none_or(|call| it.tool_call_id == *call || it.call.to_string() == *call)
    };
    for record in records.iter().filter(is_asked) {
        print(&if args.json {
            format!("{}\n", as_json(record))
        } else {
            as_text(record)
        });
    }
    Ok(Exit::Ok)
}

fn verify(store: &Store, args: &LogArgs) -> Result<Exit, CliError> {
    let verified = store.verify(args.head.as_deref());
    let it = verified.map_err(|error| CliError::fault(&error))?;
    let is_whole = it.broken.is_none() && it.holds_head != Some(false);
    if args.json {
        let broken = it.broken.as_ref();
        let broken = broken.map(|it| json!({"id": it.id, "why": it.why}));
        print(&format!(
            "{}\n",
            json!({
                "is_whole": is_whole, "count": it.count, "older_count": it.older_count,
                "head": it.head, "broken": broken, "holds_head": it.holds_head,
            })
        ));
    } else {
        print(&verified_as_text(&it));
    }
    Ok(if is_whole { Exit::Ok } else { Exit::Failed })
}

fn verified_as_text(it: &Verified) -> String {
    let mut lines = vec![match it.older_count {
        0 => format!("{} records fit the chain", it.count),
        older => format!(
            "{} records fit the chain; {older} are older than it",
            it.count
        ),
    }];
    if let Some(broken) = &it.broken {
        lines.push(format!("record {} does not: {}", broken.id, broken.why));
    }
    lines.extend(it.holds_head.map(|is_one| {
        let words = if is_one {
            "the digest you gave is one of them"
        } else {
            "the digest you gave is none of them: the journal was cut or made anew"
        };
        words.to_owned()
    }));
    lines.extend(it.head.as_ref().map(|head| format!("head {head}")));
    lines.push(String::new());
    lines.join("\n")
}

fn as_text(it: &StoredRecord) -> String {
    let (tool, id) = (visible_line(&it.tool), visible_line(&it.tool_call_id));
    let head = format!("{:>6} {} {id} {tool}", it.id, visible_line(&it.session));
    match &it.event {
        StoredEvent::Intent { effect, ruling } => {
            let (effect, by) = (visible_line(effect), visible_line(&ruling.decided_by));
            format!("{head} intends {effect}: {} by {by}\n", ruling.action)
        }
        StoredEvent::Outcome {
            effect,
            result: Ok(()),
        } => {
            format!("{head} did {}\n", visible_line(effect))
        }
        StoredEvent::Outcome {
            effect,
            result: Err(why),
        } => {
            format!(
                "{head} did not {}: {}\n",
                visible_line(effect),
                visible_line(why)
            )
        }
        StoredEvent::Refused {
            gate,
            words,
            ruling,
        } => {
            let by = ruling
                .as_ref()
                .map(|it| format!(" by {}", visible_line(&it.decided_by)));
            format!(
                "{head} refused at {gate}{}: {}\n",
                by.unwrap_or_default(),
                visible_line(words)
            )
        }
    }
}

fn as_json(it: &StoredRecord) -> Value {
    let mut out = json!({
        "id": it.id, "at_ms": it.at_ms, "session": it.session, "message": it.message,
        "process": it.process, "call": it.call, "tool_call_id": it.tool_call_id, "tool": it.tool,
    });
    let event = match &it.event {
        StoredEvent::Intent { effect, ruling } => {
            json!({ "event": "intent", "effect": effect, "decision": ruling_as_json(ruling) })
        }
        StoredEvent::Outcome { effect, result } => {
            json!({ "event": "outcome", "effect": effect, "error": result.as_ref().err() })
        }
        StoredEvent::Refused {
            gate,
            words,
            ruling,
        } => json!({
            "event": "refused", "gate": gate, "why": words,
            "decision": ruling.as_ref().map(ruling_as_json),
        }),
    };
    if let (Value::Object(out), Value::Object(event)) = (&mut out, event) {
        out.extend(event);
    }
    out
}

fn ruling_as_json(it: &Ruling) -> Value {
    // Kept as text by the store; what cannot be read back is shown as it is.
    let trace = serde_json::from_str(&it.trace).unwrap_or_else(|_| Value::from(it.trace.clone()));
    json!({
        "action": it.action.to_string(), "decided_by": it.decided_by, "generation": it.generation,
        "trace": trace,
    })
}
