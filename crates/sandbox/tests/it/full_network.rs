//! The ways out of a closed network that walls may open: the port of a proxy, and single UNIX sockets.
//! Must not speak a proxy's protocol: what is said there is not the sandbox's business.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use tollgate_sandbox::{Confinement, Ended, Network, PROXY_PORT, Spawn, StartError};

use crate::kit::{self, Room, full, is_root, run_with, succeed_full, try_start};

const PYTHON: &str = "
import errno, os, socket, sys
def attempt(what):
    try:
        what(); print('ok', flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
def unix(path): socket.socket(socket.AF_UNIX).connect(path)
def tcp(port, host='127.0.0.1'): return socket.create_connection((host, port))
";

fn python(room: &Room, network: Network, script: &str) -> Spawn {
    let mut spawn = room.python(&format!("{PYTHON}{script}"));
    spawn.walls.network = network;
    spawn
}

#[test]
fn what_connects_to_the_proxy_inside_arrives_outside_and_nothing_else_gets_out() {
    let room = Room::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let port = other.local_addr().unwrap().port();
    let script = format!(
        "
proxy = tcp({PROXY_PORT})
proxy.send(b'question')
print(proxy.recv(6).decode(), flush=True)
for host, port in (('127.0.0.1', {port}), ('192.0.2.1', {PROXY_PORT}), ('::1', {PROXY_PORT})):
    attempt(lambda: tcp(port, host))
server = socket.create_server(('127.0.0.1', 0))
attempt(lambda: tcp(server.getsockname()[1]))
"
    );
    let spawn = python(&room, Network::Proxied, &script);
    let mut running = try_start(full(), &spawn).unwrap();
    let listener = running.child.take_listener().unwrap();
    assert!(running.child.take_listener().is_none());
    let (mut connection, _) = listener.accept().unwrap();
    let mut said = [0; 8];
    connection.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"question");
    connection.write_all(b"answer").unwrap();
    assert_eq!(
        running.rest(),
        "answer\nECONNREFUSED\nENETUNREACH\nECONNREFUSED\nok\n"
    );
    assert_eq!(running.child.wait().unwrap(), Ended::Code(0));
    assert!(other.accept().is_err());
}

#[test]
fn when_the_proxy_is_gone_connections_are_refused_and_nothing_gets_around_it() {
    let room = Room::new();
    let script = format!(
        "
print('ready', flush=True)
while not os.path.exists('go'): pass
attempt(lambda: tcp({PROXY_PORT}))
attempt(lambda: tcp(80, '192.0.2.1'))
"
    );
    let spawn = python(&room, Network::Proxied, &script);
    let mut running = try_start(full(), &spawn).unwrap();
    assert_eq!(running.line(), "ready");
    drop(running.child.take_listener());
    fs::write(room.inside.join("go"), "").unwrap();
    assert_eq!(running.rest(), "ECONNREFUSED\nENETUNREACH\n");
}

#[test]
fn dropping_a_command_drops_its_proxy() {
    let room = Room::new();
    let script = format!("proxy = tcp({PROXY_PORT}); print('ready', flush=True); proxy.recv(1)");
    let mut running = try_start(full(), &python(&room, Network::Proxied, &script)).unwrap();
    assert_eq!(running.line(), "ready");
    drop(running.child);
    // Ends when the last process that holds the output is dead.
    running.output.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn nobody_inside_can_take_the_port_of_the_proxy() {
    let room = Room::new();
    let script = format!(
        "
for address in ('127.0.0.1', ''):
    for option in (0, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        server = socket.socket()
        if option: server.setsockopt(socket.SOL_SOCKET, option, 1)
        attempt(lambda: server.bind((address, {PROXY_PORT})) or server.listen())
"
    );
    let spawn = python(&room, Network::Proxied, &script);
    assert_eq!(succeed_full(&spawn), "EADDRINUSE\n".repeat(6));
}

#[test]
fn commands_at_the_same_time_have_a_proxy_each() {
    let room = Room::new();
    let script = format!("tcp({PROXY_PORT}).send(sys.argv[1].encode())");
    let start = |name: &str| {
        let mut spawn = python(&room, Network::Proxied, &script);
        spawn.args.push(name.into());
        try_start(full(), &spawn).unwrap()
    };
    let mut all = ["first", "second", "third"].map(|name| (name, start(name)));
    for (name, running) in all.iter_mut().rev() {
        let listener = running.child.take_listener().unwrap();
        let mut said = String::new();
        let (mut connection, _) = listener.accept().unwrap();
        connection.read_to_string(&mut said).unwrap();
        assert_eq!(said, *name);
    }
}

#[test]
fn without_a_word_from_the_walls_there_is_no_proxy() {
    let room = Room::new();
    let spawn = python(
        &room,
        Network::Private,
        &format!("attempt(lambda: tcp({PROXY_PORT}))"),
    );
    let mut running = try_start(full(), &spawn).unwrap();
    assert!(running.child.take_listener().is_none());
    assert_eq!(running.rest(), "ECONNREFUSED\n");
}

#[test]
fn the_partial_tier_opens_neither_and_says_so() {
    let room = Room::new();
    let socket = room.outside.join("socket");
    let _agent = UnixListener::bind(&socket).unwrap();
    let script = format!(
        "
attempt(lambda: tcp({PROXY_PORT}))
attempt(lambda: unix(os.environ['OUT'] + '/socket'))
"
    );
    let mut spawn = python(&room, Network::Proxied, &script);
    spawn.walls.sockets.push(socket);
    let mut running = try_start(kit::launcher(), &spawn).unwrap();
    assert!(running.child.take_listener().is_none());
    assert_eq!(running.rest(), "EACCES\nEACCES\n");
    let Confinement::Partial { gaps, .. } = kit::launcher().confinement() else {
        panic!("not partial")
    };
    for said in ["single hosts", "UNIX sockets"] {
        assert!(gaps.iter().any(|gap| gap.about.contains(said)), "{said}");
    }
}

/// A service at a path: takes one connection and answers it.
fn agent(path: &Path) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"signed").unwrap())
}

