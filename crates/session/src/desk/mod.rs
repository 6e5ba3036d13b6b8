//! Where asks wait for answers from elsewhere: an editor, a browser, another machine. One desk serves
//! the sessions of a process; a front end watches it and replies by the id of an ask.
//!
//! Must not answer anything itself, know the time or a runtime, or call whoever watches: what happens is
//! sent into channels, under the lock and so in order. It does not put the model's own questions
//! (`Approver::put`): those find nobody here.
//!
//! Every ask ends with exactly one [`End`], whoever goes first: a reply, another reply that covers it, the
//! deadline, or the end of its call.

mod ask;
mod event;
mod keep;
mod seat;

pub use ask::{Ask, Shown};
pub use event::{DeskEvent, End, Kept};
pub use keep::DeskApprovals;
pub use seat::Seat;

use futures::channel::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
    oneshot,
};
use gate::{BoxFuture, call::CallId, g2_admit::Reply};
use policy::RuleBook;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Wakes when so much time has passed. The port of a desk's deadline.
pub trait Timer: Send + Sync {
    /// Ends after so many milliseconds.
    fn after(&self, ms: u64) -> BoxFuture<'static, ()>;
}

/// How long an ask waits. Every desk has one, for an ask has to end even if nobody ever looks.
#[derive(Clone)]
pub struct Deadline {
    /// In milliseconds.
    pub ms: u64,
    /// Who tells the time.
    pub timer: Arc<dyn Timer>,
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Deadline({} ms)", self.ms)
    }
}

/// The asks of all sessions, as they wait. Clones are the same desk.
#[derive(Clone, Debug)]
pub struct Desk(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    deadline: Deadline,
    state: Mutex<State>,
}

/// A session as a desk knows it.
#[derive(Clone, Debug)]
pub struct Seated {
    /// The session's id.
    pub id: String,
    /// The session that began it, if it is a child.
    pub parent: Option<String>,
    /// Its workspace, by its real path.
    pub workspace: String,
    /// The rules by which its calls are decided: the very book of its rooms.
    pub rules: Arc<RuleBook>,
}

/// Two sessions of one id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session `{0}` is at the desk already")]
pub struct SeatTaken(pub String);

/// What a no does to the other asks of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cascade {
    /// They are rejected with it, without its word. What runs goes on.
    Session,
    /// Nothing.
    Nothing,
}

/// Why a reply was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// There is no such ask, or it has ended.
    #[error("there is no ask of this id that waits for an answer")]
    NotFound,
    /// Only a person may say yes to it. The ask goes on waiting.
    #[error("only a person may say yes to this")]
    NeedsPerson,
    /// The rules of an always do not fit. The ask goes on waiting.
    #[error("these rules cannot be kept: {0}")]
    NotKeepable(String),
}

#[derive(Debug)]
struct State {
    started_ms: u64,
    count: u64,
    sessions: BTreeMap<String, Seated>,
    /// By id, which is the order of asking.
    waiting: BTreeMap<String, Waiting>,
    /// The asks with a yes that is being kept, by the call that keeps it.
    keeping: BTreeMap<CallId, Arc<Ask>>,
    watchers: Vec<UnboundedSender<DeskEvent>>,
}

#[derive(Debug)]
struct Waiting {
    ask: Arc<Ask>,
    /// All calls that put this very question.
    calls: Vec<(CallId, oneshot::Sender<Reply>)>,
}

impl Desk {
    /// A desk with nothing on it. `started_ms` is the time of now, by which its ids differ from those of
    /// every earlier desk: an answer meant for one of them must not fit here.
    pub fn new(started_ms: u64, deadline: Deadline) -> Self {
        let state = State {
            started_ms,
            count: 0,
            sessions: BTreeMap::new(),
            waiting: BTreeMap::new(),
            keeping: BTreeMap::new(),
            watchers: Vec::new(),
        };
        Self(Arc::new(Inner {
            deadline,
            state: Mutex::new(state),
        }))
    }

