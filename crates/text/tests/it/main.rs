//! Tables and properties of the text crate. Must not use files: all texts stand here.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use tollgate_text as text;

mod diff;
mod escape;
mod lines;
mod replace;
mod truncate;
