//! How hosts are spelled, and where addresses lead.

use proptest::prelude::*;
use tollgate_proxy::{Host, HostFault, Place, Target, place};

use crate::kit::{host, table};

#[test]
fn each_host_of_the_table_is_spelled_in_one_way_or_refused() {
    let mut faults = Vec::new();
    for [text, expected] in table::<2>("hosts.tsv") {
        let text = String::from_utf8(text).unwrap();
        let expected = String::from_utf8(expected).unwrap();
        let found = Host::parse(&text).map_or("refused".to_owned(), |host| host.to_string());
        if found != expected {
            faults.push(format!("{text:?}: {found}, not {expected}"));
        }
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn each_address_of_the_table_leads_where_it_says() {
    let mut faults = Vec::new();
    for [address, expected] in table::<2>("addresses.tsv") {
        let address = String::from_utf8(address).unwrap();
        let found = match place(address.parse().unwrap()) {
            Place::Public => "public",
            Place::Loopback => "loopback",
            Place::Private => "private",
            Place::LinkLocal => "link-local",
            Place::Shared => "shared",
            Place::Metadata => "metadata",
            Place::Unspecified => "unspecified",
            Place::Multicast => "multicast",
            Place::Reserved => "reserved",
        };
        if found.as_bytes() != expected {
            faults.push(format!("{address}: {found}"));
        }
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn the_longest_name_has_253_bytes() {
    let label = "a".repeat(62);
    let name = [label.as_str(); 4].join(".");
    assert_eq!(name.len(), 251);
    assert!(Host::parse(&format!("{name}a")).is_ok());
    let longest = format!("{name}.a");
    assert_eq!(host(&longest).name(), Some(longest.as_str()));
    assert_eq!(Host::parse(&format!("{longest}a")), Err(HostFault::Length));
    assert_eq!(Host::parse(&"a".repeat(1 << 20)), Err(HostFault::Length));
}

#[test]
fn a_target_has_a_host_and_a_port() {
    for (text, expected) in [
        ("Example.com:443", "example.com:443"),
        ("127.1:080", "127.0.0.1:80"),
        ("[::1]:65535", "[::1]:65535"),
        ("[::ffff:1.2.3.4]:1", "1.2.3.4:1"),
    ] {
        assert_eq!(Target::parse(text).unwrap().to_string(), expected);
    }
    let place = |text| Target::parse(text).unwrap().place();
    assert_eq!(place("localhost:80"), None);
    assert_eq!(place("0x7f.1:80"), Some(Place::Loopback));
    for text in [
        "example.com",
        "example.com:",
        "example.com:0",
        "example.com:65536",
        "example.com:+80",
        "example.com: 80",
        "example.com:80 ",
        "::1:80",
        "[::1]",
        ":80",
        "",
        "a:b:80",
    ] {
        assert!(Target::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_stops_the_reader(text in any::<String>()) {
        drop(Host::parse(&text));
        drop(Target::parse(&text));
    }

    #[test]
    fn what_is_written_is_read_as_the_same(
        text in r"([a-zA-Z0-9_\-\.\[\]:x%\u{e0}-\u{ff}\u{ff10}-\u{ff19}]{1,24}|[0-9x\.]{1,14})"
    ) {
        if let Ok(host) = Host::parse(&text) {
            prop_assert_eq!(Host::parse(&host.to_string()), Ok(host));
        }
    }

    #[test]
    fn a_name_holds_nothing_that_two_programs_read_in_two_ways(text in any::<String>()) {
        if let Ok(host) = Host::parse(&text) && let Some(name) = host.name() {
            let is_plain = name.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte)
            });
            prop_assert!(is_plain);
            prop_assert!(name.parse::<std::net::IpAddr>().is_err());
        }
    }

    #[test]
    fn an_address_is_the_same_mapped_and_plain(bits in any::<u32>()) {
        let plain = std::net::Ipv4Addr::from_bits(bits);
        prop_assert_eq!(place(plain.into()), place(plain.to_ipv6_mapped().into()));
        for text in [bits.to_string(), format!("0x{bits:x}"), format!("[::ffff:{plain}]")] {
            prop_assert_eq!(host(&text).address(), Some(plain.into()));
        }
    }
}
