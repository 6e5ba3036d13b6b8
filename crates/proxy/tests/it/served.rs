//! Many connections, other listeners, and the end of the proxy.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixListener, UnixStream},
    task::JoinSet,
};
use tollgate_proxy::{Limits, Proxy, adopt};

use crate::kit::{Judged, LONG, Server, head, start, start_with, to_end};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_connections_at_once_all_come_through() {
    let server = Server::echo().await;
    let proxy = Arc::new(start(Judged::yes()).await);
    let barrier = Arc::new(tokio::sync::Barrier::new(200));
    let mut clients = JoinSet::new();
    for number in 0..200_u32 {
        let (proxy, barrier, at) = (Arc::clone(&proxy), Arc::clone(&barrier), server.address);
        clients.spawn(async move {
            let mut client = proxy.client().await;
            let request = format!("CONNECT {at} HTTP/1.1\r\nHost: x\r\n\r\n");
            client.write_all(request.as_bytes()).await.unwrap();
            assert!(head(&mut client).await.starts_with("HTTP/1.1 200 "));
            // All are open now.
            barrier.wait().await;
            let words = number.to_string().repeat(1000);
            client.write_all(words.as_bytes()).await.unwrap();
            client.shutdown().await.unwrap();
            assert_eq!(to_end(&mut client).await, words.as_bytes());
        });
    }
    assert_eq!(clients.join_all().await.len(), 200);
    assert_eq!(server.accepted(), 200);
    assert_eq!(proxy.proxy.counts().opened, 200);
}

#[tokio::test]
async fn a_connection_too_many_waits_until_another_ends() {
    let server = Server::echo().await;
    let limits = |limits| Limits {
        connections_max: 1,
        ..limits
    };
    let judge = Judged::yes();
    let proxy = start_with(judge.clone(), limits, |proxy| proxy).await;
    let request = format!("CONNECT {} HTTP/1.1\r\nHost: x\r\n\r\n", server.address);
    let mut first = proxy.client().await;
    first.write_all(request.as_bytes()).await.unwrap();
    head(&mut first).await;
    let mut second = proxy.client().await;
    second.write_all(request.as_bytes()).await.unwrap();
    // The first still works while the second waits, and nobody was asked for it.
    first.write_all(b"x").await.unwrap();
    assert_eq!(first.read_u8().await.unwrap(), b'x');
    assert_eq!(judge.asked().len(), 1);
    drop(first);
    assert!(head(&mut second).await.starts_with("HTTP/1.1 200 "));
    assert_eq!(judge.asked().len(), 2);
}

#[tokio::test]
async fn a_dropped_proxy_ends_its_connections_and_its_questions() {
    let server = Server::echo().await;
    let at = server.address.to_string();
    let judge = {
        let at = at.clone();
        Judged::by(move |target| (target.to_string() == at).then_some(Ok(())))
    };
    let mut proxy = start(judge.clone()).await;
    let mut open = proxy.client().await;
    let request = format!("CONNECT {at} HTTP/1.1\r\nHost: x\r\n\r\n");
    open.write_all(request.as_bytes()).await.unwrap();
    head(&mut open).await;
    let mut waiting = proxy.client().await;
    waiting
        .write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    while judge.asked().len() < 2 {
        tokio::task::yield_now().await;
    }
    proxy.task.abort();
    assert!((&mut proxy.task).await.unwrap_err().is_cancelled());
    assert_eq!(to_end(&mut open).await, b"");
    assert_eq!(to_end(&mut waiting).await, b"");
    assert!(TcpStream::connect(proxy.address).await.is_err());
}

#[tokio::test]
async fn a_client_that_leaves_harms_no_other() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let proxy = start(Judged::yes()).await;
    for part in ["", "C", "CONNECT", "\x05", "\x05\x01\x00\x05"] {
        let mut client = proxy.client().await;
        client.write_all(part.as_bytes()).await.unwrap();
    }
    let request = format!("GET http://{}/ HTTP/1.0\r\n\r\n", server.address);
    assert!(proxy.says(request.as_bytes()).await.ends_with(b"hi"));
}

#[tokio::test]
async fn a_unix_socket_and_a_listener_made_elsewhere_are_served() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let request = format!("GET http://{}/ HTTP/1.0\r\n\r\n", server.address);
    let proxy = Arc::new(Proxy::new(Judged::yes(), Limits::new(LONG)));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proxy");
    let listener = UnixListener::bind(&path).unwrap();
    let unix = tokio::spawn(Arc::clone(&proxy).serve(listener));
    let mut client = UnixStream::connect(&path).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    client.read_to_end(&mut said).await.unwrap();
    assert!(said.ends_with(b"hi"));

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let tcp = tokio::spawn(Arc::clone(&proxy).serve(adopt(listener).unwrap()));
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    assert!(to_end(&mut client).await.ends_with(b"hi"));
    assert_eq!(proxy.counts().opened, 2);
    unix.abort();
    tcp.abort();
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_fails_for_good_ends_the_proxy_with_its_reason() {
    struct Broken;
    impl tollgate_proxy::Accept for Broken {
        type Stream = TcpStream;
        async fn accept(&mut self) -> std::io::Result<TcpStream> {
            Err(std::io::Error::other("gone"))
        }
    }
    let proxy = Arc::new(Proxy::new(Judged::yes(), Limits::new(LONG)));
    assert_eq!(proxy.serve(Broken).await.to_string(), "gone");
}
