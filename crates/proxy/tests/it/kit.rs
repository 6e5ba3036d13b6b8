//! Servers, judges and resolvers for the tests, and tables out of `spec/`.
//! Must not decide what is right.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tollgate_proxy::{BoxFuture, Heard, Host, Judge, Limits, Outcome, Proxy, Resolver, Target};

/// Longer than any test waits for.
pub(crate) const LONG: Duration = Duration::from_mins(10);
/// For deadlines that a test lets pass.
pub(crate) const SHORT: Duration = Duration::from_millis(30);

/// What a judge says; `None` is a question that is never answered.
type Answer = dyn Fn(&Target) -> Option<Result<(), String>> + Send + Sync;

/// A judge that keeps what it was asked.
pub(crate) struct Judged {
    pub(crate) asked: Mutex<Vec<String>>,
    answer: Box<Answer>,
}

impl Judged {
    pub(crate) fn by(
        answer: impl Fn(&Target) -> Option<Result<(), String>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            answer: Box::new(answer),
        })
    }

    pub(crate) fn yes() -> Arc<Self> {
        Self::by(|_| Some(Ok(())))
    }

    pub(crate) fn no() -> Arc<Self> {
        Self::by(|_| Some(Err("a rule says no".to_owned())))
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Judge for Judged {
    fn may_reach(&self, target: Target) -> BoxFuture<'_, Result<(), String>> {
        self.asked.lock().unwrap().push(target.to_string());
        match (self.answer)(&target) {
            Some(answer) => Box::pin(async move { answer }),
            None => Box::pin(std::future::pending()),
        }
    }
}

/// A resolver that gives each name its lists in turn, the last of them for ever.
#[derive(Default)]
pub(crate) struct Names {
    lists: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    pub(crate) looked_up: AtomicUsize,
}

impl Names {
    pub(crate) fn of(names: &[(&'static str, &[&[&str]])]) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let lists = names
            .iter()
            .map(|(name, lists)| (*name, lists.iter().map(parse).collect()))
            .collect();
        Arc::new(Self {
            lists,
            looked_up: AtomicUsize::new(0),
        })
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let turn = self.looked_up.fetch_add(1, Ordering::SeqCst);
        let list = self.lists.get(name);
        let list = list.map(|lists| lists[turn.min(lists.len() - 1)].clone());
        Box::pin(async move { list.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// A proxy that runs until this is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) proxy: Arc<Proxy>,
    heard: Arc<Mutex<Vec<Heard>>>,
    pub(crate) task: JoinHandle<io::Error>,
}

impl Running {
    pub(crate) fn heard(&self) -> Vec<(Option<String>, Outcome)> {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .map(|heard| {
                (
                    heard.target.as_ref().map(ToString::to_string),
                    heard.outcome.clone(),
                )
            })
            .collect()
    }

    pub(crate) async fn client(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends all of `request` and reads until the proxy closes.
    pub(crate) async fn says(&self, request: &[u8]) -> Vec<u8> {
        let mut client = self.client().await;
        client.write_all(request).await.unwrap();
        to_end(&mut client).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) async fn start(judge: Arc<dyn Judge>) -> Running {
    start_with(judge, |limits| limits, |proxy| proxy).await
}

pub(crate) async fn start_with(
    judge: Arc<dyn Judge>,
    limits: impl FnOnce(Limits) -> Limits,
    change: impl FnOnce(Proxy) -> Proxy,
) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let proxy = Proxy::new(judge, limits(Limits::new(LONG))).on_heard({
        let heard = Arc::clone(&heard);
        move |one| heard.lock().unwrap().push(one)
    });
    let proxy = Arc::new(change(proxy));
    let task = tokio::spawn(Arc::clone(&proxy).serve(listener));
    Running {
        address,
        proxy,
        heard,
        task,
    }
}

pub(crate) fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

/// All that comes until the end; a reset ends it too.
pub(crate) async fn to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..length]);
    }
    bytes
}

/// Reads until the bytes end in `end`, or the stream ends.
pub(crate) async fn until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(end) {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    bytes
}

pub(crate) async fn head(stream: &mut TcpStream) -> String {
    String::from_utf8(until(stream, b"\r\n\r\n").await).unwrap()
}

/// A server that serves each connection by `serve` and counts them.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn new<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::at("127.0.0.1:0", serve).await
    }

    pub(crate) async fn at<F>(
        address: &str,
        serve: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        Self {
            address,
            accepted,
            task,
        }
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Sends back what comes, and ends when the client has.
    pub(crate) async fn echo() -> Self {
        Self::new(|mut stream| async move {
            let (mut read, mut write) = stream.split();
            drop(tokio::io::copy(&mut read, &mut write).await);
            drop(write.shutdown().await);
        })
        .await
    }

    /// Reads a head, answers with `answer`, and closes.
    pub(crate) async fn answering(answer: &'static [u8]) -> Self {
        Self::new(move |mut stream| async move {
            until(&mut stream, b"\r\n\r\n").await;
            drop(stream.write_all(answer).await);
            drop(stream.shutdown().await);
            to_end(&mut stream).await;
        })
        .await
    }
}

/// The rows of a table of `spec/network`, each with so many cells.
pub(crate) fn table<const N: usize>(file: &str) -> Vec<[Vec<u8>; N]> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/network");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<_> = line.split('\t').map(unescaped).collect();
            cells
                .try_into()
                .unwrap_or_else(|_| panic!("cells of: {line}"))
        })
        .collect()
}

fn unescaped(cell: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (kind, after) = after.split_at(1);
        rest = after;
        match kind {
            "\\" => bytes.push(b'\\'),
            "t" => bytes.push(b'\t'),
            "n" => bytes.push(b'\n'),
            "r" => bytes.push(b'\r'),
            "x" => {
                let (digits, after) = after.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = after;
            }
            "u" => {
                let (digits, after) = after[1..].split_once('}').unwrap();
                let number = u32::from_str_radix(digits, 16).unwrap();
                let c = char::from_u32(number).unwrap();
                bytes.extend_from_slice(c.to_string().as_bytes());
                rest = after;
            }
            other => panic!("`\\{other}` in: {cell}"),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
