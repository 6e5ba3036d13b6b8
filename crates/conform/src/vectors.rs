//! Reads tables of vectors and puts every row to the engine through its public API. It opens no
//! file and prints nothing: callers bring the text and show the report.

use std::collections::{BTreeMap, BTreeSet};

use policy::{Action, Origin, Pattern, Platform, Rule};
use serde_json::Value;

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
    fn rules(&self, cell: &str) -> Result<Vec<Rule>, String> {
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
    pub skipped: BTreeMap<&'static str, usize>,
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

    /// Deviations from rows that no table of this report holds. Only a run over the whole suite
    /// may take them for stale.
    pub fn unknown_deviations(&self, deviations: &Deviations) -> Vec<String> {
        let unknown = |row: &&String| !self.seen.contains(*row);
        deviations.0.keys().filter(unknown).cloned().collect()
    }

    /// Counts one row that was put to the engine.
    fn judge(&mut self, id: String, op: &str, expected: &str, got: &str, known: &Deviations) {
        let deviation = known.0.get(&id).map(String::as_str);
        self.seen.insert(id.clone());
        let wanted = deviation.unwrap_or(expected);
        let is_stale = deviation.is_some() && got == expected;
        if got == wanted && !is_stale {
            self.passed += 1;
            self.deviated += usize::from(deviation.is_some());
            return;
        }
        let note = if is_stale {
            " (its deviation is stale: it passes without)"
        } else {
            ""
        };
        self.failed.push(Row {
            id,
            op: op.to_owned(),
            expected: wanted.to_owned(),
            got: format!("{got}{note}"),
        });
    }
}

/// Puts every row of one table to the engine. A table is known by its header: `id`, `op`,
/// `ruleset`, `request`, `expected` (others are ignored, but for `basis`), or `prefix`, `arity`.
///
/// # Errors
/// The text is no such table, or a deviation from a row of basis `safety` is listed.
pub fn run(text: &str, sets: &Sets, deviations: &Deviations) -> Result<Report, VectorError> {
    let table = Table::read(text)?;
    if table.column("arity").is_ok() {
        return run_arity(&table, deviations);
    }
    let id = table.column("id")?;
    let op = table.column("op")?;
    let ruleset = table.column("ruleset")?;
    let request = table.column("request")?;
    let expected = table.column("expected")?;
    let basis = table.column("basis").ok();

    let mut report = Report::default();
    for line in &table.lines {
        let id = cell(line, id);
        if report.seen.contains(&id) {
            return Err(VectorError::Twice(id));
        }
        let is_safety = basis.is_some_and(|basis| cell(line, basis) == "safety");
        if is_safety && deviations.0.contains_key(&id) {
            return Err(VectorError::Safety(id));
        }
        let op = cell(line, op);
        let got = match put(&op, &cell(line, ruleset), &cell(line, request), sets) {
            Ok(Put::Answered(got)) => got,
            Ok(Put::Missing(capability)) => {
                *report.skipped.entry(capability).or_default() += 1;
                report.seen.insert(id);
                continue;
            }
            Err(why) => format!("unreadable row: {why}"),
        };
        report.judge(id, &op, &cell(line, expected), &got, deviations);
    }
    Ok(report)
}

/// Every row says how many words name a command that begins with these: that many words must be
/// the prefix that is offered for such a command with plain words behind it.
fn run_arity(table: &Table, deviations: &Deviations) -> Result<Report, VectorError> {
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
        report.judge(id, "arity", &expected, &prefix_of(&words), deviations);
    }
    Ok(report)
}

enum Put {
    Answered(String),
    Missing(&'static str),
}

fn put(op: &str, ruleset: &str, request: &str, sets: &Sets) -> Result<Put, String> {
    let answer = match op {
        "wildcard" => policy::wildcard_on(Platform::Unix, ruleset, request).to_string(),
        "wildcard-win" => policy::wildcard_on(Platform::Windows, ruleset, request).to_string(),
        "evaluate" => {
            let rules = sets.rules(ruleset)?;
            let words = words(request)?;
            let [permission, text] = words.as_slice() else {
                return Err("the request is not two words".into());
            };
            let found = policy::evaluate(&rules, permission, text);
            found
                .map_or(Action::Ask, |(_, rule)| rule.action)
                .to_string()
        }
        "disabled" => {
            let rules = sets.rules(ruleset)?;
            policy::disabled(&rules, policy::permission_of(request)).to_string()
        }
        "prefix" => {
            let words = words(request)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            prefix_of(&words)
        }
        "flagprefix" => return Ok(Put::Missing("prefixes that look past options")),
        "fromConfig" => return Ok(Put::Missing("rules from a configuration map")),
        "mergeDeep" => return Ok(Put::Missing("merging configuration layers")),
        "toConfig" | "mergePermission" => return Ok(Put::Missing("writing rules back")),
        "resolve" => return Ok(Put::Missing("hardening and saved answers")),
        "protected" => return Ok(Put::Missing("protected paths")),
        "ask" => return Ok(Put::Missing("hard rules and protected paths at an ask")),
        "sequence" => return Ok(Put::Missing("replies to several pending asks")),
        _ => return Ok(Put::Missing("an op this suite does not know")),
    };
    Ok(Put::Answered(answer))
}

fn words(request: &str) -> Result<Vec<String>, String> {
    serde_json::from_str(request).map_err(|error| format!("request: {error}"))
}

/// The prefix offered for these words, or `none`.
fn prefix_of(words: &[&str]) -> String {
    command::prefix(words).unwrap_or("none".into())
}

/// A table of tab-separated cells below a header line. Empty lines and those that begin with `#`
/// are no rows.
struct Table {
    header: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Table {
    fn read(text: &str) -> Result<Self, VectorError> {
        let mut rows = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(index, line)| {
                (
                    index + 1,
                    line.split('\t').map(unescape).collect::<Vec<_>>(),
                )
            });
        let (_, header) = rows.next().ok_or(VectorError::Column("op"))?;
        let mut lines = Vec::new();
        for (line, cells) in rows {
            let (found, wanted) = (cells.len(), header.len());
            if found != wanted {
                return Err(VectorError::Cells {
                    line,
                    found,
                    wanted,
                });
            }
            lines.push(cells);
        }
        Ok(Self { header, lines })
    }

    fn column(&self, name: &'static str) -> Result<usize, VectorError> {
        let place = self.header.iter().position(|cell| cell == name);
        place.ok_or(VectorError::Column(name))
    }
}

/// Every line was measured against the header, so a column that was found is there.
fn cell(line: &[String], column: usize) -> String {
    line.get(column).cloned().unwrap_or_default()
}

/// Undoes `\\`, `\t`, `\n` and `\r`; any other backslash stands for itself.
fn unescape(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell.chars();
    while let Some(char) = rest.next() {
        if char != '\\' {
            text.push(char);
            continue;
        }
        match rest.next() {
            Some('\\') | None => text.push('\\'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some(other) => text.extend(['\\', other]),
        }
    }
    text
}
