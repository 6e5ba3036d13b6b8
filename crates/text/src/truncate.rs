//! Cutting long output to whole lines and saying so. Must not write the full output anywhere:
//! the caller does, and passes its path.

use std::fmt;

/// How much text may go on to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of lines.
    pub lines_max: usize,
    /// The greatest number of UTF-8 bytes, newlines included.
    pub bytes_max: usize,
}

/// 2,000 lines and 50 KiB, as in the compatible systems.
impl Default for Limits {
    fn default() -> Self {
        Self {
            lines_max: 2_000,
            bytes_max: 51_200,
        }
    }
}

/// Which end of the text stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The beginning, for files and listings.
    Head,
    /// The end, for logs.
    Tail,
}

/// What is left of a text, and how much of it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// A prefix or a suffix of the text.
    pub text: String,
    /// What was cut off; `None` if the text fitted.
    pub omitted: Option<Omitted>,
}

/// How much was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// In `unit`s, at least 1.
    pub amount: usize,
    /// The unit of the limit that was met first.
    pub unit: Unit,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Lines; a newline at the end of the text does not begin another one.
    Lines,
    /// UTF-8 bytes.
    Bytes,
}

impl fmt::Display for Omitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match (self.unit, self.amount) {
            (Unit::Lines, 1) => "line",
            (Unit::Lines, _) => "lines",
            (Unit::Bytes, 1) => "byte",
            (Unit::Bytes, _) => "bytes",
        };
        write!(f, "{} {unit}", self.amount)
    }
}

/// Tells whether a text is within both limits.
pub fn fits(text: &str, limits: Limits) -> bool {
    text.len() <= limits.bytes_max && line_count(text) <= limits.lines_max
}

/// Keeps as many whole lines from one end as both limits allow. A first line that is alone over
/// the byte limit is cut at a character, so that something is always shown.
pub fn truncate(text: &str, limits: Limits, keep: Keep) -> Truncated {
    let (kept_bytes, stopped_by) = match keep {
        Keep::Head => measure(text.split_inclusive('\n'), limits),
        Keep::Tail => measure(text.split_inclusive('\n').rev(), limits),
    };
    let Some(unit) = stopped_by else {
        return Truncated {
            text: text.to_owned(),
            omitted: None,
        };
    };
    let room = if kept_bytes == 0 && unit == Unit::Bytes {
        limits.bytes_max
    } else {
        kept_bytes
    };
    let kept = match keep {
        Keep::Head => text.split_at(text.floor_char_boundary(room)).0,
        Keep::Tail => text.split_at(text.ceil_char_boundary(text.len() - room)).1,
    };
    let amount = match unit {
        Unit::Lines => line_count(text) - line_count(kept),
        Unit::Bytes => text.len() - kept.len(),
    };
    Truncated {
        text: kept.to_owned(),
        omitted: Some(Omitted { amount, unit }),
    }
}

/// Puts the kept text together with a notice of what was left out and a hint where it is. Text that was
/// not cut comes back as it is.
pub fn assemble(kept: &Truncated, keep: Keep, hint: &str) -> String {
    let Some(omitted) = kept.omitted else {
        return kept.text.clone();
    };
    match keep {
        Keep::Head => {
            let text = kept.text.strip_suffix('\n').unwrap_or(&kept.text);
            format!("{text}\n\n...{omitted} truncated...\n\n{hint}")
        }
        Keep::Tail => format!("...{omitted} truncated...\n\n{hint}\n\n{}", kept.text),
    }
}

/// The bytes of the whole lines that fit, and the limit that stopped the count, if one did.
fn measure<'a>(lines: impl Iterator<Item = &'a str>, limits: Limits) -> (usize, Option<Unit>) {
    let mut kept_bytes = 0;
    for (index, line) in lines.enumerate() {
        if index == limits.lines_max {
            return (kept_bytes, Some(Unit::Lines));
        }
        if kept_bytes + line.len() > limits.bytes_max {
            return (kept_bytes, Some(Unit::Bytes));
        }
        kept_bytes += line.len();
    }
    (kept_bytes, None)
}

fn line_count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}
