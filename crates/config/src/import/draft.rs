//! The rules of an import as they come together, and how they are written down.
//!
//! Must not know a foreign system.

use policy::{Action, mcp_tool_name, wildcard};

use crate::error::{is_deceptive, visible};
use crate::import::pattern::{Spelled, Toward};
use crate::import::{Imported, Unmatched};

/// Where something is written, and what.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) line: u32,
    pub(super) text: String,
}

/// Rules from first to last, of which the last that fits decides, and what none of them says.
#[derive(Debug)]
pub(super) struct Draft {
    head: String,
    entries: Vec<Entry>,
    left_out: Vec<LeftOut>,
    /// Decisions that the foreign file promises, to be written behind the rules.
    cases: Vec<String>,
}

#[derive(Debug, Clone)]
struct Entry {
    remark: String,
    permission: String,
    pattern: String,
    action: Action,
}

#[derive(Debug)]
struct LeftOut {
    unmatched: Unmatched,
    /// Of what it would have allowed a part, if it would have.
    allows: Option<String>,
}

impl Draft {
    /// An empty one, for a file of a system.
    pub(super) fn new(system: &str, label: &str) -> Self {
        Self {
            head: format!("Imported from {label} ({system})."),
            entries: Vec::new(),
            left_out: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// A rule that says the same.
    pub(super) fn rule(&mut self, from: &Written, permission: &str, pattern: &str, action: Action) {
        let remark = format!("line {}: {}", from.line, from.text);
        self.push(remark, permission, pattern, action);
    }

    /// Rules about patterns. Of an allow nothing is taken that would allow more.
    pub(super) fn spelled(
        &mut self,
        from: &Written,
        permission: &str,
        spelled: &Spelled,
        action: Action,
    ) {
        match (spelled, action) {
            (Spelled::Same(patterns), _) => {
                for pattern in patterns {
                    self.rule(from, permission, pattern, action);
                }
            }
            (Spelled::More(patterns, why), Action::Ask | Action::Deny) => {
                let remark = format!("line {}: {}; wider: {why}", from.line, from.text);
                for pattern in patterns {
                    self.push(remark.clone(), permission, pattern, action);
                }
            }
            (Spelled::More(_, why) | Spelled::No(why), _) => {
                self.no_equivalent(from, why, permission, action);
            }
        }
    }

    /// Something that our rules cannot say. Unless it would only have allowed, all of that permission asks
    /// in its place, and what was denied by then stays denied.
    pub(super) fn no_equivalent(
        &mut self,
        from: &Written,
        why: &str,
        permission: &str,
        action: Action,
    ) {
        self.no_equivalent_about(from, why, permission, "*", action);
    }

    /// The same where a pattern tells what it is about, and only when it holds is not known.
    pub(super) fn no_equivalent_about(
        &mut self,
        from: &Written,
        why: &str,
        permission: &str,
        pattern: &str,
        action: Action,
    ) {
        let mut why = why.to_owned();
        let allows = (action == Action::Allow).then(|| permission.to_owned());
        if action != Action::Allow {
            let what = format!("`{permission}` `{pattern}`");
            why = format!("{why}; in its place {what} asks");
            let remark = format!("line {}: in place of {}", from.line, from.text);
            let is_touched = |it: &&Entry| {
                it.action == Action::Deny
                    && (wildcard(&it.permission, permission)
                        || wildcard(permission, &it.permission))
            };
            let denied: Vec<Entry> = self.entries.iter().filter(is_touched).cloned().collect();
            self.push(remark, permission, pattern, Action::Ask);
            self.entries.extend(denied);
        }
        self.leave_out(from, &why, allows);
    }

    /// Something that neither allows nor forbids anything here.
    pub(super) fn without_effect(&mut self, from: &Written, why: &str) {
        self.leave_out(from, why, None);
    }

    /// A decision that the foreign file promises.
    pub(super) fn case(&mut self, permission: &str, text: &str, action: Action) {
        self.cases
            .push(format!("{action:<5}  {permission}  {text}"));
    }

    fn leave_out(&mut self, from: &Written, why: &str, allows: Option<String>) {
        let unmatched = Unmatched {
            line: from.line,
            text: visible(&one_line(&from.text)),
            why: visible(why),
        };
        self.left_out.push(LeftOut { unmatched, allows });
    }

    fn push(&mut self, remark: String, permission: &str, pattern: &str, action: Action) {
        self.entries.push(Entry {
            remark,
            permission: permission.to_owned(),
            pattern: pattern.to_owned(),
            action,
        });
    }

    /// Where the strictest decides, a part of what is allowed whole is not missed.
    pub(super) fn forget_parts(&mut self) {
        let is_whole = |it: &&Entry| it.pattern == "*" && it.action == Action::Allow;
        let wholes: Vec<&Entry> = self.entries.iter().filter(is_whole).collect();
        let is_missed = |it: &LeftOut| {
            let allowed = it.allows.as_deref();
            !wholes
                .iter()
                .any(|whole| Some(whole.permission.as_str()) == allowed)
        };
        self.left_out.retain(is_missed);
    }

    /// Writes it down.
    pub(super) fn finish(self) -> Imported {
        let mut text = remark("", &self.head);
        text += &remark(
            "",
            "What none of these rules is about is left to the agent and the preset.",
        );
        text += "{\n  \"permissions\": [\n";
        let mut before = "";
        for entry in &self.entries {
            if entry.remark != before {
                text += &remark("    ", &entry.remark);
            }
            before = &entry.remark;
            text += &entry.line();
        }
        text += "  ]\n}\n";
        if !self.cases.is_empty() {
            text += &remark("", "What the imported file says these come to:");
            for case in &self.cases {
                text += &remark("", &format!("  {case}"));
            }
        }
        let missed = self.left_out.into_iter();
        let mut unmatched: Vec<Unmatched> = missed.map(|it| it.unmatched).collect();
        unmatched.sort_by_key(|it| it.line);
        unmatched.dedup();
        Imported { text, unmatched }
    }
}

impl Entry {
    fn line(&self) -> String {
        let (permission, pattern) = (quoted(&self.permission), quoted(&self.pattern));
        format!(
            "    {{ \"action\": {permission}, \"resource\": {pattern}, \"effect\": \"{}\" }},\n",
            self.action
        )
    }
}

/// A comment that ends where its line does.
fn remark(indent: &str, text: &str) -> String {
    format!("{indent}// {}\n", visible(&one_line(text)))
}

/// A JSON string, with what could deceive a terminal spelled out.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for char in serde_json::Value::from(text).to_string().chars() {
        if is_deceptive(char) {
            let mut units = [0; 2];
            let units = char.encode_utf16(&mut units).iter();
            quoted.extend(units.map(|unit| format!("\\u{unit:04x}")));
        } else {
            quoted.push(char);
        }
    }
    quoted
}

/// A text without line ends.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The side on which a pattern for an action may err.
pub(super) fn toward(action: Action) -> Toward {
    match action {
        Action::Allow => Toward::Less,
        Action::Ask | Action::Deny => Toward::More,
    }
}

/// The permission of a server's tools. `None`: there cannot be one, or not without allowing more.
pub(super) fn of_server(server: &str, tool: &str, action: Action) -> Option<String> {
    if server.is_empty() || server.contains(['*', '?']) {
        return None;
    }
    if !tool.contains(['*', '?']) {
        let name = mcp_tool_name(server, tool).ok()?;
        return Some(name.wire().to_owned());
    }
    match action {
        // `a_*` is also about a server `a_b`.
        Action::Allow => Some(format!("{server}/{tool}")),
        Action::Ask | Action::Deny => {
            let is_plain =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '?');
            let char = |c| if is_plain(c) { c } else { '_' };
            let name: String = format!("{server}_{tool}").chars().map(char).collect();
            // A name that begins otherwise gets this before it.
            let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
            Some(if name.starts_with(is_first) {
                name
            } else {
                format!("_{name}")
            })
        }
    }
}

/// All tools of all servers, and a few names of ours beside them.
pub(super) const ANY_SERVER: &str = "*_*";
