//! The one way out of a command's own network, with real sockets on the loopback.

use crate::world::World;
use conform::testkit::Action::{Allow, Ask, Deny};
use gate::{g3_confine::Confinement, host::Host as _};
use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread,
};

/// A server outside that answers each connection with the same words.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            drop(stream.read(&mut head));
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\noutside";
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    address
}

/// A command that asks the proxy for it and shows the answer.
fn asking(address: SocketAddr) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://{address}/ HTTP/1.1\\r\\nHost: {address}\\r\\n\
         Connection: close\\r\\n\\r\\n' >&3; cat <&3; echo \"${{HTTP_PROXY-none}}\""
    )
}

/// What the command is told, and which machines it might not reach.
fn reached(
    address: SocketAddr,
    rules: &[(&str, &str, conform::testkit::Action)],
) -> (String, Vec<String>) {
    let world = World::under(rules);
    let host = world.host();
    assert_eq!(host.confinement(), Confinement::Full);
    world.put("ws/ask.sh", asking(address));
    let ended = world.run(&host, "bash ask.sh").unwrap();
    (
        String::from_utf8_lossy(&ended.tail).into_owned(),
        ended.refused,
    )
}

#[test]
fn a_machine_that_a_rule_names_is_reached_through_the_proxy_alone() {
    let address = server();
    let named = address.to_string();
    let (said, refused) = reached(
        address,
        &[("network", "*", Ask), ("network", &named, Allow)],
    );
    assert!(
        said.contains("outside") && said.contains("http://127.0.0.1:3128"),
        "{said}"
    );
    assert_eq!(refused, [""; 0]);

    let world = World::under(&[("network", &named, Allow)]);
    let line = format!("exec 3<>/dev/tcp/{}/{}", address.ip(), address.port());
    world.put("ws/straight.sh", format!("{line} && echo reached"));
    let ended = world.run(&world.host(), "bash straight.sh").unwrap();
    let said = String::from_utf8_lossy(&ended.tail).into_owned();
    assert!(said.contains("Connection refused"), "{said}");
}

#[test]
fn a_machine_that_is_asked_about_is_reached_by_a_yes() {
    let address = server();
    let (said, refused) = reached(address, &[("network", "*", Ask)]);
    assert!(said.contains("outside"), "{said}");
    assert_eq!(refused, [""; 0]);
}

#[test]
fn a_machine_that_is_denied_is_not_reached_and_told_of() {
    let address = server();
    let named = address.to_string();
    let (said, refused) = reached(address, &[("network", &named, Deny)]);
    assert!(said.contains("403") && !said.contains("outside"), "{said}");
    assert_eq!(refused, [named]);
}

#[test]
fn where_rules_close_the_network_whole_there_is_no_way_out() {
    let address = server();
    let (said, refused) = reached(address, &[("network", "*", Deny)]);
    assert!(
        said.contains("Connection refused") && !said.contains("outside"),
        "{said}"
    );
    assert!(said.contains("none"), "{said}");
    assert_eq!(refused, [""; 0]);
}
