//! Looking for lines in files, on several threads, in the order of their paths. Must not open
//! anything but regular files below the directory that was judged, nor look into one that the rules
//! for `read` would ask about.

use crate::{
    beneath,
    file::FILE_BYTES_MAX,
    local::Machine,
    options::Moment,
    walk::{below, on_threads, open_below},
};
use gate::{
    access::GrepQuery,
    call::CallId,
    host::{FileKind, FileMatches, HostError, LeftOut, Line, Matches, Resolved},
};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use rustix::{
    fd::{BorrowedFd, OwnedFd},
    fs::{OFlags, fstat},
};
use std::{
    fs::File,
    io,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// More lines of context are not shown.
const CONTEXT_MAX: usize = 1_000;

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Search {
    matcher: RegexMatcher,
    context: usize,
    limit: usize,
}

/// What one file came to.
enum Outcome {
    /// Its lines, and whether more fit than were taken.
    Lines(Vec<Line>),
    /// It was not searched.
    LeftOut(LeftOut),
}

impl Search {
    /// Makes the pattern ready.
    ///
    /// # Errors
    /// It is no pattern; the words are for the model.
    pub(crate) fn new(query: &GrepQuery) -> Result<Self, HostError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(query.ignores_case)
            .fixed_strings(query.is_literal)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .build(&query.pattern);
        Ok(Self {
            matcher: matcher.map_err(|error| invalid(&error.to_string()))?,
            context: query.context.min(CONTEXT_MAX),
            limit: query.limit,
        })
    }

    /// Searches files below the directory that was judged, given by their absolute paths in order.
    ///
    /// # Errors
    /// The call is over.
    pub(crate) fn files(
        &self,
        machine: &Machine,
        call: CallId,
        target: &Resolved,
        root: BorrowedFd<'_>,
        paths: &[String],
    ) -> Result<Matches, HostError> {
        let below = below(&target.absolute);
        let next = AtomicUsize::new(0);
        let fitting = AtomicUsize::new(0);
        let is_closed = AtomicBool::new(false);
        let work = || {
            let mut searcher = self.searcher();
            let mut outcomes = Vec::new();
            // INVARIANT: files are taken in order and each one taken is finished, so the first lines
            // in that order are among those found once there are enough of them.
            while fitting.load(Ordering::Relaxed) <= self.limit {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(at) else { break };
                if at.is_multiple_of(64) && machine.calls.check(call).is_err() {
                    is_closed.store(true, Ordering::Relaxed);
                    break;
                }
                machine.at(Moment::BeforeOpen);
                let file = open_below(
                    root,
                    path.get(below..).unwrap_or_default(),
                    OFlags::NONBLOCK,
                );
                let outcome =
                    file.map_or_else(|_| unreadable(), |file| self.file(&mut searcher, file));
                match &outcome {
                    Outcome::Lines(lines) if lines.is_empty() => continue,
                    Outcome::Lines(lines) => {
                        fitting.fetch_add(count(lines), Ordering::Relaxed);
                    }
                    Outcome::LeftOut(_) => {}
                }
                outcomes.push((at, outcome));
            }
            outcomes
        };
        let mut outcomes: Vec<_> = on_threads(work).into_iter().flatten().collect();
        if is_closed.into_inner() {
            machine.calls.check(call)?;
        }
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        let named = |(at, outcome)| (paths.get(at).cloned().unwrap_or_default(), outcome);
        Ok(self.assemble(outcomes.into_iter().map(named)))
    }

    /// Searches one open file.
    pub(crate) fn one(&self, path: &str, file: OwnedFd) -> Matches {
        let outcome = self.file(&mut self.searcher(), file);
        self.assemble([(path.to_owned(), outcome)].into_iter())
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .line_number(true)
            .build()
    }

    fn file(&self, searcher: &mut Searcher, file: OwnedFd) -> Outcome {
        let Ok(stat) = fstat(&file) else {
            return unreadable();
        };
        let found = beneath::found_of(&stat);
        if found.kind != FileKind::File {
            return unreadable();
        }
        // SECURITY: another name of the same bytes may lie where the rules were not asked about.
        if found.links > 1 {
            return Outcome::LeftOut(LeftOut {
                asked: 1,
                ..LeftOut::default()
            });
        }
        if u64::try_from(stat.st_size).is_ok_and(|size| size > FILE_BYTES_MAX) {
            return Outcome::LeftOut(LeftOut {
                too_large: 1,
                ..LeftOut::default()
            });
        }
        let mut taken = Taken {
            lines: Vec::new(),
            room: self.limit.saturating_add(1),
            is_binary: false,
        };
        match searcher.search_file(&self.matcher, &File::from(file), &mut taken) {
            Ok(()) if taken.is_binary => Outcome::Lines(Vec::new()),
            Ok(()) => Outcome::Lines(taken.lines),
            Err(_) => unreadable(),
        }
    }

    /// The first lines, up to the limit, and what was left out on the way to the last of them.
    fn assemble(&self, outcomes: impl Iterator<Item = (String, Outcome)>) -> Matches {
        let mut matches = Matches::default();
        let mut room = self.limit;
        for (path, outcome) in outcomes {
            let mut lines = match outcome {
                Outcome::Lines(lines) => lines,
                Outcome::LeftOut(more) => {
                    matches.left_out += more;
                    continue;
                }
            };
            let fitting = count(&lines);
            if fitting > room {
                cut(&mut lines, room, self.context);
                matches.has_more = true;
            }
            room = room.saturating_sub(fitting);
            if !lines.is_empty() {
                matches.files.push(FileMatches { path, lines });
            }
            if matches.has_more {
                break;
            }
        }
        matches
    }
}

