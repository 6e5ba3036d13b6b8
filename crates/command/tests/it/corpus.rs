//! The lists of shell lines: their sizes, and what other readers find in them. It must not judge a line.

#![expect(clippy::disallowed_types, reason = "bash is asked whether it agrees")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use crate::generate;
use crate::read;
use crate::readers::{brush, tree_sitter, unquoted};
use crate::table::rows;

const BENIGN: &str = include_str!("../../../../spec/shell/benign.tsv");
const IRREVERSIBLE: &str = include_str!("../../../../spec/shell/irreversible.tsv");
const EVADE: &str = include_str!("../../../../spec/shell/evade.tsv");
const CORPUS: &str = include_str!("../../../../spec/shell/corpus.tsv");
const FAULTS: &str = include_str!("../../../../spec/shell/oracle-faults.tsv");

const GENERATED_COUNT: usize = 1_400;

/// What one or both of the others misread in many places, and two parentheses, which this reader reads
/// both ways where in doubt. Generated lines are without these; of those that were written down, each is
/// in the table of faults.
const MISREAD: [&str; 5] = ["\\\n", "time ", "coproc ", "((", "<<-"];

/// One column of a table.
fn column(table: &str, place: usize) -> impl Iterator<Item = String> {
    rows(table).into_iter().map(move |row| row[place].clone())
}

/// How often each value is in a column.
fn counts(table: &str, place: usize) -> BTreeMap<String, usize> {
    column(table, place).fold(BTreeMap::new(), |mut counts, value| {
        *counts.entry(value).or_default() += 1;
        counts
    })
}

/// Every line that was written down.
fn written() -> BTreeSet<String> {
    column(BENIGN, 1)
        .chain(column(IRREVERSIBLE, 1))
        .chain(column(EVADE, 2))
        .chain(column(CORPUS, 1))
        .collect()
}

/// Every line, the generated ones too.
fn all() -> BTreeSet<String> {
    let is_fit = |line: &String| !MISREAD.iter().any(|part| line.contains(part));
    let mut lines = written();
    lines.extend(
        generate::lines(14, 3 * GENERATED_COUNT)
            .into_iter()
            .filter(is_fit)
            .take(GENERATED_COUNT),
    );
    lines
}

#[test]
fn the_benign_lines_keep_their_quotas() {
    let quotas = [
        ("build", 80),
        ("everyday", 30),
        ("git", 60),
        ("heredoc", 30),
        ("pipes", 40),
        ("search", 60),
    ];
    let quotas = quotas.map(|(quota, count)| (quota.to_owned(), count));
    assert_eq!(counts(BENIGN, 0), BTreeMap::from(quotas));
    let lines: BTreeSet<String> = column(BENIGN, 1).collect();
    assert_eq!(lines.len(), 300);
    let single_count = lines
        .iter()
        .filter(|line| line.split_whitespace().count() == 1)
        .count();
    assert!(single_count <= 30, "{single_count}");
}

#[test]
fn the_lists_to_be_refused_have_their_sizes() {
    assert_eq!(column(IRREVERSIBLE, 1).collect::<BTreeSet<_>>().len(), 437);
    assert_eq!(counts(EVADE, 0).len(), 3);
    assert!(counts(EVADE, 0).into_values().all(|count| count >= 40));
    assert_eq!(
        counts(EVADE, 1).into_keys().collect::<Vec<_>>(),
        ["asked", "denied"]
    );
}

#[test]
fn half_of_the_corpus_and_more_was_written_down() {
    let (written, all) = (written().len(), all().len());
    assert!(all >= 3_000 && written * 2 >= all, "{written} of {all}");
}

/// The programs a reader finds, as they are written but for quotes.
type Names = BTreeSet<String>;

