//! Follows lists and compound commands. It must merge what is known where two ways meet.

use std::ops::Range;
use std::rc::Rc;

use super::state::{Places, State, Stdin, Value};
use super::{Escape, Frame, Walker};
use crate::line::{Shell, WordKind};
use crate::syntax::{
    AndOr, Arm, Command, CommandKind, ForLoop, Join, List, Operand, Part, PartKind, Pipeline, Word,
};

/// Most words of a loop that are followed one by one.
const WORDS_MAX: usize = 16;

/// How much had been found at some time.
struct Mark {
    commands: usize,
    touches: usize,
    hosts: usize,
    unknown: usize,
}

/// The directories the shell may be in if the command failed, where that makes a difference.
pub(super) type Failure = Option<Places>;

impl Walker<'_> {
    /// Follows a list.
    pub(super) fn list(&mut self, frame: &Rc<Frame>, list: &List, state: &mut State) {
        let failure = self.condition(frame, list, state);
        join(state, failure);
    }

    /// Follows a list whose last command decides what comes next.
    fn condition(&mut self, frame: &Rc<Frame>, list: &List, state: &mut State) -> Failure {
        let mut failure = None;
        let mut pipelines = list.iter().flat_map(AndOr::pipelines);
        let first = pipelines.find_map(|it| it.commands.first())?;
        let range = frame.range(&first.range);
        self.deeper(&range, |it| {
            for and_or in list {
                if it.fuel == 0 {
                    return state.forget();
                }
                join(state, failure.take());
                failure = it.and_or(frame, and_or, state);
            }
        });
        failure
    }

    fn and_or(&mut self, frame: &Rc<Frame>, and_or: &AndOr, state: &mut State) -> Failure {
        if and_or.is_background {
            let mut inner = state.clone();
            self.chain(frame, and_or, &mut inner);
            return None;
        }
        self.chain(frame, and_or, state)
    }

    fn chain(
        &mut self,
        frame: &Rc<Frame>,
        AndOr { first, rest, .. }: &AndOr,
        state: &mut State,
    ) -> Failure {
        let failure = self.pipeline(frame, first, state);
        if rest.is_empty() {
            return failure;
        }
        // What holds if all so far succeeded, and what holds if it failed.
        let mut failed = state.clone();
        if let Some(places) = failure {
            failed.places = places;
        }
        for (join, pipeline) in rest {
            let (from, other) = match join {
                Join::And => (&mut *state, &mut failed),
                Join::Or => (&mut failed, &mut *state),
            };
            let is_and = *join == Join::And;
            let failure = self.pipeline(frame, pipeline, from);
            let mut fails = from.clone();
            if let Some(places) = failure {
                fails.places = places;
            }
            if is_and {
                other.merge(&fails);
            } else {
                other.merge(from);
                *from = fails;
            }
        }
        let places = failed.places.clone();
        let is_over = failed.is_over;
        let succeeded = state.places.clone();
        state.merge(&failed);
        if is_over || state.is_over {
            return None;
        }
        state.places = succeeded;
        Some(places)
    }

    fn pipeline(&mut self, frame: &Rc<Frame>, pipeline: &Pipeline, state: &mut State) -> Failure {
        let failure = match pipeline.commands.as_slice() {
            [command] => self.command(frame, command, state),
            commands => {
                self.pipe(frame, commands, state);
                None
            }
        };
        if pipeline.is_negated
            && let Some(places) = failure
        {
            return Some(std::mem::replace(&mut state.places, places));
        }
        failure
    }

    fn pipe(&mut self, frame: &Rc<Frame>, commands: &[Command], state: &mut State) {
        let mut stdin = None;
        let count = commands.len();
        for (index, command) in commands.iter().enumerate() {
            let mut inner = state.clone();
            if let Some(stdin) = stdin.take() {
                inner.stdin = stdin;
            }
            let first = self.line.commands.len();
            let failure = self.command(frame, command, &mut inner);
            join(&mut inner, failure);
            let output = self.output(command, first, state);
            stdin = Some(match output {
                Some(text) => Stdin::Text(text.into(), frame.range(&command.range)),
                None => self
                    .names(command, first)
                    .map_or(Stdin::Unknown, Stdin::Names),
            });
            // Some shells, and bash if it is told to, run the last one themselves.
            if index + 1 == count {
                let input = state.stdin.clone();
                inner.is_over = false;
                state.merge(&inner);
                state.stdin = input;
            }
        }
    }

    /// Follows one command. Returns where the shell is if it fails.
    pub(super) fn command(
        &mut self,
        frame: &Rc<Frame>,
        command: &Command,
        state: &mut State,
    ) -> Failure {
        if let CommandKind::Simple(simple) = &command.kind {
            return self.simple(frame, command, simple, state);
        }
        let range = frame.range(&command.range);
        if !self.burn(1, &range) {
            return None;
        }
        let input = state.stdin.clone();
        self.redirects(frame, &command.redirects, state);
        let mut failure = None;
        match &command.kind {
            CommandKind::Simple(_) => {}
            CommandKind::Group(list) => failure = self.condition(frame, list, state),
            CommandKind::Subshell(list) => self.list(frame, list, &mut state.clone()),
            CommandKind::If {
                branches,
                otherwise,
            } => {
                self.branches(frame, branches, otherwise.as_ref(), state);
            }
            CommandKind::While { condition, body } => self.repeat(state, |it, state| {
                it.list(frame, condition, state);
                it.may_end(state);
                it.list(frame, body, state);
            }),
            CommandKind::Count { arithmetic, body } => self.repeat(state, |it, state| {
                it.arithmetic(frame, arithmetic, state);
                it.may_end(state);
                it.list(frame, body, state);
            }),
            CommandKind::For(each) => self.for_loop(frame, &range, each, state),
            CommandKind::Case { subject, arms } => self.case(frame, subject, arms, state),
            CommandKind::Test(operands) => self.test(frame, operands, state),
            CommandKind::Arithmetic(parts) => self.arithmetic(frame, parts, state),
            CommandKind::Function { name, body } => {
                match name.plain(&frame.text) {
                    Some(name) => {
                        self.define(&name, frame, body);
                        state.define(&name);
                    }
                    // It is unknown; what stands in it is followed all the same.
                    None => drop(self.single(frame, name, state)),
                }
            }
            CommandKind::Coprocess { name, body } => {
                let mut inner = state.clone();
                inner.stdin = Stdin::Unknown;
                let failure = self.command(frame, body, &mut inner);
                join(&mut inner, failure);
                let name = name.as_deref().unwrap_or("COPROC");
                self.set(name, Value::Unknown, &range, state);
            }
        }
        state.stdin = input;
        failure
    }

    fn branches(
        &mut self,
        frame: &Rc<Frame>,
        branches: &[(List, List)],
        otherwise: Option<&List>,
        state: &mut State,
    ) {
        let mut after: Option<State> = None;
        for (condition, body) in branches {
            let failure = self.condition(frame, condition, state);
            let mut inner = state.clone();
            self.list(frame, body, &mut inner);
            match &mut after {
                Some(after) => after.merge(&inner),
                None => after = Some(inner),
            }
            if let Some(places) = failure {
                state.places = places;
            }
        }
        if let Some(list) = otherwise {
            self.list(frame, list, state);
        }
        if let Some(after) = after {
            state.merge(&after);
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            commands: self.line.commands.len(),
            touches: self.line.touches.len(),
            hosts: self.line.hosts.len(),
            unknown: self.line.unknown.len(),
        }
    }

    /// Takes back what was found since `mark`.
    fn rewind(&mut self, mark: &Mark) {
        self.line.commands.truncate(mark.commands);
        self.line.touches.truncate(mark.touches);
        self.line.hosts.truncate(mark.hosts);
        self.line.unknown.truncate(mark.unknown);
    }

    /// Follows `pass`, which may run any number of times. What it finds must hold for each time, so it is
    /// followed again with less until it changes nothing that was taken for known.
    fn repeat(&mut self, state: &mut State, mut pass: impl FnMut(&mut Self, &mut State)) {
        for attempt in 0.. {
            let mark = self.mark();
            let meanings = (self.meaning_count, self.is_blind);
            let before = state.clone();
            let mut inner = state.clone();
            self.escapes.push(Escape {
                is_loop: true,
                state: None,
            });
            pass(self, &mut inner);
            state.merge(&inner);
            if let Some(Escape {
                state: Some(escaped),
                ..
            }) = self.escapes.pop()
            {
                state.merge(&escaped);
            }
            let is_stable = *state == before && meanings == (self.meaning_count, self.is_blind);
            if is_stable || self.fuel == 0 {
                return;
            }
            self.rewind(&mark);
            if attempt > 0 {
                state.forget();
            }
        }
    }

    /// Follows `pass` for any number of values of a variable. It holds one before anything is compared, so
    /// that what it held before the loop is not followed through it.
    fn each(
        &mut self,
        name: &str,
        value: &Value,
        range: &Range<usize>,
        state: &mut State,
        mut pass: impl FnMut(&mut Self, &mut State),
    ) {
        let before = state.clone();
        self.set(name, value.clone(), range, state);
        self.repeat(state, |it, state| {
            state.set(name, value.clone());
            pass(it, state);
        });
        state.merge(&before);
    }

    fn for_loop(
        &mut self,
        frame: &Rc<Frame>,
        range: &Range<usize>,
        each: &ForLoop,
        state: &mut State,
    ) {
        let ForLoop {
            name,
            words,
            is_select,
            body,
        } = each;
        let words = match (words, &state.positional) {
            (Some(words), _) => self.words(frame, words, state),
            (None, Some(words)) => words.as_ref().clone(),
            (None, None) => Vec::new(),
        };
        let values: Option<Vec<Value>> = words
            .iter()
            .map(|word| match word.kind {
                WordKind::Literal | WordKind::Known => Some(Value::text(&word.text)),
                WordKind::Glob => Some(Value::Name(word.text.as_str().into())),
                WordKind::Dynamic => None,
            })
            .collect();
        let is_known = words.len() <= WORDS_MAX && !*is_select && !words.is_empty();
        let Some(values) = values.filter(|_| is_known) else {
            let value = if !words.is_empty()
                && words
                    .iter()
                    .all(|word| word.text.bytes().all(|b| b.is_ascii_digit()))
            {
                Value::Number
            } else {
                Value::Unknown
            };
            if *is_select && words.iter().any(crate::effect::shows_variable) {
                self.unknown(range.clone(), "a menu that shows what variables hold");
            }
            if *is_select {
                state.set("REPLY", Value::Unknown);
            }
            return self.each(name, &value, range, state, |it, state| {
                it.list(frame, body, state);
            });
        };
        for value in values {
            if matches!(value, Value::Name(_)) {
                self.each(name, &value, range, state, |it, state| {
                    it.list(frame, body, state);
                });
                continue;
            }
            self.escapes.push(Escape {
                is_loop: true,
                state: None,
            });
            self.set(name, value, range, state);
            self.list(frame, body, state);
            if let Some(Escape {
                state: Some(escaped),
                ..
            }) = self.escapes.pop()
            {
                state.merge(&escaped);
            }
        }
    }

    fn case(&mut self, frame: &Rc<Frame>, subject: &Word, arms: &[Arm], state: &mut State) {
        self.single(frame, subject, state);
        let mut after = state.clone();
        let mut through: Option<State> = None;
        for arm in arms {
            for pattern in &arm.patterns {
                self.single(frame, pattern, state);
            }
            let mut inner = state.clone();
            if let Some(through) = through.take() {
                inner.merge(&through);
            }
            self.list(frame, &arm.body, &mut inner);
            after.merge(&inner);
            through = arm.falls_through.then_some(inner);
        }
        state.merge(&after);
    }

    fn test(&mut self, frame: &Rc<Frame>, operands: &[Operand], state: &mut State) {
        for operand in operands {
            if operand.is_arithmetic {
                self.arithmetic(frame, &operand.word.parts, state);
            } else {
                self.single(frame, &operand.word, state);
            }
        }
    }

    /// Notes that the loop that is being followed may end here.
    fn may_end(&mut self, state: &State) {
        if let Some(escape) = self.escapes.last_mut() {
            escape.add(state);
        }
    }

    /// Notes that the function or the loop may end here.
    pub(super) fn escape(&mut self, from_loop: bool, state: &mut State) {
        let nearest = self
            .escapes
            .iter()
            .rposition(|escape| escape.is_loop == from_loop);
        let Some(nearest) = nearest else { return };
        // A `break` may leave several loops, and in some shells also those around a function.
        for escape in self
            .escapes
            .iter_mut()
            .filter(|escape| escape.is_loop == from_loop)
        {
            escape.add(state);
        }
        let is_sure = !from_loop || nearest + 1 == self.escapes.len();
        state.is_over |= is_sure && self.shell == Shell::Bash;
    }
}

impl Escape {
    fn add(&mut self, state: &State) {
        match &mut self.state {
            Some(escaped) => escaped.merge(state),
            None => self.state = Some(state.clone()),
        }
    }
}

fn join(state: &mut State, failure: Failure) {
    if let Some(places) = failure {
        state.add_places(&places);
    }
}

impl Part {
    pub(super) fn kind_is_text(&self) -> bool {
        matches!(self.kind, PartKind::Text)
    }
}
