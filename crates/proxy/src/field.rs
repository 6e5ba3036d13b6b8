//! The lines of a head, read so strictly that two readers cannot differ about them.
//!
//! Must not repair anything: a line that is not plainly right is a fault.

/// Why a head or body was not understood. The text is shown to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Fault(pub(crate) &'static str);

/// One field line; the name as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: Vec<u8>,
}

impl Field {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// The field lines of a head in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields(pub(crate) Vec<Field>);

impl Fields {
    /// Reads lines that each end in CR LF.
    pub(crate) fn parse(mut lines: &[u8]) -> Result<Self, Fault> {
        let mut fields = Vec::new();
        while !lines.is_empty() {
            let (line, rest) = line(lines)?;
            fields.push(field(line)?);
            lines = rest;
        }
        Ok(Self(fields))
    }

    /// The values of every field of that name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        let named = self.0.iter().filter(move |field| field.is(name));
        named.map(|field| field.value.as_slice())
    }

    /// The only value of that name; nothing if there is none.
    pub(crate) fn only(&self, name: &str, twice: Fault) -> Result<Option<&[u8]>, Fault> {
        let mut found = None;
        for field in self.0.iter().filter(|field| field.is(name)) {
            if found.replace(field.value.as_slice()).is_some() {
                return Err(twice);
            }
        }
        Ok(found)
    }

    /// Whether a list of that name has `token` in it.
    pub(crate) fn lists(&self, name: &str, token: &str) -> bool {
        self.tokens(name)
            .any(|found| found.eq_ignore_ascii_case(token.as_bytes()))
    }

    /// The fields that go on to the other side: not those of this connection alone, and none that
    /// says how long the body is, since that is written anew.
    pub(crate) fn end_to_end(&self) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(|field| !self.is_of_one_hop(field))
    }

    fn is_of_one_hop(&self, field: &Field) -> bool {
        let is_known = HOP.iter().any(|name| field.is(name));
        is_known || CONNECTION.iter().any(|list| self.lists(list, &field.name))
    }

    fn tokens<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.all(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
    }
}

/// Fields whose values name further fields of one hop.
const CONNECTION: [&str; 2] = ["connection", "proxy-connection"];

/// Fields that are for one connection only (RFC 9110, 7.6.1), and those that frame the body.
const HOP: [&str; 11] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "content-length",
    "upgrade",
    "http2-settings",
];

/// Splits off the first line; its CR LF is gone.
pub(crate) fn line(text: &[u8]) -> Result<(&[u8], &[u8]), Fault> {
    let end = text.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or(Fault("a line does not end"))?;
    let (line, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
    let line = line.strip_suffix(b"\r").ok_or(BARE_LF)?;
    if line.contains(&b'\r') {
        return Err(BARE_CR);
    }
    if line.contains(&0) {
        return Err(Fault("a head holds no NUL"));
    }
    Ok((line, rest.strip_prefix(b"\n").unwrap_or(rest)))
}

pub(crate) const BARE_LF: Fault = Fault("a line ends in LF without CR");
pub(crate) const BARE_CR: Fault = Fault("a line holds CR without LF");

fn field(line: &[u8]) -> Result<Field, Fault> {
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return Err(Fault("a field is folded over two lines"));
    }
    let colon = line.iter().position(|byte| *byte == b':');
    let colon = colon.ok_or(Fault("a field has no colon"))?;
    let (name, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
    let value = value.strip_prefix(b":").unwrap_or(value);
    let name = token(name).ok_or(Fault("the name of a field is no token"))?;
    if value.iter().any(|byte| is_control(*byte)) {
        return Err(Fault("a field holds a control character"));
    }
    let value = value.trim_ascii();
    Ok(Field {
        name: name.to_owned(),
        value: value.to_vec(),
    })
}

/// A token of RFC 9110, 5.6.2.
pub(crate) fn token(bytes: &[u8]) -> Option<&str> {
    let is_token = !bytes.is_empty()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte));
    if is_token {
        str::from_utf8(bytes).ok()
    } else {
        None
    }
}

/// A control character other than the tab.
pub(crate) fn is_control(byte: u8) -> bool {
    byte != b'\t' && byte.is_ascii_control()
}
