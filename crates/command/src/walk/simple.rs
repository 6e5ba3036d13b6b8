//! Follows simple commands. It must not know what a program does: that is the effect's to tell.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::control::Failure;
use super::printed::takes_names;
use super::state::{State, Stdin, Value};
use super::{Frame, Walker};
use crate::effect::{self, Inner, Input};
use crate::line::{
    Assignment, Class, Directory, Mode, Opaque, Redirect, RedirectOp, Shell, Simple, Touch, Via,
    Word, WordKind,
};
use crate::spelling::changes_lookup;
use crate::syntax::{self, Command, PartKind};

/// What a simple command is made of, with the values of its words.
#[derive(Debug)]
pub(super) struct Parts {
    pub range: Range<usize>,
    pub source: String,
    pub words: Vec<Word>,
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    pub via: Option<Via>,
}

/// Commands of zsh that change how the rest of the line is read.
const ZSH_ONLY: [&str; 20] = [
    "-",
    "always",
    "autoload",
    "emulate",
    "end",
    "foreach",
    "functions",
    "nocorrect",
    "noglob",
    "print",
    "repeat",
    "sched",
    "vared",
    "zargs",
    "zcompile",
    "zle",
    "zmodload",
    "zpty",
    "zsocket",
    "ztcp",
];

