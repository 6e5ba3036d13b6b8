//! The policies of Gemini CLI: of all rules that fit a call the one of the highest priority counts, and of
//! several like that the first.
//!
//! Must not guess what a regular expression is about.

use policy::Action;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::ConfigError;
use crate::import::draft::{ANY_SERVER, Draft, Written, of_server, one_line};
use crate::import::pattern::{Spelled, literal};
use crate::import::{Imported, line_of, unreadable};

/// Tools of theirs, and what they are here.
const TOOLS: [(&str, &str); 18] = [
    ("run_shell_command", "bash"),
    ("read_file", "read"),
    ("read_many_files", "read"),
    ("list_directory", "list"),
    ("glob", "glob"),
    ("grep_search", "grep"),
    ("search_file_content", "grep"),
    ("write_file", "edit"),
    ("replace", "edit"),
    ("edit", "edit"),
    ("web_fetch", "webfetch"),
    ("google_web_search", "websearch"),
    ("write_todos", "todowrite"),
    ("ask_user", "question"),
    ("activate_skill", "skill"),
    ("invoke_agent", "task"),
    ("enter_plan_mode", "plan_enter"),
    ("exit_plan_mode", "plan_exit"),
];

/// Both of them are one permission here.
const WRITING: [&str; 2] = ["write_file", "replace"];

/// Conditions that are not about the name of a tool or the beginning of a command.
const CONDITIONS: [(&str, &str); 5] = [
    ("argsPattern", "a regular expression"),
    ("commandRegex", "a regular expression"),
    (
        "subagent",
        "a rule for one agent: write it below that agent",
    ),
    (
        "toolAnnotations",
        "a condition on what a tool says of itself",
    ),
    ("interactive", "a condition on whether somebody is there"),
];

/// A rule as it stands in the file.
struct Rule<'t> {
    from: Written,
    table: &'t DeTable<'t>,
    action: Action,
    priority: i64,
    /// Why it holds only sometimes, if it is no plain rule.
    condition: Option<&'static str>,
}

/// Reads a policy file of Gemini CLI; `label` names it.
///
/// # Errors
/// The text is no TOML, or a rule has no decision or priority.
pub fn gemini(text: &str, label: &str) -> Result<Imported, ConfigError> {
    let root = DeTable::parse(text)
        .map_err(|error| unreadable(text, label, error.span().unwrap_or(0..0), error.message()))?;
    let mut draft = Draft::new("Gemini CLI", label);
    let mut rules = Vec::new();
    for (key, value) in root.get_ref() {
        let is_checker = key.get_ref() == "safety_checker";
        let tables = value.get_ref().as_array();
        let (Some(tables), true) = (tables, is_checker || key.get_ref() == "rule") else {
            let from = Written {
                line: line_of(text, key.span().start),
                text: key.get_ref().to_string(),
            };
            draft.without_effect(&from, "this key is not imported");
            continue;
        };
        for table in tables {
            let read = if is_checker {
                checker(text, table)
            } else {
                rule(text, table)
            };
            rules.push(read.map_err(|why| unreadable(text, label, table.span(), why))?);
        }
    }
    // The last that fits decides here. Of one priority the first decides there.
    rules.reverse();
    rules.sort_by_key(|rule| rule.priority);
    for rule in &rules {
        add(rule, &mut draft);
    }
    Ok(draft.finish())
}

fn rule<'t>(text: &str, value: &'t Spanned<DeValue<'t>>) -> Result<Rule<'t>, &'static str> {
    let table = value.get_ref().as_table().ok_or("a rule is a table")?;
    let decision = string(table, "decision").ok_or("a rule has a string `decision`")?;
    let action = match decision {
        "allow" => Action::Allow,
        "ask_user" => Action::Ask,
        "deny" => Action::Deny,
        _ => return Err("a decision is `allow`, `ask_user` or `deny`"),
    };
    for key in ["toolName", "commandPrefix", "modes", "mcpName"] {
        let is_string = |value: &Spanned<DeValue<'_>>| value.get_ref().as_str().is_some();
        let is_right = table.get(key).is_none_or(|value| {
            let list = value.get_ref().as_array().filter(|_| key != "mcpName");
            is_string(value) || list.is_some_and(|list| list.iter().all(is_string))
        });
        if !is_right {
            return Err("names and beginnings of commands are strings");
        }
    }
    let priority = table
        .get("priority")
        .and_then(|it| it.get_ref().as_integer());
    let priority = priority.and_then(|it| i64::from_str_radix(it.as_str(), it.radix()).ok());
    let priority = priority.ok_or("a rule has a whole number `priority`")?;
    let mut conditions = CONDITIONS
        .iter()
        .filter(|(key, _)| table.contains_key(*key));
    let modes = strings(table, "modes");
    let is_of_other_modes = !modes.is_empty() && !modes.contains(&"default");
    let of_mode = is_of_other_modes.then_some("a rule for modes, which are agents here");
    Ok(Rule {
        from: written(text, value),
        table,
        action,
        priority,
        condition: conditions.next().map(|(_, why)| *why).or(of_mode),
    })
}

