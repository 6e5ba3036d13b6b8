//! A list of rules in which the last one about something is found without walking all of it.
//!
//! Must not: decide, or answer otherwise than a walk from the last rule to the first.
//!
//! Rules stand on a shelf for the name of their permission. On a shelf they are found by the plain text
//! that whatever they match begins or ends with; the few that have none are tried one by one. All of
//! this only leaves out rules that cannot match: a pattern is still asked before its rule is an answer.

use std::collections::HashMap;

use crate::pattern::Anchor;
use crate::rule::{Action, Rule};
use crate::subject::Subject;
use crate::wildcard::{Platform, wildcard_on};

/// A rule and its place in its list.
pub(crate) type Found<'r> = (usize, &'r Rule);

/// Where the rules of one list are found. Holds places in the list and not the rules.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    platform: Platform,
    /// By the name of a permission, folded.
    named: HashMap<String, Shelf>,
    /// By a wildcard for such names.
    wild: Vec<(String, Shelf)>,
}

/// An ordered list of rules with its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'r> {
    rules: &'r [Rule],
    index: &'r Index,
}

/// The rules of a list that are about one permission.
#[derive(Debug)]
pub(crate) struct Section<'r> {
    list: List<'r>,
    shelves: Vec<&'r Shelf>,
}

impl Index {
    pub(crate) fn new(platform: Platform, rules: &[Rule]) -> Self {
        let mut places: HashMap<String, Vec<Found<'_>>> = HashMap::new();
        for (place, rule) in rules.iter().enumerate() {
            let name = platform.fold(&rule.permission).into_owned();
            places.entry(name).or_default().push((place, rule));
        }
        let is_wild = |name: &str| name.contains(['*', '?']);
        let shelves = places
            .into_iter()
            .map(|(name, rules)| (name, Shelf::new(platform, &rules)));
        let (wild, named): (Vec<_>, Vec<_>) = shelves.partition(|(name, _)| is_wild(name));
        Self {
            platform,
            named: named.into_iter().collect(),
            wild,
        }
    }
}

impl<'r> List<'r> {
    /// `index` is that of these very rules.
    pub(crate) fn new(rules: &'r [Rule], index: &'r Index) -> Self {
        Self { rules, index }
    }

    pub(crate) fn platform(self) -> Platform {
        self.index.platform
    }

    /// The rules about a permission that are kept, on a shelf of their own: worth it for very many texts.
    pub(crate) fn shelf(
        self,
        permission: &str,
        narrower: Option<&str>,
        keep: impl Fn(&Rule) -> bool,
    ) -> Shelf {
        let platform = self.platform();
        let is_about = |rule: &Rule| {
            let mut names = [Some(permission), narrower].into_iter().flatten();
            names.any(|name| rule.is_about_on(platform, name))
        };
        let rules = self.rules.iter().enumerate();
        let rules = rules.filter(|(_, rule)| is_about(rule) && keep(rule));
        Shelf::new(platform, &rules.collect::<Vec<_>>())
    }

    /// The last rule on these shelves that fits, of those whose pattern may match `text`.
    pub(crate) fn last_on<'s>(
        self,
        shelves: impl IntoIterator<Item = &'s Shelf>,
        text: &str,
        fits: impl Fn(&Rule) -> bool,
    ) -> Option<Found<'r>> {
        let folded = self.platform().fold(text);
        let letters = folded.bytes();
        let mut last: Option<Found<'r>> = None;
        let mut look_at = |places: &[usize]| {
            for place in places.iter().rev() {
                if last.is_some_and(|(last, _)| last >= *place) {
                    return;
                }
                if let Some(rule) = self.rules.get(*place)
                    && fits(rule)
                {
                    last = Some((*place, rule));
                    return;
                }
            }
        };
        for shelf in shelves {
            shelf.starts.each_start_of(&letters, &mut look_at);
            shelf
                .ends
                .each_start_of(&letters.clone().rev(), &mut look_at);
            look_at(&shelf.others);
        }
        last
    }

    /// The rules about a permission, also by a narrower name for it.
    pub(crate) fn about(self, permission: &str, narrower: Option<&str>) -> Section<'r> {
        let Index {
            platform,
            named,
            wild,
        } = self.index;
        let names = [Some(permission), narrower];
        let names = || names.into_iter().flatten();
        let mut shelves: Vec<&Shelf> = names()
            .filter_map(|name| named.get(&*platform.fold(name)))
            .collect();
        let is_meant = |pattern: &String| names().any(|name| wildcard_on(*platform, pattern, name));
        let wild = wild.iter().filter(|(pattern, _)| is_meant(pattern));
        shelves.extend(wild.map(|(_, shelf)| shelf));
        Section {
            list: self,
            shelves,
        }
    }
}

