//! The loop. A call is prepared only after the one before it has ended, so what it resolves and
//! reads is what earlier writers left.

use crate::{Event, Events, Transcript, heard::Heard, loop_guard::LoopGuard, message_id};
use gate::{
    Fault, Problem,
    authority::RootAuthority,
    call::{NotRun, Parts, RawCall, Room},
    cancel::Cancel,
    g0_offer::{DuplicateTool, Table},
    g1_decode::RawArguments,
    g2_admit::{Approvals, Approver, DOOM_LOOP, Gate, Refusal},
    g3_confine::{FailedLines, Profile, Progress},
    host::{Clock, Host},
    journal::Journal,
    output::{CallOutput, Limits},
    tool::AnyTool,
};
use model::{Arguments, Message, Model, ModelError, Request, ToolCall, ToolOffer, Turn};
use policy::RuleBook;

/// All that a session needs from outside.
#[derive(Clone, Copy)]
pub struct Furniture<'s> {
    /// Leave to open rooms.
    pub root: &'s RootAuthority,
    /// Who speaks.
    pub model: &'s dyn Model,
    /// Every tool there is; each turn's table leaves out what the rules close.
    pub tools: &'s [AnyTool],
    /// The rules in force.
    pub rules: &'s RuleBook,
    /// Who answers asks.
    pub approver: &'s dyn Approver,
    /// Where a yes for more than once is kept.
    pub approvals: &'s dyn Approvals,
    /// Where children may go in general.
    pub profile: &'s Profile,
    /// The machine.
    pub host: &'s dyn Host,
    /// What was meant and what came of it.
    pub journal: &'s dyn Journal,
    /// What was said.
    pub transcript: &'s dyn Transcript,
    /// The time.
    pub clock: &'s dyn Clock,
    /// Who hears how calls get on.
    pub progress: &'s dyn Progress,
    /// Who hears what happens.
    pub events: &'s dyn Events,
    /// Ends the session.
    pub cancel: &'s Cancel,
    /// How much of an output the model gets.
    pub limits: Limits,
    /// The agent's name.
    pub agent: &'s str,
    /// The agent's prompt.
    pub system: &'s str,
    /// The session's id.
    pub id: &'s str,
}

impl std::fmt::Debug for Furniture<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Furniture({} {})", self.agent, self.id)
    }
}

/// A conversation under way.
#[derive(Debug)]
pub struct Session<'s> {
    with: Furniture<'s>,
    messages: Vec<Message>,
    refused: Vec<Refused>,
    guard: LoopGuard,
    failed_lines: FailedLines,
    unheard_count: usize,
}

/// A call that a gate refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The call's id in the model's message.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Why.
    pub why: NotRun,
}

impl Refused {
    /// The gate that refused it.
    pub fn gate(&self) -> Option<Gate> {
        self.why.gate()
    }
}

/// What ended the turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model had nothing more to call.
    Model,
    /// A person rejected a call without a word about what to do instead.
    Rejected,
    /// The model made the same calls over and over, and neither a rule nor a person let it go on.
    Loop,
    /// Cancelled from outside.
    Cancelled,
}

/// How a run of turns ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Why it stopped.
    pub stop: Stop,
    /// The model's last words.
    pub text: String,
    /// Every call that a gate refused, in order.
    pub refused: Vec<Refused>,
    /// How many asks nobody was there to answer, those of running commands too.
    pub unheard_count: usize,
}

impl Ended {
    /// The asks that nobody could answer.
    pub fn unanswered_count(&self) -> usize {
        let is_unanswered = |it: &&Refused| {
            matches!(
                it.why,
                NotRun::Stopped(Problem::Refused(Refusal::Unanswered { .. }))
            )
        };
        let refused = self.refused.iter().filter(is_unanswered).count();
        refused.max(self.unheard_count)
    }
}

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The model gave no turn.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Two tools of one name.
    #[error(transparent)]
    Tools(#[from] DuplicateTool),
    /// Our own mistake, or a journal that cannot be written.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// What was said could not be kept.
    #[error("the conversation could not be kept: {0}")]
    Transcript(String),
}

