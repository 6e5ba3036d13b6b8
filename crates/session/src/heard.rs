//! Notes which asks of a session nobody could answer. Must not answer one itself, nor keep what was asked.

use gate::{
    BoxFuture,
    access::AskUser,
    g2_admit::{Answers, Approver, Question, Reply},
    g3_confine::Order,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stands before an approver and counts the asks to which nobody was there. A call is not refused by each of
/// them: a command goes on without the machine that it asked for while it ran.
pub(crate) struct Heard<'a> {
    inner: &'a dyn Approver,
    nobody_count: AtomicUsize,
}

impl<'a> Heard<'a> {
    pub(crate) fn by(inner: &'a dyn Approver) -> Self {
        Self {
            inner,
            nobody_count: AtomicUsize::new(0),
        }
    }

    pub(crate) fn nobody_count(&self) -> usize {
        self.nobody_count.load(Ordering::Relaxed)
    }
}

impl Approver for Heard<'_> {
    fn ask<'b>(&'b self, question: Question<'b>) -> BoxFuture<'b, Reply> {
        Box::pin(async move {
            let reply = self.inner.ask(question).await;
            if matches!(reply, Reply::Nobody { .. }) {
                self.nobody_count.fetch_add(1, Ordering::Relaxed);
            }
            reply
        })
    }

    fn put<'b>(&'b self, inquiries: &'b Order<AskUser>) -> BoxFuture<'b, Answers> {
        self.inner.put(inquiries)
    }
}