impl<'r> Section<'r> {
    /// The last rule whose pattern fits one spelling of a subject and which is kept.
    pub(crate) fn last(
        &self,
        subject: &Subject,
        text: &str,
        keep: impl Fn(&Rule) -> bool,
    ) -> Option<Found<'r>> {
        let platform = self.list.platform();
        let shelves = self.shelves.iter().copied();
        self.list.last_on(shelves, text, |rule| {
            rule.pattern.fits_on(platform, text, subject) && keep(rule)
        })
    }

    /// The last rule that is narrower than `*` and no allow.
    pub(crate) fn last_caution(&self) -> Option<&'r Rule> {
        let last = self.shelves.iter().filter_map(|shelf| shelf.caution).max();
        last.and_then(|place| self.list.rules.get(place))
    }

    /// The last of them that is narrower than `*` and a deny.
    pub(crate) fn last_narrow_deny(&self) -> Option<&'r Rule> {
        let last = self.shelves.iter().filter_map(|shelf| shelf.denial).max();
        last.and_then(|place| self.list.rules.get(place))
    }
}

/// Rules of one list that are looked through together.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    starts: Starts,
    /// Everything backwards.
    ends: Starts,
    /// In order.
    others: Vec<usize>,
    /// The last rule that is narrower than `*` and no allow.
    caution: Option<usize>,
    /// The last of these that is a deny.
    denial: Option<usize>,
}

