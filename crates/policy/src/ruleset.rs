//! Rules in their layers, the generation they belong to, and the book that hands out snapshots.
//!
//! Must not: decide anything beyond whether a permission is shut whole.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::evaluate::disabled;
use crate::rule::Rule;

/// Which list a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Presets, agents and configuration, flattened: what holds before anybody is asked.
    Base,
    /// Replies and rules of this session.
    Session,
    /// Replies kept beyond the session.
    Saved,
    /// Managed and read-only denials: they tighten what the others leave and nothing lifts them.
    Hard,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Base => "base",
            Self::Session => "session",
            Self::Saved => "saved",
            Self::Hard => "hard",
        })
    }
}

/// The rules of each layer, in order: the last match wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleLayers {
    /// See [`Layer::Base`].
    pub base: Vec<Rule>,
    /// See [`Layer::Session`].
    pub session: Vec<Rule>,
    /// See [`Layer::Saved`].
    pub saved: Vec<Rule>,
    /// See [`Layer::Hard`].
    pub hard: Vec<Rule>,
}

impl RuleLayers {
    /// The rules of one layer.
    pub fn of(&self, layer: Layer) -> &[Rule] {
        match layer {
            Layer::Base => &self.base,
            Layer::Session => &self.session,
            Layer::Saved => &self.saved,
            Layer::Hard => &self.hard,
        }
    }

    fn of_mut(&mut self, layer: Layer) -> &mut Vec<Rule> {
        match layer {
            Layer::Base => &mut self.base,
            Layer::Session => &mut self.session,
            Layer::Saved => &mut self.saved,
            Layer::Hard => &mut self.hard,
        }
    }
}

/// The rules in force at one moment.
#[derive(Clone, Debug)]
pub struct Ruleset {
    layers: RuleLayers,
    generation: u64,
}

impl Ruleset {
    /// The rules.
    pub fn layers(&self) -> &RuleLayers {
        &self.layers
    }

    /// Counts the changes of the book this was taken from, from 1.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether a permission is shut whole, see [`disabled`]: by the base rules, or by the hard ones.
    pub fn disabled(&self, permission: &str) -> bool {
        disabled(&self.layers.base, permission) || disabled(&self.layers.hard, permission)
    }
}

/// The rules in force. Every change makes a new generation; readers keep the snapshot they took.
#[derive(Debug)]
pub struct RuleBook(RwLock<Arc<Ruleset>>);

impl RuleBook {
    /// A book at generation 1.
    pub fn new(layers: RuleLayers) -> Self {
        Self(RwLock::new(Arc::new(Ruleset {
            layers,
            generation: 1,
        })))
    }

    /// The rules as they are now.
    pub fn current(&self) -> Arc<Ruleset> {
        // INVARIANT: a writer leaves no half-made ruleset behind, so a poisoned lock is still good.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds rules behind those of a layer.
    pub fn append(&self, layer: Layer, rules: Vec<Rule>) {
        let mut slot = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Ruleset::clone(&slot);
        next.layers.of_mut(layer).extend(rules);
        next.generation += 1;
        *slot = Arc::new(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Action, Origin, Pattern};

    fn shut(permission: &str) -> Rule {
        Rule::new(
            permission,
            Pattern::wildcard("*"),
            Action::Deny,
            Origin::named("t"),
        )
    }

    #[test]
    fn appending_makes_a_generation_and_leaves_snapshots_alone() {
        let book = RuleBook::new(RuleLayers::default());
        let before = book.current();
        book.append(Layer::Saved, vec![shut("bash")]);
        let after = book.current();
        assert_eq!((before.generation(), before.layers().saved.len()), (1, 0));
        assert_eq!((after.generation(), after.layers().saved.len()), (2, 1));
    }

    #[test]
    fn base_and_hard_rules_shut_a_permission_and_replies_do_not() {
        for (layer, want) in [
            (Layer::Base, true),
            (Layer::Hard, true),
            (Layer::Session, false),
            (Layer::Saved, false),
        ] {
            let book = RuleBook::new(RuleLayers::default());
            book.append(layer, vec![shut("bash")]);
            assert_eq!(book.current().disabled("bash"), want, "{layer}");
            assert!(!book.current().disabled("edit"));
        }
    }
}
