//! What is measured in a round. Must not judge a reading.

use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::child;
use super::row::Row;
use super::scene::{Scene, Tool};

/// How often a program is started in a round. The reading is the median.
const STARTS: usize = 10;
/// Calls of the run whose memory is watched.
const MEMORY_CALLS: usize = 1_000;

/// One round of one row.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) row: Row,
    /// In the row's unit.
    pub(super) samples: Vec<f64>,
    /// Processor time of one, in milliseconds.
    pub(super) cpu_ms: Option<f64>,
}

impl Reading {
    fn of(row: Row, samples: Vec<f64>) -> Self {
        let cpu_ms = None;
        Self {
            row,
            samples,
            cpu_ms,
        }
    }
}

/// One measurement; some give several rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Probe {
    /// A program from its start to its end.
    Start(Row),
    /// So many calls of a tool.
    Calls(Tool, usize),
    Decisions,
    Walls,
    Memory,
}

impl Probe {
    /// All, in the order of a round. The base line comes first.
    pub(super) fn all(calls: usize) -> Vec<Self> {
        let starts = [
            Row::True,
            Row::BashTrue,
            Row::Version,
            Row::CallRead,
            Row::RunScript,
            Row::RunServer,
            Row::Sandbox,
        ];
        starts
            .map(Self::Start)
            .into_iter()
            .chain(Tool::ALL.map(|tool| Self::Calls(tool, calls)))
            .chain([Self::Decisions, Self::Walls, Self::Memory])
            .collect()
    }

    /// Measures once.
    ///
    /// # Errors
    /// It cannot be measured here.
    pub(super) fn take(self, scene: &Scene) -> Result<Vec<Reading>> {
        match self {
            Self::Start(row) => {
                let once = |_| Ok(child::run(&mut start(scene, row))?.wall_ms);
                let samples: Result<_> = (0..STARTS).map(once).collect();
                Ok(vec![Reading::of(row, samples?)])
            }
            Self::Calls(tool, count) => calls(scene, tool, count),
            Self::Decisions => decisions(scene),
            Self::Walls => walls(scene),
            Self::Memory => {
                let mut command = scene.run_of(&Tool::ALL, MEMORY_CALLS)?;
                let peak = child::peak_mib(&mut command)?;
                Ok(vec![Reading::of(Row::Memory, vec![peak])])
            }
        }
    }

    /// Makes sure that the calls do what they are measured doing: a refusal is quick.
    ///
    /// # Errors
    /// A call does not end well.
    pub(super) fn prove(self, scene: &Scene) -> Result<()> {
        let (tools, count) = match self {
            Self::Calls(tool, count) => (vec![tool], count),
            Self::Memory => (Tool::ALL.to_vec(), MEMORY_CALLS),
            Self::Start(_) | Self::Decisions | Self::Walls => return Ok(()),
        };
        let mut command = scene.run_of(&tools, count)?;
        let output = command
            .args(["--format", "json"])
            .stdout(Stdio::piped())
            .output()?;
        let mut made = 0;
        for line in String::from_utf8(output.stdout)?.lines() {
            let event: Value = serde_json::from_str(line)?;
            if event["type"] == "result" {
                ensure!(event["status"] == "ok", "a call did not end well: {line}");
                made += 1;
            }
        }
        ensure!(made == count, "{made} of {count} calls were made");
        Ok(())
    }
}

/// The command of a row.
fn start(scene: &Scene, row: Row) -> std::process::Command {
    let script = scene.path("one-read.json");
    let script = script.to_string_lossy();
    let first = r#"{"filePath": "src/area_00/module_000.rs"}"#;
    match row {
        Row::BashTrue => {
            let mut command = scene.plain("bash");
            command.args(["-c", "true"]);
            command
        }
        Row::Version => scene.tollgate(&["--version"]),
        Row::CallRead => scene.tollgate(&["call", "read", first, "--on-ask", "deny"]),
        Row::RunScript => scene.tollgate(&["run", "--on-ask", "deny", "--script", &script]),
        Row::RunServer => scene.tollgate(&["run", "--on-ask", "deny", "--model", "mock/scripted"]),
        Row::Sandbox => scene.tollgate(&["sandbox", "--", "/bin/true"]),
        _ => scene.plain("/bin/true"),
    }
}

