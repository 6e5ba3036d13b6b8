//! The path of one call, top to bottom: see `pass`. Each step takes what the step before made.

use crate::{
    Fault, Problem, access,
    authority::RootAuthority,
    cancel::Cancel,
    check::Checked,
    g0_offer::{self, Table},
    g1_decode,
    g2_admit::{self, Approvals, Approver, Gate, Refusal},
    g3_confine::{self, FailedLines, Opening, Profile, Progress},
    host::{Clock, Host},
    journal::{Event, Journal, Record},
    output::{self, CallOutput},
    words,
};
use futures::future::{Either, select};
use policy::{Arguments, RuleBook};
use schema::{ArgumentFault, RawArguments};
use std::{
    fmt,
    marker::PhantomData,
    pin::pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use text::truncate::Limits;
use tracing::Instrument;

/// A call as the model wrote it.
#[derive(Clone, Debug)]
pub struct RawCall {
    /// The id in the model's message.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: RawArguments,
    /// That the call only repeats what was done before, in words for a person: then `doom_loop` is
    /// asked first.
    pub repeats: Option<String>,
}

/// Why there is no result.
#[derive(Clone, Debug)]
pub enum NotRun {
    /// Gate 0: no such tool on the table.
    UnknownTool {
        /// The name the model used.
        tool: String,
        /// The names on the table.
        offered: Vec<String>,
    },
    /// Gate 1: the arguments do not fit.
    InvalidArguments {
        /// The tool.
        tool: String,
        /// All faults.
        faults: Vec<ArgumentFault>,
    },
    /// Gates 2 and 3, or the work itself.
    Stopped(Problem),
}

impl NotRun {
    /// The gate that stopped the call; `None`: none did, the work failed.
    pub fn gate(&self) -> Option<Gate> {
        match self {
            Self::UnknownTool { .. } => Some(Gate::Offer),
            Self::InvalidArguments { .. } => Some(Gate::Decode),
            Self::Stopped(Problem::Refused(refusal)) => Some(refusal.gate()),
            Self::Stopped(Problem::Failed(_) | Problem::Fault(_)) => None,
        }
    }
}

/// The words for the model.
impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words::not_run(self))
    }
}

impl<P: Into<Problem>> From<P> for NotRun {
    fn from(problem: P) -> Self {
        Self::Stopped(problem.into())
    }
}

/// What a room is furnished with.
#[derive(Clone, Copy)]
pub struct Parts<'r> {
    /// The tools of this turn.
    pub table: &'r Table,
    /// The rules in force.
    pub rules: &'r RuleBook,
    /// Who answers asks.
    pub approver: &'r dyn Approver,
    /// Where a yes for more than once is kept.
    pub approvals: &'r dyn Approvals,
    /// Where children may go in general.
    pub profile: &'r Profile,
    /// The lines of this session that failed inside the sandbox.
    pub failed_lines: &'r FailedLines,
    /// The machine.
    pub host: &'r dyn Host,
    /// What was meant and what came of it.
    pub journal: &'r dyn Journal,
    /// The time.
    pub clock: &'r dyn Clock,
    /// Who hears how calls get on.
    pub progress: &'r dyn Progress,
    /// Ends the call under way.
    pub cancel: &'r Cancel,
    /// How much of an output the model gets.
    pub limits: Limits,
    /// For whom calls are made.
    pub agent: &'r str,
    /// The session's id.
    pub session: &'r str,
    /// The id of the message whose calls these are.
    pub message: &'r str,
}

impl fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            agent,
            session,
            message,
            ..
        } = self;
        write!(f, "Parts({agent} {session} {message})")
    }
}

/// Where calls are made. Opening one takes the root authority, so a tool cannot open its own.
#[derive(Debug)]
pub struct Room<'r>(Parts<'r>);

impl<'r> Room<'r> {
    /// Opens a room. One a turn, since the table is of a turn.
    pub fn open(_root: &RootAuthority, parts: Parts<'r>) -> Self {
        Self(parts)
    }

    /// Takes one call through the gates.
    ///
    /// # Errors
    /// The call was not known, not understood, refused, cancelled, or failed.
    pub async fn run(&self, raw: RawCall) -> Result<CallOutput, NotRun> {
        let live = LiveCall::open(self.0, &raw);
        let span = tracing::info_span!(
            "tool.execute",
            "tool.name" = raw.tool,
            "session.id" = self.0.session,
            "message.id" = self.0.message,
            "tool.call_id" = raw.id,
        );
        let mut result = until_cancelled(&live, pass(&live, raw))
            .instrument(span)
            .await;
        if let Err(NotRun::Stopped(Problem::Refused(refusal))) = &result {
            let event = Event::Refused(refusal.clone());
            let record = Record {
                ids: live.ids.clone(),
                tool: live.tool.clone(),
                event,
            };
            self.0.journal.append(record).map_err(Fault::Journal)?;
        }
        if let Err(NotRun::Stopped(Problem::Failed(why))) = result {
            let why = output::truncate_failure(Tag::of(&live), why).await;
            result = Err(NotRun::Stopped(Problem::Failed(why)));
        }
        result
    }

