//! The machines of a shell line. Must not look a name up.

use policy::Subject;
use std::net::IpAddr;

/// A machine. One that a program may reach by itself, and no word names, is possible: that it is
/// reached is asked when it is.
pub(super) fn machine(host: &command::Host, is_walled: bool) -> Subject {
    let mut subject = match host.port {
        Some(port) => Subject::name("network", format!("{}:{port}", host.name)),
        None => Subject::name("network", host.name.as_str()),
    };
    // Behind walls a command has a loopback of its own, or none.
    let is_own = is_walled && is_loopback(&host.name);
    subject.is_possible = host.is_of_program || is_own;
    subject.is_beside = true;
    subject
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}
