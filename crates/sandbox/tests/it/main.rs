//! The sandbox on a real kernel, through the examples as supervisor programs; `full_` is the full tier.
//! Must not assert times: what has to end is waited for, and a test that hangs has failed.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod calls;
mod failure;
mod full_calls;
mod full_lifetime;
mod full_network;
mod full_walls;
mod kit;
mod lifetime;
mod mechanisms;
mod obstacles;
mod protected;
mod start;
mod tools;
mod walls;