/// Takes the lines of one file.
struct Taken {
    lines: Vec<Line>,
    /// How many more that fit are taken.
    room: usize,
    is_binary: bool,
}

impl Sink for Taken {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let number = found.line_number().unwrap_or_default();
        self.lines.push(Line::new(number, found.bytes(), true));
        self.room = self.room.saturating_sub(1);
        Ok(self.room > 0)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = around.line_number().unwrap_or_default();
        self.lines.push(Line::new(number, around.bytes(), false));
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.is_binary = true;
        Ok(false)
    }
}

fn count(lines: &[Line]) -> usize {
    lines.iter().filter(|line| line.fits).count()
}

fn unreadable() -> Outcome {
    Outcome::LeftOut(LeftOut {
        unreadable: 1,
        ..LeftOut::default()
    })
}

/// Keeps the first lines that fit, as many as there is room for, with their context.
fn cut(lines: &mut Vec<Line>, room: usize, context: usize) {
    let mut fitting = lines
        .iter()
        .filter(|line| line.fits)
        .map(|line| line.number);
    let last = room.checked_sub(1).and_then(|before| fitting.nth(before));
    let after = fitting.next();
    let Some(last) = last else {
        return lines.clear();
    };
    let end = last.saturating_add(context as u64);
    lines.retain(|line| line.number <= end && after.is_none_or(|after| line.number < after));
}

/// Why a pattern is none, and what to do instead.
fn invalid(error: &str) -> HostError {
    let hint = if error.contains("look-around") {
        "\nLook-ahead and look-behind cannot be used; match more of the line instead."
    } else if error.contains("backreferences") {
        "\nBackreferences cannot be used; write out what repeats."
    } else if error.contains("is not allowed in a regex") {
        "\nEach line is matched by itself; a pattern cannot reach over a line end."
    } else {
        "\nTo look for it as plain text, set `literal`."
    };
    HostError::Failed(format!("invalid regular expression: {error}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(written: &[(u64, bool)]) -> Vec<Line> {
        let line = |&(number, fits): &(u64, bool)| Line::new(number, b"x", fits);
        written.iter().map(line).collect()
    }

    #[test]
    fn a_cut_keeps_the_context_of_what_it_keeps() {
        let whole = [
            (1, false),
            (2, true),
            (3, false),
            (4, false),
            (5, true),
            (6, false),
        ];
        for (room, context, want) in [
            (0, 1, &[][..]),
            (1, 1, &[(1, false), (2, true), (3, false)][..]),
            (1, 2, &[(1, false), (2, true), (3, false), (4, false)][..]),
            (1, 9, &[(1, false), (2, true), (3, false), (4, false)][..]),
            (2, 1, &whole[..]),
        ] {
            let mut cutting = lines(&whole);
            cut(&mut cutting, room, context);
            assert_eq!(cutting, lines(want), "{room} {context}");
        }
    }
}
