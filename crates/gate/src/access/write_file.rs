//! Replacing one file. Declared with its handle; the change is bound in the preview, before anyone
//! is asked, from bytes the gate read itself.

use super::{Digest, Handle};
use crate::{Fault, g3_confine::Seen};
use std::fmt;

/// Leave is asked to replace this file by bytes that are fixed before the ask.
#[derive(Debug)]
pub struct WriteFile {
    handle: Handle,
    change: Option<Change>,
}

/// What a write does. Neither the digest nor the diff is the tool's word.
#[derive(Debug)]
pub struct Change {
    before: Option<Digest>,
    after: Vec<u8>,
    diff: String,
}

impl WriteFile {
    /// Of the file behind this handle; the bytes follow in the preview.
    pub fn new(handle: Handle) -> Self {
        Self {
            handle,
            change: None,
        }
    }

    /// The file.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What will be written; `None` until the preview has bound it.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref()
    }

    pub(crate) fn bind(&mut self, seen: &Seen<'_>, after: Vec<u8>) -> Result<(), Fault> {
        if seen.handle().resolved() != self.handle.resolved() || seen.is_directory() {
            return Err(Fault::UnrelatedBytes);
        }
        let diff = text::diff::unified(self.handle.path(), seen.bytes(), &after);
        self.change = Some(Change {
            before: seen.bytes().map(Digest::of),
            after,
            diff,
        });
        Ok(())
    }
}

impl Change {
    /// What the file must still hold; `None`: it must still not exist.
    pub fn before(&self) -> Option<Digest> {
        self.before
    }

    /// The bytes to be written, whole.
    pub fn after(&self) -> &[u8] {
        &self.after
    }

    /// The difference, for a person.
    pub fn diff(&self) -> &str {
        &self.diff
    }
}

/// The line the journal keeps, with both digests.
impl fmt::Display for WriteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write {}", self.handle.path())?;
        let Some(change) = &self.change else {
            return f.write_str(" (unbound)");
        };
        match change.before {
            Some(before) => write!(f, " {before}")?,
            None => f.write_str(" new")?,
        }
        write!(f, " -> {}", Digest::of(&change.after))
    }
}
