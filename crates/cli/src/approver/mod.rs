//! Who answers asks at a command line: the terminal, or nobody.

mod choice;
mod question;
mod sheet;
mod terminal;

pub(crate) use terminal::Terminal;

use crate::args::OnAsk;
use gate::{
    BoxFuture,
    g2_admit::{Approver, Question, Reply},
};

/// There is no one to ask.
#[derive(Debug)]
pub(crate) struct Nobody(pub(crate) &'static str);

impl Approver for Nobody {
    fn ask<'a>(&'a self, _question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async {
            Reply::Nobody {
                why: self.0.to_owned(),
            }
        })
    }

    /// The same no, for the same reason.
    fn ask_person<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        self.ask(question)
    }
}

/// The approver that was chosen; unless told otherwise, the terminal if there is one.
pub(crate) fn choose(on_ask: Option<OnAsk>) -> Box<dyn Approver> {
    match on_ask {
        Some(OnAsk::Deny) => Box::new(Nobody("asks are denied by --on-ask deny")),
        Some(OnAsk::Prompt) | None => match Terminal::open() {
            Ok(terminal) => Box::new(terminal),
            Err(_) => Box::new(Nobody("there is no terminal")),
        },
    }
}
