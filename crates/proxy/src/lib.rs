//! The one way out of a sandbox: HTTP CONNECT, plain HTTP and SOCKS5 on one port, where each new
//! host is asked about while the connection waits.
//!
//! Must not decide by itself what may be reached in public (that is [`Judge`]), read the environment,
//! print, or look into what passes through a tunnel: nothing is decrypted, and the server name in a
//! TLS hello is not read. So a tunnel is judged by the name and port that were asked for, and whoever
//! serves that address may serve other names too.
//!
//! What is dialled is exactly the address that was checked: names are resolved here alone, once, and
//! only after the judge has said yes.
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod accept;
mod answer;
mod body;
mod connect;
mod dial;
mod environment;
mod field;
mod forward;
mod head;
mod host;
mod http;
mod place;
mod serve;
mod socks;
mod stream;
#[cfg(test)]
mod tests;
mod tunnel;

use std::{io, net::IpAddr, pin::Pin};

pub use accept::{Accept, adopt};
pub use connect::{ConnectError, connect};
pub use environment::proxy_environment;
pub use host::{Host, HostFault, Target};
pub use place::{Place, place};
pub use serve::{Counts, Heard, Limits, Outcome, Proxy};

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who says what may be reached.
pub trait Judge: Send + Sync {
    /// Whether `target` may be reached. It is asked before the name is looked up, and again for each
    /// new target of a connection; answers are not kept here. The connection waits meanwhile, at most
    /// for [`Limits::judge`], and a client that leaves is not noticed until then.
    ///
    /// Where a target leads by its number is told by [`Target::place`]. A name that leads into private
    /// is refused whatever is answered.
    ///
    /// # Errors
    /// Why not, in words for whoever runs the command.
    fn may_reach(&self, target: Target) -> BoxFuture<'_, Result<(), String>>;
}

/// Who finds the addresses of a name.
pub trait Resolver: Send + Sync {
    /// The addresses of `name`, which is canonical; those that come first are tried first.
    ///
    /// # Errors
    /// If there are none to be had.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}
