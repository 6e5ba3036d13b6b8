//! Real programs as clients, each with the variables that a command in the sandbox gets.

use std::{fs, path::Path, process::Stdio};

use tokio::{io::AsyncWriteExt, process::Command};
use tollgate_proxy::proxy_environment;

use crate::kit::{Judged, Names, Running, Server, head, host, start, start_with, to_end};

/// A program with the environment of a command that has the proxy, and none of ours.
fn program(name: &str, proxy: &Running) -> Command {
    let mut command = Command::new(name);
    command.env_clear().stdin(Stdio::null()).kill_on_drop(true);
    for name in ["PATH", "HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(proxy_environment(proxy.address.port()));
    command
}

/// A proxy to which `server.test` is this machine.
async fn with_name(judge: std::sync::Arc<Judged>) -> Running {
    let change = |proxy: tollgate_proxy::Proxy| {
        proxy
            .with_resolver(Names::of(&[("server.test", &[&["127.0.0.1"]])]))
            .with_named_private([host("server.test")])
    };
    start_with(judge, |limits| limits, change).await
}

/// Serves the files below `root`, with chunks where `is_chunked`.
async fn files(root: &Path) -> Server {
    let root = root.to_owned();
    Server::new(move |mut stream| {
        let root = root.clone();
        async move {
            let head = head(&mut stream).await;
            let path = head.split(' ').nth(1).unwrap_or("/");
            let path = path
                .split('?')
                .next()
                .unwrap_or("/")
                .trim_start_matches('/');
            let (status, body) = match fs::read(root.join(path)) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", b"none".to_vec()),
            };
            let answer = format!("HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n");
            drop(stream.write_all(answer.as_bytes()).await);
            for piece in body.chunks(1000) {
                let size = format!("{:x}\r\n", piece.len());
                let chunk = [size.as_bytes(), piece, b"\r\n"].concat();
                drop(stream.write_all(&chunk).await);
            }
            drop(stream.write_all(b"0\r\n\r\n").await);
            drop(stream.shutdown().await);
            to_end(&mut stream).await;
        }
    })
    .await
}

async fn output(command: &mut Command) -> (bool, String, String) {
    let output = command.output().await.unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[tokio::test]
async fn curl_comes_through_in_each_way() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "words").unwrap();
    let server = files(folder.path()).await;
    let port = server.address.port();
    let judge = Judged::yes();
    let proxy = with_name(judge.clone()).await;
    let socks = format!("socks5h://{}", proxy.address);
    for more in [
        ["-s", "-f"].as_slice(),
        &["-s", "-f", "--proxytunnel"],
        &["-s", "-f", "--http1.0"],
        &["-s", "-f", "-d", "body"],
        &["-s", "-f", "--proxy", &socks],
    ] {
        let mut command = program("curl", &proxy);
        command
            .args(more)
            .arg(format!("http://Server.test:{port}/a"));
        let (_, out, err) = output(&mut command).await;
        assert_eq!(out, "words", "{more:?}: {err}");
    }
    assert_eq!(judge.asked(), vec![format!("server.test:{port}"); 5]);
    // Several of one connection, the refused one among them.
    let judge = Judged::by(|target| {
        Some(if target.port == 1 {
            Err("no".into())
        } else {
            Ok(())
        })
    });
    let proxy = with_name(judge).await;
    let mut command = program("curl", &proxy);
    let url = format!("http://server.test:{port}/a");
    command.args(["-s", &url, "http://server.test:1/", &url]);
    let (_, out, err) = output(&mut command).await;
    assert!(
        out.starts_with("wordstollgate: server.test:1 was refused"),
        "{out}{err}"
    );
    assert!(out.ends_with("words"), "{out}{err}");
}

#[tokio::test]
async fn curl_shows_why_a_host_was_refused() {
    let proxy = start(Judged::no()).await;
    let mut command = program("curl", &proxy);
    command.args(["-sS", "http://example.test/"]);
    let (_, out, _) = output(&mut command).await;
    assert!(
        out.contains("\"network\": { \"example.test:80\": \"allow\" }"),
        "{out}"
    );
    let mut command = program("curl", &proxy);
    command.args(["-sS", "https://example.test/"]);
    let (is_success, _, err) = output(&mut command).await;
    assert!(!is_success && err.contains("403"), "{err}");
    assert_eq!(proxy.proxy.counts().refused, 2);
}

#[tokio::test]
async fn python_comes_through_and_goes_straight_to_loopback() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "words").unwrap();
    let server = files(folder.path()).await;
    let port = server.address.port();
    let judge = Judged::by(|target| {
        Some(if target.port == 1 {
            Err("no".into())
        } else {
            Ok(())
        })
    });
    let proxy = with_name(judge.clone()).await;
    let script = "import sys, urllib.request, urllib.error\n\
        for url in sys.argv[1:]:\n\
        \x20   try: print(urllib.request.urlopen(url, timeout=60).read().decode())\n\
        \x20   except urllib.error.HTTPError as e: print(e.code, e.read().decode().split(':')[0])\n";
    let mut command = program("python3", &proxy);
    command.args(["-c", script]);
    command.arg(format!("http://server.test:{port}/a"));
    command.arg(format!("http://127.0.0.1:{port}/a"));
    command.arg(format!("http://localhost:{port}/a"));
    command.arg("http://server.test:1/");
    let (_, out, err) = output(&mut command).await;
    assert_eq!(out, "words\nwords\nwords\n403 tollgate\n", "{err}");
    assert_eq!(
        judge.asked(),
        [format!("server.test:{port}"), "server.test:1".to_owned()]
    );
}

#[tokio::test]
async fn git_clones_through_it() {
    let folder = tempfile::tempdir().unwrap();
    let (source, bare) = (folder.path().join("source"), folder.path().join("bare"));
    let proxy = with_name(Judged::yes()).await;
    let git = |arguments: &[&str]| {
        let mut command = program("git", &proxy);
        command.args(["-c", "user.name=a", "-c", "user.email=a@a.test"]);
        command
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", folder.path());
        command
    };
    let (at, to) = (source.to_str().unwrap(), bare.to_str().unwrap());
    for arguments in [
        ["init", "-q", at].as_slice(),
        &["-C", at, "commit", "-q", "--allow-empty", "-m", "first"],
        &["clone", "-q", "--bare", at, to],
        &["-C", to, "update-server-info"],
    ] {
        let (is_success, _, err) = output(&mut git(arguments)).await;
        assert!(is_success, "{err}");
    }
    let server = files(&bare).await;
    let url = format!("http://server.test:{}/", server.address.port());
    let copy = folder.path().join("copy");
    let (is_success, _, err) =
        output(&mut git(&["clone", "-q", &url, copy.to_str().unwrap()])).await;
    assert!(is_success, "{err}");
    let (_, out, _) = output(&mut git(&[
        "-C",
        copy.to_str().unwrap(),
        "log",
        "--format=%s",
    ]))
    .await;
    assert_eq!(out, "first\n");

    let refusing = start(Judged::no()).await;
    let mut command = git(&["ls-remote", &url]);
    command.envs(proxy_environment(refusing.address.port()));
    let (is_success, _, err) = output(&mut command).await;
    assert!(!is_success && err.contains("403"), "{err}");
}
