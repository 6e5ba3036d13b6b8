//! Names of tools that come from MCP servers: what a tool is called on the wire and in rules, and which
//! names are refused.
//!
//! Must not: know a server. Who lists its tools builds the table, and offers what stands in it.

use std::collections::BTreeMap;

use crate::pattern::Pattern;
use crate::rule::Rule;

/// The longest name a provider takes, in bytes.
const BYTES_MAX: usize = 64;

/// Names that are ours: built-in tools, their names in other systems, and what gates ask for. In order.
const OURS: [&str; 42] = [
    "apply_patch",
    "background_process",
    "bash",
    "codebase_search",
    "codesearch",
    "doom_loop",
    "edit",
    "external_directory",
    "glob",
    "grep",
    "invalid",
    "kilo_local_recall",
    "list",
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "lsp",
    "multiedit",
    "network",
    "notebook_edit",
    "notebook_execute",
    "patch",
    "plan_enter",
    "plan_exit",
    "question",
    "read",
    "read_mcp_resource",
    "recall",
    "repo_clone",
    "repo_overview",
    "sandbox_escalation",
    "sandbox_escape",
    "semantic_search",
    "shell",
    "skill",
    "subagent",
    "suggest",
    "task",
    "todoread",
    "todowrite",
    "webfetch",
    "websearch",
    "write",
];

/// A tool of a server, and its name on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    wire: String,
    server: String,
    tool: String,
}

/// Why a tool has no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// A server or a tool without a name.
    #[error("`{server}/{tool}`: a server and a tool need a name each")]
    Empty {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
    },
    /// It would be taken for something of ours.
    #[error("`{server}/{tool}` would be called `{wire}`, which is a name of ours")]
    Ours {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
        /// The name.
        wire: String,
    },
    /// Two tools would have one name, and rules about one would be about the other.
    #[error("`{refused}` would be called `{wire}`, as `{other}` would: rename one of the servers")]
    Collision {
        /// The tool that gets no name, as `server/tool`.
        refused: String,
        /// The other one.
        other: String,
        /// The name.
        wire: String,
    },
}

impl Name {
    /// The name on the wire and in rules.
    pub fn wire(&self) -> &str {
        &self.wire
    }

    /// The server, as its configuration calls it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool, as its server calls it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Both as they are: `server/tool`.
    pub fn original(&self) -> String {
        format!("{}/{}", self.server, self.tool)
    }

    /// Whether nothing had to be changed to make the name, so that nobody else has a better claim to it.
    fn is_as_written(&self) -> bool {
        self.wire == format!("{}_{}", self.server, self.tool)
    }
}

/// What a tool of a server is called: `server_tool`, other characters than letters, digits, `_` and `-`
/// made `_`. A name that begins with neither a letter nor `_` gets a `_` before it; one that is too long
/// is cut, and a number made of the whole keeps it apart from others cut alike.
///
/// # Errors
/// [`NameFault::Empty`] and [`NameFault::Ours`]. Whether two tools get one name is for a [`NameTable`].
pub fn mcp_tool_name(server: &str, tool: &str) -> Result<Name, NameFault> {
    let (server, tool) = (server.to_owned(), tool.to_owned());
    if server.is_empty() || tool.is_empty() {
        return Err(NameFault::Empty { server, tool });
    }
    let mut wire = format!("{}_{}", plain(&server), plain(&tool));
    if wire.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        wire.insert(0, '_');
    }
    if wire.len() > BYTES_MAX {
        let number = format!("_{:016x}", fingerprint(&server, &tool));
        // All of it is ASCII by now.
        wire.truncate(BYTES_MAX - number.len());
        wire += &number;
    }
    if OURS.iter().any(|ours| ours.eq_ignore_ascii_case(&wire)) {
        return Err(NameFault::Ours { server, tool, wire });
    }
    Ok(Name { wire, server, tool })
}

fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let char = |c| if is_plain(c) { c } else { '_' };
    name.chars().map(char).collect()
}

