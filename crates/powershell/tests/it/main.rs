//! The readers from outside: tables and properties. It must not reach into the crate.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod properties;
mod tables;
