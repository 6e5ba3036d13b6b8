//! Has the grammar make a tree of a text, and notes whatever in it is not surely read as PowerShell reads it. It must not say what a command does.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use command::Unknown;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use crate::data;

/// Deepest tree that is followed. An expression in parentheses is some fifteen levels.
pub(crate) const LEVELS_MAX: usize = 600;

/// How often the parser may report before it is stopped: it does so each hundred steps.
const REPORTS_MAX: usize = 40_000;

/// Kinds of places that are understood. What is not here, or is an error, is "cannot tell".
const KINDS: &str = "program statement_list pipeline pipeline_chain pipeline_chain_tail command command_name \
    command_name_expr path_command_name path_command_name_token command_elements command_parameter \
    command_argument_sep command_invokation_operator generic_token stop_parsing empty_statement \
    background_operator comment redirections redirection merging_redirection_operator \
    file_redirection_operator redirected_file_name if_statement elseif_clauses elseif_clause else_clause \
    statement_block foreach_statement for_statement for_initializer for_condition for_iterator \
    while_statement while_condition do_statement try_statement catch_clauses catch_clause catch_type_list \
    finally_clause flow_control_statement function_statement function_name function_parameter_declaration \
    parameter_list script_parameter script_parameter_default param_block script_block script_block_body \
    named_block_list named_block block_name attribute_list attribute attribute_name attribute_arguments \
    attribute_argument assignment_expression left_assignment_expression assignement_operator \
    logical_expression bitwise_expression comparison_expression comparison_operator additive_expression \
    multiplicative_expression format_expression format_operator range_expression array_literal_expression \
    unary_expression expression_with_unary_operator pre_increment_expression pre_decrement_expression \
    post_increment_expression post_decrement_expression cast_expression parenthesized_expression \
    sub_expression array_expression script_block_expression hash_literal_expression hash_literal_body \
    hash_entry key_expression member_access member_name element_access invokation_expression \
    invokation_foreach_expression argument_list argument_expression_list argument_expression \
    logical_argument_expression bitwise_argument_expression comparison_argument_expression \
    additive_argument_expression multiplicative_argument_expression format_argument_expression \
    range_argument_expression type_literal type_spec type_name type_identifier array_type_name \
    generic_type_name generic_type_arguments dimension integer_literal decimal_integer_literal \
    hexadecimal_integer_literal real_literal string_literal expandable_string_literal \
    verbatim_string_characters expandable_here_string_literal verbatim_here_string_characters \
    variable braced_variable simple_name";

/// Places whose text is read anew by `lex`.
const WORDS: [&str; 8] = [
    "command",
    "command_name",
    "command_name_expr",
    "command_elements",
    "redirection",
    "redirected_file_name",
    "expandable_string_literal",
    "expandable_here_string_literal",
];

/// Attributes that are no more than notes.
const ATTRIBUTES: [&str; 7] = [
    "parameter",
    "cmdletbinding",
    "alias",
    "validate",
    "allow",
    "outputtype",
    "supportswildcards",
];

/// Variables that change what commands do.
const VARIABLES: [&str; 4] = [
    "psdefaultparametervalues",
    "executioncontext",
    "psmoduleautoloadingpreference",
    "ofs",
];

/// Scopes, which are no drives.
const SCOPES: [&str; 6] = ["global", "local", "private", "script", "using", "env"];

/// Commands that set variables, or may.
const SETTERS: [&str; 16] = [
    "set-variable",
    "sv",
    "set",
    "new-variable",
    "nv",
    "clear-variable",
    "clv",
    "remove-variable",
    "rv",
    "invoke-expression",
    "iex",
    "import-module",
    "ipmo",
    "invoke-history",
    "r",
    "ihy",
];

/// Starts of parameters that name a variable to set.
const VARIABLE_PARAMETERS: [&str; 11] = [
    "-va",
    "-ov",
    "-outv",
    "-pv",
    "-pi",
    "-ev",
    "-errorv",
    "-wv",
    "-warningv",
    "-iv",
    "-inf",
];

/// Commands that change where the shell stands.
const MOVERS: [&str; 8] = [
    "set-location",
    "push-location",
    "pop-location",
    "sl",
    "cd",
    "chdir",
    "pushd",
    "popd",
];

