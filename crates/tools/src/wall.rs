//! What a command's own words tell about the walls it may have run into, and what would open them.
//! Must not claim that it was a wall: a file may be missing, or closed by its mode, for reasons of its own.

use serde_json::json;
use std::collections::BTreeSet;
use text::escape::visible_line;

/// The most paths that are named.
const NAMED_MAX: usize = 3;
/// Longer words are no paths.
const PATH_BYTES_MAX: usize = 300;

/// What a system says at a wall, in lower case, and what was tried.
const REFUSALS: &[(&str, Tried)] = &[
    ("read-only file system", Tried::Change),
    ("device or resource busy", Tried::Change),
    ("operation not permitted", Tried::Change),
    ("permission denied", Tried::Any),
    ("no such file or directory", Tried::Find),
];

/// Words of a system without a path to it.
const CODES: &[&str] = &["EACCES", "EPERM", "EROFS"];

/// Where every command may read, so that what is missing there is missing.
const SYSTEM: &[&str] = &[
    "/bin/", "/dev/", "/etc/", "/lib", "/nix/", "/opt/", "/proc/", "/sbin/", "/sys/", "/tmp/",
    "/usr/",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// To change something.
    Change,
    /// To read or change something.
    Any,
    /// To find something: outside it may be there, and not shown.
    Find,
}

/// Where a command ran.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The workspace, absolute.
    pub(crate) workspace: String,
    /// Where it started, absolute.
    pub(crate) directory: String,
}

/// What to say about the walls to a command that failed with this output; empty if nothing speaks of them.
pub(crate) fn hint(output: &str, ground: &Ground) -> String {
    let mut is_refused = CODES.iter().any(|code| output.contains(code));
    let mut told = BTreeSet::new();
    let mut lines = Vec::new();
    for line in output.lines() {
        let lower = line.to_ascii_lowercase();
        let found = REFUSALS
            .iter()
            .find_map(|(words, tried)| Some((lower.find(words)?, words, *tried)));
        let Some((at, words, tried)) = found else {
            continue;
        };
        is_refused |= tried != Tried::Find;
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + words.len()..).unwrap_or_default();
        let path = path_in(before, after).map(|path| ground.absolute(path));
        let hint = path.and_then(|path| ground.rule(&path, tried).map(|rule| (path, rule)));
        if let Some((path, rule)) = hint
            && lines.len() < NAMED_MAX
            && told.insert(path.clone())
        {
            lines.push(format!("\n- `{}`: {rule}", visible_line(&path)));
        }
    }
    if lines.is_empty() && !is_refused {
        return String::new();
    }
    let mut said = String::from(
        "\nThe command ran in a sandbox: no network but what is allowed, no writes outside the workspace and TMPDIR, no reads \
         of the home directory, and nothing that the rules do not allow. A refusal above may come from it.",
    );
    if !lines.is_empty() {
        said.push_str(
            " These paths may be closed. A path that is a word of the command itself is asked about and then \
             open to it; a rule of the user opens it for good:",
        );
        said.extend(lines);
    }
    said
}

/// What to say where git switched, but could not change files that are protected; empty if it does not say so.
/// It takes them for changed then, and would keep the old ones.
pub(crate) fn left_by_git(output: &str) -> &'static str {
    let words = [
        "error: unable to unlink old '",
        "error: unable to create file ",
    ];
    if words.iter().any(|it| output.contains(it)) {
        return "\nGit left protected files as they were. They look changed or deleted now and are not: do not \
                commit them, name the files you commit, and tell the user.";
    }
    ""
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
    fn rule(&self, path: &str, tried: Tried) -> Option<String> {
        let below = path
            .strip_prefix(&self.workspace)
            .and_then(|it| it.strip_prefix('/'));
        let line = |permission: &str, pattern: &str| {
            format!(
                "`\"permission\": {}`",
                json!({ permission: { pattern: "allow" } })
            )
        };
        match (below, tried) {
            (Some(_), Tried::Find) => None,
            (Some(below), Tried::Change) => Some(line("edit.command", below)),
            (Some(below), Tried::Any) => Some(format!(
                "{} or {}",
                line("read", below),
                line("edit.command", below)
            )),
            (None, _) => {
                let is_system = SYSTEM.iter().any(|system| path.starts_with(system));
                let (directory, _) = path.rsplit_once('/')?;
                let is_plain = !directory.is_empty() && *path != *self.workspace && !is_system;
                is_plain.then(|| line("external_directory", &format!("{directory}/*")))
            }
        }
    }
}

/// The path that a line speaks of, by what stands before and after the words of the system.
fn path_in<'l>(before: &'l str, after: &'l str) -> Option<&'l str> {
    let path = quoted(after, First)
        .or_else(|| quoted(before, Last))
        .or_else(|| last_word(before))?;
    let is_path = !path.is_empty() && path.len() <= PATH_BYTES_MAX && !path.starts_with('-');
    is_path.then_some(path)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    First,
    Last,
}
use Which::{First, Last};

