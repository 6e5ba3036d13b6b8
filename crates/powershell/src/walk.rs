//! Follows a tree in the order of running. It must not run anything, and must list what may run on any way through the text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use command::{
    Assignment, Class, Directory, Line, Mode, Opaque, Redirect, RedirectOp, Setting, Simple, Touch,
    TouchedPath, Unknown, Word, WordKind,
};
use tree_sitter::Node;

use crate::apply::{Flow, Scene};
use crate::lex::{Lexer, Redirected, Text, Variables};
use crate::line::{Budget, finish};
use crate::path::slashed;
use crate::tree::{self, Survey, children, source};

mod call;

/// Most directories a place in the text may be reached in.
const PLACES_MAX: usize = 4;

/// Longest value of a variable that is kept, in bytes.
const VALUE_BYTES_MAX: usize = 4096;

/// Deepest nesting of texts inside texts.
const TEXTS_MAX: usize = 8;

/// Tells what `text` runs, reads, writes and reaches, as PowerShell reads it. It is total: any text has an
/// answer, and what is not understood is listed in it. [`Setting::shell`] does not matter.
pub fn read(text: &str, setting: &Setting<'_>) -> Line {
    let mut line = read_at(
        text,
        &Start {
            places: Some(vec![slashed(setting.directory)]),
            home: setting.home.map(slashed),
            levels: 0,
            depth: 0,
        },
        &mut Budget::new(),
    );
    line.flagged = command::flagged(text);
    line
}

/// What is known where a text starts to run.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub places: Option<Vec<String>>,
    pub home: Option<String>,
    /// How deep in trees it stands.
    pub levels: usize,
    /// How deep in texts it stands.
    pub depth: usize,
}

pub(crate) fn whole(text: &str, what: &'static str) -> Line {
    Line {
        unknown: vec![Unknown {
            range: 0..text.len(),
            what: what.into(),
        }],
        ..Line::default()
    }
}

pub(crate) fn read_at(text: &str, start: &Start, budget: &mut Budget) -> Line {
    if text.len() > command::TEXT_BYTES_MAX {
        return whole(text, "text that is too long");
    }
    if start.depth > TEXTS_MAX {
        return whole(text, "nesting that is too deep");
    }
    let Some(parsed) = tree::parse(text) else {
        return whole(text, "text that takes too long to read");
    };
    let survey = tree::survey(&parsed, text, start.levels);
    let mut walker = Walker {
        text,
        start,
        survey: &survey,
        line: Line::default(),
        places: start.places.clone(),
        values: BTreeMap::new(),
        budget,
        moved: None,
        levels: start.levels,
        is_over: false,
    };
    walker.line.unknown = tree::odd_characters(text);
    walker.line.unknown.extend(survey.unknown.iter().cloned());
    walker.strings();
    walker.visit(parsed.root_node(), true);
    let mut line = walker.line;
    finish(&mut line);
    line
}

/// The directories a command went to; `None`: any.
struct Moved(Option<Vec<String>>);

struct Walker<'a> {
    text: &'a str,
    start: &'a Start,
    survey: &'a Survey,
    line: Line,
    /// The directories the shell may be in, the likely one first; `None`: any.
    places: Option<Vec<String>>,
    /// The variables whose values are known.
    values: BTreeMap<String, String>,
    budget: &'a mut Budget,
    /// Where the last command went, if it did.
    moved: Option<Moved>,
    levels: usize,
    /// There is more than is followed.
    is_over: bool,
}

