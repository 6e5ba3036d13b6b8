//! Brace expansion. It must not look at any other expansion.

use crate::syntax::{Part, PartKind, Word};

/// Most words one word is expanded to.
const WORDS_MAX: usize = 256;

/// Most braces in a word that is looked at.
const BRACES_MAX: usize = 16;

/// A character outside quotes, or a part of the word that braces do not look into.
#[derive(Debug, Clone, Copy)]
pub(super) enum Atom<'w> {
    Char(char),
    Part(&'w Part),
}

impl Atom<'_> {
    fn is(&self, wanted: char) -> bool {
        matches!(self, Self::Char(c) if *c == wanted)
    }
}

/// What becomes of a word.
pub(super) enum Expanded<'w> {
    /// There is nothing to expand.
    Same,
    Words(Vec<Vec<Atom<'w>>>),
    /// It is more than is followed.
    TooMuch,
}

/// Expands the braces of a word of `text`.
pub(super) fn expand<'w>(text: &'w str, word: &'w Word) -> Expanded<'w> {
    let plain = |part: &Part| match part.kind {
        PartKind::Text if !part.is_quoted => text.get(part.range.clone()),
        _ => None,
    };
    let pieces = || word.parts.iter().filter_map(plain);
    let count: usize = pieces().map(|it| it.matches('{').count()).sum();
    if count == 0 || !pieces().any(|it| it.contains('}')) {
        return Expanded::Same;
    }
    let has_separator = pieces().any(|it| it.contains(',') || it.contains(".."));
    if !has_separator {
        return Expanded::Same;
    }
    if count > BRACES_MAX || word.range.len() > 1024 {
        return Expanded::TooMuch;
    }
    let mut atoms = Vec::new();
    for part in word.parts.iter() {
        match plain(part) {
            Some(piece) => atoms.extend(piece.chars().map(Atom::Char)),
            None => atoms.push(Atom::Part(part)),
        }
    }
    let mut words = Vec::new();
    if !alternatives(&atoms, 0, &mut Vec::new(), &[], &mut words) {
        return Expanded::TooMuch;
    }
    if words.first().is_some_and(|word| word.len() == atoms.len()) {
        return Expanded::Same;
    }
    Expanded::Words(words)
}

/// Adds every word that `atoms` from `from` on, and then `rest`, may become behind `before`. Returns
/// whether there were few enough.
fn alternatives<'w>(
    atoms: &[Atom<'w>],
    mut from: usize,
    before: &mut Vec<Atom<'w>>,
    rest: &[Atom<'w>],
    words: &mut Vec<Vec<Atom<'w>>>,
) -> bool {
    let length = before.len();
    while let Some(atom) = atoms.get(from) {
        if atom.is('{')
            && let Some((close, commas)) = matching(atoms, from)
        {
            let inner = atoms.get(from + 1..close).unwrap_or_default();
            let choices = if commas.is_empty() {
                sequence(inner)
            } else {
                Some(split(inner, &commas))
            };
            let Some(choices) = choices else {
                before.push(*atom);
                from += 1;
                continue;
            };
            let mut after = atoms.get(close + 1..).unwrap_or_default().to_vec();
            after.extend_from_slice(rest);
            for choice in choices {
                if !alternatives(&choice, 0, before, &after, words) {
                    return false;
                }
            }
            before.truncate(length);
            return true;
        }
        before.push(*atom);
        from += 1;
    }
    let is_fine = if rest.is_empty() {
        words.push(before.clone());
        words.len() <= WORDS_MAX
    } else {
        alternatives(rest, 0, before, &[], words)
    };
    before.truncate(length);
    is_fine
}

/// The end of the brace at `open`, and the places of its commas from the first character inside.
fn matching(atoms: &[Atom<'_>], open: usize) -> Option<(usize, Vec<usize>)> {
    let mut level = 0_usize;
    let mut commas = Vec::new();
    for (at, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Char('{') => level += 1,
            Atom::Char('}') => {
                level = level.saturating_sub(1);
                if level == 0 {
                    return Some((at, commas));
                }
            }
            Atom::Char(',') if level == 1 => commas.push(at - open - 1),
            _ => {}
        }
    }
    None
}

fn split<'w>(inner: &[Atom<'w>], commas: &[usize]) -> Vec<Vec<Atom<'w>>> {
    let starts = std::iter::once(0).chain(commas.iter().map(|comma| comma + 1));
    let ends = commas.iter().copied().chain([inner.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| inner.get(start..end).unwrap_or_default().to_vec())
        .collect()
}

/// The members of `1..9` or `a..e`, with a step if there is one.
fn sequence<'w>(inner: &[Atom<'w>]) -> Option<Vec<Vec<Atom<'w>>>> {
    let text: Option<String> = inner
        .iter()
        .map(|atom| match atom {
            Atom::Char(c) => Some(*c),
            Atom::Part(_) => None,
        })
        .collect();
    let text = text?;
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let step: i64 = match step {
        None => 1,
        Some(step) => step.parse().ok()?,
    };
    let step = step.unsigned_abs().max(1);
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
    };
    let is_padded = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.len() > 1 && digits.starts_with('0')
    };
    let members = |from: i64, to: i64| {
        let count = from.abs_diff(to) / step + 1;
        let count = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(WORDS_MAX + 1);
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        let step = if from <= to { step } else { -step };
        std::iter::successors(Some(from), move |at| at.checked_add(step)).take(count)
    };
    let atoms = |text: String| text.chars().map(Atom::Char).collect::<Vec<Atom<'w>>>();
    if let (Some(from), Some(to)) = (letter(first), letter(last)) {
        if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
            // There are characters with a meaning between them.
            return Some(vec![Vec::new(); WORDS_MAX + 1]);
        }
        let codes = members(i64::from(u32::from(from)), i64::from(u32::from(to)));
        let chars = codes.filter_map(|code| u32::try_from(code).ok().and_then(char::from_u32));
        return Some(chars.map(|c| vec![Atom::Char(c)]).collect());
    }
    let (from, to): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    let width = if is_padded(first) || is_padded(last) {
        first.len().max(last.len())
    } else {
        0
    };
    Some(
        members(from, to)
            .map(|at| atoms(format!("{at:0width$}")))
            .collect(),
    )
}
