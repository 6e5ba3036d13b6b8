//! What a configuration file comes to, and how its faults read.
//! Must not touch any file but its own temporary ones.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod broken;
mod discover;
mod good;
mod ignore;
mod import;
mod load;
mod manual;
mod sandbox;
mod sources;
mod trust;
