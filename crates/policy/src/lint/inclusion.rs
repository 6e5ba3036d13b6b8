//! What patterns match in common: a text that some match and others do not, or that there is none.
//!
//! Must not: know a rule.
//!
//! Each pattern is read as an automaton, and all of them are run side by side over every text at once:
//! a node is the set of places they may have come to. The letters that no pattern names all do the same,
//! so one of them stands for the rest.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ops::Range;

use crate::pattern::{Anchor, Pattern};
use crate::wildcard::Platform;

/// The most nodes that are looked at; what is not settled by then stays open.
const NODES_MAX: usize = 1_000;

/// The most patterns that are held against one.
pub(super) const OUTSIDE_MAX: usize = 64;

/// Whether `outer` surely matches every text that `inner` matches, on the platform this was built for.
///
/// Exact for wildcards, paths and exact texts, but for patterns so intricate that it cannot be told
/// soon; then it says no. Conditions on arguments are included in a pattern that matches everything, and
/// in themselves.
pub fn includes(outer: &Pattern, inner: &Pattern) -> bool {
    is_covered(inner, &[outer])
}

/// Whether every text that `inner` matches is surely matched by one of these.
pub(super) fn is_covered(inner: &Pattern, outers: &[&Pattern]) -> bool {
    if outers.contains(&inner) {
        return true;
    }
    if inner.is_about_arguments() {
        // Its subject may have any text.
        return is_covered(&Pattern::wildcard("*"), outers);
    }
    search(&[inner], outers) == Search::Nothing
}

/// What came of looking for a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// The shortest text there is.
    Text(String),
    /// There is no such text.
    Nothing,
    /// It cannot be told soon.
    Open,
}

/// Looks for a text that all of `inside` match and none of `outside`.
pub(super) fn search(inside: &[&Pattern], outside: &[&Pattern]) -> Search {
    let is_apart = |it: &Pattern| inside.iter().any(|wanted| are_apart(it, wanted));
    if inside.iter().any(|it| is_apart(it)) {
        return Search::Nothing;
    }
    let mut automaton = Automaton::default();
    let mut wanted = Vec::new();
    for pattern in inside {
        match automaton.add(pattern) {
            Some(part) => wanted.push(part),
            // It matches no text.
            None => return Search::Nothing,
        }
    }
    // On other platforms an exact text matches less than its folded form does.
    let is_plain = |it: &&&Pattern| Platform::HERE == Platform::Unix || !it.is_exact();
    let unwanted = outside.iter().filter(is_plain).filter(|it| !is_apart(it));
    let unwanted = unwanted.take(OUTSIDE_MAX);
    let unwanted: Vec<Part> = unwanted.filter_map(|it| automaton.add(it)).collect();

    let letters = automaton.letters();
    let starts = wanted.iter().chain(&unwanted).map(|part| part.start);
    let start = automaton.rest(starts);
    let mut seen = HashSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, String::new())]);
    while let Some((node, text)) = queue.pop_front() {
        let has = |part: &Part, is: fn(&State) -> bool| {
            let of_part = node.iter().filter(|place| part.states.contains(place));
            of_part
                .filter_map(|&place| automaton.states.get(place))
                .any(is)
        };
        let is_lost = wanted.iter().any(|part| !has(part, |_| true));
        if is_lost || unwanted.iter().any(|part| has(part, State::takes_all)) {
            continue;
        }
        let is_end = |part: &Part| has(part, |state| state.is_end);
        if wanted.iter().all(is_end) && !unwanted.iter().any(is_end) {
            return Search::Text(text);
        }
        for &letter in &letters {
            let next = automaton.step(&node, letter);
            if seen.contains(&next) {
                continue;
            }
            if seen.len() >= NODES_MAX {
                return Search::Open;
            }
            seen.insert(next.clone());
            queue.push_back((next, format!("{text}{letter}")));
        }
    }
    Search::Nothing
}

/// Whether two patterns surely share no text, by how it would have to begin or to end.
fn are_apart(one: &Pattern, other: &Pattern) -> bool {
    let fold = |text| Platform::HERE.fold(text);
    match (one.anchor(), other.anchor()) {
        (Anchor::Start(one), Anchor::Start(other)) => {
            let (one, other) = (fold(one), fold(other));
            !one.starts_with(&*other) && !other.starts_with(&*one)
        }
        (Anchor::End(one), Anchor::End(other)) => {
            let (one, other) = (fold(one), fold(other));
            !one.ends_with(&*other) && !other.ends_with(&*one)
        }
        _ => false,
    }
}

/// Places of an automaton, in order and each once.
type Node = Vec<usize>;

/// The patterns, as places and the letters that lead from one to the next.
#[derive(Default)]
struct Automaton {
    states: Vec<State>,
}

/// The places of one pattern.
struct Part {
    states: Range<usize>,
    start: usize,
}

/// A place in a pattern.
#[derive(Default)]
struct State {
    /// The letters that lead on, and where to.
    steps: Vec<(Letters, usize)>,
    /// Where one may go without a letter.
    skips: Vec<usize>,
    /// Whether the text may end here.
    is_end: bool,
    /// Whether every text that comes here matches, whatever follows.
    takes_all: bool,
}

