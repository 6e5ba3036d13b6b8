//! What the tour's table is made of: each call's records and result, as the gates gave them.

use gate::{
    call::NotRun,
    g2_admit::{Gate, Refusal},
    journal::{Event as Noted, Journal, Record},
    output::CallOutput,
};
use model::{Arguments, ToolCall};
use policy::{Action, AnsweredBy, Decision};
use session::{Event, Events};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The call's id in the script.
    pub call_id: String,
    /// The tool and what it was to do.
    pub call: String,
    /// The gate that stopped it; `None`: all gates let it pass.
    pub gate: Option<Gate>,
    /// Whether the call had its effect: it ran, and a command ended well.
    pub is_done: bool,
    /// Why it was stopped, or by what it was allowed.
    pub why: String,
}

/// Listens to the journal and to the session, and passes both on.
pub(super) struct Ledger<'l> {
    journal: &'l dyn Journal,
    events: &'l dyn Events,
    records: Mutex<Vec<Record>>,
    rows: Mutex<Vec<Row>>,
}

impl<'l> Ledger<'l> {
    pub(super) fn over(journal: &'l dyn Journal, events: &'l dyn Events) -> Self {
        Self {
            journal,
            events,
            records: Mutex::default(),
            rows: Mutex::default(),
        }
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// By what the last effect of a call was allowed.
    fn allowed_by(&self, call: &ToolCall) -> String {
        let records = lock(&self.records);
        let of_call = records
            .iter()
            .rev()
            .filter(|it| it.ids.tool_call_id == call.id);
        let mut decisions = of_call.filter_map(|it| match &it.event {
            Noted::Intent { decision, .. } => Some(by(decision)),
            Noted::Outcome { .. } | Noted::Refused(_) => None,
        });
        decisions.next().unwrap_or_default()
    }

    fn row(&self, call: &ToolCall, result: &Result<CallOutput, NotRun>) -> Row {
        let (gate, is_done, why) = match result {
            Ok(output) if is_walled(output) => (Some(Gate::Confine), false, walled(output)),
            Ok(output) => (None, has_ended_well(output), self.allowed_by(call)),
            Err(why) => (why.gate(), false, reason(why)),
        };
        Row {
            call_id: call.id.clone(),
            call: describe(call),
            gate,
            is_done,
            why,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal for Ledger<'_> {
    fn append(&self, record: Record) -> Result<(), String> {
        self.journal.append(record.clone())?;
        lock(&self.records).push(record);
        Ok(())
    }
}

impl Events for Ledger<'_> {
    fn hear(&self, event: Event<'_>) {
        if let Event::CallEnded { call, result } = &event {
            let row = self.row(call, result);
            lock(&self.rows).push(row);
        }
        self.events.hear(event);
    }
}

/// A command that the rules let through and the operating system stopped.
fn is_walled(output: &CallOutput) -> bool {
    !has_ended_well(output) && output.output.lines().any(says_no)
}

/// Whether a line holds the words of the system for what no wall lets through.
fn says_no(line: &str) -> bool {
    let words = [
        "Permission denied",
        "Connection refused",
        "Read-only file system",
    ];
    words.iter().any(|it| line.contains(it))
}

fn has_ended_well(output: &CallOutput) -> bool {
    output
        .metadata
        .get("exit")
        .is_none_or(|exit| exit.as_i64() == Some(0))
}

/// The line in which the system said no.
fn walled(output: &CallOutput) -> String {
    let line = output.output.lines().find(|line| says_no(line));
    format!("the sandbox: {}", line.unwrap_or_default().trim())
}

fn reason(why: &NotRun) -> String {
    match why {
        NotRun::UnknownTool { .. } => "the tool is not on the table".to_owned(),
        NotRun::InvalidArguments { faults, .. } => {
            let faults: Vec<String> = faults
                .iter()
                .map(|it| format!("{}: {}", it.path, it.message))
                .collect();
            faults.join("; ")
        }
        NotRun::Stopped(gate::Problem::Refused(refusal)) => match refusal {
            Refusal::Denied(decision) => by(decision),
            Refusal::Rejected { who, .. } => format!("rejected by {who}"),
            Refusal::Unanswered { why, asked_by } => format!("{}; {why}", by(asked_by)),
            other => other.to_string(),
        },
        NotRun::Stopped(other) => format!("{other:?}"),
    }
}

/// What is behind a decision: the rule, and where it asks, who said yes.
fn by(decision: &Decision) -> String {
    if let AnsweredBy::Approver(answer) = decision.by() {
        return format!("{}; yes by {}", asked_by(decision), answer.who);
    }
    asked_by(decision)
}

fn asked_by(decision: &Decision) -> String {
    // A rule that denies needs no other reason.
    if decision.action() != Action::Deny
        && let Some(why) = &decision.subject().ask_because
    {
        return why.clone();
    }
    match decision.rule() {
        Some(rule) => format!("rule {rule}"),
        None => "no rule".to_owned(),
    }
}

fn describe(call: &ToolCall) -> String {
    let Arguments::Json(arguments) = &call.arguments else {
        return format!("{} with broken arguments", call.tool);
    };
    let first = ["command", "filePath"]
        .iter()
        .find_map(|name| arguments.get(name)?.as_str());
    format!("{} {}", call.tool, first.unwrap_or_default())
}
