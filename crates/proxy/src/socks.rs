//! SOCKS5 clients: CONNECT without a password, by name or by address. All else is refused.
//!
//! Must not bind, nor pass datagrams on.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use crate::{
    answer::linger,
    dial::Shut,
    host::{Host, Target},
    serve::Proxy,
    stream::{Side, send, within},
    tunnel::tunnel,
};

/// The replies of RFC 1928, 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Reply {
    Succeeded = 0,
    GeneralFailure = 1,
    NotAllowed = 2,
    HostUnreachable = 4,
    CommandNotSupported = 7,
    AddressNotSupported = 8,
}

impl Reply {
    /// The reply with no address: what the socket is bound to here is nobody's business.
    fn bytes(self) -> [u8; 10] {
        [5, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// A request that is not served.
struct Unserved {
    reply: Reply,
    reason: String,
}

impl Unserved {
    fn new(reply: Reply, reason: impl Into<String>) -> Self {
        Self {
            reply,
            reason: reason.into(),
        }
    }
}

impl From<io::Error> for Unserved {
    fn from(error: io::Error) -> Self {
        Self::new(
            Reply::GeneralFailure,
            format!("the client was lost: {error}"),
        )
    }
}

/// Serves a client whose first byte says SOCKS5.
pub(crate) async fn serve5<S>(proxy: &Proxy, client: &mut Side<S>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match within(proxy.limits.header, greet(client)).await {
        Ok(true) => {}
        Ok(false) => {
            proxy.malformed("the SOCKS client wants a password");
            return linger(client, &[5, 0xff]).await;
        }
        Err(error) => return proxy.malformed(format!("the client was lost: {error}")),
    }
    let asked = within(proxy.limits.header, async {
        Ok(read_request(client).await)
    });
    let target = match asked.await.map_err(Unserved::from).flatten() {
        Ok(target) => target,
        Err(unserved) => {
            proxy.malformed(unserved.reason.as_str());
            return linger(client, &unserved.reply.bytes()).await;
        }
    };
    let stream = match proxy.open(&target, &mut None).await {
        Ok(stream) => stream,
        Err(shut) => {
            let reply = match shut {
                Shut::Refused(_) | Shut::Closed(_) => Reply::NotAllowed,
                Shut::Failed(_) => Reply::HostUnreachable,
            };
            return linger(client, &reply.bytes()).await;
        }
    };
    let idle = proxy.limits.idle;
    let succeeded = Reply::Succeeded.bytes();
    if send(&mut client.write, &succeeded, idle).await.is_ok() {
        tunnel(client, &mut Side::new(stream), idle).await;
    }
}

/// Refuses a client whose first byte says SOCKS4, which cannot say why a name is wrong.
pub(crate) async fn refuse4<S>(proxy: &Proxy, client: &mut Side<S>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    proxy.malformed("SOCKS4 is not spoken here, only SOCKS5");
    linger(client, &[0, 0x5b, 0, 0, 0, 0, 0, 0]).await;
}

/// Agrees on no password; false if the client does not offer that.
async fn greet<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Side<S>) -> io::Result<bool> {
    let _version = client.read.read_u8().await?;
    let count = client.read.read_u8().await?;
    let mut methods = vec![0; usize::from(count)];
    client.read.read_exact(&mut methods).await?;
    if !methods.contains(&0) {
        return Ok(false);
    }
    tokio::io::AsyncWriteExt::write_all(&mut client.write, &[5, 0]).await?;
    Ok(true)
}

async fn read_request<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut Side<S>,
) -> Result<Target, Unserved> {
    let mut head = [0; 4];
    client.read.read_exact(&mut head).await?;
    let [version, command, reserved, kind] = head;
    if version != 5 || reserved != 0 {
        let reason = "the SOCKS request does not begin as one";
        return Err(Unserved::new(Reply::GeneralFailure, reason));
    }
    if command != 1 {
        let reason = "of SOCKS only CONNECT is served";
        return Err(Unserved::new(Reply::CommandNotSupported, reason));
    }
    let host = match kind {
        1 => Ok(Host::from(IpAddr::V4(Ipv4Addr::from_bits(
            client.read.read_u32().await?,
        )))),
        4 => Ok(Host::from(IpAddr::V6(Ipv6Addr::from_bits(
            client.read.read_u128().await?,
        )))),
        3 => name(client).await?,
        _ => {
            let reason = "the SOCKS request has an address of an unknown kind";
            return Err(Unserved::new(Reply::AddressNotSupported, reason));
        }
    };
    let port = client.read.read_u16().await?;
    let host = host.map_err(|reason| Unserved::new(Reply::NotAllowed, reason))?;
    if port == 0 {
        let reason = format!("{host} is asked for without a port");
        return Err(Unserved::new(Reply::NotAllowed, reason));
    }
    Ok(Target { host, port })
}

/// Reads a name to its end, whatever it is, so that the port behind it is read as such.
async fn name<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut Side<S>,
) -> io::Result<Result<Host, String>> {
    let length = client.read.read_u8().await?;
    let mut name = vec![0; usize::from(length)];
    client.read.read_exact(&mut name).await?;
    let text = String::from_utf8_lossy(&name);
    let host = Host::parse(&text);
    Ok(host.map_err(|fault| format!("{}: {fault}", text.escape_debug())))
}
