//! A file of paths that no tool reads or edits, in the manner of `.gitignore`, as rules. Must not do IO.
//!
//! Git asks of a path and of every folder above it which line speaks last; a denial of any of them counts.
//! Rules are one list in which the last match counts. So there are first the lines as they are, then what
//! lies below what any of them denies, then the same for every folder that is taken back by its name. Where
//! the two still differ, the rules deny more.

use std::mem;
use std::path::Path;
use std::sync::Arc;

use policy::{Action, Origin, Pattern, Rule};

use crate::ConfigWarning;
use crate::error::visible;

/// The name of such a file.
pub(crate) const IGNORE_FILE: &str = ".kilocodeignore";

/// The permissions it closes.
const PERMISSIONS: [&str; 2] = ["read", "edit"];

/// The most lines that say something.
const LINES_MAX: usize = 10_000;

/// Beyond this nothing is taken back by its name, for which every line is looked at again.
const LOOKS_MAX: usize = 20_000;

/// Where the patterns of a file hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'a> {
    /// The folder that patterns with a slash start at; absolute.
    pub(crate) folder: &'a Path,
    /// Whether patterns without a slash hold outside of that folder too.
    pub(crate) is_everywhere: bool,
}

/// Rules, and what is to be told about them.
#[derive(Debug, Default)]
pub(crate) struct Ignored {
    pub(crate) rules: Vec<Rule>,
    pub(crate) warnings: Vec<ConfigWarning>,
}

/// What holds if the file is there and cannot be read: everything is closed.
pub(crate) fn closed(label: &str, reason: &str) -> Ignored {
    let rule = |name: &str| {
        let pattern = Pattern::wildcard("*");
        Rule::new(name, pattern, Action::Deny, Origin::named(label))
    };
    Ignored {
        rules: PERMISSIONS.iter().map(|name| rule(name)).collect(),
        warnings: vec![ConfigWarning {
            source: visible(label),
            line: 0,
            column: 0,
            message: visible(&format!(
                "no file is read or edited, for this cannot be used: {reason}"
            )),
            help: Some("mend the file, or take it away".to_owned()),
        }],
    }
}

/// Reads the lines of a file.
pub(crate) fn parse_ignore(text: &str, label: &str, reach: Reach<'_>) -> Ignored {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut list = List {
        label: label.into(),
        globs: Vec::new(),
        found: Ignored::default(),
    };
    for (index, line) in text.lines().enumerate() {
        let line_number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        list.line(line, line_number, reach);
    }
    if list.globs.len() > LINES_MAX {
        return closed(label, &format!("it has more than {LINES_MAX} patterns"));
    }
    list.write();
    list.found
}

struct List {
    label: Arc<str>,
    /// The lines that say something, in order.
    globs: Vec<Glob>,
    found: Ignored,
}

/// A line.
#[derive(Debug, Clone)]
struct Glob {
    line: u32,
    is_negation: bool,
    pattern: Pattern,
    /// Its parts between slashes.
    segments: Vec<String>,
    /// Where what it matches lies.
    place: Place,
    /// Whether it is for folders alone.
    is_folder: bool,
    /// Whether it matches no more than was written.
    is_exact: bool,
    /// The one path it matches, if it is one.
    path: Option<String>,
}

/// Where what a line matches lies below the folder it holds in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Anywhere: it holds no slash.
    Anywhere,
    /// As deep as it has segments.
    Fixed,
    /// At many depths: `a/**/b`.
    Many,
}

impl List {
    fn line(&mut self, line: &str, number: u32, reach: Reach<'_>) {
        if line.starts_with('#') {
            return;
        }
        let Some(glob) = Glob::read(line, number, reach) else {
            return;
        };
        match (glob.is_negation, glob.is_exact) {
            (_, true) => self.globs.push(glob),
            (true, false) => self.warn(
                number,
                "this negation is passed by, for rules know no sets of characters and no escapes",
            ),
            (false, false) => {
                let message = "this denies more than it says, for rules know no sets of characters and no escapes";
                self.warn(number, message);
                self.globs.push(glob);
            }
        }
    }

