//! The lists of shell lines: what they hold, and that nothing grave or forbidden in them is allowed.

use agent::{Preset, Tier};
use conform::testkit::{Bench, MemoryHost};
use gate::g1_decode::RawArguments;
use gate::g3_confine::Confinement;
use policy::{Action, Decision, RuleBook, RuleLayers, decide, written::read_rules};
use serde_json::json;
use std::collections::BTreeMap;
use tollgate_conform as conform;

const BENIGN: &str = include_str!("../../../../spec/shell/benign.tsv");
const README: &str = include_str!("../../../../spec/shell/README.md");
const EVADE: &str = include_str!("../../../../spec/shell/evade.tsv");
const IRREVERSIBLE: &str = include_str!("../../../../spec/shell/irreversible.tsv");

/// What still gets through: programs whose own language is not read yet, and a word that is a pattern.
const OPEN: [&str; 10] = [
    "git pus?",
    "awk 'BEGIN { system(\"git push\") }'",
    "sed '1e git push' README.md",
    "git config alias.p push; git p",
    "git bisect run git push",
    "vim -es -c '!git push' -c q",
    "awk 'BEGIN { system(\"rm x\") }'",
    "sed 's/.*/rm x/e' list",
    "man -P 'rm x' ls",
    "docker run -v .:/w alpine rm /w/x",
];

/// The rows of a table below its header, a backslash before `n`, `t` or itself read as in `vectors/`.
fn rows(table: &str) -> Vec<Vec<String>> {
    let plain = |cell: &str| {
        let mut letters = cell.chars();
        let mut out = String::new();
        while let Some(letter) = letters.next() {
            out.push(match (letter, letter == '\\') {
                (_, true) => match letters.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    other => other.unwrap_or('\\'),
                },
                (letter, false) => letter,
            });
        }
        out
    };
    let rows = table.lines().skip(1).filter(|row| !row.is_empty());
    rows.map(|row| row.split('\t').map(plain).collect())
        .collect()
}

/// What these rules say to a line where walls do not hold everything: no answer rests on the sandbox.
fn judged(line: &str, layers: RuleLayers) -> Action {
    let confinement = Confinement::Partial { gaps: Vec::new() };
    let files = [(".env", "KEY=1"), ("sub/x.txt", "x"), ("src/main.rs", "")];
    let bench = Bench::free(MemoryHost::confined(&files, confinement));
    let arguments = RawArguments::Json(json!({"command": line}));
    let checked = bench.check(&tools::builtins(), "bash", arguments).unwrap();
    let rules = RuleBook::new(layers).current();
    let asked = checked.decisions.iter().map(Decision::subjects);
    let actions = asked.map(|subjects| decide(&rules, subjects, None).action());
    actions.max().unwrap()
}

fn over(rules: &str) -> RuleLayers {
    let text = format!("{{\"permission\": {rules}}}");
    RuleLayers {
        base: read_rules(&text, "t", &["permission"], None).unwrap(),
        ..RuleLayers::default()
    }
}

#[test]
fn every_table_is_told_of() {
    for name in ["benign.tsv", "irreversible.tsv", "evade.tsv"] {
        assert!(README.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
fn the_ordinary_lines_are_three_hundred_in_their_quotas() {
    let rows = rows(BENIGN);
    let mut quotas: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *quotas.entry(&row[0]).or_default() += 1;
    }
    let quotas: Vec<_> = quotas.into_iter().collect();
    assert_eq!(
        quotas,
        [
            ("build", 80),
            ("everyday", 30),
            ("git", 60),
            ("heredoc", 30),
            ("pipes", 40),
            ("search", 60)
        ]
    );
    let is_one_word = |row: &&Vec<String>| !row[1].contains(char::is_whitespace);
    assert!(rows.iter().filter(is_one_word).count() <= 30);
}

#[test]
fn no_line_that_cannot_be_undone_is_allowed_by_what_code_starts_from() {
    let rows = rows(IRREVERSIBLE);
    assert_eq!(rows.len(), 80);
    let agent = agent::agent("code").unwrap();
    for tier in Tier::ALL {
        let layers = agent::layers(&agent, Preset::Normal, tier, Vec::new(), Some("/home/u"));
        for row in &rows {
            assert_ne!(judged(&row[1], layers.clone()), Action::Allow, "{}", row[1]);
        }
    }
}

#[test]
fn of_the_spellings_of_a_forbidden_command_those_that_get_through_are_known() {
    let rows = rows(EVADE);
    let count = |rule: &str| rows.iter().filter(|row| row[0] == rule).count();
    assert!(count("push") >= 40 && count("rm") >= 40 && count("env") >= 40);
    let mut allowed = Vec::new();
    for row in &rows {
        let rules = match row[0].as_str() {
            "push" => r#"{"*": "allow", "bash": {"*": "allow", "git push *": "deny"}}"#,
            "rm" => r#"{"*": "allow", "bash": {"*": "allow", "rm *": "deny"}}"#,
            // What a command's words read is not known yet; the walls have to hold.
            _ => continue,
        };
        if judged(&row[2], over(rules)) == Action::Allow {
            allowed.push(row[2].as_str());
        }
    }
    assert_eq!(allowed, OPEN);
}
