//! HTTP/1 clients: one request after the other, until one of them says that it is the last.
//!
//! Must not take a request as served by this host: it is a proxy and nothing else.

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite},
    time::timeout,
};

use crate::{
    answer::Answer,
    forward::{After, forward},
    head::{RequestHead, Unread, read_head, request},
    host::Target,
    serve::Proxy,
    stream::{Side, send, within},
    tunnel::tunnel,
};

/// Serves a client that speaks HTTP/1.
pub(crate) async fn serve<S>(proxy: &Proxy, client: &mut Side<S>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut judged = None;
    loop {
        let (head, last) = match next(proxy, client).await {
            Ok(head) => {
                let last = serve_one(proxy, client, &head, &mut judged).await;
                (Some(head), last)
            }
            Err(last) => (None, last),
        };
        match last {
            Last::No => {}
            Last::Silent => return,
            Last::Said(answer) => {
                let method = head.as_ref().map(|head| head.method.as_str());
                return answer.close(client, method).await;
            }
        }
        // Between two requests a client may be silent for long.
        match within(proxy.limits.idle, client.read.fill_buf()).await {
            Ok(bytes) if !bytes.is_empty() => {}
            _ => return,
        }
    }
}

/// Whether this was the last request of the connection.
enum Last {
    No,
    /// It is over, and nothing more can be said.
    Silent,
    /// It is over once this is said.
    Said(Answer),
}

async fn next<S>(proxy: &Proxy, client: &mut Side<S>) -> Result<RequestHead, Last>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let read = read_head(&mut client.read, proxy.limits.head_bytes_max);
    let fault = match timeout(proxy.limits.header, read).await {
        Ok(Ok(head)) => match request(&head) {
            Ok(head) => return Ok(head),
            Err(fault) => fault,
        },
        Ok(Err(Unread::Fault(fault))) => fault,
        Ok(Err(Unread::Closed)) => return Err(Last::Silent),
        Ok(Err(Unread::Lost(error))) => {
            proxy.malformed(format!("the client was lost: {error}"));
            return Err(Last::Silent);
        }
        Ok(Err(Unread::TooLong)) => {
            proxy.malformed("the head of the request is too long");
            return Err(Last::Said(Answer::head_too_long()));
        }
        Err(_) => {
            proxy.malformed("the request did not come in time");
            return Err(Last::Said(Answer::too_late()));
        }
    };
    proxy.malformed(fault.to_string());
    Err(Last::Said(Answer::bad_request(fault)))
}

async fn serve_one<S>(
    proxy: &Proxy,
    client: &mut Side<S>,
    head: &RequestHead,
    judged: &mut Option<Target>,
) -> Last
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let stream = match proxy.open(&head.target, judged).await {
        Ok(stream) => stream,
        Err(shut) => return Last::Said(Answer::shut(&head.target, &shut)),
    };
    let mut far = Side::new(stream);
    let idle = proxy.limits.idle;
    let Some(path) = &head.path else {
        let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
        if send(&mut client.write, established, idle).await.is_ok() {
            tunnel(client, &mut far, idle).await;
        }
        return Last::Silent;
    };
    match forward(&proxy.limits, client, &mut far, head, path).await {
        After::Next => Last::No,
        After::Close => Last::Silent,
        After::Garbled => {
            proxy.malformed("the body of the request did not come as its head says");
            Last::Silent
        }
        After::Bad(reason) => Last::Said(Answer::bad_gateway(&head.target, reason)),
    }
}
