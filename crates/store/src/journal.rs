//! The journal: one row for each record of the gate, written before anything rests on it.
//!
//! Must not change or delete a row.

use crate::{
    chain::{self, Cell},
    error::StoreError,
    id::ascending_id,
    store::{Store, signed},
    subjects,
};
use gate::journal::{Event, Journal, Record};
use policy::{Action, AnsweredBy, Decision, Subject};
use rusqlite::{OptionalExtension, Row, ToSql, named_params, types::Type};
use serde_json::json;
use std::{error::Error, process, sync::OnceLock};

/// A record as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number; a later record has a greater one.
    pub id: i64,
    /// When it was kept, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The session's id.
    pub session: String,
    /// The message's id.
    pub message: String,
    /// The process that kept it, by a name that no other process ever has.
    pub process: String,
    /// The number the system gave to that process.
    pub pid: u32,
    /// The call, unique in its process.
    pub call: u64,
    /// The id of the call in the model's message.
    pub tool_call_id: String,
    /// The tool that was called.
    pub tool: String,
    /// What happened.
    pub event: StoredEvent,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredEvent {
    /// Before the effect.
    Intent {
        /// The effect, in one line.
        effect: String,
        /// Under which decision.
        ruling: Ruling,
    },
    /// After the effect.
    Outcome {
        /// The effect, as in its intent.
        effect: String,
        /// Whether it was had, or why not.
        result: Result<(), String>,
    },
    /// A call that a gate refused.
    Refused {
        /// The gate's name.
        gate: String,
        /// The words the model was given.
        words: String,
        /// The decision it rests on, if it rests on one.
        ruling: Option<Ruling>,
    },
}

impl StoredEvent {
    /// The decision it rests on, if it rests on one.
    pub fn ruling(&self) -> Option<&Ruling> {
        match self {
            Self::Intent { ruling, .. } => Some(ruling),
            Self::Refused { ruling, .. } => ruling.as_ref(),
            Self::Outcome { .. } => None,
        }
    }
}

/// A decision as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What to do.
    pub action: Action,
    /// Where the action comes from: `default`, a rule after its layer, or `approver` with who said yes,
    /// when, and to which rule.
    pub decided_by: String,
    /// The generation of the rules it was made under.
    pub generation: u64,
    /// How it was reached: a JSON list of `{"step", "permission", "pattern", "rule"?, "origin"?:
    /// {"file", "line", "column"}, "action", "note"?}`.
    pub trace: String,
    /// What was asked about, as JSON; `None`: the record is older than this was kept. See
    /// [`Ruling::subjects`].
    pub asked: Option<String>,
}

/// Which records to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter<'a> {
    /// Every record.
    All,
    /// Those of a session.
    Session(&'a str),
    /// Those greater than this number.
    After(i64),
}

impl Journal for Store {
    fn append(&self, record: Record) -> Result<(), String> {
        self.keep(&record).map_err(|error| error.to_string())
    }
}

impl Store {
    fn keep(&self, record: &Record) -> Result<(), StoreError> {
        static PROCESS: OnceLock<String> = OnceLock::new();
        const LAST: &str = "SELECT id, chain FROM journal ORDER BY id DESC LIMIT 1";
        const SQL: &str = "INSERT INTO journal
            (id, at_ms, session, message, process, pid, call, tool_call_id, tool,
             kind, effect, result, action, decided_by, gate, generation, trace, subjects, chain)
            VALUES
            (:id, :at_ms, :session, :message, :process, :pid, :call, :tool_call_id, :tool,
             :kind, :effect, :result, :action, :decided_by, :gate, :generation, :trace, :subjects,
             :chain)";
        let Record { ids, tool, event } = record;
        let at_ms = self.now_ms();
        let process = PROCESS.get_or_init(|| ascending_id("prc", at_ms));
        let row = EventRow::of(event);
        let ruling = row.ruling.as_ref();
        let action = ruling.map(|it| it.action.to_string());
        let pid = process::id();
        self.write(|transaction| {
            let last = transaction
                .prepare_cached(LAST)?
                .query_row([], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?))
                })
                .optional()?;
            let (last, before) = last.unwrap_or_default();
            let id = last + 1;
            let cells = [
                Cell::Number(id),
                at_ms.into(),
                ids.session.as_str().into(),
                ids.message.as_str().into(),
                process.as_str().into(),
                u64::from(pid).into(),
                ids.call.number().into(),
                ids.tool_call_id.as_str().into(),
                tool.as_str().into(),
                row.kind.into(),
                row.effect.into(),
                row.result.as_deref().into(),
                action.as_deref().into(),
                ruling.map(|it| it.decided_by.as_str()).into(),
                row.gate.as_deref().into(),
                ruling.map_or(Cell::Null, |it| it.generation.into()),
                ruling.map(|it| it.trace.as_str()).into(),
                ruling.and_then(|it| it.asked.as_deref()).into(),
            ];
            let chain = chain::digest(before.as_deref().unwrap_or_default(), cells);
            transaction.prepare_cached(SQL)?.execute(named_params! {
                ":id": id,
                ":at_ms": signed(at_ms),
                ":session": ids.session,
                ":message": ids.message,
                ":process": process,
                ":pid": pid,
                ":call": signed(ids.call.number()),
                ":tool_call_id": ids.tool_call_id,
                ":tool": tool,
                ":kind": row.kind,
                ":effect": row.effect,
                ":result": row.result,
                ":action": action,
                ":decided_by": ruling.map(|it| &it.decided_by),
                ":gate": row.gate,
                ":generation": ruling.map(|it| signed(it.generation)),
                ":trace": ruling.map(|it| &it.trace),
                ":subjects": ruling.and_then(|it| it.asked.as_ref()),
                ":chain": chain,
            })?;
            Ok(())
        })
    }

    /// The records that the filter names, oldest first.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn journal(&self, filter: Filter<'_>) -> Result<Vec<StoredRecord>, StoreError> {
        self.read(|connection| {
            let records = |condition: &str, value: &dyn ToSql| {
                let sql = format!("SELECT * FROM journal WHERE {condition} ORDER BY id");
                connection
                    .prepare_cached(&sql)?
                    .query_map([value], record)?
                    .collect()
            };
            match filter {
                Filter::All => records("?1", &true),
                Filter::Session(session) => records("session = ?1", &session),
                Filter::After(id) => records("id > ?1", &id),
            }
        })
    }

    /// The intents without an outcome, oldest first: effects of calls that are under way, or of which it
    /// is unknown how far they got. Of several like intents of one call the last count as open.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn open_intents(&self) -> Result<Vec<StoredRecord>, StoreError> {
        const SQL: &str = "SELECT intent.* FROM
            (SELECT *, row_number() OVER (PARTITION BY process, call, effect ORDER BY id) AS nth
             FROM journal WHERE kind = 'intent') AS intent
            LEFT JOIN
            (SELECT process, call, effect, count(*) AS count
             FROM journal WHERE kind = 'outcome' GROUP BY process, call, effect) AS outcome
            USING (process, call, effect)
            WHERE nth > coalesce(outcome.count, 0) ORDER BY intent.id";
        self.read(|connection| {
            connection
                .prepare_cached(SQL)?
                .query_map([], record)?
                .collect()
        })
    }
}

