//! A run for people: the model's words, a line a call, and why a call was not run.

use crate::print;
use gate::{call::NotRun, output::CallOutput};
use model::ToolCall;
use session::{Event, Events};
use text::escape::{visible, visible_line};

/// Prints to standard output as things happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

/// Characters of arguments or of a reason that fit a line.
const LINE_CHARS_MAX: usize = 100;

impl Events for Plain {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::Text(text) => print(&format!("{}\n", visible(text))),
            Event::CallStarted(call) => {
                print(&format!(
                    "> {} {}\n",
                    visible_line(&call.tool),
                    arguments(call)
                ));
            }
            Event::CallEnded { result, .. } => print(&format!("  {}\n", outcome(result))),
            Event::CallSkipped(call) => {
                print(&format!(
                    "> {}\n  not run: an earlier call ended the turn\n",
                    visible_line(&call.tool)
                ));
            }
        }
    }
}

fn arguments(call: &ToolCall) -> String {
    let text = match &call.arguments {
        model::Arguments::Json(value) => value.to_string(),
        model::Arguments::Text(text) => text.clone(),
    };
    shorten(&text)
}

fn outcome(result: &Result<CallOutput, NotRun>) -> String {
    match result {
        Ok(output) => {
            let last = output
                .output
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty());
            format!("ok: {}", shorten(last.unwrap_or_default()))
        }
        Err(why) => match why.gate() {
            Some(gate) => {
                let why = visible(&why.to_string());
                format!("refused at gate {} ({gate}): {why}", gate.number())
            }
            None => format!("failed: {}", visible(&why.to_string())),
        },
    }
}

fn shorten(text: &str) -> String {
    let line = visible_line(text);
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or(&line)),
        None => line,
    }
}
