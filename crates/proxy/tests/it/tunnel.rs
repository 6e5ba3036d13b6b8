//! CONNECT: bytes both ways, ends, and silence.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tollgate_proxy::{Limits, Outcome};

use crate::kit::{Judged, LONG, SHORT, Server, head, start, start_with, to_end};

const OPEN: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

#[tokio::test]
async fn bytes_pass_both_ways_as_they_are() {
    let server = Server::echo().await;
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    let at = server.address;
    let mut client = proxy.client().await;
    // The first bytes of the tunnel come with the request.
    let first = format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n\x16\x03\0");
    client.write_all(first.as_bytes()).await.unwrap();
    assert_eq!(head(&mut client).await, OPEN);
    client
        .write_all(b"\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    client.shutdown().await.unwrap();
    let back = to_end(&mut client).await;
    assert_eq!(
        back,
        b"\x16\x03\0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n"
    );
    assert_eq!(judge.asked(), [at.to_string()]);
    assert_eq!(proxy.heard(), [(Some(at.to_string()), Outcome::Opened)]);
}

#[tokio::test]
async fn the_end_of_one_side_is_passed_on_and_the_other_may_go_on() {
    let server = Server::new(|mut stream| async move {
        let got = to_end(&mut stream).await;
        stream
            .write_all(&[b"after the end: ", got.as_slice()].concat())
            .await
            .unwrap();
    })
    .await;
    let proxy = start(Judged::yes()).await;
    let mut client = proxy.client().await;
    let request = format!("CONNECT {} HTTP/1.0\r\n\r\nbye", server.address);
    client.write_all(request.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(
        to_end(&mut client).await,
        format!("{OPEN}after the end: bye").as_bytes()
    );
}

#[tokio::test]
async fn a_tunnel_in_which_nothing_passes_ends() {
    let server = Server::new(|mut stream| async move {
        to_end(&mut stream).await;
    })
    .await;
    let idle = |limits| Limits {
        idle: SHORT,
        ..limits
    };
    let proxy = start_with(Judged::yes(), idle, |proxy| proxy).await;
    let request = format!("CONNECT {} HTTP/1.0\r\n\r\n", server.address);
    assert_eq!(proxy.says(request.as_bytes()).await, OPEN.as_bytes());
}

#[tokio::test]
async fn a_large_stream_comes_whole() {
    const BYTES: usize = 32 << 20;
    let server = Server::echo().await;
    let proxy = start(Judged::yes()).await;
    let mut client = proxy.client().await;
    let request = format!("CONNECT {} HTTP/1.0\r\n\r\n", server.address);
    client.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(head(&mut client).await, OPEN);
    let (mut read, mut write) = client.into_split();
    let sender = tokio::spawn(async move {
        for piece in 0..BYTES / 4096 {
            let byte = u8::try_from(piece % 253).unwrap();
            write.write_all(&[byte; 4096]).await.unwrap();
        }
    });
    let mut piece = [0; 4096];
    for index in 0..BYTES / 4096 {
        read.read_exact(&mut piece).await.unwrap();
        let byte = u8::try_from(index % 253).unwrap();
        assert!(piece.iter().all(|found| *found == byte), "{index}");
    }
    sender.await.unwrap();
    assert_eq!(read.read(&mut piece).await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_that_does_not_come_is_not_waited_for() {
    let header = |limits| Limits {
        header: SHORT,
        ..limits
    };
    let proxy = start_with(Judged::yes(), header, |proxy| proxy).await;
    assert_eq!(proxy.says(b"").await, b"");
    let said = proxy.says(b"CONNECT a.test:443 HTTP/1.1\r\n").await;
    assert!(said.starts_with(b"HTTP/1.1 408 Request Timeout"));
    assert_eq!(proxy.says(b"\x05").await, b"");
    assert_eq!(proxy.says(b"\x05\x01\x00\x05\x01").await[..4], [5, 0, 5, 1]);
}

#[tokio::test]
async fn a_connection_of_several_requests_ends_when_no_further_one_comes() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let idle = |limits| Limits {
        idle: SHORT,
        header: LONG,
        ..limits
    };
    let proxy = start_with(Judged::yes(), idle, |proxy| proxy).await;
    let request = format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", server.address);
    assert!(proxy.says(request.as_bytes()).await.ends_with(b"hi"));
}
