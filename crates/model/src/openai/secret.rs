//! A key. Must not be shown, compared or stored: it has no way out but into a request.

use std::fmt;

/// Text that is never shown. `Debug` and `Display` write `[secret]`, and there is no `Serialize`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a key as it stands, without the white space around it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// The key itself.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
