//! File bytes as numbered lines for the read tool. Must not guess an encoding: bytes that are not
//! UTF-8 are said to be so, never repaired.

use crate::truncate::Limits;
use std::ffi::OsStr;
use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

/// Longer lines are cut for display, in characters.
pub const LINE_CHARS_MAX: usize = 2_000;

/// Only so many leading bytes are looked at by [`looks_binary`].
pub const SNIFF_BYTES: usize = 4_096;

/// Names that are refused whatever the content; the list of the compatible systems.
const BINARY_EXTENSIONS: [&str; 28] = [
    "7z", "a", "bin", "class", "dat", "dll", "doc", "docx", "exe", "gz", "jar", "lib", "o", "obj",
    "odp", "ods", "odt", "ppt", "pptx", "pyc", "pyo", "so", "tar", "war", "wasm", "xls", "xlsx",
    "zip",
];

/// UTF-16 and UTF-32 marks; such text is full of NUL. The UTF-16 LE mark also begins the UTF-32 LE
/// one.
const WIDE_MARKS: [&[u8]; 3] = [b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"];

/// The text of a file, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// Valid UTF-8.
    Utf8(&'a str),
    /// Valid UTF-8 after a byte order mark, which is not part of the text.
    Utf8Bom(&'a str),
    /// Anything else. It must not be edited as text.
    NotUtf8,
}

impl<'a> Decoded<'a> {
    /// Looks at whole file content.
    pub fn of(bytes: &'a [u8]) -> Self {
        let Ok(text) = str::from_utf8(bytes) else {
            return Self::NotUtf8;
        };
        text.strip_prefix('\u{feff}')
            .map_or(Self::Utf8(text), Self::Utf8Bom)
    }

    /// The text without the mark; `None` if there is no UTF-8 text.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Utf8(text) | Self::Utf8Bom(text) => Some(text),
            Self::NotUtf8 => None,
        }
    }

    /// What must stand before an edited text so that the file keeps its mark; mostly empty.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Utf8Bom(_) => "\u{feff}",
            Self::Utf8(_) | Self::NotUtf8 => "",
        }
    }
}

/// Tells whether a file is better refused than read as text: by its extension, a NUL, or more than
/// 30 % control bytes. A UTF-16 or UTF-32 mark means text.
pub fn looks_binary(path: &str, bytes: &[u8]) -> bool {
    let extension = Path::new(path).extension().map(OsStr::to_ascii_lowercase);
    if BINARY_EXTENSIONS
        .iter()
        .any(|known| extension.as_deref() == Some(known.as_ref()))
    {
        return true;
    }
    if WIDE_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return false;
    }
    let sample = bytes.get(..SNIFF_BYTES).unwrap_or(bytes);
    let control_count = sample
        .iter()
        .filter(|b| matches!(b, 0..=8 | 14..=31))
        .count();
    sample.contains(&0) || control_count * 10 > sample.len() * 3
}

/// A run of numbered lines and the note that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// `<n>: <text>` lines without a newline at the end; may be empty.
    pub lines: String,
    /// In parentheses: whether and where to read on.
    pub note: String,
    /// The number of the first line shown, from 1.
    pub first: usize,
    /// The number of the last line shown; `first - 1` if none is.
    pub last: usize,
    /// The number of lines of the whole text.
    pub total: usize,
}

impl Page {
    /// Tells whether lines follow after the page.
    pub fn is_truncated(&self) -> bool {
        self.last < self.total
    }
}

/// The lines, a blank line, and the note.
impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.lines.is_empty() {
            writeln!(f, "{}\n", self.lines)?;
        }
        f.write_str(&self.note)
    }
}

/// The offset lies behind the last line. The words are for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The line that was asked for.
    pub offset: usize,
    /// The number of lines there are.
    pub total: usize,
}

impl std::error::Error for OutOfRange {}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, total } = self;
        write!(
            f,
            "Offset {offset} is out of range for this file ({total} lines)"
        )
    }
}

/// Numbers at most `limit` lines from line `offset` on (both count as 1 when 0), ended by LF or
/// CRLF, within the limits as shown. The first line is shown whatever the byte limit, or reading on
/// would never get past it.
///
/// # Errors
/// [`OutOfRange`]; the first line of an empty text is not.
pub fn number(text: &str, offset: usize, limit: usize, limits: Limits) -> Result<Page, OutOfRange> {
    let first = offset.max(1);
    let limit = limit.min(limits.lines_max).max(1);
    let total = text.lines().count();
    if first > total.max(1) {
        return Err(OutOfRange {
            offset: first,
            total,
        });
    }
    let mut shown = String::new();
    let mut last = first - 1;
    let mut is_capped = false;
    for line in text.lines().skip(first - 1).take(limit) {
        let before = shown.len();
        let newline = if before == 0 { "" } else { "\n" };
        // Writing to a String cannot fail.
        let _ = write!(shown, "{newline}{}: {}", last + 1, Line(line));
        if before > 0 && shown.len() > limits.bytes_max {
            shown.truncate(before);
            is_capped = true;
            break;
        }
        last += 1;
    }
    let next = last + 1;
    let note = if is_capped {
        let size = size(limits.bytes_max);
        format!(
            "(Output capped at {size}. Showing lines {first}-{last}. Use offset={next} to continue.)"
        )
    } else if last < total {
        format!("(Showing lines {first}-{last} of {total}. Use offset={next} to continue.)")
    } else {
        format!("(End of file - total {total} lines)")
    };
    Ok(Page {
        lines: shown,
        note,
        first,
        last,
        total,
    })
}

struct Line<'a>(&'a str);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(LINE_CHARS_MAX) {
            None => f.write_str(self.0),
            Some((end, _)) => {
                write!(
                    f,
                    "{}... (line truncated to {LINE_CHARS_MAX} chars)",
                    self.0.split_at(end).0
                )
            }
        }
    }
}

fn size(bytes: usize) -> String {
    if bytes >= 1_024 && bytes.is_multiple_of(1_024) {
        return format!("{} KB", bytes / 1_024);
    }
    format!("{bytes} bytes")
}
