//! Gate 2: everything a call wants is decided before anyone is asked, and again after each answer;
//! only then do permits exist.

mod grants;
mod keepable;
mod ledger;
mod permit;
mod question;
mod refusal;

pub use grants::{Grants, LATE_ASKS_MAX};
pub use keepable::Keepable;
pub use permit::Permit;
pub use question::{Answers, Approvals, Approver, Question, Reply, Scope};
pub use refusal::{Gate, Refusal};

pub(crate) use ledger::Ledger;

use crate::{
    Problem,
    access::{AnyAccess, Declare},
    call::{RawCall, Tag},
    g1_decode::Decoded,
    g3_confine::{Bound, Effects},
    tool::Prepared,
};
use ledger::Stage;
use policy::{Action, Answer, Decision, Subject};
use std::sync::Arc;

/// Proof of pass 1: nothing the call wants is denied.
pub(crate) struct Judged<'call> {
    prepared: Box<dyn Prepared>,
    ledger: Ledger<'call>,
}

/// Proof that the reads are admitted; the preview may look.
pub(crate) struct Sighted<'call> {
    pub(crate) prepared: Box<dyn Prepared>,
    pub(crate) ledger: Ledger<'call>,
}

/// Proof that all is admitted; the call may run.
pub(crate) struct Admitted<'call> {
    pub(crate) prepared: Box<dyn Prepared>,
    pub(crate) ledger: Ledger<'call>,
}

/// The permission of a call that only repeats what was done before.
pub const DOOM_LOOP: &str = "doom_loop";

/// Asks for it where the call only repeats what was done before. By itself and before the
/// other gates: a call that is denied or does not fit is the one most often made again.
pub(crate) async fn admit_repeat(call: Tag<'_>, raw: &RawCall) -> Result<(), Problem> {
    let Some(shown) = &raw.repeats else {
        return Ok(());
    };
    let wanted = AnyAccess::Declare(Declare::repeat(&raw.tool, shown));
    let mut ledger = Ledger::open(call, vec![wanted]);
    ledger.settle(Stage::Rest).await?;
    let permit = ledger.take_at(0)?;
    Effects::of(call).declare(permit).await
}

/// A running command at a door: leave to reach a machine, which could not be told before.
pub(crate) struct Knock<'call>(Ledger<'call>);

impl<'call> Knock<'call> {
    /// `answer` is a yes that was given to this very thing before.
    pub(crate) fn at(call: Tag<'call>, wanted: Declare, answer: Option<&Answer>) -> Self {
        let mut ledger = Ledger::open(call, vec![AnyAccess::Declare(wanted)]);
        ledger.answer_all(answer);
        Self(ledger)
    }

    /// What the rules say now, with the answer that was given.
    pub(crate) fn action(&self) -> Action {
        let decisions = self.0.decide();
        let strictest = decisions.iter().map(Decision::action).max();
        strictest.unwrap_or(Action::Ask)
    }

    /// Asks if need be, and writes down that it was let through before it is.
    pub(crate) async fn admit(mut self) -> Result<Decision, Problem> {
        self.0.settle(Stage::Rest).await?;
        let permit = self.0.take_at::<Declare>(0)?;
        let decision = permit.decision().clone();
        Effects::of(self.0.call()).declare(permit).await?;
        Ok(decision)
    }
}

pub(crate) fn judge(call: Tag<'_>, decoded: Decoded) -> Result<Judged<'_>, Refusal> {
    let ledger = Ledger::open(call, decoded.wanted);
    ledger.judge()?;
    Ok(Judged {
        prepared: decoded.prepared,
        ledger,
    })
}

/// What pass 1 would see: for a check, which goes no further.
pub(crate) fn survey(call: Tag<'_>, decoded: Decoded) -> Vec<(Arc<[Subject]>, Decision)> {
    Ledger::open(call, decoded.wanted).survey()
}

pub(crate) async fn admit_reads(judged: Judged<'_>) -> Result<Sighted<'_>, Problem> {
    let Judged {
        prepared,
        mut ledger,
    } = judged;
    ledger.settle(Stage::Reads).await?;
    Ok(Sighted { prepared, ledger })
}

pub(crate) async fn admit_rest(bound: Bound<'_>) -> Result<Admitted<'_>, Problem> {
    let Bound {
        prepared,
        mut ledger,
    } = bound;
    ledger.settle(Stage::Rest).await?;
    Ok(Admitted { prepared, ledger })
}