/// Whether the subscript of a variable holds a command.
fn has_subscript(text: &str) -> bool {
    let mut parts = text.split('[').skip(1);
    text.contains(['$', '`']) && parts.any(|part| part.contains("$(") || part.contains('`'))
}

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        frame: &Rc<Frame>,
        command: &Command,
        simple: &syntax::Simple,
        state: &mut State,
    ) -> Failure {
        let range = frame.range(&command.range);
        let source = frame.source(&command.range);
        if !self.burn(1 + source.len() / 64, &range) {
            return None;
        }
        let words = self.words(frame, &simple.words, state);
        self.burn(
            words.iter().map(|word| word.text.len() + 16).sum::<usize>() / 64,
            &range,
        );
        let (touches, hosts) = (self.line.touches.len(), self.line.hosts.len());
        let redirects = self.redirects(frame, &command.redirects, state);
        let mut assignments = Vec::with_capacity(simple.assignments.len());
        let is_command = !words.is_empty();
        let mut values = Vec::new();
        for assignment in &simple.assignments {
            let (made, value) = self.assignment(frame, assignment, state);
            if made.name == "IFS" && !self.is_dangerous(&made, &words, &Directory::Unknown) {
                // It holds for this command alone.
            } else if is_command {
                // Whether those behind it see it depends on the shell.
                state.set(&made.name, Value::Unknown);
                values.push((made.name.clone(), value));
            } else {
                state.set(&made.name, value);
            }
            assignments.push(made);
        }
        let names: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
        for (name, value) in values {
            state.set(&name, value);
        }
        if words.is_empty() && assignments.is_empty() {
            state.stdin = Stdin::Unknown;
            return None;
        }
        // What substitutions in it run comes before it, so its place is known only now.
        let index = self.line.commands.len();
        let is_own = |range: &Range<usize>| {
            let order = |it: &Redirect| it.range.start.cmp(&range.start);
            redirects.binary_search_by(order).is_ok()
        };
        for touch in self.line.touches.iter_mut().skip(touches) {
            if touch.by.is_none() && is_own(&touch.range) {
                touch.by = Some(index);
            }
        }
        for host in self.line.hosts.iter_mut().skip(hosts) {
            if host.by.is_none() && is_own(&host.range) {
                host.by = Some(index);
            }
        }
        let alias = simple
            .words
            .first()
            .filter(|_| !self.aliases.is_empty())
            .and_then(|word| Some((word.plain(&frame.text)?, word.range.end)))
            .filter(|(name, _)| self.aliases.contains_key(name.as_ref()));
        let before = alias.is_some().then(|| state.clone());
        let parts = Parts {
            range: range.clone(),
            source: source.to_owned(),
            words,
            assignments,
            redirects,
            via: frame.via.clone(),
        };
        let failure = self.run(parts, state);
        // Whether they stay set depends on the shell and on the command.
        for name in names {
            state.set(&name, Value::Unknown);
        }
        if let (Some((name, end)), Some(mut before)) = (alias, before) {
            let rest = frame.source(&(end..command.range.end)).to_owned();
            self.alias(&name, &rest, &range, index, &mut before);
            state.merge(&before);
        }
        // It may have read some of it, or `exec` may have put something else there.
        state.stdin = Stdin::Unknown;
        failure
    }

    fn assignment(
        &mut self,
        frame: &Rc<Frame>,
        assignment: &syntax::Assignment,
        state: &mut State,
    ) -> (Assignment, Value) {
        if let Some(subscript) = &assignment.subscript {
            self.arithmetic(frame, subscript, state);
        }
        let is_array = matches!(
            &*assignment.value.parts,
            [part] if matches!(part.kind, PartKind::Array(_))
        );
        let (word, value) = self.value(frame, &assignment.value, state);
        let value = if is_array || !assignment.replaces() {
            Value::Unknown
        } else {
            value
        };
        let value = match (&value, state.variable(&assignment.name)) {
            (Value::Unknown, Some(Value::Text(old)))
                if assignment.subscript.is_none() && !is_array && word.is_known() =>
            {
                Value::text(&format!("{old}{}", word.text))
            }
            _ => value,
        };
        let made = Assignment {
            range: frame.range(&assignment.range),
            name: assignment.name.clone(),
            value: word,
        };
        (made, value)
    }

    /// Whether `name` means the program, and nothing that the line made of it.
    pub(super) fn is_program(&self, name: &str) -> bool {
        !self.functions.contains_key(name)
            && !self.aliases.contains_key(name)
            && !self.remembered.contains_key(name)
    }

    /// Whether the assignment changes what is run. Blanks that are set for a builtin which reads a line
    /// are its own.
    fn is_dangerous(&self, it: &Assignment, words: &[Word], at: &Directory) -> bool {
        changes_lookup(it, words, at)
            || it.name == "IFS" && !words.first().is_some_and(|it| self.is_program(&it.text))
    }

    /// Follows the programs that `hash -p` put in the place of the first of these words.
    fn remembered(
        &mut self,
        name: &str,
        arguments: &[Word],
        range: &Range<usize>,
        index: usize,
        state: &mut State,
    ) {
        let paths = self.remembered.get(name).cloned().unwrap_or_default();
        for path in paths {
            let mut words = vec![Word::literal(&*path, range.clone())];
            words.extend_from_slice(arguments);
            let via = Via {
                command: index,
                is_local: self.is_local,
                is_named: false,
            };
            let mut inner = state.clone();
            self.deeper(range, |it| {
                it.inner_words(words, false, &[], range, via, &mut inner);
            });
        }
    }

    /// Notes a command that runs, and follows what it does.
    pub(super) fn run(&mut self, parts: Parts, state: &mut State) -> Failure {
        let index = self.line.commands.len();
        let Parts {
            range,
            source,
            words,
            assignments,
            redirects,
            via,
        } = parts;
        let directory = match state.places.as_deref() {
            Some([place, ..]) => Directory::Known(Arc::clone(place)),
            Some([]) | None => Directory::Unknown,
        };
        let dangerous = assignments
            .iter()
            .find(|it| self.is_dangerous(it, &words, &directory));
        let mut opaque = dangerous.map(|it| Opaque {
            range: it.range.clone(),
            why: format!("setting `{}` changes what programs do", it.name),
        });
        let mut effects = effect::of(&words, &directory);
        let moves = effect::moves(&words);
        if words.is_empty() {
            effects.is_told = true;
            if dangerous.is_none() {
                effects.class = Class::ReadOnly;
            }
        } else if let Some([_, others @ ..]) = state.places.as_deref()
            && !effects.touches.is_empty()
        {
            for place in others {
                let other = effect::of(&words, &Directory::Known(Arc::clone(place)));
                // One of the files is touched, so each counts as much as if it were the only one.
                effects.touches.extend(other.touches);
            }
            // Where each stands behind the one before, none is there twice.
            let place = |it: &Touch| (it.range.start, it.mode == Mode::Write);
            if !effects.touches.is_sorted_by(|a, b| place(a) < place(b)) {
                effect::unique(&mut effects.touches);
            }
        }
        let stdin = redirects_stdin(&redirects).unwrap_or_else(|| state.stdin.clone());
        let found = match &stdin {
            Stdin::Names(patterns) if takes_names(&words) => Some(Rc::clone(patterns)),
            Stdin::Names(_) | Stdin::Text(..) | Stdin::Unknown => None,
        };
        let script = match (effects.input, stdin) {
            (Input::Data, _) => None,
            (Input::Script, Stdin::Text(text, place)) => Some((text, place)),
            (Input::Script | Input::Code, _) => {
                effects.opaque.get_or_insert_with(|| Opaque {
                    range: words.first().map_or(range.clone(), |it| it.range.clone()),
                    why: "it runs what stands on its standard input".to_owned(),
                });
                None
            }
        };
        opaque = opaque.or(effects.opaque.take());
        let name = words.first().filter(|word| word.is_known());
        let name = name.map(|word| word.text.as_str());
        if self.shell == Shell::Zsh && name.is_some_and(|name| ZSH_ONLY.contains(&name)) {
            self.unknown(range.clone(), "a word that zsh reads otherwise");
        }
        if self.shell == Shell::Zsh && words.iter().skip(1).any(|word| has_subscript(&word.text)) {
            self.unknown(range.clone(), "a subscript, whose code zsh may run");
        }
        let mut class = effects.class;
        if !redirects.is_empty() && redirects.iter().any(Redirect::may_write) {
            class = class.max(Class::Ordinary);
        }
        let is_shadowed = name.is_some_and(|name| !self.is_program(name));
        if is_shadowed || opaque.is_some() || redirects.iter().any(Redirect::shows_variable) {
            class = class.max(Class::Ordinary);
        }
        let is_told = effects.is_told
            && opaque.is_none()
            && !is_shadowed
            && self.is_local
            && redirects.iter().all(Redirect::is_told);
        if self.is_local {
            let by = Some(index);
            let touches = effects.touches.into_iter();
            self.line
                .touches
                .extend(touches.map(|it| Touch { by, ..it }));
        }
        for mut host in std::mem::take(&mut effects.hosts) {
            host.by = Some(index);
            self.line.hosts.push(host);
        }
        let is_followed = is_shadowed || name.is_some_and(super::builtin::changes_shell);
        let followed = name.filter(|_| is_followed).map(str::to_owned);
        // It may be a builtin that cannot be told.
        let is_hidden = name.is_none() && !words.is_empty();
        let arguments = match &followed {
            Some(_) => words.get(1..).unwrap_or_default().to_vec(),
            None => Vec::new(),
        };
        let sets: Vec<Word> = match effects.inner.as_slice() {
            [] => Vec::new(),
            _ => assignments.iter().map(assigned).collect(),
        };
        self.line.commands.push(Simple {
            range: range.clone(),
            source,
            words,
            assignments,
            redirects,
            opaque,
            class,
            is_told,
            directory,
            via,
        });
        if self.fuel == 0 {
            return None;
        }
        if let Some(patterns) = &found {
            given(&mut effects.inner, patterns);
        }
        if let Some((text, place)) = script {
            self.script_on_stdin(&text, &place, index, state);
        }
        let before = is_shadowed.then(|| state.clone());
        let failure = moves.map(|moves| self.moves(&moves, state));
        self.inner(
            std::mem::take(&mut effects.inner),
            &range,
            index,
            &sets,
            state,
        );
        if let Some(name) = followed {
            self.builtin(&name, &arguments, &range, state);
            if let Some(mut before) = before {
                let rest = arguments.clone();
                let is_plain = arguments.iter().all(|word| word.is_single);
                let positional =
                    std::mem::replace(&mut before.positional, is_plain.then(|| Rc::new(arguments)));
                let is_sure = before.has_function(&name);
                self.remembered(&name, &rest, &range, index, &mut before);
                self.call(&name, &range, &mut before);
                before.positional = positional;
                if is_sure {
                    *state = before;
                } else {
                    state.merge(&before);
                }
            }
        }
        if is_hidden {
            state.forget();
        }
        failure
    }
}

