//! Well-known places as data: a table of paths that are found at any depth, in whatever case.
//!
//! Must not: know what a place means for a decision.

use std::cmp::Ordering;

use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};

/// A table of places. Its lines are `pattern`, `class` and `why`, see `data/protected.tsv`.
pub(crate) struct Places {
    /// Those whose first segment is a name, in order of it.
    named: Vec<Place>,
    /// Those of one segment with a star in it.
    starred: Vec<Place>,
    sieve: Sieve,
}

/// One line of the table.
pub(crate) struct Place {
    segments: Vec<String>,
    /// With all that lies in it.
    is_folder: bool,
    /// Lies in a folder of the table and is none of its places.
    is_exempt: bool,
    /// Of which kind it is.
    pub(crate) class: &'static str,
    /// What is there.
    pub(crate) why: &'static str,
    /// The place as a rule that asks.
    pub(crate) rule: Rule,
}

impl Places {
    /// Reads a table; its places become rules about this permission. A line that is none is left out, and
    /// the tests hold the tables against that.
    pub(crate) fn read(table: &'static str, permission: &str, origin: &str) -> Self {
        let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
        let places = lines.filter_map(|line| Place::read(line, permission, origin));
        let (starred, mut named): (Vec<_>, Vec<_>) =
            places.partition(|place| place.first().contains('*'));
        named.sort_by(|a, b| a.first().cmp(b.first()));
        let sieve = Sieve::of(&named, &starred);
        Self {
            named,
            starred,
            sieve,
        }
    }

    /// The place in which a path lies, of those to be kept; the outermost.
    pub(crate) fn find(&self, path: &str, keep: impl Fn(&Place) -> bool) -> Option<&Place> {
        // Most paths have no segment with which any place begins; that is found out at little cost.
        let mut segments = path.as_bytes().split(|byte| *byte == b'/');
        if path.is_ascii() && !segments.any(|segment| self.may_begin(segment)) {
            return None;
        }
        let path = folded(path);
        let segments = plain_segments(&path);
        let mut rest = segments.as_slice();
        while let Some((first, below)) = rest.split_first() {
            let here = |place: &&Place| place.holds(rest);
            let mut places = self.beginning_with(first).filter(here);
            if !places.clone().any(|place| place.is_exempt)
                && let Some(place) = places.find(|place| keep(place))
            {
                return Some(place);
            }
            rest = below;
        }
        None
    }

    fn may_begin(&self, segment: &[u8]) -> bool {
        let begins = |segment| self.beginning_with(segment).next().is_some();
        self.sieve.lets_through(segment) && std::str::from_utf8(segment).is_ok_and(begins)
    }

    fn beginning_with(&self, segment: &str) -> impl Iterator<Item = &Place> + Clone {
        let is_before = |place: &Place| in_order(place.first(), segment).is_lt();
        let from = self.named.partition_point(is_before);
        let named = self.named.get(from..).unwrap_or_default().iter();
        let named = named.take_while(move |place| in_order(place.first(), segment).is_eq());
        let fits = move |place: &&Place| fits(place.first(), segment);
        named.chain(self.starred.iter().filter(fits))
    }
}

/// Tells of most segments that no place begins with them, by a few of their bytes.
struct Sieve {
    /// By the length and the first and last byte of a name.
    names: [u64; 64],
    /// By the last bytes of what stands behind a star.
    ends: [u64; 64],
    /// By the first byte of what stands before a star that nothing stands behind.
    starts: u128,
}

impl Sieve {
    fn of(named: &[Place], starred: &[Place]) -> Self {
        let mut sieve = Self {
            names: [0; 64],
            ends: [0; 64],
            starts: 0,
        };
        for place in named {
            set(&mut sieve.names, spot_of_name(place.first().as_bytes()));
        }
        for place in starred {
            let (start, end) = place.first().split_once('*').unwrap_or_default();
            if end.is_empty() {
                sieve.starts |= bit(start.as_bytes());
            } else {
                set(&mut sieve.ends, spot_of_end(end.as_bytes()));
            }
        }
        sieve
    }

