//! The loop between a model and the gates: one room a turn, one call after another.
//!
//! Must not print, prompt, read the environment or know a store: what is said is kept through the
//! [`Transcript`] port, what happens is told through [`Events`], and asks go to the approver.

mod event;
mod loops;
mod transcript;

pub use event::{Event, Events, Unheard};
pub use loops::{Ended, Furniture, Refused, Session, SessionError, Stop};
pub use transcript::{Transcript, Untold, message_id};
