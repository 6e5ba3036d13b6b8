//! Rules in, a decision and its trace out.
//!
//! Must not: open, read or print anything, know the time, a tool, an agent or a session, or parse shell.
//!
//! A rule says `(permission, pattern, action)` and where it was written. A [`Subject`] is one thing a
//! call needs. [`decide`] is the only function that turns the two into a [`Decision`].

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]
#![deny(clippy::wildcard_enum_match_arm)]

mod decision;
mod evaluate;
pub mod explain;
mod filter;
mod harden;
mod index;
mod lint;
mod names;
mod pattern;
mod rule;
mod ruleset;
mod spelling;
mod subject;
mod suggest;
mod trace;
mod wildcard;
pub mod written;

pub use decision::{Answer, AnsweredBy, Decision, decide};
pub use evaluate::{disabled, evaluate, permission_of};
pub use filter::PathFilter;
pub use harden::control::{Own, control_plane};
pub use harden::escape::SANDBOX_ESCAPE;
pub use lint::{Finding, FindingKind, includes, lint};
pub use names::{Name, NameFault, NameTable, mcp_tool_name};
pub use pattern::{Pattern, PatternFault};
pub use rule::{Action, Origin, Rule, UnknownAction};
pub use ruleset::{Layer, RuleBook, RuleLayers, Ruleset};
pub use subject::{Arguments, Subject, SubjectKind};
pub use suggest::{Asked, Suggestion, suggest};
pub use trace::{Step, StepKind, Trace};
pub use wildcard::{Platform, wildcard, wildcard_on};