/// Calls of a tool, seen from outside and from the gates.
fn calls(scene: &Scene, tool: Tool, count: usize) -> Result<Vec<Reading>> {
    let empty = child::run(&mut scene.run_of(&[tool], 0)?)?;
    let full = child::run(&mut scene.run_of(&[tool], count)?)?;
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let share = |of: f64| of / count as f64;
    let whole = Reading {
        row: Row::Call(tool),
        samples: vec![share(full.wall_ms - empty.wall_ms)],
        cpu_ms: Some(share(full.cpu_ms - empty.cpu_ms)),
    };

    let mut logged = scene.run_of(&[tool], count)?;
    let log = scene.log(&mut logged)?;
    child::run(&mut logged)?;
    let log = fs::read_to_string(log)?;
    let spans: Option<Vec<f64>> = log
        .lines()
        .filter_map(|line| closed(line, tool.name()))
        .map(span_ms)
        .collect();
    let spans = spans.context("the log has another form")?;
    ensure!(spans.len() == count, "{} of {count} spans", spans.len());
    Ok(vec![whole, Reading::of(Row::Gates(tool), spans)])
}

/// What a line says of the span of a call of this tool, where it says that it closed. A run makes calls
/// of its own as well.
fn closed<'l>(line: &'l str, tool: &str) -> Option<&'l str> {
    let (head, times) = line.split_once(": close ")?;
    let call = format!("tool.execute{{tool.name=\"{tool}\"");
    head.contains(&call).then_some(times)
}

/// `time.busy=1.23ms time.idle=45.6µs`, added up.
fn span_ms(times: &str) -> Option<f64> {
    let mut sum = 0.0;
    for name in ["time.busy=", "time.idle="] {
        let time = times.split(' ').find_map(|word| word.strip_prefix(name))?;
        let units = [("ns", 1e-6), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)];
        let scaled = |(unit, scale): (&str, f64)| {
            let number: f64 = time.strip_suffix(unit)?.parse().ok()?;
            Some(number * scale)
        };
        sum += units.into_iter().find_map(scaled)?;
    }
    Some(sum)
}

/// Decisions, measured by a program that has the decision function in it.
fn decisions(scene: &Scene) -> Result<Vec<Reading>> {
    let text = output(scene.program("examples/decide"))?;
    let rows = [
        ("300 path", Row::Decision300Path),
        ("300 command", Row::Decision300Command),
        ("10000 path", Row::Decision10000Path),
        ("10000 command", Row::Decision10000Command),
        ("10000 trace", Row::Trace10000),
    ];
    let read = |(name, row)| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let ns: f64 = line
            .with_context(|| format!("no `{name}`"))?
            .trim()
            .parse()?;
        Ok(Reading::of(row, vec![ns / 1e3]))
    };
    rows.into_iter().map(read).collect()
}

/// Starts with walls and without, measured by a program that is its own supervisor.
fn walls(scene: &Scene) -> Result<Vec<Reading>> {
    let mut command = scene.program("examples/start");
    command.arg(STARTS.to_string());
    let text = output(command)?;
    let (mut plain, mut walled) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (first, second) = line.split_once(' ').context("not two numbers")?;
        plain.push(first.parse::<f64>()? / 1e6);
        walled.push(second.parse::<f64>()? / 1e6);
    }
    ensure!(plain.len() == STARTS, "{} starts", plain.len());
    Ok(vec![
        Reading::of(Row::SpawnPlain, plain),
        Reading::of(Row::SpawnWalled, walled),
    ])
}

fn output(mut command: std::process::Command) -> Result<String> {
    let output = command
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "{}: {command:?}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "2026-01-01T00:00:00Z  INFO tool.execute{tool.name=\"read\"}: \
        tollgate_gate::call: close time.busy=1.25ms time.idle=250µs";

    #[test]
    fn a_span_counts_from_its_opening_to_its_close() {
        assert_eq!(closed(LINE, "read").and_then(span_ms), Some(1.5));
        assert_eq!(span_ms("time.busy=2.00s time.idle=500ns"), Some(2000.0005));
    }

    #[test]
    fn other_lines_are_no_spans() {
        assert_eq!(closed(LINE, "bash"), None);
        assert_eq!(closed(&LINE.replace("close", "began"), "read"), None);
        assert_eq!(closed(&LINE.replace("execute", "other"), "read"), None);
        assert_eq!(span_ms("time.busy=1.25ms"), None);
        assert_eq!(span_ms("time.busy=soon time.idle=1ms"), None);
    }
}
