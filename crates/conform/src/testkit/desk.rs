//! Sessions at one desk, with calls that wait side by side. Nothing runs by itself: calls go on when they
//! are let, and time passes when it is told to.

use super::{MemoryApprovals, MemoryHost, MemoryJournal, StoppedClock, lock};
use futures::channel::mpsc::UnboundedReceiver;
use gate::{
    BoxFuture, Problem,
    authority::{RootAuthority, root_authority},
    call::{NotRun, Parts, RawCall, Room},
    cancel::Cancel,
    g0_offer::Table,
    g2_admit::{Refusal, Reply},
    g3_confine::{ChildWrites, FailedLines, Profile, Silent},
    output::{CallOutput, Limits},
    tool::AnyTool,
};
use policy::RuleBook;
use schema::RawArguments;
use serde_json::Value;
use session::desk::{
    Cascade, Deadline, Desk, DeskApprovals, DeskEvent, End, Kept, ReplyError, Seat, Seated, Timer,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// A desk and what its sessions share.
pub struct DeskBench {
    shared: Arc<Shared>,
    places: BTreeMap<String, Arc<Place>>,
    calls: BTreeMap<String, Call>,
    /// The ids of asks by the name of the call that put them first.
    ids: BTreeMap<String, String>,
    watched: UnboundedReceiver<DeskEvent>,
    events: Vec<String>,
    ends: BTreeMap<String, String>,
}

impl std::fmt::Debug for DeskBench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.events).finish()
    }
}

struct Shared {
    root: RootAuthority,
    desk: Desk,
    host: MemoryHost,
    journal: MemoryJournal,
    approvals: MemoryApprovals,
    tools: Vec<AnyTool>,
    time: ManualTimer,
}

struct Place {
    id: String,
    seat: Seat,
    rules: Arc<RuleBook>,
    failed_lines: FailedLines,
}

enum Call {
    Waits {
        session: String,
        call: BoxFuture<'static, Result<CallOutput, NotRun>>,
    },
    Ended(String),
}

/// A timer whose time passes all at once.
#[derive(Clone, Debug, Default)]
pub struct ManualTimer(Arc<Mutex<Cancel>>);

impl ManualTimer {
    /// Wakes all who wait.
    pub fn pass(&self) {
        std::mem::take(&mut *lock(&self.0)).cancel();
    }
}

impl Timer for ManualTimer {
    fn after(&self, _ms: u64) -> BoxFuture<'static, ()> {
        let flag = lock(&self.0).clone();
        Box::pin(async move { flag.cancelled().await })
    }
}

impl Default for DeskBench {
    fn default() -> Self {
        Self::new()
    }
}

