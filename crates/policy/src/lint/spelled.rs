//! Patterns written in another language than that of rules, or for another thing than is asked about.
//!
//! Must not: look at more than one rule.

use super::placed::Placed;
use super::{Finding, FindingKind};
use crate::rule::{Action, Rule};

/// The permissions that are asked about paths.
const OF_PATHS: [&str; 6] = [
    "edit",
    "external_directory",
    "external_directory.read",
    "external_directory.write",
    "list",
    "read",
];

/// The permissions that are asked about something else for certain.
const OF_OTHERS: [&str; 10] = [
    "bash",
    "doom_loop",
    "glob",
    "grep",
    "question",
    "skill",
    "task",
    "todowrite",
    "webfetch",
    "websearch",
];

type Fault = (FindingKind, String, String);

pub(super) fn findings(rules: &[Placed<'_>], home: Option<&str>) -> Vec<Finding> {
    let mut found = Vec::new();
    for it in rules {
        let rule = it.rule;
        if rule.pattern.is_exact() || rule.pattern.is_about_arguments() {
            continue;
        }
        let faults = [
            stars(rule),
            classes(rule),
            alternatives(rule),
            exclusion(rule),
            regex(rule),
            unknown_home(rule),
            home_of_command(rule, home),
            searched_text(rule),
            no_path(rule),
        ];
        // One is enough: what is written in another language is often wrong in many ways.
        if let Some((kind, message, help)) = faults.into_iter().flatten().next() {
            found.push(Finding::of(kind, it, message, help));
        }
    }
    found
}

fn is_of_paths(rule: &Rule) -> bool {
    OF_PATHS.contains(&&*rule.permission)
}

/// `src/**/x.ts` in a wildcard: there has to be a folder between.
fn stars(rule: &Rule) -> Option<Fault> {
    let text = rule.pattern.text();
    if !is_of_paths(rule) || rule.pattern.is_path() || !text.contains("/**/") {
        return None;
    }
    let missed = text.replace("/**/", "/");
    if rule.pattern.matches(&missed) {
        return None;
    }
    Some((
        FindingKind::Glob,
        format!("`**` is no more than `*` here, and `{text}` does not match `{missed}`"),
        format!("write `path:{text}`, in which `**` stands for any number of folders, also none"),
    ))
}

/// `[a-z]`. A whole name in brackets is one: pages of web sites are called `[id].tsx`.
fn classes(rule: &Rule) -> Option<Fault> {
    let text = rule.pattern.text();
    let (before, rest) = text.split_once('[')?;
    let (class, _) = rest.split_once(']')?;
    let has_range = class.as_bytes().windows(3).any(|it| match it {
        [first, b'-', last] => {
            first.is_ascii_alphanumeric()
                && last.is_ascii_alphanumeric()
                && first < last
                && last - first > 1
        }
        _ => false,
    });
    let is_inside_name = is_of_paths(rule) && !before.is_empty() && !before.ends_with('/');
    let is_class = !class.is_empty() && !class.contains(char::is_whitespace);
    (is_class && (has_range || is_inside_name)).then(|| {
        (
            FindingKind::Glob,
            format!("`[{class}]` matches only itself, brackets and all"),
            "write one pattern for each character, or `?` for any".to_owned(),
        )
    })
}

/// `{a,b}`.
fn alternatives(rule: &Rule) -> Option<Fault> {
    let text = rule.pattern.text();
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*' | ',');
    let list = text.split('{').skip(1).find_map(|rest| {
        let (list, _) = rest.split_once('}')?;
        (list.contains(',') && list.chars().all(is_letter)).then_some(list)
    })?;
    // There the model writes patterns of files, which may have alternatives.
    if rule.permission == "glob" {
        return None;
    }
    let each = list
        .split(',')
        .map(|one| format!("`{}`", text.replace(&format!("{{{list}}}"), one)));
    Some((
        FindingKind::Glob,
        format!("`{{{list}}}` matches only itself, braces and all"),
        format!(
            "write one pattern for each: {}",
            each.collect::<Vec<_>>().join(", ")
        ),
    ))
}

/// `!src/*`.
fn exclusion(rule: &Rule) -> Option<Fault> {
    let rest = rule.pattern.text().strip_prefix('!')?;
    let is_word = rest.starts_with(|c: char| !c.is_whitespace());
    let otherwise = match rule.action {
        Action::Allow => "deny",
        Action::Ask | Action::Deny => "allow",
    };
    (is_word && (is_of_paths(rule) || rule.permission == "bash")).then(|| {
        (
            FindingKind::Glob,
            format!("`!` excludes nothing: `!{rest}` matches what begins with a `!`"),
            format!("write what is excepted as a rule of its own below, such as `\"{rest}\": \"{otherwise}\"`"),
        )
    })
}

/// `^rm`, `.*rm.*`, `git (push|pull)`, `\.env$`.
fn regex(rule: &Rule) -> Option<Fault> {
    let text = rule.pattern.text();
    let is_command = rule.permission == "bash";
    if !is_command && !is_of_paths(rule) {
        return None;
    }
    let is_anchored = text.starts_with('^') || (text.ends_with('$') && text.len() > 1);
    let has_class = ["\\s", "\\w", "\\d", "\\b"].iter().any(|class| {
        let mut rests = text.split(class).skip(1);
        rests.any(|rest| rest.is_empty() || rest.starts_with(['+', '*']))
    });
    let has_escape = !is_command && text.contains("\\.");
    let has_run = is_command && text.split_whitespace().any(|word| word.starts_with(".*"));
    let has_choice = text.split('(').skip(1).any(|rest| {
        let choice = rest.split_once(')').map(|(choice, _)| choice);
        choice.is_some_and(|it| it.contains('|') && !it.contains(char::is_whitespace))
    });
    (is_anchored || has_class || has_escape || has_run || has_choice).then(|| {
        (
            FindingKind::Regex,
            format!("`{text}` looks like a regular expression, and its characters stand for themselves"),
            "write a wildcard: `*` is any run of characters, `?` is one, all else is itself, and the whole text has to match"
                .to_owned(),
        )
    })
}

/// A home that nobody puts in: `~user/x`, `$HOMES/x`.
fn unknown_home(rule: &Rule) -> Option<Fault> {
    let text = rule.pattern.text();
    let path = text.strip_prefix("path:").unwrap_or(text);
    let is_variable = path.starts_with(['~', '$', '%']) && path.len() > 1;
    let written = path.split('/').next().unwrap_or_default();
    (is_variable && is_of_paths(rule)).then(|| {
        (
            FindingKind::Home,
            format!("`{written}` stands for nothing, so this matches no path"),
            "write `~/` or `$HOME/` for the home directory, or any directory itself".to_owned(),
        )
    })
}

/// A program below the home, which is usually typed with a `~`.
fn home_of_command(rule: &Rule, home: Option<&str>) -> Option<Fault> {
    let home = home.filter(|home| !home.is_empty())?.trim_end_matches('/');
    let below = rule.pattern.text().strip_prefix(home)?.strip_prefix('/')?;
    let program = below.split_whitespace().next()?;
    if rule.permission != "bash" {
        return None;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let help = match rule.action {
        Action::Allow => {
            format!("have it called by its full path, or put it on the PATH and allow `{name} *`")
        }
        Action::Ask | Action::Deny => {
            format!("write `{name} *`, which holds for the program wherever it lies")
        }
    };
    Some((
        FindingKind::Home,
        format!(
            "a command is matched as it is typed: `~/{below}` stands for `{home}/{below}`, which one typed with a `~` does not match"
        ),
        help,
    ))
}

/// A path for `grep` or `glob`.
fn searched_text(rule: &Rule) -> Option<Fault> {
    let text = rule.pattern.text();
    let path = text.trim_start_matches("path:");
    let extension = path.strip_prefix("*.");
    let is_extension =
        extension.is_some_and(|it| !it.is_empty() && it.chars().all(char::is_alphanumeric));
    let is_hidden = path.starts_with('.')
        && path
            .chars()
            .skip(1)
            .all(|c| c.is_alphanumeric() || c == '.');
    let is_like_a_path = path.contains('/') || is_extension || (is_hidden && path.len() > 1);
    let is_wrong = match &*rule.permission {
        "grep" => is_like_a_path,
        // The model writes patterns of paths there, so one may be allowed; but there are many ways to
        // look for a file.
        "glob" => is_like_a_path && rule.action != Action::Allow,
        _ => false,
    };
    is_wrong.then(|| {
        let action = rule.action;
        (
            FindingKind::SearchedText,
            format!("`{}` is asked with the pattern that is looked for, not with the files it looks at", rule.permission),
            format!("write `\"read\": {{\"{path}\": \"{action}\"}}`: a search shows only what may be read"),
        )
    })
}

/// `path:` where no path is asked about.
fn no_path(rule: &Rule) -> Option<Fault> {
    let is_other = OF_OTHERS.contains(&&*rule.permission);
    (rule.pattern.is_path() && is_other).then(|| {
        (
            FindingKind::NoPath,
            format!("`{}` is not asked with a path", rule.permission),
            "write the pattern without `path:`".to_owned(),
        )
    })
}