/// What this reader finds; `None` where it cannot tell. What runs inside another command is left out, as
/// the others do not look there.
fn ours(line: &str) -> Option<Names> {
    let read = read(line);
    let written = read.commands.iter().filter(|command| command.via.is_none());
    let programs = written.filter_map(|command| command.words.first());
    // A text in backquotes that needs a second reading has no closer place than itself.
    let names = programs.map(|word| match &line[word.range.clone()] {
        whole if whole.starts_with('`') && whole.contains('\\') => word.text.clone(),
        name => unquoted(name),
    });
    read.unknown.is_empty().then(|| names.collect())
}

/// The readers that are wrong about a line.
fn faults() -> BTreeMap<String, BTreeSet<String>> {
    rows(FAULTS)
        .into_iter()
        .fold(BTreeMap::new(), |mut faults, row| {
            faults
                .entry(row[0].clone())
                .or_default()
                .insert(row[1].clone());
            faults
        })
}

/// What the readers that are not wrong about a line find together; `None` if none of them reads it.
fn union(line: &str, wrong: &BTreeSet<String>) -> Option<Names> {
    let found = [("brush", brush(line)), ("tree-sitter", tree_sitter(line))];
    let right = found
        .into_iter()
        .filter(|(reader, _)| !wrong.contains(*reader));
    let names: Vec<String> = right
        .filter_map(|(_, names)| names)
        .reduce(|a, b| [a, b].concat())?;
    Some(names.into_iter().collect())
}

#[test]
fn what_is_found_is_what_the_other_readers_find_together() {
    let (faults, lines) = (faults(), all());
    assert!(faults.len() * 50 <= lines.len(), "{} faults", faults.len());
    assert!(
        faults.keys().all(|line| lines.contains(line)),
        "a fault of no line"
    );
    let (mut compared_count, mut wrong) = (0, Vec::new());
    for line in &lines {
        let none = BTreeSet::new();
        let Some(found) = ours(line) else { continue };
        let Some(union) = union(line, faults.get(line).unwrap_or(&none)) else {
            continue;
        };
        compared_count += 1;
        if found != union {
            wrong.push(format!("{line:?}: {found:?}, they find {union:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        compared_count * 10 > lines.len() * 8,
        "{compared_count} of {}",
        lines.len()
    );
}

/// Bash reads every line and runs none.
fn is_grammatical(text: &str) -> Option<bool> {
    let mut bash = Command::new("bash");
    bash.args(["-n", "-O", "extglob", "-c", "--", text]);
    bash.env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    bash.status().ok().map(|status| status.success())
}

#[test]
fn what_bash_refuses_is_not_understood() {
    let (mut understood_count, mut wrong) = (0, Vec::new());
    let lines = written();
    for line in &lines {
        let Some(is_grammatical) = is_grammatical(line) else {
            return eprintln!("skipped: there is no bash here");
        };
        let is_understood = ours(line).is_some();
        understood_count += usize::from(is_understood);
        if is_understood && !is_grammatical {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    let count = lines.len();
    assert!(
        understood_count * 10 > count * 9,
        "{understood_count} of {count}"
    );
}

#[test]
fn the_folder_says_what_is_in_it() {
    let about = include_str!("../../../../spec/shell/README.md");
    for (table, rows) in [
        ("benign", BENIGN),
        ("irreversible", IRREVERSIBLE),
        ("evade", EVADE),
        ("corpus", CORPUS),
        ("oracle-faults", FAULTS),
        (
            "readonly",
            include_str!("../../../../spec/shell/readonly.tsv"),
        ),
        ("told", include_str!("../../../../spec/shell/told.tsv")),
        (
            "reaches",
            include_str!("../../../../spec/shell/reaches.tsv"),
        ),
        (
            "powershell",
            include_str!("../../../../spec/shell/powershell.tsv"),
        ),
        ("cmd", include_str!("../../../../spec/shell/cmd.tsv")),
    ] {
        let count = rows.lines().skip(1).filter(|row| !row.is_empty()).count();
        let said = format!("| `{table}.tsv` | {count}");
        assert!(about.contains(&said), "it lacks `{said}`");
    }
}
