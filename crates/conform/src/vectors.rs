//! Reads tables of vectors and puts every row to the engine through its public API. It opens no
//! file and prints nothing: callers bring the text and show the report.

use std::collections::{BTreeMap, BTreeSet};

use policy::{Action, Origin, Pattern, Rule};
use serde_json::Value;

use crate::cases;
use crate::ops::{self, Cells};
use crate::table::{Table, cell, raw};

/// Why a table, the named rule sets or the deviations could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The first line names neither an `op` nor an `arity` column.
    #[error("not a table of vectors: the first line has no column `{0}`")]
    Column(&'static str),
    /// A line has another number of cells than the header.
    #[error("line {line}: {found} cells where the header has {wanted}")]
    Cells {
        /// 1-based line of the table.
        line: usize,
        /// Cells in this line.
        found: usize,
        /// Cells in the header.
        wanted: usize,
    },
    /// A row of this name stands in the table twice.
    #[error("row `{0}` stands there twice")]
    Twice(String),
    /// The named rule sets are not JSON, or a set is not a list of rules.
    #[error("rule sets: {0}")]
    Sets(String),
    /// A row that states what a correct gate must do may not be answered otherwise.
    #[error("row `{0}` is a safety row: no deviation from it may be listed")]
    Safety(String),
    /// A row of another form than its table's.
    #[error("row `{id}`: {why}")]
    Row {
        /// Name of the row.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// The policies are of another form.
    #[error("policies: {0}")]
    Policies(String),
}

/// What a row comes to.
pub(crate) enum Put {
    /// What it should be, and what it is.
    Answered { expected: String, got: String },
    /// Nothing can answer it yet.
    Missing(&'static str),
}

/// The named rule sets that rows refer to as `@name`.
#[derive(Debug, Default)]
pub struct Sets(BTreeMap<String, Vec<Rule>>);

impl Sets {
    /// Reads a JSON object of name to list; an element is `[permission, pattern, action]` or
    /// `"@name"`, another set spliced in at that place.
    ///
    /// # Errors
    /// [`VectorError::Sets`] for anything else, an unknown name or a set that contains itself.
    pub fn read(json: &str) -> Result<Self, VectorError> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| VectorError::Sets(error.to_string()))?;
        let Value::Object(raw) = value else {
            return Err(VectorError::Sets("not an object".into()));
        };
        let mut sets = Self::default();
        for name in raw.keys() {
            sets.splice(name, &raw, &mut Vec::new())
                .map_err(VectorError::Sets)?;
        }
        Ok(sets)
    }

    fn splice(
        &mut self,
        name: &str,
        raw: &serde_json::Map<String, Value>,
        open: &mut Vec<String>,
    ) -> Result<(), String> {
        if self.0.contains_key(name) {
            return Ok(());
        }
        if open.iter().any(|outer| outer == name) {
            return Err(format!("`@{name}` contains itself"));
        }
        let Some(Value::Array(elements)) = raw.get(name) else {
            return Err(format!("`@{name}` is no list"));
        };
        open.push(name.to_owned());
        for inner in elements.iter().filter_map(set_name) {
            self.splice(inner, raw, open)?;
        }
        open.pop();
        let rules = self.flatten(elements)?;
        self.0.insert(name.to_owned(), rules);
        Ok(())
    }

    fn flatten(&self, elements: &[Value]) -> Result<Vec<Rule>, String> {
        let mut rules = Vec::new();
        for element in elements {
            match set_name(element) {
                Some(name) => rules.extend(self.get(name)?.iter().cloned()),
                None => rules.push(rule(element)?),
            }
        }
        Ok(rules)
    }

    fn get(&self, name: &str) -> Result<&[Rule], String> {
        let rules = self.0.get(name).ok_or(format!("no rule set `@{name}`"))?;
        Ok(rules)
    }

    /// The rules of one cell: nothing, `@name`, or a JSON list.
    pub(crate) fn rules(&self, cell: &str) -> Result<Vec<Rule>, String> {
        if cell.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(name) = cell.strip_prefix('@') {
            return Ok(self.get(name)?.to_vec());
        }
        let elements: Vec<Value> =
            serde_json::from_str(cell).map_err(|error| format!("rules: {error}"))?;
        self.flatten(&elements)
    }
}

fn set_name(element: &Value) -> Option<&str> {
    element.as_str()?.strip_prefix('@')
}

