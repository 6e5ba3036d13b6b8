//! The permissions in settings of Claude Code: a deny counts before an ask, and an ask before an allow.
//!
//! Must not read any other setting than permissions, and hooks that could refuse a call.

use jsonc_parser::ast::{Object, Value};
use policy::Action;

use crate::ConfigError;
use crate::extract::at;
use crate::import::Imported;
use crate::import::draft::{ANY_SERVER, Draft, Written, of_server, toward};
use crate::import::pattern::{Spelled, ignored, wildcard};
use crate::parse::{Place, Reader, bytes, read_root};
use crate::text::Bearings;

/// What a tool of theirs is here.
struct Tool {
    name: &'static str,
    /// The permissions that are about all its calls.
    permissions: &'static [&'static str],
    kind: Kind,
}

/// What stands in the brackets behind a tool, and whether the permission is about other tools as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Command,
    /// Paths that it reads.
    Read,
    /// Paths that it writes.
    Edit,
    /// A tool that writes files and whose paths nothing looks at there.
    OtherEdit,
    Site,
    Name,
    /// Nothing, or nothing that has an effect.
    Nothing,
}

impl Kind {
    fn is_about_paths(self) -> bool {
        matches!(self, Self::Read | Self::Edit | Self::OtherEdit)
    }
}

const TOOLS: [Tool; 19] = [
    tool("Bash", &["bash"], Kind::Command),
    tool("Read", &["read", "list", "glob", "grep"], Kind::Read),
    tool("Edit", &["edit"], Kind::Edit),
    tool("Write", &["edit"], Kind::OtherEdit),
    tool("MultiEdit", &["edit"], Kind::OtherEdit),
    tool("NotebookEdit", &["edit"], Kind::OtherEdit),
    tool("Glob", &["glob"], Kind::Nothing),
    tool("Grep", &["grep"], Kind::Nothing),
    tool("LS", &["list"], Kind::Nothing),
    tool("LSP", &["lsp"], Kind::Nothing),
    tool("WebFetch", &["webfetch"], Kind::Site),
    tool("WebSearch", &["websearch"], Kind::Nothing),
    tool("Agent", &["task"], Kind::Name),
    tool("Task", &["task"], Kind::Name),
    tool("Skill", &["skill"], Kind::Name),
    tool("TodoWrite", &["todowrite"], Kind::Nothing),
    tool("AskUserQuestion", &["question"], Kind::Nothing),
    tool("EnterPlanMode", &["plan_enter"], Kind::Nothing),
    tool("ExitPlanMode", &["plan_exit"], Kind::Nothing),
];

const fn tool(name: &'static str, permissions: &'static [&'static str], kind: Kind) -> Tool {
    Tool {
        name,
        permissions,
        kind,
    }
}

const LISTS: [(&str, Action); 3] = [
    ("allow", Action::Allow),
    ("ask", Action::Ask),
    ("deny", Action::Deny),
];

/// Reads settings of Claude Code; `label` names them. A path `/x` is one of the workspace, as in the settings
/// of a project.
///
/// # Errors
/// The text is no JSON object, or its permissions are not of the form that is known.
pub fn claude(text: &str, label: &str) -> Result<Imported, ConfigError> {
    let bearings = Bearings {
        folder: None,
        home: None,
    };
    read_root(text, Place { label, bearings }, |reader, root| {
        let mut draft = Draft::new("Claude Code", label);
        let none = Object {
            range: root.range,
            properties: Vec::new(),
        };
        let permissions = match at(root, "permissions") {
            None => &none,
            Some(Value::Object(permissions)) => permissions,
            Some(other) => {
                reader.fault(bytes(other), "`permissions` is an object", None);
                &none
            }
        };
        mode(reader, permissions, &mut draft, When::First);
        folders(reader, permissions, &mut draft);
        for (list, action) in LISTS {
            for (from, rule) in strings(reader, permissions, list) {
                one(&from, &rule, action, &mut draft);
            }
            if action == Action::Ask {
                hooks(reader, root, &mut draft);
                mode(reader, permissions, &mut draft, When::BehindAllows);
            }
        }
        others(reader, root, permissions, &mut draft);
        draft.forget_parts();
        draft.finish()
    })
}

/// One rule.
fn one(from: &Written, rule: &str, action: Action, draft: &mut Draft) {
    let (name, inside) = match rule.split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (name, Some(inside)),
            None => return draft.no_equivalent(from, "it is not closed", "*", action),
        },
        None => (rule, None),
    };
    if let Some(rest) = name.strip_prefix("mcp__") {
        return server(from, rest, inside, action, draft);
    }
    if name == "*" && inside.is_none() && action != Action::Allow {
        return draft.rule(from, "*", "*", action);
    }
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        return if name.contains('*') {
            draft.no_equivalent(from, "a pattern for tools", "*", action);
        } else {
            draft.without_effect(from, "no tool here does this");
        };
    };
    match inside {
        // Of paths these are the ones of the workspace.
        Some("*" | "**") if tool.kind.is_about_paths() && action == Action::Allow => {
            part(from, tool, "**", action, draft);
        }
        None | Some("" | "*" | "**") => whole(from, tool, action, draft),
        Some(inside) => part(from, tool, inside, action, draft),
    }
}