    fn write(&mut self) {
        let globs = mem::take(&mut self.globs);
        self.say(&globs, |glob| Some(glob.text().to_owned()));
        let negations = || globs.iter().filter(|glob| glob.is_negation);
        for glob in negations().filter(|glob| glob.may_be_cut()) {
            let message =
                "this negation takes back a file, and not what lies in a folder of this name";
            self.warn(glob.line, message);
        }
        let by_name = |glob| -> Option<(&Glob, &str)> { Some((glob, glob.path.as_deref()?)) };
        let mut named: Vec<_> = negations().filter_map(by_name).collect();
        if named.len() * globs.len() > LOOKS_MAX {
            let line = named.first().map_or(1, |(glob, _)| glob.line);
            self.warn(
                line,
                "nothing is taken back by its name: the file has too many patterns",
            );
            named.clear();
        }
        // The outer ones first, so that an inner one has the later word.
        named.sort_by_key(|(glob, _)| glob.segments.len());
        for (folder, path) in &named {
            if is_open(path, folder.segments.len(), true, &globs) {
                self.push(Action::Allow, &format!("path:{path}/**"), folder.line);
                self.say(&globs, |glob| glob.text_below(path, &folder.segments));
            }
        }
        for (glob, path) in named {
            if !glob.is_folder && is_open(path, glob.segments.len(), false, &globs) {
                self.push(Action::Allow, glob.text(), glob.line);
            }
        }
    }

    /// Says all lines, and then what lies below what they deny, each as `text` has it.
    fn say(&mut self, globs: &[Glob], text: impl Fn(&Glob) -> Option<String>) {
        for glob in globs.iter().filter(|glob| !glob.is_folder) {
            let action = if glob.is_negation {
                Action::Allow
            } else {
                Action::Deny
            };
            if let Some(text) = text(glob) {
                self.push(action, &text, glob.line);
            }
        }
        for glob in globs.iter().filter(|glob| !glob.is_negation) {
            if let Some(text) = text(glob) {
                self.push(Action::Deny, &below(&text), glob.line);
            }
        }
    }

    fn push(&mut self, action: Action, pattern: &str, line: u32) {
        for name in PERMISSIONS {
            let origin = Origin {
                source: Arc::clone(&self.label),
                line,
                column: 1,
            };
            let rule = Rule::new(name, path_pattern(pattern), action, origin);
            self.found.rules.push(rule);
        }
    }

    fn warn(&mut self, line: u32, message: &str) {
        self.found.warnings.push(ConfigWarning {
            source: visible(&self.label),
            line,
            column: 1,
            message: message.to_owned(),
            help: None,
        });
    }
}

/// Whether a path at this depth, as a folder or as a file, and all above it are left alone by the lines.
fn is_open(path: &str, depth: usize, is_folder: bool, globs: &[Glob]) -> bool {
    let above = path.rmatch_indices('/');
    let above = above.map(|(at, _)| (path.get(..at).unwrap_or_default(), true));
    let mut all = std::iter::once((path, is_folder)).chain(above).take(depth);
    all.all(|(path, is_folder)| {
        let hits = |glob: &&Glob| (is_folder || !glob.is_folder) && glob.pattern.matches(path);
        let last = globs.iter().rev().find(hits);
        last.is_none_or(|glob| glob.is_negation)
    })
}

/// The pattern for all that lies below what a pattern matches.
fn below(text: &str) -> String {
    if text.ends_with("/**") {
        return text.to_owned();
    }
    format!("{text}/**")
}

/// A pattern for [`Pattern::read`], which takes every path.
fn path_pattern(text: &str) -> Pattern {
    Pattern::read(text).unwrap_or_else(|_| Pattern::wildcard("*"))
}

