//! The rows of the conformance suite that need walls around a process, in the full tier, each as it stands.

use crate::world::World;
use conform::testkit::Action::{self, Allow, Deny};
use gate::{
    g3_confine::Confinement,
    host::{Ended, Exit, Host as _},
};
use proxy::{BoxFuture, Judge, Limits, Proxy, Resolver, Target};
use serde_json::Value;
use std::{
    env, fs, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tollgate_host::LocalHost;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/cases.tsv");

/// What the rows were when this was written; fewer would go unnoticed otherwise.
const COMMANDS: usize = 12;

/// The id, the input and what is expected, of every row about the sandbox.
fn rows() -> Vec<(String, Value, Value)> {
    let text = fs::read_to_string(CASES).unwrap();
    let rows = text.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let walled = rows.filter(|row| row.get(1) == Some(&"sandbox"));
    walled
        .map(|row| {
            let json = |at: usize| serde_json::from_str(row[at]).unwrap();
            (row[0].to_owned(), json(2), json(3))
        })
        .collect()
}

/// Whether a row is about connections, which no command makes.
fn is_of_proxy(input: &Value) -> bool {
    input["profile"]["network"] == "proxy"
}

/// The world of a row: a repository and a secret in the workspace, a canary and a socket outside.
struct Scene {
    world: World,
    host: LocalHost,
    _socket: UnixListener,
}

impl Scene {
    fn of(profile: &Value) -> Self {
        let world = World::new();
        world.put("ws/.git/HEAD", "ref: refs/heads/main\n");
        world.put("ws/.git/config", "[core]\n");
        world.put("ws/.env", "hunter2");
        world.put("outside/canary", "alive");
        world.put("home/file", "");
        world.put(
            "ws/Cargo.toml",
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        );
        world.put("ws/src/main.rs", "fn main() {}\n");
        let home = world.path("home").display().to_string();
        let mut rules: Vec<(String, String, Action)> = vec![("bash".into(), "*".into(), Allow)];
        let listed = |key: &str| {
            let list = profile[key].as_array().cloned().unwrap_or_default();
            let text = |it: Value| it.as_str().unwrap().replace("<HOME>", &home);
            list.into_iter().map(text).collect::<Vec<_>>()
        };
        for path in listed("write").into_iter().filter(|it| it != "<WS>") {
            rules.push(("external_directory".into(), format!("{path}/*"), Allow));
        }
        for path in listed("deny_write") {
            rules.push(("edit".into(), path, Deny));
        }
        for path in listed("deny_read") {
            rules.push(("read".into(), path, Deny));
        }
        let rules: Vec<_> = rules
            .iter()
            .map(|(permission, pattern, action)| (permission.as_str(), pattern.as_str(), *action))
            .collect();
        let world = world.under_rules(&rules);
        let is_cargo = !listed("presets").is_empty();
        let host = world.open(|options| {
            if is_cargo {
                options.path = env::var_os("PATH");
                options.home = env::var_os("HOME").map(PathBuf::from);
                options.environment = vec![("HOME".into(), env::var_os("HOME").unwrap())];
            }
        });
        let host = host.unwrap();
        assert_eq!(host.confinement(), Confinement::Full);
        let socket = UnixListener::bind(world.path("outside/socket")).unwrap();
        Self {
            world,
            host,
            _socket: socket,
        }
    }

    fn text(&self, of_row: &Value) -> String {
        let place = |path: &str| self.world.path(path).display().to_string();
        of_row
            .as_str()
            .unwrap()
            .replace("<WS>", &place("ws"))
            .replace("<OUT>", &place("outside"))
            .replace("<HOME>", &place("home"))
            .replace("<SOCK>", &place("outside/socket"))
    }

    /// Runs a line from a file, so that no word of it opens what it names.
    fn run(&self, line: &Value) -> Ended {
        self.world.put("ws/script.sh", self.text(line));
        self.world
            .run_for(&self.host, "bash script.sh", None, 300_000)
            .unwrap()
    }
}

#[test]
fn every_row_about_the_sandbox_holds_around_a_real_command() {
    let rows: Vec<_> = rows()
        .into_iter()
        .filter(|(_, input, _)| !is_of_proxy(input))
        .collect();
    assert_eq!(rows.len(), COMMANDS);
    for (id, input, expected) in rows {
        let scene = Scene::of(&input["profile"]);
        let host_file = expected.get("host_file_absent").and_then(Value::as_str);
        if let Some(path) = host_file {
            assert!(!Path::new(path).exists(), "{id}: {path} is there before");
        }
        let mut ended = scene.run(&input["command"]);
        if let Some(then) = expected.get("then") {
            assert_eq!(ended.exit, Exit::Code(0), "{id}: {ended:?}");
            ended = scene.run(&then["command"]);
        }
        let said = String::from_utf8_lossy(&ended.tail).into_owned();
        for (key, wanted) in expected.as_object().unwrap() {
            match key.as_str() {
                "exit_nonzero" => {
                    assert!(matches!(ended.exit, Exit::Code(1..)), "{id}: {ended:?}");
                }
                "exit" => assert_eq!(ended.exit, Exit::Code(0), "{id}: {said}"),
                "output" => assert_eq!(said, wanted.as_str().unwrap(), "{id}"),
                "canary_unchanged" => {
                    assert_eq!(scene.world.text("outside/canary"), "alive", "{id}");
                    assert!(!scene.world.path("outside/p").exists(), "{id}");
                }
                "host_file_absent" => {
                    assert!(!Path::new(wanted.as_str().unwrap()).exists(), "{id}");
                }
                "then" => {}
                other => assert_eq!(other, "", "{id}: nothing here answers it"),
            }
        }
        assert!(!said.contains("hunter2"), "{id}: {said}");
    }
}

/// Lets through what the patterns of a row name, `*.` for any label in front, and keeps what it was asked.
struct Listed {
    allowed: Vec<String>,
    asked: Mutex<Vec<String>>,
}

impl Judge for Listed {
    fn may_reach(&self, target: Target) -> BoxFuture<'_, Result<(), String>> {
        let name = target.host.to_string();
        let is_named = self.allowed.iter().any(|pattern| {
            pattern
                .strip_prefix('*')
                .map_or(*pattern == name, |end| name.ends_with(end))
        });
        self.asked.lock().unwrap().push(name);
        Box::pin(async move {
            if is_named {
                Ok(())
            } else {
                Err("no rule".to_owned())
            }
        })
    }
}

