//! The contract of a tool and the four gates of one call. Closed: what mints permits lives beside
//! the gate that decides to mint them, because across crates privacy has only one step, `pub`.
//!
//! Must not do IO, name an async runtime, read the clock or the environment, or print: the machine,
//! the journal, the approver and the time are ports. A new `pub` item needs a design note.
//!
//! Start at [`call`]: the path of one call on one screen.

#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(clippy::print_stdout, clippy::print_stderr)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod access;
pub mod authority;
pub mod call;
pub mod cancel;
pub mod check;
pub mod g0_offer;
pub mod g1_decode;
pub mod g2_admit;
pub mod g3_confine;
pub mod host;
pub mod journal;
pub mod output;
pub mod tool;
mod words;

use g2_admit::Refusal;
use std::{future::Future, pin::Pin};

/// A future behind a pointer, where a trait object needs one.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Our own mistake, or a tool's misuse of the contract. Never a panic; ends the process of a
/// command line with exit code 70.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A want kept from an earlier call.
    #[error("a want of another call was used")]
    WantOfAnotherCall,
    /// A permit carried into another call past the types.
    #[error("a permit of another call was used")]
    PermitOfAnotherCall,
    /// A want that names nothing, or a thing of another kind.
    #[error("no such want in this call")]
    NoSuchWant,
    /// A want taken before it was granted.
    #[error("a want was taken before it was granted")]
    NotGranted,
    /// A want taken a second time.
    #[error("a want was taken twice")]
    TakenTwice,
    /// A write reached the ask without the bytes it would write.
    #[error("a write reached the ask without its bytes")]
    UnboundWrite,
    /// The bytes looked at are not those of the file to be written.
    #[error("bytes of one file were bound to the write of another")]
    UnrelatedBytes,
    /// A yes for more than once could not be kept.
    #[error("the approval could not be kept: {0}")]
    Approval(String),
    /// The journal could not keep a record. If that was the outcome, the effect stands and its
    /// open intent says so.
    #[error("the journal could not be written: {0}")]
    Journal(String),
}

/// Why a tool stopped.
#[derive(Clone, Debug)]
pub enum Problem {
    /// The work itself failed; the text is for the model.
    Failed(String),
    /// A gate said no.
    Refused(Refusal),
    /// Misuse of the contract, or our own mistake.
    Fault(Fault),
}

impl Problem {
    /// A failure in words for the model.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
