//! Reading one file whole.

use super::Handle;

/// Leave is asked to read the bytes of this file.
#[derive(Debug)]
pub struct ReadFile {
    handle: Handle,
}

impl ReadFile {
    /// Of the file behind this handle.
    pub fn new(handle: Handle) -> Self {
        Self { handle }
    }

    /// The file.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}
