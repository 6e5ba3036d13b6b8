//! Heads of requests and of responses, and how long the body behind each is.
//!
//! Must not take a head that another reader could end, split or measure otherwise: that is how
//! requests are smuggled.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::{
    field::{BARE_CR, BARE_LF, Fault, Fields, is_control, line, token},
    host::{Host, Target, port},
};

/// The version of HTTP/1 that a side speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Http10,
    Http11,
}

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is none.
    Empty,
    /// So many bytes.
    Length(u64),
    /// In chunks, the last of which is empty.
    Chunked,
    /// All until the connection ends.
    UntilClose,
}

/// The head of a request to a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) target: Target,
    pub(crate) version: Version,
    pub(crate) fields: Fields,
    pub(crate) framing: Framing,
    /// What is asked of the target: path and query. Nothing for CONNECT.
    pub(crate) path: Option<Vec<u8>>,
}

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) reason: Vec<u8>,
    pub(crate) fields: Fields,
    pub(crate) framing: Framing,
}

/// Why no head was read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The other side ended before its first byte.
    Closed,
    /// It ended, or failed, half way.
    Lost(io::Error),
    /// It is longer than allowed.
    TooLong,
    /// It can be no head.
    Fault(Fault),
}

/// Reads until an empty line, which is kept, and not a byte further.
pub(crate) async fn read_head(
    from: &mut (impl AsyncBufRead + Unpin),
    bytes_max: usize,
) -> Result<Vec<u8>, Unread> {
    let mut head = Vec::new();
    loop {
        let bytes = from.fill_buf().await.map_err(Unread::Lost)?;
        if bytes.is_empty() && head.is_empty() {
            return Err(Unread::Closed);
        }
        if bytes.is_empty() {
            return Err(Unread::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut used = 0;
        let mut is_whole = false;
        for byte in bytes {
            if head.len() == bytes_max {
                return Err(Unread::TooLong);
            }
            // Said at once: a client that ends its lines otherwise would else wait for the deadline.
            may_follow(head.last().copied(), *byte).map_err(Unread::Fault)?;
            head.push(*byte);
            used += 1;
            if head.ends_with(b"\r\n\r\n") {
                is_whole = true;
                break;
            }
        }
        from.consume(used);
        if is_whole {
            return Ok(head);
        }
    }
}

fn may_follow(last: Option<u8>, byte: u8) -> Result<(), Fault> {
    match (last, byte) {
        (Some(b'\r'), b'\n') => Ok(()),
        (_, b'\n') => Err(BARE_LF),
        (Some(b'\r'), _) => Err(BARE_CR),
        (_, 0) => Err(Fault("a head holds no NUL")),
        _ => Ok(()),
    }
}

/// Reads the head of a request, which ends in an empty line.
pub(crate) fn request(head: &[u8]) -> Result<RequestHead, Fault> {
    let (first, fields) = split(head)?;
    let mut parts = first.split(|byte| *byte == b' ');
    let (Some(method), Some(uri), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Fault("the request line is not three parts"));
    };
    let method = token(method).ok_or(Fault("the method is no token"))?;
    let version = self::version(version)?;
    if uri.is_empty()
        || uri
            .iter()
            .any(|byte| is_control(*byte) || b"\t#\\".contains(byte))
    {
        return Err(Fault("the request target holds what no URL holds"));
    }
    let host = fields.only("host", Fault("there is more than one Host"))?;
    if host.is_none() && version == Version::Http11 {
        return Err(Fault("there is no Host"));
    }
    let framing = framing(&fields, version)?.unwrap_or(Framing::Empty);
    let (target, path) = if method == "CONNECT" {
        if framing != Framing::Empty {
            return Err(Fault("CONNECT has no body"));
        }
        (authority(uri, None)?, None)
    } else {
        let (target, path) = absolute(method, uri)?;
        (target, Some(path))
    };
    Ok(RequestHead {
        method: method.to_owned(),
        target,
        version,
        fields,
        framing,
        path,
    })
}

/// Reads the head of a response to a request made by `method`.
pub(crate) fn response(head: &[u8], method: &str) -> Result<ResponseHead, Fault> {
    let (first, fields) = split(head)?;
    let mut parts = first.splitn(3, |byte| *byte == b' ');
    let version = self::version(parts.next().unwrap_or_default())?;
    let status = parts.next().unwrap_or_default();
    let status = number(status).filter(|status| (100..=599).contains(status));
    let status = status.ok_or(Fault("the status is no number from 100 to 599"))?;
    let reason = parts.next().unwrap_or_default();
    if reason.iter().any(|byte| is_control(*byte)) {
        return Err(Fault("the reason holds a control character"));
    }
    let framing = framing(&fields, version)?.unwrap_or(Framing::UntilClose);
    let is_empty = method == "HEAD" || status < 200 || status == 204 || status == 304;
    Ok(ResponseHead {
        status: u16::try_from(status).unwrap_or(500),
        reason: reason.to_vec(),
        fields,
        framing: if is_empty { Framing::Empty } else { framing },
    })
}

fn split(head: &[u8]) -> Result<(&[u8], Fields), Fault> {
    let head = head.strip_suffix(b"\r\n");
    let head = head.ok_or(Fault("the head has no end"))?;
    let (first, rest) = line(head)?;
    Ok((first, Fields::parse(rest)?))
}

fn version(text: &[u8]) -> Result<Version, Fault> {
    match text {
        b"HTTP/1.0" => Ok(Version::Http10),
        b"HTTP/1.1" => Ok(Version::Http11),
        _ => Err(Fault("only HTTP/1.0 and HTTP/1.1 are spoken here")),
    }
}

/// What the fields say of the body; nothing if they say nothing.
fn framing(fields: &Fields, version: Version) -> Result<Option<Framing>, Fault> {
    let twice = Fault("the length of the body is said twice");
    let length = fields.only("content-length", twice)?;
    let coding = fields.only("transfer-encoding", twice)?;
    match (length, coding) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(twice),
        (Some(length), None) => number(length)
            .map(|bytes| Some(Framing::Length(bytes)))
            .ok_or(Fault("the length of the body is no number")),
        (None, Some(_)) if version == Version::Http10 => {
            Err(Fault("HTTP/1.0 has no transfer encoding"))
        }
        (None, Some(coding)) if coding.eq_ignore_ascii_case(b"chunked") => {
            Ok(Some(Framing::Chunked))
        }
        (None, Some(_)) => Err(Fault("the only transfer encoding is `chunked`")),
    }
}

