//! Plain HTTP: several requests of one connection, bodies, and servers that do odd things.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tollgate_proxy::{Limits, Outcome};

use crate::kit::{Judged, Server, head, start, start_with, to_end, until};

async fn says(answer: &'static [u8], method: &str, version: &str) -> String {
    let server = Server::answering(answer).await;
    let proxy = start(Judged::yes()).await;
    let at = server.address;
    let request =
        format!("{method} http://{at}/ HTTP/{version}\r\nHost: x\r\nConnection: close\r\n\r\n");
    String::from_utf8(proxy.says(request.as_bytes()).await).unwrap()
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other_and_asks_for_each_new_target() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let (one, two) = (
        Server::answering(answer).await,
        Server::answering(answer).await,
    );
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    let mut client = proxy.client().await;
    for server in [&one, &one, &two, &one] {
        let at = server.address;
        let request = format!("GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let said = until(&mut client, b"hi").await;
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("Connection: keep-alive\r\n"), "{said}");
    }
    let (one, two) = (one.address.to_string(), two.address.to_string());
    assert_eq!(judge.asked(), [one.clone(), two, one]);
}

#[tokio::test]
async fn a_refusal_in_mid_connection_ends_it_and_nothing_is_sent_on() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let (one, two) = (
        Server::answering(answer).await,
        Server::answering(answer).await,
    );
    let refused = two.address.to_string();
    let judge = Judged::by(move |target| {
        let is_refused = target.to_string() == refused;
        Some(if is_refused {
            Err("no".to_owned())
        } else {
            Ok(())
        })
    });
    let proxy = start(judge).await;
    let (a, b) = (one.address, two.address);
    let said = proxy
        .says(
            format!(
                "GET http://{a}/ HTTP/1.1\r\nHost: x\r\n\r\n\
                 GET http://{b}/ HTTP/1.1\r\nHost: x\r\n\r\n\
                 GET http://{a}/ HTTP/1.1\r\nHost: x\r\n\r\n"
            )
            .as_bytes(),
        )
        .await;
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said.matches("HTTP/1.1 200 OK").count(), 1, "{said}");
    assert_eq!(said.matches("HTTP/1.1 403 Forbidden").count(), 1, "{said}");
    assert_eq!((one.accepted(), two.accepted()), (1, 0));
}

#[tokio::test]
async fn a_refusal_names_the_target_the_reason_and_the_rule() {
    let judge = Judged::no();
    let proxy = start(judge).await;
    let said = proxy
        .says(b"GET http://Example.test:8080/ HTTP/1.1\r\nHost: x\r\n\r\n")
        .await;
    let said = String::from_utf8(said).unwrap();
    let (head, body) = said.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{head}");
    assert!(
        head.contains(&format!("Content-Length: {}\r\n", body.len())),
        "{head}"
    );
    assert_eq!(
        body,
        "tollgate: example.test:8080 was refused: a rule says no\n\
         This rule may allow it: \"network\": { \"example.test:8080\": \"allow\" }\n"
    );
    let refused = Outcome::Refused("a rule says no".to_owned());
    assert_eq!(
        proxy.heard(),
        [(Some("example.test:8080".to_owned()), refused)]
    );
    assert_eq!(proxy.proxy.counts().refused, 1);
}

