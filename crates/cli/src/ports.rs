//! The small ports of a process: its clock, a conversation kept in the store, a journal for calls
//! that have no effect.

use gate::{
    call::Ids,
    g2_admit::{Approvals, Scope},
    host::Clock,
    journal::{Journal, Record},
};
use model::Message;
use policy::Rule;
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

/// Keeps approvals in the store, for the workspace they are given in.
pub(crate) struct StoredApprovals<'s> {
    pub(crate) store: &'s Store,
    pub(crate) workspace: &'s str,
}

impl Approvals for StoredApprovals<'_> {
    fn keep(&self, scope: Scope, rules: &[Rule], by: &Ids, who: &str) -> Result<(), String> {
        let mut once: Vec<Rule> = Vec::new();
        for rule in rules {
            let is_same =
                |it: &Rule| (&it.permission, &it.pattern) == (&rule.permission, &rule.pattern);
            // Of two that say the same one could be revoked and the other would go on.
            if !once.iter().any(is_same) {
                once.push(rule.clone());
            }
        }
        let kept = self.store.approve(scope, self.workspace, &once, by, who);
        kept.map(drop).map_err(|error| error.to_string())
    }
}

/// For checks: nobody is asked, so nothing can be approved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoApprovals;

impl Approvals for NoApprovals {
    fn keep(&self, _: Scope, _: &[Rule], _: &Ids, _: &str) -> Result<(), String> {
        Err("a check approves nothing".to_owned())
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
