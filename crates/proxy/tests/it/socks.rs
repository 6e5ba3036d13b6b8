//! SOCKS5, and what of SOCKS is refused.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tollgate_proxy::{Limits, Outcome};

use crate::kit::{Judged, Names, SHORT, Server, host, start, start_with, to_end};

const GREETING: [u8; 3] = [5, 1, 0];

fn by_name(name: &[u8], port: u16) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    let port = port.to_be_bytes();
    [&GREETING, [5, 1, 0, 3, length].as_slice(), name, &port].concat()
}

fn by_address(address: SocketAddr) -> Vec<u8> {
    let port = address.port().to_be_bytes();
    let (kind, bytes) = match address.ip() {
        std::net::IpAddr::V4(address) => (1, address.octets().to_vec()),
        std::net::IpAddr::V6(address) => (4, address.octets().to_vec()),
    };
    [&GREETING, [5, 1, 0, kind].as_slice(), &bytes, &port].concat()
}

/// The reply to a request, when the greeting was agreed on.
fn reply(said: &[u8]) -> u8 {
    assert_eq!(said[..2], [5, 0], "{said:?}");
    assert_eq!(said[2], 5, "{said:?}");
    said[3]
}

#[tokio::test]
async fn names_and_addresses_of_both_kinds_are_reached() {
    let server = Server::echo().await;
    let port = server.address.port();
    let judge = Judged::yes();
    let proxy = start_with(
        judge.clone(),
        |limits| limits,
        |proxy| {
            proxy
                .with_resolver(Names::of(&[("server.test", &[&["127.0.0.1"]])]))
                .with_named_private([host("server.test")])
        },
    )
    .await;
    let mapped = format!("[::ffff:127.0.0.1]:{port}").parse().unwrap();
    for request in [
        by_name(b"SERVER.test", port),
        by_name(b"127.0.0.1", port),
        by_name(b"::ffff:127.0.0.1", port),
        by_address(server.address),
        by_address(mapped),
    ] {
        let mut client = proxy.client().await;
        client
            .write_all(&[&request, b"hello".as_slice()].concat())
            .await
            .unwrap();
        client.shutdown().await.unwrap();
        let said = to_end(&mut client).await;
        assert_eq!(said, b"\x05\0\x05\0\0\x01\0\0\0\0\0\0hello");
    }
    let (name, address) = (format!("server.test:{port}"), server.address.to_string());
    let addresses = [&address; 4].map(String::clone);
    assert_eq!(judge.asked(), [[name].as_slice(), &addresses].concat());
}

#[tokio::test]
async fn an_address_of_ipv6_is_reached() {
    let server = Server::at("[::1]:0", |mut stream| async move {
        drop(stream.write_all(b"six").await);
    })
    .await;
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    let mut client = proxy.client().await;
    client.write_all(&by_address(server.address)).await.unwrap();
    let said = to_end(&mut client).await;
    assert!(said.ends_with(b"six"), "{said:?}");
    assert_eq!(judge.asked(), [server.address.to_string()]);
}

#[tokio::test]
async fn a_refused_target_is_told_as_not_allowed() {
    let judge = Judged::no();
    let proxy = start(judge.clone()).await;
    assert_eq!(reply(&proxy.says(&by_name(b"example.test", 443)).await), 2);
    assert_eq!(judge.asked(), ["example.test:443"]);
    assert_eq!(proxy.proxy.counts().refused, 1);
}

#[tokio::test]
async fn a_name_that_is_none_is_refused_before_anybody_is_asked() {
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    for name in [
        b"evil.test\0.allowed.test".as_slice(),
        b"evil.test\n.allowed.test",
        b"evil.test%00.allowed.test",
        b"allowed.test.",
        b"",
        b"\xff\xfe.test",
        b"a b.test",
        b"[::1",
        b"1.2.3.4.5",
    ] {
        let said = proxy.says(&by_name(name, 443)).await;
        assert_eq!(reply(&said), 2, "{name:?}");
    }
    assert_eq!(reply(&proxy.says(&by_name(b"a.test", 0)).await), 2);
    assert_eq!(judge.asked(), [""; 0]);
    assert_eq!(proxy.proxy.counts().malformed, 10);
    let (target, outcome) = proxy.heard().remove(0);
    assert_eq!(target, None);
    let reason = "evil.test\\0.allowed.test: a host has no control character, NUL or white space";
    assert_eq!(outcome, Outcome::Malformed(reason.to_owned()));
}

#[tokio::test]
async fn only_connect_without_a_password_is_served() {
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    let port = [127, 0, 0, 1, 0, 80];
    for (request, expected) in [
        ([&GREETING, [5, 2, 0, 1].as_slice(), &port].concat(), 7),
        ([&GREETING, [5, 3, 0, 1].as_slice(), &port].concat(), 7),
        ([&GREETING, [5, 0, 0, 1].as_slice(), &port].concat(), 7),
        ([&GREETING, [5, 1, 1, 1].as_slice(), &port].concat(), 1),
        ([&GREETING, [4, 1, 0, 1].as_slice(), &port].concat(), 1),
        ([&GREETING, [5, 1, 0, 2].as_slice(), &port].concat(), 8),
        ([&GREETING, [5, 1, 0, 0].as_slice(), &port].concat(), 8),
    ] {
        assert_eq!(reply(&proxy.says(&request).await), expected, "{request:?}");
    }
    assert_eq!(proxy.says(&[5, 1, 2]).await, [5, 0xff]);
    assert_eq!(proxy.says(&[5, 0]).await, [5, 0xff]);
    assert_eq!(judge.asked(), [""; 0]);
}

#[tokio::test]
async fn socks4_is_refused_in_its_own_words() {
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    let plain = [4, 1, 0, 80, 127, 0, 0, 1, 0].as_slice();
    let named = b"\x04\x01\0\x50\0\0\0\x01\0evil.test\0";
    for request in [plain, named] {
        assert_eq!(proxy.says(request).await[..2], [0, 0x5b]);
    }
    assert_eq!(judge.asked(), [""; 0]);
    assert_eq!(proxy.proxy.counts().malformed, 2);
}

#[tokio::test]
async fn a_request_in_single_bytes_is_read() {
    let server = Server::echo().await;
    let proxy = start(Judged::yes()).await;
    let mut client = proxy.client().await;
    client.set_nodelay(true).unwrap();
    for byte in by_address(server.address) {
        client.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut said = [0; 12];
    client.read_exact(&mut said).await.unwrap();
    assert_eq!(reply(&said), 0);
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_a_refusal() {
    let judge = |limits| Limits {
        judge: SHORT,
        ..limits
    };
    let proxy = start_with(Judged::by(|_| None), judge, |proxy| proxy).await;
    assert_eq!(reply(&proxy.says(&by_name(b"a.test", 443)).await), 2);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let proxy = start(Judged::yes()).await;
    assert_eq!(reply(&proxy.says(&by_name(b"127.0.0.1", 1)).await), 4);
}
