//! Arithmetic, in which a variable is read as an expression again. It must not work out any number.

use std::ops::Range;
use std::rc::Rc;

use super::state::{State, Value};
use super::{Frame, Walker};
use crate::syntax::{Form, Parameter, Part, PartKind, is_name};

impl Walker<'_> {
    /// Follows what stands in an arithmetic expression. What a variable holds is read as an expression
    /// too, and may run commands in a subscript.
    pub(super) fn arithmetic(&mut self, frame: &Rc<Frame>, parts: &[Part], state: &mut State) {
        let changes = parts.iter().any(|part| {
            let text = frame.source(&part.range);
            part.kind_is_text()
                && (text.contains('=') || text.contains("++") || text.contains("--"))
        });
        for part in parts {
            let range = frame.range(&part.range);
            let is_safe = match &part.kind {
                PartKind::Text => {
                    let text: Rc<str> = frame.source(&part.range).into();
                    self.is_safe_arithmetic(&text, changes, &range, state)
                }
                PartKind::Parameter(parameter) => {
                    let is_untouched = self.is_untouched(parameter, state);
                    if is_untouched && may_be_kept(&parameter.name) {
                        self.unknown(range.clone(), SHOWN);
                    }
                    self.part_value(frame, part, state).is_safe() || is_untouched
                }
                PartKind::Substitution(_) | PartKind::Arithmetic(_) => {
                    self.part_value(frame, part, state).is_safe()
                }
                PartKind::Decoded(text) => {
                    let text = text.clone();
                    self.is_safe_arithmetic(&text, changes, &range, state)
                }
                PartKind::Process(_)
                | PartKind::Subscript(_)
                | PartKind::Array(_)
                | PartKind::ExtendedGlob(_) => {
                    self.parts(frame, std::slice::from_ref(part), state);
                    false
                }
            };
            if !is_safe {
                self.unknown(range, "arithmetic with a value that may run code");
            }
        }
    }

    /// Whether a parameter is a plain variable of the environment.
    fn is_untouched(&self, parameter: &Parameter, state: &State) -> bool {
        is_name(&parameter.name)
            && matches!(parameter.form, Form::Value)
            && !self.is_blind
            && state.variable(&parameter.name).is_none()
    }

    /// Whether the variables named in a piece of arithmetic hold numbers. Where the expression changes
    /// some, all of them are numbers afterwards.
    pub(super) fn is_safe_arithmetic(
        &mut self,
        text: &str,
        changes: bool,
        range: &Range<usize>,
        state: &mut State,
    ) -> bool {
        let mut is_safe = !text.contains(['`', '\'', '$']);
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | '@');
        for word in text.split(|c: char| !is_part(c)) {
            if !is_name(word) {
                continue;
            }
            let value = self.variable(word, state);
            let is_untouched = !self.is_blind && state.variable(word).is_none();
            is_safe &= value.is_safe() || is_untouched;
            if is_untouched && may_be_kept(word) {
                self.unknown(range.clone(), SHOWN);
            }
            if changes {
                self.set(word, Value::Number, range, state);
            }
        }
        is_safe
    }
}

/// What is no number stands in the message that says so.
const SHOWN: &str = "arithmetic may show what a variable of the environment holds";

/// Whether the environment may keep something under this name. Names in small letters are those that a
/// line makes for itself.
fn may_be_kept(name: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "BASHPID",
        "BASH_SUBSHELL",
        "COLUMNS",
        "EPOCHREALTIME",
        "EPOCHSECONDS",
        "EUID",
        "HISTCMD",
        "LINENO",
        "LINES",
        "OPTIND",
        "PPID",
        "RANDOM",
        "SECONDS",
        "SHLVL",
        "SRANDOM",
        "UID",
    ];
    let is_own = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    !NUMBERS.contains(&name) && !name.chars().all(is_own)
}

/// Whether a command prints nothing but a number.
pub(super) fn prints_number(words: &[&str]) -> bool {
    matches!(
        words,
        ["wc", "-l" | "-c" | "-w" | "-m"]
            | ["date", "+%s"]
            | ["nproc"]
            | ["id", "-u" | "-g"]
            | ["grep", "-c", _]
    )
}
