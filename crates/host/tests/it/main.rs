//! The host on real directories and real processes, driven through the gate as tools drive it.
//! Must not reach beyond its temporary directories and the loopback.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod cases;
mod footer;
mod network;
mod newcomers;
mod obeyed;
mod open;
mod ordinary;
mod process;
mod quarantine;
mod read;
mod resolve;
mod search;
mod swap;
mod tracked;
mod walled_cases;
mod walls;
mod work;
mod world;
mod write;
