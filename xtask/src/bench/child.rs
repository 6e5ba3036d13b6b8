//! One process, timed from its start to its end. Must not know what it is started for.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Between two looks at the memory of a process.
const LOOK: Duration = Duration::from_millis(1);

/// What a process took that ended with exit code 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    /// From before the start to the end, in milliseconds.
    pub(super) wall_ms: f64,
    /// Its processor time and that of its children, in milliseconds, as exact as the kernel's tick.
    pub(super) cpu_ms: f64,
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, or ends otherwise than well.
pub(super) fn run(command: &mut Command) -> Result<Took> {
    let start = Instant::now();
    let child = command.spawn().with_context(|| format!("{command:?}"))?;
    let pid = Pid::from_child(&child);
    // It stays a zombie until it is waited for below, and so its times can be read.
    waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )?;
    let wall_ms = start.elapsed().as_secs_f64() * 1e3;
    let cpu_ms = cpu_ms(pid);
    end(child, command)?;
    Ok(Took {
        wall_ms,
        cpu_ms: cpu_ms?,
    })
}

/// Runs a command to its end and gives back the most memory it ever had, in MiB. Its children do not
/// count.
///
/// # Errors
/// As [`run`].
pub(super) fn peak_mib(command: &mut Command) -> Result<f64> {
    let child = command.spawn().with_context(|| format!("{command:?}"))?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    // The mark only rises, and is gone once the process has ended.
    while let Some(kib) = high_water_kib(&fs::read_to_string(&status)?) {
        peak = Some(kib);
        std::thread::sleep(LOOK);
    }
    end(child, command)?;
    Ok(peak.context("it ended before it was looked at")? / 1024.0)
}

fn end(mut child: Child, command: &Command) -> Result<()> {
    let status = child.wait()?;
    if !status.success() {
        bail!("{status}: {command:?}");
    }
    Ok(())
}

fn high_water_kib(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn cpu_ms(pid: Pid) -> Result<f64> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let stat = fs::read_to_string(Path::new(&path)).with_context(|| format!("no {path}"))?;
    let ticks = cpu_ticks(&stat).with_context(|| format!("{path} has another form"))?;
    let rate = rustix::param::clock_ticks_per_second();
    #[expect(clippy::cast_precision_loss, reason = "both are small")]
    Ok(ticks as f64 * 1e3 / rate as f64)
}

/// The sum of user and system time, its own and that of its children: fields 14 to 17.
fn cpu_ticks(stat: &str) -> Option<u64> {
    // The second field is the program's name, in parentheses and with whatever characters it likes.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let times = fields.get(11..15)?;
    times.iter().map(|ticks| ticks.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_stand_behind_whatever_the_program_is_called() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194304 100 0 0 0 1 20 300 4000 20 0 1 0 5";
        assert_eq!(cpu_ticks(stat), Some(4321));
        assert_eq!(cpu_ticks("7 (true) S 1 7"), None);
    }

    #[test]
    fn the_high_water_mark_is_gone_with_the_memory() {
        let status = "Name:\ttrue\nVmPeak:\t    9000 kB\nVmHWM:\t    1536 kB\n";
        assert_eq!(high_water_kib(status), Some(1536.0));
        assert_eq!(high_water_kib("Name:\ttrue\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn a_process_that_fails_is_not_a_measurement() {
        assert!(run(&mut Command::new("/bin/true")).is_ok());
        assert!(run(&mut Command::new("/bin/false")).is_err());
    }
}
