//! Listing or searching below a directory.

use super::Handle;

/// What the names are wanted for; decides the permission asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The names directly in the directory. Asked as `read`, like the file it turned out not to be.
    List,
}

impl Purpose {
    pub(super) fn permission(self) -> &'static str {
        match self {
            Self::List => "read",
        }
    }
}

/// Leave is asked to see names below this directory.
#[derive(Debug)]
pub struct ReadTree {
    handle: Handle,
    purpose: Purpose,
}

impl ReadTree {
    /// The names directly in a directory.
    pub fn list(handle: Handle) -> Self {
        Self {
            handle,
            purpose: Purpose::List,
        }
    }

    /// The directory.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }
}
