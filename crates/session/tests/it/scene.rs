//! A session with everything it needs, in memory, and all that was seen of it. Must not hold a test.

use conform::testkit::{Bench, ScriptedApprover, StoppedClock};
use gate::{
    authority::root_authority,
    g2_admit::{Approver, Question, Reply},
    g3_confine::{ChildWrites, Profile, Silent},
    tool::AnyTool,
};
use model::{
    Arguments, BoxFuture, Message, Model, ModelError, Request, ScriptedModel, ToolCall, Turn,
};
use serde_json::{Value, json};
use std::sync::Mutex;
use tollgate_session::{Ended, Event, Events, Furniture, Session, SessionError, Transcript};
use tools::builtins;

/// Remembers what it was asked with, and passes it on.
struct Overheard {
    script: ScriptedModel,
    offered: Mutex<Vec<Vec<String>>>,
    heard: Mutex<Vec<usize>>,
}

impl Model for Overheard {
    fn name(&self) -> &str {
        self.script.name()
    }
    fn complete<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Turn, ModelError>> {
        assert_eq!(request.system, "You are a test.");
        let names = request.tools.iter().map(|tool| tool.name.clone()).collect();
        self.offered.lock().unwrap().push(names);
        self.heard.lock().unwrap().push(request.messages.len());
        self.script.complete(request)
    }
}

/// Keeps messages, or fails from one of them on.
struct Kept {
    messages: Mutex<Vec<Message>>,
    full_at: Option<usize>,
}

impl Transcript for Kept {
    fn append(&self, at: usize, message: &Message) -> Result<(), String> {
        let mut messages = self.messages.lock().unwrap();
        assert_eq!(at, messages.len(), "in order and each once");
        if self.full_at == Some(at) {
            return Err("no space left".into());
        }
        messages.push(message.clone());
        Ok(())
    }
}

/// Writes events down, one word each, and cancels when a call it waits for begins.
struct Diary<'s> {
    lines: Mutex<Vec<String>>,
    bench: &'s Bench,
    cancel_at: Option<&'s str>,
}

impl Events for Diary<'_> {
    fn hear(&self, event: Event<'_>) {
        let line = match event {
            Event::Text(text) => format!("text {text}"),
            Event::CallStarted(call) => {
                if self.cancel_at == Some(call.id.as_str()) {
                    self.bench.cancel.cancel();
                }
                format!("start {}", call.id)
            }
            Event::CallEnded {
                call,
                result: Ok(_),
            } => format!("ok {}", call.id),
            Event::CallEnded {
                call,
                result: Err(_),
            } => format!("error {}", call.id),
            Event::CallSkipped(call) => format!("skip {}", call.id),
        };
        self.lines.lock().unwrap().push(line);
    }
}

/// A session to be played.
pub(crate) struct Scene {
    pub(crate) bench: Bench,
    pub(crate) turns: Value,
    pub(crate) tools: Vec<AnyTool>,
    /// What the user says, each when the model has nothing more to call.
    pub(crate) prompts: Vec<&'static str>,
    /// The transcript fails at this message.
    pub(crate) full_at: Option<usize>,
    /// The session is cancelled when this call begins.
    pub(crate) cancel_at: Option<&'static str>,
}

/// What was seen of it.
pub(crate) struct Played {
    pub(crate) ended: Result<Ended, SessionError>,
    pub(crate) messages: Vec<Message>,
    /// What the transcript kept.
    pub(crate) kept: Vec<Message>,
    pub(crate) events: Vec<String>,
    /// The tools offered, by turn.
    pub(crate) offered: Vec<Vec<String>>,
    /// How many messages the model saw, by turn.
    pub(crate) heard: Vec<usize>,
    /// The questions put, as `permission pattern`.
    pub(crate) asked: Vec<String>,
}

/// The tools these tests are about, so that a new one changes none of them.
fn four() -> Vec<AnyTool> {
    let mut tools = builtins();
    tools.retain(|tool| ["bash", "read", "edit", "write"].contains(&tool.name()));
    tools
}

