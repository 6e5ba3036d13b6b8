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
mod open_calls;
mod options;
mod output;
mod process;
mod resolve;
mod running;
mod search;
mod tree;
mod walk;
mod walls;
mod write;

pub use aside::Aside;
pub use bundles::{Bundle, bundles};
pub use file::FILE_BYTES_MAX;
pub use keep::KEPT_BYTES_MAX;
pub use local::LocalHost;
pub use options::{Hook, Moment, OpenError, Options, OutputLimits};
pub use tree::ENTRIES_MAX;
pub use walk::FILES_MAX;
