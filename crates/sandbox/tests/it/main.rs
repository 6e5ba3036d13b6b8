//! The sandbox on a real kernel, through the example `confine` as supervisor program.
//! Must not assert times: what has to end is waited for, and a test that hangs has failed.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod calls;
mod kit;
mod lifetime;
mod start;
mod tools;
mod walls;
