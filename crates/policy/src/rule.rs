//! One line of policy: what it is about, what it says, where it was written.
//!
//! Must not: look at more than one rule.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::wildcard::wildcard;

/// What a rule or a decision says, from mildest to strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Go on.
    Allow,
    /// Somebody has to say yes first.
    Ask,
    /// Never.
    Deny,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A word that is no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an action: expected `allow`, `ask` or `deny`")]
pub struct UnknownAction(String);

impl FromStr for Action {
    type Err = UnknownAction;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "allow" => Ok(Self::Allow),
            "ask" => Ok(Self::Ask),
            "deny" => Ok(Self::Deny),
            _ => Err(UnknownAction(word.to_owned())),
        }
    }
}

/// Where a rule was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file, or the name of what made the rule.
    pub source: Arc<str>,
    /// Line, from 1; 0 when there is no place.
    pub line: u32,
    /// Column in characters, from 1; 0 when there is no place.
    pub column: u32,
}

impl Origin {
    /// An origin that is no place in a file: a built-in list, a reply, a session.
    pub fn named(source: &str) -> Self {
        Self {
            source: source.into(),
            line: 0,
            column: 0,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.source),
            line => write!(f, "{}:{line}:{}", self.source, self.column),
        }
    }
}

/// What a rule is about: a wildcard, or one exact text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern(Kind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Wildcard(String),
    Exact(String),
}

impl Pattern {
    /// A pattern in which `*` and `?` have their meaning, see [`wildcard`].
    pub fn wildcard(text: &str) -> Self {
        Self(Kind::Wildcard(text.to_owned()))
    }

    /// A pattern that matches this text and no other, whatever characters it holds.
    pub fn exact(text: &str) -> Self {
        Self(Kind::Exact(text.to_owned()))
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        match &self.0 {
            Kind::Wildcard(text) | Kind::Exact(text) => text,
        }
    }

    /// Whether it matches its own text only.
    pub fn is_exact(&self) -> bool {
        matches!(self.0, Kind::Exact(_))
    }

    /// Whether it is the catch-all `*`, and not a longer way to write it.
    pub fn is_catch_all(&self) -> bool {
        matches!(&self.0, Kind::Wildcard(text) if text == "*")
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        match &self.0 {
            Kind::Wildcard(pattern) => wildcard(pattern, text),
            Kind::Exact(exact) => exact == text,
        }
    }

    /// Whether it says which program it is about, so that it does not match an arbitrary command.
    ///
    /// True if its first word, wildcards at that word's end apart, is not empty and holds no wildcard:
    /// `rm *`, `rm*` and `git push *`, but not `*`, `*|*`, `*rm*` or `*.env*`.
    pub fn names_a_program(&self) -> bool {
        let Kind::Wildcard(text) = &self.0 else {
            return !self.text().is_empty();
        };
        let word = text.split_whitespace().next().unwrap_or_default();
        let name = word.trim_end_matches(['*', '?']);
        !name.is_empty() && !name.contains(['*', '?'])
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// One line of policy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Which permission it is about; itself a wildcard (`mcp_*`).
    pub permission: String,
    /// Which things it is about.
    pub pattern: Pattern,
    /// What it says about them.
    pub action: Action,
    /// Where it was written.
    pub origin: Origin,
}

impl Rule {
    /// Puts a rule together.
    pub fn new(
        permission: impl Into<String>,
        pattern: Pattern,
        action: Action,
        origin: Origin,
    ) -> Self {
        Self {
            permission: permission.into(),
            pattern,
            action,
            origin,
        }
    }

    /// Whether it is about `permission`, whatever the thing.
    pub fn is_about(&self, permission: &str) -> bool {
        self.permission == permission || wildcard(&self.permission, permission)
    }
}

impl fmt::Display for Rule {
    /// For a person; characters that could deceive a terminal are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            permission,
            pattern,
            action,
            origin,
        } = self;
        let origin = origin.to_string();
        write!(
            f,
            "{} {:?} {action} ({})",
            permission.escape_debug(),
            pattern.text(),
            origin.escape_debug()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_go_from_mild_to_strict_and_are_read_as_they_are_shown() {
        assert!(Action::Allow < Action::Ask && Action::Ask < Action::Deny);
        for action in [Action::Allow, Action::Ask, Action::Deny] {
            assert_eq!(action.to_string().parse(), Ok(action));
        }
        assert_eq!(
            "Allow".parse::<Action>(),
            Err(UnknownAction("Allow".into()))
        );
    }

    #[test]
    fn an_origin_without_a_place_is_only_its_name() {
        assert_eq!(Origin::named("preset normal").to_string(), "preset normal");
        let placed = Origin {
            source: "tollgate.jsonc".into(),
            line: 3,
            column: 5,
        };
        assert_eq!(placed.to_string(), "tollgate.jsonc:3:5");
    }

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
    fn a_shown_rule_cannot_move_the_cursor() {
        let rule = Rule::new(
            "ba\u{1b}sh",
            Pattern::wildcard("a\r\u{202e}b"),
            Action::Ask,
            Origin::named("f\n"),
        );
        assert!(!rule.to_string().contains(char::is_control), "{rule}");
        assert!(!rule.to_string().contains('\u{202e}'), "{rule}");
    }
}
