//! Readings made into a table for people and a JSON value for programs. Must not measure, and fails
//! nobody.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::probe::Reading;
use super::row::{Budget, Row};

/// Fewer samples than these have no 95th percentile worth a name.
const P95_SAMPLES_MIN: usize = 20;

/// The readings of all rounds, by the row's name.
#[derive(Debug, Default)]
pub(super) struct Report {
    rounds: BTreeMap<String, Vec<Reading>>,
    /// What could not be measured, and why.
    pub(super) skipped: Vec<String>,
}

/// What a row comes to.
#[derive(Debug, PartialEq)]
struct Sum {
    median: f64,
    p95: Option<f64>,
    cpu_ms: Option<f64>,
    /// Over the row beside it and as a multiple of that, each the median of the rounds.
    beside: Option<(f64, f64)>,
    is_within: Option<bool>,
}

impl Report {
    pub(super) fn add(&mut self, reading: Reading) {
        let rounds = self.rounds.entry(reading.row.name()).or_default();
        rounds.push(reading);
    }

    /// The table.
    pub(super) fn table(&self) -> String {
        let head = format!(
            "{:26} {:>9} {:>9} {:>9} {:>10} {:>7}  than / budget",
            "what", "median", "p95", "CPU", "more", "times"
        );
        let rows = Row::all().into_iter().filter_map(|row| self.line(row));
        let skipped = self
            .skipped
            .iter()
            .map(|why| format!("not measured: {why}"));
        let lines: Vec<String> = std::iter::once(head).chain(rows).chain(skipped).collect();
        lines.join("\n") + "\n"
    }

    fn line(&self, row: Row) -> Option<String> {
        let sum = self.sum(row)?;
        let cell = |value: Option<f64>, unit: &str| {
            value.map_or(String::new(), |value| format!("{value:.2} {unit}"))
        };
        let (more, times) = sum.beside.unzip();
        let beside = row.beside().filter(|_| more.is_some()).map(Row::name);
        let line = format!(
            "{:26} {:>9} {:>9} {:>9} {:>10} {:>7}  {:14} {}",
            row.name(),
            cell(Some(sum.median), row.unit()),
            cell(sum.p95, row.unit()),
            cell(sum.cpu_ms, "ms"),
            cell(more, row.unit()),
            times.map_or(String::new(), |times| format!("{times:.2}")),
            beside.unwrap_or_default(),
            verdict(row, sum.is_within),
        );
        Some(line.trim_end().to_owned())
    }

    /// The same, with every sample of every round.
    pub(super) fn json(&self, runs: usize, at_unix_s: u64) -> Value {
        let rows: Vec<Value> = Row::all()
            .into_iter()
            .filter_map(|row| {
                let sum = self.sum(row)?;
                let rounds = self.rounds.get(&row.name())?;
                let (more, times) = sum.beside.unzip();
                Some(json!({
                    "name": row.name().trim(), "unit": row.unit(),
                    "median": sum.median, "p95": sum.p95, "cpu_ms": sum.cpu_ms,
                    "beside": row.beside().map(|row| row.name().trim().to_owned()),
                    "difference": more, "ratio": times,
                    "budget": row.budget().map(limit), "is_within": sum.is_within,
                    "rounds": rounds.iter().map(|it| &it.samples).collect::<Vec<_>>(),
                }))
            })
            .collect();
        let cpus = std::thread::available_parallelism().ok();
        let machine = json!({
            "system": std::env::consts::OS, "architecture": std::env::consts::ARCH, "cpus": cpus,
        });
        json!({
            "at_unix_s": at_unix_s, "runs": runs, "machine": machine, "rows": rows,
            "skipped": self.skipped,
        })
    }

