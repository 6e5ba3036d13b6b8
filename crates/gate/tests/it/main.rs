//! The gates as seen from outside: what is refused, what is asked, what is written down, and what
//! does not compile.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

mod admit;
mod commands;
mod escape;
mod keep;
mod limits;
mod narrower;
mod proofs;
mod reach;
mod rogues;
mod same_answer;
mod stages;
mod truncation;
mod words;
mod world;