    fn lets_through(&self, segment: &[u8]) -> bool {
        has(&self.names, spot_of_name(segment))
            || has(&self.ends, spot_of_end(segment))
            || self.starts & bit(segment) != 0
    }
}

fn spot_of_name(segment: &[u8]) -> usize {
    lower(segment.first()) + 37 * lower(segment.last()) + 611 * segment.len()
}

/// No end in a table is shorter than these three bytes.
fn spot_of_end(segment: &[u8]) -> usize {
    let mut last = segment.iter().rev();
    lower(last.next()) + 37 * lower(last.next()) + 611 * lower(last.next())
}

fn lower(byte: Option<&u8>) -> usize {
    byte.map_or(0, |byte| usize::from(byte.to_ascii_lowercase()))
}

/// One bit for each first byte of ASCII, in lower case.
fn bit(segment: &[u8]) -> u128 {
    1 << (lower(segment.first()) & 0x7f)
}

fn set(bits: &mut [u64; 64], spot: usize) {
    if let Some(word) = bits.get_mut(spot / 64 % 64) {
        *word |= 1 << (spot % 64);
    }
}

fn has(bits: &[u64; 64], spot: usize) -> bool {
    let word = bits.get(spot / 64 % 64).copied().unwrap_or_default();
    word & (1 << (spot % 64)) != 0
}

impl Place {
    fn read(line: &'static str, permission: &str, origin: &str) -> Option<Self> {
        let mut cells = line.split('\t');
        let (written, class, why) = (cells.next()?, cells.next()?, cells.next()?);
        let text = written.trim_start_matches('!');
        // As people write such rules, so that an answer written like that lies inside.
        let below = if text.ends_with('/') { "*" } else { "" };
        let pattern = format!("*{}{below}", text.trim_start_matches('*'));
        let pattern = Pattern::wildcard(&pattern);
        Some(Self {
            segments: folded(text.trim_end_matches('/'))
                .split('/')
                .map(str::to_owned)
                .collect(),
            is_folder: text.ends_with('/'),
            is_exempt: written.starts_with('!'),
            class,
            why,
            rule: Rule::new(permission, pattern, Action::Ask, Origin::named(origin)),
        })
    }

