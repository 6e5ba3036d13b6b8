//! Bodies passed on as they come, framed anew.
//!
//! Must not keep a body, nor pass on a byte whose place in the framing is in doubt.

use std::{io, time::Duration};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite};

use crate::{
    field::{Fault, Fields},
    head::{Framing, Unread, read_head},
    stream::{send, within},
};

/// The longest line that tells the size of a chunk, with its CR LF.
const SIZE_LINE_BYTES_MAX: usize = 256;
/// The most that may stand behind the last chunk.
const TRAILER_BYTES_MAX: usize = 8 * 1024;

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Plain,
    Chunked,
}

/// Why a body was not passed on whole.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The side it came from failed, or framed it wrongly.
    From,
    /// The side it went to takes no more.
    To,
}

/// Passes one body on. The end is written only if the whole came.
pub(crate) async fn relay(
    from: &mut (impl AsyncBufRead + Unpin),
    framing: Framing,
    to: &mut (impl AsyncWrite + Unpin),
    written: Written,
    idle: Duration,
) -> Result<(), Broken> {
    match framing {
        Framing::Empty => return Ok(()),
        Framing::Length(bytes) => pieces(from, Some(bytes), to, written, idle).await?,
        Framing::UntilClose => pieces(from, None, to, written, idle).await?,
        Framing::Chunked => loop {
            let line = within(idle, size_line(from)).await;
            let line = line.map_err(|_| Broken::From)?;
            match chunk_size(&line).map_err(|_| Broken::From)? {
                0 => {
                    within(idle, trailer(from))
                        .await
                        .map_err(|_| Broken::From)?;
                    break;
                }
                bytes => pieces(from, Some(bytes), to, written, idle).await?,
            }
            within(idle, line_end(from))
                .await
                .map_err(|_| Broken::From)?;
        },
    }
    if written == Written::Chunked {
        let last = send(to, b"0\r\n\r\n", idle).await;
        last.map_err(|_| Broken::To)?;
    }
    Ok(())
}

/// Passes on so many bytes, or all there are.
async fn pieces(
    from: &mut (impl AsyncBufRead + Unpin),
    mut left: Option<u64>,
    to: &mut (impl AsyncWrite + Unpin),
    written: Written,
    idle: Duration,
) -> Result<(), Broken> {
    while left != Some(0) {
        let read = within(idle, from.fill_buf()).await;
        let bytes = read.map_err(|_| Broken::From)?;
        if bytes.is_empty() {
            return if left.is_none() {
                Ok(())
            } else {
                Err(Broken::From)
            };
        }
        let most = left.map_or(usize::MAX, |left| {
            usize::try_from(left).unwrap_or(usize::MAX)
        });
        let (piece, _) = bytes.split_at_checked(most).unwrap_or((bytes, &[]));
        let length = piece.len();
        let sent = match written {
            Written::Plain => send(to, piece, idle).await,
            Written::Chunked => {
                let mut chunk = format!("{length:x}\r\n").into_bytes();
                chunk.extend_from_slice(piece);
                chunk.extend_from_slice(b"\r\n");
                send(to, &chunk, idle).await
            }
        };
        sent.map_err(|_| Broken::To)?;
        from.consume(length);
        left = left.map(|left| left.saturating_sub(length as u64));
    }
    Ok(())
}

async fn size_line(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        if line.len() == SIZE_LINE_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        line.push(byte(from).await?);
    }
    Ok(line)
}

/// Reads the line that tells the size of a chunk. Extensions are checked and dropped, as what goes on
/// is written anew.
pub(crate) fn chunk_size(line: &[u8]) -> Result<u64, Fault> {
    const SIZE: Fault = Fault("the size of a chunk is no number");
    let line = line.strip_suffix(b"\r\n").ok_or(SIZE)?;
    if line
        .iter()
        .any(|byte| *byte != b'\t' && !(0x20..0x7f).contains(byte))
    {
        return Err(Fault("the size of a chunk holds a control character"));
    }
    let mut parts = line.splitn(2, |byte| *byte == b';');
    let digits = parts.next().unwrap_or_default().trim_ascii_end();
    // `from_str_radix` would take a sign.
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(SIZE);
    }
    let digits = str::from_utf8(digits).map_err(|_| SIZE)?;
    u64::from_str_radix(digits, 16).map_err(|_| SIZE)
}

async fn line_end(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    if byte(from).await? == b'\r' && byte(from).await? == b'\n' {
        return Ok(());
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// Reads what stands behind the last chunk, and drops it.
async fn trailer(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let first = byte(from).await?;
    if first == b'\r' {
        let last = byte(from).await?;
        return if last == b'\n' { Ok(()) } else { Err(bad()) };
    }
    let mut head = vec![first];
    match read_head(from, TRAILER_BYTES_MAX).await {
        Ok(rest) => head.extend(rest),
        Err(Unread::Lost(error)) => return Err(error),
        Err(Unread::Closed | Unread::TooLong | Unread::Fault(_)) => return Err(bad()),
    }
    let lines = head.strip_suffix(b"\r\n").ok_or_else(bad)?;
    Fields::parse(lines).map_err(|_| bad())?;
    Ok(())
}

async fn byte(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<u8> {
    let first = from.fill_buf().await?.first().copied();
    from.consume(usize::from(first.is_some()));
    first.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
