//! What a rule is about: a wildcard, a path by segments, conditions on arguments, or one exact text.
//!
//! Must not: know a permission. Whether a pattern suits one is for `lint` to say.

use std::fmt;

use crate::subject::{Arguments, Subject};
use crate::wildcard::{Platform, segments, wildcard_on};

/// What opens a pattern that is read segment by segment.
const PATH: &str = "path:";
/// What opens a pattern that is about arguments.
const ARGUMENT: &str = "arg:";
/// What stands between two conditions on arguments.
const AND: &str = " && ";

/// What a rule is about: a wildcard, a path by segments, conditions on arguments, or one exact text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// As it was written.
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Wildcard,
    Exact,
    /// The rest of the text is a path in which `*` stays within a segment and `**` crosses.
    Path,
    Arguments(Vec<Condition>),
}

/// Plain text at one end of whatever a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor<'p> {
    /// It begins with this.
    Start(&'p str),
    /// It ends with this.
    End(&'p str),
    /// There is none, or it cannot be told.
    None,
}

/// That an argument of the call is there and fits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Condition {
    name: String,
    value: String,
}

/// A pattern that says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no condition on an argument: expected `arg:NAME=PATTERN`, several joined by ` && `"
)]
pub struct PatternFault(String);

impl Pattern {
    /// A pattern as a person writes it: `path:src/**`, `arg:sql=SELECT *`, or a wildcard.
    ///
    /// # Errors
    /// Conditions on arguments without a name or without a `=`.
    pub fn read(text: &str) -> Result<Self, PatternFault> {
        if let Some(conditions) = text.strip_prefix(ARGUMENT) {
            let conditions: Option<Vec<Condition>> =
                conditions.split(AND).map(Condition::read).collect();
            let conditions = conditions.ok_or_else(|| PatternFault(text.to_owned()))?;
            return Ok(Self {
                text: text.to_owned(),
                kind: Kind::Arguments(conditions),
            });
        }
        let kind = if text.starts_with(PATH) {
            Kind::Path
        } else {
            Kind::Wildcard
        };
        Ok(Self {
            text: text.to_owned(),
            kind,
        })
    }

