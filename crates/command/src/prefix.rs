//! The part of a command that a saved rule keeps. It must not offer a rule that covers more than it says.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::grade::{Kind, kind};

/// How many words name a command, by its first words.
static ARITY: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let rows = include_str!("../data/arity.tsv")
        .lines()
        .filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_once('\t'))
        .filter_map(|(words, count)| Some((words, count.parse().ok()?)))
        .collect()
});

/// How many of `words` name the command: the longest row that fits counts, else it is one.
fn arity(words: &[&str]) -> usize {
    let found = (1..=words.len().min(3)).rev().find_map(|count| {
        let key = words.get(..count)?.join(" ");
        ARITY.get(key.as_str()).copied()
    });
    found.unwrap_or(1)
}

/// The pattern a saved reply would add for `words`, quotes removed: the words that name the command and
/// ` *`. `None` where such a rule would cover more than it says: too few words, an option or a
/// character with a meaning among them, or a program that runs what its arguments say.
pub fn prefix(words: &[&str]) -> Option<String> {
    let slots = words.get(..arity(words))?;
    let (program, rest) = slots.split_first()?;
    let hides = match kind(program) {
        Some(Kind::Wrapper | Kind::Shell | Kind::Interpreter | Kind::Builtin | Kind::Loose) => true,
        Some(Kind::Plain) | None => false,
    };
    let is_plain = |word: &&str| {
        !word.is_empty()
            && !word.contains(|c: char| "*?[]\\".contains(c) || c.is_whitespace() || c.is_control())
    };
    if hides || !slots.iter().all(is_plain) || rest.iter().any(|word| word.starts_with('-')) {
        return None;
    }
    Some(format!("{} *", slots.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the compatible systems save.
    fn compatible(words: &[&str]) -> String {
        let count = arity(words).min(words.len());
        format!("{} *", words[..count].join(" "))
    }

    #[test]
    fn the_table_has_every_row_once_and_in_order() {
        let rows: Vec<&str> = include_str!("../data/arity.tsv")
            .lines()
            .filter(|row| !row.starts_with('#'))
            .collect();
        assert_eq!(rows.len(), 136);
        assert_eq!(ARITY.len(), 136);
        let names: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.split('\t').next())
            .collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(names.iter().all(|name| name.split(' ').count() <= 3));
    }

    /// Words, the compatible answer, and whether it is offered here.
    const ROWS: &[(&[&str], &str, bool)] = &[
        (&["unknown", "command", "sub"], "unknown *", true),
        (&["touch", "foo.txt"], "touch *", true),
        (&["git", "checkout", "main"], "git checkout *", true),
        (&["docker", "run", "nginx"], "docker run *", true),
        (&["aws", "s3", "ls", "b"], "aws s3 ls *", true),
        (&["npm", "run", "dev", "s"], "npm run dev *", true),
        (
            &["docker", "compose", "up", "svc"],
            "docker compose up *",
            true,
        ),
        (&["git"], "git *", false),
        (&[], " *", false),
        (&["git", "-C", "d", "commit"], "git -C *", false),
        (&["git", "-c", "core.pager=x", "log"], "git -c *", false),
        (
            &["npm", "--prefix", "x", "run", "build"],
            "npm --prefix *",
            false,
        ),
        (&["sudo", "rm", "x"], "sudo *", false),
        (&["env", "A=b", "make"], "env *", false),
        (&["xargs", "rm"], "xargs *", false),
        (&["timeout", "5", "git", "push"], "timeout *", false),
        (&["python", "-c", "print(1)"], "python -c *", false),
        (&["node", "-e", "1"], "node *", false),
        (&["bash", "-c", "ls"], "bash *", false),
        (&["npx", "vite"], "npx *", false),
        (&["uv", "run", "x"], "uv *", false),
        (&["gh", "api", "-X", "DELETE"], "gh api -X *", false),
        (&["kubectl", "-n", "prod", "delete"], "kubectl -n *", false),
        (
            &["aws", "--profile", "p", "s3", "rm"],
            "aws --profile p *",
            false,
        ),
        (&["cargo", "run", "--", "x"], "cargo run -- *", false),
        (&["git", "stash"], "git stash *", false),
        (&["npm", "run"], "npm run *", false),
        (&["docker", "compose"], "docker compose *", false),
        (&["git", "ch*"], "git ch* *", false),
        (&["make", "-C", "sub", "all"], "make -C *", false),
        (&["./gradlew", "test"], "./gradlew *", true),
    ];

    #[test]
    fn a_prefix_is_the_compatible_one_or_none() {
        for &(words, expected, is_offered) in ROWS {
            assert_eq!(compatible(words), expected, "{words:?}");
            assert_eq!(
                prefix(words),
                is_offered.then(|| expected.to_owned()),
                "{words:?}"
            );
        }
    }

    #[test]
    fn a_prefix_holds_no_blank_and_no_empty_word() {
        for words in [["git", "a b"], ["git", ""], ["", "x"], ["git", "a\nb"]] {
            assert_eq!(prefix(&words), None, "{words:?}");
        }
    }
}
