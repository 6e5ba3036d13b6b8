//! Server-sent events: bytes as they arrive, in; the data of whole events, out. Must not know what
//! the data mean. The format is that of the HTML standard, section "Server-sent events".

use std::str::{Utf8Error, from_utf8};

/// Reads one stream. Event names, ids, retry times and comments are passed over.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<String>,
    has_line: bool,
    is_after_return: bool,
}

impl Events {
    /// Takes the next bytes, cut anywhere, and gives the data of every event that they end. An
    /// event still open when the stream ends was never whole.
    ///
    /// # Errors
    /// A line is not UTF-8.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, Utf8Error> {
        let mut whole = Vec::new();
        for &byte in bytes {
            let is_after_return = std::mem::replace(&mut self.is_after_return, byte == b'\r');
            match byte {
                b'\n' if is_after_return => {}
                b'\n' | b'\r' => whole.extend(self.end_line()?),
                other => self.line.push(other),
            }
        }
        Ok(whole)
    }

    fn end_line(&mut self) -> Result<Option<String>, Utf8Error> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = from_utf8(&bytes)?;
        if !std::mem::replace(&mut self.has_line, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.data.take());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut whole = Vec::new();
        for piece in pieces {
            whole.extend(events.push(piece).unwrap());
        }
        whole
    }

    #[test]
    fn a_stream_reads_the_same_wherever_it_is_cut() {
        let text =
            "\u{feff}: hello\r\ndata: {\"a\":\r\ndata:  1}\r\n\r\nevent: x\nid: 7\ndata:é\n\n\
                    data\rdata: b\r\rretry: 3\n\ndata: [DONE]\n\ndata: open"
                .as_bytes();
        let whole = ["{\"a\":\n 1}", "é", "\nb", "[DONE]"];
        assert_eq!(read(&[text]), whole);
        for at in 0..text.len() {
            let (start, end) = text.split_at(at);
            assert_eq!(read(&[start, end]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn only_data_lines_are_data() {
        assert_eq!(
            read(&[b"datax: 1\n data: 2\n:data: 3\nDATA: 4\n\n"]),
            [""; 0]
        );
        assert_eq!(read(&[b"data:\n\n"]), [""]);
        assert_eq!(read(&[b"\n\n\r\n"]), [""; 0]);
    }

    #[test]
    fn what_is_not_utf8_is_an_error() {
        assert!(Events::default().push(b"data: \xff\n").is_err());
        let mut half = Events::default();
        assert!(half.push(b"data: \xc3").is_ok());
        assert!(half.push(b"\n").is_err());
    }
}
