//! What is asked, when, and what a yes does not open.

use std::sync::{Arc, atomic::Ordering};

use tokio::io::AsyncWriteExt;
use tollgate_proxy::{Judge, Limits, Outcome};

use crate::kit::{Judged, Names, Running, SHORT, Server, host, start, start_with};

async fn with_names(judge: Arc<dyn Judge>, names: &Arc<Names>, private: &[&str]) -> Running {
    let names = Arc::clone(names);
    let private: Vec<_> = private.iter().map(|name| host(name)).collect();
    let change =
        |proxy: tollgate_proxy::Proxy| proxy.with_resolver(names).with_named_private(private);
    start_with(judge, |limits| limits, change).await
}

async fn connect(proxy: &Running, target: &str) -> String {
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    String::from_utf8(proxy.says(request.as_bytes()).await).unwrap()
}

#[tokio::test]
async fn nothing_is_looked_up_or_dialled_before_the_judge_says_yes() {
    let names = Names::of(&[("a.test", &[&["127.0.0.1"]])]);
    let proxy = with_names(Judged::no(), &names, &["a.test"]).await;
    assert!(
        connect(&proxy, "a.test:443")
            .await
            .starts_with("HTTP/1.1 403 ")
    );
    assert_eq!(names.looked_up.load(Ordering::SeqCst), 0);
    let server = Server::echo().await;
    let at = server.address.to_string();
    assert!(connect(&proxy, &at).await.starts_with("HTTP/1.1 403 "));
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn each_spelling_of_a_target_is_the_same_question() {
    let judge = Judged::no();
    let proxy = start(judge.clone()).await;
    for target in [
        "127.0.0.1:80",
        "127.1:80",
        "0x7F.1:80",
        "2130706433:080",
        "[::ffff:7f00:1]:80",
    ] {
        connect(&proxy, target).await;
    }
    assert_eq!(judge.asked(), ["127.0.0.1:80"; 5]);
    for target in ["ALLOWED.TEST:443", "allowed.test:443", "Allowed.Test:0443"] {
        connect(&proxy, target).await;
    }
    assert_eq!(judge.asked()[5..], ["allowed.test:443"; 3]);
}

#[tokio::test]
async fn a_name_that_leads_into_private_is_refused_although_the_judge_says_yes() {
    let server = Server::echo().await;
    let port = server.address.port();
    for list in [
        ["127.0.0.1"].as_slice(),
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::127.0.0.1"],
        &["10.1.2.3"],
        &["172.16.0.1"],
        &["192.168.1.1"],
        &["100.64.0.1"],
        &["169.254.169.254"],
        &["168.63.129.16"],
        &["fd00:ec2::254"],
        &["fe80::1"],
        &["fc00::1"],
        &["0.0.0.0"],
        &["::"],
        &["224.0.0.1"],
        &["ff02::1"],
        // One of them is enough, wherever it stands.
        &["192.0.32.8", "127.0.0.1"],
        &["127.0.0.1", "192.0.32.8"],
    ] {
        let names = Names::of(&[("a.test", &[list])]);
        let judge = Judged::yes();
        let proxy = with_names(judge.clone(), &names, &["other.test", "sub.a.test"]).await;
        let said = connect(&proxy, &format!("a.test:{port}")).await;
        assert!(
            said.starts_with("HTTP/1.1 403 Forbidden"),
            "{list:?}: {said}"
        );
        assert!(said.contains("a.test leads to "), "{list:?}: {said}");
        // A rule would not help, so none is shown.
        assert!(!said.contains("allow"), "{list:?}: {said}");
        assert_eq!(judge.asked(), [format!("a.test:{port}")]);
        assert!(matches!(proxy.heard()[0].1, Outcome::Refused(_)));
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn a_listed_name_may_lead_into_private_and_those_below_it_may_not() {
    let server = Server::new(|mut stream| async move {
        drop(stream.write_all(b"in").await);
    })
    .await;
    let port = server.address.port();
    let names = Names::of(&[
        ("db.test", &[&["127.0.0.1"]]),
        ("sub.db.test", &[&["127.0.0.1"]]),
    ]);
    let judge = Judged::yes();
    let proxy = with_names(judge.clone(), &names, &["db.test"]).await;
    assert!(
        connect(&proxy, &format!("db.test:{port}"))
            .await
            .ends_with("\r\n\r\nin")
    );
    assert!(
        connect(&proxy, &format!("sub.db.test:{port}"))
            .await
            .starts_with("HTTP/1.1 403 ")
    );
    assert_eq!(judge.asked().len(), 2);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn what_is_dialled_is_what_was_looked_up_the_one_time() {
    let server = Server::new(|mut stream| async move {
        drop(stream.write_all(b"right").await);
    })
    .await;
    let port = server.address.port();
    // A second look-up would give an address at which nothing listens.
    let names = Names::of(&[("a.test", &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let proxy = with_names(Judged::yes(), &names, &["a.test"]).await;
    assert!(
        connect(&proxy, &format!("a.test:{port}"))
            .await
            .ends_with("\r\n\r\nright")
    );
    assert_eq!(names.looked_up.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_name_that_changes_under_a_connection_is_checked_anew() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let port = server.address.port();
    let names = Names::of(&[("a.test", &[&["127.0.0.1"], &["0.0.0.0"]])]);
    let judge = Judged::yes();
    let proxy = with_names(judge.clone(), &names, &["a.test"]).await;
    let once = format!("GET http://a.test:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n");
    let last = once.replace("Host: x", "Host: x\r\nConnection: close");
    let said = proxy.says(format!("{once}{last}").as_bytes()).await;
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said.matches("HTTP/1.1 200 OK").count(), 1, "{said}");
    assert!(
        said.contains("a.test leads to 0.0.0.0, no address"),
        "{said}"
    );
    assert_eq!(judge.asked().len(), 1);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn the_next_address_is_tried_when_the_first_does_not_answer() {
    let server = Server::new(|mut stream| async move {
        drop(stream.write_all(b"second").await);
    })
    .await;
    let port = server.address.port();
    let names = Names::of(&[("a.test", &[&["127.0.0.2", "127.0.0.1"]])]);
    let proxy = with_names(Judged::yes(), &names, &["a.test"]).await;
    assert!(
        connect(&proxy, &format!("a.test:{port}"))
            .await
            .ends_with("\r\n\r\nsecond")
    );
}

#[tokio::test]
async fn addresses_that_are_none_are_refused_by_number_too() {
    let judge = Judged::yes();
    let proxy = start(judge.clone()).await;
    for target in [
        "0.0.0.0:80",
        "0:80",
        "[::]:80",
        "224.0.0.1:80",
        "[ff02::1]:80",
        "[::ffff:0:0]:80",
    ] {
        assert!(
            connect(&proxy, target).await.starts_with("HTTP/1.1 403 "),
            "{target}"
        );
    }
    assert_eq!(judge.asked(), [""; 0]);
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_a_refusal() {
    let server = Server::echo().await;
    let limits = |limits| Limits {
        judge: SHORT,
        ..limits
    };
    let proxy = start_with(Judged::by(|_| None), limits, |proxy| proxy).await;
    let said = connect(&proxy, &server.address.to_string()).await;
    assert!(said.starts_with("HTTP/1.1 403 Forbidden"), "{said}");
    assert!(said.contains("nobody answered within 0.03 s"), "{said}");
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn a_judge_that_panics_opens_nothing_and_stops_nothing() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let judge = Judged::by(|target| {
        assert_ne!(target.port, 1, "the judge stumbles");
        Some(Ok(()))
    });
    let proxy = start(judge).await;
    assert_eq!(connect(&proxy, "a.test:1").await, "");
    let request = format!("GET http://{}/ HTTP/1.0\r\n\r\n", server.address);
    assert!(proxy.says(request.as_bytes()).await.ends_with(b"hi"));
}

#[tokio::test]
async fn a_name_that_is_not_found_or_empty_fails() {
    let names = Names::of(&[("empty.test", &[&[]])]);
    let proxy = with_names(Judged::yes(), &names, &[]).await;
    for target in ["empty.test:443", "none.test:443"] {
        let said = connect(&proxy, target).await;
        assert!(said.starts_with("HTTP/1.1 502 Bad Gateway"), "{said}");
    }
    assert_eq!(proxy.proxy.counts().failed, 2);
}

#[tokio::test]
async fn the_resolver_of_the_system_knows_this_machine() {
    let server = Server::new(|mut stream| async move {
        drop(stream.write_all(b"here").await);
    })
    .await;
    let target = format!("LocalHost:{}", server.address.port());
    let proxy = start(Judged::yes()).await;
    let said = connect(&proxy, &target).await;
    assert!(said.contains("localhost leads to "), "{said}");
    let listed = |proxy: tollgate_proxy::Proxy| proxy.with_named_private([host("localhost")]);
    let proxy = start_with(Judged::yes(), |limits| limits, listed).await;
    assert!(connect(&proxy, &target).await.ends_with("\r\n\r\nhere"));
}
