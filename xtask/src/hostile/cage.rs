//! From here into a cage: the stage that is laid out for it, and one cage a run. It knows nothing of
//! rows, and no program of a row is started from here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, process};

use ::conform::hostile::Outcome;
use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;

use super::canary::namespaces;
use super::row::Machine;

/// Who runs the rows where this runs as root: nobody.
const USER: &str = "65534";

/// What a cage is made of, in a directory of its own that anybody may read. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Cage {
    stage: PathBuf,
}

impl Cage {
    /// # Errors
    /// A file cannot be copied.
    pub(crate) fn lay(root: &Path, binary: &Path) -> Result<Self> {
        let stage =
            fs::canonicalize(env::temp_dir())?.join(format!("tollgate-hostile-{}", process::id()));
        fs::create_dir(&stage).with_context(|| format!("cannot make {}", stage.display()))?;
        let cage = Self { stage };
        let spec = root.join("spec/hostile");
        for name in ["cage.sh", "fixture.sh", "calls.tsv", "policies.jsonc"] {
            cage.put(&spec.join(name), name, 0o644)?;
        }
        cage.put(binary, "tollgate", 0o755)?;
        cage.put(&env::current_exe()?, "driver", 0o755)?;
        for name in ["lab", "dev"] {
            let dir = cage.stage.join(name);
            fs::create_dir(&dir)?;
            set_mode(&dir, 0o755)?;
        }
        set_mode(&cage.stage, 0o755)?;
        Ok(cage)
    }

    fn put(&self, from: &Path, name: &str, mode: u32) -> Result<()> {
        let to = self.stage.join(name);
        fs::copy(from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        set_mode(&to, mode)
    }

    /// Makes one cage, lets the canaries try it, and asks what is there.
    ///
    /// # Errors
    /// No cage can be had, or a canary got out.
    pub(crate) fn try_out(&self, programs: &BTreeSet<&str>) -> Result<Machine> {
        let programs: Vec<&str> = programs.iter().copied().collect();
        self.ask(&["machine", &programs.join(",")])
    }

    /// Makes one row under one policy.
    ///
    /// # Errors
    /// It could not be judged.
    pub(crate) fn play(&self, row: &str, policy: &str) -> Result<Outcome> {
        self.ask(&["row", row, policy])
    }

    /// Runs the driver in a new cage; it answers in JSON.
    fn ask<T: DeserializeOwned>(&self, words: &[&str]) -> Result<T> {
        let mut line: Vec<&str> = Vec::new();
        if rustix::process::geteuid().is_root() {
            line.extend([
                "setpriv",
                "--reuid",
                USER,
                "--regid",
                USER,
                "--clear-groups",
            ]);
        }
        line.extend([
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "--net",
            "--pid",
            "--ipc",
            "--uts",
        ]);
        line.extend(["--fork", "--kill-child", "--mount-proc", "sh"]);
        let (program, options) = line.split_first().context("nothing to run")?;
        let output = Command::new(program)
            .args(options)
            .arg(self.stage.join("cage.sh"))
            .arg(&self.stage)
            .arg(self.stage.join("driver"))
            .args(["in-cage", &namespaces()?])
            .args(words)
            .env_clear()
            .env("PATH", super::row::PATH)
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {program}"))?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {}", output.status, why.trim());
        let answer = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&answer)
            .with_context(|| format!("the driver said `{}`", answer.trim()))
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        // Nothing was mounted on it in this namespace, and what is left is a temporary directory.
        drop(fs::remove_dir_all(&self.stage));
    }
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}
