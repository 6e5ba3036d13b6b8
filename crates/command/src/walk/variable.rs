//! What variables hold, those of the environment too. It must not take for known what the line may have changed.

use std::rc::Rc;

use super::Walker;
use super::state::{Places, State, Value};
use crate::line::{Shell, WordKind};
use crate::syntax::is_name;

impl Walker<'_> {
    /// What `~`, `~+` and `~-` stand for.
    pub(super) fn home(&self, prefix: &str, state: &State) -> Option<Rc<str>> {
        let name = match prefix {
            "~" => "HOME",
            "~+" if self.shell != Shell::Sh => "PWD",
            "~-" if self.shell != Shell::Sh => "OLDPWD",
            _ => return None,
        };
        match self.variable(name, state) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What a variable holds.
    pub(super) fn variable(&self, name: &str, state: &State) -> Value {
        if self.is_blind {
            return Value::Unknown;
        }
        if is_name(name)
            && let Some(value) = state.variable(name)
        {
            return value;
        }
        let place = |places: &Places| match places.as_deref() {
            Some([place]) => Value::text(place),
            _ => Value::Unknown,
        };
        match name {
            "HOME" => self.setting.home.map_or(Value::Unknown, Value::text),
            "PWD" => place(&state.places),
            "OLDPWD" => place(&state.previous),
            "#" | "?" | "$" | "!" => Value::Number,
            "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID"
                if self.shell != Shell::Sh =>
            {
                Value::Number
            }
            digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
                let Some(words) = &state.positional else {
                    return Value::Unknown;
                };
                let index: Option<usize> = digits.parse().ok().filter(|&index: &usize| index > 0);
                match index.and_then(|index| words.get(index - 1)) {
                    Some(word) if word.is_known() => Value::text(&word.text),
                    Some(word) if word.kind == WordKind::Glob && word.is_single => {
                        Value::Name(word.text.as_str().into())
                    }
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }
}