/// A rule about all calls of a tool.
fn whole(from: &Written, tool: &Tool, action: Action, draft: &mut Draft) {
    for permission in tool.permissions {
        if tool.kind == Kind::OtherEdit {
            let all = Spelled::More(
                vec!["*".to_owned()],
                "one permission for all that writes files",
            );
            draft.spelled(from, permission, &all, action);
        } else {
            draft.rule(from, permission, "*", action);
        }
    }
}

/// A rule about some calls of a tool.
fn part(from: &Written, tool: &Tool, inside: &str, action: Action, draft: &mut Draft) {
    let Some(permission) = tool.permissions.first() else {
        return;
    };
    match tool.kind {
        Kind::Command => draft.spelled(from, permission, &command(inside, action), action),
        Kind::Read => {
            let paths = ignored(inside, toward(action));
            draft.spelled(from, permission, &paths, action);
            // There a file that may not be read may not be written either.
            if action == Action::Deny {
                draft.spelled(from, "edit", &paths, action);
            }
        }
        Kind::Edit => draft.spelled(from, permission, &ignored(inside, toward(action)), action),
        Kind::OtherEdit if action == Action::Allow => {
            draft.without_effect(
                from,
                "it has no effect there either: paths are for Read and Edit",
            );
        }
        Kind::OtherEdit => {
            let paths = match ignored(inside, toward(action)) {
                Spelled::Same(paths) => Spelled::More(paths, "it had no effect"),
                other => other,
            };
            draft.spelled(from, permission, &paths, action);
        }
        Kind::Site => draft.spelled(from, permission, &site(inside, action), action),
        Kind::Name => draft.spelled(from, permission, &name(tool, inside), action),
        Kind::Nothing if ["glob", "grep", "list"].contains(permission) => {
            draft.without_effect(
                from,
                "it has no effect there either: paths are for Read and Edit",
            );
        }
        Kind::Nothing => draft.no_equivalent(
            from,
            "nothing is known of what is inside",
            permission,
            action,
        ),
    }
}

fn command(inside: &str, action: Action) -> Spelled {
    let Some(start) = inside.strip_suffix(":*") else {
        // There only a lone last `*` may be missing with the space before it.
        if action == Action::Allow
            && let Some(start) = inside.strip_suffix(" *")
            && start.contains('*')
        {
            return match wildcard(start, true) {
                Spelled::Same(patterns) => Spelled::Same(patterns).then(" ?*"),
                other => other,
            };
        }
        return wildcard(inside, true);
    };
    if start.is_empty() {
        return Spelled::Same(vec!["*".to_owned()]);
    }
    wildcard(start, true).then(" *")
}

fn site(inside: &str, action: Action) -> Spelled {
    let Some(host) = inside.strip_prefix("domain:") else {
        return Spelled::No("only `domain:` is known");
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*');
    if host.is_empty() || !host.chars().all(is_plain) {
        return Spelled::No("no name of a host");
    }
    if action != Action::Allow {
        // Any scheme, user, port and path, whatever else it matches.
        let all = vec![format!("*//{host}*"), format!("*@{host}*")];
        return Spelled::More(all, "an address is one text here");
    }
    if host.contains('*') {
        return Spelled::More(
            Vec::new(),
            "a `*` in an address also stands for what is behind the host",
        );
    }
    let scheme = |scheme| [format!("{scheme}://{host}"), format!("{scheme}://{host}/*")];
    Spelled::Same(["https", "http"].into_iter().flat_map(scheme).collect())
}

fn name(tool: &Tool, inside: &str) -> Spelled {
    match inside.strip_suffix(":*") {
        Some(start) => match wildcard(start, true).then("*") {
            Spelled::Same(patterns) => {
                Spelled::More(patterns, "where the name ends is not known here")
            }
            other => other,
        },
        // For a skill it belongs to the name.
        None if inside.contains(':') && tool.name != "Skill" => {
            Spelled::No("a condition on arguments whose names differ here")
        }
        None => wildcard(inside, true),
    }
}

/// A rule about tools of a server.
fn server(from: &Written, rest: &str, inside: Option<&str>, action: Action, draft: &mut Draft) {
    if inside.is_some_and(|inside| inside != "*") {
        let why = "nothing is known of what is inside";
        return draft.no_equivalent(from, why, ANY_SERVER, action);
    }
    let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
    match of_server(server, tool, action) {
        Some(permission) => draft.rule(from, &permission, "*", action),
        None => draft.no_equivalent(from, "no name here is for these tools", ANY_SERVER, action),
    }
}

/// Directories beside the workspace.
fn folders(reader: &mut Reader<'_>, permissions: &Object<'_>, draft: &mut Draft) {
    for (from, folder) in strings(reader, permissions, "additionalDirectories") {
        let is_absolute = folder.starts_with('/') || folder == "~" || folder.starts_with("~/");
        if !is_absolute || folder.contains(['*', '?']) || crate::text::refers(&folder) {
            let why = "only an absolute path names a directory here, without wildcards";
            draft.no_equivalent(&from, why, "external_directory", Action::Allow);
            continue;
        }
        let pattern = format!("{}/*", folder.trim_end_matches('/'));
        draft.rule(&from, "external_directory", &pattern, Action::Allow);
    }
}

/// Whether rules in place of a mode stand before the allows or behind them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    First,
    BehindAllows,
}

