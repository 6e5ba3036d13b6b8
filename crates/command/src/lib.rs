//! Shell text to what it would run, read and write. It must not touch the machine, and must not guess: what it does not understand is "cannot tell", with its place.
//!
//! The language is bash; where POSIX `sh` or zsh read a text otherwise, that is "cannot tell" for them.
//! [`read`] takes any text and never fails: `syntax` makes a tree of it, `walk` follows the tree in the
//! order of running with what is known on the way, and `effect` tells what each simple command does.
//! Where [`Line::unknown`] is empty and no command is opaque, the commands, files and hosts listed are
//! all there are. Where it is not, the list is a best effort: enough to find a forbidden command in,
//! never enough to allow one.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod effect;
mod expanded;
mod line;
mod manner;
mod path;
mod prefix;
mod spelling;
mod syntax;
mod table;
mod walk;

pub use effect::is_dangerous_variable;
pub use line::{
    AccessClass, Assignment, Class, Directory, Flagged, Host, Line, Mode, Oddity, Opaque, Redirect,
    RedirectOp, Setting, Shell, Simple, Touch, TouchedPath, Unknown, Via, Word, WordKind,
};
pub use manner::Below;
pub use path::by_name;
pub use prefix::{prefix, prefixes};
pub use syntax::{DEPTH_MAX, TEXT_BYTES_MAX};
pub use walk::{flagged, read, read_words};
