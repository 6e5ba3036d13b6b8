//! The table of requests: what the server gets of each, and which get nothing.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::kit::{Judged, Server, start, table, to_end};

/// Whether a request is whole. Enough for what a server gets here.
fn is_whole(got: &[u8]) -> bool {
    let text = String::from_utf8_lossy(got);
    match text.split_once("\r\n\r\n") {
        None => false,
        Some((head, body)) if head.contains("Content-Length: 3") => body.len() == 3,
        Some((head, body)) if head.contains("chunked") => body.ends_with("0\r\n\r\n"),
        Some(_) => true,
    }
}

#[tokio::test]
async fn each_request_of_the_table_is_sent_on_as_it_says_or_refused() {
    let mut faults = Vec::new();
    for [name, request, sent, answer] in table::<4>("requests.tsv") {
        let got = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&got);
        let server = Server::new(move |mut stream| {
            let keep = Arc::clone(&keep);
            async move {
                let mut all = Vec::new();
                while !is_whole(&all) && stream.read_buf(&mut all).await.unwrap_or(0) > 0 {}
                keep.lock().unwrap().extend_from_slice(&all);
                drop(
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                        .await,
                );
                to_end(&mut stream).await;
            }
        })
        .await;
        let proxy = start(Judged::yes()).await;

        let fill = |cell: &[u8]| {
            let text: String = cell.iter().map(|byte| char::from(*byte)).collect();
            let text = text.replace("{server}", &server.address.to_string());
            let text = text.replace("{other}", "127.0.0.1:1");
            text.chars().map(|c| c as u8).collect::<Vec<u8>>()
        };
        let mut client = proxy.client().await;
        client.write_all(&fill(&request)).await.unwrap();
        client.shutdown().await.unwrap();
        let said = String::from_utf8_lossy(&to_end(&mut client).await).into_owned();

        let got = got.lock().unwrap().clone();
        let is_right = if sent == b"refused" {
            let answer = String::from_utf8_lossy(&answer).into_owned();
            server.accepted() == 0
                && said.starts_with(&format!("HTTP/1.1 {answer} "))
                && proxy.proxy.counts().malformed == 1
        } else {
            got == fill(&sent) && said.starts_with("HTTP/1.1 200 OK")
        };
        if !is_right {
            faults.push(format!(
                "{}: sent {:?}, said {said:?}",
                String::from_utf8_lossy(&name),
                String::from_utf8_lossy(&got)
            ));
        }
    }
    assert_eq!(faults, [""; 0], "{}", faults.join("\n"));
}