/// Something that may refuse what rules allow.
fn checker<'t>(text: &str, value: &'t Spanned<DeValue<'t>>) -> Result<Rule<'t>, &'static str> {
    let table = value.get_ref().as_table().ok_or("a checker is a table")?;
    Ok(Rule {
        from: written(text, value),
        table,
        action: Action::Deny,
        priority: i64::MAX,
        condition: Some("there are no such checkers here"),
    })
}

fn add(rule: &Rule<'_>, draft: &mut Draft) {
    let Rule {
        from,
        table,
        action,
        condition,
        ..
    } = rule;
    if table.contains_key("allowRedirection") {
        draft.without_effect(
            from,
            "`allowRedirection`: a redirect is an edit of its file here",
        );
    }
    let modes = strings(table, "modes");
    if *action == Action::Allow
        && condition.is_none()
        && !modes.is_empty()
        && !modes.contains(&"plan")
    {
        let why = "`modes`: it holds for every agent here; what a read-only agent may not do stays denied";
        draft.without_effect(from, why);
    }
    let prefixes = strings(table, "commandPrefix");
    if !prefixes.is_empty() || table.contains_key("commandRegex") {
        return commands(rule, &prefixes, draft);
    }
    let server = string(table, "mcpName");
    let names = strings(table, "toolName");
    let names = if names.is_empty() { vec!["*"] } else { names };
    for name in &names {
        match permission(server, name, *action) {
            Named::As(permission) => {
                let is_part =
                    WRITING.contains(name) && !WRITING.iter().all(|it| names.contains(it));
                match condition {
                    Some(why) => draft.no_equivalent(from, why, &permission, *action),
                    None if is_part => {
                        let why = "one permission for all that writes files";
                        let all = Spelled::More(vec!["*".to_owned()], why);
                        draft.spelled(from, &permission, &all, *action);
                    }
                    None => draft.rule(from, &permission, "*", *action),
                }
            }
            Named::Several(permission) => {
                let why = "no name here is for just these tools";
                draft.no_equivalent(from, why, permission, *action);
            }
            Named::Nothing => draft.without_effect(from, "no tool here does this"),
        }
    }
}

/// A rule about commands.
fn commands(rule: &Rule<'_>, prefixes: &[&str], draft: &mut Draft) {
    let Rule {
        from,
        action,
        condition,
        ..
    } = rule;
    if prefixes.is_empty() {
        let why = condition.unwrap_or_default();
        return draft.no_equivalent(from, why, "bash", *action);
    }
    for prefix in prefixes {
        let spelled = match prefix.trim() {
            "" => Spelled::Same(vec!["*".to_owned()]),
            prefix => literal(prefix).then(" *"),
        };
        let Some(why) = condition else {
            draft.spelled(from, "bash", &spelled, *action);
            continue;
        };
        match &spelled {
            Spelled::Same(patterns) | Spelled::More(patterns, _) => {
                for pattern in patterns {
                    draft.no_equivalent_about(from, why, "bash", pattern, *action);
                }
            }
            Spelled::No(_) => draft.no_equivalent(from, why, "bash", *action),
        }
    }
}

/// What a name of a tool is here.
enum Named {
    /// A permission.
    As(String),
    /// Several of ours, and no permission is about just those: this one is about them and others.
    Several(&'static str),
    /// Nothing.
    Nothing,
}

fn permission(server: Option<&str>, name: &str, action: Action) -> Named {
    let of_server = |server, tool| match of_server(server, tool, action) {
        Some(permission) => Named::As(permission),
        None => Named::Several(ANY_SERVER),
    };
    if let Some(server) = server {
        return of_server(server, name);
    }
    if name == "*" {
        return Named::As("*".to_owned());
    }
    if let Some((_, permission)) = TOOLS.iter().find(|(tool, _)| *tool == name) {
        return Named::As((*permission).to_owned());
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        return match rest.split_once('_') {
            Some((server, tool)) => of_server(server, tool),
            None => Named::Several(ANY_SERVER),
        };
    }
    match name.split_once("__") {
        Some((server, tool)) => of_server(server, tool),
        None if name.contains('*') => Named::Several("*"),
        None => Named::Nothing,
    }
}

fn written(text: &str, value: &Spanned<DeValue<'_>>) -> Written {
    let table = value.get_ref().as_table();
    let shown = [
        "mcpName",
        "toolName",
        "commandPrefix",
        "commandRegex",
        "argsPattern",
        "decision",
        "priority",
    ];
    let parts = shown.iter().filter_map(|key| {
        let value = table?.get(*key)?;
        let value = text.get(value.span()).unwrap_or_default();
        Some(format!("{key} = {}", one_line(value)))
    });
    Written {
        line: line_of(text, value.span().start),
        text: parts.collect::<Vec<_>>().join(", "),
    }
}

fn string<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    table.get(key)?.get_ref().as_str()
}

/// A string, or a list of them.
fn strings<'t>(table: &'t DeTable<'_>, key: &str) -> Vec<&'t str> {
    let Some(value) = table.get(key).map(Spanned::get_ref) else {
        return Vec::new();
    };
    match (value.as_str(), value.as_array()) {
        (Some(one), _) => vec![one],
        (None, Some(list)) => list.iter().filter_map(|it| it.get_ref().as_str()).collect(),
        (None, None) => Vec::new(),
    }
}
