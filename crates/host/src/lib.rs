//! The local machine behind the gate's port: files beneath descriptors, processes inside walls.
//! Must not decide what is allowed, read the environment, or act on anything but an order.
//!
//! A path is resolved once, links followed, before it is judged ([`gate::host::Resolved`]). Everything
//! afterwards goes by its real path and follows no link at all; what stands there must be the very
//! file that was judged, by device, inode, number of names and, for a write, digest.
//!
//! Needs a tokio runtime with IO and time. Unix only; walls around children only on Linux.

mod aside;
mod beneath;
mod bundles;
mod environment;
mod expand;
mod file;
mod git;
mod ignored;
mod index;
mod keep;
mod local;
mod network;
mod newcomers;
mod obeyed;
mod open_calls;
mod openings;
mod options;
mod output;
mod process;
mod quarantine;
mod resolve;
mod running;
mod search;
mod spares;
mod trail;
mod tree;
mod walk;
mod walls;
mod write;

pub use bundles::{Bundle, bundle, bundles};
pub use file::FILE_BYTES_MAX;
pub use keep::KEPT_BYTES_MAX;
pub use local::LocalHost;
pub use network::point_at;
pub use openings::Openings;
pub use options::{Hook, Moment, OpenError, Options, OutputLimits};
pub use quarantine::Watch;
pub use tree::ENTRIES_MAX;
pub use walk::FILES_MAX;