/// A number that is the same in every version (64-bit FNV-1a, a NUL between the two). It only tells names
/// apart: two that still meet are refused by the table.
fn fingerprint(server: &str, tool: &str) -> u64 {
    let bytes = server.bytes().chain([0]).chain(tool.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The tools of all servers by their names on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable(BTreeMap<String, Name>);

impl NameTable {
    /// Names these tools, each a server and a tool, and says which of them get no name.
    ///
    /// Of two tools with one name the one that is written like that keeps it. If both are, or neither,
    /// neither gets it: rules and answers about one must never be about the other, whatever the order.
    pub fn of<'t>(tools: impl IntoIterator<Item = (&'t str, &'t str)>) -> (Self, Vec<NameFault>) {
        let mut faults = Vec::new();
        let mut claims: BTreeMap<String, Vec<Name>> = BTreeMap::new();
        for (server, tool) in tools {
            match mcp_tool_name(server, tool) {
                Ok(name) => {
                    let rivals = claims.entry(name.wire.clone()).or_default();
                    if !rivals.contains(&name) {
                        rivals.push(name);
                    }
                }
                Err(fault) => faults.push(fault),
            }
        }
        let mut table = Self::default();
        for (wire, rivals) in claims {
            let mut written = rivals.iter().filter(|name| name.is_as_written());
            let keeper = match (rivals.as_slice(), written.next(), written.next()) {
                ([only], _, _) | (_, Some(only), None) => Some(only.clone()),
                _ => None,
            };
            for refused in rivals.iter().filter(|name| keeper.as_ref() != Some(*name)) {
                let mut others = rivals.iter().filter(|name| *name != refused);
                let other = keeper.as_ref().or_else(|| others.next());
                faults.push(NameFault::Collision {
                    refused: refused.original(),
                    other: other.map(Name::original).unwrap_or_default(),
                    wire: wire.clone(),
                });
            }
            if let Some(keeper) = keeper {
                table.0.insert(wire, keeper);
            }
        }
        (table, faults)
    }

    /// The tool that is called like this.
    pub fn find(&self, wire: &str) -> Option<&Name> {
        self.0.get(wire)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.0.values()
    }

    /// Rules with those about original names (`server/tool`, `server/*`) put in the names on the wire, at
    /// their places. A rule about no tool of the table stays and is about nothing.
    ///
    /// `a_*` is about the tools of a server `a`, and of a server `a_b` as well; `a/*` is about those of
    /// `a` alone.
    #[must_use]
    pub fn in_wire_names(&self, rules: &[Rule]) -> Vec<Rule> {
        let mut result = Vec::with_capacity(rules.len());
        for rule in rules {
            if !rule.permission.contains('/') {
                result.push(rule.clone());
                continue;
            }
            let original = Pattern::wildcard(&rule.permission);
            let meant = |name: &&Name| original.matches(&name.original());
            let before = result.len();
            result.extend(self.names().filter(meant).map(|name| Rule {
                permission: name.wire.clone(),
                ..rule.clone()
            }));
            if result.len() == before {
                result.push(rule.clone());
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Action, Origin};

    fn wire(server: &str, tool: &str) -> String {
        mcp_tool_name(server, tool).unwrap().wire
    }

    fn is_a_name(text: &str) -> bool {
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_other = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        text.starts_with(is_first) && text.chars().all(is_other) && text.len() <= BYTES_MAX
    }

    #[test]
    fn a_name_is_the_server_and_the_tool() {
        for (server, tool, want) in [
            ("s", "greet/tool", "s_greet_tool"),
            ("git-hub", "list_issues", "git-hub_list_issues"),
            ("a.b", "t", "a_b_t"),
            ("9srv", "t", "_9srv_t"),
            ("-", "t", "_-_t"),
            ("é", "日本", "____"),
        ] {
            assert_eq!(wire(server, tool), want);
        }
    }

    #[test]
    fn a_long_name_is_cut_and_stays_apart_from_others() {
        let long = "x".repeat(80);
        let (one, two) = (
            wire("s", &format!("{long}1")),
            wire("s", &format!("{long}2")),
        );
        assert_ne!(one, two);
        assert!(is_a_name(&one) && is_a_name(&two), "{one} {two}");
        assert_eq!(one.len(), BYTES_MAX);
        assert_eq!(
            wire("9srv", &"y.".repeat(40)),
            "_9srv_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_y_3cc4f90b38b09a0b",
            "the same in every version"
        );
    }

    #[test]
    fn names_of_ours_and_empty_ones_are_refused() {
        assert!(OURS.iter().all(|name| is_a_name(name)));
        for (server, tool) in [
            ("external", "directory"),
            ("doom", "loop"),
            ("sandbox", "escape"),
            ("apply", "patch"),
            ("Plan", "exit"),
            ("web.fetch", ""),
            ("", "read"),
        ] {
            assert!(mcp_tool_name(server, tool).is_err(), "{server} {tool}");
        }
    }

    #[test]
    fn what_is_written_like_the_name_keeps_it() {
        for tools in [
            [("a.b", "t"), ("a_b", "t"), ("a.b", "u")],
            [("a.b", "u"), ("a_b", "t"), ("a.b", "t")],
        ] {
            let (table, faults) = NameTable::of(tools);
            assert_eq!(table.find("a_b_t").unwrap().server(), "a_b");
            assert_eq!(table.find("a_b_u").unwrap().original(), "a.b/u");
            let [fault] = faults.as_slice() else {
                panic!("{faults:?}")
            };
            let words = fault.to_string();
            assert!(
                words.contains("`a.b/t`") && words.contains("`a_b/t`"),
                "{words}"
            );
        }
    }

    #[test]
    fn where_nobody_has_the_better_claim_nobody_gets_the_name() {
        for tools in [[("a.b", "t"), ("a,b", "t")], [("a", "b_t"), ("a_b", "t")]] {
            let (table, faults) = NameTable::of(tools);
            assert_eq!((table.names().count(), faults.len()), (0, 2), "{tools:?}");
        }
        let (table, faults) = NameTable::of([("a", "t"), ("a", "t")]);
        assert_eq!(
            (table.names().count(), faults.len()),
            (1, 0),
            "one tool, told twice"
        );
    }

    #[test]
    fn rules_about_original_names_are_about_their_own_server_alone() {
        let rule = |permission: &str| {
            Rule::new(
                permission,
                Pattern::wildcard("*"),
                Action::Allow,
                Origin::named("t"),
            )
        };
        let (table, _) = NameTable::of([("a.b", "t"), ("a_b", "t"), ("a.b", "u"), ("a", "v")]);
        let permissions = |written: &str| -> Vec<String> {
            let rules = table.in_wire_names(&[rule("x"), rule(written), rule("y")]);
            let names = rules.into_iter().map(|rule| rule.permission);
            names.filter(|name| name != "x" && name != "y").collect()
        };
        assert_eq!(permissions("a.b/*"), ["a_b_u"]);
        assert_eq!(permissions("a_b/t"), ["a_b_t"]);
        assert_eq!(permissions("a/*"), ["a_v"]);
        assert_eq!(permissions("b/*"), ["b/*"]);
        assert_eq!(
            permissions("a_*"),
            ["a_*"],
            "as the compatible systems read it"
        );
    }
}
