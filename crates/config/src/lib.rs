//! Finds and reads configuration; every rule keeps its place.
//!
//! Must not print, decide a permission, read the environment, or follow a reference: whoever calls
//! says where to look and what stands for `{env:NAME}` and `{file:PATH}`.

mod check;
mod discover;
mod error;
mod extract;
mod file;
mod known;
mod manual;
mod parse;
mod project;
mod settings;
mod table;
mod text;

pub use discover::{Found, Level, Loaded, Sources, discover};
pub use error::{ConfigError, Fault, render, render_with};
pub use file::{FILE_BYTES_MAX, load};
pub use manual::{reference, schema};
pub use parse::parse;
pub use project::Inert;
pub use settings::{
    AgentEntry, Config, ConfigWarning, Model, Network, Provider, Sandbox, Timeout, ToolOutput,
    Unused,
};
pub use text::{Reference, Secret, Text, Unresolved};
