//! What the scripted model promises, and the stored form of a conversation.
//! Must not need a network.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod message;
mod script;