    /// Gives a session its place, which is the approver of its calls. A child begins with what its parent
    /// holds: the desk adds only what is approved from now on.
    ///
    /// # Errors
    /// A session of this id has one.
    pub fn open_session(&self, session: Seated) -> Result<Seat, SeatTaken> {
        let mut state = self.state();
        let id = session.id.clone();
        if state.sessions.contains_key(&id) {
            return Err(SeatTaken(id));
        }
        state.sessions.insert(id.clone(), session);
        Ok(Seat::new(self.clone(), id))
    }

    /// The asks that wait, of one session or of all, in the order of asking.
    pub fn list(&self, session: Option<&str>) -> Vec<Arc<Ask>> {
        let is_meant = |ask: &&Arc<Ask>| session.is_none_or(|id| ask.session == id);
        let state = self.state();
        let asks = state.waiting.values().map(|it| &it.ask);
        asks.filter(is_meant).cloned().collect()
    }

    /// The asks that wait, and all that happens from now on: nothing is missing in between. What is not
    /// taken out of the channel is kept, so whoever stops looking has to drop it.
    pub fn watch(&self) -> (Vec<Arc<Ask>>, UnboundedReceiver<DeskEvent>) {
        let mut state = self.state();
        let (watcher, events) = unbounded();
        state.watchers.push(watcher);
        let asks = state.waiting.values().map(|it| it.ask.clone());
        (asks.collect(), events)
    }

    /// Answers an ask, and with a no the others of its session. A program may do so by rules of its own.
    ///
    /// # Errors
    /// There is no such ask any more, its rules cannot be kept, or only a person may say yes to it.
    pub fn reply(&self, id: &str, reply: Reply, cascade: Cascade) -> Result<(), ReplyError> {
        self.answer(id, reply, cascade, By::Anyone)
    }

    /// The same for a person who has just seen this ask with all that it shows. Nothing else may call it:
    /// that is for whoever embeds a desk to keep.
    ///
    /// # Errors
    /// There is no such ask any more, or its rules cannot be kept.
    pub fn reply_in_person(
        &self,
        id: &str,
        reply: Reply,
        cascade: Cascade,
    ) -> Result<(), ReplyError> {
        self.answer(id, reply, cascade, By::Person)
    }

    fn answer(&self, id: &str, reply: Reply, cascade: Cascade, by: By) -> Result<(), ReplyError> {
        let mut state = self.state();
        let waiting = state.waiting.get(id).ok_or(ReplyError::NotFound)?;
        let ask = waiting.ask.clone();
        if ask.needs_person && by == By::Anyone && is_yes(&reply) {
            return Err(ReplyError::NeedsPerson);
        }
        let (how, kept) = end_of(&ask, &reply)?;
        let cascades = match &reply {
            Reply::Reject { who, .. } if cascade == Cascade::Session => Some(who.clone()),
            _ => None,
        };
        let taken_by = state.end(id, reply, how).ok_or(ReplyError::NotFound)?;
        if kept != Kept::Nothing {
            state.keeping.insert(taken_by, ask.clone());
        }
        if let Some(who) = cascades {
            for other in state.ids(|it| it.session == ask.session) {
                let (who, word, from) = (who.clone(), None, id.to_owned());
                state.end(&other, Reply::Reject { who, word }, End::Cascaded { from });
            }
        }
        Ok(())
    }

    /// Ends the asks of a session and of its children, because it was cancelled.
    pub fn cancel(&self, session: &str) {
        let mut state = self.state();
        for id in state.ids(|ask| state.is_within(&ask.session, session)) {
            state.cancel(&id);
        }
    }

    // INVARIANT: nothing that can panic runs between the parts of a change, so a poisoned lock is good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Person,
    Anyone,
}

fn is_yes(reply: &Reply) -> bool {
    match reply {
        Reply::Once { .. } | Reply::Always { .. } | Reply::Everything { .. } => true,
        Reply::Reject { .. } | Reply::Nobody { .. } => false,
    }
}

