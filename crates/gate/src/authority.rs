//! The root of all permits. Held by lint, not by type: anyone can call [`root_authority`], so
//! clippy bans it everywhere but in a `main` and the test kit.

/// Leave to open rooms for calls.
#[derive(Debug)]
pub struct RootAuthority(());

/// Claims the root.
///
/// # Ambient authority
/// The one function here that makes something out of nothing.
#[must_use]
pub fn root_authority() -> RootAuthority {
    RootAuthority(())
}
