//! The scripted model: turns of words and tool calls read from JSON text.
//! Must not do IO, look at the conversation, or carry anything an approver would say.

use std::{
    collections::HashSet,
    future,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Map, Value};

use crate::{
    BoxFuture, Model, ModelError, Request, ScriptFault,
    message::{Arguments, ToolCall, Turn},
};

/// Keys by which somebody might hope to answer an ask from inside a script.
const ANSWER_KEYS: [&str; 14] = [
    "allow",
    "always",
    "answer",
    "answers",
    "approval",
    "approve",
    "approved",
    "decision",
    "permission",
    "permissions",
    "permit",
    "replies",
    "reply",
    "rules",
];

/// What the model says when its script has run out.
const LAST_WORDS: &str = "done";

/// A model that says what its script says, one turn a request, whatever it is asked.
#[derive(Debug)]
pub struct ScriptedModel {
    turns: Vec<Turn>,
    next: AtomicUsize,
}

impl ScriptedModel {
    /// Reads a script: `{"turns": [{"text": "..."} | {"calls": [{"id"?, "tool", "args"}]}]}`.
    ///
    /// A turn may have both words and calls. `args` is an object, or a string
    /// that stands for the raw argument text. Calls without an id get `call_1`
    /// and so on, passing over ids the script uses itself.
    ///
    /// # Errors
    /// [`ModelError::Script`] with every fault of the text.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let mut reader = Reader::default();
        let turns = match serde_json::from_str::<Value>(text) {
            Ok(value) => reader.script(&value),
            Err(error) => {
                reader.fault("", format!("not JSON: {error}"));
                Vec::new()
            }
        };
        if !reader.faults.is_empty() {
            return Err(ModelError::Script {
                faults: reader.faults,
            });
        }
        Ok(Self {
            turns: reader.with_ids(turns),
            next: AtomicUsize::new(0),
        })
    }

    /// The turn at this place, counted from 0; past the end it is the words `done`.
    pub fn turn(&self, at: usize) -> Turn {
        self.turns.get(at).cloned().unwrap_or_else(|| Turn {
            text: Some(LAST_WORDS.to_owned()),
            ..Turn::default()
        })
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn complete<'a>(&'a self, _request: Request<'a>) -> BoxFuture<'a, Result<Turn, ModelError>> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        Box::pin(future::ready(Ok(self.turn(at))))
    }
}

/// A turn whose calls may still lack an id.
struct Draft {
    text: Option<String>,
    calls: Vec<(Option<String>, String, Arguments)>,
}

#[derive(Default)]
struct Reader {
    faults: Vec<ScriptFault>,
    ids: HashSet<String>,
}

impl Reader {
    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(ScriptFault {
            path: path.into(),
            message: message.into(),
        });
    }

    fn script(&mut self, value: &Value) -> Vec<Draft> {
        let Some(script) = self.object("", value, &["turns"]) else {
            return Vec::new();
        };
        self.list("", script, "turns")
            .iter()
            .enumerate()
            .filter_map(|(index, turn)| self.turn(&format!("turns[{index}]"), turn))
            .collect()
    }

    fn turn(&mut self, path: &str, value: &Value) -> Option<Draft> {
        let turn = self.object(path, value, &["text", "calls"])?;
        if !turn.contains_key("text") && !turn.contains_key("calls") {
            self.fault(path, "needs `text` or `calls`");
            return None;
        }
        let text = self.string(path, turn, "text");
        let mut calls = Vec::new();
        if turn.contains_key("calls") {
            let list = self.list(path, turn, "calls");
            calls
                .extend((list.iter().enumerate()).filter_map(|(index, call)| {
                    self.call(&format!("{path}.calls[{index}]"), call)
                }));
        }
        Some(Draft { text, calls })
    }

    fn call(&mut self, path: &str, value: &Value) -> Option<(Option<String>, String, Arguments)> {
        let call = self.object(path, value, &["id", "tool", "args"])?;
        let id = self.string(path, call, "id");
        if let Some(id) = &id {
            if id.is_empty() {
                self.fault(format!("{path}.id"), "must not be empty");
            } else if !self.ids.insert(id.clone()) {
                self.fault(format!("{path}.id"), format!("`{id}` is used twice"));
            }
        }
        if !call.contains_key("tool") {
            self.fault(format!("{path}.tool"), "is missing");
        }
        let tool = self.string(path, call, "tool");
        let arguments = match call.get("args") {
            Some(Value::String(text)) => Some(Arguments::Text(text.clone())),
            Some(args @ Value::Object(_)) => Some(Arguments::Json(args.clone())),
            Some(other) => {
                let message = format!("must be an object or a string, not {}", kind(other));
                self.fault(format!("{path}.args"), message);
                None
            }
            None => {
                self.fault(format!("{path}.args"), "is missing");
                None
            }
        };
        Some((id, tool?, arguments?))
    }

    /// Gives every call its id, in order.
    fn with_ids(&mut self, drafts: Vec<Draft>) -> Vec<Turn> {
        let mut count = 0_usize;
        let mut fresh = || loop {
            count += 1;
            let id = format!("call_{count}");
            if !self.ids.contains(&id) {
                return id;
            }
        };
        drafts
            .into_iter()
            .map(|draft| Turn {
                text: draft.text,
                calls: (draft.calls.into_iter())
                    .map(|(id, tool, arguments)| ToolCall {
                        id: id.unwrap_or_else(&mut fresh),
                        tool,
                        arguments,
                    })
                    .collect(),
                ..Turn::default()
            })
            .collect()
    }

    fn object<'v>(
        &mut self,
        path: &str,
        value: &'v Value,
        keys: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Value::Object(object) = value else {
            self.fault(path, format!("must be an object, not {}", kind(value)));
            return None;
        };
        for key in object.keys().filter(|key| !keys.contains(&key.as_str())) {
            let message = if ANSWER_KEYS.contains(&key.to_ascii_lowercase().as_str()) {
                "a script speaks for the model only and can never answer an ask".to_owned()
            } else {
                format!("unknown key; known here: `{}`", keys.join("`, `"))
            };
            self.fault(join(path, key), message);
        }
        Some(object)
    }

    fn list<'v>(&mut self, path: &str, object: &'v Map<String, Value>, key: &str) -> &'v [Value] {
        let message = match object.get(key) {
            Some(Value::Array(list)) if key == "turns" || !list.is_empty() => return list,
            Some(Value::Array(_)) => "must not be empty".to_owned(),
            Some(other) => format!("must be a list, not {}", kind(other)),
            None => "is missing".to_owned(),
        };
        self.fault(join(path, key), message);
        &[]
    }

    fn string(&mut self, path: &str, object: &Map<String, Value>, key: &str) -> Option<String> {
        match object.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => {
                let message = format!("must be a string, not {}", kind(other));
                self.fault(join(path, key), message);
                None
            }
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        return key.to_owned();
    }
    format!("{path}.{key}")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