/// Every name leads to one address, which is nobody's: that it was dialled shows in what is said.
struct Anywhere(Mutex<Vec<String>>);

impl Resolver for Anywhere {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.0.lock().unwrap().push(name.to_owned());
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

/// What became of one connection.
#[derive(Debug, PartialEq, Eq)]
enum Decided {
    /// It was looked up to be dialled.
    Dialled,
    Refused,
}

/// Sends these bytes to a proxy that lets through what `allowed` names.
fn decided(allowed: &Value, request: &[&[u8]]) -> (Decided, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let judge = Arc::new(Listed {
        allowed: allowed.as_array().unwrap().iter().map(text).collect(),
        asked: Mutex::default(),
    });
    let names = Arc::new(Anywhere(Mutex::default()));
    let proxy = Proxy::new(
        Arc::clone(&judge) as Arc<dyn Judge>,
        Limits::new(Duration::from_mins(10)),
    );
    let proxy = Arc::new(proxy.with_resolver(Arc::clone(&names) as Arc<dyn Resolver>));
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let task = tokio::spawn(proxy.serve(listener));
        let mut client = TcpStream::connect(address).await.unwrap();
        for part in request {
            client.write_all(part).await.unwrap();
        }
        drop(client.shutdown().await);
        let mut said = Vec::new();
        // A reset ends it as well.
        drop(client.read_to_end(&mut said).await);
        task.abort();
    });
    let is_dialled = !names.0.lock().unwrap().is_empty();
    let decided = if is_dialled {
        Decided::Dialled
    } else {
        Decided::Refused
    };
    let asked = judge.asked.lock().unwrap().clone();
    (decided, asked)
}

fn socks(name: &[u8]) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    [&[5, 1, 0, 3, length], name, &[1, 187]].concat()
}

fn connect(host: &str) -> Vec<u8> {
    format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
}

#[test]
fn a_name_with_a_nul_in_it_is_connected_to_by_no_rule() {
    let row = rows().into_iter().find(|(id, ..)| id == "CC238").unwrap();
    let allowed = &row.1["profile"]["allow"];
    let greeting: &[u8] = &[5, 1, 0];
    let plain = decided(allowed, &[greeting, &socks(b"x.allowed.test")]);
    assert_eq!(plain.0, Decided::Dialled, "the row would prove nothing");
    let (made, asked) = decided(allowed, &[greeting, &socks(b"evil.test\0.allowed.test")]);
    assert_eq!((made, asked), (Decided::Refused, vec![]));
    assert_eq!(row.2["connected"], false);
}

/// `CC239` wants both spellings decided like `allowed.test`. The capital letters are. A dot at the end is no host to
/// the proxy: nobody is asked, and where the rules allow the plain name that is stricter than the row has it.
#[test]
fn no_spelling_of_a_name_gets_more_than_the_plain_one() {
    let row = rows().into_iter().find(|(id, ..)| id == "CC239").unwrap();
    assert_eq!(row.2["same_decision_as"], "allowed.test");
    let allowed = &row.1["profile"]["allow"];
    let none = serde_json::json!([]);
    for (rules, wanted) in [(allowed, Decided::Dialled), (&none, Decided::Refused)] {
        for spelling in ["allowed.test:443", "ALLOWED.TEST:443"] {
            let (made, asked) = decided(rules, &[&connect(spelling)]);
            assert_eq!(
                (&made, asked.as_slice()),
                (&wanted, &["allowed.test".to_owned()][..])
            );
        }
        let (made, asked) = decided(rules, &[&connect("allowed.test.:443")]);
        assert_eq!((made, asked), (Decided::Refused, vec![]));
    }
}
