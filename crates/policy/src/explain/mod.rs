//! Why a decision is what it is: one trace in words for a person, in words for the model, and as JSON.
//!
//! Must not: decide, or know more than the decision does.

mod json;
mod model;
mod person;
mod remedy;
mod shown;

pub use model::{for_model, named_for_model};
pub use person::{closed_for_person, for_person};

pub(crate) use remedy::{allowing, cancels_nothing, exactly, with_rules};