    /// What the gates would say to this call, as the rules stand. Nobody is asked, nothing is read
    /// or run.
    ///
    /// # Errors
    /// Unknown tool or bad arguments, as in [`Self::run`].
    pub fn check(&self, raw: RawCall) -> Result<Checked, NotRun> {
        let live = LiveCall::open(self.0, &raw);
        let call = Tag::of(&live);
        let decoded = g1_decode::decode(call, &g0_offer::offer(call, raw)?)?;
        Ok(Checked::of(call, decoded))
    }
}

async fn pass<'call>(live: &'call LiveCall<'call>, raw: RawCall) -> Result<CallOutput, NotRun> {
    let call = Tag::of(live);
    g2_admit::admit_repeat(call, &raw).await?; //            a loop ends here, whatever it repeats
    let offered = g0_offer::offer(call, raw)?; //            a tool the rules close is unknown
    let decoded = g1_decode::decode(call, &offered)?; //     arguments fit; the tool states its needs
    let judged = g2_admit::judge(call, decoded)?; //         pass 1: any deny ends here, nobody asked
    let sighted = g2_admit::admit_reads(judged).await?; //   pass 2 for reads
    let bound = g3_confine::preview(sighted).await?; //      the tool looks, and binds its writes
    let admitted = g2_admit::admit_rest(bound).await?; //    pass 2 for the rest, writes with diff
    let confined = g3_confine::confine(admitted); //         walls of this call
    let made = confined.run().await?;
    Ok(output::truncate(call, made).await) //                cut to size, once and here
}

/// Runs the call until it ends or is no longer wanted. Dropping it is what stops it. The flag is
/// looked at first, so that a call begun after it was raised does nothing.
async fn until_cancelled<'call>(
    live: &'call LiveCall<'call>,
    call: impl Future<Output = Result<CallOutput, NotRun>> + Send,
) -> Result<CallOutput, NotRun> {
    match select(pin!(live.parts.cancel.cancelled()), pin!(call)).await {
        Either::Right((result, _)) => result,
        Either::Left(((), _)) => {
            live.parts.host.close_call(live.ids.call);
            Err(Refusal::Cancelled.into())
        }
    }
}

/// Names one call of this process, whatever the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

impl CallId {
    /// As a number, for records.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Which call, of which message and session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// Unique in this process.
    pub call: CallId,
    /// The session's id.
    pub session: String,
    /// The message's id.
    pub message: String,
    /// The id in the model's message.
    pub tool_call_id: String,
}

/// The state of a call under way. Dropping it, on whatever path, closes the call at the host.
pub(crate) struct LiveCall<'r> {
    pub(crate) ids: Ids,
    pub(crate) tool: String,
    /// For rules that speak of them.
    pub(crate) arguments: Arguments,
    pub(crate) parts: Parts<'r>,
    openings: Mutex<Vec<Opening>>,
}

impl<'r> LiveCall<'r> {
    fn open(parts: Parts<'r>, raw: &RawCall) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let call = CallId(NEXT.fetch_add(1, Ordering::Relaxed));
        parts.host.open_call(call);
        let ids = Ids {
            call,
            session: parts.session.to_owned(),
            message: parts.message.to_owned(),
            tool_call_id: raw.id.clone(),
        };
        Self {
            ids,
            tool: raw.tool.clone(),
            arguments: access::arguments_of(&raw.arguments),
            parts,
            openings: Mutex::default(),
        }
    }

    /// Notes what a permit of this call opens in its walls.
    pub(crate) fn add_opening(&self, opening: Opening) {
        self.openings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(opening);
    }

    pub(crate) fn openings(&self) -> Vec<Opening> {
        self.openings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for LiveCall<'_> {
    fn drop(&mut self) {
        self.parts.host.close_call(self.ids.call);
    }
}

/// Which call a thing belongs to.
///
/// INVARIANT: `'call` is the borrow of a `LiveCall` that lives in the future of that call, and it is
/// invariant. Tools are written for every `'call`, so to them each call is a fresh brand: the trait
/// method is the closure of the usual generative pattern.
#[derive(Clone, Copy)]
pub(crate) struct Tag<'call> {
    pub(crate) live: &'call LiveCall<'call>,
    brand: PhantomData<fn(&'call ()) -> &'call ()>,
}

impl<'call> Tag<'call> {
    fn of(live: &'call LiveCall<'call>) -> Self {
        Self {
            live,
            brand: PhantomData,
        }
    }
}

impl fmt::Debug for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.live.ids.call.fmt(f)
    }
}
