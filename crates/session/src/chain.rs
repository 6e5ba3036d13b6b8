//! Who is asked when the first cannot be: a child's approver, then its parent's, up to the root. Must not
//! answer anything itself: at the end of the chain there is nobody.

use gate::{
    BoxFuture,
    access::AskUser,
    g2_admit::{Answers, Approver, Question, Reply},
    g3_confine::Order,
};
use std::fmt;

/// Approvers, each asked if nobody is there at those before it.
#[derive(Clone)]
pub struct Chain<'a>(Vec<&'a dyn Approver>);

impl fmt::Debug for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({})", self.0.len())
    }
}

impl<'a> Chain<'a> {
    /// The session's own approver.
    pub fn new(own: &'a dyn Approver) -> Self {
        Self(vec![own])
    }

    /// That of the session that began it, behind those before.
    #[must_use]
    pub fn then(mut self, parent: &'a dyn Approver) -> Self {
        self.0.push(parent);
        self
    }
}

/// The first answer; if nobody has one, why, in the order of asking.
async fn first<'q>(replies: impl Iterator<Item = BoxFuture<'q, Reply>>) -> Reply {
    let mut reasons: Vec<String> = Vec::new();
    for reply in replies {
        match reply.await {
            Reply::Nobody { why } if reasons.contains(&why) => {}
            Reply::Nobody { why } => reasons.push(why),
            answer => return answer,
        }
    }
    let why = reasons.join("; ");
    Reply::Nobody { why }
}

impl Approver for Chain<'_> {
    fn ask<'q>(&'q self, question: Question<'q>) -> BoxFuture<'q, Reply> {
        Box::pin(first(self.0.iter().map(move |it| it.ask(question))))
    }

    fn ask_person<'q>(&'q self, question: Question<'q>) -> BoxFuture<'q, Reply> {
        Box::pin(first(self.0.iter().map(move |it| it.ask_person(question))))
    }

    fn put<'q>(&'q self, inquiries: &'q Order<AskUser>) -> BoxFuture<'q, Answers> {
        Box::pin(async move {
            for approver in &self.0 {
                match approver.put(inquiries).await {
                    Answers::Nobody => {}
                    answers => return answers,
                }
            }
            Answers::Nobody
        })
    }
}
