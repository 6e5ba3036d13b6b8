//! Hosts and targets in their one canonical spelling, so that what is judged is what is dialled.
//!
//! Must not look a name up; it knows text alone.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use crate::place::{Place, place};

/// Longer texts are no host; a name has at most 253 bytes once it is ASCII.
const TEXT_BYTES_MAX: usize = 1024;

/// A name or an address. Two hosts are equal if they are the same host by their text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(Kind);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    /// ASCII, lower case, no dot at the end, no label empty; never a spelling of an address.
    Name(String),
    /// Never an IPv4 address in the form of an IPv6 one.
    Address(IpAddr),
}

/// Why a text is no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostFault {
    /// Nothing, or more than any host has.
    #[error("a host has from 1 to 253 bytes")]
    Length,
    /// A control character, NUL or white space, which programs read in different ways.
    #[error("a host has no control character, NUL or white space")]
    Character,
    /// A percent sign: an escape, or the zone of an address.
    #[error("a host has no percent sign")]
    Percent,
    /// A dot at the end, a second spelling of the same name.
    #[error("a host has no dot at its end")]
    TrailingDot,
    /// The last label is a number, but the whole is no IPv4 address; or it has a colon, but is no
    /// IPv6 address.
    #[error("this is no address, though it looks like one")]
    Address,
    /// Not letters, digits, `-` and `_` in labels of up to 63 bytes, also after IDNA.
    #[error("this is no host name")]
    Name,
    /// No port from 1 to 65535 behind the last colon.
    #[error("a port from 1 to 65535 is missing")]
    Port,
}

impl Host {
    /// Reads a name, an IPv4 address in any form that a C library takes (`127.1`, `0x7f000001`), or
    /// an IPv6 address with or without brackets.
    ///
    /// # Errors
    /// What is wrong, where the text is none of these.
    pub fn parse(text: &str) -> Result<Self, HostFault> {
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            return Err(HostFault::Length);
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(HostFault::Character);
        }
        if text.contains('%') {
            return Err(HostFault::Percent);
        }
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(HostFault::Address)?;
            return ipv6(inner);
        }
        if text.contains(':') {
            return ipv6(text);
        }
        if text.ends_with('.') {
            return Err(HostFault::TrailingDot);
        }
        // Widths, case and forms of dots are folded before anything is compared or taken for a number.
        let name = Uts46::new()
            .to_ascii(
                text.as_bytes(),
                AsciiDenyList::URL,
                Hyphens::CheckFirstLast,
                DnsLength::Ignore,
            )
            .map_err(|_| HostFault::Name)?;
        if name.ends_with('.') {
            return Err(HostFault::TrailingDot);
        }
        if name.is_empty() || name.len() > 253 {
            return Err(HostFault::Length);
        }
        if !name.split('.').all(is_label) {
            return Err(HostFault::Name);
        }
        if name.rsplit('.').next().is_some_and(is_number) {
            let address = ipv4(&name).ok_or(HostFault::Address)?;
            return Ok(Self::from(IpAddr::V4(address)));
        }
        Ok(Self(Kind::Name(name.into_owned())))
    }

    /// The name; nothing if this is an address.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Name(name) => Some(name),
            Kind::Address(_) => None,
        }
    }

    /// The address; nothing if this is a name.
    pub fn address(&self) -> Option<IpAddr> {
        match &self.0 {
            Kind::Name(_) => None,
            Kind::Address(address) => Some(*address),
        }
    }
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self(Kind::Address(address.to_canonical()))
    }
}

/// A name, an IPv4 address, or an IPv6 address in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Name(name) => f.write_str(name),
            Kind::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Kind::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// What a connection is for. Written `host:port`, which is also the pattern of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The TCP port.
    pub port: u16,
}

impl Target {
    /// Where it leads, as far as its text tells; nothing for a name. An address that is not public is
    /// dialled if the judge says yes, so a judge should want more for it than a rule for all hosts.
    pub fn place(&self) -> Option<Place> {
        self.host.address().map(place)
    }

    /// Reads `host:port`; an IPv6 address stands in brackets.
    ///
    /// # Errors
    /// What is wrong with the host or the port.
    pub fn parse(text: &str) -> Result<Self, HostFault> {
        let (host, port) = text.rsplit_once(':').ok_or(HostFault::Port)?;
        // Without brackets it cannot be told which colon is the last of the address.
        if host.contains(':') && !host.starts_with('[') {
            return Err(HostFault::Address);
        }
        Ok(Self {
            host: Host::parse(host)?,
            port: self::port(port)?,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self {
            host: Host::from(address.ip()),
            port: address.port(),
        }
    }
}

/// Reads a port: digits alone, not 0.
pub(crate) fn port(text: &str) -> Result<u16, HostFault> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(HostFault::Port);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err(HostFault::Port),
        Ok(port) => Ok(port),
    }
}

fn ipv6(text: &str) -> Result<Host, HostFault> {
    let address: Ipv6Addr = text.parse().map_err(|_| HostFault::Address)?;
    Ok(Host::from(IpAddr::V6(address)))
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

/// Whether a C library would take this label for a part of an IPv4 address.
fn is_number(label: &str) -> bool {
    if let Some(digits) = label.strip_prefix("0x") {
        return digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    label.bytes().all(|byte| byte.is_ascii_digit())
}

/// One to four parts, decimal, octal or hexadecimal; the last fills all bytes that are left.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut parts = Vec::new();
    for part in text.split('.') {
        parts.push(number(part)?);
    }
    let last = parts.pop()?;
    if parts.len() > 3 || parts.iter().any(|part| *part > 255) {
        return None;
    }
    let mut whole: u32 = 0;
    for part in &parts {
        whole = (whole << 8) | part;
    }
    let bits_left = 32 - 8 * u32::try_from(parts.len()).ok()?;
    if bits_left < 32 && last >> bits_left != 0 {
        return None;
    }
    let whole = whole.checked_shl(bits_left).unwrap_or(0) | last;
    Some(Ipv4Addr::from(whole))
}

fn number(part: &str) -> Option<u32> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') => (part, 8),
        None => (part, 10),
    };
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}
