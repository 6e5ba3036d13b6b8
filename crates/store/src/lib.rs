//! Journal, sessions, approvals and trust in `SQLite`, all in one file.
//!
//! Must not decide anything, print, read the environment, or choose where the file lies.
//!
//! Several processes may have one store open. Every write is one immediate transaction, and a call
//! that writes returns when it is committed: what it wrote survives the end of our process.

mod approval;
mod chain;
mod error;
mod id;
mod journal;
mod migration;
mod place;
mod session;
mod store;
mod subjects;
mod trust;

pub use approval::StoredApproval;
pub use chain::{Broken, Verified};
pub use error::{Cause, StoreError};
pub use id::ascending_id;
pub use journal::{Filter, Ruling, StoredEvent, StoredRecord};
pub use session::{StoredMessage, StoredSession};
pub use store::Store;
pub use trust::{StoredTrust, TrustedItem};
