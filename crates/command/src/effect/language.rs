//! The small languages that programs take as an argument: what a sed script or a jq filter may do. It must not guess:
//! what is not understood may do anything.

/// What a text in one of these languages may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It changes nothing outside the program; these files it reads and these it writes.
    Files {
        read: Vec<String>,
        written: Vec<String>,
    },
    /// It may show what the environment holds.
    Environment,
    /// It writes files that are not told.
    Writes,
    /// It runs commands, or is not understood.
    Runs,
}

impl Verdict {
    pub(super) fn nothing() -> Self {
        Self::Files {
            read: Vec::new(),
            written: Vec::new(),
        }
    }
}

/// A sed script, as GNU and other seds read it; where they differ it is not understood.
pub(super) fn sed(script: &str) -> Verdict {
    let mut reader = Sed {
        rest: script,
        read: Vec::new(),
        written: Vec::new(),
        depth: 0,
    };
    while !reader
        .rest
        .trim_start_matches([' ', '\t', '\n', ';'])
        .is_empty()
    {
        if reader.command().is_none() {
            return Verdict::Runs;
        }
    }
    Verdict::Files {
        read: reader.read,
        written: reader.written,
    }
}

struct Sed<'s> {
    rest: &'s str,
    read: Vec<String>,
    written: Vec<String>,
    depth: usize,
}

