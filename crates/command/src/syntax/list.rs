//! Reads lists and pipelines. It must not read what a command is made of.

use super::cursor::{Parser, is_meta};
use super::tree::{AndOr, Command, CommandKind, Join, List, Pipeline, Simple};

/// The keyword that is `word`: it has a meaning where a command may start.
fn keyword_of(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"!" => "!",
        b"[[" => "[[",
        b"]]" => "]]",
        b"case" => "case",
        b"coproc" => "coproc",
        b"do" => "do",
        b"done" => "done",
        b"elif" => "elif",
        b"else" => "else",
        b"esac" => "esac",
        b"fi" => "fi",
        b"for" => "for",
        b"function" => "function",
        b"if" => "if",
        b"in" => "in",
        b"select" => "select",
        b"then" => "then",
        b"time" => "time",
        b"until" => "until",
        b"while" => "while",
        b"{" => "{",
        b"}" => "}",
        _ => return None,
    })
}

/// Whether the keyword ends a list.
fn is_closer(keyword: &str) -> bool {
    matches!(
        keyword,
        "]]" | "do" | "done" | "elif" | "else" | "esac" | "fi" | "in" | "then" | "}"
    )
}

/// Whether `word` is a keyword.
pub(crate) fn is_keyword(word: &str) -> bool {
    keyword_of(word.as_bytes()).is_some()
}