/// What stands in quotes.
fn quoted(text: &str, which: Which) -> Option<&str> {
    let marks = [
        ('\'', '\''),
        ('"', '"'),
        ('`', '`'),
        ('\u{2018}', '\u{2019}'),
    ];
    marks.into_iter().find_map(|(open, close)| {
        let (start, end) = if which == First {
            let start = text.find(open)? + open.len_utf8();
            (start, start + text.get(start..)?.find(close)?)
        } else {
            let end = text.rfind(close)?;
            (text.get(..end)?.rfind(open)? + open.len_utf8(), end)
        };
        text.get(start..end)
    })
}

/// What stands before the last colon: `cat: a b: ` says `a b`, and `error: could not write a: ` says `a`.
fn last_word(before: &str) -> Option<&str> {
    let (rest, _) = before.rsplit_once(':')?;
    let (program, part) = rest
        .rsplit_once(": ")
        .map_or((None, rest), |(program, part)| (Some(program), part));
    let part = part.trim();
    let is_sentence = part.contains(' ') && program.is_none_or(is_severity);
    let word = if is_sentence {
        part.rsplit(' ').next()?
    } else {
        part
    };
    let looks_like_one = word.contains(['/', '.']) || program.is_some_and(|it| !is_severity(it));
    (looks_like_one && !word.ends_with("Error")).then_some(word)
}

fn is_severity(word: &str) -> bool {
    ["error", "fatal", "warning", "Error"].contains(&word.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground() -> Ground {
        Ground {
            workspace: "/w".into(),
            directory: "/w/sub".into(),
        }
    }

    #[track_caller]
    fn check(line: &str, want: &[&str]) {
        let said = hint(&format!("before\n{line}\nafter"), &ground());
        let named: Vec<&str> = said
            .lines()
            .filter_map(|line| line.strip_prefix("- "))
            .collect();
        assert_eq!(named, want, "{line}");
    }

    const READ_A: &str = r#"`/w/sub/a b`: `"permission": {"read":{"sub/a b":"allow"}}` or `"permission": {"edit.command":{"sub/a b":"allow"}}`"#;
    const CHANGE_A: &str = r#"`/w/sub/a.c`: `"permission": {"edit.command":{"sub/a.c":"allow"}}`"#;
    const OUTSIDE: &str =
        r#"`/home/u/x`: `"permission": {"external_directory":{"/home/u/*":"allow"}}`"#;

    #[test]
    fn a_path_is_found_however_programs_speak_of_it() {
        for line in [
            "cat: a b: Permission denied",
            "cat: 'a b': Permission denied",
            "bash: line 1: a b: Permission denied",
            "PermissionError: [Errno 13] Permission denied: 'a b'",
            "Error: EACCES: permission denied, open '/w/sub/a b'",
            "grep: ../sub/./a b: Permission denied",
        ] {
            check(line, &[READ_A]);
        }
        for line in [
            "bash: line 1: a.c: Read-only file system",
            "rm: cannot remove 'a.c': Device or resource busy",
            "rm: cannot remove \u{2018}a.c\u{2019}: Device or resource busy",
            "error: could not write config file a.c: Device or resource busy",
            "error: unable to unlink old 'a.c': Device or resource busy",
            "OSError: [Errno 30] Read-only file system: 'a.c'",
        ] {
            check(line, &[CHANGE_A]);
        }
    }

    #[test]
    fn what_is_missing_is_named_only_where_it_may_be_hidden() {
        check("cat: /home/u/x: No such file or directory", &[OUTSIDE]);
        check("cat: ../../home/u/x: No such file or directory", &[OUTSIDE]);
        for line in [
            "cat: a.c: No such file or directory",
            "/w/a.c:1:10: fatal error: /usr/include/x.h: No such file or directory",
            "cat: /w: No such file or directory",
        ] {
            check(line, &[]);
        }
        assert_eq!(hint("cat: a.c: No such file or directory", &ground()), "");
    }

    #[test]
    fn words_without_a_path_are_told_without_one() {
        for line in [
            "Error: Permission denied (os error 13)",
            "bind: Operation not permitted",
            "EACCES",
            "ssh: Permission denied (publickey).",
        ] {
            check(line, &[]);
            assert!(hint(line, &ground()).contains("may come from it"), "{line}");
        }
        assert_eq!(hint("all is well", &ground()), "");
    }

    #[test]
    fn files_that_git_could_not_change_are_not_to_be_committed() {
        let said = "error: unable to unlink old 'AGENTS.md': Device or resource busy\nSwitched to branch 'x'";
        assert!(left_by_git(said).contains("do not commit them"));
        assert_eq!(left_by_git("Switched to branch 'x'"), "");
    }

    #[test]
    fn a_machine_that_was_refused_is_named_with_its_rule() {
        assert_eq!(refused(&[]), "");
        let said = refused(&["example.com:443".to_owned()]);
        let rule = r#"`example.com:443`: `"permission": {"network":{"example.com:443":"allow"}}`"#;
        assert!(said.ends_with(rule), "{said}");
    }

    #[test]
    fn few_paths_are_named_and_each_once() {
        let lines: Vec<String> = (0..9)
            .map(|n| format!("cat: {}: Permission denied", n / 2))
            .collect();
        let lines = lines.join("\n");
        assert_eq!(hint(&lines, &ground()).matches("\n- ").count(), NAMED_MAX);
    }
}
