//! The binary as its users meet it: started as a process, in folders of its own.
//! Must not touch the real home, ask a real terminal, or assert times: what has to end is waited for.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

mod approvals;
mod bad_input;
mod check;
mod configuration;
mod ended;
mod escape;
mod events;
mod instructions;
mod log;
mod machine;
mod model;
mod opened;
mod own;
mod policy_diff;
mod policy_import;
mod policy_lint;
mod policy_suggest;
mod policy_test;
mod run;
mod same_answer;
mod sandboxed;
mod scratch;
mod server;
mod sessions;
mod shell;
mod terminal;
mod tour;
mod trust;
mod world;
