//! Readers for spec/ and the test kit. It decides nothing: what a row or a call should come to
//! stands in the data, what it does come to is the engine's.

mod acting;
mod cases;
mod configured;
mod conversation;
mod guarded;
pub mod hostile;
mod kept;
pub mod literate;
#[cfg(feature = "mock")]
pub mod mock;
mod ops;
mod scanned;
mod sequence;
pub mod shelled;
mod table;
pub mod testkit;
pub mod vectors;
mod waiting;

pub use table::rows;
