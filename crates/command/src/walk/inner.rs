//! Follows what a command runs. It must not take for known what only the outer shell knows.

use std::ops::Range;
use std::rc::Rc;

use super::control::Failure;
use super::simple::Parts;
use super::state::{State, Stdin, Value};
use super::{Frame, Mapping, Walker};
use crate::effect::{Inner, Place};
use crate::line::{Assignment, Shell, Simple, Via, Word, WordKind};
use crate::syntax::parse;

impl Walker<'_> {
    /// Follows all that the command at `index` runs. `sets` are the assignments before it.
    pub(super) fn inner(
        &mut self,
        inner: Vec<Inner>,
        range: &Range<usize>,
        index: usize,
        sets: &[Word],
        state: &mut State,
    ) {
        for inner in inner {
            match inner {
                Inner::Unknown { range, why } => self.unknown(range, why),
                // The ends of an end are those of the whole; of a text in it no more is said.
                Inner::Words {
                    place: Place::Tail, ..
                } if self.is_tail => {
                    self.unknown(range.clone(), "a command that may run another");
                }
                Inner::Words {
                    words,
                    extra_operands,
                    at,
                    assignments,
                    place,
                } => {
                    let range = words.first().map_or(range.clone(), |first| {
                        let end = words.last().map_or(first.range.end, |last| last.range.end);
                        first.range.start..end.max(first.range.end)
                    });
                    self.placed(
                        place,
                        at.as_ref(),
                        &range,
                        index,
                        state,
                        |it, via, state| {
                            it.inner_words(words, extra_operands, &assignments, &range, via, state)
                        },
                    );
                }
                Inner::Script {
                    text,
                    range,
                    is_exact,
                    arguments,
                    at,
                    place,
                } => {
                    if !is_exact {
                        self.unknown(range.clone(), "a script that is not written out");
                    }
                    let is_trap = self.is_trap(index);
                    self.is_blind |= is_trap;
                    self.placed(
                        place,
                        at.as_ref(),
                        &range,
                        index,
                        state,
                        |it, via, state| {
                            if place != Place::Shell {
                                state.start_anew();
                                set_all(sets, state);
                                let mut words = arguments.into_iter().skip(1).collect::<Vec<_>>();
                                let is_plain = words.iter().all(|word| word.is_single);
                                words.truncate(if is_plain { usize::MAX } else { 0 });
                                state.positional = is_plain.then(|| Rc::new(words));
                            }
                            if is_trap {
                                state.forget();
                            }
                            it.script(&text, &range, via, state);
                            if !is_exact {
                                state.forget();
                            }
                            None
                        },
                    );
                }
            }
        }
    }

    /// The shell that reads what the command at `index` gives it.
    fn shell_of(&self, index: usize) -> Shell {
        let command = self.line.commands.get(index);
        let program = command.and_then(Simple::program).unwrap_or_default();
        match program.rsplit('/').next().unwrap_or_default() {
            "bash" | "rbash" => Shell::Bash,
            "zsh" => Shell::Zsh,
            "sh" | "dash" | "ash" | "ksh" | "mksh" | "watch" | "busybox" => Shell::Sh,
            _ => self.shell,
        }
    }

    fn is_trap(&self, index: usize) -> bool {
        let command = self.line.commands.get(index);
        command
            .and_then(|it| it.words.first())
            .is_some_and(|word| word.text == "trap")
    }

    /// Follows something where it runs.
    fn placed(
        &mut self,
        place: Place,
        at: Option<&Word>,
        range: &Range<usize>,
        index: usize,
        state: &mut State,
        follow: impl FnOnce(&mut Self, Via, &mut State) -> Failure,
    ) {
        let was_local = self.is_local;
        let was_tail = self.is_tail;
        self.is_local &= place != Place::Elsewhere;
        self.is_tail |= place == Place::Tail;
        let via = Via {
            command: index,
            is_local: self.is_local,
            is_named: matches!(place, Place::Named | Place::Tail),
        };
        self.deeper(range, |it| {
            if place == Place::Shell && at.is_none() {
                if let Some(places) = follow(it, via, state) {
                    state.add_places(&places);
                }
                return;
            }
            let mut inner = state.clone();
            if let Some(at) = at {
                inner.places = Self::places_below(at, &inner.places);
            }
            if place == Place::Elsewhere {
                inner.places = None;
            }
            follow(it, via, &mut inner);
        });
        self.is_local = was_local;
        self.is_tail = was_tail;
    }

    pub(super) fn inner_words(
        &mut self,
        mut words: Vec<Word>,
        extra_operands: bool,
        assignments: &[Word],
        range: &Range<usize>,
        via: Via,
        state: &mut State,
    ) -> Failure {
        if words.is_empty() && !extra_operands && assignments.is_empty() {
            return None;
        }
        if !self.burn(
            1 + words.iter().map(|word| word.text.len() + 16).sum::<usize>() / 64,
            range,
        ) {
            return None;
        }
        if extra_operands {
            words.push(Word {
                range: range.clone(),
                text: "{}".to_owned(),
                kind: WordKind::Dynamic,
                is_single: false,
            });
        }
        let assignments: Vec<Assignment> = assignments.iter().map(assignment).collect();
        let source: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let parts = Parts {
            range: range.clone(),
            source: source.join(" "),
            words,
            assignments,
            redirects: Vec::new(),
            via: Some(via),
        };
        self.run(parts, state)
    }

    /// Follows a script that a shell reads from its standard input.
    pub(super) fn script_on_stdin(
        &mut self,
        text: &str,
        range: &Range<usize>,
        index: usize,
        state: &State,
    ) {
        let mut inner = state.clone();
        inner.start_anew();
        inner.stdin = Stdin::Unknown;
        let via = Via {
            command: index,
            is_local: self.is_local,
            is_named: false,
        };
        self.deeper(range, |it| it.script(text, range, via, &mut inner));
    }

    /// Reads and follows a text that stands somewhere at `range`.
    fn script(&mut self, text: &str, range: &Range<usize>, via: Via, state: &mut State) {
        let Some(left) = self.script_bytes.checked_sub(text.len()) else {
            self.fuel = 0;
            return self.unknown(range.clone(), "more than is followed");
        };
        self.script_bytes = left;
        let shell = self.shell_of(via.command);
        let outer = std::mem::replace(&mut self.shell, shell);
        let script = parse(text, shell);
        let frame = Rc::new(Frame {
            text: Rc::clone(&script.text),
            heredocs: Rc::clone(&script.heredocs),
            mapping: self.mapping(text, range),
            via: Some(via),
        });
        for unknown in script.unknown {
            self.unknown(frame.range(&unknown.range), unknown.what);
        }
        self.list(&frame, &script.list, state);
        self.shell = outer;
    }

    /// How `text` lies at `range`: in one piece where it does, perhaps between quotes.
    fn mapping(&self, text: &str, range: &Range<usize>) -> Mapping {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let start = match source
            .strip_prefix(['\'', '"'])
            .and_then(|it| it.strip_suffix(['\'', '"']))
        {
            Some(inner) if inner == text => Some(range.start + 1),
            _ => (source == text).then_some(range.start),
        };
        start.map_or(Mapping::At(range.clone()), Mapping::From)
    }

    /// Follows both what an alias stands for and nothing: whether it counts depends on the shell.
    pub(super) fn alias(
        &mut self,
        name: &str,
        rest: &str,
        range: &Range<usize>,
        index: usize,
        state: &mut State,
    ) {
        let is_open = self.open_aliases.iter().any(|open| &**open == name);
        let Some(values) = self.aliases.get(name).filter(|_| !is_open).cloned() else {
            return;
        };
        self.open_aliases.push(name.into());
        let before = state.clone();
        for value in &values {
            let mut inner = before.clone();
            let text = format!("{value}{rest}");
            let via = Via {
                command: index,
                is_local: self.is_local,
                is_named: false,
            };
            self.deeper(range, |it| it.script(&text, range, via, &mut inner));
            state.merge(&inner);
        }
        self.open_aliases.pop();
    }
}

/// Takes `NAME=value` apart.
fn assignment(word: &Word) -> Assignment {
    let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
    Assignment {
        range: word.range.clone(),
        name: name.to_owned(),
        value: Word {
            text: value.to_owned(),
            ..word.clone()
        },
    }
}

/// Sets what `NAME=value` words say.
fn set_all(words: &[Word], state: &mut State) {
    for word in words {
        let Assignment { name, value, .. } = assignment(word);
        let value = if value.is_known() {
            Value::text(&value.text)
        } else {
            Value::Unknown
        };
        state.set(&name, value);
    }
}
