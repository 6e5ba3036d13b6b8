//! Patterns of commands that say less, or more, than they seem to.
//!
//! Must not: know the order of rules but for which one decides.

use super::placed::{COMMAND, Placed};
use super::{Finding, FindingKind};
use crate::evaluate::evaluate;
use crate::pattern::Pattern;
use crate::rule::{Action, Rule};

/// Programs that do all they can without arguments, or nearly so.
const COMPLETE: [&str; 25] = [
    "arch",
    "clear",
    "date",
    "df",
    "env",
    "free",
    "groups",
    "history",
    "hostname",
    "id",
    "jobs",
    "ls",
    "lsb_release",
    "lscpu",
    "make",
    "nproc",
    "printenv",
    "ps",
    "pwd",
    "pytest",
    "true",
    "uname",
    "uptime",
    "w",
    "whoami",
];

/// Programs whose name another, longer one begins with.
const LONGER: [(&str, &str); 21] = [
    ("cp", "cpio"),
    ("dd", "ddrescue"),
    ("diff", "diff3"),
    ("env", "envsubst"),
    ("find", "findfs"),
    ("git", "gitk"),
    ("go", "gofmt"),
    ("kill", "killall"),
    ("ls", "lsof"),
    ("make", "makepkg"),
    ("nc", "ncat"),
    ("node", "nodemon"),
    ("ps", "psql"),
    ("rm", "rmdir"),
    ("sh", "shutdown"),
    ("ssh", "ssh-keygen"),
    ("su", "sudo"),
    ("tail", "tailscale"),
    ("tr", "truncate"),
    ("w", "wget"),
    ("who", "whois"),
];

pub(super) fn findings(written: &[Rule], rules: &[Placed<'_>]) -> Vec<Finding> {
    let of_commands = rules
        .iter()
        .filter(|it| it.rule.permission == COMMAND && is_plain(it.pattern()));
    let found = of_commands.flat_map(|it| [bare_command(written, it), longer_name(it)]);
    found.flatten().collect()
}

/// Whether every character stands for itself, or is a wildcard.
fn is_plain(pattern: &Pattern) -> bool {
    !pattern.is_path() && !pattern.is_about_arguments() && !pattern.is_exact()
}

/// A command without arguments, where the same command with some is decided otherwise.
fn bare_command(written: &[Rule], it: &Placed<'_>) -> Option<Finding> {
    let (rule, words) = (it.rule, it.pattern().text());
    let is_one_word = !words.contains(char::is_whitespace);
    let is_meant = match rule.action {
        // Two words may well be all of a command that is allowed: `git status`.
        Action::Allow => !is_one_word || COMPLETE.contains(&words),
        Action::Ask | Action::Deny => false,
    };
    if is_meant || words.is_empty() || words.contains(['*', '?']) {
        return None;
    }
    let with_more = evaluate(written, COMMAND, &format!("{words} x"));
    let otherwise = with_more.map_or(Action::Ask, |(_, rule)| rule.action);
    let is_harmless = match rule.action {
        Action::Allow => otherwise == Action::Allow,
        Action::Ask | Action::Deny => otherwise >= rule.action,
    };
    if is_harmless {
        return None;
    }
    let says = match otherwise {
        Action::Allow => "is allowed",
        Action::Ask => "is asked about",
        Action::Deny => "is denied",
    };
    Some(Finding::of(
        FindingKind::BareCommand,
        it,
        format!("`{words}` matches only the bare command: with anything behind it, it {says}"),
        format!("write `{words} *`, which matches it with and without arguments"),
    ))
}

/// A star close to a program's name.
fn longer_name(it: &Placed<'_>) -> Option<Finding> {
    let name = it.pattern().text().strip_suffix('*')?;
    let (_, longer) = LONGER.iter().find(|(short, _)| *short == name)?;
    if it.rule.action != Action::Allow {
        return None;
    }
    Some(Finding::of(
        FindingKind::LongerName,
        it,
        format!("`{name}*` also matches programs whose names begin so, such as `{longer}`"),
        format!("write `{name} *`: the space and what follows may be missing"),
    ))
}
