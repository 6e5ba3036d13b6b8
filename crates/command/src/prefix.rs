//! The part of a command that a saved rule keeps. It must not offer a rule that covers more than it says.

use std::sync::LazyLock;

use crate::effect::grammar;
use crate::table;

/// The words that name commands, and the options that may stand in a rule.
#[derive(Debug, Default)]
struct Table {
    arity: table::Table<usize>,
    /// The programs of which a row has more than the name.
    programs: table::Set,
    /// Options that take one value and are kept in a rule with it: `pnpm --filter web`.
    pairs: Vec<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    let rows = include_str!("../data/arity.tsv")
        .lines()
        .filter(|row| !row.starts_with('#'));
    for (words, count) in rows.filter_map(|row| row.split_once('\t')) {
        match count.parse() {
            Ok(count) => {
                table.arity.insert(words, count);
                table.programs.extend(words.split_once(' ').map(|it| it.0));
            }
            Err(_) => table.pairs.push(words),
        }
    }
    table
});

/// How many words name the command `program rest` by the table: the longest row that fits counts, else it
/// is one.
fn arity(program: &str, rest: &[&str]) -> usize {
    let mut found = TABLE.arity.get(program).copied().unwrap_or(1);
    if !TABLE.programs.contains(program) {
        return found;
    }
    let mut key = String::with_capacity(64);
    key.push_str(program);
    // No row has an option in it.
    for word in rest.iter().take(3).take_while(|it| !it.starts_with('-')) {
        key.push(' ');
        key.push_str(word);
        if let Some(count) = TABLE.arity.get(key.as_str()) {
            found = *count;
        }
    }
    found
}

/// How many words name the command `program rest` by the grammars, and whether a rule for them would cover
/// any program.
fn depth(program: &str, rest: &[&str]) -> (usize, bool) {
    let Some((mut at, _)) = grammar::program(program) else {
        return (1, false);
    };
    let mut count = 1;
    // An interpreter whose first operand is no sub-command runs a file.
    while at.has_subs {
        let sub = rest.get(count - 1).and_then(|word| grammar::sub(at, word));
        count += 1;
        match sub {
            Some(sub) => at = sub,
            None => return (count, at.hides()),
        }
    }
    (count, at.hides())
}

/// The leading options of `words` that stay in a rule, with their values: from the second word to here.
fn pairs(words: &[&str]) -> usize {
    let Some(program) = words.first() else {
        return 1;
    };
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        let pair = format!("{program} {option}");
        if !TABLE.pairs.contains(&pair.as_str()) {
            break;
        }
        at += 2;
    }
    at
}

/// The pattern a saved reply would add for `words`, quotes removed: the words that name the command and
/// ` *`. `None` where such a rule would cover more than it says: too few words, an option or a
/// character with a meaning among them, or a program that runs what its arguments say.
pub fn prefix(words: &[&str]) -> Option<String> {
    patterns(words, 0)?.next()
}

/// Most words of a command that are looked at behind the first.
const NAMED_MAX: usize = 8;

/// Most words of a longer rule that are offered behind those that name the command.
const LONGER_MAX: usize = 2;

/// The patterns a saved reply could add for `words`, the widest first, each of the others one word
/// longer. None of them covers more than it says, and none is wider than the name of the command.
pub fn prefixes(words: &[&str]) -> Vec<String> {
    patterns(words, LONGER_MAX).into_iter().flatten().collect()
}

/// The shortest pattern, and those that are up to `more` words longer.
fn patterns<'w>(words: &'w [&str], more: usize) -> Option<impl Iterator<Item = String> + 'w> {
    let start = pairs(words);
    let (program, kept) = words.get(..start)?.split_first()?;
    let rest = words.get(start..).unwrap_or_default();
    // No more words than these can name a command or stand in a rule.
    let rest = rest.get(..NAMED_MAX).unwrap_or(rest);
    let (depth, hides) = depth(program, rest);
    if hides || !is_plain(program) || !kept.iter().all(|word| is_plain(word)) {
        return None;
    }
    let count = arity(program, rest).max(depth);
    let is_operand = |word: &&&str| is_plain(word) && !word.starts_with('-');
    let plain = 1 + rest.iter().take_while(is_operand).count();
    let patterns = (count..=plain.min(count + more)).filter_map(move |count| {
        let mut pattern = String::with_capacity(64);
        pattern.push_str(program);
        for word in kept.iter().chain(rest.get(..count - 1)?) {
            pattern.push(' ');
            pattern.push_str(word);
        }
        pattern.push_str(" *");
        Some(pattern)
    });
    Some(patterns)
}

