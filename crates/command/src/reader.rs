//! Reads the grammar of shell text: lists, pipelines, groups, redirects. It must not judge what a command does, and must never take for understood what it merely got past.

use std::ops::Range;

use crate::grade::{changes_directory, grade};
use crate::{Line, Simple, Unknown, WordKind};
use compound::is_keyword;

mod compound;
mod redirect;
mod word;

/// Longest text that is read, in bytes; a longer one is "cannot tell" as a whole.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Deepest nesting of groups and substitutions that is read; what lies deeper is "cannot tell".
pub const DEPTH_MAX: usize = 40;

/// Reads `text`. It is total: any text has an answer, and what is not understood is listed in it.
pub fn read(text: &str) -> Line {
    if text.len() > TEXT_BYTES_MAX {
        let unknown = vec![Unknown {
            range: 0..text.len(),
            what: "text that is too long",
        }];
        return Line {
            unknown,
            ..Line::default()
        };
    }
    let mut reader = Reader::new(
        text.char_indices().collect(),
        text.len(),
        0,
        Line::default(),
    );
    for (at, c) in text.char_indices().filter(|&(_, c)| is_hidden(c)) {
        reader.unknown(at..at + c.len_utf8(), "a character that does not show");
    }
    reader.list(None);
    let mut line = reader.line;
    line.unknown
        .sort_by_key(|unknown| (unknown.range.start, unknown.range.end));
    line.unknown.dedup();
    line
}

/// Whether `c` is a control, bidirectional, zero-width or lookalike blank character: what a person
/// sees then is not what the shell gets.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t' && c != '\n')
        || (c.is_whitespace() && !c.is_ascii())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether `c` ends an unquoted word.
fn is_meta(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

/// What may follow what was just read.
enum Next {
    /// An operator or an end.
    Operator,
    /// A command, without an operator between.
    Command,
}

/// A here-document whose body starts after the next newline.
struct Heredoc {
    delimiter: String,
    quoted: bool,
    tabs_stripped: bool,
}

/// The place in the text, and what was found so far.
struct Reader {
    /// The characters with their offsets; those of a backquoted text lack its escapes.
    chars: Vec<(usize, char)>,
    /// The offset after the last character.
    end: usize,
    pos: usize,
    depth: usize,
    case_depth: usize,
    heredocs: Vec<Heredoc>,
    line: Line,
}

// The place. Outside single quotes and comments a backslash before a newline is nothing at all, even
// inside an operator, so `look` and `bump` see the text without such pairs and `raw` sees it with them.
impl Reader {
    fn new(chars: Vec<(usize, char)>, end: usize, depth: usize, line: Line) -> Self {
        Self {
            chars,
            end,
            pos: 0,
            depth,
            case_depth: 0,
            heredocs: Vec::new(),
            line,
        }
    }

    fn char_at(&self, pos: usize) -> Option<char> {
        self.chars.get(pos).map(|&(_, c)| c)
    }

    fn unfolded(&self, mut pos: usize) -> usize {
        while self.char_at(pos) == Some('\\') && self.char_at(pos + 1) == Some('\n') {
            pos += 2;
        }
        pos
    }

    fn look(&self, ahead: usize) -> Option<char> {
        let mut pos = self.unfolded(self.pos);
        for _ in 0..ahead {
            pos = self.unfolded(pos + 1);
        }
        self.char_at(pos)
    }

    fn bump(&mut self) -> Option<char> {
        self.pos = self.unfolded(self.pos);
        self.raw()
    }

    fn raw(&mut self) -> Option<char> {
        let c = self.char_at(self.pos)?;
        self.pos += 1;
        Some(c)
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.bump();
        }
    }

    /// The offset of the next character.
    fn here(&mut self) -> usize {
        self.pos = self.unfolded(self.pos);
        self.chars.get(self.pos).map_or(self.end, |&(at, _)| at)
    }

    /// From `start` to the end of the last character taken.
    fn since(&self, start: usize) -> Range<usize> {
        let last = self.pos.checked_sub(1).and_then(|pos| self.chars.get(pos));
        let end = last.map_or(start, |&(at, c)| at + c.len_utf8());
        start..end.max(start)
    }

    fn unknown(&mut self, range: Range<usize>, what: &'static str) {
        self.line.unknown.push(Unknown { range, what });
    }

    /// Takes one character that has no place here.
    fn stray(&mut self, what: &'static str) {
        let start = self.here();
        self.bump();
        let range = self.since(start);
        self.unknown(range, what);
    }

    /// Whether the word `word` stands here, unquoted and whole.
    fn at_word(&self, word: &str) -> bool {
        let len = word.chars().count();
        word.chars()
            .enumerate()
            .all(|(i, c)| self.look(i) == Some(c))
            && self.look(len).is_none_or(is_meta)
    }

    /// Skips blanks and a comment.
    fn blanks(&mut self) {
        while matches!(self.look(0), Some(' ' | '\t')) {
            self.bump();
        }
        if self.look(0) == Some('#') {
            while self.char_at(self.pos).is_some_and(|c| c != '\n') {
                self.pos += 1;
            }
        }
    }

    /// Skips blanks, comments and newlines, and the here-documents that start after those.
    fn newlines(&mut self) {
        self.blanks();
        while self.look(0) == Some('\n') {
            self.bump();
            for heredoc in std::mem::take(&mut self.heredocs) {
                self.heredoc_body(&heredoc);
            }
            self.blanks();
        }
    }
}

