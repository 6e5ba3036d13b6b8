//! Plain regular expressions for paths, as wildcards that match the same. Must not guess: what has no such
//! wildcards has none.

/// The most wildcards one expression may become.
const WILDCARDS_MAX: usize = 64;

/// The wildcards that match, between them, what the expression finds in a path. `None` if it holds more
/// than letters, `.*`, `.+`, alternatives, sets of characters, an optional part and the two ends.
pub(crate) fn wildcards(regex: &str) -> Option<Vec<String>> {
    let mut reader = Reader {
        rest: regex,
        is_inside: false,
    };
    let found = reader.alternatives()?;
    if !reader.rest.is_empty() {
        return None;
    }
    let mut patterns: Vec<String> = Vec::new();
    for Found {
        text,
        is_at_start,
        is_at_end,
    } in found
    {
        let start = if is_at_start { "" } else { "*" };
        let end = if is_at_end { "" } else { "*" };
        let mut pattern = format!("{start}{text}{end}");
        while pattern.contains("**") {
            pattern = pattern.replace("**", "*");
        }
        // SECURITY: such a tail may be missing, so the wildcard would match more.
        if pattern.ends_with(" *") {
            return None;
        }
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Some(patterns)
}

/// One way through an expression.
#[derive(Debug, Clone, Default)]
struct Found {
    text: String,
    is_at_start: bool,
    is_at_end: bool,
}

struct Reader<'r> {
    rest: &'r str,
    /// Whether this is between two brackets, where the ends of the path are not.
    is_inside: bool,
}

impl Reader<'_> {
    /// Alternatives up to a closing bracket or the end.
    fn alternatives(&mut self) -> Option<Vec<Found>> {
        let mut all = self.sequence()?;
        while self.take('|') {
            all.extend(self.sequence()?);
        }
        (all.len() <= WILDCARDS_MAX).then_some(all)
    }

    fn sequence(&mut self) -> Option<Vec<Found>> {
        let mut found = vec![Found {
            is_at_start: !self.is_inside && self.take('^'),
            ..Found::default()
        }];
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            if self.take('$') {
                let is_last = self.rest.is_empty() || self.rest.starts_with('|');
                if self.is_inside || !is_last {
                    return None;
                }
                for it in &mut found {
                    it.is_at_end = true;
                }
                break;
            }
            let mut parts = self.part()?;
            if self.take('?') {
                parts.push(String::new());
            }
            if self.rest.starts_with(['*', '+', '?', '{']) {
                return None;
            }
            let join = |it: &Found| {
                let it = it.clone();
                parts.clone().into_iter().map(move |part| Found {
                    text: format!("{}{part}", it.text),
                    ..it.clone()
                })
            };
            found = found
                .iter()
                .flat_map(join)
                .take(WILDCARDS_MAX + 1)
                .collect();
            if found.len() > WILDCARDS_MAX {
                return None;
            }
        }
        Some(found)
    }

    /// One part, as the texts it may be.
    fn part(&mut self) -> Option<Vec<String>> {
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        self.rest = chars.as_str();
        match first {
            '.' if self.take('*') => Some(vec!["*".to_owned()]),
            '.' if self.take('+') => Some(vec!["?*".to_owned()]),
            '\\' => self.escaped().map(|char| vec![char.to_string()]),
            '[' => self.set(),
            '(' => self.group(),
            '.' | '^' | '$' | '*' | '+' | '?' | '{' | '}' | ']' => None,
            char => Some(vec![char.to_string()]),
        }
    }

    /// The character behind a backslash, if it stands for itself and is none of a wildcard.
    fn escaped(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let char = chars.next()?;
        self.rest = chars.as_str();
        (char.is_ascii_punctuation() && !matches!(char, '*' | '?')).then_some(char)
    }

    /// A set of characters, each written out.
    fn set(&mut self) -> Option<Vec<String>> {
        let (inside, rest) = self.rest.split_once(']')?;
        self.rest = rest;
        let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.' | '/');
        let is_set = !inside.is_empty() && inside.chars().all(is_plain);
        is_set.then(|| inside.chars().map(String::from).collect())
    }

    fn group(&mut self) -> Option<Vec<String>> {
        let rest = self.rest.strip_prefix("?:").unwrap_or(self.rest);
        let mut inside = Reader {
            rest,
            is_inside: true,
        };
        let found = inside.alternatives()?;
        self.rest = inside.rest.strip_prefix(')')?;
        Some(found.into_iter().map(|it| it.text).collect())
    }

    fn take(&mut self, char: char) -> bool {
        match self.rest.strip_prefix(char) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_expression_becomes_wildcards_that_match_the_same() {
        for (regex, want) in [
            (r"\.md$", &["*.md"][..]),
            (r"\.(md|mdx)$", &["*.md", "*.mdx"]),
            (r"\.(?:md|txt)$|^docs/", &["*.md", "*.txt", "docs/*"]),
            (r"^docs/", &["docs/*"]),
            (r"^docs/.*\.md$", &["docs/*.md"]),
            (r"^(docs|notes)/.+\.md$", &["docs/?*.md", "notes/?*.md"]),
            (r"\.[jt]sx?$", &["*.jsx", "*.js", "*.tsx", "*.ts"]),
            (r".*", &["*"]),
            (r"README\.md", &["*README.md*"]),
            (r"^a\-b$", &["a-b"]),
            ("", &["*"]),
        ] {
            let found = wildcards(regex).unwrap();
            assert_eq!(found, want, "{regex}");
        }
    }

    #[test]
    fn any_richer_expression_has_none() {
        for regex in [
            r"^(?!src).*",
            r"\d+",
            r"a{2}",
            r"a+",
            r"a*",
            r"[^/]*\.md$",
            r"[a-z]",
            r".md$",
            r"\*",
            r"a\?",
            r"(a",
            r"a)",
            r"[a",
            r"a\",
            r"\bx",
            r"(^a|b)",
            r"a$b",
            r"a^b",
            r"(a|b)+",
            r"a??",
            r"(?i)a",
            r"^x ",
            r"(a|b|c|d)(a|b|c|d)(a|b|c|d)(a|b|c|d)",
            r"]",
            r"a}",
        ] {
            assert_eq!(wildcards(regex), None, "{regex}");
        }
    }
}
