//! Tollgate for programs that embed it: the crates of the workspace under one name, and nothing else.
//!
//! Must not add behaviour: what a caller can do here is what the crates let it do.
//!
//! - [`gate`]: the contract. Implement [`gate::tool::Tool`] for a tool of your own,
//!   [`gate::g2_admit::Approver`] for whoever answers asks.
//! - [`policy`] and [`agent`]: rules, presets and agents.
//! - [`host`] and [`sandbox`]: this machine, with walls around what runs. Call
//!   [`sandbox::run_if_helper`] first in `main`.
//! - [`session`] and [`model`]: the loop, and who speaks in it.
//! - [`store`]: journal, sessions and approvals in a file.
//! - [`tools`]: the built-in tools.
//!
//! `examples/embed.rs` is a whole program with an approver and a tool of its own.

pub use agent;
pub use gate;
pub use host;
pub use model;
pub use policy;
pub use sandbox;
pub use session;
pub use store;
pub use tools;