    fn first(&self) -> &str {
        self.segments
            .first()
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// Whether these segments name the place, or lie in it.
    fn holds(&self, path: &[&str]) -> bool {
        let is_long_enough = if self.is_folder {
            path.len() >= self.segments.len()
        } else {
            path.len() == self.segments.len()
        };
        let mut pairs = self.segments.iter().zip(path);
        is_long_enough && pairs.all(|(want, segment)| fits(want, segment))
    }
}

/// Compares a name of the table, in lower case, with a segment in any.
fn in_order(name: &str, segment: &str) -> Ordering {
    let segment = segment.bytes().map(|byte| byte.to_ascii_lowercase());
    name.bytes().cmp(segment)
}

fn fits(want: &str, segment: &str) -> bool {
    let Some((start, end)) = want.split_once('*') else {
        return want.eq_ignore_ascii_case(segment);
    };
    let segment = segment.as_bytes();
    let head = segment.get(..start.len());
    let tail = segment.len().checked_sub(end.len());
    let tail = tail.filter(|at| *at >= start.len());
    let same = |part: Option<&[u8]>, want: &str| {
        part.is_some_and(|part| part.eq_ignore_ascii_case(want.as_bytes()))
    };
    same(head, start) && same(tail.and_then(|at| segment.get(at..)), end)
}

/// SECURITY: a disk may hold names to be the same that differ in case, or by characters that are not
/// seen; what is one of these to any disk is one to us.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let is_seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let upper = path.chars().filter(is_seen).flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

/// The segments of a path without `.` and `..`, as far as that can be told from the text.
fn plain_segments(path: &str) -> Vec<&str> {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    segments
}

/// Checks a table of this form: every line is a place, none stands there twice, a star stands only where
/// it is looked for, and what is exempt lies in a folder of the table.
#[cfg(test)]
pub(super) fn check_table(table: &'static str, classes: &[&str]) {
    let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut seen = std::collections::BTreeSet::new();
    let folders: Vec<&str> = lines
        .clone()
        .filter_map(|line| line.split('\t').next()?.strip_suffix('/'))
        .collect();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let [pattern, class, why] = cells.as_slice() else {
            panic!("{line}")
        };
        assert!(seen.insert(pattern.to_ascii_lowercase()), "{line}");
        assert!(classes.contains(class) && !why.is_empty(), "{line}");
        let path = pattern.trim_start_matches('!').trim_end_matches('/');
        let last = path.rsplit('/').next().unwrap();
        assert!(!path.is_empty() && path.matches('*').count() <= 1, "{line}");
        assert_eq!(path.contains('*'), last.contains('*'), "{line}");
        assert!(!(path.contains('*') && pattern.ends_with('/')), "{line}");
        let end = last.split_once('*').map(|(_, end)| end.len());
        assert!(!matches!(end, Some(1 | 2)), "{line}");
        if pattern.starts_with('!') {
            let (folder, _) = path.split_once('/').unwrap();
            assert!(folders.contains(&folder), "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# a comment\n\
        pattern\tclass\twhy\n\
        .a/\tone\tfolder\n\
        !.a/free/\tone\tfree\n\
        !.a/*.pub\tone\tfree\n\
        b/c\ttwo\tfile\n\
        *.key\ttwo\tending\n\
        x*.json\ttwo\tboth ends\n";

    fn found(path: &str) -> Option<&'static str> {
        let places = Places::read(TABLE, "read", "test");
        places.find(path, |_| true).map(|place| place.why)
    }

    #[test]
    fn a_place_is_found_at_any_depth_and_in_any_case() {
        for (path, want) in [
            (".a", Some("folder")),
            (".a/x", Some("folder")),
            ("/home/u/.A/x/y", Some("folder")),
            ("/home/u/.a/*", Some("folder")),
            ("x/.a/../y", None),
            ("x/y/../.a/z", Some("folder")),
            ("././/.a", Some("folder")),
            ("b/c", Some("file")),
            ("/w/B/C", Some("file")),
            ("b/c/d", None),
            ("c", None),
            ("b/x/c", None),
            ("z.key", Some("ending")),
            ("z.KEY", Some("ending")),
            (".key", Some("ending")),
            ("z.key/x", None),
            ("z.keys", None),
            ("x1.json", Some("both ends")),
            ("x.json", Some("both ends")),
            ("y.json", None),
            (".ab", None),
            ("a", None),
            ("", None),
            ("/", None),
        ] {
            assert_eq!(found(path), want, "{path}");
        }
    }

    #[test]
    fn a_name_that_some_disk_takes_for_another_is_that_other() {
        assert_eq!(found("z.\u{212a}ey"), Some("ending"), "the sign of kelvin");
        assert_eq!(found("x/.\u{200c}a/b"), Some("folder"), "not seen");
        assert_eq!(found("x/.é/b"), None);
    }

    #[test]
    fn what_is_exempt_is_so_in_its_own_folder_only() {
        for (path, want) in [
            (".a/free", None),
            (".a/free/x", None),
            (".a/free/../x", Some("folder")),
            (".a/free/b/c", Some("file")),
            (".a/free/.a/x", Some("folder")),
            (".a/x/.a/free/y", Some("folder")),
            (".a/x.pub", None),
            (".a/x/y.pub", Some("folder")),
        ] {
            assert_eq!(found(path), want, "{path}");
        }
    }

    #[test]
    fn places_that_are_not_kept_hide_no_others() {
        let places = Places::read(TABLE, "read", "test");
        let two = places.find(".a/b/c", |place| place.class == "two");
        assert_eq!(two.map(|place| place.why), Some("file"));
    }

    #[test]
    fn a_place_is_a_rule_that_matches_what_lies_in_it() {
        let places = Places::read(TABLE, "read", "test");
        for path in ["/home/u/.a/x", "w/b/c", "z.key"] {
            let rule = &places.find(path, |_| true).unwrap().rule;
            assert!(rule.pattern.matches(path), "{rule} {path}");
        }
    }
}
