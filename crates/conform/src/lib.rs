//! Readers for spec/ and the test kit. It decides nothing: what a row or a call should come to
//! stands in the data, what it does come to is the engine's.

mod cases;
pub mod hostile;
#[cfg(feature = "mock")]
pub mod mock;
mod ops;
mod table;
pub mod testkit;
pub mod vectors;