impl Parser<'_> {
    /// The keyword that stands here, unquoted and whole.
    pub(super) fn keyword(&mut self) -> Option<&'static str> {
        let first = self.peek()?;
        let may_be = matches!(
            first,
            b'!' | b'[' | b']' | b'{' | b'}' | b'c'..=b'f' | b'i' | b's'..=b'u' | b'w'
        );
        if !may_be {
            return None;
        }
        if let Some((at, found)) = self.looked_for
            && at == self.pos
        {
            return found;
        }
        let found = self.whole_keyword();
        self.looked_for = Some((self.pos, found));
        found
    }

    fn whole_keyword(&self) -> Option<&'static str> {
        let mut word = [0; 8];
        let mut length = 0;
        let mut at = self.pos;
        loop {
            match self.byte(at) {
                Some(byte) if !is_meta(byte) => *word.get_mut(length)? = byte,
                _ => break,
            }
            length += 1;
            at = self.fold(at + 1);
        }
        keyword_of(word.get(..length)?)
    }

    /// Takes the keyword `word` if it stands here.
    pub(super) fn take_keyword(&mut self, word: &str) -> bool {
        let is_next = self.keyword() == Some(word);
        if is_next {
            self.skip(word.len());
        }
        is_next
    }

    fn at_closer(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_second(), Some(b';' | b'&')),
            Some(_) => self.keyword().is_some_and(is_closer),
        }
    }

    /// Reads the whole text.
    pub(super) fn script(&mut self) -> List {
        let mut list = List::new();
        loop {
            list.append(&mut self.list());
            if let Some(keyword) = self.keyword() {
                let start = self.here();
                self.skip(keyword.len());
                let range = self.since(start);
                self.unknown(range, "a keyword that is out of place");
            } else if self.peek().is_some() {
                self.stray("a character that has no place here");
            } else {
                break;
            }
        }
        if !self.pending.is_empty() {
            self.unknown(self.end..self.end, "a here-document without its body");
        }
        list
    }

    /// Reads commands up to something that may end a list, which is not taken.
    pub(super) fn list(&mut self) -> List {
        let mut list = List::new();
        loop {
            self.newlines();
            if self.at_closer() {
                return list;
            }
            let start = self.here();
            if self.at_operator() {
                self.stray("an operator without a command");
                continue;
            }
            let mut and_or = self.and_or();
            let last = and_or.rest.last().map_or(&and_or.first, |(_, it)| it);
            let is_compound = last.commands.last().is_some_and(|it| {
                !matches!(it.kind, CommandKind::Simple(_)) && it.redirects.is_empty()
            });
            self.blanks();
            match self.peek() {
                Some(b';') if !self.at_closer() => self.skip(1),
                Some(b'&') => {
                    self.skip(1);
                    and_or.is_background = true;
                }
                None | Some(b'\n' | b')' | b';') => {}
                Some(_) if is_compound && self.at_closer() => {}
                Some(b'(') => {
                    let start = self.here();
                    self.unknown(start..start + 1, "a character that has no place here");
                }
                Some(_) => {
                    let start = self.here();
                    self.unknown(start..start, "a command without an operator before it");
                }
            }
            list.push(and_or);
            if self.here() == start {
                self.stray("a character that has no place here");
            }
        }
    }

    /// Whether an operator stands here that needs a command before it.
    fn at_operator(&mut self) -> bool {
        match self.peek() {
            Some(b';' | b'|') => true,
            Some(b'&') => self.peek_second() != Some(b'>'),
            _ => false,
        }
    }

    /// Skips to the command that an operator needs after it.
    fn has_operand(&mut self) -> bool {
        self.newlines();
        let is_missing = self.at_operator() || self.at_closer();
        if is_missing {
            let start = self.here();
            self.unknown(start..start, "a missing command");
        }
        !is_missing
    }

    fn and_or(&mut self) -> AndOr {
        let first = self.pipeline();
        let mut rest = Vec::new();
        loop {
            self.blanks();
            match (self.peek(), self.peek_second()) {
                (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => {
                    let join = if self.peek() == Some(b'&') {
                        Join::And
                    } else {
                        Join::Or
                    };
                    self.skip(2);
                    if !self.has_operand() {
                        break;
                    }
                    rest.push((join, self.pipeline()));
                }
                _ => break,
            }
        }
        AndOr {
            first,
            rest,
            is_background: false,
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut commands = Vec::with_capacity(1);
        let mut is_negated = false;
        if self.prefixes(&mut is_negated) {
            commands.push(self.command());
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.peek_second() == Some(b'|') {
                break;
            }
            let start = self.here();
            self.skip(1);
            if self.take(b'&') {
                self.not_in_sh(start, "`|&`");
            }
            if !self.has_operand() {
                break;
            }
            let start = self.here();
            if self.keyword() == Some("time") {
                // Only at its start does a pipeline know this keyword.
                commands.push(self.simple());
                continue;
            }
            if self.take_keyword("!") {
                let range = self.since(start);
                self.unknown(range, "a keyword that is out of place");
                self.blanks();
            }
            commands.push(self.command());
        }
        Pipeline {
            commands,
            is_negated,
        }
    }

    /// Takes `!` and `time`. Returns whether a command follows.
    fn prefixes(&mut self, is_negated: &mut bool) -> bool {
        let mut is_owed = false;
        loop {
            let start = self.here();
            if self.peek() == Some(b'!') && self.peek_second() == Some(b'(') {
                // With extended patterns on it is one; without, which is the default, a subshell.
                self.skip(1);
                *is_negated = !*is_negated;
                let range = self.since(start);
                self.unknown(range, "a subshell that may be a pattern");
            } else {
                match self.keyword() {
                    Some("!") => {
                        self.skip(1);
                        is_owed = true;
                        *is_negated = !*is_negated;
                    }
                    Some("time") => {
                        self.skip(4);
                        self.timed(start);
                        is_owed = false;
                        if self.at_end_of_command() {
                            return false;
                        }
                    }
                    _ => break,
                }
            }
            self.blanks();
        }
        if is_owed && self.at_end_of_command() {
            let start = self.here();
            self.unknown(start..start, "a missing command");
            return false;
        }
        !self.at_end_of_command()
    }

    fn at_end_of_command(&mut self) -> bool {
        self.peek() == Some(b'\n') || self.at_operator() || self.at_closer()
    }

    /// Takes the options behind `time`: `-p` and `--`; another word is the program.
    fn timed(&mut self, start: usize) {
        self.blanks();
        if self.peek() != Some(b'-') {
            if !matches!(self.peek(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'.')) {
                self.not_in_sh(start, "a timed pipeline");
            }
            return;
        }
        for option in [b'p', b'-'] {
            self.blanks();
            let is_whole = self.peek_third().is_none_or(is_meta);
            if self.peek() == Some(b'-') && self.peek_second() == Some(option) && is_whole {
                self.skip(2);
            }
        }
        self.not_in_sh(start, "`time` with an option");
        self.blanks();
    }

    /// Reads one command of any kind.
    pub(super) fn command(&mut self) -> Command {
        let start = self.here();
        let kind = match self.peek() {
            Some(b'(') => self.deeper(start, |it| Some(it.parenthesis(start))),
            _ => match self.keyword() {
                Some(keyword) => self.deeper(start, |it| Some(it.compound(start, keyword))),
                None => return self.simple(),
            },
        };
        let kind = kind.unwrap_or_else(|| CommandKind::Simple(Simple::default()));
        self.finish(start, kind)
    }

    /// Adds the redirects behind a compound command.
    pub(super) fn finish(&mut self, start: usize, kind: CommandKind) -> Command {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            if !self.at_redirect() {
                break;
            }
            redirects.extend(self.redirect());
        }
        Command {
            range: self.since(start),
            kind,
            redirects,
        }
    }
}
