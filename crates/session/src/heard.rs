//! Notes which asks of a session nobody could answer. Must not answer one itself, nor keep what was asked.

use gate::{
    BoxFuture,
    access::AskUser,
    g2_admit::{Answers, Approver, Question, Reply},
    g3_confine::Order,
};
use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Stands before an approver and counts the asks to which nobody was there. A call is not refused by each of
/// them: a command goes on without the machine that it asked for while it ran.
pub struct Heard<'a> {
    inner: &'a dyn Approver,
    nobody_count: AtomicUsize,
}

impl<'a> Heard<'a> {
    /// Stands before this one.
    pub fn by(inner: &'a dyn Approver) -> Self {
        Self {
            inner,
            nobody_count: AtomicUsize::new(0),
        }
    }

    /// How many asks nobody was there to answer.
    pub fn nobody_count(&self) -> usize {
        self.nobody_count.load(Ordering::Relaxed)
    }

    fn count(&self, reply: Reply) -> Reply {
        if matches!(reply, Reply::Nobody { .. }) {
            self.nobody_count.fetch_add(1, Ordering::Relaxed);
        }
        reply
    }
}

impl fmt::Debug for Heard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Heard").field(&self.nobody_count).finish()
    }
}

impl Approver for Heard<'_> {
    fn ask<'b>(&'b self, question: Question<'b>) -> BoxFuture<'b, Reply> {
        Box::pin(async move { self.count(self.inner.ask(question).await) })
    }

    fn ask_person<'b>(&'b self, question: Question<'b>) -> BoxFuture<'b, Reply> {
        Box::pin(async move { self.count(self.inner.ask_person(question).await) })
    }

    fn put<'b>(&'b self, inquiries: &'b Order<AskUser>) -> BoxFuture<'b, Answers> {
        self.inner.put(inquiries)
    }
}