impl Scene {
    pub(crate) fn new(bench: Bench, turns: Value) -> Self {
        Self {
            bench,
            turns,
            tools: four(),
            prompts: vec!["go"],
            full_at: None,
            cancel_at: None,
        }
    }

    pub(crate) async fn play(
        &self,
        answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
    ) -> Played {
        let approver = ScriptedApprover::new(answer);
        let played = self.play_before(&approver).await;
        let asked = approver.asked().into_iter().map(|it| it.what).collect();
        Played { asked, ..played }
    }

    pub(crate) async fn play_before(&self, approver: &dyn Approver) -> Played {
        let script = json!({ "turns": self.turns }).to_string();
        let model = Overheard {
            script: ScriptedModel::from_json(&script).unwrap(),
            offered: Mutex::default(),
            heard: Mutex::default(),
        };
        let transcript = Kept {
            messages: Mutex::default(),
            full_at: self.full_at,
        };
        let bench = &self.bench;
        let events = Diary {
            lines: Mutex::default(),
            bench,
            cancel_at: self.cancel_at,
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the test is the root of what it tests"
        )]
        let root = root_authority();
        let with = Furniture {
            root: &root,
            model: &model,
            tools: &self.tools,
            rules: &bench.rules,
            approver,
            approvals: &bench.approvals,
            profile: &Profile {
                child_writes: ChildWrites::Workspace,
            },
            host: &bench.host,
            journal: &bench.journal,
            transcript: &transcript,
            clock: &StoppedClock(7),
            progress: &Silent,
            events: &events,
            cancel: &bench.cancel,
            limits: bench.limits,
            agent: "code",
            system: "You are a test.",
            id: "ses_1",
        };
        let mut session = Session::new(with);
        let mut ended = session.run(self.prompts[0]).await;
        for prompt in &self.prompts[1..] {
            ended = session.run(prompt).await;
        }
        let messages = session.messages().to_vec();
        Played {
            ended,
            messages,
            kept: transcript.messages.into_inner().unwrap(),
            events: events.lines.into_inner().unwrap(),
            offered: model.offered.into_inner().unwrap(),
            heard: model.heard.into_inner().unwrap(),
            asked: Vec::new(),
        }
    }
}

impl Played {
    /// Every result, as call, output, and whether it is an error.
    pub(crate) fn results(&self) -> Vec<(&str, &str, bool)> {
        let mut results = Vec::new();
        for message in &self.messages {
            if let Message::Result {
                call_id,
                output,
                is_error,
                ..
            } = message
            {
                results.push((call_id.as_str(), output.as_str(), *is_error));
            }
        }
        results
    }

    /// Every call is answered once, in order, and before the model speaks again.
    pub(crate) fn every_call_has_its_result(&self) -> bool {
        let mut open: Vec<&str> = Vec::new();
        for message in &self.messages {
            match message {
                Message::Result { call_id, .. } => {
                    if open.is_empty() || open.remove(0) != call_id {
                        return false;
                    }
                }
                Message::Assistant { calls, .. } if open.is_empty() => {
                    open = calls.iter().map(|call| call.id.as_str()).collect();
                }
                Message::User { .. } if open.is_empty() => {}
                Message::Assistant { .. } | Message::User { .. } => return false,
            }
        }
        open.is_empty()
    }
}

pub(crate) fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        tool: tool.into(),
        arguments: Arguments::Json(arguments),
    }
}

pub(crate) fn said(text: &str) -> Message {
    Message::Assistant {
        text: Some(text.into()),
        calls: Vec::new(),
    }
}

pub(crate) fn called(calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: None, calls }
}

pub(crate) fn result(call_id: &str, tool: &str, output: &str) -> Message {
    let (call_id, tool, output) = (call_id.into(), tool.into(), output.into());
    Message::Result {
        call_id,
        tool,
        output,
        is_error: false,
    }
}

pub(crate) fn error(call_id: &str, tool: &str, output: &str) -> Message {
    let (call_id, tool, output) = (call_id.into(), tool.into(), output.into());
    Message::Result {
        call_id,
        tool,
        output,
        is_error: true,
    }
}