impl Variables for Walker<'_> {
    fn value(&self, name: &str) -> Option<String> {
        if let Some(value) = self.values.get(name) {
            return Some(value.clone());
        }
        if self.survey.set.contains_key(name) || self.survey.is_open {
            return None;
        }
        match name {
            "true" => Some("True".to_owned()),
            "false" => Some("False".to_owned()),
            "null" => Some(String::new()),
            "home" | "env:home" | "env:userprofile" => self.start.home.clone(),
            "pwd" => match self.places.as_deref() {
                Some([only]) => Some(only.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Walker<'_> {
    fn unknown(&mut self, range: Range<usize>, what: impl Into<Cow<'static, str>>) {
        self.line.unknown.push(Unknown {
            range,
            what: what.into(),
        });
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            places: self.places.as_deref(),
            home: self.start.home.as_deref(),
        }
    }

    fn directory(&self) -> Directory {
        let first = self.places.as_deref().and_then(<[String]>::first);
        first.map_or(Directory::Unknown, |it| {
            Directory::Known(it.as_str().into())
        })
    }

    /// Nothing is known any more.
    fn forget(&mut self) {
        self.places = None;
        self.values.clear();
    }

    /// Each string ends where the grammar says it does.
    fn strings(&mut self) {
        let mut wrong = Vec::new();
        for string in &self.survey.strings {
            let mut lexer = Lexer::new(self.text, string.start, self.survey, self);
            lexer.quoted(&mut Text::default());
            if lexer.at != string.end || !lexer.faults.is_empty() {
                wrong.push(string.clone());
            }
        }
        for range in wrong {
            self.unknown(range, "a string that may end elsewhere");
        }
    }

    /// Follows a node. `is_top`: it surely runs, once, and in its order.
    fn visit(&mut self, node: Node<'_>, is_top: bool) {
        if self.levels >= tree::LEVELS_MAX || self.is_over {
            return;
        }
        self.levels += 1;
        match node.kind() {
            "program" => self.visit_all(node, is_top),
            "statement_list" => {
                for child in children(node) {
                    let range = child.byte_range();
                    let moves = |it: &usize| range.contains(it);
                    if is_top && self.survey.movers.iter().any(moves) {
                        self.places = None;
                    }
                    self.visit(child, is_top);
                }
            }
            "pipeline" => self.pipeline(node, is_top),
            "pipeline_chain" => self.chain(node, is_top),
            "assignment_expression" => self.assignment(node, is_top),
            "command" => {
                self.command(node, is_top, &Flow::Unknown);
            }
            "redirections" => self.redirections(node),
            _ => self.visit_all(node, false),
        }
        self.levels -= 1;
    }

    fn visit_all(&mut self, node: Node<'_>, is_top: bool) {
        for child in children(node) {
            self.visit(child, is_top);
        }
    }

    /// Pipelines with `&&` and `||` between them.
    fn pipeline(&mut self, node: Node<'_>, is_top: bool) {
        let nodes = children(node);
        let mut later: Vec<Option<Vec<String>>> = Vec::new();
        for (index, child) in nodes.iter().enumerate() {
            if child.kind() == "pipeline_chain_tail" {
                if source(*child, self.text).trim() == "||" {
                    for places in &later {
                        self.places = either(self.places.take(), places.clone());
                    }
                }
                continue;
            }
            let before = self.places.clone();
            self.visit(*child, is_top);
            let Some(Moved(to)) = self.moved.take() else {
                continue;
            };
            let next = nodes.get(index + 1).map(|it| source(*it, self.text).trim());
            match next {
                Some("&&") => {
                    self.places = to;
                    later.push(before);
                }
                Some("||") => {
                    self.places = before;
                    later.push(to);
                }
                _ => self.places = either(to, before),
            }
        }
        for places in later {
            self.places = either(self.places.take(), places);
        }
    }

    /// Commands with `|` between them.
    fn chain(&mut self, node: Node<'_>, is_top: bool) {
        let mut flow = Flow::First;
        let nodes = children(node);
        let count = nodes.iter().filter(|it| it.kind() == "command").count();
        for child in nodes {
            match child.kind() {
                "command" => flow = self.command(child, is_top && count == 1, &flow),
                "|" => {}
                _ => {
                    self.visit(child, false);
                    flow = Flow::Unknown;
                }
            }
        }
    }

    /// `$name = ..`, which is remembered, or `$env:NAME = ..`, which is a command of its own.
    fn assignment(&mut self, node: Node<'_>, is_top: bool) {
        let nodes = children(node);
        let [left, operator, value, ..] = nodes.as_slice() else {
            return self.visit_all(node, false);
        };
        self.visit(*left, false);
        self.visit(*value, false);
        let target = source(*left, self.text).trim();
        let is_variable = target.starts_with('$')
            && target
                .chars()
                .skip(1)
                .all(|c| c.is_alphanumeric() || "_:{}".contains(c));
        let Some(name) = tree::variable_name(target).filter(|_| is_variable) else {
            return;
        };
        let value = self.plain(*value);
        let replaces = source(*operator, self.text).trim() == "=";
        if name.starts_with("env:") {
            // The name as it is written: it is case-sensitive where programs look it up.
            let own = target.rsplit(':').next().unwrap_or_default();
            return self.environment(node.byte_range(), own.trim_end_matches('}'), value);
        }
        let is_once = self.survey.set.get(&name) == Some(&1) && !self.survey.is_open;
        if let (Some(value), true) = (value.filter(Word::is_known), is_top && is_once && replaces)
            && value.text.len() <= VALUE_BYTES_MAX
            && !is_automatic(&name)
        {
            self.values.insert(name, value.text);
        }
    }

    /// The value that is assigned, where it is one string or number.
    fn plain(&self, node: Node<'_>) -> Option<Word> {
        let mut node = node;
        while !matches!(node.kind(), "string_literal" | "integer_literal") {
            let nodes = children(node);
            let [only] = nodes.as_slice() else {
                return None;
            };
            node = *only;
        }
        let range = node.byte_range();
        let text = source(node, self.text);
        let start = range.start + text.len() - text.trim_start().len();
        if node.kind() == "integer_literal" {
            let text = text.trim();
            let is_plain = text.bytes().all(|it| it.is_ascii_digit());
            return is_plain.then(|| Word::literal(text, start..range.end));
        }
        let mut lexer = Lexer::new(self.text, start, self.survey, self);
        let value = lexer.value();
        let is_whole = value.word.range.end == range.end && lexer.faults.is_empty();
        is_whole.then_some(value.word)
    }

    fn environment(&mut self, range: Range<usize>, name: &str, value: Option<Word>) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let upper = name.to_ascii_uppercase();
        let is_dangerous = command::is_dangerous_variable(name)
            || command::is_dangerous_variable(&upper)
            || matches!(
                upper.as_str(),
                "PSMODULEPATH" | "PATHEXT" | "COMSPEC" | "SYSTEMROOT" | "WINDIR"
            );
        let value = value.unwrap_or_else(|| Word {
            range: range.clone(),
            text: text.to_owned(),
            kind: WordKind::Dynamic,
            is_single: true,
        });
        let mut simple = Simple::of(range.clone(), text, Vec::new(), self.directory());
        simple.class = Class::ReadOnly;
        if is_dangerous {
            simple.class = Class::Ordinary;
            simple.opaque = Some(Opaque {
                range: range.clone(),
                why: format!("setting `{name}` changes what programs do"),
            });
        }
        simple.assignments.push(Assignment {
            range,
            name: name.to_owned(),
            value,
        });
        self.line.commands.push(simple);
    }

    /// Redirects of an expression.
    fn redirections(&mut self, node: Node<'_>) {
        self.visit_all(node, false);
        let range = node.byte_range();
        let mut lexer = Lexer::new(self.text, range.start, self.survey, self);
        let mut redirects = Vec::new();
        loop {
            lexer.blanks();
            match lexer.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        let faults = std::mem::take(&mut lexer.faults);
        let is_whole = redirects.last().is_some_and(|it| it.range.end == range.end);
        for (range, what) in faults {
            self.unknown(range, what);
        }
        if !is_whole {
            self.unknown(range, "a redirect that is not understood");
        }
        for redirect in redirects {
            self.redirect(&redirect, None);
        }
    }

    /// Notes what a redirect writes. Returns it as the line has it, and whether it writes a file.
    fn redirect(&mut self, redirect: &Redirected, by: Option<usize>) -> (Redirect, bool) {
        let word = &redirect.target.word;
        let mut writes = false;
        if redirect.op != RedirectOp::Duplicate {
            let paths = if word.kind == WordKind::Dynamic {
                let why = format!("the value of `{}` is not known", word.text);
                vec![(TouchedPath::Unknown(why), true)]
            } else {
                self.scene().paths(&word.text, false)
            };
            writes = !paths.is_empty();
            for (path, is_certain) in paths {
                self.line.touches.push(Touch {
                    path,
                    mode: Mode::Write,
                    is_certain,
                    range: redirect.range.clone(),
                    by,
                });
            }
        }
        let made = Redirect {
            range: redirect.range.clone(),
            fd: redirect.fd,
            op: redirect.op,
            target: word.clone(),
        };
        (made, writes)
    }
}

/// Either of two sets of directories.
fn either(one: Option<Vec<String>>, other: Option<Vec<String>>) -> Option<Vec<String>> {
    let (mut all, other) = (one?, other?);
    for place in other {
        if !all.contains(&place) {
            all.push(place);
        }
    }
    (all.len() <= PLACES_MAX).then_some(all)
}

/// Whether PowerShell itself sets the variable.
fn is_automatic(name: &str) -> bool {
    matches!(
        name,
        "_" | "$"
            | "^"
            | "?"
            | "args"
            | "error"
            | "event"
            | "foreach"
            | "home"
            | "input"
            | "lastexitcode"
            | "matches"
            | "myinvocation"
            | "null"
            | "pid"
            | "profile"
            | "pwd"
            | "switch"
            | "this"
            | "true"
            | "false"
            | "psitem"
    )
}