/// What a reply makes of an ask, and what of it will be kept.
fn end_of(ask: &Ask, reply: &Reply) -> Result<(End, Kept), ReplyError> {
    let (who, kept) = match reply {
        Reply::Once { who } => (who, Kept::Nothing),
        // It holds once, whatever was said.
        Reply::Always { who, .. } | Reply::Everything { who, .. } if ask.needs_person => {
            (who, Kept::Nothing)
        }
        Reply::Everything { who, scope } => (who, Kept::Everything(*scope)),
        Reply::Always { who, scope, rules } => {
            let fits = rules.as_ref().map_or(Ok(()), |it| ask.keepable.accepts(it));
            fits.map_err(ReplyError::NotKeepable)?;
            // A plain always to what may not be kept is a yes for once.
            let is_kept = rules.is_some() || ask.keepable.usual().is_some();
            let kept = if is_kept {
                Kept::Rules(*scope)
            } else {
                Kept::Nothing
            };
            (who, kept)
        }
        Reply::Reject { who, word } => {
            let (who, word) = (who.clone(), word.clone());
            return Ok((End::Rejected { who, word }, Kept::Nothing));
        }
        Reply::Nobody { why } => {
            return Ok((End::Expired { why: why.clone() }, Kept::Nothing));
        }
    };
    let who = who.clone();
    Ok((End::Allowed { who, kept }, kept))
}

impl State {
    fn next_id(&mut self) -> String {
        self.count += 1;
        format!("per_{:012x}{:06x}", self.started_ms, self.count)
    }

    /// Takes an ask off the desk and gives its calls their answer: the first that still waits the reply
    /// itself, the others the same with nothing to keep. The call that took it, if one did.
    fn end(&mut self, id: &str, mut reply: Reply, how: End) -> Option<CallId> {
        let Waiting { ask, calls } = self.waiting.remove(id)?;
        let mut taken_by = None;
        for (call, answer) in calls {
            let again = once(&reply);
            match answer.send(reply) {
                Ok(()) => {
                    taken_by = taken_by.or(Some(call));
                    reply = again;
                }
                Err(unsent) => reply = unsent,
            }
        }
        let is_taken = taken_by.is_some();
        let how = if is_taken { how } else { End::Cancelled };
        self.tell(&DeskEvent::Ended { ask, how });
        taken_by
    }

    fn cancel(&mut self, id: &str) {
        let why = "the session was cancelled".to_owned();
        self.end(id, Reply::Nobody { why }, End::Cancelled);
    }

    /// Which asks wait, of those meant.
    fn ids(&self, is_meant: impl Fn(&Ask) -> bool) -> Vec<String> {
        let meant = self.waiting.iter().filter(|(_, it)| is_meant(&it.ask));
        meant.map(|(id, _)| id.clone()).collect()
    }

    /// Whether a session is another, or a child of it at any depth.
    fn is_within(&self, session: &str, of: &str) -> bool {
        let mut at = Some(session);
        // Each step is another session, unless somebody closed one and opened it below its own child.
        for _ in 0..=self.sessions.len() {
            match at {
                Some(id) if id == of => return true,
                Some(id) => at = self.sessions.get(id).and_then(|it| it.parent.as_deref()),
                None => return false,
            }
        }
        false
    }

    fn tell(&mut self, event: &DeskEvent) {
        let hears = |it: &mut UnboundedSender<DeskEvent>| it.unbounded_send(event.clone()).is_ok();
        self.watchers.retain_mut(hears);
    }
}

/// The same answer with nothing to keep.
fn once(reply: &Reply) -> Reply {
    match reply {
        Reply::Always { who, .. } | Reply::Everything { who, .. } => {
            Reply::Once { who: who.clone() }
        }
        Reply::Once { .. } | Reply::Reject { .. } | Reply::Nobody { .. } => reply.clone(),
    }
}
