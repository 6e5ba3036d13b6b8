//! The known name somebody may have meant. Must not guess without resemblance.

/// Longer names are not compared: the work grows with the square of the length.
const NAME_CHARS_MAX: usize = 64;

/// Finds the candidate most like `name`: equal but for case, `-` and `_`, or at most two edits
/// away, a third of the length in longer names, and fewer than half in short ones. The first of
/// equals wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = plain(name)?;
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let plain = plain(candidate)?;
            let chars = name.chars().count().max(plain.chars().count());
            let edits = strsim::osa_distance(&name, &plain);
            (edits <= (chars / 3).max(2) && edits * 2 < chars).then_some((edits, candidate))
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

fn plain(name: &str) -> Option<String> {
    if name.chars().nth(NAME_CHARS_MAX).is_some() {
        return None;
    }
    let kept = name.chars().filter(|c| !matches!(c, '-' | '_'));
    let plain: String = kept.flat_map(char::to_lowercase).collect();
    (!plain.is_empty()).then_some(plain)
}
