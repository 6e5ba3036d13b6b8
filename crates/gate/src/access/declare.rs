//! A permission that has no effect of its own, by a name known only at run time.

use crate::g2_admit::DOOM_LOOP;
use policy::Subject;

/// Leave is asked under this name.
#[derive(Debug)]
pub struct Declare {
    permission: String,
    pattern: String,
    /// What a call repeats, if that is why.
    repeats: Option<String>,
}

impl Declare {
    /// The permission name and what exactly is asked under it.
    pub fn new(permission: impl Into<String>, pattern: impl Into<String>) -> Self {
        Self {
            permission: permission.into(),
            pattern: pattern.into(),
            repeats: None,
        }
    }

    /// Leave to repeat what was done before, by a call of this tool.
    pub(crate) fn repeat(tool: &str, repeats: &str) -> Self {
        Self {
            repeats: Some(repeats.to_owned()),
            ..Self::new(DOOM_LOOP, tool)
        }
    }

    pub(super) fn repeats(&self) -> Option<&str> {
        self.repeats.as_deref()
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