/// The columns in which the kinds of events differ.
#[derive(Default)]
struct EventRow<'a> {
    kind: &'static str,
    effect: Option<&'a str>,
    result: Option<String>,
    gate: Option<String>,
    ruling: Option<Ruling>,
}

impl<'a> EventRow<'a> {
    fn of(event: &'a Event) -> Self {
        match event {
            Event::Intent { effect, decision } => Self {
                kind: "intent",
                effect: Some(effect),
                ruling: Some(Ruling::of(decision)),
                ..Self::default()
            },
            Event::Outcome { effect, result } => Self {
                kind: "outcome",
                effect: Some(effect),
                result: result.as_ref().err().cloned(),
                ..Self::default()
            },
            Event::Refused(refusal) => Self {
                kind: "refused",
                result: Some(refusal.to_string()),
                gate: Some(refusal.gate().to_string()),
                ruling: refusal.decision().map(Ruling::of),
                ..Self::default()
            },
        }
    }
}

impl Ruling {
    fn of(decision: &Decision) -> Self {
        let decided_by = match decision.by() {
            AnsweredBy::Rule { rule, layer } => format!("{layer} {rule}"),
            AnsweredBy::Default => "default".to_owned(),
            AnsweredBy::Approver(answer) => {
                let asked_by = decision
                    .rule()
                    .map_or_else(|| "default".to_owned(), ToString::to_string);
                format!(
                    "approver {:?} at {} ms, asked by {asked_by}",
                    answer.who, answer.at_ms
                )
            }
        };
        Self {
            action: decision.action(),
            decided_by,
            generation: decision.generation(),
            trace: json!(decision.trace()).to_string(),
            asked: Some(subjects::to_json(decision.subjects())),
        }
    }

    /// Whether it rests on a yes that somebody gave to this very question.
    pub fn is_by_approver(&self) -> bool {
        self.decided_by.starts_with("approver ")
    }

    /// What was asked about; `None`: not kept, or by another version.
    pub fn subjects(&self) -> Option<Vec<Subject>> {
        subjects::from_json(self.asked.as_deref()?)
    }

    /// Reads what [`Ruling::of`] made, if the row has one.
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(action) = row.get::<_, Option<String>>("action")? else {
            return Ok(None);
        };
        let action = action
            .parse()
            .map_err(|error| unreadable(row, "action", error))?;
        let generation = row.get::<_, i64>("generation")?.cast_unsigned();
        Ok(Some(Self {
            action,
            decided_by: row.get("decided_by")?,
            generation,
            trace: row.get("trace")?,
            asked: row.get("subjects")?,
        }))
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    Ok(StoredRecord {
        id: row.get("id")?,
        at_ms: row.get::<_, i64>("at_ms")?.cast_unsigned(),
        session: row.get("session")?,
        message: row.get("message")?,
        process: row.get("process")?,
        pid: row.get("pid")?,
        call: row.get::<_, i64>("call")?.cast_unsigned(),
        tool_call_id: row.get("tool_call_id")?,
        tool: row.get("tool")?,
        event: event(row)?,
    })
}

fn event(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    let result: Option<String> = row.get("result")?;
    let ruling = Ruling::read(row)?;
    match row.get::<_, String>("kind")?.as_str() {
        "intent" => {
            let ruling =
                ruling.ok_or_else(|| unreadable(row, "action", "an intent without a decision"))?;
            Ok(StoredEvent::Intent {
                effect: row.get("effect")?,
                ruling,
            })
        }
        "outcome" => Ok(StoredEvent::Outcome {
            effect: row.get("effect")?,
            result: result.map_or(Ok(()), Err),
        }),
        "refused" => Ok(StoredEvent::Refused {
            gate: row.get("gate")?,
            words: result.unwrap_or_default(),
            ruling,
        }),
        _ => Err(unreadable(row, "kind", "an unknown kind of record")),
    }
}

fn unreadable(
    row: &Row<'_>,
    column: &str,
    why: impl Into<Box<dyn Error + Send + Sync>>,
) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, why.into())
}
