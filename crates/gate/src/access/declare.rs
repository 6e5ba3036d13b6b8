//! A permission that has no effect of its own, by a name known only at run time.

use policy::Subject;

/// Leave is asked under this name.
#[derive(Debug)]
pub struct Declare {
    permission: String,
    pattern: String,
}

impl Declare {
    /// The permission name and what exactly is asked under it.
    pub fn new(permission: impl Into<String>, pattern: impl Into<String>) -> Self {
        Self {
            permission: permission.into(),
            pattern: pattern.into(),
        }
    }

    /// The permission name.
    pub fn permission(&self) -> &str {
        &self.permission
    }

    /// What is asked under it.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(super) fn subject(&self) -> Subject {
        Subject::name(&self.permission, &self.pattern)
    }
}
