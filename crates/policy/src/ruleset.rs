//! Rules in their layers, the generation they belong to, and the book that hands out snapshots.
//!
//! Must not: decide anything beyond whether a permission is shut whole.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::evaluate::closing_rule;
use crate::index::{Index, List};
use crate::rule::Rule;
use crate::wildcard::Platform;

/// Which list a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Presets, agents and configuration, flattened: what holds before anybody is asked.
    Base,
    /// Files of a repository that nobody has trusted: they tighten what the base rules say and never
    /// loosen it.
    Project,
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
            Self::Project => "project",
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
    /// See [`Layer::Project`].
    pub project: Vec<Rule>,
    /// See [`Layer::Session`].
    pub session: Vec<Rule>,
    /// See [`Layer::Saved`].
    pub saved: Vec<Rule>,
    /// See [`Layer::Hard`].
    pub hard: Vec<Rule>,
    /// Whether the user lets agents change agents' configuration by the rules alone. Only their own files
    /// say so, never those of a project. What git, editors and shells run stays protected.
    pub is_configuration_open: bool,
}

impl RuleLayers {
    /// The rules of one layer.
    pub fn of(&self, layer: Layer) -> &[Rule] {
        match layer {
            Layer::Base => &self.base,
            Layer::Project => &self.project,
            Layer::Session => &self.session,
            Layer::Saved => &self.saved,
            Layer::Hard => &self.hard,
        }
    }

    fn of_mut(&mut self, layer: Layer) -> &mut Vec<Rule> {
        match layer {
            Layer::Base => &mut self.base,
            Layer::Project => &mut self.project,
            Layer::Session => &mut self.session,
            Layer::Saved => &mut self.saved,
            Layer::Hard => &mut self.hard,
        }
    }
}

/// The rules in force at one moment.
#[derive(Clone, Debug)]
pub struct Ruleset {
    platform: Platform,
    layers: RuleLayers,
    indexes: Indexes,
    /// The base rules with those of the project behind them; `None` if there are none of the project.
    base_and_project: Option<(Vec<Rule>, Index)>,
    generation: u64,
}

/// Where the rules of each layer are found.
#[derive(Clone, Debug)]
struct Indexes {
    base: Index,
    project: Index,
    session: Index,
    saved: Index,
    hard: Index,
}

impl Ruleset {
    fn new(platform: Platform, layers: RuleLayers, generation: u64) -> Self {
        let index = |rules: &[Rule]| Index::new(platform, rules);
        let indexes = Indexes {
            base: index(&layers.base),
            project: index(&layers.project),
            session: index(&layers.session),
            saved: index(&layers.saved),
            hard: index(&layers.hard),
        };
        let has_project = !layers.project.is_empty();
        let base_and_project = has_project.then(|| {
            let both = [layers.base.as_slice(), &layers.project].concat();
            let index = index(&both);
            (both, index)
        });
        Self {
            platform,
            layers,
            indexes,
            base_and_project,
            generation,
        }
    }

    /// The rules.
    pub fn layers(&self) -> &RuleLayers {
        &self.layers
    }

    /// Counts the changes of the book this was taken from, from 1.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whose spelling of names and paths holds.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// The next generation of these rules, with some more behind those of a layer. No book holds it.
    pub fn with(&self, layer: Layer, rules: impl IntoIterator<Item = Rule>) -> Arc<Self> {
        let mut layers = self.layers.clone();
        layers.of_mut(layer).extend(rules);
        Arc::new(Self::new(self.platform, layers, self.generation + 1))
    }

    /// The base rules with those of the project behind them, if there are any of the project.
    ///
    /// What the two lists say together counts only where it is stricter than the base rules alone.
    pub fn base_and_project(&self) -> Option<&[Rule]> {
        let (rules, _) = self.base_and_project.as_ref()?;
        Some(rules)
    }

    /// The rules of one layer, to look things up in.
    pub(crate) fn list(&self, layer: Layer) -> List<'_> {
        let indexes = &self.indexes;
        let index = match layer {
            Layer::Base => &indexes.base,
            Layer::Project => &indexes.project,
            Layer::Session => &indexes.session,
            Layer::Saved => &indexes.saved,
            Layer::Hard => &indexes.hard,
        };
        List::new(self.layers.of(layer), index)
    }

    /// [`Self::base_and_project`], to look things up in.
    pub(crate) fn tightened(&self) -> Option<List<'_>> {
        let (rules, index) = self.base_and_project.as_ref()?;
        Some(List::new(rules, index))
    }

    /// Whether a permission is shut whole, see [`Self::closing_rule`].
    pub fn disabled(&self, permission: &str) -> bool {
        self.closing_rule(permission).is_some()
    }

    /// The rule that shuts a permission whole, see [`disabled`](crate::disabled), and for whose sake: of
    /// the base rules, of the hard ones, or of the base rules with those of the project behind them.
    pub fn closing_rule(&self, permission: &str) -> Option<(Layer, &Rule)> {
        let lists = [
            (Layer::Base, self.layers.base.as_slice()),
            (Layer::Hard, &self.layers.hard),
            (Layer::Project, self.base_and_project().unwrap_or_default()),
        ];
        lists.into_iter().find_map(|(layer, rules)| {
            Some((layer, closing_rule(self.platform, rules, permission)?))
        })
    }
}

/// The rules in force. Every change makes a new generation; readers keep the snapshot they took.
#[derive(Debug)]
pub struct RuleBook(RwLock<Arc<Ruleset>>);

impl RuleBook {
    /// A book at generation 1, for the platform this was built for.
    pub fn new(layers: RuleLayers) -> Self {
        Self::on(Platform::HERE, layers)
    }

    /// The same for `platform`.
    pub fn on(platform: Platform, layers: RuleLayers) -> Self {
        Self(RwLock::new(Arc::new(Ruleset::new(platform, layers, 1))))
    }

    /// The rules as they are now.
    pub fn current(&self) -> Arc<Ruleset> {
        // INVARIANT: a writer leaves no half-made ruleset behind, so a poisoned lock is still good.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds rules behind those of a layer.
    pub fn append(&self, layer: Layer, rules: Vec<Rule>) {
        let mut slot = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *slot = slot.with(layer, rules);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::{Action, Origin};

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
    fn base_project_and_hard_rules_shut_a_permission_and_replies_do_not() {
        for (layer, want) in [
            (Layer::Base, true),
            (Layer::Project, true),
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

    #[test]
    fn no_project_rule_opens_what_the_base_rules_shut() {
        let book = RuleBook::new(RuleLayers {
            base: vec![shut("bash")],
            ..RuleLayers::default()
        });
        let mut open = shut("bash");
        open.action = Action::Allow;
        book.append(Layer::Project, vec![open]);
        assert!(book.current().disabled("bash"));
    }

    #[test]
    fn base_rules_added_later_stand_before_those_of_the_project() {
        let book = RuleBook::new(RuleLayers {
            project: vec![shut("bash")],
            ..RuleLayers::default()
        });
        book.append(Layer::Base, vec![shut("edit")]);
        let rules = book.current();
        let both = rules.base_and_project().unwrap();
        assert_eq!(both, [shut("edit"), shut("bash")]);
        assert!(
            RuleBook::new(RuleLayers::default())
                .current()
                .base_and_project()
                .is_none()
        );
    }
}
