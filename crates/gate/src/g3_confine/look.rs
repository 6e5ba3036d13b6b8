//! What a tool has at hand in its preview: eyes, and a pen for its own writes. No other effect.

use super::Effects;
use crate::{
    Fault, Problem,
    access::{Handle, ReadFile, WriteFile},
    call::Tag,
    g1_decode::Want,
    g2_admit::Ledger,
    host::Content,
};

/// What a file held when the gate read it in this call. Proof for [`Look::bind`] of what stood
/// there, and branded like a permit: bytes kept from an earlier call bind nothing.
#[derive(Debug)]
pub struct Seen<'call> {
    handle: Handle,
    content: Content,
    pub(crate) call: Tag<'call>,
}

impl<'call> Seen<'call> {
    pub(super) fn new(handle: Handle, content: Content, call: Tag<'call>) -> Self {
        Self {
            handle,
            content,
            call,
        }
    }

    /// Of which file.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Its bytes; `None`: there is no such file, or it is a directory.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::Directory | Content::Missing => None,
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.content == Content::Directory
    }
}

/// Reads with read permits; binds writes. Nothing else.
pub struct Look<'call> {
    ledger: Ledger<'call>,
    effects: Effects<'call>,
}

impl std::fmt::Debug for Look<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Look").finish_non_exhaustive()
    }
}

impl<'call> Look<'call> {
    pub(super) fn new(ledger: Ledger<'call>) -> Self {
        let effects = Effects::of(ledger.call());
        Self { ledger, effects }
    }

    pub(super) fn into_ledger(self) -> Ledger<'call> {
        self.ledger
    }

    /// Spends the read permit.
    ///
    /// # Errors
    /// As [`Effects::read_file`].
    pub async fn read(&mut self, want: &Want<ReadFile>) -> Result<Seen<'call>, Problem> {
        let permit = self.ledger.take(want)?;
        self.effects.read_file(permit).await
    }

    /// Fixes what a write will do: from the bytes seen to `after`.
    ///
    /// # Errors
    /// The bytes seen are of another file.
    pub fn bind(
        &mut self,
        want: &Want<WriteFile>,
        seen: &Seen<'call>,
        after: Vec<u8>,
    ) -> Result<(), Fault> {
        self.ledger.bind(want, seen, after)
    }
}