impl State {
    fn takes_all(&self) -> bool {
        self.takes_all
    }
}

/// Some letters.
#[derive(Clone, Copy)]
enum Letters {
    Any,
    /// Any but `/`.
    InSegment,
    Only(char),
}

impl Letters {
    fn hold(self, letter: char) -> bool {
        match self {
            Self::Any => true,
            Self::InSegment => letter != '/',
            Self::Only(only) => only == letter,
        }
    }
}

impl Automaton {
    /// Adds a pattern; one about arguments matches no text.
    fn add(&mut self, pattern: &Pattern) -> Option<Part> {
        if pattern.is_about_arguments() {
            return None;
        }
        let first = self.states.len();
        let text = Platform::HERE.fold(pattern.text());
        let start = if pattern.is_exact() {
            self.chain(text.chars().map(|c| (Letters::Only(c), false)))
        } else if let Some(path) = text.strip_prefix("path:").filter(|_| pattern.is_path()) {
            self.path(path)
        } else {
            self.wildcard(&text, Letters::Any)
        };
        Some(Part {
            states: first..self.states.len(),
            start,
        })
    }

    /// Adds a wildcard, in which `*` and `?` stand for these letters. Returns its start; it ends at the
    /// last place, and where its final ` *` may be missing.
    fn wildcard(&mut self, pattern: &str, any: Letters) -> usize {
        let one = |c| match c {
            '*' => (any, true),
            '?' => (any, false),
            c => (Letters::Only(c), false),
        };
        let start = self.chain(pattern.chars().map(one));
        let last = self.states.len() - 1;
        if pattern.ends_with(" *")
            && let Some(state) = self.states.get_mut(last - 2)
        {
            state.is_end = true;
        }
        if pattern.ends_with('*')
            && matches!(any, Letters::Any)
            && let Some(state) = self.states.get_mut(last - 1)
        {
            state.takes_all = true;
        }
        start
    }

    /// Adds one place behind another; of each step, whether it is made any number of times.
    fn chain(&mut self, steps: impl Iterator<Item = (Letters, bool)>) -> usize {
        let start = self.states.len();
        for (letters, is_repeated) in steps {
            let here = self.states.len();
            let mut state = State::default();
            if is_repeated {
                state.steps.push((letters, here));
                state.skips.push(here + 1);
            } else {
                state.steps.push((letters, here + 1));
            }
            self.states.push(state);
        }
        let end = State {
            is_end: true,
            ..State::default()
        };
        self.states.push(end);
        start
    }

    /// Adds a pattern by segments, from its end, so that where a segment leads to is there already.
    fn path(&mut self, pattern: &str) -> usize {
        let mut next = None;
        for segment in pattern.rsplit('/') {
            let start = self.states.len();
            if segment == "**" {
                // Inside a segment that is swallowed; after it comes one more, or what follows.
                self.states.push(State {
                    steps: vec![(Letters::InSegment, start), (Letters::Only('/'), start)],
                    is_end: next.is_none(),
                    takes_all: next.is_none(),
                    ..State::default()
                });
                if let Some(after) = next {
                    let (inside, fork) = (start, start + 1);
                    self.states.push(State {
                        skips: vec![inside, after],
                        ..State::default()
                    });
                    if let Some(state) = self.states.get_mut(inside) {
                        state.steps =
                            vec![(Letters::InSegment, inside), (Letters::Only('/'), fork)];
                    }
                    next = Some(fork);
                } else {
                    next = Some(start);
                }
                continue;
            }
            self.wildcard(segment, Letters::InSegment);
            if let Some(after) = next {
                for state in self.states.iter_mut().skip(start).filter(|it| it.is_end) {
                    state.is_end = false;
                    state.steps.push((Letters::Only('/'), after));
                }
            }
            next = Some(start);
        }
        next.unwrap_or_default()
    }

    /// The letters to try: one that no pattern names, then all that are named.
    fn letters(&self) -> Vec<char> {
        let mut named = BTreeSet::from(['/']);
        for (letters, _) in self.states.iter().flat_map(|state| &state.steps) {
            if let Letters::Only(letter) = letters {
                named.insert(*letter);
            }
        }
        let mut others = ('a'..='z').rev().skip(2).chain('\u{e000}'..);
        let other = others.find(|letter| !named.contains(letter));
        other.into_iter().chain(named.iter().copied()).collect()
    }

    fn step(&self, node: &Node, letter: char) -> Node {
        let states = node.iter().filter_map(|&place| self.states.get(place));
        let steps = states.flat_map(|state| &state.steps);
        let taken = steps.filter(|(letters, _)| letters.hold(letter));
        self.rest(taken.map(|(_, to)| *to))
    }

