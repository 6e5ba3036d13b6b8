//! What holds for every head and every body, whatever bytes they are.
//! Must not open a socket: the rest is in `tests/it`.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use proptest::{collection::vec, prelude::*};
use tokio::io::{AsyncRead, BufReader, ReadBuf};

use crate::{
    body::{Written, chunk_size, relay},
    field::Fields,
    head::{Framing, Unread, read_head, request, response},
};

const IDLE: Duration = Duration::from_mins(10);

/// A source that gives its bytes in pieces of `step`, and sometimes nothing at first.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    step: usize,
    is_due: bool,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.is_due = !self.is_due;
        if self.is_due {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let end = (self.at + self.step.min(into.remaining())).min(self.bytes.len());
        into.put_slice(&self.bytes[self.at..end]);
        self.at = end;
        Poll::Ready(Ok(()))
    }
}

fn pieces(bytes: &[u8], step: usize) -> BufReader<Pieces> {
    BufReader::new(Pieces {
        bytes: bytes.to_vec(),
        at: 0,
        step,
        is_due: false,
    })
}

/// Runs a future that needs nothing but to be polled.
fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn relayed(body: &[u8], step: usize, framing: Framing, written: Written) -> Option<Vec<u8>> {
    let mut to = Vec::new();
    let mut from = pieces(body, step);
    let result = run(relay(&mut from, framing, &mut to, written, IDLE));
    result.ok().map(|()| to)
}

/// Bytes of which many are those that heads are made of.
fn head_like() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"GET http://a.test/ HTTP/1.1\r\n".to_vec()),
        Just(b"CONNECT a.test:443 HTTP/1.1\r\n".to_vec()),
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"Host: a.test\r\n".to_vec()),
        Just(b"Content-Length: 3\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"X: y\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        vec(any::<u8>(), 0..8),
        vec(
            prop_oneof![Just(b'\r'), Just(b'\n'), Just(b' '), Just(b':'), Just(0)],
            0..4
        ),
    ];
    vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_head_stops_the_reader(head in head_like()) {
        drop(request(&head));
        drop(response(&head, "GET"));
        let _: Result<u64, _> = chunk_size(&head);
    }

    #[test]
    fn a_head_that_is_taken_can_be_read_in_one_way(head in head_like()) {
        if let Ok(taken) = request(&head) {
            prop_assert!(!head.contains(&0));
            let text = String::from_utf8_lossy(&head).replace("\r\n", "");
            prop_assert!(!text.contains(['\r', '\n']), "{:?}", text);
            prop_assert!(head.ends_with(b"\r\n\r\n"));
            let inner = &head[..head.len() - 4];
            prop_assert!(!inner.windows(4).any(|four| four == b"\r\n\r\n"));
            prop_assert!(taken.fields.all("host").count() <= 1);
            let framings = taken.fields.all("content-length").count()
                + taken.fields.all("transfer-encoding").count();
            prop_assert!(framings <= 1);
        }
    }

    #[test]
    fn a_head_is_read_to_its_end_and_no_further(
        head in head_like(), rest in vec(any::<u8>(), 0..8), step in 1_usize..40
    ) {
        let text = [head.as_slice(), &rest].concat();
        let mut from = pieces(&text, step);
        match run(read_head(&mut from, 4096)) {
            Ok(read) => {
                prop_assert!(text.starts_with(&read));
                prop_assert!(read.ends_with(b"\r\n\r\n"));
                let mut left = Vec::new();
                run(tokio::io::copy(&mut from, &mut left)).unwrap();
                prop_assert_eq!(&text[read.len()..], &left);
            }
            Err(Unread::Closed) => prop_assert!(text.is_empty()),
            Err(Unread::TooLong) => prop_assert!(text.len() > 4096),
            Err(Unread::Lost(_) | Unread::Fault(_)) => {}
        }
    }

    #[test]
    fn fields_written_are_read_as_the_same(
        list in vec(("[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,12}", "([!-~]([ -~]{0,12}[!-~])?)?"), 0..6)
    ) {
        let lines: Vec<_> = list
            .iter()
            .map(|(name, value)| format!("{name}:\t{value} \r\n"))
            .collect();
        let text = lines.concat();
        let fields = Fields::parse(text.as_bytes()).unwrap();
        let found: Vec<_> = fields
            .0
            .iter()
            .map(|field| (field.name.clone(), String::from_utf8(field.value.clone()).unwrap()))
            .collect();
        prop_assert_eq!(found, list);
    }

    #[test]
    fn a_body_is_the_same_in_every_framing(
        chunks in vec(vec(any::<u8>(), 1..40), 0..6), step in 1_usize..40
    ) {
        let whole = chunks.concat();
        let mut body = Vec::new();
        for chunk in &chunks {
            body.extend(format!("{:X};e\r\n", chunk.len()).into_bytes());
            body.extend(chunk);
            body.extend(b"\r\n");
        }
        body.extend(b"0\r\nT: 1\r\n\r\nNEXT");
        let plain = relayed(&body, step, Framing::Chunked, Written::Plain);
        prop_assert_eq!(plain.as_deref(), Some(whole.as_slice()));
        // What is written anew can be read again, and is the same.
        let anew = relayed(&body, step, Framing::Chunked, Written::Chunked).unwrap();
        let plain = relayed(&anew, step, Framing::Chunked, Written::Plain);
        prop_assert_eq!(plain.as_deref(), Some(whole.as_slice()));
        let framing = Framing::Length(whole.len() as u64);
        let more = [whole.as_slice(), b"NEXT"].concat();
        let plain = relayed(&more, step, framing, Written::Plain);
        prop_assert_eq!(plain.as_deref(), Some(whole.as_slice()));
        let plain = relayed(&whole, step, Framing::UntilClose, Written::Plain);
        prop_assert_eq!(plain.as_deref(), Some(whole.as_slice()));
    }

    #[test]
    fn no_body_stops_the_reader_and_none_is_ended_that_was_not(
        body in vec(prop_oneof![
            Just(b"3\r\nabc\r\n".to_vec()), Just(b"0\r\n\r\n".to_vec()), vec(any::<u8>(), 0..6),
            Just(b"\r\n".to_vec()), Just(b"0\r\n".to_vec()), Just(b"ffffffff\r\n".to_vec()),
        ], 0..6),
        step in 1_usize..20
    ) {
        let body = body.concat();
        let mut to = Vec::new();
        let mut from = pieces(&body, step);
        let is_whole =
            run(relay(&mut from, Framing::Chunked, &mut to, Written::Chunked, IDLE)).is_ok();
        let can_be_read = relayed(&to, step, Framing::Chunked, Written::Plain).is_some();
        prop_assert_eq!(is_whole, can_be_read);
    }
}

#[test]
fn the_source_of_these_tests_waits_and_ends() {
    let mut source = pieces(b"ab", 1);
    let mut context = Context::from_waker(Waker::noop());
    let mut room = [0; 4];
    let mut into = ReadBuf::new(&mut room);
    let source = Pin::new(source.get_mut());
    assert!(source.poll_read(&mut context, &mut into).is_pending());
}
