//! A run for programs: one JSON object a line, the last one with every refusal.

use crate::{Exit, print};
use gate::call::NotRun;
use model::{Arguments, ToolCall};
use serde_json::{Value, json};
use session::{Ended, Event, Events, Refused, Stop};

/// Prints to standard output as things happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonLines;

impl JsonLines {
    /// The last line.
    pub(crate) fn end(ended: &Ended, exit: Exit) {
        let stop = match ended.stop {
            Stop::Model => "model",
            Stop::Rejected => "rejected",
            Stop::Loop => "loop",
            Stop::Cancelled => "cancelled",
        };
        let refused: Vec<Value> = ended.refused.iter().map(refused).collect();
        line(&json!({
            "type": "end", "stop": stop, "text": ended.text, "exit_code": exit as u8, "refused": refused,
        }));
    }
}

impl Events for JsonLines {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::Text(text) => line(&json!({ "type": "text", "text": text })),
            Event::CallStarted(call) => line(&json!({
                "type": "call", "id": call.id, "tool": call.tool, "arguments": arguments(call),
            })),
            Event::CallEnded {
                call,
                result: Ok(output),
            } => line(&json!({
                "type": "result", "id": call.id, "tool": call.tool, "status": "ok",
                "title": output.title, "output": output.output, "metadata": output.metadata,
                "output_path": output.kept_at,
            })),
            Event::CallEnded {
                call,
                result: Err(why),
            } => line(&json!({
                "type": "result", "id": call.id, "tool": call.tool, "status": status(why),
                "gate": why.gate().map(gate::g2_admit::Gate::number), "output": why.to_string(),
            })),
            Event::CallSkipped(call) => line(&json!({
                "type": "result", "id": call.id, "tool": call.tool, "status": "skipped",
            })),
        }
    }
}

fn status(why: &NotRun) -> &'static str {
    if why.gate().is_some() {
        "refused"
    } else {
        "failed"
    }
}

fn refused(it: &Refused) -> Value {
    json!({
        "id": it.call_id, "tool": it.tool, "gate": it.gate().map(gate::g2_admit::Gate::number),
        "why": it.why.to_string(),
    })
}

fn arguments(call: &ToolCall) -> Value {
    match &call.arguments {
        Arguments::Json(value) => value.clone(),
        Arguments::Text(text) => Value::String(text.clone()),
    }
}

fn line(value: &Value) {
    print(&format!("{value}\n"));
}