/// What is known of a whole text before it is followed.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Where each group in brackets that starts at a place ends.
    pub groups: BTreeMap<usize, usize>,
    /// Where each value with members, indexes or calls behind it that starts at a place ends.
    pub chains: BTreeMap<usize, usize>,
    /// The strings.
    pub strings: Vec<Range<usize>>,
    /// What is not understood.
    pub unknown: Vec<Unknown>,
    /// How often each variable is set.
    pub set: BTreeMap<String, usize>,
    /// Whether variables may be set some other way.
    pub is_open: bool,
    /// The functions of the text.
    pub functions: BTreeSet<String>,
    /// Where commands stand that change the directory, but for those of the outermost list.
    pub movers: Vec<usize>,
    /// Where the tree is too deep to be followed.
    pub is_deep: bool,
}

/// Makes a tree of `text`, unless that takes too long.
pub(crate) fn parse(text: &str) -> Option<Tree> {
    let masked = masked(text);
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_powershell::LANGUAGE.into())
        .ok()?;
    let mut reports = 0_usize;
    let mut watch = |_: &ParseState| {
        reports += 1;
        if reports > REPORTS_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let bytes = masked.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(options),
    )
}

/// The text in spellings of the same length that the grammar takes: blanks for tabs, `.\` for `./` where a
/// word starts, and a letter for the `$` of `$HOME/x` where an argument may start. Words are read from the
/// text itself, so that what the grammar then takes for another thing is seen to end elsewhere.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ['\n', '\n'];
    for (at, c) in text.char_indices() {
        let starts =
            before[1] == '.' && (before[0].is_whitespace() || "(){};|&".contains(before[0]));
        out.push(match c {
            '\t' => ' ',
            '/' if starts => '\\',
            '$' if is_start_of_path(text, at) => 'x',
            c => c,
        });
        before = [before[1], c];
    }
    out
}

/// Whether a variable starts at `at` that is an argument and the first part of a path.
fn is_start_of_path(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let end = rest.get(1..).map(|it| it.trim_start_matches(is_name));
    let word = before.trim_end_matches(' ');
    let last = word.chars().next_back();
    let follows_word = word.len() < before.len()
        && last.is_some_and(|c| c.is_alphanumeric() || "'\"-_".contains(c));
    follows_word && end.is_some_and(|it| it.starts_with(['/', '\\']))
}

/// Characters that PowerShell reads as others, or that the grammar reads otherwise.
pub(crate) fn odd_characters(text: &str) -> Vec<Unknown> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let what = match c {
            '\t' | '\n' => continue,
            '\r' if chars.peek().is_some_and(|&(_, next)| next == '\n') => continue,
            '\u{2018}'..='\u{201e}' => "a quote that is not the plain one",
            '\u{2013}'..='\u{2015}' => "a dash that is not the plain one",
            c if c.is_control() => "a control character",
            c if c != ' ' && c.is_whitespace() => "a blank that is not the plain one",
            '\u{feff}' | '\u{2060}' | '\u{200b}' => "a character that takes no room",
            _ => continue,
        };
        found.push(Unknown {
            range: at..at + c.len_utf8(),
            what: what.into(),
        });
    }
    found
}

/// The name of a variable in lower case, without `$`, braces and scope; `None` where it is a drive or odd.
pub(crate) fn variable_name(text: &str) -> Option<String> {
    let text = text.trim_start().trim_start_matches(['$', '@']);
    let text = text
        .strip_prefix('{')
        .and_then(|it| it.strip_suffix('}'))
        .unwrap_or(text);
    let text = text.to_ascii_lowercase();
    let (scope, name) = text.split_once(':').unwrap_or(("", &text));
    let is_plain = |it: &str| it.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !(is_plain(name) || matches!(name, "$" | "^" | "?")) {
        return None;
    }
    match scope {
        "" => Some(name.to_owned()),
        // A program of Windows has variables with brackets in their names; those are left out.
        "env" => Some(format!("env:{name}")),
        scope if SCOPES.contains(&scope) => Some(name.to_owned()),
        _ => None,
    }
}