// The grammar.
impl Reader {
    /// Reads up to the end or to `until`, which is not taken. Returns how many commands stood there.
    fn list(&mut self, until: Option<char>) -> usize {
        let mut count = 0;
        let mut is_owed = false;
        let mut is_piped = false;
        loop {
            self.newlines();
            let is_closed = match until {
                Some('}') => self.at_word("}"),
                Some(closer) => self.look(0) == Some(closer),
                None => false,
            };
            if is_closed || self.look(0).is_none() {
                if is_owed {
                    let start = self.here();
                    self.unknown(start..start, "a missing command");
                }
                return count;
            }
            if self.look(0) == Some('!') && matches!(self.look(1), Some(' ' | '\t')) && !is_piped {
                self.skip(1);
                is_owed = true;
                continue;
            }
            if self.is_operator() {
                self.stray("an operator without a command");
                continue;
            }
            count += 1;
            is_owed = false;
            is_piped = false;
            if let Next::Command = self.command() {
                continue;
            }
            self.blanks();
            match (self.look(0), self.look(1)) {
                (Some('&'), Some('&')) | (Some('|'), Some('|')) => {
                    self.skip(2);
                    is_owed = true;
                }
                (Some('|'), next) => {
                    self.skip(if next == Some('&') { 2 } else { 1 });
                    is_owed = true;
                    is_piped = true;
                }
                (Some(';'), Some(';' | '&')) => self.case_break(),
                (Some(';' | '&'), _) => self.skip(1),
                (None | Some('\n'), _) => {}
                (Some(c), _) if until == Some(c) => {}
                _ => self.stray("a character that has no place here"),
            }
        }
    }

    /// Whether an operator stands here that needs a command before it.
    fn is_operator(&self) -> bool {
        match self.look(0) {
            Some(';' | '|' | ')') => true,
            Some('&') => self.look(1) != Some('>'),
            _ => false,
        }
    }

