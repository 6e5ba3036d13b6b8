//! Tests of the crate through its public face. No test here touches the machine.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod decide;
mod explained;
mod glob;
mod lint;
mod million;
mod properties;
mod reference;
mod suggest;
mod vouching;
mod world;
