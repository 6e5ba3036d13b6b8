//! What an awk program may do. It must not guess: what is not understood may run anything.

use super::language::Verdict;

/// An awk program. A string or a pattern that holds one of the words below counts as if it were code.
pub(super) fn awk(program: &str) -> Verdict {
    const RUNS: &[&str] = &["system", "getline", "@", "|&", "ARGV"];
    if RUNS.iter().any(|word| program.contains(word)) {
        return Verdict::Runs;
    }
    if program.contains("ENVIRON") || program.contains("PROCINFO") || program.contains("SYMTAB") {
        return Verdict::Environment;
    }
    let mut open = AWK_READINGS_MAX;
    let awk = Awk {
        chars: program.chars().peekable(),
        before: String::new(),
        is_printing: false,
        depth: 0,
        is_apart: false,
    };
    awk.verdict(&mut open)
}

/// So many slashes of one program may be a division or the start of a pattern.
const AWK_READINGS_MAX: usize = 64;

/// An awk program from here on.
#[derive(Clone)]
struct Awk<'p> {
    chars: std::iter::Peekable<std::str::Chars<'p>>,
    /// The word before this place, or the character that is none.
    before: String,
    is_printing: bool,
    /// How many parentheses are open since the start of the statement that prints.
    depth: usize,
    is_apart: bool,
}

/// What a slash is, by what stands before it.
enum Slash {
    Division,
    Pattern,
    /// The grammar of awk has it, and a glance does not tell.
    Either,
}

impl Awk<'_> {
    fn verdict(mut self, open: &mut usize) -> Verdict {
        while let Some(c) = self.chars.next() {
            if c.is_alphanumeric() || c == '_' {
                self.word(c);
                continue;
            }
            match c {
                ' ' | '\t' => {
                    self.is_apart = true;
                    continue;
                }
                // Behind these a new statement begins, on this line or the next.
                '\n' if matches!(self.before.as_str(), "" | ";" | "{" | "}") => continue,
                '#' => {
                    while self.chars.next_if(|c| *c != '\n').is_some() {}
                    continue;
                }
                '"' if self.string().is_none() => return Verdict::Runs,
                '/' => match self.slash() {
                    Slash::Division => {}
                    Slash::Pattern => match self.pattern() {
                        Pattern::Ended => {}
                        Pattern::Unended | Pattern::Odd => return Verdict::Runs,
                    },
                    // Both are read, and the graver one counts. A pattern without an end is none.
                    Slash::Either => {
                        let Some(left) = open.checked_sub(1) else {
                            return Verdict::Runs;
                        };
                        *open = left;
                        let mut other = self.clone();
                        match other.pattern() {
                            Pattern::Ended => {
                                other.put('/');
                                let verdict = other.verdict(open);
                                if verdict != Verdict::nothing() {
                                    return verdict;
                                }
                            }
                            Pattern::Unended => {}
                            Pattern::Odd => return Verdict::Runs,
                        }
                    }
                },
                '|' if self.chars.next_if_eq(&'|').is_none() => return Verdict::Runs,
                '(' => self.depth += 1,
                ')' => self.depth = self.depth.saturating_sub(1),
                '>' if self.chars.peek() == Some(&'>') || self.is_printing && self.depth == 0 => {
                    return Verdict::Writes;
                }
                // A line may go on behind a comma, an operator or a backslash.
                ';' | '{' | '}' => self.is_printing = false,
                _ => {}
            }
            self.put(c);
        }
        Verdict::nothing()
    }

    fn put(&mut self, c: char) {
        self.before.clear();
        self.before.push(c);
    }

    fn word(&mut self, c: char) {
        if self.is_apart
            || !self
                .before
                .ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            self.before.clear();
        }
        self.is_apart = false;
        self.before.push(c);
        if matches!(self.before.as_str(), "print" | "printf") {
            self.is_printing = true;
            self.depth = 0;
        }
    }

    fn slash(&self) -> Slash {
        match self.before.as_str() {
            "print" | "printf" | "return" | "exit" | "in" | "case" | "else" | "do" | "length"
            | "delete" | "next" | "nextfile" | "break" | "continue" | "default" => Slash::Either,
            "" | "(" | "," | "{" | "}" | ";" | "!" | "~" | "&" | "|" | "=" | "<" | ">" | "*"
            | "%" | "^" | "?" | ":" => Slash::Pattern,
            "]" | "\"" => Slash::Division,
            word if word.starts_with(|c: char| c.is_alphanumeric() || c == '_') => Slash::Division,
            _ => Slash::Either,
        }
    }

    /// Passes the rest of a string.
    fn string(&mut self) -> Option<()> {
        loop {
            match self.chars.next()? {
                '\\' => {
                    self.chars.next();
                }
                '"' => return Some(()),
                _ => {}
            }
        }
    }

    /// Passes the rest of a pattern.
    fn pattern(&mut self) -> Pattern {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => {
                    self.chars.next();
                }
                '/' => return Pattern::Ended,
                // A slash inside brackets ends the pattern for some awks only.
                '[' => {
                    let mut is_first = true;
                    loop {
                        match self.chars.next() {
                            Some(']') if !is_first => break,
                            Some('^') if is_first => continue,
                            Some('\\') => {
                                self.chars.next();
                            }
                            Some('/') => return Pattern::Odd,
                            Some('\n') | None => return Pattern::Unended,
                            Some(_) => {}
                        }
                        is_first = false;
                    }
                }
                '\n' => return Pattern::Unended,
                _ => {}
            }
        }
        Pattern::Unended
    }
}

/// How a pattern was passed.
enum Pattern {
    Ended,
    /// There is no end on its line.
    Unended,
    /// Awks differ in where it ends.
    Odd,
}
