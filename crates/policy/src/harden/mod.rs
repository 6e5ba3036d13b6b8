//! Hardenings: where a broad allow is not meant for everything it matches, one a file.
//!
//! Must not: deny, or speak where a rule names what it allows.

pub(crate) mod env;