#[tokio::test]
async fn an_answer_to_head_has_no_body_of_ours_either() {
    let proxy = start(Judged::no()).await;
    let said = proxy
        .says(b"HEAD http://a.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
        .await;
    assert!(said.ends_with(b"\r\n\r\n"));
}

#[tokio::test]
async fn chunks_of_a_response_are_written_anew() {
    let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n\
        3;e=1\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n";
    assert_eq!(
        says(answer, "GET", "1.1").await,
        "HTTP/1.1 200 OK\r\nX: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    );
    // HTTP/1.0 has no chunks.
    assert_eq!(
        says(answer, "GET", "1.0").await,
        "HTTP/1.1 200 OK\r\nX: 1\r\nConnection: close\r\n\r\nabcde"
    );
}

#[tokio::test]
async fn a_body_without_a_length_ends_with_the_connection() {
    let answer = b"HTTP/1.0 200 OK\r\nKeep-Alive: 5\r\n\r\nall of it";
    assert_eq!(
        says(answer, "GET", "1.1").await,
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it"
    );
}

#[tokio::test]
async fn an_answer_without_a_body_keeps_the_length_it_tells() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nignored";
    assert_eq!(
        says(answer, "HEAD", "1.1").await,
        "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\n"
    );
    for answer in [
        b"HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\nignored".as_slice(),
        b"HTTP/1.1 304 Not Modified\r\n\r\nignored",
    ] {
        let said = says(answer, "GET", "1.1").await;
        assert!(said.ends_with("Connection: close\r\n\r\n"), "{said}");
    }
}

#[tokio::test]
async fn interim_responses_are_passed_on() {
    let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(
        says(answer, "GET", "1.1").await,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let said = says(answer, "GET", "1.0").await;
    assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");
}

#[tokio::test]
async fn a_response_that_can_be_read_in_two_ways_is_not_passed_on() {
    for answer in [
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            .as_slice(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
        b"HTTP/1.1 200 OK\nX: a\n\n",
        b"HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 +200 OK\r\n\r\n",
        b"HTTP/1.1 999 OK\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"",
    ] {
        let said = says(answer, "GET", "1.1").await;
        let shown = String::from_utf8_lossy(answer);
        assert!(
            said.starts_with("HTTP/1.1 502 Bad Gateway\r\n"),
            "{shown}: {said}"
        );
    }
}

#[tokio::test]
async fn a_response_that_breaks_off_is_seen_to_break_off() {
    for (answer, end) in [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".as_slice(),
            "\r\n\r\nabc",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "3\r\nabc\r\n",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n-1\r\nx",
            "3\r\nabc\r\n",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX0\r\n\r\n",
            "3\r\nabc\r\n",
        ),
    ] {
        let said = says(answer, "GET", "1.1").await;
        assert!(said.ends_with(end), "{said}");
    }
}

#[tokio::test]
async fn a_body_with_bad_chunks_ends_both_connections_before_its_end_is_sent() {
    for body in [
        "x\r\nabc\r\n0\r\n\r\n",
        "-3\r\nabc\r\n0\r\n\r\n",
        "+3\r\nabc\r\n0\r\n\r\n",
        "0x3\r\nabc\r\n0\r\n\r\n",
        " 3\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "3\r\nabcd\r\n0\r\n\r\n",
        "3\r\nabc\n0\r\n\r\n",
        "3\r\nabc0\r\n\r\n",
        "3\r\nabcXY0\r\n\r\n",
        "3;a\nb\r\nabc\r\n0\r\n\r\n",
        "3;\x00\r\nabc\r\n0\r\n\r\n",
        "3\r\nabc\r\n0\r\nX : 1\r\n\r\n",
        "3\r\nabc\r\n0\r\n X: 1\r\n\r\n",
        "3\r\nabc\r\n0\r\nX: 1\n\n",
        "3\r\nabc\r\n0\r\n\n\r\n",
        "1000000000000000\r\nabc",
        ";\r\nabc\r\n0\r\n\r\n",
        "\r\nabc\r\n0\r\n\r\n",
        &format!("3;{}\r\nabc\r\n0\r\n\r\n", "a".repeat(300)),
    ] {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let sender = Mutex::new(Some(sender));
        let server = Server::new(move |mut stream| {
            let sender = sender.lock().unwrap().take().unwrap();
            async move { sender.send(to_end(&mut stream).await).unwrap() }
        })
        .await;
        // Were the body taken, the server would wait for the end of this.
        let limits = |limits| Limits {
            idle: Duration::from_secs(5),
            ..limits
        };
        let proxy = start_with(Judged::yes(), limits, |proxy| proxy).await;
        let at = server.address;
        let head =
            format!("POST http://{at}/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        let next = format!("GET http://{at}/second HTTP/1.1\r\nHost: x\r\n\r\n");
        let said = proxy.says(format!("{head}{body}{next}").as_bytes()).await;
        assert_eq!(said, b"", "{body:?}");
        let got = String::from_utf8(receiver.await.unwrap()).unwrap();
        assert!(!got.ends_with("0\r\n\r\n"), "{body:?}: {got}");
        assert!(!got.contains("second"), "{body:?}: {got}");
        assert_eq!(server.accepted(), 1, "{body:?}");
        assert_eq!(proxy.proxy.counts().malformed, 1, "{body:?}");
    }
}

#[tokio::test]
async fn a_body_that_looks_like_a_request_is_a_body() {
    let server = Server::new(|mut stream| async move {
        let head = head(&mut stream).await;
        assert!(head.contains("Content-Length: "), "{head}");
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        stream.write_all(answer).await.unwrap();
        to_end(&mut stream).await;
    })
    .await;
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    let at = server.address;
    let body = "GET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = body.len();
    let said = proxy
        .says(
            format!(
                "POST http://{at}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            )
            .as_bytes(),
        )
        .await;
    assert!(said.ends_with(b"hi"));
    assert_eq!(judge.asked(), [at.to_string()]);
}

#[tokio::test]
async fn a_server_may_answer_before_it_has_read_everything() {
    let server = Server::answering(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno").await;
    let proxy = start(Judged::yes()).await;
    let at = server.address;
    let mut client = proxy.client().await;
    let head = format!("POST http://{at}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let said = to_end(&mut client).await;
    assert!(said.starts_with(b"HTTP/1.1 413 Too Large"));
    assert!(said.ends_with(b"no"));
}

#[tokio::test]
async fn large_bodies_pass_both_ways_at_once() {
    const BYTES: usize = 8 << 20;
    let server = Server::new(|mut stream| async move {
        head(&mut stream).await;
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        let (mut read, mut write) = stream.split();
        let mut read = (&mut read).take(BYTES as u64);
        tokio::io::copy(&mut read, &mut write).await.unwrap();
    })
    .await;
    let proxy = start(Judged::yes()).await;
    let at = server.address;
    let (mut read, mut write) = proxy.client().await.into_split();
    let sender = tokio::spawn(async move {
        let head =
            format!("POST http://{at}/ HTTP/1.1\r\nHost: x\r\nContent-Length: {BYTES}\r\n\r\n");
        write.write_all(head.as_bytes()).await.unwrap();
        for piece in 0..BYTES / 1024 {
            let byte = u8::try_from(piece % 251).unwrap();
            write.write_all(&[byte; 1024]).await.unwrap();
        }
        write
    });
    let mut bytes = vec![0; BYTES];
    while read.read_u8().await.unwrap() != b'\n' || {
        let mut three = [0; 2];
        read.peek(&mut three).await.unwrap();
        three != *b"\r\n"
    } {}
    read.read_exact(&mut [0; 2]).await.unwrap();
    read.read_exact(&mut bytes).await.unwrap();
    for (index, piece) in bytes.chunks(1024).enumerate() {
        let byte = u8::try_from(index % 251).unwrap();
        assert!(piece.iter().all(|found| *found == byte), "{index}");
    }
    drop(sender.await.unwrap());
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let proxy = start_with(
        Judged::yes(),
        |limits| Limits {
            head_bytes_max: 100,
            ..limits
        },
        |proxy| proxy,
    )
    .await;
    let said = proxy.says(&[b'A'; 101]).await;
    assert!(said.starts_with(b"HTTP/1.1 431 "));
    let long = Arc::new("x".repeat(100));
    let said = proxy
        .says(format!("GET http://a.test/ HTTP/1.1\r\nHost: {long}").as_bytes())
        .await;
    assert!(said.starts_with(b"HTTP/1.1 431 "));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_so() {
    let proxy = start(Judged::yes()).await;
    let said = proxy
        .says(b"GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n")
        .await;
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("HTTP/1.1 502 Bad Gateway"), "{said}");
    assert!(said.contains("127.0.0.1:1 cannot be reached"), "{said}");
    assert_eq!(proxy.proxy.counts().failed, 1);
}