impl<'s> Session<'s> {
    /// A session with nothing said yet.
    pub fn new(with: Furniture<'s>) -> Self {
        Self {
            with,
            messages: Vec::new(),
            refused: Vec::new(),
            guard: LoopGuard::default(),
            failed_lines: FailedLines::default(),
            unheard_count: 0,
        }
    }

    /// Goes on with what was said before. Calls that have no result, because the process ended under
    /// them, get one that says so: nobody knows how far they got.
    ///
    /// # Errors
    /// Those results could not be kept.
    pub fn resume(with: Furniture<'s>, messages: Vec<Message>) -> Result<Self, SessionError> {
        let mut session = Self {
            with,
            messages,
            refused: Vec::new(),
            guard: LoopGuard::default(),
            failed_lines: FailedLines::default(),
            unheard_count: 0,
        };
        for call in session.unanswered_calls() {
            let words =
                "Not known: the process ended before this call did. It may have had its effect.";
            session.answer(&call, words.to_owned(), true)?;
        }
        Ok(session)
    }

    /// The calls of the last turn that no result follows.
    fn unanswered_calls(&self) -> Vec<ToolCall> {
        let mut open: Vec<ToolCall> = Vec::new();
        for message in &self.messages {
            match message {
                Message::Assistant { calls, .. } => open.clone_from(calls),
                Message::Result { call_id, .. } => open.retain(|call| call.id != *call_id),
                Message::User { .. } => {}
            }
        }
        open
    }

    /// All that was said.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Says something to the model and lets it act until it has nothing more to call.
    ///
    /// # Errors
    /// The model, the journal or the transcript failed. What was done until then stands in the
    /// journal.
    pub async fn run(&mut self, prompt: &str) -> Result<Ended, SessionError> {
        self.guard = LoopGuard::default();
        self.keep(Message::User {
            text: prompt.to_owned(),
        })?;
        loop {
            if self.with.cancel.is_cancelled() {
                return Ok(self.end(Stop::Cancelled, String::new()));
            }
            let table = Table::lay(self.with.tools, &self.with.rules.current())?;
            let turn = self.ask_model(&table).await?;
            let at = self.messages.len();
            self.keep(Message::from(turn.clone()))?;
            let text = turn.text.clone().unwrap_or_default();
            if !text.is_empty() {
                self.with.events.hear(Event::Text(&text));
            }
            if turn.calls.is_empty() {
                return Ok(self.end(Stop::Model, text));
            }
            if let Some(stop) = self
                .take_turn(&table, &message_id(self.with.id, at), &turn)
                .await?
            {
                return Ok(self.end(stop, text));
            }
        }
    }

    async fn ask_model(&self, table: &Table) -> Result<Turn, ModelError> {
        let offer = |tool: &AnyTool| ToolOffer {
            name: tool.name().to_owned(),
            description: tool.describe().to_owned(),
            schema: tool.schema(),
        };
        let tools: Vec<ToolOffer> = table.tools().iter().map(offer).collect();
        let request = Request {
            system: self.with.system,
            messages: &self.messages,
            tools: &tools,
        };
        self.with.model.complete(request).await
    }

    /// Runs the calls of one turn in its own room. Every call gets a result, also those that an
    /// earlier one keeps from running.
    async fn take_turn(
        &mut self,
        table: &Table,
        message: &str,
        turn: &Turn,
    ) -> Result<Option<Stop>, SessionError> {
        let with = self.with;
        let approver = Heard::by(with.approver);
        let failed_lines = self.failed_lines.clone();
        let parts = parts(&with, &approver, &failed_lines, table, message);
        let room = Room::open(with.root, parts);
        let mut stop = None;
        for call in &turn.calls {
            if stop.is_some() {
                with.events.hear(Event::CallSkipped(call));
                self.answer(
                    call,
                    "Not run: an earlier call ended the turn.".to_owned(),
                    true,
                )?;
                continue;
            }
            with.events.hear(Event::CallStarted(call));
            let repeats = self.guard.note(call);
            let result = room.run(raw(call, repeats)).await;
            with.events.hear(Event::CallEnded {
                call,
                result: &result,
            });
            stop = stop_after(&result);
            self.note(call, result)?;
        }
        self.unheard_count += approver.nobody_count();
        Ok(stop)
    }

