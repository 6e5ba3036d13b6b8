//! This machine, its neighbours and what tells a cloud machine its credentials answer whoever comes from
//! inside. An allow of every machine is not meant for them: reaching one asks, unless a rule names it.
//!
//! Must not: look a name up. A name that leads into private is for whoever dials to refuse.

use super::{Around, Guarded, is_broad};
use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};
use crate::subject::Subject;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

/// What asks.
static GUARD: LazyLock<Rule> = LazyLock::new(|| {
    let origin = Origin::named("hardening: machines nearby");
    Rule::new("network", Pattern::wildcard("*"), Action::Ask, origin)
});

/// The ends of names that no public machine has (RFC 6761, RFC 6762, and ICANN's choice for private use).
const NEARBY: [&str; 5] = ["localhost", "local", "internal", "home.arpa", "localdomain"];

/// Speaks where no rule, or a broad one, allows or asks. What only may be reached is asked about when it is.
pub(crate) fn guard(subject: &Subject, around: Around<'_>) -> Option<Guarded> {
    let is_asked = subject.permission == "network" && !subject.is_possible;
    let is_meant = |rule: &Rule| !is_broad(rule) && names_a_machine(rule.pattern.text());
    if !(is_asked && !around.found.is_some_and(is_meant) && is_nearby(&subject.canonical)) {
        return None;
    }
    Some(Guarded {
        rule: &GUARD,
        note: "a rule this broad is not meant for machines nearby",
        once_only: None,
    })
}

/// Whether a pattern says which machine it means, and not only which port.
fn names_a_machine(pattern: &str) -> bool {
    let host = host_of(pattern);
    let is_address = host.contains(['.', ':']) && host.contains(|it: char| it.is_ascii_digit());
    is_address || host.contains(char::is_alphabetic)
}

/// Whether `host`, `host:port` or `[address]:port` is a machine that the public network does not reach.
fn is_nearby(target: &str) -> bool {
    let host = host_of(target);
    if let Ok(address) = host.parse::<IpAddr>() {
        return match address {
            IpAddr::V4(address) => is_nearby_v4(address),
            IpAddr::V6(address) => is_nearby_v6(address),
        };
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let ends_in = |end: &&str| {
        let rest = name.strip_suffix(*end);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    NEARBY.iter().any(ends_in)
}

fn host_of(target: &str) -> &str {
    if let Some(rest) = target.strip_prefix('[') {
        return rest.split_once(']').map_or(rest, |(host, _)| host);
    }
    match target.split_once(':') {
        // More colons than one stand in an address.
        Some((host, port)) if !port.contains(':') => host,
        _ => target,
    }
}

fn is_nearby_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_own = address.is_private() || address.is_loopback() || address.is_link_local();
    is_own || is_shared || first == 0 || first >= 224
}

fn is_nearby_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_nearby_v4(inner);
    }
    // Global unicast is 2000::/3; all else is this machine, a link, a network of one's own or a group.
    address
        .segments()
        .first()
        .is_none_or(|first| first >> 13 != 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_nearby_are_told_by_name_and_number() {
        for (target, want) in [
            ("localhost:3000", true),
            ("api.localhost", true),
            ("printer.local:631", true),
            ("metadata.google.internal", true),
            ("buildbox", false),
            ("127.0.0.1:80", true),
            ("127.9.9.9", true),
            ("10.1.2.3:22", true),
            ("172.31.0.1", true),
            ("192.168.1.1:443", true),
            ("169.254.169.254:80", true),
            ("100.64.0.1", true),
            ("0.0.0.0:1", true),
            ("224.0.0.1", true),
            ("[::1]:80", true),
            ("::1", true),
            ("[fd00:ec2::254]:80", true),
            ("[fe80::1]:1", true),
            ("[::ffff:10.0.0.1]:1", true),
            ("example.com:443", false),
            ("local.example.com", false),
            ("mylocal.org:1", false),
            ("8.8.8.8:53", false),
            ("172.32.0.1", false),
            ("100.128.0.1", false),
            ("[2606:4700::1]:443", false),
        ] {
            assert_eq!(is_nearby(target), want, "{target}");
        }
    }

    #[test]
    fn only_a_rule_that_names_one_is_meant() {
        let layers = crate::ruleset::RuleLayers::default();
        let rule = |pattern: &str| {
            let pattern = Pattern::wildcard(pattern);
            Rule::new("network", pattern, Action::Allow, Origin::named("t"))
        };
        for (pattern, want) in [
            ("*", true),
            ("*:*", true),
            ("*:80", true),
            ("*80", true),
            ("local*", false),
            ("localhost:*", false),
            ("127.0.0.1:80", false),
        ] {
            let rule = rule(pattern);
            let around = Around {
                found: Some(&rule),
                layers: &layers,
            };
            let mut subject = Subject::name("network", "localhost:80");
            assert_eq!(guard(&subject, around).is_some(), want, "{pattern}");
            subject.is_possible = true;
            assert!(guard(&subject, around).is_none());
        }
    }
}