    /// Reads one command of any kind.
    fn command(&mut self) -> Next {
        let start = self.here();
        if self.look(0) == Some('(') {
            if self.look(1) == Some('(') {
                if self.closes_twice() {
                    self.skip(2);
                    self.skip_balanced(Some('('), ')', false);
                    self.skip(1);
                    let range = self.since(start);
                    self.unknown(range, "arithmetic");
                    return self.trailing_redirects();
                }
                self.unknown(start..start + 1, "a subshell that looks like arithmetic");
            }
            self.skip(1);
            self.enclosed(start, ')', 1);
            return self.trailing_redirects();
        }
        if self.at_word("{") {
            self.skip(1);
            self.enclosed(start, '}', 1);
            return self.trailing_redirects();
        }
        let keyword: String = (0..9)
            .map_while(|i| self.look(i).filter(|&c| !is_meta(c)))
            .collect();
        if self.look(keyword.chars().count()).is_none_or(is_meta) && is_keyword(&keyword) {
            return self.keyword(&keyword);
        }
        self.simple()
    }

    /// Reads a list and its closer, after the opener that began at `start`; fewer commands than
    /// `count_min` are no list.
    fn enclosed(&mut self, start: usize, closer: char, count_min: usize) {
        if self.depth >= DEPTH_MAX {
            self.pos = self.chars.len();
            self.unknown(start..self.end, "nesting that is too deep");
            return;
        }
        self.depth += 1;
        let case_depth = std::mem::take(&mut self.case_depth);
        let count = self.list(Some(closer));
        self.case_depth = case_depth;
        self.depth -= 1;
        let is_closed = self.look(0) == Some(closer);
        if is_closed {
            self.skip(1);
        }
        let range = self.since(start);
        if !is_closed {
            self.unknown(range, "an opener without its end");
        } else if count < count_min {
            self.unknown(range, "an empty group");
        }
    }

    /// Reads a simple command, or the head of a function.
    fn simple(&mut self) -> Next {
        let start = self.here();
        let mut simple = Simple {
            range: start..start,
            words: vec![],
            assignments: vec![],
            redirects: vec![],
            opaque: None,
        };
        loop {
            self.blanks();
            let Some(c) = self.look(0) else { break };
            if self.is_redirect() {
                simple.redirects.extend(self.redirect());
                continue;
            }
            if c == '('
                && simple.words.len() == 1
                && simple.assignments.is_empty()
                && simple.redirects.is_empty()
            {
                return self.function_head(start);
            }
            if is_meta(c) && !self.is_process_substitution() {
                break;
            }
            let mut scanned = self.scan();
            if scanned.has_subscript && simple.words.is_empty() {
                scanned.word.kind = WordKind::Dynamic;
                self.unknown(scanned.word.range.clone(), "an array element");
            }
            match scanned.assignment() {
                Some(assignment) if simple.words.is_empty() => simple.assignments.push(assignment),
                _ => simple.words.push(scanned.word),
            }
        }
        self.finish(simple)
    }

    /// Gets past `()` after a name, so that the body is read as a command.
    fn function_head(&mut self, start: usize) -> Next {
        self.skip(1);
        self.blanks();
        if self.look(0) == Some(')') {
            self.skip(1);
        }
        let range = self.since(start);
        self.unknown(range, "a function");
        Next::Command
    }

    /// Puts a simple command where it belongs.
    fn finish(&mut self, mut simple: Simple) -> Next {
        let ends = [
            simple.words.last().map(|word| word.range.end),
            simple
                .assignments
                .last()
                .map(|assignment| assignment.range.end),
            simple.redirects.last().map(|redirect| redirect.range.end),
        ];
        simple.range.end = ends
            .into_iter()
            .flatten()
            .max()
            .unwrap_or(simple.range.start);
        if simple.words.is_empty() && simple.assignments.is_empty() {
            self.line.redirects.append(&mut simple.redirects);
            return Next::Operator;
        }
        if let Some(first) = simple.words.first()
            && is_keyword(&first.text)
            && first.range.len() == first.text.len()
        {
            // Only reached behind an assignment or a redirect, where few readers agree.
            let range = first.range.clone();
            self.unknown(range, "a keyword that is out of place");
        }
        simple.opaque = grade(&simple);
        self.line.changes_directory |= changes_directory(&simple);
        self.line.commands.push(simple);
        Next::Operator
    }
}

/// Whether `text` can name a variable.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
