//! The three presets and the tiers of confinement they are written for.
//! Must not find out which tier this machine has: it is told.

use std::{fmt, str::FromStr};

use policy::{Action, Rule};

use crate::built_in::built_in_rules;

/// How much happens without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Runs by itself only commands that tell a little about the machine.
    Cautious,
    /// Looks freely inside the workspace, asks before it changes or runs anything.
    #[default]
    Normal,
    /// Normal for when nobody is there: what would be asked is denied.
    Unattended,
}

/// How well a child process is walled in on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Namespaces: network off, outside and secrets unreachable.
    Full,
    /// Landlock and seccomp.
    Partial,
    /// No walls.
    None,
}

/// A word that names no preset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPreset(
    /// The word as it was written.
    pub String,
);

impl Preset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::Cautious, Self::Normal, Self::Unattended];

    /// The preset's rules for a tier: those of every tier, then the tier's own, then what no tier opens.
    ///
    /// `home` is the directory that `~` and `$HOME` stand for.
    pub fn rules(self, tier: Tier, home: Option<&str>) -> Vec<Rule> {
        let (label, text) = self.file();
        let parts = ["every", tier.key(), "protected"];
        let rules = parts.map(|key| built_in_rules(text, label, key, home));
        rules.concat()
    }

    /// An agent's rule as it stands under this preset: `Unattended` asks nothing.
    pub(crate) fn tighten(self, mut rule: Rule) -> Rule {
        if self == Self::Unattended && rule.action == Action::Ask {
            rule.action = Action::Deny;
        }
        rule
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Cautious => "cautious",
            Self::Normal => "normal",
            Self::Unattended => "unattended",
        }
    }

    /// The label by which origins name the file, and its text.
    const fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Cautious => (
                "built-in presets/cautious.jsonc",
                include_str!("../data/presets/cautious.jsonc"),
            ),
            Self::Normal => (
                "built-in presets/normal.jsonc",
                include_str!("../data/presets/normal.jsonc"),
            ),
            Self::Unattended => (
                "built-in presets/unattended.jsonc",
                include_str!("../data/presets/unattended.jsonc"),
            ),
        }
    }
}

impl Tier {
    /// All tiers, the strongest first.
    pub const ALL: [Self; 3] = [Self::Full, Self::Partial, Self::None];

    const fn key(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        (Self::ALL.into_iter())
            .find(|preset| preset.name() == text)
            .ok_or_else(|| UnknownPreset(text.to_owned()))
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(word) = self;
        write!(
            f,
            "unknown preset `{word}`: it is `cautious`, `normal` or `unattended`"
        )
    }
}

impl std::error::Error for UnknownPreset {}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::written;

    #[test]
    fn every_list_of_every_preset_reads_without_a_fault() {
        for preset in Preset::ALL {
            let (label, text) = preset.file();
            for key in ["every", "full", "partial", "none", "protected"] {
                let rules = written::read_rules(text, label, &[key], None);
                assert!(rules.is_ok_and(|rules| !rules.is_empty()), "{label} {key}");
            }
        }
    }

    #[test]
    fn a_preset_is_known_by_the_word_it_shows() {
        for preset in Preset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
        }
        for word in ["", "Normal", "yolo"] {
            assert_eq!(word.parse::<Preset>(), Err(UnknownPreset(word.to_owned())));
        }
    }
}
