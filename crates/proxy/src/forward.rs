//! One plain request passed on, and its response passed back.
//!
//! Must not reuse a connection to a server: each request has its own, so that no response can be taken
//! for another's. Neither side's framing reaches the other; both are written anew. It does not name
//! itself in `Via`, which would tell the world what a request comes through.

use std::time::Duration;

use tokio::{
    io::{AsyncBufRead, AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};

use crate::{
    body::{Broken, Written, relay},
    field::{Fault, Fields},
    head::{Framing, RequestHead, ResponseHead, Unread, Version, read_head, response},
    serve::Limits,
    stream::{Side, send},
};

/// What comes after a request.
#[derive(Debug)]
pub(crate) enum After {
    /// The next one may come on the same connection.
    Next,
    /// The connection ends, without another word.
    Close,
    /// The same, because the body of the request is none.
    Garbled,
    /// The server answered nothing that can be passed on, and the client has heard nothing yet.
    Bad(String),
}

/// Passes the request on to `far`, which is a new connection to its target.
pub(crate) async fn forward<S>(
    limits: &Limits,
    client: &mut Side<S>,
    far: &mut Side<TcpStream>,
    request: &RequestHead,
    path: &[u8],
) -> After
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let idle = limits.idle;
    let head = request_bytes(request, path);
    if let Err(error) = send(&mut far.write, &head, idle).await {
        return After::Bad(error.to_string());
    }
    let written = match request.framing {
        Framing::Chunked => Written::Chunked,
        Framing::Empty | Framing::Length(_) | Framing::UntilClose => Written::Plain,
    };
    let sending = relay(
        &mut client.read,
        request.framing,
        &mut far.write,
        written,
        idle,
    );
    let receiving = receive(limits, &mut far.read, &mut client.write, request);
    tokio::pin!(sending, receiving);
    // A server may answer before it has read everything, and may even stop reading then.
    let mut sent = None;
    let received = loop {
        tokio::select! {
            result = &mut sending, if sent.is_none() => match result {
                Err(Broken::From) => return After::Garbled,
                Ok(()) => sent = Some(Written::Plain),
                Err(Broken::To) => sent = Some(Written::Chunked),
            },
            received = &mut receiving => break received,
        }
    };
    match received {
        After::Next if sent == Some(Written::Plain) => After::Next,
        After::Next => After::Close,
        other => other,
    }
}

/// The head as it goes to the server, for which the target of the request line is the host.
fn request_bytes(request: &RequestHead, path: &[u8]) -> Vec<u8> {
    let mut head = request.method.clone().into_bytes();
    head.push(b' ');
    head.extend_from_slice(path);
    head.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    let target = &request.target;
    let host = match target.port {
        80 => target.host.to_string(),
        _ => target.to_string(),
    };
    head.extend_from_slice(host.as_bytes());
    head.extend_from_slice(b"\r\n");
    push_fields(&mut head, &request.fields, "host");
    match request.framing {
        Framing::Length(bytes) => push_length(&mut head, bytes),
        Framing::Chunked => head.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Framing::Empty | Framing::UntilClose => {}
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

fn push_fields(head: &mut Vec<u8>, fields: &Fields, not: &str) {
    for field in fields.end_to_end().filter(|field| !field.is(not)) {
        head.extend_from_slice(field.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(&field.value);
        head.extend_from_slice(b"\r\n");
    }
}

fn push_length(head: &mut Vec<u8>, bytes: u64) {
    head.extend_from_slice(format!("Content-Length: {bytes}\r\n").as_bytes());
}

async fn receive(
    limits: &Limits,
    far: &mut (impl AsyncBufRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    request: &RequestHead,
) -> After {
    const INTERIM_MAX: usize = 16;
    let idle = limits.idle;
    for _ in 0..INTERIM_MAX {
        let head = match response_head(limits, far, &request.method).await {
            Ok(head) => head,
            Err(reason) => return After::Bad(reason),
        };
        if head.status == 101 {
            return After::Bad("it wants to speak another protocol".to_owned());
        }
        if head.status < 200 {
            // HTTP/1.0 does not know them.
            if request.version == Version::Http11 {
                let text = response_bytes(&head, None, Keep::AsItIs);
                if send(client, &text, idle).await.is_err() {
                    return After::Close;
                }
            }
            continue;
        }
        return pass_back(idle, far, client, request, &head).await;
    }
    After::Bad("it sends interim responses without end".to_owned())
}

async fn response_head(
    limits: &Limits,
    far: &mut (impl AsyncBufRead + Unpin),
    method: &str,
) -> Result<ResponseHead, String> {
    let read = read_head(far, limits.head_bytes_max);
    let head = match timeout(limits.idle, read).await {
        Ok(Ok(head)) => head,
        Ok(Err(Unread::Closed)) => return Err("it closed without an answer".to_owned()),
        Ok(Err(Unread::Lost(error))) => return Err(error.to_string()),
        Ok(Err(Unread::TooLong)) => return Err("its head is too long".to_owned()),
        Ok(Err(Unread::Fault(fault))) => return Err(fault.to_string()),
        Err(_) => return Err("it said nothing for too long".to_owned()),
    };
    response(&head, method).map_err(|Fault(reason)| reason.to_owned())
}

async fn pass_back(
    idle: Duration,
    far: &mut (impl AsyncBufRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    request: &RequestHead,
    head: &ResponseHead,
) -> After {
    let written = match (head.framing, request.version) {
        (Framing::Chunked, Version::Http11) => Written::Chunked,
        _ => Written::Plain,
    };
    let ends_itself = match head.framing {
        Framing::Empty | Framing::Length(_) => true,
        Framing::Chunked => written == Written::Chunked,
        Framing::UntilClose => false,
    };
    let keep = if ends_itself && wants_next(request) {
        Keep::Open
    } else {
        Keep::Close
    };
    let text = response_bytes(head, Some(written), keep);
    if send(client, &text, idle).await.is_err() {
        return After::Close;
    }
    match relay(far, head.framing, client, written, idle).await {
        Ok(()) if keep == Keep::Open => After::Next,
        Ok(()) | Err(Broken::From | Broken::To) => After::Close,
    }
}

fn wants_next(request: &RequestHead) -> bool {
    let fields = &request.fields;
    request.version == Version::Http11
        && !fields.lists("connection", "close")
        && !fields.lists("proxy-connection", "close")
}

/// What the client is told of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    AsItIs,
    Open,
    Close,
}

fn response_bytes(head: &ResponseHead, written: Option<Written>, keep: Keep) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {} ", head.status).into_bytes();
    text.extend_from_slice(&head.reason);
    text.extend_from_slice(b"\r\n");
    push_fields(&mut text, &head.fields, "content-length");
    match (head.framing, written) {
        (Framing::Length(bytes), _) => push_length(&mut text, bytes),
        (Framing::Chunked, Some(Written::Chunked)) => {
            text.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        // What it would be long, of an answer to HEAD or of one that has not changed.
        (Framing::Empty, Some(_)) if head.status != 204 => {
            for value in head.fields.all("content-length") {
                text.extend_from_slice(b"Content-Length: ");
                text.extend_from_slice(value);
                text.extend_from_slice(b"\r\n");
            }
        }
        _ => {}
    }
    match keep {
        Keep::AsItIs => {}
        Keep::Open => text.extend_from_slice(b"Connection: keep-alive\r\n"),
        Keep::Close => text.extend_from_slice(b"Connection: close\r\n"),
    }
    text.extend_from_slice(b"\r\n");
    text
}
