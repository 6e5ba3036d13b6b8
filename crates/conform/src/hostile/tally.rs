//! How many calls came to what, as a table, and against the counts that were accepted.

use super::{Outcome, Row};
use crate::table::{Table, cell};
use crate::vectors::VectorError;
use std::collections::BTreeMap;
use std::fmt;

/// What a run may come to, for counting, in the order of the columns.
const KINDS: [&str; 7] = [
    "through", "rule", "asked", "sandbox", "skipped", "allowed", "refused",
];

/// Policy, group, kind.
type Key = (String, String, &'static str);

/// Counts of outcomes by policy and group.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Key, usize>);

impl Tally {
    /// Counts one outcome.
    pub fn add(&mut self, policy: &str, row: &Row, outcome: &Outcome) {
        let kind = kind(outcome);
        let key = (policy.to_owned(), row.group.clone(), kind);
        *self.0.entry(key).or_default() += 1;
    }

    /// The counts as [`Baseline::read`] reads them.
    pub fn to_tsv(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|((policy, group, kind), count)| format!("{policy}\t{group}\t{kind}\t{count}\n"));
        let header = "policy\tgroup\toutcome\tcount\n".to_owned();
        std::iter::once(header).chain(lines).collect()
    }

    fn count(&self, policy: &str, group: &str, kind: &'static str) -> usize {
        let key = (policy.to_owned(), group.to_owned(), kind);
        self.0.get(&key).copied().unwrap_or_default()
    }

    fn sum(&self, policy: &str, kind: &'static str) -> usize {
        let of = self
            .0
            .iter()
            .filter(|((its, _, of), _)| its == policy && *of == kind);
        of.map(|(_, count)| count).sum()
    }

    /// Policies with their groups, in order of name.
    fn groups(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (policy, group, _) in self.0.keys() {
            let of = groups.entry(policy).or_default();
            if !of.contains(&group.as_str()) {
                of.push(group);
            }
        }
        groups
    }
}

/// A table for each policy, a line for each group and one for their sum.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (policy, groups) in self.groups() {
            write!(f, "{policy:<16}")?;
            KINDS.iter().try_for_each(|kind| write!(f, "{kind:>9}"))?;
            writeln!(f)?;
            for group in groups {
                write!(f, "  {group:<14}")?;
                for kind in KINDS {
                    write!(f, "{:>7}  ", show(self.count(policy, group, kind)))?;
                }
                writeln!(f)?;
            }
            write!(f, "  {:<14}", "all")?;
            for kind in KINDS {
                write!(f, "{:>7}  ", show(self.sum(policy, kind)))?;
            }
            writeln!(f, "\n")?;
        }
        Ok(())
    }
}

/// Nothing stands out less than a nought.
fn show(count: usize) -> String {
    match count {
        0 => "-".to_owned(),
        some => some.to_string(),
    }
}

fn kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Through(_) => "through",
        Outcome::Rule => "rule",
        Outcome::Asked => "asked",
        Outcome::Sandbox => "sandbox",
        Outcome::Skipped(_) => "skipped",
        Outcome::Allowed => "allowed",
        Outcome::Refused(_) => "refused",
    }
}

/// The counts that were accepted.
#[derive(Debug, Default)]
pub struct Baseline(Tally);

impl Baseline {
    /// Reads a table with the columns `policy`, `group`, `outcome` and `count`.
    ///
    /// # Errors
    /// Another form, an unknown outcome, a count that is no number, a line written twice.
    pub fn read(text: &str) -> Result<Self, VectorError> {
        let table = Table::read(text)?;
        let (policy, group) = (table.column("policy")?, table.column("group")?);
        let (outcome, count) = (table.column("outcome")?, table.column("count")?);
        let mut counts = BTreeMap::new();
        for line in &table.lines {
            let id = line.join(" ");
            let bad = |why: &str| VectorError::Row {
                id: id.clone(),
                why: why.to_owned(),
            };
            let outcome = cell(line, outcome);
            let kind = KINDS.into_iter().find(|kind| *kind == outcome);
            let kind = kind.ok_or_else(|| bad("no such outcome"))?;
            let count = cell(line, count).parse();
            let count: usize = count.map_err(|_| bad("the count is no number"))?;
            let key = (cell(line, policy), cell(line, group), kind);
            if counts.insert(key, count).is_some() {
                return Err(VectorError::Twice(id));
            }
        }
        Ok(Self(Tally(counts)))
    }

    /// Where a tally is worse: more got through, or fewer ordinary calls were allowed. A control that
    /// was skipped, for this machine lacks its program, is not held against it.
    pub fn worse(&self, tally: &Tally) -> Vec<String> {
        let mut worse = Vec::new();
        let of_both = [&self.0, tally].map(Tally::groups);
        for (policy, groups) in of_both.iter().flatten() {
            for group in groups {
                let count = |of: &Tally, kinds: &[&'static str]| -> usize {
                    kinds.iter().map(|kind| of.count(policy, group, kind)).sum()
                };
                let (before, now) = (count(&self.0, &["through"]), count(tally, &["through"]));
                if now > before {
                    worse.push(format!(
                        "{policy} {group}: {now} got through, {before} accepted"
                    ));
                }
                let is_ordinary = count(&self.0, &["allowed", "refused"]) > 0;
                let kinds = ["allowed", "skipped"];
                let (before, now) = (count(&self.0, &kinds), count(tally, &kinds));
                if is_ordinary && now < before {
                    worse.push(format!(
                        "{policy} {group}: {now} allowed, {before} accepted"
                    ));
                }
            }
        }
        worse.sort();
        worse.dedup();
        worse
    }

    /// Whether these are the very counts.
    pub fn is(&self, tally: &Tally) -> bool {
        self.0 == *tally
    }
}