    /// A pattern in which `*` and `?` have their meaning, see [`wildcard`](crate::wildcard()), and
    /// nothing else has one.
    pub fn wildcard(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            kind: Kind::Wildcard,
        }
    }

    /// A pattern that matches this text and no other, whatever characters it holds.
    pub fn exact(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            kind: Kind::Exact,
        }
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches its own text only.
    pub fn is_exact(&self) -> bool {
        self.kind == Kind::Exact
    }

    /// Whether it is about arguments of the call and not about the thing that is asked for.
    pub fn is_about_arguments(&self) -> bool {
        matches!(self.kind, Kind::Arguments(_))
    }

    /// Whether it is read segment by segment.
    pub fn is_path(&self) -> bool {
        self.kind == Kind::Path
    }

    /// Whether it is the catch-all `*`, and not a longer way to write it.
    pub fn is_catch_all(&self) -> bool {
        self.kind == Kind::Wildcard && self.text == "*"
    }

    /// Whether the whole of `text` matches on the platform this was built for. Conditions on arguments
    /// match no text.
    pub fn matches(&self, text: &str) -> bool {
        self.matches_on(Platform::HERE, text)
    }

    /// The same on `platform`. An exact pattern matches its own characters on all of them.
    pub fn matches_on(&self, platform: Platform, text: &str) -> bool {
        match &self.kind {
            Kind::Wildcard => wildcard_on(platform, &self.text, text),
            Kind::Exact => self.text == text,
            Kind::Path => segments(platform, self.path(), text),
            Kind::Arguments(_) => false,
        }
    }

    /// Whether it matches one spelling of a subject on the platform this was built for: the text, or
    /// the arguments of the subject's call.
    pub fn fits(&self, text: &str, subject: &Subject) -> bool {
        self.fits_on(Platform::HERE, text, subject)
    }

    /// The same on `platform`.
    pub fn fits_on(&self, platform: Platform, text: &str, subject: &Subject) -> bool {
        match &self.kind {
            Kind::Arguments(conditions) => conditions
                .iter()
                .all(|condition| condition.holds(platform, &subject.arguments)),
            Kind::Wildcard | Kind::Exact | Kind::Path => self.matches_on(platform, text),
        }
    }

    /// Whether it surely matches whatever `other` matches. It may, and yet be unable to tell.
    pub(crate) fn covers(&self, platform: Platform, other: &Self) -> bool {
        if self == other || self.is_catch_all() {
            return true;
        }
        if other.is_exact() {
            return self.matches_on(platform, &other.text);
        }
        if let Some(open) = self.open_start()
            && let Anchor::Start(start) = other.anchor()
            && platform.fold(start).starts_with(&*platform.fold(open))
        {
            return true;
        }
        // A text with its wildcards in it stands for all that they may be, but no `?` for a run.
        let is_run_for_one = self.text.contains('?') && other.text.contains('*');
        let is_between_wildcards = self.kind == Kind::Wildcard && other.kind == Kind::Wildcard;
        let shortest = other.text.strip_suffix(" *").unwrap_or(&other.text);
        is_between_wildcards
            && !is_run_for_one
            && self.matches_on(platform, &other.text)
            && self.matches_on(platform, shortest)
    }

    /// The plain text with which everything that it matches begins, if it matches everything that does.
    fn open_start(&self) -> Option<&str> {
        let start = match &self.kind {
            Kind::Wildcard => self.text.strip_suffix('*'),
            Kind::Path => self
                .path()
                .strip_suffix("**")
                .filter(|it| it.ends_with('/')),
            Kind::Exact | Kind::Arguments(_) => None,
        };
        start.filter(|it| !it.contains(['*', '?']))
    }

    /// Plain text at one end of whatever it matches.
    pub(crate) fn anchor(&self) -> Anchor<'_> {
        fn plain(text: &str) -> Option<&str> {
            (!text.is_empty()).then_some(text)
        }
        let text = match &self.kind {
            Kind::Exact => return Anchor::Start(&self.text),
            Kind::Arguments(_) => return Anchor::None,
            Kind::Path => self.path(),
            Kind::Wildcard if self.text == "*" => return Anchor::Start(""),
            Kind::Wildcard => &self.text,
        };
        // A space may be missing with the star behind it, and a slash with the stars before it.
        let start = text.split(['*', '?']).next().unwrap_or_default();
        let end = text.rsplit(['*', '?']).next().unwrap_or_default();
        let start = plain(start.strip_suffix(' ').unwrap_or(start)).map(Anchor::Start);
        let end = plain(end.strip_prefix('/').unwrap_or(end)).map(Anchor::End);
        start.or(end).unwrap_or(Anchor::None)
    }

    /// What a pattern by segments says about segments.
    fn path(&self) -> &str {
        self.text.strip_prefix(PATH).unwrap_or_default()
    }

    /// Whether it says which program it is about, so that it does not match an arbitrary command.
    ///
    /// True if its first word, wildcards at that word's end apart, is not empty and holds no wildcard:
    /// `rm *`, `rm*` and `git push *`, but not `*`, `*|*`, `*rm*` or `*.env*`.
    pub fn names_a_program(&self) -> bool {
        match &self.kind {
            Kind::Exact => !self.text.is_empty(),
            Kind::Path | Kind::Arguments(_) => false,
            Kind::Wildcard => {
                let word = self.text.split_whitespace().next().unwrap_or_default();
                let name = word.trim_end_matches(['*', '?']);
                !name.is_empty() && !name.contains(['*', '?'])
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl Condition {
    /// Reads `NAME=PATTERN`; a later one of several may repeat `arg:`.
    fn read(written: &str) -> Option<Self> {
        let written = written.strip_prefix(ARGUMENT).unwrap_or(written);
        let (name, value) = written.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }

    fn holds(&self, platform: Platform, arguments: &Arguments) -> bool {
        let mut values = arguments.iter().filter(|(name, _)| *name == self.name);
        values.any(|(_, value)| wildcard_on(platform, &self.value, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn an_exact_pattern_gives_wildcards_no_meaning() {
        let exact = Pattern::exact("rm *");
        assert!(exact.matches("rm *") && !exact.matches("rm x") && !exact.matches("rm"));
        assert!(!Pattern::exact("*").is_catch_all() && Pattern::wildcard("*").is_catch_all());
    }

    #[test]
    fn a_pattern_names_a_program_by_its_first_word() {
        for (pattern, want) in [
            ("rm *", true),
            ("rm*", true),
            ("rm", true),
            ("git push *", true),
            ("/bin/*", true),
            ("*", false),
            ("**", false),
            ("? x", false),
            ("*|*", false),
            ("*rm*", false),
            ("*.env*", false),
            ("r*m x", false),
            (" *", false),
            ("", false),
        ] {
            assert_eq!(
                Pattern::wildcard(pattern).names_a_program(),
                want,
                "{pattern:?}"
            );
        }
        assert!(Pattern::exact("*rm").names_a_program());
        assert!(!Pattern::exact("").names_a_program());
    }

    #[test]
    fn a_path_pattern_minds_segments() {
        let check = |pattern: &str, text: &str, want: bool| {
            let pattern = Pattern::read(pattern).unwrap();
            assert_eq!(pattern.matches(text), want, "{pattern} {text}");
        };
        check("path:src/*", "src/a", true);
        check("path:src/*", "src/a/b", false);
        check("path:src/**", "src/a/b", true);
        check("path:src/**", "src", false);
        check("path:**/x.ts", "x.ts", true);
        check("path:src/**/x.ts", "src/x.ts", true);
        check("path:src/**/x.ts", "src/a/b/x.ts", true);
        check("src/*", "src/a/b", true);
    }

    #[test]
    fn conditions_on_arguments_hold_all_or_not_at_all() {
        let mut subject = Subject::name("db", "*");
        subject.arguments = Arc::from([
            ("sql".to_owned(), "SELECT 1".to_owned()),
            ("db".to_owned(), "test".to_owned()),
        ]);
        let check = |pattern: &str, want: bool| {
            let pattern = Pattern::read(pattern).unwrap();
            assert_eq!(pattern.fits("*", &subject), want, "{pattern}");
        };
        check("arg:sql=SELECT *", true);
        check("arg:sql=SELECT * && db=test", true);
        check("arg:sql=SELECT * && arg:db=test", true);
        check("arg:sql=SELECT * && db=prod", false);
        check("arg:nosuch=*", false);
        check("arg:sql=", false);
        for wrong in ["arg:", "arg:sql", "arg:=x", "arg:a=b && c"] {
            assert!(Pattern::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_covers_what_lies_inside_it() {
        for (outer, inner, want) in [
            ("*", "arg:a=b", true),
            ("a*", "arg:a=b", false),
            ("p*", "path:src/**", false),
            ("git *", "git push *", true),
            ("git push *", "git *", false),
            ("git *", "git *", true),
            ("rm ?", "rm *", false),
            ("rm ?", "rm x", true),
            ("rm ?", "rm ?", true),
            // `x *` also matches `x`.
            ("* **", "x *", false),
            ("path:src/**", "src/a/*", true),
            ("path:src/**", "path:src/**/x", true),
            ("path:src/**", "srcs/*", false),
            ("path:src/*", "src/*", false),
            ("path:src/*", "path:src/*", true),
            ("src/*", "path:src/**", true),
            ("src/*", "path:src/**/x", true),
            ("*.rs", "path:src/*.rs", false),
            ("arg:a=b", "arg:a=b", true),
            ("arg:a=b", "*", false),
        ] {
            let pattern = |text| Pattern::read(text).unwrap();
            let got = pattern(outer).covers(Platform::Unix, &pattern(inner));
            assert_eq!(got, want, "{outer} {inner}");
        }
        let exact = Pattern::exact("src/*");
        let outer = Pattern::read("path:src/*").unwrap();
        assert!(outer.covers(Platform::Unix, &exact) && !exact.covers(Platform::Unix, &outer));
    }

    #[test]
    fn an_anchor_is_at_one_end_of_whatever_matches() {
        for (pattern, anchor) in [
            ("*", Anchor::Start("")),
            ("git status", Anchor::Start("git status")),
            ("git *", Anchor::Start("git")),
            ("git*", Anchor::Start("git")),
            ("*.env", Anchor::End(".env")),
            ("*|*", Anchor::None),
            ("?", Anchor::None),
            (" *", Anchor::None),
            ("path:src/**/x.ts", Anchor::Start("src/")),
            ("path:**/x.ts", Anchor::End("x.ts")),
            ("path:a */x", Anchor::Start("a")),
            ("arg:a=b", Anchor::None),
        ] {
            assert_eq!(
                Pattern::read(pattern).unwrap().anchor(),
                anchor,
                "{pattern}"
            );
        }
        assert_eq!(Pattern::exact("*").anchor(), Anchor::Start("*"));
    }
}
