//! Readers for spec/ and the test kit. It decides nothing: what a row or a call should come to
//! stands in the data, what it does come to is the engine's.

pub mod testkit;
pub mod vectors;