impl DeskBench {
    /// A desk without sessions, on a machine with `a.txt`, with all tools and a deadline of two minutes.
    pub fn new() -> Self {
        let time = ManualTimer::default();
        let deadline = Deadline {
            ms: 120_000,
            timer: Arc::new(time.clone()),
        };
        let desk = Desk::new(7, deadline);
        let (_, watched) = desk.watch();
        #[expect(
            clippy::disallowed_methods,
            reason = "the test kit is one of the two places that may"
        )]
        let root = root_authority();
        let shared = Shared {
            root,
            desk,
            host: MemoryHost::with(&[("a.txt", "one\ntwo\n")]),
            journal: MemoryJournal::default(),
            approvals: MemoryApprovals::default(),
            tools: tools::builtins(),
            time,
        };
        Self {
            shared: Arc::new(shared),
            places: BTreeMap::new(),
            calls: BTreeMap::new(),
            ids: BTreeMap::new(),
            watched,
            events: Vec::new(),
            ends: BTreeMap::new(),
        }
    }

    /// The desk.
    pub fn desk(&self) -> &Desk {
        &self.shared.desk
    }

    /// What was approved for more than once.
    pub fn approvals(&self) -> &MemoryApprovals {
        &self.shared.approvals
    }

    /// The rules of a session.
    pub fn rules(&self, session: &str) -> Option<&Arc<RuleBook>> {
        self.places.get(session).map(|place| &place.rules)
    }

    /// Opens a session.
    ///
    /// # Errors
    /// It is open.
    pub fn open(&mut self, session: Seated) -> Result<(), String> {
        let (id, rules) = (session.id.clone(), session.rules.clone());
        let seat = self.shared.desk.open_session(session);
        let place = Place {
            id: id.clone(),
            seat: seat.map_err(|error| error.to_string())?,
            rules,
            failed_lines: FailedLines::default(),
        };
        self.places.insert(id, Arc::new(place));
        Ok(())
    }

    /// Makes a call of this name and lets it come as far as it can.
    ///
    /// # Errors
    /// No such session.
    pub fn call(
        &mut self,
        name: &str,
        session: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<(), String> {
        let place = self.places.get(session).ok_or("no such session")?.clone();
        let raw = RawCall {
            id: name.to_owned(),
            tool: tool.to_owned(),
            arguments: RawArguments::Json(arguments),
            repeats: None,
        };
        let call = Box::pin(run(self.shared.clone(), place, raw));
        let session = session.to_owned();
        self.calls
            .insert(name.to_owned(), Call::Waits { session, call });
        self.settle();
        Ok(())
    }

    /// Answers the ask of a call, and lets every call come as far as it can.
    ///
    /// # Errors
    /// As the desk's.
    pub fn reply(&mut self, name: &str, reply: Reply, cascade: Cascade) -> Result<(), ReplyError> {
        let id = self.ids.get(name).map(String::as_str).unwrap_or_default();
        let taken = self.shared.desk.reply(id, reply, cascade);
        self.settle();
        taken
    }

    /// Cancels what a session asks.
    pub fn cancel(&mut self, session: &str) {
        self.shared.desk.cancel(session);
        self.settle();
    }

    /// Ends a session, with all its calls.
    pub fn close(&mut self, session: &str) {
        for call in self.calls.values_mut() {
            if matches!(call, Call::Waits { session: of, .. } if of == session) {
                *call = Call::Ended("dropped".into());
            }
        }
        self.places.remove(session);
        self.settle();
    }

    /// Drops a call under way, as its cancellation does.
    pub fn abandon(&mut self, name: &str) {
        self.calls
            .insert(name.to_owned(), Call::Ended("dropped".into()));
        self.settle();
    }

    /// Lets the deadline of every ask pass.
    pub fn pass_time(&mut self) {
        self.shared.time.pass();
        self.settle();
    }

    /// What became of a call: `waits`, `ran`, `denied`, `rejected`, `rejected: WORD`, `unanswered: WHY`,
    /// `dropped`, or something else in words.
    pub fn came_to(&self, name: &str) -> &str {
        match self.calls.get(name) {
            Some(Call::Waits { .. }) => "waits",
            Some(Call::Ended(how)) => how,
            None => "never made",
        }
    }

    /// What became of an ask, by the name of the call that put it first; `None`: it waits.
    pub fn end_of(&self, name: &str) -> Option<&str> {
        self.ends.get(name).map(String::as_str)
    }

    /// All that happened at the desk.
    pub fn events(&self) -> &[String] {
        &self.events
    }

    /// The asks that wait, by the names of their calls.
    pub fn listed(&self) -> Vec<String> {
        let asks = self.shared.desk.list(None);
        asks.iter().map(|ask| ask.tool_call_id.clone()).collect()
    }

    fn settle(&mut self) {
        loop {
            let mut has_ended = false;
            for call in self.calls.values_mut() {
                if let Call::Waits { call: future, .. } = call
                    && let Poll::Ready(result) = future
                        .as_mut()
                        .poll(&mut Context::from_waker(Waker::noop()))
                {
                    *call = Call::Ended(in_words(&result));
                    has_ended = true;
                }
            }
            while let Ok(event) = self.watched.try_recv() {
                self.hear(&event);
            }
            if !has_ended {
                return;
            }
        }
    }

    fn hear(&mut self, event: &DeskEvent) {
        match event {
            DeskEvent::Asked(ask) => {
                let name = ask.tool_call_id.clone();
                self.events.push(format!("{name} asked"));
                self.ids.insert(name, ask.id.clone());
            }
            DeskEvent::Ended { ask, how } => {
                let name = ask.tool_call_id.clone();
                let how = self.end_in_words(how);
                self.events.push(format!("{name} {how}"));
                self.ends.insert(name, how);
            }
        }
    }

    fn end_in_words(&self, how: &End) -> String {
        let named = |id: &String| {
            let name = self.ids.iter().find(|(_, it)| *it == id);
            name.map_or_else(|| id.clone(), |(name, _)| name.clone())
        };
        match how {
            End::Allowed { kept, .. } => match kept {
                Kept::Nothing => "allowed once".to_owned(),
                Kept::Rules(scope) => format!("allowed always ({scope})"),
                Kept::Everything(scope) => format!("allowed everything ({scope})"),
            },
            End::Rejected { .. } => "rejected".to_owned(),
            End::Cascaded { from } => format!("cascaded from {}", named(from)),
            End::Drained { by: Some(by) } => format!("drained by {}", named(by)),
            End::Drained { by: None } => "drained".to_owned(),
            End::Expired { .. } => "expired".to_owned(),
            End::Cancelled => "cancelled".to_owned(),
        }
    }
}

async fn run(shared: Arc<Shared>, place: Arc<Place>, raw: RawCall) -> Result<CallOutput, NotRun> {
    let table = Table::lay(&shared.tools, &place.rules.current());
    let table = table.map_err(|error| Problem::failed(error.to_string()))?;
    let approvals = DeskApprovals {
        desk: &shared.desk,
        kept: &shared.approvals,
    };
    let parts = Parts {
        table: &table,
        rules: &place.rules,
        approver: &place.seat,
        approvals: &approvals,
        profile: &Profile {
            child_writes: ChildWrites::Workspace,
        },
        failed_lines: &place.failed_lines,
        host: &shared.host,
        journal: &shared.journal,
        clock: &StoppedClock(7),
        progress: &Silent,
        cancel: &Cancel::default(),
        limits: Limits::default(),
        agent: "code",
        session: &place.id,
        message: "msg_test",
    };
    Room::open(&shared.root, parts).run(raw).await
}

fn in_words(result: &Result<CallOutput, NotRun>) -> String {
    match result {
        Ok(_) | Err(NotRun::Stopped(Problem::Failed(_))) => "ran".to_owned(),
        Err(NotRun::Stopped(Problem::Refused(refusal))) => match refusal {
            Refusal::Denied(_) => "denied".to_owned(),
            Refusal::Rejected { word: None, .. } => "rejected".to_owned(),
            Refusal::Rejected {
                word: Some(word), ..
            } => format!("rejected: {word}"),
            Refusal::Unanswered { why, .. } => format!("unanswered: {why}"),
            other => other.to_string(),
        },
        Err(other) => other.to_string(),
    }
}
