//! What the proxy promises, over real sockets on loopback.
//! Must not need any other network.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

mod clients;
mod connect;
mod environment;
mod hosts;
mod http;
mod judged;
mod kit;
mod requests;
mod served;
mod socks;
mod tunnel;
