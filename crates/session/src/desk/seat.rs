//! The place of one session at a desk: the approver of its calls. Must not outlive its session.

use super::{Ask, Desk, DeskEvent, End, State, Waiting};
use futures::{
    channel::oneshot,
    future::{Either, select},
};
use gate::{
    BoxFuture,
    call::CallId,
    g2_admit::{Approver, Question, Reply},
};
use policy::{Action, Subject, decide};
use std::sync::Arc;

/// Puts the asks of one session on the desk and waits for their answers. Dropping it cancels them.
#[derive(Debug)]
pub struct Seat {
    desk: Desk,
    session: String,
}

/// Where a call waits. Dropping it, because the call ended, takes the call off the desk.
struct Ticket<'s> {
    seat: &'s Seat,
    id: String,
    call: CallId,
}

impl Seat {
    pub(super) fn new(desk: Desk, session: String) -> Self {
        Self { desk, session }
    }

    /// Puts a question, or joins the calls that wait for an answer to the same. `None`: meanwhile the rules
    /// allow it.
    fn put_down(&self, question: &Question<'_>) -> Option<(Ticket<'_>, oneshot::Receiver<Reply>)> {
        let mut state = self.desk.state();
        let call = question.call;
        if !question.needs_person() && state.allows(&self.session, &question.subjects.into()) {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        let same = |it: &&mut Waiting| it.ask.session == self.session && it.ask.is_same(question);
        let id = match state.waiting.values_mut().find(same) {
            Some(waiting) => {
                waiting.calls.push((call, answer));
                waiting.ask.id.clone()
            }
            None => state.add(&self.session, question, answer),
        };
        Some((
            Ticket {
                seat: self,
                id,
                call,
            },
            answered,
        ))
    }

    /// Nobody answered in time. An answer that came first stands.
    fn expire(&self, id: &str) {
        let seconds = self.desk.0.deadline.ms.div_ceil(1000);
        let why = format!("nobody answered within {seconds} s");
        let reply = Reply::Nobody { why: why.clone() };
        self.desk.state().end(id, reply, End::Expired { why });
    }
}

impl Approver for Seat {
    /// The desk lets only a person say yes to it, see [`Desk::reply_in_person`].
    fn ask_person<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        self.ask(question)
    }

    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let Some((ticket, answered)) = self.put_down(&question) else {
                let who = "the rules, as they are now".to_owned();
                return Reply::Once { who };
            };
            let deadline = &self.desk.0.deadline;
            let reply = match select(answered, deadline.timer.after(deadline.ms)).await {
                Either::Left((reply, _)) => reply,
                Either::Right(((), answered)) => {
                    self.expire(&ticket.id);
                    answered.await
                }
            };
            let gone = |_| Reply::Nobody {
                why: "the ask was dropped".to_owned(),
            };
            reply.unwrap_or_else(gone)
        })
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.seat.desk.state().leave(&self.id, self.call);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        for id in state.ids(|ask| ask.session == self.session) {
            state.cancel(&id);
        }
        state.keeping.retain(|_, ask| ask.session != self.session);
        state.sessions.remove(&self.session);
    }
}

impl State {
    /// Whether the rules of a session allow it, as they are now.
    pub(super) fn allows(&self, session: &str, subjects: &Arc<[Subject]>) -> bool {
        self.sessions.get(session).is_some_and(|session| {
            decide(&session.rules.current(), subjects, None).action() == Action::Allow
        })
    }

    fn add(
        &mut self,
        session: &str,
        question: &Question<'_>,
        answer: oneshot::Sender<Reply>,
    ) -> String {
        let id = self.next_id();
        let ask = Arc::new(Ask::of(id.clone(), session, question));
        self.tell(&DeskEvent::Asked(ask.clone()));
        let calls = vec![(question.call, answer)];
        self.waiting.insert(id.clone(), Waiting { ask, calls });
        id
    }

    /// A call waits no longer; with the last one its ask ends.
    fn leave(&mut self, id: &str, call: CallId) {
        let Some(waiting) = self.waiting.get_mut(id) else {
            return;
        };
        waiting.calls.retain(|(it, _)| *it != call);
        if waiting.calls.is_empty() {
            self.cancel(id);
        }
    }
}
