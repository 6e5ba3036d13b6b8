//! Follows a tree in the order of running. It must not run anything, and must list what may run on any way through the line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use crate::effect::is_dangerous_variable;
use crate::line::{Line, Setting, Shell, Unknown, Via};
use crate::syntax::{Command, Heredoc, Script, TEXT_BYTES_MAX, parse};
use state::{State, Value};

mod arithmetic;
mod brace;
mod builtin;
mod control;
mod field;
mod inner;
mod odd;
mod places;
mod printed;
mod redirect;
mod simple;
mod state;
mod value;
mod variable;
mod words;

pub use words::{flagged, read_words};

/// How much is followed: one for each command that may run, and one for each 64 bytes of its words.
const FUEL: usize = 40_000;

/// Most bytes of inner scripts that are read.
const SCRIPT_BYTES_MAX: usize = 4 * TEXT_BYTES_MAX;

/// Deepest nesting of commands, functions and scripts that is followed.
const DEPTH_MAX: usize = 100;

/// Most functions, or values of aliases, of one name that are kept.
const MEANINGS_MAX: usize = 8;

/// Tells what `text` runs, reads, writes and reaches. It is total: any text has an answer, and what is
/// not understood is listed in it.
pub fn read(text: &str, setting: &Setting<'_>) -> Line {
    let script = parse(text, setting.shell);
    let mut walker = Walker::new(text, setting);
    walker.line.unknown.clone_from(&script.unknown);
    walker.line.commands.reserve(script.command_count);
    walker.line.flagged = odd::flag(text);
    if let Some(at) = text.find('\0') {
        walker.unknown(at..at + 1, "a character that no argument can hold");
    }
    let frame = Rc::new(Frame {
        text: Rc::clone(&script.text),
        heredocs: Rc::clone(&script.heredocs),
        mapping: Mapping::From(0),
        via: None,
    });
    let mut state = State::new(setting.directory);
    walker.list(&frame, &script.list, &mut state);
    walker.uncalled();
    walker.finish()
}

/// A text that is walked, and how it lies in the one that was given.
#[derive(Debug)]
struct Frame {
    text: Rc<str>,
    heredocs: Rc<[Heredoc]>,
    mapping: Mapping,
    via: Option<Via>,
}

#[derive(Debug, Clone)]
enum Mapping {
    /// It starts there.
    From(usize),
    /// It is not written in one piece, but stands somewhere there.
    At(Range<usize>),
}

impl Frame {
    /// Where a place of this text lies in the text that was given.
    fn range(&self, range: &Range<usize>) -> Range<usize> {
        match &self.mapping {
            Mapping::From(start) => start + range.start..start + range.end,
            Mapping::At(place) => place.clone(),
        }
    }

    fn source(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// A script that stands at `range` but is not written there in one piece.
    fn nested(&self, script: &Script, range: &Range<usize>) -> Rc<Self> {
        Rc::new(Self {
            text: Rc::clone(&script.text),
            heredocs: Rc::clone(&script.heredocs),
            mapping: Mapping::At(self.range(range)),
            via: self.via.clone(),
        })
    }
}

/// A function of the line.
#[derive(Debug, Clone)]
struct Function {
    frame: Rc<Frame>,
    body: Rc<Command>,
    is_called: bool,
}

/// A function that is being walked.
#[derive(Debug)]
struct Open {
    body: Rc<Command>,
    /// It is walked with nothing known, so that a call of itself adds nothing.
    is_general: bool,
    /// The variables that go back to what they were.
    locals: Vec<String>,
}

/// Where `return`, `break` and `continue` lead.
#[derive(Debug)]
struct Escape {
    is_loop: bool,
    state: Option<State>,
}

#[derive(Debug)]
struct Walker<'s> {
    /// The text that was given.
    text: &'s str,
    setting: &'s Setting<'s>,
    shell: Shell,
    line: Line,
    fuel: usize,
    script_bytes: usize,
    depth: usize,
    /// What is walked runs on this machine.
    is_local: bool,
    /// What is walked is the end of a command that may be one of its own.
    is_tail: bool,
    /// Variables may change unseen: there is a trap, or one whose value is changed when it is set.
    is_blind: bool,
    /// Every function defined so far, wherever it was. A call may mean any of them.
    functions: BTreeMap<Rc<str>, Vec<usize>>,
    /// The functions in the order in which they were defined.
    bodies: Vec<Function>,
    aliases: BTreeMap<Rc<str>, Vec<Rc<str>>>,
    /// The aliases that are being walked, which mean nothing in themselves.
    open_aliases: Vec<Rc<str>>,
    /// The programs that `hash -p` put under another name.
    remembered: BTreeMap<Rc<str>, Vec<Rc<str>>>,
    /// How many meanings names were given so far.
    meaning_count: usize,
    open_functions: Vec<Open>,
    escapes: Vec<Escape>,
}

