//! Permission rules of other agents, as rules of ours.
//!
//! Must not open a file, or make anything milder than it was: what cannot be said in our rules is listed,
//! and asks where leaving it out would allow it.

mod claude;
mod codex;
mod draft;
mod gemini;
mod pattern;
mod starlark;

pub use claude::claude;
pub use codex::codex;
pub use gemini::gemini;

use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

use crate::ConfigError;
use crate::error::{Fault, quotable, visible};

/// What became of a foreign file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// A configuration of ours, in JSONC, with the place each rule comes from beside it.
    pub text: String,
    /// What has no equivalent, in the order of the file.
    pub unmatched: Vec<Unmatched>,
}

/// Something of a foreign file that our rules cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched {
    /// The line it stands in, from 1.
    pub line: u32,
    /// It, in one line.
    pub text: String,
    /// Why it has no equivalent, and what stands in its place if something does.
    pub why: String,
}

/// A foreign text that cannot be read.
fn unreadable(text: &str, label: &str, range: Range<usize>, message: &str) -> ConfigError {
    let file = Arc::new(NamedSource::new(visible(label), quotable(text)));
    let start = range.start.min(text.len());
    let end = range.end.clamp(start, text.len());
    ConfigError::invalid(label, vec![Fault::new(&file, start..end, message, None)])
}

/// The line a byte stands in, from 1.
fn line_of(text: &str, at: usize) -> u32 {
    let before = text.get(..at).unwrap_or(text);
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}
