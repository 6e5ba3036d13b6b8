//! Where an address leads: into public, or to somewhere a name must not lead to unseen.
//!
//! Must not let an address through as public because it is unknown: what is not global unicast is
//! [`Place::Reserved`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The public network.
    Public,
    /// This machine.
    Loopback,
    /// A network of somebody's own: RFC 1918, and RFC 4193 or site-local in IPv6.
    Private,
    /// This link only.
    LinkLocal,
    /// A carrier's shared range, RFC 6598.
    Shared,
    /// What tells a cloud machine its credentials.
    Metadata,
    /// No address at all.
    Unspecified,
    /// A group of machines, or all.
    Multicast,
    /// For documentation, tests, translation or the future.
    Reserved,
}

impl Place {
    /// What it is called in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Public => "a public address",
            Self::Loopback => "an address of this machine",
            Self::Private => "an address of a private network",
            Self::LinkLocal => "a link-local address",
            Self::Shared => "an address of a carrier's shared network",
            Self::Metadata => "the metadata service of a cloud",
            Self::Unspecified => "no address",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
        }
    }
}

/// Addresses that hand credentials to whoever asks from inside a cloud. The first lies in a public
/// range; the others would be refused anyway and are listed for the word.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Ranges of IPv4 that are not public, by the registry of special-purpose addresses (RFC 6890).
const RANGES_V4: [(Ipv4Addr, u32, Place); 15] = [
    (Ipv4Addr::UNSPECIFIED, 8, Place::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Place::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Place::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Place::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Place::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Place::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Place::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Place::Reserved),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Place::Reserved),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Place::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Place::Reserved),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Place::Reserved),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Place::Reserved),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Place::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Place::Reserved),
];

/// Where `address` leads. An IPv4 address inside an IPv6 one (mapped, or behind NAT64) is judged as
/// what it is.
pub fn place(address: IpAddr) -> Place {
    match address.to_canonical() {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => place_v6(address),
    }
}

fn place_v4(address: Ipv4Addr) -> Place {
    if METADATA_V4.contains(&address) {
        return Place::Metadata;
    }
    for (start, bits, place) in RANGES_V4 {
        if (address.to_bits() ^ start.to_bits()) >> (32 - bits) == 0 {
            return place;
        }
    }
    Place::Public
}

fn place_v6(address: Ipv6Addr) -> Place {
    if METADATA_V6.contains(&address) {
        return Place::Metadata;
    }
    if address.is_unspecified() {
        return Place::Unspecified;
    }
    if address.is_loopback() {
        return Place::Loopback;
    }
    let bits = address.to_bits();
    let starts_with = |start: u128, length: u32| (bits ^ start) >> (128 - length) == 0;
    if starts_with(0xff00 << 112, 8) {
        return Place::Multicast;
    }
    if starts_with(0xfe80 << 112, 10) {
        return Place::LinkLocal;
    }
    if starts_with(0xfc00 << 112, 7) || starts_with(0xfec0 << 112, 10) {
        return Place::Private;
    }
    // NAT64 (RFC 6052): on networks without IPv4 every old host has such an address.
    if starts_with(0x0064_ff9b << 96, 96) {
        let [.., a, b, c, d] = address.octets();
        return place_v4(Ipv4Addr::new(a, b, c, d));
    }
    let is_global = starts_with(0x2000 << 112, 3);
    // Protocol assignments with Teredo; documentation, old and new; 6to4.
    let is_special = starts_with(0x2001 << 112, 23)
        || starts_with(0x2001_0db8 << 96, 32)
        || starts_with(0x3fff << 112, 20)
        || starts_with(0x2002 << 112, 16);
    if is_global && !is_special {
        Place::Public
    } else {
        Place::Reserved
    }
}
