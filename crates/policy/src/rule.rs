//! One line of policy: what it is about, what it says, where it was written.
//!
//! Must not: look at more than one rule.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::pattern::Pattern;
use crate::subject::Subject;
use crate::wildcard::{Platform, wildcard_on};

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

    /// Whether it is a list of our own and nobody's configuration.
    pub fn is_built_in(&self) -> bool {
        self.source.starts_with("built-in ")
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

    /// `bash: rm * = deny`: what it says, without its place and as it is, nothing escaped.
    pub fn in_short(&self) -> String {
        let Self {
            permission,
            pattern,
            action,
            ..
        } = self;
        format!("{permission}: {pattern} = {action}")
    }

    /// Whether it is about `permission`, whatever the thing, on the platform this was built for.
    pub fn is_about(&self, permission: &str) -> bool {
        self.is_about_on(Platform::HERE, permission)
    }

    /// The same on `platform`.
    pub fn is_about_on(&self, platform: Platform, permission: &str) -> bool {
        self.permission == permission || wildcard_on(platform, &self.permission, permission)
    }

    /// Whether it is about the permission of a subject, by either of its names, on the platform this
    /// was built for.
    pub fn is_about_subject(&self, subject: &Subject) -> bool {
        self.is_about(&subject.permission)
            || subject.narrower.is_some_and(|name| self.is_about(name))
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
