//! What the scripted model and the provider promise, and the stored form of a conversation.
//! Must not need a network but loopback.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod message;
#[cfg(feature = "openai")]
mod openai;
mod script;