/// What holds where no rule fits.
fn mode(reader: &Reader<'_>, permissions: &Object<'_>, draft: &mut Draft, when: When) {
    let Some(Value::StringLit(mode)) = at(permissions, "defaultMode") else {
        return;
    };
    let from = Written {
        line: reader.line_and_column(bytes(mode).start).0,
        text: format!("defaultMode {}", mode.value),
    };
    match (&*mode.value, when) {
        ("acceptEdits", When::First) => draft.rule(&from, "edit", "*", Action::Allow),
        ("dontAsk", When::First) => {
            draft.no_equivalent(
                &from,
                "a deny for whatever no rule allows",
                "*",
                Action::Deny,
            );
        }
        ("plan", When::BehindAllows) => {
            for permission in ["edit", "bash"] {
                let why = "a mode; the agent `plan` is like it";
                draft.no_equivalent(&from, why, permission, Action::Deny);
            }
        }
        ("default" | "acceptEdits" | "dontAsk" | "plan", _) | (_, When::BehindAllows) => {}
        (_, When::First) => {
            draft.no_equivalent(&from, "a mode that leaves rules aside", "*", Action::Allow);
        }
    }
}

/// Programs that may refuse a call before it runs, and others.
fn hooks(reader: &Reader<'_>, root: &Object<'_>, draft: &mut Draft) {
    let Some(Value::Object(events)) = at(root, "hooks") else {
        return;
    };
    for event in &events.properties {
        let name = event.name.as_str();
        let groups = match &event.value {
            Value::Array(groups) if name == "PreToolUse" => groups.elements.as_slice(),
            _ => {
                let from = Written {
                    line: reader.line_and_column(bytes(&event.name).start).0,
                    text: format!("hooks {name}"),
                };
                draft.without_effect(&from, "there are no hooks here");
                continue;
            }
        };
        for group in groups {
            let matcher = match group {
                Value::Object(group) => match at(group, "matcher") {
                    Some(Value::StringLit(matcher)) => matcher.value.to_string(),
                    _ => String::new(),
                },
                _ => String::new(),
            };
            let from = Written {
                line: reader.line_and_column(bytes(group).start).0,
                text: format!("hooks PreToolUse {matcher}"),
            };
            for permission in matched(&matcher) {
                let why = "there are no hooks here, and this one may refuse a call";
                draft.no_equivalent(&from, why, permission, Action::Deny);
            }
        }
    }
}

/// The permissions of the tools that a hook is for.
fn matched(matcher: &str) -> Vec<&'static str> {
    let mut permissions = Vec::new();
    for name in matcher.split('|') {
        match TOOLS.iter().find(|tool| tool.name == name) {
            Some(tool) => permissions.extend(tool.permissions),
            None => return vec!["*"],
        }
    }
    permissions.sort_unstable();
    permissions.dedup();
    permissions
}

/// Keys that have no equivalent.
fn others(reader: &Reader<'_>, root: &Object<'_>, permissions: &Object<'_>, draft: &mut Draft) {
    // What closes a mode that is not there needs no rule.
    const KNOWN: [&str; 7] = [
        "allow",
        "ask",
        "deny",
        "defaultMode",
        "additionalDirectories",
        "disableBypassPermissionsMode",
        "disableAutoMode",
    ];
    let unknown = |it: &&jsonc_parser::ast::ObjectProp<'_>| !KNOWN.contains(&it.name.as_str());
    let of_sandbox = root
        .properties
        .iter()
        .filter(|it| it.name.as_str() == "sandbox");
    for property in permissions
        .properties
        .iter()
        .filter(unknown)
        .chain(of_sandbox)
    {
        let from = Written {
            line: reader.line_and_column(bytes(&property.name).start).0,
            text: property.name.as_str().to_owned(),
        };
        draft.without_effect(&from, "this setting is not imported");
    }
}

/// The strings of a list, with their places.
fn strings(reader: &mut Reader<'_>, object: &Object<'_>, key: &str) -> Vec<(Written, String)> {
    let elements = match at(object, key) {
        None => return Vec::new(),
        Some(Value::Array(list)) => &list.elements,
        Some(other) => {
            reader.fault(bytes(other), &format!("`{key}` is a list of strings"), None);
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for element in elements {
        match element {
            Value::StringLit(it) => {
                let line = reader.line_and_column(bytes(it).start).0;
                let text = it.value.to_string();
                let from = Written {
                    line,
                    text: text.clone(),
                };
                found.push((from, text.trim().to_owned()));
            }
            other => reader.fault(bytes(other), &format!("`{key}` is a list of strings"), None),
        }
    }
    found
}
