//! Finds and reads configuration; every rule keeps its place.
//!
//! Must not print, decide a permission, read the environment, or follow a reference: whoever calls
//! says where to look and what stands for `{env:NAME}` and `{file:PATH}`.

mod check;
mod discover;
mod error;
mod extract;
mod file;
mod folder;
mod ignore;
pub mod import;
mod item;
mod known;
mod loaded;
mod manual;
mod markdown;
mod modes;
mod parse;
mod project;
mod regex;
mod sandbox;
mod settings;
mod sources;
mod table;
mod text;
mod yaml;

pub use discover::discover;
pub use error::{ConfigError, Fault, render, render_with};
pub use file::{FILE_BYTES_MAX, load};
pub use folder::repository_of;
pub use item::{Item, ItemKind, Standing, Trust};
pub use loaded::{Found, Level, Loaded};
pub use manual::{reference, schema};
pub use parse::parse;
pub use sandbox::{AllowedHost, Bounds, BoundsError, NoHost, Surroundings};
pub use settings::{
    AgentEntry, Config, ConfigWarning, Model, Network, Provider, Sandbox, Timeout, ToolOutput,
    Unused,
};
pub use sources::{MANAGED_DIRS, Sources, Variables};
pub use text::{Reference, Secret, Text, Unresolved};
