//! The body `shell` for cargo-fuzz. It must not hold anything itself.
#![no_main]

#[path = "../bodies.rs"]
#[expect(dead_code, reason = "each target calls one body")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::shell(data));