fn is_plain(word: &str) -> bool {
    let has_meaning =
        |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\') || c.is_whitespace() || c.is_control();
    !word.is_empty()
        && (word.bytes().all(|byte| byte.is_ascii_alphanumeric()) || !word.contains(has_meaning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::grammar;

    fn rows() -> Vec<(&'static str, &'static str)> {
        let file = include_str!("../data/arity.tsv");
        file.lines()
            .filter(|row| !row.starts_with('#'))
            .map(|row| row.split_once('\t').unwrap())
            .collect()
    }

    #[test]
    fn the_table_has_every_row_once_and_in_order() {
        let rows = rows();
        assert!(rows.len() >= 400, "{}", rows.len());
        assert_eq!(TABLE.arity.len() + TABLE.pairs.len(), rows.len());
        assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (words, count) in rows {
            if count == "pair" {
                assert!(words.split(' ').nth(1).unwrap().starts_with('-'), "{words}");
                continue;
            }
            let count: usize = count.parse().unwrap();
            let given = words.split(' ').count();
            assert!(given <= count && count <= 4, "{words}");
            assert!(
                words.split(' ').all(is_plain) && !words.contains(" -"),
                "{words}"
            );
        }
    }

    /// The rule of each row fits its own command, and no command that the grammars know under another
    /// name, nor one with fewer words.
    #[test]
    fn the_rule_of_every_row_matches_its_command_and_is_not_wider_than_its_name() {
        let mut offered = 0;
        for (words, count) in rows() {
            let Ok(count) = count.parse::<usize>() else {
                continue;
            };
            let mut command: Vec<&str> = words.split(' ').collect();
            command.extend(["aa", "bb", "cc", "dd"]);
            command.truncate(count.max(depth(command[0], &command[1..]).0) + 1);
            let Some(rule) = prefix(&command) else {
                let mut at = grammar::program(command[0]).unwrap().0;
                for word in &command[1..] {
                    at = grammar::sub(at, word).unwrap_or(at);
                }
                assert!(at.hides(), "{words}: no rule, and nothing hides in it");
                continue;
            };
            offered += 1;
            let fixed = rule.strip_suffix(" *").unwrap();
            assert_eq!(fixed, command[..command.len() - 1].join(" "), "{words}");
            assert!(fixed.split(' ').count() >= count, "{words}");
            assert!(
                fixed.split(' ').all(is_plain) && !fixed.contains(" -"),
                "{words}"
            );
            let mut shorter = command.clone();
            shorter.truncate(fixed.split(' ').count() - 1);
            assert_eq!(prefix(&shorter), None, "{words}: a rule for fewer words");
            let below: Vec<&str> = grammar::names()
                .filter(|name| name.starts_with(&format!("{fixed} ")))
                .collect();
            assert_eq!(below, Vec::<&str>::new(), "{words}: wider than its grammar");
        }
        assert!(offered >= 300, "{offered}");
    }

    #[test]
    fn no_rule_is_offered_for_the_name_of_a_grammar_that_runs_other_programs() {
        for name in grammar::names() {
            let mut command: Vec<&str> = name.split(' ').collect();
            let program = grammar::program(command[0]).unwrap().0;
            let own = command[1..]
                .iter()
                .try_fold(program, |at, word| grammar::sub(at, word))
                .unwrap();
            command.push("zz");
            if own.hides() {
                assert_eq!(prefixes(&command), Vec::<String>::new(), "{name}");
            }
        }
    }

    /// Words, and the rule that is offered.
    const ROWS: &[(&[&str], Option<&str>)] = &[
        (&["unknown", "command", "sub"], Some("unknown *")),
        (&["touch", "foo.txt"], Some("touch *")),
        (&["git", "checkout", "main"], Some("git checkout *")),
        (&["docker", "run", "nginx"], None),
        (&["aws", "s3", "ls", "b"], Some("aws s3 ls *")),
        (&["npm", "run", "dev", "s"], Some("npm run dev *")),
        (
            &["docker", "compose", "up", "svc"],
            Some("docker compose up *"),
        ),
        (
            &["docker", "system", "prune", "-f"],
            Some("docker system prune *"),
        ),
        (&["git"], None),
        (&[], None),
        (&["git", "-C", "d", "commit"], Some("git -C d commit *")),
        (&["git", "-C", "d"], None),
        (&["git", "-C"], None),
        (&["git", "-c", "core.pager=x", "log"], None),
        (&["npm", "--prefix", "x", "run", "build"], None),
        (&["sudo", "rm", "x"], None),
        (&["env", "A=b", "make"], None),
        (&["xargs", "rm"], None),
        (&["timeout", "5", "git", "push"], None),
        (&["python", "-c", "print(1)"], None),
        (&["python3.12", "x.py"], None),
        (&["node", "-e", "1"], None),
        (&["bash", "-c", "ls"], None),
        (&["npx", "vite"], None),
        (&["uv", "run", "x"], None),
        (&["uv", "pip", "list"], Some("uv pip list *")),
        (&["gh", "api", "-X", "DELETE"], None),
        (&["gh", "pr", "view", "1"], Some("gh pr view *")),
        (&["kubectl", "-n", "prod", "delete"], None),
        (&["kubectl", "exec", "p", "ls"], None),
        (&["aws", "--profile", "p", "s3", "rm"], None),
        (&["cargo", "run", "--", "x"], None),
        (&["git", "stash"], None),
        (&["npm", "run"], None),
        (&["docker", "compose"], None),
        (&["git", "ch*"], None),
        (&["make", "-C", "sub", "all"], None),
        (&["./gradlew", "test"], Some("./gradlew test *")),
        (
            &["pnpm", "--filter", "web", "typecheck"],
            Some("pnpm --filter web typecheck *"),
        ),
        (
            &["npm", "--workspace", "ui", "install"],
            Some("npm --workspace ui install *"),
        ),
        (
            &["cargo", "--package", "core", "build"],
            Some("cargo --package core build *"),
        ),
        (
            &[
                "npm",
                "--workspace",
                "a",
                "--workspace",
                "b",
                "run",
                "build",
            ],
            Some("npm --workspace a --workspace b run build *"),
        ),
        (&["git", "commit", "-C", "/tmp/repo"], Some("git commit *")),
        (&["pnpm", "--silent", "install"], None),
        (&["pnpm", "--filter", "web"], None),
        (&["pnpm", "--filter", "*", "test"], None),
        (&["sed", "-n", "1p"], None),
        (&["awk", "1"], None),
        (&["eval", "x"], None),
        (&["bun", "x.ts"], None),
        (&["bun", "run", "dev"], Some("bun run dev *")),
    ];

    #[test]
    fn a_prefix_keeps_the_words_that_name_the_command_or_there_is_none() {
        for &(words, expected) in ROWS {
            assert_eq!(prefix(words).as_deref(), expected, "{words:?}");
        }
    }

    #[test]
    fn longer_prefixes_follow_the_widest() {
        assert_eq!(
            prefixes(&["git", "remote", "add", "origin", "-f"]),
            ["git remote add *", "git remote add origin *"]
        );
        assert_eq!(prefixes(&["cargo", "test", "--all"]), ["cargo test *"]);
        assert_eq!(
            prefixes(&["ls", "a", "b", "c"]),
            ["ls *", "ls a *", "ls a b *"]
        );
    }

    #[test]
    fn a_prefix_holds_no_blank_and_no_empty_word() {
        for words in [["git", "a b"], ["git", ""], ["", "x"], ["git", "a\nb"]] {
            assert_eq!(prefix(&words), None, "{words:?}");
        }
    }
}
