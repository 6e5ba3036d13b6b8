//! What was said, kept as it is said.

use model::Message;

/// The id of the message that takes this place in a session; unique wherever session ids are.
pub fn message_id(session: &str, at: usize) -> String {
    let own = session.strip_prefix("ses_").unwrap_or(session);
    format!("msg_{own}_{at:06}")
}

/// The port. Returns only when the message would survive the end of our process.
pub trait Transcript: Send + Sync {
    /// Keeps one message. `at` counts from 0 in the session.
    ///
    /// # Errors
    /// It could not be kept; the session stops.
    fn append(&self, at: usize, message: &Message) -> Result<(), String>;
}

/// Keeps nothing: for callers that have no use for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untold;

impl Transcript for Untold {
    fn append(&self, _at: usize, _message: &Message) -> Result<(), String> {
        Ok(())
    }
}