/// Digits alone: no sign, no blank, no list.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(text).ok()?.parse().ok()
}

fn absolute(method: &str, uri: &[u8]) -> Result<(Target, Vec<u8>), Fault> {
    const SCHEME: &[u8] = b"http://";
    let (scheme, rest) = uri.split_at_checked(SCHEME.len()).unwrap_or((uri, &[]));
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(Fault(
            "this is a proxy: it takes CONNECT, and URLs that begin with `http://`",
        ));
    }
    let end = rest.iter().position(|byte| b"/?".contains(byte));
    let end = end.unwrap_or(rest.len());
    let (name, path) = rest.split_at_checked(end).unwrap_or((rest, &[]));
    let target = authority(name, Some(80))?;
    let path = match path.first() {
        Some(b'/') => path.to_vec(),
        None if method == "OPTIONS" => b"*".to_vec(),
        _ => [b"/", path].concat(),
    };
    Ok((target, path))
}

/// Reads `host` or `host:port`. Who a user is (`user@`) is no part of it, as nothing but a trick is
/// made of that in a request.
fn authority(text: &[u8], port_else: Option<u16>) -> Result<Target, Fault> {
    const HOST: Fault = Fault("the host in the request target is none, or not plainly written");
    const PORT: Fault = Fault("the request target has no port from 1 to 65535");
    let text = str::from_utf8(text).map_err(|_| HOST)?;
    // Names beyond ASCII come as IDNA in HTTP.
    if !text.is_ascii() {
        return Err(HOST);
    }
    // The colons inside the brackets of an address are none of the port's.
    let split = match text.rsplit_once(':') {
        Some((_, after)) if after.contains(']') => None,
        other => other,
    };
    let (host, port) = match (split, port_else) {
        (Some((host, "")), Some(port)) => (host, port),
        (Some((host, digits)), _) => (host, port(digits).map_err(|_| PORT)?),
        (None, Some(port)) => (text, port),
        (None, None) => return Err(PORT),
    };
    if host.contains(':') && !host.starts_with('[') {
        return Err(HOST);
    }
    let host = Host::parse(host).map_err(|_| HOST)?;
    Ok(Target { host, port })
}