    /// These places and all that are reached from them without a letter.
    fn rest(&self, places: impl Iterator<Item = usize>) -> Node {
        let mut open: Vec<usize> = places.collect();
        let mut reached = BTreeSet::new();
        while let Some(place) = open.pop() {
            if reached.insert(place)
                && let Some(state) = self.states.get(place)
            {
                open.extend(&state.skips);
            }
        }
        reached.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Pattern {
        Pattern::read(text).unwrap()
    }

    #[test]
    fn a_pattern_includes_what_matches_no_more() {
        for (outer, inner, want) in [
            ("*", "anything", true),
            ("*", "", true),
            ("**", "*", true),
            ("* *", "*", true),
            ("?*", "*", false),
            ("git *", "git push *", true),
            ("git push *", "git *", false),
            // The last ` *` may be missing.
            ("git *", "git", true),
            ("git **", "git *", false),
            ("git*", "git *", true),
            ("git *", "git*", false),
            ("r* *", "rm *", true),
            ("rm ?", "rm *", false),
            ("rm ?", "rm ?", true),
            ("rm *", "rm ?", true),
            ("*b*", "a*b*c", true),
            ("*.env", "*.env.*", false),
            ("?at", "cat", true),
            ("path:**", "*", true),
            ("path:src/**", "src/*", true),
            ("src/*", "path:src/**", true),
            ("path:src/*", "path:src/**", false),
            ("path:src/**", "path:src/*", true),
            ("path:src/**/*.ts", "path:src/*.ts", true),
            ("src/**/*.ts", "path:src/*.ts", false),
            ("path:src/**/*.ts", "src/**/*.ts", true),
            ("path:**/a", "path:a", true),
            ("*", "arg:a=b", true),
            ("a*", "arg:a=b", false),
            ("arg:a=b", "arg:a=b", true),
            ("arg:a=b", "arg:a=c", false),
            ("arg:a=b", "*", false),
        ] {
            assert_eq!(
                includes(&read(outer), &read(inner)),
                want,
                "{outer} {inner}"
            );
        }
        let exact = Pattern::exact("a*");
        assert!(includes(&read("a*"), &exact) && !includes(&exact, &read("a*")));
        assert!(includes(&exact, &exact) && includes(&Pattern::exact("a"), &read("a")));
    }

    #[test]
    fn several_patterns_may_cover_what_none_of_them_does() {
        let (one, some) = (read("a"), read("a?*"));
        assert!(is_covered(&read("a*"), &[&one, &some]));
        assert!(!is_covered(&read("a*"), &[&some]));
        assert!(!is_covered(&read("*"), &[&one, &some]));
        assert!(!is_covered(&one, &[]));
    }

    #[test]
    fn what_is_too_intricate_stays_open_and_counts_as_no() {
        let outer = format!("*a{}", "?".repeat(30));
        assert_eq!(
            search(&[&read("*b")], &[&read(&outer)]),
            Search::Text("b".into())
        );
        let inner = format!("*a{}b", "?".repeat(29));
        let wanted = [read(&outer), read(&format!("*b{}", "?".repeat(31)))];
        let unwanted = [read(&inner)];
        assert_eq!(
            search(
                &[&wanted[0], &wanted[1]],
                &[&unwanted[0], &read("*x*"), &read("*a*")]
            ),
            Search::Open
        );
    }

    /// All texts of these characters up to a length.
    fn texts(letters: &str, length_max: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..length_max {
            let longer = |text: &String| -> Vec<String> {
                letters.chars().map(|c| format!("{text}{c}")).collect()
            };
            last = last.iter().flat_map(longer).collect();
            all.extend(last.clone());
        }
        all
    }

    fn pattern() -> impl Strategy<Value = Pattern> {
        let text = || proptest::string::string_regex("[ab/ *?]{0,5}").unwrap();
        prop_oneof![
            6 => text().prop_map(|text| Pattern::wildcard(&text)),
            1 => text().prop_map(|text| Pattern::wildcard(&format!("{text} *"))),
            3 => proptest::string::string_regex("path:([ab*?]{0,2}|\\*\\*)(/([ab *?]{0,2}|\\*\\*)){0,3}").unwrap().prop_map(|text| read(&text)),
            1 => text().prop_map(|text| Pattern::exact(&text)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

        #[test]
        fn what_is_included_is_matched_and_what_is_not_has_a_witness(inner in pattern(), one in pattern(), other in pattern()) {
            let outers = [&one, &other];
            match search(&[&inner], &outers) {
                Search::Text(text) => {
                    prop_assert!(inner.matches(&text) && !outers.iter().any(|it| it.matches(&text)), "{}", text);
                }
                Search::Nothing => {
                    for text in texts("ab/ ", 4).iter().filter(|text| inner.matches(text)) {
                        prop_assert!(outers.iter().any(|it| it.matches(text)), "{}", text);
                    }
                }
                Search::Open => prop_assert!(false, "such short patterns can be told"),
            }
        }

        #[test]
        fn what_patterns_share_is_matched_by_both(one in pattern(), other in pattern()) {
            match search(&[&one, &other], &[]) {
                Search::Text(text) => prop_assert!(one.matches(&text) && other.matches(&text), "{}", text),
                Search::Nothing => {
                    for text in texts("ab/ ", 4) {
                        prop_assert!(!(one.matches(&text) && other.matches(&text)), "{}", text);
                    }
                }
                Search::Open => prop_assert!(false, "such short patterns can be told"),
            }
        }
    }
}
