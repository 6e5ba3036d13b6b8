//! The client of the proxy that `ssh` is given.

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tollgate_proxy::{ConnectError, Target, connect};

use crate::kit::{Judged, Server, start, to_end};

fn target(address: std::net::SocketAddr) -> Target {
    Target::from(address)
}

#[tokio::test]
async fn what_comes_in_goes_to_the_target_and_back() {
    let server = Server::echo().await;
    let proxy = start(Judged::yes()).await;
    let (mut input, far_input) = duplex(64);
    let (far_output, mut output) = duplex(64);
    let at = target(server.address);
    let address = proxy.address;
    let task = tokio::spawn(async move { connect(address, &at, far_input, far_output).await });
    let mut back = [0; 5];
    for words in [b"hello", b"again"] {
        input.write_all(words).await.unwrap();
        output.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, words);
    }
    drop(input);
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn it_ends_when_the_target_ends_though_the_input_goes_on() {
    let server = Server::new(|mut stream| async move {
        stream.write_all(b"bye").await.unwrap();
    })
    .await;
    let proxy = start(Judged::yes()).await;
    let (_input, far_input) = duplex(64);
    let mut output = Vec::new();
    connect(
        proxy.address,
        &target(server.address),
        far_input,
        &mut output,
    )
    .await
    .unwrap();
    assert_eq!(output, b"bye");
}

#[tokio::test]
async fn a_refusal_comes_in_the_words_of_the_proxy() {
    let proxy = start(Judged::no()).await;
    let at = Target::parse("git.test:22").unwrap();
    let mut output = Vec::new();
    let error = connect(proxy.address, &at, &b""[..], &mut output)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tollgate: git.test:22 was refused: a rule says no\n\
         This rule may allow it: \"network\": { \"git.test:22\": \"allow\" }"
    );
    assert_eq!(output, b"");
}

#[tokio::test]
async fn what_is_no_proxy_is_said_so() {
    let at = Target::parse("git.test:22").unwrap();
    for answer in [b"SSH-2.0-x\r\n\r\n".as_slice(), b"", b"HTTP/1.1 200 OK\n\n"] {
        let server = Server::answering(answer).await;
        let result = connect(server.address, &at, &b""[..], Vec::new()).await;
        assert!(matches!(result, Err(ConnectError::Answer(_))), "{result:?}");
    }
    let server = Server::new(|mut stream| async move {
        stream.shutdown().await.unwrap();
        to_end(&mut stream).await;
    })
    .await;
    let gone = server.address;
    drop(server);
    tokio::task::yield_now().await;
    let result = connect(gone, &at, &b""[..], Vec::new()).await;
    assert!(result.is_err(), "{result:?}");
}
