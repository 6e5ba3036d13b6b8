//! The loop between a model and the gates: one room a turn, one call after another. And where its asks
//! go when whoever answers them is elsewhere: a desk, a chain of approvers.
//!
//! Must not print, prompt, read the environment or know a store: what is said is kept through the
//! [`Transcript`] port, what happens is told through [`Events`], and asks go to the approver.

mod chain;
pub mod desk;
mod event;
mod heard;
mod loop_guard;
mod loops;
mod transcript;

pub use chain::Chain;
pub use event::{Event, Events, Unheard};
pub use heard::Heard;
pub use loops::{Ended, Furniture, Refused, Session, SessionError, Stop};
pub use transcript::{Transcript, Untold, message_id};
