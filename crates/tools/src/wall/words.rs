//! What one line of output says of a refusal: the words of the system, and the paths it names. Must not know what is
//! open.

/// Longer words are no paths.
const PATH_BYTES_MAX: usize = 300;

/// What a system or a program says at a wall, in lower case, and what was tried.
const REFUSALS: &[(&str, Tried)] = &[
    ("read-only file system", Tried::Change),
    ("device or resource busy", Tried::Change),
    ("resource busy or locked", Tried::Change),
    ("operation not permitted", Tried::Change),
    ("permission denied", Tried::Any),
    // To these a hidden file is a device.
    ("unsupported file type", Tried::Read),
    ("can only add regular files", Tried::Read),
    ("ignoring special file", Tried::Read),
    ("no such file or directory", Tried::Find),
    ("directory nonexistent", Tried::Find),
    ("file exists", Tried::Make),
    ("file already exists", Tried::Make),
    ("is a directory", Tried::Make),
    ("illegal operation on a directory", Tried::Make),
    ("with non-directory", Tried::Make),
    ("network is unreachable", Tried::Reach),
    ("enetunreach", Tried::Reach),
    ("eai_again", Tried::Reach),
    ("temporary failure in name resolution", Tried::Reach),
    ("could not resolve host", Tried::Reach),
];

/// Words of a system without a path to it.
const CODES: &[&str] = &["EACCES", "EPERM", "EROFS"];

/// Words of who makes something.
const MAKINGS: &[&str] = &["create", "mkdir", "touch"];

/// What stands before the word for what was tried.
const FAILINGS: &[&str] = &[
    "cannot ",
    "can't ",
    "could not ",
    "couldn't ",
    "failed to ",
    "unable to ",
];

/// What may stand between that word and the path.
const KINDS: &[&str] = &[
    "config file ",
    "directory ",
    "file ",
    "old ",
    "regular file ",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// To change something.
    Change,
    /// To read a file that is hidden.
    Read,
    /// To read or change something.
    Any,
    /// To find something: outside it may be there, and not shown.
    Find,
    /// To make something where a name is held.
    Make,
    /// To reach a machine.
    Reach,
}

/// A refusal as a line tells it.
#[derive(Debug)]
pub(super) struct Met<'l> {
    pub(super) tried: Tried,
    /// Whether it was to make something.
    pub(super) makes: bool,
    /// As they are spelled, two where something was to get another name.
    pub(super) paths: Vec<&'l str>,
    /// Whether a shell says it of its own.
    pub(super) is_of_shell: bool,
}

/// Whether a program names a refusal by its code.
pub(super) fn has_code(output: &str) -> bool {
    CODES.iter().any(|code| output.contains(code))
}

/// What a line says, if it speaks of a refusal.
pub(super) fn met(line: &str) -> Option<Met<'_>> {
    let lower = line.to_ascii_lowercase();
    let (at, words, tried) = REFUSALS
        .iter()
        .find_map(|(words, tried)| Some((lower.find(words)?, *words, *tried)))?;
    let before = line.get(..at)?;
    let after = line.get(at + words.len()..)?;
    let shells = ["bash: ", "sh: ", "zsh: ", "dash: "];
    Some(Met {
        tried,
        makes: MAKINGS.iter().any(|it| lower.contains(it)),
        paths: paths(before, after),
        is_of_shell: shells.iter().any(|it| line.contains(it)),
    })
}

/// The paths that a line speaks of, by what stands before and after the words of the system.
fn paths<'l>(before: &'l str, after: &'l str) -> Vec<&'l str> {
    let mut found = quoted(after);
    if found.is_empty() {
        found = quoted(before);
    }
    if found.is_empty() {
        found.extend(last_word(before).or_else(|| after.strip_prefix(": ")));
    }
    let is_path = |it: &&str| !it.is_empty() && it.len() <= PATH_BYTES_MAX && !it.starts_with('-');
    found.retain(is_path);
    let last_two = found.len().saturating_sub(2);
    found.split_off(last_two)
}

/// What stands in quotes, one after the other.
fn quoted(text: &str) -> Vec<&str> {
    const MARKS: [(char, char); 4] = [
        ('\'', '\''),
        ('"', '"'),
        ('`', '`'),
        ('\u{2018}', '\u{2019}'),
    ];
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let first = MARKS
            .iter()
            .filter_map(|(open, close)| Some((rest.find(*open)?, open, close)))
            .min();
        let Some((start, open, close)) = first else {
            return found;
        };
        let inner = rest.get(start + open.len_utf8()..).unwrap_or_default();
        let Some((word, behind)) = inner.split_once(*close) else {
            return found;
        };
        found.push(word);
        rest = behind;
    }
}

/// What stands before the last colon: `cat: a b: ` says `a b`, `sh: 1: cannot create a: ` and `tar: a: Cannot open: `
/// say `a`. Some put the words of the system in parentheses.
fn last_word(before: &str) -> Option<&str> {
    let rest = match before.trim_end().strip_suffix('(') {
        Some(rest) => rest.trim_end(),
        None => before.rsplit_once(':')?.0,
    };
    let (program, part) = rest
        .rsplit_once(": ")
        .map_or((None, rest), |(program, part)| (Some(program), part));
    let part = part.trim();
    if let Some(said) = FAILINGS.iter().find_map(|it| part.strip_prefix(it)) {
        return behind_the_verb(said);
    }
    if part.starts_with("Cannot ") && part.split(' ').count() == 2 {
        return program?.rsplit(": ").next();
    }
    let is_sentence = part.contains(' ') && program.is_none_or(is_severity);
    let word = if is_sentence {
        part.rsplit(' ').next()?
    } else {
        part
    };
    let looks_like_one = word.contains(['/', '.']) || program.is_some_and(|it| !is_severity(it));
    (looks_like_one && !word.ends_with("Error")).then_some(word)
}

/// What could not be done to it: `open a` says `a`. Not the draft of an editor of streams, which nobody named.
fn behind_the_verb(said: &str) -> Option<&str> {
    let (_, mut path) = said.split_once(' ')?;
    for kind in KINDS {
        path = path.strip_prefix(kind).unwrap_or(path);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_draft = name.len() == 9 && name.starts_with("sed");
    (!is_draft).then_some(path)
}

fn is_severity(word: &str) -> bool {
    ["error", "fatal", "warning", "Error"].contains(&word.trim())
}
