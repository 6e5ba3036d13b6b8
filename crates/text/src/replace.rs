//! Replacing one exact piece of text by another. Must not guess: a near match is no match.

use std::borrow::Cow;
use std::fmt;

/// How many occurrences are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// The only one; a second occurrence is an error.
    One,
    /// Every one, from left to right, not overlapping.
    All,
}

/// The text after a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The whole new text.
    pub text: String,
    /// How many occurrences were replaced, at least 1.
    pub count: usize,
}

/// Why nothing was replaced. The words are for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceError {
    /// There is nothing to look for.
    Empty,
    /// Old and new differ in nothing, or only in line endings, which follow the file.
    Identical,
    /// The old text does not occur.
    NotFound,
    /// The old text occurs this many times, overlapping ones included.
    NotUnique {
        /// At least 2.
        count: usize,
    },
}

impl std::error::Error for ReplaceError {}

impl fmt::Display for ReplaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "oldString cannot be empty for a file that exists. \
                 Give the exact text to replace, or write the whole file with the write tool.",
            ),
            Self::Identical => {
                f.write_str("No changes to apply: oldString and newString are identical.")
            }
            Self::NotFound => f.write_str(
                "Could not find oldString in the file. It has to match exactly, with all \
                 whitespace and indentation. Read the file again and copy the text from there.",
            ),
            Self::NotUnique { count } => write!(
                f,
                "Found multiple matches for oldString ({count}). Add surrounding lines until it \
                 matches only one place, or set replaceAll to change all of them."
            ),
        }
    }
}

/// Replaces `old` by `new`. A line break in `old` matches LF and CRLF alike; those in `new` become
/// CRLF if the file has any CRLF, else LF. Nothing in `new` is interpreted.
///
/// # Errors
/// [`ReplaceError`], and then nothing is changed.
pub fn exact(text: &str, old: &str, new: &str, all: Replace) -> Result<Replaced, ReplaceError> {
    let (old, new) = (to_lf(old), to_lf(new));
    if old == new {
        return Err(ReplaceError::Identical);
    }
    if old.is_empty() {
        return Err(ReplaceError::Empty);
    }
    let lf = LfView::of(text);
    let starts: Vec<usize> = match all {
        Replace::One => vec![only(&lf.text, &old)?],
        Replace::All => lf
            .text
            .match_indices(old.as_ref())
            .map(|(start, _)| start)
            .collect(),
    };
    if starts.is_empty() {
        return Err(ReplaceError::NotFound);
    }
    let new = if lf.carriage_returns.is_empty() {
        new
    } else {
        new.replace('\n', "\r\n").into()
    };
    let mut replaced = String::with_capacity(text.len() + new.len());
    // Every offset stands between characters; one that did not must change nothing.
    let kept = |from: usize, to: usize| text.get(from..to).ok_or(ReplaceError::NotFound);
    let mut rest = 0;
    for &start in &starts {
        replaced.push_str(kept(rest, lf.raw(start))?);
        replaced.push_str(&new);
        rest = lf.raw(start + old.len());
    }
    replaced.push_str(kept(rest, text.len())?);
    Ok(Replaced {
        text: replaced,
        count: starts.len(),
    })
}

fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}

fn only(text: &str, old: &str) -> Result<usize, ReplaceError> {
    let first = text.find(old).ok_or(ReplaceError::NotFound)?;
    if text.rfind(old) == Some(first) {
        return Ok(first);
    }
    let step = old.chars().next().map_or(1, char::len_utf8);
    let next = |from: &usize| Some(from + step + text.get(from + step..)?.find(old)?);
    Err(ReplaceError::NotUnique {
        count: std::iter::successors(Some(first), next).count(),
    })
}

/// A text with all line ends as LF, and the way back to the bytes it was made from.
struct LfView<'a> {
    text: Cow<'a, str>,
    /// For each CRLF, where its newline stands in `text`; ascending.
    carriage_returns: Vec<usize>,
}

impl<'a> LfView<'a> {
    fn of(raw: &'a str) -> Self {
        let carriage_returns = raw
            .match_indices("\r\n")
            .enumerate()
            .map(|(before, (at, _))| at - before)
            .collect();
        Self {
            text: to_lf(raw),
            carriage_returns,
        }
    }

    /// The raw offset of an offset in `text`; before a CRLF it is before both bytes.
    fn raw(&self, offset: usize) -> usize {
        offset
            + self
                .carriage_returns
                .partition_point(|&newline| newline < offset)
    }
}
