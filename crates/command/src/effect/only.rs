//! Options that say which names a search reads below directories. It must not look at a directory, nor leave a name out that
//! may be read.

use super::grammar::{self, Mark, Slot};
use super::{as_called, parse};
use crate::line::{Word, WordKind};

/// Whether the command surely reads no file of this name where it goes through a directory.
pub(crate) fn passes_over(words: &[Word], name: &str) -> bool {
    if let Some(words) = as_called(words) {
        return passes_over(&words, name);
    }
    let Some((grammar, true)) = words.first().and_then(|word| grammar::program(&word.text)) else {
        return false;
    };
    let readings = parse::readings(words, grammar);
    let Some(reading) = readings.only() else {
        return false;
    };
    let mut is_limited = false;
    for used in &reading.switches {
        // Behind one of these a file may be read that fits none of the others.
        let text = used.word.text.as_str();
        if text.starts_with("--exc") && !text.starts_with("--exclude-d") {
            return false;
        }
        if !used.switch.has(Mark::Only) {
            continue;
        }
        let [value] = &*used.value else {
            return false;
        };
        let is_of_rg = used.switch.slot == Some(Slot::Glob);
        if value.kind == WordKind::Dynamic {
            return false;
        }
        if is_of_rg && value.text.starts_with('!') {
            continue;
        }
        is_limited = true;
        let patterns = if is_of_rg {
            choices(&value.text)
        } else {
            vec![value.text.clone()]
        };
        if patterns.iter().any(|pattern| may_fit(pattern, name)) {
            return false;
        }
    }
    is_limited && reading.is_listed && reading.hidden.is_none()
}

/// What a pattern with one list in braces stands for; as it is where it is none of that kind.
fn choices(pattern: &str) -> Vec<String> {
    let pattern = pattern.strip_prefix("**/").unwrap_or(pattern);
    let parts = pattern.split_once('{').and_then(|(head, rest)| {
        let (inside, tail) = rest.split_once('}')?;
        Some((head, inside, tail))
    });
    match parts {
        Some((head, inside, tail)) => inside
            .split(',')
            .map(|choice| format!("{head}{choice}{tail}"))
            .collect(),
        None => vec![pattern.to_owned()],
    }
}

/// Whether a name may fit a pattern. What is no plain text with stars in it may fit any.
fn may_fit(pattern: &str, name: &str) -> bool {
    if pattern.contains(['/', '?', '[', ']', '\\', '{', '}', '(', '!']) {
        return true;
    }
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    match (pattern.split_once('*'), pattern.rsplit_once('*')) {
        (Some((head, _)), Some((_, tail))) => name.starts_with(head) && name.ends_with(tail),
        _ => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_passed_over_only_where_it_surely_fits_no_pattern() {
        let passes = |line: &str, name: &str| {
            let words = line.split(' ').map(|text| Word::literal(text, 0..0));
            passes_over(&words.collect::<Vec<_>>(), name)
        };
        for (line, name, want) in [
            ("grep -r x .", ".env", false),
            ("grep -r x --include=*.ts .", ".env", true),
            ("grep -r x --include=*.ts .", "a.TS", false),
            ("grep -r x --inc=*.ts .", ".env", false),
            ("grep -r x --include=.env .", ".env", false),
            ("grep -r x --include=.env .", ".env.local", true),
            ("grep -r x --include=*.ts --include=.e* .", ".env", false),
            ("grep -r x --include=*.ts --exclude=a .", ".env", false),
            ("grep -r x --include=*.ts --exclude-from=f .", ".env", false),
            ("grep -r x --include=*.ts --exclude-dir=d .", ".env", true),
            ("grep -r x --include=*.ts --no-such-option .", ".env", false),
            ("grep -r --include .env x .", ".env", false),
            ("grep -r -e --include=*.ts .", ".env", false),
            ("grep -r x -- --include=*.ts", ".env", false),
            ("./grep -r x --include=*.ts .", ".env", false),
            ("ggrep -r x --include=*.ts .", ".env", true),
            ("rg -. x -g *.{ts,tsx}", ".env", true),
            ("rg -. x -g *.{ts,env}", ".env", false),
            ("rg -. x -g *.{ts,{env}}", ".env", false),
            ("rg -. x -g !*.ts", ".env", false),
            ("rg -. x -g a/*.ts", ".env", false),
            ("rg -.g*.ts x", ".env", true),
        ] {
            assert_eq!(passes(line, name), want, "{line} {name}");
        }
    }
}
