//! The small ports of a process: its clock, a conversation kept in the store, a journal for calls
//! that have no effect.

use gate::{
    host::Clock,
    journal::{Journal, Record},
};
use model::Message;
use session::Transcript;
use std::time::{SystemTime, UNIX_EPOCH};
use store::Store;

/// The system's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Keeps a session's messages in the store.
pub(crate) struct StoredTranscript<'s> {
    pub(crate) store: &'s Store,
    pub(crate) session: &'s str,
}

impl Transcript for StoredTranscript<'_> {
    fn append(&self, at: usize, message: &Message) -> Result<(), String> {
        let json = serde_json::to_string(message).map_err(|error| error.to_string())?;
        let id = session::message_id(self.session, at);
        let at = u64::try_from(at).map_err(|error| error.to_string())?;
        self.store
            .append_message(self.session, at, &id, &json)
            .map_err(|error| error.to_string())
    }
}

/// For checks: they have no effect, so there is nothing to keep, and a record would be a mistake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoJournal;

impl Journal for NoJournal {
    fn append(&self, _record: Record) -> Result<(), String> {
        Err("a check may not have an effect".to_owned())
    }
}