impl Glob {
    /// Reads a line; `None` if it says nothing.
    fn read(line: &str, number: u32, reach: Reach<'_>) -> Option<Self> {
        let (is_negation, written) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let written = without_end(written);
        let (written, is_folder) = match written.strip_suffix('/') {
            Some(rest) => (rest, true),
            None => (written, false),
        };
        if written.is_empty() {
            return None;
        }
        let is_anchored = written.contains('/');
        let mut is_exact = true;
        let mut segments = Vec::new();
        for segment in written.trim_start_matches('/').split('/') {
            let (segment, is_whole) = translated(segment);
            is_exact &= is_whole;
            segments.push(segment);
        }
        let place = match is_anchored {
            false => Place::Anywhere,
            true if segments.iter().any(|segment| segment == "**") => Place::Many,
            true => Place::Fixed,
        };
        let folder = reach.folder.display().to_string();
        let folder = folder.trim_end_matches('/');
        // A name with a wildcard would be one of the pattern.
        is_exact &= !folder.contains(['*', '?']);
        let start = match (is_anchored, reach.is_everywhere) {
            (true, _) => folder.to_owned(),
            (false, true) => "/**".to_owned(),
            (false, false) => format!("{folder}/**"),
        };
        let path = format!("{start}/{}", segments.join("/"));
        let is_path = place == Place::Fixed && is_exact && !path.contains(['*', '?']);
        Some(Self {
            line: number,
            is_negation,
            pattern: path_pattern(&format!("path:{path}")),
            segments,
            place,
            is_folder,
            is_exact,
            path: is_path.then_some(path),
        })
    }

    fn text(&self) -> &str {
        self.pattern.text()
    }

    /// The pattern for what it matches below a folder; `None` if that is nothing.
    fn text_below(&self, folder: &str, above: &[String]) -> Option<String> {
        let rest = match self.place {
            Place::Anywhere => format!("**/{}", self.segments.concat()),
            Place::Fixed => {
                let mut pairs = self.segments.iter().zip(above);
                let leads_there = pairs.all(|(want, got)| policy::wildcard(want, got));
                let rest = self.segments.get(above.len()..)?;
                if !leads_there || rest.is_empty() {
                    return None;
                }
                rest.join("/")
            }
            // What it takes back below the folder alone cannot be said.
            Place::Many if self.is_negation => return None,
            Place::Many => return Some(self.text().to_owned()),
        };
        Some(format!("path:{folder}/{rest}"))
    }

    /// Whether it may be meant for a folder, of which it cannot be told by name which one it is.
    fn may_be_cut(&self) -> bool {
        let name = self.segments.last().map_or("", String::as_str);
        let bare = name.strip_prefix('.').unwrap_or(name);
        self.path.is_none() && (self.is_folder || !bare.contains('.'))
    }
}

/// A segment in the pattern language of rules, and whether that matches no more than was written.
fn translated(segment: &str) -> (String, bool) {
    if segment == "**" {
        return (segment.to_owned(), true);
    }
    let mut text = String::new();
    let mut is_exact = true;
    let mut rest = segment;
    while let Some(char) = rest.chars().next() {
        let next = rest.chars().nth(1);
        let (piece, used) = match char {
            '\\' => match next {
                None => ('?', 1),
                Some('*' | '?') => ('?', 2),
                Some(next) => (next, 1 + next.len_utf8()),
            },
            '[' => {
                is_exact = false;
                rest.find(']').map_or(('[', 1), |end| ('?', end + 1))
            }
            char => (char, char.len_utf8()),
        };
        is_exact &= !(piece == '?' && char != '?');
        if !(piece == '*' && text.ends_with('*')) {
            text.push(piece);
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    // Such a tail may be missing in the language of rules.
    is_exact &= !text.ends_with(" *");
    (text, is_exact)
}

/// A line without the spaces at its end that no backslash keeps.
fn without_end(line: &str) -> &str {
    let trimmed = line.trim_end_matches([' ', '\t', '\r']);
    let is_kept = trimmed.ends_with('\\') && line.len() > trimmed.len();
    let end = trimmed.len() + usize::from(is_kept);
    line.get(..end).unwrap_or(trimmed)
}
