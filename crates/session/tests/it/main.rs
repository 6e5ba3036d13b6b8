//! The loop between a scripted model and the gates, on a machine in memory.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

mod chain;
mod circles;
mod desk;
mod ends;
mod escape;
mod provider;
mod scene;
mod turns;