impl Shelf {
    fn new(platform: Platform, rules: &[Found<'_>]) -> Self {
        let (mut starts, mut ends, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for &(place, rule) in rules {
            match rule.pattern.anchor() {
                Anchor::Start(text) => {
                    starts.push((platform.fold(text).bytes().collect(), place));
                }
                Anchor::End(text) => {
                    ends.push((platform.fold(text).bytes().rev().collect(), place));
                }
                Anchor::None => others.push(place),
            }
        }
        let is_caution = |rule: &Rule| rule.action != Action::Allow && !rule.pattern.is_catch_all();
        let caution = rules.iter().rfind(|(_, rule)| is_caution(rule));
        let is_denial = |rule: &Rule| is_caution(rule) && rule.action == Action::Deny;
        let denial = rules.iter().rfind(|(_, rule)| is_denial(rule));
        Self {
            starts: Starts::new(starts),
            ends: Starts::new(ends),
            others,
            caution: caution.map(|(place, _)| *place),
            denial: denial.map(|(place, _)| *place),
        }
    }
}

/// Texts in order, each with what is filed under it and with the longest other one it begins with.
///
/// Whichever of them a text begins with stand at or before it, and all between begin with them too. So
/// they are the last one that stands there, or are reached from it by going from each to its beginning.
#[derive(Clone, Debug)]
struct Starts(Vec<Start>);

#[derive(Clone, Debug)]
struct Start {
    text: Box<[u8]>,
    /// Where the longest other text stands that this one begins with.
    beginning: Option<usize>,
    /// In order.
    places: Vec<usize>,
}

impl Starts {
    fn new(mut filed: Vec<(Box<[u8]>, usize)>) -> Self {
        filed.sort_unstable();
        let mut starts: Vec<Start> = Vec::new();
        for (text, place) in filed {
            if let Some(last) = starts.last_mut()
                && last.text == text
            {
                last.places.push(place);
                continue;
            }
            let beginning =
                longest_start(&starts, &text.iter().copied(), starts.len().checked_sub(1));
            starts.push(Start {
                text,
                beginning,
                places: vec![place],
            });
        }
        Self(starts)
    }

    /// What is filed under everything that a text begins with, longest first.
    fn each_start_of(
        &self,
        text: &(impl Iterator<Item = u8> + Clone),
        mut look_at: impl FnMut(&[usize]),
    ) {
        let is_before = |start: &Start| start.text.iter().copied().le(text.clone());
        let after = self.0.partition_point(is_before);
        let mut next = longest_start(&self.0, text, after.checked_sub(1));
        while let Some(start) = next.and_then(|at| self.0.get(at)) {
            look_at(&start.places);
            next = start.beginning;
        }
    }
}

/// The longest one that a text begins with: the one at this place, its beginning, or the beginning's.
fn longest_start(
    starts: &[Start],
    text: &(impl Iterator<Item = u8> + Clone),
    mut at: Option<usize>,
) -> Option<usize> {
    while let Some(start) = starts.get(at?) {
        let mut text = text.clone();
        if start.text.iter().all(|byte| text.next() == Some(*byte)) {
            return at;
        }
        at = start.beginning;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::Origin;
    use proptest::prelude::*;
    use proptest::sample::select;

    const NAMES: [&str; 8] = ["*", "bash", "b*", "BASH", "read", "x.read", "x.*", "*d"];

    fn rule() -> impl Strategy<Value = Rule> {
        let letters = "[ab /é*A\\\\]{0,5}|[ab?/]{0,3}\\*?[ab *]{0,3}";
        let pattern = prop_oneof![
            6 => letters.prop_map(|text| Pattern::wildcard(&text)),
            2 => letters.prop_map(|text| Pattern::exact(&text)),
            2 => letters.prop_map(|text| Pattern::read(&format!("path:{text}")).unwrap()),
            2 => "path:(\\*\\*/)?[ab*]{1,2}/(\\*\\*|a /b|b)".prop_map(|text| Pattern::read(&text).unwrap()),
            1 => Just(Pattern::read("arg:a=b*").unwrap()),
        ];
        let action = select(vec![Action::Allow, Action::Ask, Action::Deny]);
        let permission = select(&NAMES[..]);
        (permission, pattern, action).prop_map(|(permission, pattern, action)| {
            Rule::new(permission, pattern, action, Origin::named("t"))
        })
    }

    fn platform() -> impl Strategy<Value = Platform> {
        select(vec![Platform::Unix, Platform::Mac, Platform::Windows])
    }

    fn subject() -> impl Strategy<Value = Subject> {
        let narrower = select(vec![None, Some("x.read"), Some("bash")]);
        let arguments = select(vec!["b", "c"]);
        let text = "[ab /éÉA\\\\]{0,6}|[ab]{1,2}/([ab]/){0,2}[ab]{1,2}";
        let permission = select(vec!["bash", "read", "other"]);
        (permission, text, narrower, arguments).prop_map(
            |(permission, text, narrower, argument)| {
                let mut subject = Subject::name(permission, text);
                subject.narrower = narrower;
                subject.arguments = [("a".to_owned(), argument.to_owned())].into();
                subject
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

        #[test]
        fn what_is_found_is_what_a_walk_finds(
            platform in platform(),
            rules in proptest::collection::vec(rule(), 0..40),
            subject in subject(),
            is_picky in any::<bool>(),
        ) {
            let index = Index::new(platform, &rules);
            let section = List::new(&rules, &index).about(&subject.permission, subject.narrower);
            let is_about = |rule: &Rule| {
                rule.is_about_on(platform, &subject.permission)
                    || subject.narrower.is_some_and(|name| rule.is_about_on(platform, name))
            };
            let keep = |rule: &Rule| !(is_picky && rule.action == Action::Allow);
            let fits = |rule: &Rule| rule.pattern.fits_on(platform, &subject.canonical, &subject);
            let walk = |hit: &dyn Fn(&Rule) -> bool| {
                rules.iter().enumerate().rfind(|(_, rule)| is_about(rule) && hit(rule))
            };

            let found = section.last(&subject, &subject.canonical, keep);
            prop_assert_eq!(found, walk(&|rule| fits(rule) && keep(rule)));
            let shelf = List::new(&rules, &index).shelf(&subject.permission, subject.narrower, keep);
            prop_assert_eq!(found, List::new(&rules, &index).last_on([&shelf], &subject.canonical, fits));
            let is_caution = |rule: &Rule| rule.action != Action::Allow && !rule.pattern.is_catch_all();
            prop_assert_eq!(section.last_caution(), walk(&is_caution).map(|(_, rule)| rule));
        }
    }

    /// How many rules are looked at for the longest of these texts.
    fn looks(patterns: &[String], text: &str) -> usize {
        let rule = |text: &String| {
            let pattern = Pattern::wildcard(text);
            Rule::new("bash", pattern, Action::Allow, Origin::named("t"))
        };
        let rules: Vec<Rule> = patterns.iter().map(rule).collect();
        let index = Index::new(Platform::Unix, &rules);
        let count = std::cell::Cell::new(0);
        let section = List::new(&rules, &index).about("bash", None);
        section.list.last_on(section.shelves, text, |_| {
            count.set(count.get() + 1);
            false
        });
        count.get()
    }

    #[test]
    fn few_of_many_rules_are_looked_at() {
        let many = |make: fn(usize) -> String| (0..1_000).map(make).collect::<Vec<_>>();
        assert_eq!(looks(&many(|n| format!("tool{n} *")), "tool77 x"), 2);
        assert_eq!(looks(&many(|n| format!("*.end{n}")), "x.end77"), 1);
        assert_eq!(looks(&many(|n| format!("*x{n}*")), "x77"), 1_000);
    }
}