fn rule(element: &Value) -> Result<Rule, String> {
    let words: Vec<String> = serde_json::from_value(element.clone())
        .map_err(|error| format!("rule `{element}`: {error}"))?;
    let [permission, pattern, action] = words.as_slice() else {
        return Err(format!("rule `{element}`: not three words"));
    };
    let action: Action = action
        .parse()
        .map_err(|_| format!("rule `{element}`: no action `{action}`"))?;
    let pattern = Pattern::wildcard(pattern);
    Ok(Rule::new(
        permission,
        pattern,
        action,
        Origin::named("vector"),
    ))
}

/// Rows that are answered otherwise on purpose, each with the answer given instead.
#[derive(Debug, Default)]
pub struct Deviations(BTreeMap<String, String>);

impl Deviations {
    /// Reads a table with the columns `row`, `answer` and `why`.
    ///
    /// # Errors
    /// A missing column, a line of another width, a row named twice.
    pub fn read(text: &str) -> Result<Self, VectorError> {
        let table = Table::read(text)?;
        let (row, answer) = (table.column("row")?, table.column("answer")?);
        table.column("why")?;
        let mut answers = BTreeMap::new();
        for line in &table.lines {
            let (row, answer) = (cell(line, row), cell(line, answer));
            if answers.insert(row.clone(), answer).is_some() {
                return Err(VectorError::Twice(row));
            }
        }
        Ok(Self(answers))
    }
}

/// Rows that cannot be answered as they should yet, each with the capability that is missing.
#[derive(Debug, Default)]
pub struct Missing(BTreeMap<String, String>);

impl Missing {
    /// Reads a table with the columns `row` and `capability`.
    ///
    /// # Errors
    /// A missing column, a line of another width, a row named twice.
    pub fn read(text: &str) -> Result<Self, VectorError> {
        let table = Table::read(text)?;
        let (row, capability) = (table.column("row")?, table.column("capability")?);
        let mut missing = BTreeMap::new();
        for line in &table.lines {
            let (row, capability) = (cell(line, row), cell(line, capability));
            if missing.insert(row.clone(), capability).is_some() {
                return Err(VectorError::Twice(row));
            }
        }
        Ok(Self(missing))
    }
}

/// What every table is read with.
#[derive(Debug, Default)]
pub struct Suite {
    /// Rule sets by name.
    pub sets: Sets,
    /// Rows answered otherwise on purpose.
    pub deviations: Deviations,
    /// Rows that wait for a capability.
    pub missing: Missing,
}

/// A row that did not get the answer it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Name of the row in its table.
    pub id: String,
    /// What was put to the engine.
    pub op: String,
    /// What the table, or the deviation, says.
    pub expected: String,
    /// What the engine said, or why the row could not be put to it.
    pub got: String,
}

/// What became of the rows of one or more tables.
#[derive(Debug, Default)]
pub struct Report {
    /// Rows answered as the table, or the deviation, says.
    pub passed: usize,
    /// Of those passed, the rows answered as their deviation says.
    pub deviated: usize,
    /// Rows answered otherwise, unreadable rows and stale deviations.
    pub failed: Vec<Row>,
    /// Count of rows per capability that is missing to answer them.
    pub skipped: BTreeMap<String, usize>,
    seen: BTreeSet<String>,
}

impl Report {
    /// Takes over the counts and rows of another report.
    pub fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        self.deviated += other.deviated;
        self.failed.extend(other.failed);
        for (capability, count) in other.skipped {
            *self.skipped.entry(capability).or_default() += count;
        }
        self.seen.extend(other.seen);
    }

    /// Count of rows that were not put to the engine.
    pub fn skipped_count(&self) -> usize {
        self.skipped.values().sum()
    }

    /// Deviations from rows, and rows that wait for a capability, that no table of this report
    /// holds. Only a run over the whole suite may take them for stale.
    pub fn unknown(&self, suite: &Suite) -> Vec<String> {
        let named = suite.deviations.0.keys().chain(suite.missing.0.keys());
        named
            .filter(|row| !self.seen.contains(*row))
            .cloned()
            .collect()
    }

    /// Counts one row that was put to the engine.
    fn judge(&mut self, id: String, op: &str, expected: &str, got: &str, suite: &Suite) {
        self.seen.insert(id.clone());
        let deviation = suite.deviations.0.get(&id).map(String::as_str);
        let missing = suite.missing.0.get(&id);
        let wanted = deviation.unwrap_or(expected);
        let note = match (deviation, missing) {
            (Some(_), Some(_)) => " (it is listed as a deviation and as missing)",
            (Some(_), None) if got == expected => " (its deviation is stale: it passes without)",
            (None, Some(_)) if got == expected => " (it is listed as missing, and passes)",
            (None, Some(capability)) => return self.skip(id, capability),
            (_, None) if got == wanted => {
                self.passed += 1;
                self.deviated += usize::from(deviation.is_some());
                return;
            }
            (_, None) => "",
        };
        self.failed.push(Row {
            id,
            op: op.to_owned(),
            expected: wanted.to_owned(),
            got: format!("{got}{note}"),
        });
    }

    fn skip(&mut self, id: String, capability: &str) {
        *self.skipped.entry(capability.to_owned()).or_default() += 1;
        self.seen.insert(id);
    }
}