    fn sum(&self, row: Row) -> Option<Sum> {
        let rounds = self.rounds.get(&row.name())?;
        let values: Vec<f64> = rounds.iter().filter_map(|it| middle(&it.samples)).collect();
        let median = middle(&values)?;
        let all: Vec<f64> = rounds.iter().flat_map(|it| &it.samples).copied().collect();
        let p95 = (all.len() >= P95_SAMPLES_MIN)
            .then(|| quantile(&all, 0.95))
            .flatten();
        let cpu: Vec<f64> = rounds.iter().filter_map(|it| it.cpu_ms).collect();
        let beside = row.beside().and_then(|beside| {
            let others = self.rounds.get(&beside.name())?;
            let others = others.iter().filter_map(|it| middle(&it.samples));
            let (more, times): (Vec<f64>, Vec<f64>) = values
                .iter()
                .zip(others)
                .map(|(value, other)| (value - other, value / other))
                .unzip();
            Some((middle(&more)?, middle(&times)?))
        });
        let is_within = row.budget().and_then(|budget| match budget {
            Budget::Value(limit) => Some(median < limit),
            Budget::Difference(limit) => beside.map(|(more, _)| more < limit),
        });
        Some(Sum {
            median,
            p95,
            cpu_ms: mean(&cpu),
            beside,
            is_within,
        })
    }
}

fn limit(budget: Budget) -> f64 {
    match budget {
        Budget::Value(limit) | Budget::Difference(limit) => limit,
    }
}

/// What a row's budget says of it, as the end of a line.
fn verdict(row: Row, is_within: Option<bool>) -> String {
    let (Some(budget), Some(is_within)) = (row.budget(), is_within) else {
        return String::new();
    };
    let word = if is_within { "within" } else { "OVER" };
    let what = match budget {
        Budget::Value(limit) => format!("{limit} {}", row.unit()),
        Budget::Difference(limit) => format!("{limit} {} more", row.unit()),
    };
    format!("{word} {what}")
}

fn middle(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The sample below which this part of the samples lies, the next one up where none does.
fn quantile(samples: &[f64], part: f64) -> Option<f64> {
    let mut samples = samples.to_vec();
    samples.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few thousand samples at most, and a part of them"
    )]
    let at = (samples.len() as f64 * part) as usize;
    samples.get(at).copied()
}

/// The kernel counts processor time in ticks longer than a call: only the sum is exact enough.
fn mean(samples: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "there are few rounds")]
    let count = samples.len() as f64;
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(readings: &[(Row, &[f64])]) -> Report {
        let mut report = Report::default();
        for (row, samples) in readings {
            report.add(Reading {
                row: *row,
                samples: samples.to_vec(),
                cpu_ms: None,
            });
        }
        report
    }

    #[test]
    fn a_row_is_compared_round_by_round() {
        let report = report(&[
            (Row::True, &[1.0]),
            (Row::True, &[2.0]),
            (Row::True, &[100.0]),
            (Row::Version, &[4.0]),
            (Row::Version, &[4.0]),
            (Row::Version, &[300.0]),
        ]);
        let sum = report.sum(Row::Version);
        let sum = sum.map(|sum| (sum.median, sum.beside, sum.is_within));
        assert_eq!(sum, Some((4.0, Some((3.0, 3.0)), Some(true))));
    }

    #[test]
    fn a_slow_row_is_over_its_budget() {
        let report = report(&[(Row::Memory, &[40.0])]);
        assert_eq!(
            report.sum(Row::Memory).and_then(|it| it.is_within),
            Some(false)
        );
        assert!(report.table().contains("OVER 40 MiB"));
    }

    #[test]
    fn a_row_without_its_base_line_has_no_verdict() {
        let report = report(&[(Row::Version, &[4.0])]);
        let sum = report.sum(Row::Version);
        assert_eq!(sum.map(|it| (it.beside, it.is_within)), Some((None, None)));
        assert!(!report.table().contains("12 ms"));
    }

    #[test]
    fn a_percentile_needs_samples() {
        let many: Vec<f64> = (1..=100).map(f64::from).collect();
        let sum = report(&[(Row::True, &many)]).sum(Row::True);
        assert_eq!(sum.map(|it| (it.median, it.p95)), Some((51.0, Some(96.0))));
        let sum = report(&[(Row::True, &[1.0; 19])]).sum(Row::True);
        assert_eq!(sum.map(|it| it.p95), Some(None));
    }

    #[test]
    fn what_was_not_measured_is_said_and_stands_in_no_row() {
        let mut report = report(&[]);
        report.skipped.push("Walls: no sandbox".into());
        assert!(
            report
                .table()
                .ends_with("not measured: Walls: no sandbox\n")
        );
        assert_eq!(report.json(7, 0)["rows"], json!([]));
    }
}
