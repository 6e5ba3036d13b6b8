//! The built-in tools on a machine in memory: the cases of spec/calls, and what a model is told of
//! each tool.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

mod answers;
mod calls;
mod offers;
mod secrets;
