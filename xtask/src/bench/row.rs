//! The rows of the table: what each is called, what it stands beside and what it may take. Must not
//! measure.

use super::scene::Tool;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    True,
    BashTrue,
    Version,
    CallRead,
    RunScript,
    RunServer,
    /// One call more in a run, seen from outside.
    Call(Tool),
    /// One call, seen from the gates.
    Gates(Tool),
    Sandbox,
    SpawnPlain,
    SpawnWalled,
    Decision300Path,
    Decision300Command,
    Decision10000Path,
    Decision10000Command,
    Trace10000,
    Memory,
}

/// What a row may take, below which it is within its budget. docs/benchmarks.md lists them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Budget {
    /// The value.
    Value(f64),
    /// What it has over the row beside it.
    Difference(f64),
}

impl Row {
    /// All, as they are printed.
    pub(super) fn all() -> Vec<Self> {
        let starts = [
            Self::True,
            Self::BashTrue,
            Self::Version,
            Self::CallRead,
            Self::RunScript,
            Self::RunServer,
        ];
        let rest = [
            Self::SpawnPlain,
            Self::SpawnWalled,
            Self::Sandbox,
            Self::Decision300Path,
            Self::Decision300Command,
            Self::Decision10000Path,
            Self::Decision10000Command,
            Self::Trace10000,
            Self::Memory,
        ];
        starts
            .into_iter()
            .chain(Tool::ALL.map(Self::Call))
            .chain(Tool::ALL.map(Self::Gates))
            .chain(rest)
            .collect()
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::True => "/bin/true".into(),
            Self::BashTrue => "bash -c true".into(),
            Self::Version => "tollgate --version".into(),
            Self::CallRead => "tollgate call read".into(),
            Self::RunScript => "run, one read, script".into(),
            Self::RunServer => "run, one read, server".into(),
            Self::Call(Tool::Bash) => "a bash true call".into(),
            Self::Call(tool) => format!("a {} call", tool.name()),
            Self::Gates(Tool::Bash) => "  bash true in the gates".into(),
            Self::Gates(tool) => format!("  {} in the gates", tool.name()),
            Self::Sandbox => "tollgate sandbox true".into(),
            Self::SpawnPlain => "spawn true, plain".into(),
            Self::SpawnWalled => "spawn true, walled".into(),
            Self::Decision300Path => "300 rules, a path".into(),
            Self::Decision300Command => "300 rules, a command".into(),
            Self::Decision10000Path => "10,000 rules, a path".into(),
            Self::Decision10000Command => "10,000 rules, a command".into(),
            Self::Trace10000 => "10,000 rules, with a trace".into(),
            Self::Memory => "peak memory, 1,000 calls".into(),
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Decision300Path
            | Self::Decision300Command
            | Self::Decision10000Path
            | Self::Decision10000Command
            | Self::Trace10000 => "µs",
            Self::Memory => "MiB",
            _ => "ms",
        }
    }

    /// The row it is compared with, in the same round.
    pub(super) fn beside(self) -> Option<Self> {
        match self {
            Self::Call(Tool::Bash) | Self::Gates(Tool::Bash) => Some(Self::BashTrue),
            Self::BashTrue
            | Self::Version
            | Self::CallRead
            | Self::RunScript
            | Self::RunServer
            | Self::Call(_)
            | Self::Gates(_)
            | Self::Sandbox => Some(Self::True),
            Self::SpawnWalled => Some(Self::SpawnPlain),
            _ => None,
        }
    }

    /// What holds for now; the aims are tighter.
    pub(super) fn budget(self) -> Option<Budget> {
        match self {
            Self::Version | Self::CallRead => Some(Budget::Difference(12.0)),
            Self::Call(Tool::Bash) => Some(Budget::Value(8.0)),
            // Milliseconds for a call, microseconds for a decision.
            Self::Call(_) | Self::Decision300Path | Self::Decision300Command => {
                Some(Budget::Value(2.0))
            }
            Self::SpawnWalled => Some(Budget::Difference(6.0)),
            Self::Decision10000Path | Self::Decision10000Command => Some(Budget::Value(50.0)),
            Self::Trace10000 => Some(Budget::Value(1_000.0)),
            Self::Memory => Some(Budget::Value(40.0)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stands_beside_one_of_its_unit_that_is_printed() {
        let all = Row::all();
        for row in &all {
            if let Some(beside) = row.beside() {
                assert!(all.contains(&beside), "{row:?}");
                assert_eq!(row.unit(), beside.unit(), "{row:?}");
            }
        }
    }

    #[test]
    fn a_budget_for_a_difference_has_something_to_differ_from() {
        for row in Row::all() {
            if matches!(row.budget(), Some(Budget::Difference(_))) {
                assert!(row.beside().is_some(), "{row:?}");
            }
        }
    }
}