impl<'s> Walker<'s> {
    fn new(text: &'s str, setting: &'s Setting<'s>) -> Self {
        Self {
            text,
            setting,
            shell: setting.shell,
            line: Line::default(),
            fuel: FUEL,
            script_bytes: SCRIPT_BYTES_MAX,
            depth: 0,
            is_local: true,
            is_tail: false,
            is_blind: false,
            functions: BTreeMap::new(),
            bodies: Vec::new(),
            aliases: BTreeMap::new(),
            open_aliases: Vec::new(),
            remembered: BTreeMap::new(),
            meaning_count: 0,
            open_functions: Vec::new(),
            escapes: Vec::new(),
        }
    }

    /// What was found, in an order that does not hang on how it was found.
    fn finish(self) -> Line {
        let mut line = self.line;
        line.unknown.sort_by(|a, b| {
            (a.range.start, a.range.end, &a.what).cmp(&(b.range.start, b.range.end, &b.what))
        });
        line.unknown.dedup();
        line
    }
}

impl Walker<'_> {
    fn unknown(&mut self, range: Range<usize>, what: impl Into<Cow<'static, str>>) {
        self.line.unknown.push(Unknown {
            range,
            what: what.into(),
        });
    }

    /// Uses up `amount` of what may be followed. Returns whether there was enough.
    fn burn(&mut self, amount: usize, range: &Range<usize>) -> bool {
        if self.fuel == 0 {
            return false;
        }
        self.fuel = self.fuel.saturating_sub(amount);
        if self.fuel == 0 {
            self.unknown(range.clone(), "more than is followed");
        }
        self.fuel > 0
    }

    /// Follows something nested, unless it is too deep.
    fn deeper(&mut self, range: &Range<usize>, follow: impl FnOnce(&mut Self)) {
        if self.depth >= DEPTH_MAX {
            return self.unknown(range.clone(), "nesting that is too deep");
        }
        self.depth += 1;
        follow(self);
        self.depth -= 1;
    }

    /// Sets a variable some other way than by an assignment.
    fn set(&mut self, name: &str, value: Value, range: &Range<usize>, state: &mut State) {
        if is_dangerous_variable(name) {
            self.unknown(
                range.clone(),
                format!("setting `{name}`, which changes what programs do"),
            );
        }
        state.set(name, value);
    }

    fn define(&mut self, name: &str, frame: &Rc<Frame>, body: &Rc<Command>) {
        let functions = self.functions.entry(name.into()).or_default();
        let mut known = functions.iter().filter_map(|at| self.bodies.get(*at));
        if known.any(|function| Rc::ptr_eq(&function.body, body)) {
            return;
        }
        if functions.len() == MEANINGS_MAX {
            let range = frame.range(&body.range);
            return self.unknown(range, "a function that is defined too often");
        }
        functions.push(self.bodies.len());
        self.bodies.push(Function {
            frame: Rc::clone(frame),
            body: Rc::clone(body),
            is_called: false,
        });
        self.meaning_count += 1;
    }

    /// Follows every body that a call of `name` may mean.
    fn call(&mut self, name: &str, range: &Range<usize>, state: &mut State) {
        let Some(functions) = self.functions.get(name).cloned() else {
            return;
        };
        let mut after: Option<State> = None;
        for at in functions {
            let Some(function) = self.bodies.get_mut(at) else {
                continue;
            };
            function.is_called = true;
            let function = function.clone();
            let mut inner = state.clone();
            self.body(&function, range, &mut inner);
            match &mut after {
                Some(after) => after.merge(&inner),
                None => after = Some(inner),
            }
        }
        if let Some(after) = after {
            *state = after;
        }
    }

    fn body(&mut self, function: &Function, range: &Range<usize>, state: &mut State) {
        let open = self
            .open_functions
            .iter()
            .filter(|open| Rc::ptr_eq(&open.body, &function.body));
        let mut is_general = false;
        for open in open {
            if open.is_general {
                return state.forget();
            }
            is_general = true;
        }
        if is_general {
            state.forget();
        }
        let positional = state.positional.clone();
        self.open_functions.push(Open {
            body: Rc::clone(&function.body),
            is_general,
            locals: Vec::new(),
        });
        self.escapes.push(Escape {
            is_loop: false,
            state: None,
        });
        self.deeper(range, |it| {
            it.command(&function.frame, &function.body, state);
        });
        if let Some(Escape {
            state: Some(escaped),
            ..
        }) = self.escapes.pop()
        {
            state.merge(&escaped);
        }
        if let Some(open) = self.open_functions.pop() {
            for name in open.locals {
                state.set(&name, Value::Unknown);
            }
        }
        state.positional = positional;
    }

    /// Follows the functions that nothing was seen to call: something not understood may call them.
    fn uncalled(&mut self) {
        let mut at = 0;
        while let Some(function) = self.bodies.get_mut(at) {
            at += 1;
            if std::mem::replace(&mut function.is_called, true) {
                continue;
            }
            let function = function.clone();
            let mut state = State::new(self.setting.directory);
            state.forget();
            let range = function.frame.range(&function.body.range);
            self.body(&function, &range, &mut state);
        }
    }
}
