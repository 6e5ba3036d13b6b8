//! What a run prints, for people or for programs.

mod json;
mod text;

pub(crate) use json::JsonLines;
pub(crate) use text::Plain;
