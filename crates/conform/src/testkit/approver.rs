//! An approver made of a closure that remembers what it was asked.

use super::lock;
use gate::{
    BoxFuture,
    access::{AskUser, Evidence, Inquiry},
    g2_admit::{Answers, Approver, Question, Reply},
    g3_confine::Order,
};
use std::{future::poll_fn, sync::Mutex, task::Poll};

/// One question as it was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// `permission pattern` of the first subject, in source spelling for commands.
    pub what: String,
    /// The diff of a write.
    pub diff: Option<String>,
}

/// Answers with a closure, after having made its caller wait once.
pub struct ScriptedApprover<F> {
    answer: F,
    asked: Mutex<Vec<Asked>>,
}

impl<F> std::fmt::Debug for ScriptedApprover<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(lock(&self.asked).iter()).finish()
    }
}

impl<F: Fn(&Question<'_>) -> Reply + Send + Sync> ScriptedApprover<F> {
    /// Answers with this closure.
    pub fn new(answer: F) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }

    /// Every question so far.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }
}

impl<F: Fn(&Question<'_>) -> Reply + Send + Sync> Approver for ScriptedApprover<F> {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let mut has_waited = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut has_waited, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            let subject = question.because.subject();
            let what = format!("{} {}", subject.permission, subject.canonical);
            let diff = match question.evidence {
                Evidence::Diff(diff) => Some(diff.to_owned()),
                Evidence::None
                | Evidence::Command { .. }
                | Evidence::Escape { .. }
                | Evidence::Inquiries(_)
                | Evidence::Repeats(_) => None,
            };
            lock(&self.asked).push(Asked { what, diff });
            (self.answer)(&question)
        })
    }

    /// Stands for a person too.
    fn ask_person<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        self.ask(question)
    }

    /// The first choice of each question, or its own words again.
    fn put<'a>(&'a self, inquiries: &'a Order<AskUser>) -> BoxFuture<'a, Answers> {
        let answer = |inquiry: &Inquiry| match inquiry.choices.first() {
            Some(choice) => vec![choice.label.clone()],
            None => vec![format!("you asked: {}", inquiry.question)],
        };
        let inquiries = inquiries.access().inquiries();
        let answers = inquiries.iter().map(answer).collect();
        Box::pin(async move { Answers::Given(answers) })
    }
}
