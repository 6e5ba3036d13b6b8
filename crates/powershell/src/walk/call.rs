//! Follows commands. It must not know what a cmdlet or a program does: that is told by `apply` and `command`.

use std::ops::Range;

use command::{Class, Line, Mode, Opaque, Simple, Touch, Word, WordKind};
use tree_sitter::Node;

use super::{Moved, Start, Walker, read_at};
use crate::apply::{Effects, Flow, Move, apply};
use crate::cmd;
use crate::data::{self, Cmdlet, Nature};
use crate::lex::{Argument, Lexer, Piece, Redirected, Value};
use crate::line::{append, graft};
use crate::path::{View, path};
use crate::program::{self, Inner};
use crate::tree::{children, source};

/// Words that are no commands where a command would stand.
const KEYWORDS: &str = "begin break catch clean class configuration continue data define do dynamicparam else \
    elseif end enum exit filter finally for from function hidden if in inlinescript parallel param process \
    return sequence static switch throw trap try until using var while workflow";

/// A command with its words.
struct Call {
    range: Range<usize>,
    name: Value,
    arguments: Vec<Argument>,
    redirects: Vec<Redirected>,
    /// `--%`: the rest is handed over as it is.
    verbatim: Option<Range<usize>>,
    /// `.`: it runs in the shell itself.
    is_sourced: bool,
    /// `&` or `.` stands before it.
    is_invoked: bool,
}

