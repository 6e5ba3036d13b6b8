//! Follows one command whose words another reader has found. It must not read shell text that is not an argument.

use std::ops::Range;
use std::sync::Arc;

use super::simple::Parts;
use super::state::State;
use super::{Walker, odd};
use crate::line::{Class, Directory, Flagged, Line, Setting, Simple, Word};

/// Tells what the command `words`, which starts in `at`, runs, reads, writes and reaches. It is for shells
/// that are read elsewhere and run the same programs: the ranges of the words are places in `text`. The
/// command itself comes first in the line, what it runs behind it.
pub fn read_words(text: &str, words: Vec<Word>, at: &Directory, setting: &Setting<'_>) -> Line {
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Line::default();
    };
    let range = first.range.start..last.range.end.max(first.range.end);
    let mut walker = Walker::new(text, setting);
    let mut state = State::new(setting.directory);
    match at {
        Directory::Known(path) => state.places = Some([Arc::clone(path)].into()),
        Directory::Unknown => state.places = None,
    }
    let parts = Parts {
        source: text.get(range.clone()).unwrap_or_default().to_owned(),
        range,
        words,
        assignments: Vec::new(),
        redirects: Vec::new(),
        via: None,
    };
    walker.run(parts, &mut state);
    walker.finish()
}

/// The characters of `text` that do not look like what they are.
pub fn flagged(text: &str) -> Vec<Flagged> {
    odd::flag(text)
}

impl Simple {
    /// A command of another shell, which does what is said elsewhere.
    pub fn of(range: Range<usize>, source: &str, words: Vec<Word>, directory: Directory) -> Self {
        Self {
            range,
            source: source.to_owned(),
            words,
            assignments: Vec::new(),
            redirects: Vec::new(),
            opaque: None,
            class: Class::Ordinary,
            is_told: false,
            directory,
            via: None,
        }
    }
}
