//! What was meant and what came of it. An effect whose intent cannot be written does not happen.

use crate::{call::Ids, g2_admit::Refusal};
use policy::Decision;

/// One line of the journal.
#[derive(Clone, Debug)]
pub struct Record {
    /// Which call, of which message and session.
    pub ids: Ids,
    /// The tool that was called.
    pub tool: String,
    /// What happened.
    pub event: Event,
}

/// What a record says.
#[derive(Clone, Debug)]
pub enum Event {
    /// Before the effect. Without an outcome behind it: unknown how far it got.
    Intent {
        /// The effect, in one line.
        effect: String,
        /// Under which decision.
        decision: Decision,
    },
    /// After the effect.
    Outcome {
        /// The effect, as in its intent.
        effect: String,
        /// Whether it was had, or why not.
        result: Result<(), String>,
    },
    /// A call that a gate refused.
    Refused(Refusal),
}

/// The port. Returns only when the record would survive the end of our process.
pub trait Journal: Send + Sync {
    /// # Errors
    /// The record could not be kept; nothing may happen on its strength.
    fn append(&self, record: Record) -> Result<(), String>;
}
