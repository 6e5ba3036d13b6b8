//! What whoever watches a desk hears. Must not say more than happened: each ask ends once, in one way.

use super::Ask;
use gate::g2_admit::Scope;
use std::sync::Arc;

/// One thing that happened at a desk.
#[derive(Clone, Debug)]
pub enum DeskEvent {
    /// An ask waits for its answer.
    Asked(Arc<Ask>),
    /// It waits no longer.
    Ended {
        /// The ask.
        ask: Arc<Ask>,
        /// What became of it.
        how: End,
    },
}

/// What became of an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A yes.
    Allowed {
        /// Who said so.
        who: String,
        /// What of it is kept.
        kept: Kept,
    },
    /// A no.
    Rejected {
        /// Who said so.
        who: String,
        /// What the model should do instead. Nobody else's model hears it.
        word: Option<String>,
    },
    /// A no to another ask of its session.
    Cascaded {
        /// The ask that was answered.
        from: String,
    },
    /// A yes to another ask was kept, and covers this one.
    Drained {
        /// The ask that was answered, if it was one of this desk.
        by: Option<String>,
    },
    /// Nobody answered in time, or could.
    Expired {
        /// What the model is told.
        why: String,
    },
    /// The call, or its session, ended.
    Cancelled,
}

/// What of a yes is kept for the next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It held once.
    Nothing,
    /// Rules, in this scope.
    Rules(Scope),
    /// An allow of everything, in this scope.
    Everything(Scope),
}