/// Puts every row of one table to the engine. A table is known by its header: `id`, `op`,
/// `ruleset`, `request`, `expected`; or `id`, `area`, `input_json`, `expected_json`; or `prefix`,
/// `arity`. Of other columns `basis`, `saved` and `hard` count.
///
/// # Errors
/// The text is no such table, or a deviation from a row of basis `safety` is listed.
pub fn run(text: &str, suite: &Suite) -> Result<Report, VectorError> {
    let table = Table::read(text)?;
    if table.column("arity").is_ok() {
        return run_arity(&table, suite);
    }
    let is_case = table.column("area").is_ok();
    let id = table.column("id")?;
    let op = table.column(if is_case { "area" } else { "op" })?;
    let basis = table.column("basis").ok();
    let expected = table.column(if is_case { "expected_json" } else { "expected" })?;
    let input = table.column(if is_case { "input_json" } else { "request" })?;
    let ruleset = if is_case {
        op
    } else {
        table.column("ruleset")?
    };
    let (saved, hard) = (table.column("saved").ok(), table.column("hard").ok());

    let mut report = Report::default();
    for line in &table.lines {
        let id = cell(line, id);
        if report.seen.contains(&id) {
            return Err(VectorError::Twice(id));
        }
        let is_safety = basis.is_some_and(|basis| cell(line, basis) == "safety");
        if is_safety && suite.deviations.0.contains_key(&id) {
            return Err(VectorError::Safety(id));
        }
        let op = cell(line, op);
        let optional = |column: Option<usize>| column.map(|it| cell(line, it)).unwrap_or_default();
        let put = if is_case {
            cases::put(&op, raw(line, input), raw(line, expected))
        } else {
            let cells = Cells {
                ruleset: &cell(line, ruleset),
                saved: &optional(saved),
                hard: &optional(hard),
                request: &cell(line, input),
                expected: &cell(line, expected),
            };
            ops::put(&op, &cells, &suite.sets).map(|got| got.with(cell(line, expected)))
        };
        match put {
            Ok(Put::Answered { expected, got }) => report.judge(id, &op, &expected, &got, suite),
            Ok(Put::Missing(capability)) => report.skip(id, capability),
            Err(why) => {
                let got = format!("unreadable row: {why}");
                report.judge(id, &op, "a row that can be read", &got, suite);
            }
        }
    }
    Ok(report)
}

/// Every row says how many words name a command that begins with these: that many words must be
/// the prefix that is offered for such a command with plain words behind it.
fn run_arity(table: &Table, suite: &Suite) -> Result<Report, VectorError> {
    let prefix = table.column("prefix")?;
    let arity = table.column("arity")?;
    let mut report = Report::default();
    for line in &table.lines {
        let prefix = cell(line, prefix);
        let id = format!("arity:{prefix}");
        if report.seen.contains(&id) {
            return Err(VectorError::Twice(id));
        }
        let filler = ["one", "two", "three", "four"];
        let words: Vec<&str> = prefix.split(' ').chain(filler).collect();
        let arity = cell(line, arity);
        let expected = match arity
            .parse::<usize>()
            .ok()
            .and_then(|count| words.get(..count))
        {
            Some(named) => format!("{} *", named.join(" ")),
            None => format!("an arity, not `{arity}`"),
        };
        report.judge(id, "arity", &expected, &ops::prefix_of(&words), suite);
    }
    Ok(report)
}