/// The text of a node.
pub(crate) fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The children of a node.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Goes through a whole tree.
pub(crate) fn survey(tree: &Tree, text: &str, levels: usize) -> Survey {
    let kinds: BTreeSet<&str> = KINDS.split_whitespace().collect();
    let mut surveyor = Surveyor {
        text,
        kinds,
        found: Survey::default(),
    };
    surveyor.found.is_open = text.to_ascii_lowercase().contains("variable:");
    let root = tree.root_node();
    surveyor.gap(0..root.start_byte());
    surveyor.gap(root.end_byte()..text.len());
    let mut cursor = tree.walk();
    let mut parents: Vec<Node<'_>> = Vec::new();
    loop {
        let node = cursor.node();
        surveyor.node(node, &parents);
        if parents.len() + levels >= LEVELS_MAX {
            surveyor.unknown(node.byte_range(), "nesting that is too deep");
            surveyor.found.is_deep = true;
            return surveyor.found;
        }
        if cursor.goto_first_child() {
            parents.push(node);
            continue;
        }
        if !advance(&mut cursor, &mut parents) {
            return surveyor.found;
        }
    }
}

/// Goes to the next node that is not below this one.
fn advance(cursor: &mut TreeCursor<'_>, parents: &mut Vec<Node<'_>>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        parents.pop();
    }
    true
}

struct Surveyor<'t> {
    text: &'t str,
    kinds: BTreeSet<&'static str>,
    found: Survey,
}

