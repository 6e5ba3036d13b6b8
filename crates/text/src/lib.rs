//! Bytes and text of files: lines, diffs, truncation, replacement, and showing what is invisible.
//! Must not open a file, print, or know the time: text comes in, text goes out.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

pub mod diff;
pub mod escape;
pub mod lines;
pub mod replace;
pub mod truncate;