impl<'s> Sed<'s> {
    /// Reads one command with its addresses; `None` where it runs something or is not understood.
    fn command(&mut self) -> Option<()> {
        self.skip(&[' ', '\t', '\n', ';']);
        if self.address()? {
            self.skip(&[' ', '\t']);
            if self.eat(',') {
                self.skip(&[' ', '\t']);
                let _ = self.eat('+') || self.eat('~');
                self.address()?.then_some(())?;
            }
        }
        self.skip(&[' ', '\t', '!']);
        match self.next()? {
            '{' => {
                self.depth += 1;
                Some(())
            }
            '}' => {
                self.depth = self.depth.checked_sub(1)?;
                self.end()
            }
            '#' => {
                self.line();
                Some(())
            }
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {
                self.end()
            }
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(&[' ', '\t']);
                self.number();
                self.end()
            }
            // To one sed a label ends at a blank, to another it does not: where one stands in it, what
            // follows is a command to the first.
            ':' | 'b' | 't' | 'T' => {
                self.skip(&[' ', '\t']);
                let stop = self.rest.find(['\n', ';', '}', ' ', '\t']);
                self.advance(stop.unwrap_or(self.rest.len()));
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            'r' | 'R' => {
                let name = self.line().trim().to_owned();
                self.read.push(name);
                Some(())
            }
            'w' | 'W' => {
                let name = self.line().trim().to_owned();
                self.written.push(name);
                Some(())
            }
            's' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter, true)?;
                self.until(delimiter, false)?;
                self.flags()
            }
            'y' => {
                // Characters and no pattern: brackets mean nothing here.
                let delimiter = self.delimiter()?;
                self.until(delimiter, false)?;
                self.until(delimiter, false)?;
                self.end()
            }
            _ => None,
        }
    }

    fn flags(&mut self) -> Option<()> {
        loop {
            match self.rest.chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => self.advance(1),
                Some('w') => {
                    self.advance(1);
                    let name = self.line().trim().to_owned();
                    self.written.push(name);
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }

    /// Whether an address stands here, which is then passed.
    fn address(&mut self) -> Option<bool> {
        match self.rest.chars().next() {
            Some('0'..='9') => {
                self.number();
                if self.eat('~') {
                    self.number();
                }
            }
            Some('$') => self.advance(1),
            Some('/') => {
                self.advance(1);
                self.until('/', true)?;
                self.skip(&['I', 'M']);
            }
            Some('\\') => {
                self.advance(1);
                let delimiter = self.delimiter()?;
                self.until(delimiter, true)?;
                self.skip(&['I', 'M']);
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|c| !matches!(c, '\n' | '\\'))
    }

    /// Passes everything up to the delimiter; inside brackets it is a character like others.
    fn until(&mut self, delimiter: char, is_pattern: bool) -> Option<()> {
        let mut in_brackets = false;
        loop {
            match self.next()? {
                // A backslash inside brackets is a character for some seds only; before a bracket or the
                // delimiter that matters.
                '\\' if in_brackets && self.rest.starts_with([']', '[', delimiter]) => return None,
                '\\' if in_brackets => {}
                '\\' => {
                    self.next()?;
                }
                '\n' => return None,
                c if c == delimiter && !in_brackets => return Some(()),
                '[' if is_pattern && !in_brackets => {
                    in_brackets = true;
                    let _ = self.eat('^');
                    let _ = self.eat(']');
                }
                '[' if in_brackets && self.rest.starts_with([':', '.', '=']) => self.class()?,
                ']' => in_brackets = false,
                _ => {}
            }
        }
    }

    /// Passes the rest of `[:name:]` inside brackets.
    fn class(&mut self) -> Option<()> {
        let close = self.rest.find(']')?;
        let name = self.rest.get(..close)?;
        let is_plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b":.=-".contains(&byte));
        self.advance(close + 1);
        is_plain.then_some(())
    }

    /// The text of `a`, `i` and `c`: to the end of a line that does not end in a backslash. Two of them stand
    /// for one that is text, and where they end a line, seds differ in what comes next.
    fn text(&mut self) -> Option<()> {
        self.skip(&[' ', '\t']);
        if self.eat('\\') {
            self.skip(&[' ', '\t']);
            let _ = self.eat('\n');
        }
        loop {
            let line = self.line();
            if line.ends_with("\\\\") && !self.rest.is_empty() {
                return None;
            }
            if !line.ends_with('\\') || self.rest.is_empty() {
                return Some(());
            }
        }
    }

    /// What may follow a command.
    fn end(&mut self) -> Option<()> {
        self.skip(&[' ', '\t']);
        let ends = self.rest.is_empty() || self.rest.starts_with(['\n', ';', '}', '#']);
        ends.then_some(())
    }

    fn line(&mut self) -> &'s str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    fn number(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }

    fn skip(&mut self, set: &[char]) {
        self.rest = self.rest.trim_start_matches(set);
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest.strip_prefix(wanted);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }
}

/// A jq filter.
pub(super) fn jq(filter: &str) -> Verdict {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let shows = filter.match_indices("env").any(|(at, _)| {
        let before = filter.get(..at).and_then(|text| text.chars().next_back());
        let after = filter.get(at + 3..).and_then(|text| text.chars().next());
        !before.is_some_and(|c| is_word(c) || c == '.') && !after.is_some_and(is_word)
    });
    if shows || filter.contains("ENV") || filter.contains("strenv") || filter.contains("envsubst") {
        return Verdict::Environment;
    }
    if ["import", "include", "load", "eval", "system"]
        .iter()
        .any(|word| filter.contains(word))
    {
        return Verdict::Writes;
    }
    Verdict::nothing()
}

#[cfg(test)]
mod tests {
    use super::super::awk::awk;
    use super::*;

    #[test]
    fn a_line_that_goes_on_hides_nothing() {
        for program in [
            "BEGIN{print\\\n1>\"z\"}",
            "BEGIN{print 1,\n2>\"z\"}",
            "BEGIN{print 1&&\n2>\"z\"}",
        ] {
            assert_eq!(awk(program), Verdict::Writes, "{program}");
        }
        for filter in ["$ ENV", "$\nENV", "$#c\nENV", "env", "$ENV.A"] {
            assert_eq!(jq(filter), Verdict::Environment, "{filter}");
        }
        assert_eq!(sed("a one\\\ntwo\np"), Verdict::nothing());
        for script in [
            "a one\\\\\ne id",
            "i\\\none\\\\\nw out",
            "c x\\\\\\\\\ne id",
        ] {
            assert_eq!(sed(script), Verdict::Runs, "{script}");
        }
    }

    #[test]
    fn a_sed_script_tells_the_files_it_writes_and_hides_no_command() {
        let plain = [
            "1,80p",
            "$p",
            "s/a/b/g",
            "s|a/b|c|;s/x/y/2p",
            "/^#/d",
            "/a/,/b/{p;d}",
            "/x/!d",
            "1~2d",
            "0,/re/s//x/",
            "$!N;P;D",
            ":a;N;$!ba;s/\\n/ /g",
            "s/[^/]*$//I",
            "y/abc/xyz/",
            "5q",
            "a hello; w",
            "s/\\/[^/]*$//",
            "a\\\nhello w x\\\nmore",
            "\\,x,d",
            "s/[[:space:]]*$//",
            "s/[]]/x/",
            "/a/I,+3p",
            "n;d",
            "=",
            ": a;$!{N;b a};P",
            ":a;s/x/y/;ta # again",
        ];
        for script in plain {
            assert_eq!(sed(script), Verdict::nothing(), "{script}");
        }
        for script in [
            "1w out",
            "s/a/b/w out",
            "s/a/b/gpw out",
            "/x/W out",
            "p;w out",
        ] {
            let written = vec!["out".to_owned()];
            assert_eq!(
                sed(script),
                Verdict::Files {
                    read: Vec::new(),
                    written
                },
                "{script}"
            );
        }
        for script in [
            "e",
            "1e touch x",
            "s/a/b/e",
            "s/a/b/ge",
            "s/[\\]/]/x/",
            "s/a",
            "k",
            "a\\\nx\ne date",
            "}",
            "s/a/b/ e",
            "1,e",
            "s/[[:x/:]]/y/",
            ":a e touch x",
            ":a w out",
            "b a e touch x",
            "/x/{ba w out}",
        ] {
            assert_eq!(sed(script), Verdict::Runs, "{script}");
        }
    }

    #[test]
    fn an_awk_program_that_writes_or_runs_is_found() {
        for program in [
            "{print $1}",
            "NR==1",
            "$3 > 5",
            "/a|b/ {print}",
            "{s+=$1} END {print s/NR}",
            "{print ($1 > 2)}",
            "BEGIN{FS=\"|\"} {print $2}",
            "{ if ($1 > 2 || x) print $0 } # > x",
            "{print \"a > b\"}",
            "{print ($1+$2)/2, (a)/(b)}",
            "{x = $NF/2; y = a[1]/2}",
            "BEGIN { x = 1 }\n# both\n/a/ { print }\n/b/\n",
            "{ if ($1 ~ /x/) print; else if (!/y/) z++ }",
        ] {
            assert_eq!(awk(program), Verdict::nothing(), "{program}");
        }
        for program in [
            "{print > \"x\"}",
            "{print $1 >> f}",
            "{ printf \"a\", b > $2 }",
            "{if(1)/a\\(b/;print \"x\">\"f\"}",
        ] {
            assert_eq!(awk(program), Verdict::Writes, "{program}");
        }
        for program in [
            "BEGIN{system(\"x\")}",
            "{print | \"sh\"}",
            "\"date\" | getline",
            "print /\"/; x /\"/",
            "@load \"x\"",
            "BEGIN{a=1; print a \\\n/1|\"touch x\"; b=1/1}",
            "{ print $/\"/; print \"x\" | \"touch y\"; #\"\n}",
            "BEGIN{if(1)/a*/;print \"x\"|\"touch y\";b=1/1}",
            "BEGIN{while(0)/a\"/;print \"x\"|\"sh\"#\"\n}",
            "BEGIN{print length /1|\"touch x\"; b=1/1}",
        ] {
            assert_eq!(awk(program), Verdict::Runs, "{program}");
        }
        assert_eq!(awk("{print ENVIRON[\"X\"]}"), Verdict::Environment);
    }

    #[test]
    fn a_filter_that_shows_the_environment_is_found() {
        assert_eq!(jq(".a.env | .environment"), Verdict::nothing());
        assert_eq!(jq("env.X"), Verdict::Environment);
        assert_eq!(jq("$ENV.X"), Verdict::Environment);
    }
}