#[test]
fn a_socket_that_is_opened_can_be_connected_to_and_nothing_beside_it_is_there() {
    let room = Room::new();
    let directory = room.outside.join("agents");
    fs::create_dir(&directory).unwrap();
    let _other = UnixListener::bind(directory.join("other")).unwrap();
    fs::write(directory.join("key"), "SECRET").unwrap();
    let served = agent(&directory.join("agent"));
    let script = "
agents = os.environ['OUT'] + '/agents'
agent = socket.socket(socket.AF_UNIX)
agent.connect(agents + '/agent'); print(agent.recv(6).decode())
print(os.listdir(agents), os.listdir(os.environ['OUT']))
attempt(lambda: unix(agents + '/other'))
attempt(lambda: open(agents + '/key'))
attempt(lambda: os.unlink(agents + '/agent'))
attempt(lambda: os.chmod(agents + '/agent', 0o600))
";
    let mut spawn = python(&room, Network::Private, script);
    spawn.walls.sockets = vec![directory.join("agent"), directory.join("not-there")];
    let text = succeed_full(&spawn);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("signed"));
    assert_eq!(lines.next(), Some("['agent'] ['agents']"));
    assert_eq!(lines.next(), Some("ENOENT"));
    assert_eq!(lines.next(), Some("ENOENT"));
    // What holds the place of a mount cannot be removed, and the mount cannot be written.
    let rest: Vec<&str> = lines.collect();
    assert!(
        ["EACCES", "EBUSY", "EROFS"].contains(&rest[0]) && rest[1..] == ["EROFS"],
        "{text}"
    );
    served.join().unwrap();
}

#[test]
fn a_socket_in_place_of_something_else_refuses_the_start() {
    let room = Room::new();
    symlink(room.outside.join("secret"), room.outside.join("link")).unwrap();
    for (name, errno) in [("secret", 88), ("link", 40)] {
        let mut spawn = room.bash("true");
        let socket = room.outside.join(name);
        spawn.walls.sockets.push(socket.clone());
        match try_start(full(), &spawn).map(drop) {
            Err(StartError::Wall { path, source }) => {
                assert_eq!((path, source.raw_os_error()), (socket, Some(errno)));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_masked_socket_stays_closed() {
    let room = Room::new();
    let directory = room.inside.join("keys");
    fs::create_dir(&directory).unwrap();
    let _agent = UnixListener::bind(directory.join("agent")).unwrap();
    let script = "attempt(lambda: unix('keys/agent'))";
    let mut spawn = python(&room, Network::Private, script);
    spawn.walls.sockets.push(directory.join("agent"));
    spawn.walls.masked.push(directory);
    let text = run_with(full(), &spawn).1;
    assert!(["ENOENT\n", "EACCES\n"].contains(&text.as_str()), "{text}");
}

#[test]
fn of_the_services_only_the_opened_one_is_there_even_where_the_whole_root_is_shown() {
    if !is_root() {
        return;
    }
    let room = Room::new();
    let name = format!("/run/tollgate-test-{}", std::process::id());
    fs::create_dir(&name).unwrap();
    let directory = Path::new(&name);
    let _other = UnixListener::bind(directory.join("other")).unwrap();
    let served = agent(&directory.join("agent"));
    let script = format!(
        "
agent = socket.socket(socket.AF_UNIX)
agent.connect('{name}/agent'); print(agent.recv(6).decode())
print(os.listdir('/run'), os.listdir('{name}'))
attempt(lambda: open('/run/new', 'w'))
attempt(lambda: os.chmod('/run', 0o700))
"
    );
    let mut spawn = python(&room, Network::Private, &script);
    spawn.walls.readable = vec!["/".into()];
    spawn.walls.sockets.push(directory.join("agent"));
    let (ended, text) = run_with(full(), &spawn);
    fs::remove_dir_all(&name).unwrap();
    let shown = directory.file_name().unwrap().to_str().unwrap();
    let expected = format!("signed\n['{shown}'] ['agent']\nEACCES\nEROFS\n");
    assert!(
        ended == Ended::Code(0)
            && (text == expected || text == expected.replace("EACCES", "EROFS")),
        "{text}"
    );
    served.join().unwrap();
}
