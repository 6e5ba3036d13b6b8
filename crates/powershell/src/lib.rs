//! PowerShell and cmd text to what it would run, read and write. It must not touch the machine, and must not guess: what it does not understand is "cannot tell", with its place.
//!
//! A leaf: a grammar written in C is behind it, so no gate hangs on it. `tollgate shell explain --shell`
//! shows what it reads. The gate itself reads the text of `bash`, which is what a host on Unix runs; a host
//! on Windows that runs PowerShell comes with its own wiring.
//!
//! [`read`] takes any text and never fails. `tree` has the grammar make a tree and holds it against what
//! the language says: a place of a kind that is not on a list, a gap, or a string that ends elsewhere is
//! "cannot tell". `lex` reads the words of each command anew, since the grammar takes several spellings of a
//! word for what they are not, and both must end at the same place. `walk` follows the tree, `bind` gives
//! the words of a command to its parameters, `apply` tells what those do, and `program` hands programs of
//! the machine to the grammars of `command`. Paths are written with `/`; one with a drive starts with it.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod apply;
mod bind;
pub mod cmd;
mod data;
mod lex;
mod line;
mod path;
mod program;
mod tree;
mod walk;

pub use walk::read;