impl Walker<'_> {
    /// Follows a command. Returns what it hands on through the pipeline.
    pub(super) fn command(&mut self, node: Node<'_>, is_top: bool, flow: &Flow) -> Flow {
        self.visit_all(node, false);
        let range = node.byte_range();
        let text = source(node, self.text).trim_end();
        let blanks = text.len() - text.trim_start().len();
        let range = range.start + blanks..range.start + text.len();
        if !self.burn(1 + text.len() / 64, &range) {
            return Flow::Unknown;
        }
        let Some(call) = self.words(node, range) else {
            return Flow::Unknown;
        };
        // Variables may have made them longer than they are written.
        let values = call.arguments.iter().flat_map(|it| &it.values);
        let len: usize = values.map(|it| it.word.text.len()).sum();
        if !self.burn(len / 64, &call.range) {
            return Flow::Unknown;
        }
        let flow = self.call(&call, flow);
        if self.moved.is_some() && !is_top {
            // It may run any number of times, or in a shell of its own.
            self.moved = None;
            self.places = None;
        }
        flow
    }

    /// Uses up `amount` of what may be followed. Returns whether there was enough.
    fn burn(&mut self, amount: usize, range: &Range<usize>) -> bool {
        let is_enough = self.budget.burn(amount);
        if !is_enough && !self.is_over {
            self.is_over = true;
            self.unknown(range.clone(), "more than is followed");
        }
        is_enough
    }

    /// Reads the words of a command anew. They must end where the grammar says.
    fn words(&mut self, node: Node<'_>, range: Range<usize>) -> Option<Call> {
        let operator = children(node)
            .into_iter()
            .find(|it| it.kind() == "command_invokation_operator");
        let mut lexer = Lexer::new(self.text, range.start, self.survey, self);
        let is_sourced = operator.is_some_and(|it| source(it, self.text).trim() == ".");
        if operator.is_some() {
            lexer.at += 1;
            lexer.blanks();
        }
        let mut name = lexer.value();
        if name.word.text == "?" && name.is_bare {
            // The short name, and no pattern.
            name.word.kind = WordKind::Literal;
        }
        let mut end = lexer.at;
        let pieces = lexer.pieces();
        let faults = std::mem::take(&mut lexer.faults);
        let (mut arguments, mut redirects, mut verbatim) = (Vec::new(), Vec::new(), None);
        for piece in pieces {
            match piece {
                Piece::Word(it) => {
                    end = it.range.end;
                    arguments.push(it);
                }
                Piece::Redirect(it) => {
                    end = it.range.end;
                    redirects.push(it);
                }
                Piece::Verbatim(it) => {
                    end = it.end;
                    verbatim = Some(it);
                }
            }
        }
        let is_whole =
            self.text.get(range.start..end).map(str::trim_end) == self.text.get(range.clone());
        if !is_whole || !faults.is_empty() {
            self.unknown(range.clone(), "a command whose words are not understood");
        }
        for (range, what) in faults {
            self.unknown(range, what);
        }
        let lower = name.word.text.to_ascii_lowercase();
        let is_invoked = operator.is_some();
        if !is_invoked {
            let is_number =
                |it: &str| !it.is_empty() && it.chars().all(|c| c.is_ascii_digit() || c == '.');
            if is_number(&lower) && arguments.is_empty() && redirects.is_empty() {
                return None;
            }
            let is_odd = !name.is_bare
                || is_number(&lower)
                || lower.is_empty()
                || KEYWORDS.split_whitespace().any(|it| it == lower);
            if is_odd {
                self.unknown(range.clone(), "a command that is not understood");
            }
        }
        Some(Call {
            range,
            name,
            arguments,
            redirects,
            verbatim,
            is_sourced,
            is_invoked,
        })
    }

    fn call(&mut self, call: &Call, flow: &Flow) -> Flow {
        if call.name.is_block && call.is_invoked {
            // The block is followed where it stands.
            for redirect in &call.redirects {
                self.redirect(redirect, None);
            }
            return Flow::Unknown;
        }
        let index = self.line.commands.len();
        let mut flow_on = Flow::Unknown;
        match Self::meaning(call) {
            Some((cmdlet, is_program)) => flow_on = self.cmdlet(call, cmdlet, is_program, flow),
            None => self.program(call),
        }
        let mut opaque = None;
        if !call.name.word.is_known() {
            opaque = Some((
                call.name.word.range.clone(),
                "the program is not written out",
            ));
        } else if call.is_sourced {
            opaque = Some((call.name.word.range.clone(), "it runs in the shell itself"));
        } else if let Some(range) = &call.verbatim {
            opaque = Some((range.clone(), "what follows `--%` is handed over as it is"));
        }
        let mut writes = false;
        let mut made = Vec::new();
        for redirect in &call.redirects {
            let (redirect, is_file) = self.redirect(redirect, Some(index));
            writes |= is_file;
            made.push(redirect);
        }
        let is_function = self
            .survey
            .functions
            .contains(&call.name.word.text.to_ascii_lowercase());
        let Some(own) = self.line.commands.get_mut(index) else {
            return flow_on;
        };
        own.redirects = made;
        if let Some((range, why)) = opaque {
            own.opaque.get_or_insert_with(|| Opaque {
                range,
                why: why.to_owned(),
            });
        }
        if writes || is_function || own.opaque.is_some() {
            own.class = own.class.max(Class::Ordinary);
        }
        // A function of the text may stand before the program.
        own.is_told &= own.opaque.is_none() && !is_function;
        if own.opaque.is_some() {
            self.forget();
        }
        flow_on
    }

    /// The command of the table that a name means, and whether it may also be a program.
    fn meaning(call: &Call) -> Option<(&'static Cmdlet, bool)> {
        let word = &call.name.word;
        if !word.is_known() || call.is_sourced {
            return None;
        }
        let lower = word.text.to_ascii_lowercase();
        // `Module\Command`.
        let base = match lower.rsplit_once('\\') {
            Some((module, base))
                if !module.contains([':', '/', '\\']) && !module.starts_with(['.', '~']) =>
            {
                base
            }
            Some(_) => return None,
            None => lower.as_str(),
        };
        if let Some(alias) = data::alias(base) {
            let cmdlet = data::command_of(&alias.command.to_ascii_lowercase())?;
            return Some((cmdlet, alias.is_program));
        }
        program::row(base).map(|it| (it, false))
    }

    /// The words of a cmdlet as rules see them.
    fn cmdlet_words(call: &Call, name: &str) -> Vec<Word> {
        let own = &call.name.word;
        let kind = if own.text == name {
            own.kind
        } else {
            WordKind::Known
        };
        let first = Word {
            text: name.to_owned(),
            kind,
            is_single: true,
            range: own.range.clone(),
        };
        let rest = call
            .arguments
            .iter()
            .map(|argument| match argument.values.as_slice() {
                [only] => only.word.clone(),
                values => Word {
                    range: argument.range.clone(),
                    text: values
                        .iter()
                        .map(|it| it.word.text.as_str())
                        .collect::<Vec<_>>()
                        .join(","),
                    kind: if values.iter().all(|it| it.word.is_known()) {
                        WordKind::Known
                    } else {
                        WordKind::Dynamic
                    },
                    is_single: true,
                },
            });
        std::iter::once(first).chain(rest).collect()
    }

    fn cmdlet(
        &mut self,
        call: &Call,
        cmdlet: &'static Cmdlet,
        is_program: bool,
        flow: &Flow,
    ) -> Flow {
        let index = self.line.commands.len();
        // A row by a verb is called as it is written.
        let name = if cmdlet.name.ends_with('*') {
            call.name.word.text.as_str()
        } else {
            cmdlet.name
        };
        let effects = apply(cmdlet, &call.name.word, &call.arguments, self.scene(), flow);
        let source = self.text.get(call.range.clone()).unwrap_or_default();
        let words = Self::cmdlet_words(call, name);
        let mut simple = Simple::of(call.range.clone(), source, words, self.directory());
        simple.class = effects.class;
        simple.opaque.clone_from(&effects.opaque);
        self.line.commands.push(simple);
        let other = is_program.then(|| self.read_program(call));
        let is_only_program = effects.is_faulty && cmdlet.class == Class::ReadOnly;
        if let Some(mut other) = other {
            self.join(index, &mut other, is_only_program);
        }
        let end = self.line.touches.len();
        for touched in &effects.touches {
            // What both would do is sure; what only one would is not.
            let is_same = |it: &&mut Touch| {
                it.by == Some(index) && it.path == touched.path && it.mode == touched.mode
            };
            let mut others = self.line.touches.iter_mut().take(end).rev();
            if is_program && let Some(same) = others.find(is_same) {
                same.is_certain = touched.is_certain;
                continue;
            }
            self.line.touches.push(Touch {
                path: touched.path.clone(),
                mode: touched.mode,
                is_certain: touched.is_certain && !is_program,
                range: touched.range.clone(),
                by: Some(index),
            });
        }
        for mut host in effects.hosts.iter().cloned() {
            host.by = Some(index);
            self.line.hosts.push(host);
        }
        self.inside(index, &effects);
        if let Some(to) = &effects.moves {
            self.moves(to);
        }
        if cmdlet.nature == Nature::Opaque && effects.opaque.is_some() {
            self.forget();
        }
        effects.flow
    }

    /// Adds what the program of the same name would do.
    fn join(&mut self, index: usize, other: &mut Line, is_only: bool) {
        let Some(first) = (!other.commands.is_empty()).then(|| other.commands.remove(0)) else {
            return;
        };
        if let Some(own) = self.line.commands.get_mut(index) {
            if is_only {
                own.words = first.words;
            }
            own.class = own.class.max(first.class);
            own.opaque = own.opaque.take().or(first.opaque);
        }
        for mut touch in std::mem::take(&mut other.touches) {
            if touch.by == Some(0) {
                touch.is_certain &= is_only;
                touch.by = Some(index);
                self.line.touches.push(touch);
            }
        }
        for mut host in std::mem::take(&mut other.hosts) {
            if host.by == Some(0) {
                host.by = Some(index);
                self.line.hosts.push(host);
            }
        }
        // None of these programs runs another by its words; where one does, that is told nowhere else.
        if !(other.commands.is_empty() && other.unknown.is_empty()) {
            let range = self.line.commands.get(index).map(|it| it.range.clone());
            self.unknown(range.unwrap_or_default(), "a program that runs another");
        }
    }

    /// Texts and programs that a cmdlet runs.
    fn inside(&mut self, index: usize, effects: &Effects) {
        for word in &effects.code {
            self.text_of(index, word, Kind::PowerShell);
        }
        if let [first, ..] = effects.program.as_slice() {
            let range = first.range.clone();
            let mut words = effects.program.clone();
            if let Some(first) = words.first_mut() {
                first.text = program::name(&first.text);
            }
            let line = program::read(self.text, &words, self.scene());
            graft(&mut self.line, line, index, &range);
        }
    }

    fn text_of(&mut self, index: usize, word: &Word, kind: Kind) {
        if !word.is_known() {
            // It is read nevertheless: something forbidden may stand in it.
            self.unknown(word.range.clone(), "a script that is not written out");
        }
        if !self.budget.read(&word.text) {
            return self.unknown(word.range.clone(), "more than is followed");
        }
        let start = Start {
            places: self.places.clone(),
            home: self.start.home.clone(),
            levels: self.levels,
            depth: self.start.depth + 1,
        };
        let line = match kind {
            Kind::PowerShell => read_at(&word.text, &start, self.budget),
            Kind::Cmd => cmd::read_at(&word.text, &start, self.budget),
        };
        graft(&mut self.line, line, index, &word.range);
    }

    fn moves(&mut self, to: &Move) {
        let to = match (to, self.places.as_deref()) {
            (Move::To(text), Some(places)) => {
                let found = places.iter().map(|place| {
                    let view = View {
                        directory: Some(place),
                        home: self.start.home.as_deref(),
                    };
                    match path(text, false, view) {
                        Some(command::TouchedPath::Exact(path)) => Some(path),
                        _ => None,
                    }
                });
                found.collect::<Option<Vec<String>>>()
            }
            (Move::To(text), None) => {
                let view = View {
                    directory: None,
                    home: self.start.home.as_deref(),
                };
                match path(text, false, view) {
                    Some(command::TouchedPath::Exact(path)) => Some(vec![path]),
                    _ => None,
                }
            }
            (Move::Unknown, _) => None,
        };
        self.moved = Some(Moved(to));
    }

    /// The words of a program of the machine.
    fn program_words(&self, call: &Call) -> Vec<Word> {
        let home = self.start.home.as_deref();
        let rest = call.arguments.iter().map(|it| program::word(it, home));
        std::iter::once(call.name.word.clone())
            .chain(rest)
            .collect()
    }

    fn read_program(&self, call: &Call) -> Line {
        program::read(self.text, &self.program_words(call), self.scene())
    }

    fn program(&mut self, call: &Call) {
        let index = self.line.commands.len();
        let words = self.program_words(call);
        let name = program::name(&call.name.word.text);
        let inner = program::inner(&name, words.get(1..).unwrap_or_default());
        if inner.is_some() {
            let source = self.text.get(call.range.clone()).unwrap_or_default();
            let simple = Simple::of(call.range.clone(), source, words, self.directory());
            self.line.commands.push(simple);
        } else {
            let line = program::read(self.text, &words, self.scene());
            append(&mut self.line, line);
        }
        let source = self.text.get(call.range.clone()).unwrap_or_default();
        if let Some(own) = self.line.commands.get_mut(index) {
            own.range = call.range.clone();
            source.clone_into(&mut own.source);
            if let Some(first) = own.words.first_mut()
                && first.is_known()
                && first.text != name
            {
                first.text = name;
                first.kind = WordKind::Known;
            }
        }
        if call.name.word.is_known() {
            for (path, mode) in program::own_file(&call.name.word, self.scene()) {
                self.line.touches.push(Touch {
                    path,
                    mode,
                    is_certain: true,
                    range: call.name.word.range.clone(),
                    by: Some(index),
                });
            }
        }
        match inner {
            None | Some(Inner::Nothing) => {}
            Some(Inner::PowerShell(word)) => self.text_of(index, &word, Kind::PowerShell),
            Some(Inner::Cmd(word)) => self.text_of(index, &word, Kind::Cmd),
            Some(Inner::File(word)) => self.script(index, &word),
            Some(Inner::Opaque(word, why)) => self.hide(index, &word, why),
        }
    }

    fn hide(&mut self, index: usize, word: &Word, why: &str) {
        if let Some(own) = self.line.commands.get_mut(index) {
            own.opaque.get_or_insert_with(|| Opaque {
                range: word.range.clone(),
                why: why.to_owned(),
            });
        }
    }

    /// A script that another shell runs.
    fn script(&mut self, index: usize, word: &Word) {
        if !word.is_known() {
            return self.hide(index, word, "the script that is run is not written out");
        }
        for (path, is_certain) in self.scene().paths(&word.text, false) {
            self.line.touches.push(Touch {
                path,
                mode: Mode::Read,
                is_certain,
                range: word.range.clone(),
                by: Some(index),
            });
        }
    }
}

/// What reads an inner text.
#[derive(Debug, Clone, Copy)]
enum Kind {
    PowerShell,
    Cmd,
}
