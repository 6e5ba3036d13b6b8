//! Shell text to what it would run, read and write. It must not touch the machine, and must not guess: what it does not understand is "cannot tell", with its place.
//!
//! The language is bash (and POSIX `sh`, which reads the same text the same way here). [`read`] takes
//! any text and never fails. Where [`Line::unknown`] is empty, the commands and redirects listed are
//! all there are. Where it is not, the list is a best effort: enough to find a forbidden command in,
//! never enough to allow one.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod grade;
mod line;
mod prefix;
mod reader;
mod spelling;

pub use line::{Assignment, Line, Opaque, Redirect, RedirectOp, Simple, Unknown, Word, WordKind};
pub use prefix::prefix;
pub use reader::{DEPTH_MAX, TEXT_BYTES_MAX, read};