    /// Keeps the result of a call. A fault ends the session, but only after its result is kept.
    fn note(
        &mut self,
        call: &ToolCall,
        result: Result<CallOutput, NotRun>,
    ) -> Result<(), SessionError> {
        let why = match result {
            Ok(output) => return self.answer(call, output.output, false),
            Err(why) => why,
        };
        self.answer(call, why.to_string(), true)?;
        if let NotRun::Stopped(Problem::Fault(fault)) = &why {
            return Err(fault.clone().into());
        }
        if why.gate().is_some() {
            let (call_id, tool) = (call.id.clone(), call.tool.clone());
            self.refused.push(Refused { call_id, tool, why });
        }
        Ok(())
    }

    fn answer(
        &mut self,
        call: &ToolCall,
        output: String,
        is_error: bool,
    ) -> Result<(), SessionError> {
        let (call_id, tool) = (call.id.clone(), call.tool.clone());
        self.keep(Message::Result {
            call_id,
            tool,
            output,
            is_error,
        })
    }

    fn keep(&mut self, message: Message) -> Result<(), SessionError> {
        let at = self.messages.len();
        self.with
            .transcript
            .append(at, &message)
            .map_err(SessionError::Transcript)?;
        self.messages.push(message);
        Ok(())
    }

    fn end(&mut self, stop: Stop, text: String) -> Ended {
        Ended {
            stop,
            text,
            refused: std::mem::take(&mut self.refused),
            unheard_count: std::mem::take(&mut self.unheard_count),
        }
    }
}

fn parts<'t>(
    with: &Furniture<'t>,
    approver: &'t Heard<'t>,
    failed_lines: &'t FailedLines,
    table: &'t Table,
    message: &'t str,
) -> Parts<'t> {
    Parts {
        table,
        rules: with.rules,
        approver,
        approvals: with.approvals,
        profile: with.profile,
        failed_lines,
        host: with.host,
        journal: with.journal,
        clock: with.clock,
        progress: with.progress,
        cancel: with.cancel,
        limits: with.limits,
        agent: with.agent,
        session: with.id,
        message,
    }
}

/// The wish of a model as the gates take it.
fn raw(call: &ToolCall, repeats: Option<String>) -> RawCall {
    let arguments = match &call.arguments {
        Arguments::Json(value) => RawArguments::Json(value.clone()),
        Arguments::Text(text) => RawArguments::Text(text.clone()),
    };
    RawCall {
        id: call.id.clone(),
        tool: call.tool.clone(),
        arguments,
        repeats,
    }
}

/// A person's plain no ends the turns, and so does a loop that nobody lets go on. Any other denial by
/// rule, or by nobody being there, does not, and a word is for the model.
fn stop_after(result: &Result<CallOutput, NotRun>) -> Option<Stop> {
    let Err(NotRun::Stopped(Problem::Refused(refusal))) = result else {
        return None;
    };
    let by = refusal
        .decision()
        .map(|by| by.subject().permission.as_str());
    let is_loop = by == Some(DOOM_LOOP);
    match refusal {
        Refusal::Cancelled => Some(Stop::Cancelled),
        Refusal::Rejected { word: Some(_), .. } => None,
        Refusal::Rejected { word: None, .. } if !is_loop => Some(Stop::Rejected),
        Refusal::Rejected { word: None, .. }
        | Refusal::Denied(_)
        | Refusal::Unanswered { .. }
        | Refusal::TooManyLateAsks
        | Refusal::Changed(_)
        | Refusal::Walled(_) => is_loop.then_some(Stop::Loop),
    }
}
