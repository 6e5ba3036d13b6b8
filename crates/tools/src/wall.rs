//! What a command's own words tell about the walls it may have run into, and what would open them.
//! Must not claim that it was a wall: a file may be missing, or closed by its mode, for reasons of its own.

mod git;
mod words;

pub(crate) use git::left_by_git;

use gate::host::HELD_NAMES;
use serde_json::json;
use std::collections::BTreeSet;
use text::escape::visible_line;
use words::{Met, Tried};

/// The most paths that are named.
const NAMED_MAX: usize = 3;

/// Where every command may read, so that what is missing there is missing.
const SYSTEM: &[&str] = &[
    "/bin/", "/dev/", "/etc/", "/lib", "/nix/", "/opt/", "/proc/", "/sbin/", "/sys/", "/tmp/",
    "/usr/",
];

/// What no rule makes a place to write to, or nothing that would stay.
const NO_PLACE: &[&str] = &["/dev/", "/proc/", "/sys/", "/tmp/"];

/// How a shell ends where it may not execute a file, which its mode says and no wall.
const NOT_EXECUTABLE: i32 = 126;

/// Where a command ran.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The workspace, absolute.
    pub(crate) workspace: String,
    /// Where it started, absolute.
    pub(crate) directory: String,
    /// Its text.
    pub(crate) command: String,
}

/// What to say about the walls to a command that failed with this output; empty if nothing speaks of them.
pub(crate) fn hint(output: &str, code: Option<i32>, ground: &Ground) -> String {
    let is_by_mode = |met: &Met<'_>| code == Some(NOT_EXECUTABLE) && met.is_of_shell;
    let mut is_refused = words::has_code(output);
    let mut is_cut_off = false;
    let mut told = BTreeSet::new();
    let mut lines = Vec::new();
    for met in output.lines().filter_map(words::met) {
        if is_by_mode(&met) {
            continue;
        }
        is_refused |= matches!(met.tried, Tried::Change | Tried::Read | Tried::Any);
        is_cut_off |= met.tried == Tried::Reach;
        for path in met.paths.iter().map(|path| ground.absolute(path)) {
            if let Some(rule) = ground.rule(&path, &met)
                && lines.len() < NAMED_MAX
                && told.insert(path.clone())
            {
                lines.push(format!("\n- `{}`: {rule}", visible_line(&path)));
            }
        }
    }
    if lines.is_empty() && !is_refused && !is_cut_off {
        return String::new();
    }
    let mut said = String::from(
        "\nThe command ran in a sandbox: no network but what is allowed, no writes outside the workspace and TMPDIR, no reads \
         of the home directory, and nothing that the rules do not allow. A refusal above may come from it.",
    );
    if is_cut_off {
        said.push_str(
            " A program reaches machines only through the proxy that `https_proxy` names, and none where it does not \
             use it; a rule of the user opens one: `\"permission\": {\"network\":{\"HOST:PORT\":\"allow\"}}`.",
        );
    }
    if !lines.is_empty() {
        said.push_str(
            " These paths may be closed. A path that is a word of the command itself is asked about and then \
             open to it, which is the only way for what agents, editors, git and shells obey; a rule of the user opens \
             others for good:",
        );
        said.extend(lines);
    }
    said
}

/// What to say of machines that a command wanted to reach and might not; empty if there are none.
pub(crate) fn refused(machines: &[String]) -> String {
    if machines.is_empty() {
        return String::new();
    }
    let mut said =
        String::from("\nIt might not reach these machines. A rule of the user opens one for good:");
    for machine in machines {
        let rule = json!({ "network": { machine: "allow" } });
        let machine = visible_line(machine);
        said.extend([
            "\n- `",
            &machine,
            "`: `\"permission\": ",
            &rule.to_string(),
            "`",
        ]);
    }
    said
}

impl Ground {
    /// A path as a command spells it, absolute and plain.
    fn absolute(&self, path: &str) -> String {
        let mut parts: Vec<&str> = Vec::new();
        let start = if path.starts_with('/') {
            ""
        } else {
            &self.directory
        };
        for part in start.split('/').chain(path.split('/')) {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        format!("/{}", parts.join("/"))
    }

    /// The rule that would open a path, as configuration has it.
    fn rule(&self, path: &str, met: &Met<'_>) -> Option<String> {
        let below = path
            .strip_prefix(&self.workspace)
            .and_then(|it| it.strip_prefix('/'));
        let line = |permission: &str, pattern: &str| {
            format!(
                "`\"permission\": {}`",
                json!({ permission: { pattern: "allow" } })
            )
        };
        let is_in = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
        let outside = || {
            let (directory, _) = path.rsplit_once('/')?;
            let is_plain = !directory.is_empty() && *path != *self.workspace;
            is_plain.then(|| line("external_directory", &format!("{directory}/*")))
        };
        let is_made = match met.tried {
            Tried::Make | Tried::Change => true,
            // Below a name that is held there is no directory either.
            Tried::Find => met.makes,
            Tried::Read | Tried::Any | Tried::Reach => false,
        };
        match (below, met.tried) {
            (Some(below), _) if is_made && is_held(below) => {
                Some("protected: it asks each time, and only where the command names it".to_owned())
            }
            (Some(_), Tried::Find | Tried::Make) | (_, Tried::Reach) => None,
            (Some(below), Tried::Change) => Some(line("edit.command", below)),
            (Some(below), Tried::Read) => Some(format!("hidden; {}", line("read", below))),
            (Some(below), Tried::Any) => Some(format!(
                "{} or {}",
                line("read", below),
                line("edit.command", below)
            )),
            (None, Tried::Change) => outside().filter(|_| !is_in(NO_PLACE)),
            (None, Tried::Any | Tried::Find | Tried::Make | Tried::Read) => {
                outside().filter(|_| !is_in(SYSTEM))
            }
        }
    }
}

/// Whether a path in the workspace lies at or below a name that is kept from being made, or is git's own.
fn is_held(below: &str) -> bool {
    let mut parts = below.split('/');
    parts.clone().any(|part| part == ".git")
        || parts.next().is_some_and(|it| HELD_NAMES.contains(&it))
}

#[cfg(test)]
mod tests;
