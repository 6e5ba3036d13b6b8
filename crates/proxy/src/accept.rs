//! Listeners that the proxy can serve.
//!
//! Must not bind anything: whoever made the namespace made the listener.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
};

/// Where connections come from.
pub trait Accept: Send {
    /// One connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for the next connection. Dropped half way, it loses none.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // Refused for a client that is gone again, which shows soon enough.
        drop(stream.set_nodelay(true));
        Ok(stream)
    }
}

impl Accept for UnixListener {
    type Stream = UnixStream;

    async fn accept(&mut self) -> io::Result<UnixStream> {
        let (stream, _) = UnixListener::accept(self).await?;
        Ok(stream)
    }
}

/// Takes over a listener that was made elsewhere, in a namespace of its own too: a socket stays in
/// the one it was made in. Call it inside a runtime.
///
/// # Errors
/// If the system refuses.
pub fn adopt(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}
