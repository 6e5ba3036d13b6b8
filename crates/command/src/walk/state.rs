//! What is known while a line runs: directories, variables, standard input. It must never know more than holds on every way to a place.

use std::rc::Rc;
use std::sync::Arc;

use crate::line::Word;

/// Most variables whose values are kept.
const VARIABLES_MAX: usize = 64;

/// Longest value that is kept, in bytes.
const VALUE_BYTES_MAX: usize = 4096;

/// Most directories a place in the line may be reached in.
pub(super) const PLACES_MAX: usize = 4;

/// Where values are split unless something changed that.
const BLANKS: &str = " \t\n";

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// This text.
    Text(Rc<str>),
    /// The name of a file that fits this pattern.
    Name(Rc<str>),
    /// A whole number.
    Number,
    /// A whole number, or what the environment holds, which is no code of the line.
    Outer,
    /// Anything.
    Unknown,
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        if text.len() > VALUE_BYTES_MAX {
            return Self::Unknown;
        }
        Self::Text(text.into())
    }

    pub(super) fn is_number(&self) -> bool {
        match self {
            Self::Number => true,
            Self::Text(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Name(_) | Self::Outer | Self::Unknown => false,
        }
    }

    /// Whether arithmetic with it runs no code of the line.
    pub(super) fn is_safe(&self) -> bool {
        self.is_number() || *self == Self::Outer
    }

    fn merged(&self, other: &Self) -> Self {
        if self == other {
            self.clone()
        } else if self.is_number() && other.is_number() {
            Self::Number
        } else if self.is_safe() && other.is_safe() {
            Self::Outer
        } else {
            Self::Unknown
        }
    }
}

/// The variables the line has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Variables {
    entries: Vec<(Rc<str>, Value)>,
    /// Any other may have been changed too.
    is_open: bool,
}

/// What stands on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
    /// Exactly this text.
    Text(Rc<str>, std::ops::Range<usize>),
    /// Names of files that fit these patterns, each ended by a zero byte.
    Names(Rc<[Rc<str>]>),
    Unknown,
}

/// The directories the shell may be in; `None`: any.
pub(super) type Places = Option<Rc<[Arc<str>]>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// The likely one comes first.
    pub places: Places,
    /// Where `cd -` leads.
    pub previous: Places,
    /// What `pushd` kept; `None`: it cannot be told.
    pub stack: Option<Rc<Vec<Places>>>,
    variables: Rc<Variables>,
    /// `$1` and on; `None`: they cannot be told.
    pub positional: Option<Rc<Vec<Word>>>,
    pub stdin: Stdin,
    /// The functions that are surely defined.
    functions: Rc<Vec<Rc<str>>>,
    /// Nothing that follows runs, as the shell has ended.
    pub is_over: bool,
}

impl State {
    pub(super) fn new(directory: &str) -> Self {
        Self {
            places: Some(Rc::new([directory.into()])),
            previous: None,
            stack: Some(Rc::new(Vec::new())),
            variables: Rc::default(),
            positional: None,
            stdin: Stdin::Unknown,
            functions: Rc::default(),
            is_over: false,
        }
    }

    /// Notes that a function is defined here.
    pub(super) fn define(&mut self, name: &str) {
        if self.functions.len() < VARIABLES_MAX && !self.has_function(name) {
            Rc::make_mut(&mut self.functions).push(name.into());
        }
    }

    /// Whether a function is surely defined here.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.iter().any(|it| &**it == name)
    }

    /// Forgets that any function is surely defined.
    pub(super) fn forget_functions(&mut self) {
        self.functions = Rc::default();
    }

    /// Makes it that of a shell that was just started: only what is exported is known to it, and that is
    /// not followed.
    pub(super) fn start_anew(&mut self) {
        self.forget_variables();
        self.forget_functions();
        self.set("IFS", Value::text(BLANKS));
    }

    /// Whether a value is split at blanks, as it is unless something changed that.
    pub(super) fn splits_at_blanks(&self) -> bool {
        match self.variable("IFS") {
            None => true,
            Some(Value::Text(text)) => &*text == BLANKS,
            Some(_) => false,
        }
    }

    /// What a variable holds; `None` where the line has not touched it.
    pub(super) fn variable(&self, name: &str) -> Option<Value> {
        let entries = &self.variables.entries;
        match entries.iter().find(|(entry, _)| &**entry == name) {
            Some((_, value)) => Some(value.clone()),
            None => self.variables.is_open.then_some(Value::Unknown),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        let variables = Rc::make_mut(&mut self.variables);
        let has_room = variables.entries.len() < VARIABLES_MAX;
        match variables
            .entries
            .iter_mut()
            .find(|(entry, _)| &**entry == name)
        {
            Some((_, old)) => *old = value,
            None if has_room => variables.entries.push((name.into(), value)),
            None => variables.is_open = true,
        }
    }

    /// Forgets every variable.
    pub(super) fn forget_variables(&mut self) {
        let variables = Variables {
            entries: Vec::new(),
            is_open: true,
        };
        self.variables = Rc::new(variables);
        self.positional = None;
    }

    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        self.forget_variables();
        self.forget_functions();
        self.places = None;
        self.previous = None;
        self.stack = None;
        self.stdin = Stdin::Unknown;
    }

    /// What holds after either way was gone.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.is_over {
            return;
        }
        if self.is_over {
            self.clone_from(other);
            return;
        }
        self.add_places(&other.places);
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.stack != other.stack {
            self.stack = None;
        }
        if self.positional != other.positional {
            self.positional = None;
        }
        if self.stdin != other.stdin {
            self.stdin = Stdin::Unknown;
        }
        if self.functions != other.functions {
            let functions = Rc::make_mut(&mut self.functions);
            functions.retain(|name| other.functions.contains(name));
        }
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        let ours = std::mem::take(&mut self.variables);
        let untouched = |is_open: bool| {
            if is_open {
                Value::Unknown
            } else {
                Value::Outer
            }
        };
        let mut merged = Variables {
            entries: Vec::new(),
            is_open: ours.is_open || other.variables.is_open,
        };
        let theirs = &other.variables.entries;
        for (name, value) in &ours.entries {
            let match_ = theirs.iter().find(|(entry, _)| entry == name);
            let default = untouched(other.variables.is_open);
            let value = value.merged(match_.map_or(&default, |(_, theirs)| theirs));
            merged.entries.push((Rc::clone(name), value));
        }
        for (name, value) in theirs {
            if !merged.is_open && !ours.entries.iter().any(|(entry, _)| entry == name) {
                if merged.entries.len() < VARIABLES_MAX {
                    let value = value.merged(&untouched(ours.is_open));
                    merged.entries.push((Rc::clone(name), value));
                } else {
                    merged.is_open = true;
                }
            }
        }
        if merged.is_open {
            merged.entries.retain(|(_, value)| *value != Value::Unknown);
        }
        self.variables = Rc::new(merged);
    }

    /// Adds directories the shell may be in.
    pub(super) fn add_places(&mut self, others: &Places) {
        let (Some(places), Some(others)) = (&self.places, others) else {
            self.places = None;
            return;
        };
        if others.iter().all(|other| places.contains(other)) {
            return;
        }
        let mut places = places.to_vec();
        for other in others.iter() {
            if !places.contains(other) {
                places.push(Arc::clone(other));
            }
        }
        self.places = (places.len() <= PLACES_MAX).then(|| places.into());
    }
}