/// Puts the names that fit `patterns` where words are added to what is run.
fn given(inner: &mut [Inner], patterns: &[Rc<str>]) {
    for inner in inner {
        let Inner::Words {
            words,
            extra_operands: adds @ true,
            ..
        } = inner
        else {
            continue;
        };
        let range = words.first().map_or(0..0, |word| word.range.clone());
        words.extend(patterns.iter().map(|pattern| Word {
            kind: WordKind::Glob,
            is_single: false,
            ..Word::literal(&**pattern, range.clone())
        }));
        *adds = false;
    }
}

/// What the redirects of a command put on its standard input; `None` where they leave it.
pub(super) fn redirects_stdin(redirects: &[Redirect]) -> Option<Stdin> {
    let mut stdin = None;
    for redirect in redirects {
        let reads = matches!(
            redirect.op,
            RedirectOp::Read | RedirectOp::ReadWrite | RedirectOp::Text | RedirectOp::Duplicate
        );
        let is_input = redirect.fd == Some(0) || (redirect.fd.is_none() && reads);
        if !is_input {
            continue;
        }
        stdin = Some(match redirect.op {
            RedirectOp::Text if redirect.target.is_known() => Stdin::Text(
                redirect.target.text.as_str().into(),
                redirect.target.range.clone(),
            ),
            _ => Stdin::Unknown,
        });
    }
    stdin
}

/// An assignment as the word that was written.
fn assigned(assignment: &Assignment) -> Word {
    Word {
        range: assignment.range.clone(),
        text: format!("{}={}", assignment.name, assignment.value.text),
        ..assignment.value.clone()
    }
}

impl Redirect {
    /// Whether it gives the program a text that may hold what the environment keeps secret.
    fn shows_variable(&self) -> bool {
        self.op == RedirectOp::Text && effect::shows_variable(&self.target)
    }

    /// Whether the file it touches stands in the line.
    fn is_told(&self) -> bool {
        match self.op {
            RedirectOp::Text => !self.shows_variable(),
            _ => {
                self.target.is_known() && !self.target.text.starts_with("/dev/")
                    || crate::path::is_neutral(&self.target.text)
                    || self.op == RedirectOp::Duplicate && self.target.is_known()
            }
        }
    }

    /// Whether a file may be changed.
    pub(super) fn may_write(&self) -> bool {
        match self.op {
            RedirectOp::Read | RedirectOp::Text => false,
            RedirectOp::Duplicate => !self.target.is_known(),
            RedirectOp::Write
            | RedirectOp::Append
            | RedirectOp::ReadWrite
            | RedirectOp::Clobber
            | RedirectOp::Both => !crate::path::is_neutral(&self.target.text),
        }
    }
}
