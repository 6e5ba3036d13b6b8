//! JSON Schema of arguments and the errors a model can repair them from.
//! Must not know a tool, fetch a schema, or repair arguments itself.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod decode;
mod derive;
mod excerpt;
mod fault;
mod nearest;
mod words;

pub use decode::{Decoder, RawArguments, SchemaError};
pub use derive::of;
pub use fault::ArgumentFault;
pub use nearest::nearest;
pub use words::{invalid_arguments, unknown_tool};