impl Surveyor<'_> {
    fn unknown(&mut self, range: Range<usize>, what: impl Into<Cow<'static, str>>) {
        self.found.unknown.push(Unknown {
            range,
            what: what.into(),
        });
    }

    /// Between two nodes stands nothing but blanks.
    fn gap(&mut self, range: Range<usize>) {
        let gap = self.text.get(range.clone()).unwrap_or_default();
        let gap = gap.replace("`\r\n", "").replace("`\n", "");
        if !gap.trim().is_empty() {
            self.unknown(range, "text that is not understood");
        }
    }

    fn node(&mut self, node: Node<'_>, parents: &[Node<'_>]) {
        let (kind, range) = (node.kind(), node.byte_range());
        if node.is_error() || node.is_missing() {
            return self.unknown(range, "text that is not understood");
        }
        if !node.is_named() {
            return;
        }
        if !self.kinds.contains(kind) {
            self.unknown(
                range.clone(),
                format!("a `{kind}`, which is not followed").replace('_', " "),
            );
        }
        let parent = parents.last().copied();
        let is_words = WORDS.contains(&kind);
        let nodes = children(node);
        if !is_words && !nodes.is_empty() {
            let mut end = range.start;
            for child in &nodes {
                self.gap(end..child.start_byte().max(end));
                end = child.end_byte();
            }
            self.gap(end..range.end.max(end));
        }
        let text = source(node, self.text);
        match kind {
            "sub_expression"
            | "parenthesized_expression"
            | "array_expression"
            | "script_block_expression"
            | "hash_literal_expression"
            | "argument_list" => {
                let blanks = text.len() - text.trim_start().len();
                self.found.groups.insert(range.start + blanks, range.end);
            }
            "member_access" | "element_access" => self.chain(&range),
            "invokation_expression" => {
                self.chain(&range);
                self.call(node, &nodes);
            }
            "string_literal" => {
                let blanks = text.len() - text.trim_start().len();
                self.found.strings.push(range.start + blanks..range.end);
            }
            "comment" => self.comment(&range, text),
            "type_literal" => self.type_literal(&range, text, parent),
            "attribute" => self.attribute(&range, text, &nodes),
            "variable" => self.variable(&range, text, parents),
            "left_assignment_expression" => self.target(&range, text),
            "function_name" => {
                self.found
                    .functions
                    .insert(text.trim().to_ascii_lowercase());
            }
            "command_invokation_operator" if text.trim() == "." => self.found.is_open = true,
            "command_name" | "command_name_expr" => self.name(range.start, text, parents),
            "command_parameter" => {
                let text = text.to_ascii_lowercase().replace('`', "");
                self.found.is_open |= VARIABLE_PARAMETERS.iter().any(|it| text.starts_with(it));
            }
            _ => {}
        }
        // The arguments of a call that the grammar took for an argument of the command.
        if kind == "argument_list" && parent.is_some_and(|it| it.kind() == "command_elements") {
            self.unknown(range, "a call of a method");
        }
    }

    fn chain(&mut self, range: &Range<usize>) {
        let end = self.found.chains.entry(range.start).or_default();
        *end = range.end.max(*end);
    }

    /// A call of a method.
    fn call(&mut self, node: Node<'_>, nodes: &[Node<'_>]) {
        let [on, _, name, ..] = nodes else { return };
        let member = source(*name, self.text).to_ascii_lowercase();
        let on_text = source(*on, self.text).trim().to_ascii_lowercase();
        let called = if on.kind() == "type_literal" {
            format!("{on_text}::{member}")
        } else {
            member
        };
        if !data::is_plain_method(&called) {
            self.unknown(
                node.byte_range(),
                "a call of a method, which can do anything",
            );
        }
    }

    fn comment(&mut self, range: &Range<usize>, text: &str) {
        let before = self.text.get(..range.start).unwrap_or_default();
        let starts_token = before
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || "(){};,|&=".contains(c));
        let ends_once = !text.trim_start().starts_with("<#")
            || text.find("#>").is_some_and(|at| at + 2 == text.len());
        if !starts_token || !ends_once {
            self.unknown(range.clone(), "a comment that may end elsewhere");
        }
    }

    /// A type to which something is turned.
    fn type_literal(&mut self, range: &Range<usize>, text: &str, parent: Option<Node<'_>>) {
        let is_name_only = parent.is_some_and(|it| {
            matches!(
                it.kind(),
                "member_access" | "invokation_expression" | "catch_type_list"
            )
        });
        let name = text.trim().to_ascii_lowercase();
        let name = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        if !is_name_only && !name.is_some_and(data::is_plain_type) {
            self.unknown(range.clone(), "a type that can do anything when it is made");
        }
    }

    fn attribute(&mut self, range: &Range<usize>, text: &str, nodes: &[Node<'_>]) {
        if matches!(nodes, [only] if only.kind() == "type_literal") {
            return;
        }
        let name = text
            .trim_start_matches('[')
            .trim_start()
            .to_ascii_lowercase();
        if !ATTRIBUTES.iter().any(|it| name.starts_with(it)) {
            self.unknown(range.clone(), "an attribute that can do anything");
        }
    }

    fn variable(&mut self, range: &Range<usize>, text: &str, parents: &[Node<'_>]) {
        let text = text.trim();
        self.found.is_open |= text.starts_with('@');
        let Some(name) = variable_name(text) else {
            return self.unknown(range.clone(), "a variable that is on a drive");
        };
        if VARIABLES.contains(&name.as_str()) {
            self.unknown(
                range.clone(),
                format!("`${name}`, which changes what commands do"),
            );
        }
        let is_set = parents
            .iter()
            .rev()
            .take_while(|it| it.kind() != "command")
            .any(|it| {
                matches!(
                    it.kind(),
                    "left_assignment_expression"
                        | "foreach_statement"
                        | "script_parameter"
                        | "post_increment_expression"
                        | "post_decrement_expression"
                        | "pre_increment_expression"
                        | "pre_decrement_expression"
                        | "cast_expression"
                )
            });
        if is_set {
            *self.found.set.entry(name).or_default() += 1;
        }
    }

    /// What is assigned to: a variable, several, or an entry of one.
    fn target(&mut self, range: &Range<usize>, text: &str) {
        let is_member = text.contains('.') || text.contains("::");
        if is_member {
            self.unknown(
                range.clone(),
                "a property that is set, which can do anything",
            );
        }
    }

    fn name(&mut self, at: usize, text: &str, parents: &[Node<'_>]) {
        let name = text.trim().trim_matches(['\'', '"']).to_ascii_lowercase();
        let base = name.rsplit('\\').next().unwrap_or(&name);
        let is_odd = name.contains(['`', '"', '\'']);
        self.found.is_open |= is_odd || SETTERS.contains(&base);
        let is_top = matches!(
            parents,
            [_, list, pipeline, chain, command]
                if list.kind() == "statement_list" && pipeline.kind() == "pipeline"
                    && chain.kind() == "pipeline_chain" && command.kind() == "command"
        );
        if !is_top && is_mover(&name) {
            self.found.movers.push(at);
        }
    }
}

/// Whether the command, in lower case, changes where the shell stands. A name with an escape in it may.
pub(crate) fn is_mover(name: &str) -> bool {
    let name = name.rsplit('\\').next().unwrap_or(name);
    MOVERS.contains(&name) || name.contains(['`', '"', '\''])
}
