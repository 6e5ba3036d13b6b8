//! What builtins of the shell change in it. It must not tell what they touch: that is the effect's.

use std::ops::Range;

use super::state::{State, Value};
use super::{MEANINGS_MAX, Walker};
use crate::line::Word;
use crate::syntax::is_name;

/// Whether [`Walker::builtin`] knows the name.
pub(super) fn changes_shell(name: &str) -> bool {
    matches!(
        name,
        "." | "["
            | "alias"
            | "break"
            | "continue"
            | "coproc"
            | "declare"
            | "emulate"
            | "enable"
            | "exit"
            | "export"
            | "getopts"
            | "hash"
            | "let"
            | "local"
            | "logout"
            | "mapfile"
            | "printf"
            | "read"
            | "readarray"
            | "readonly"
            | "return"
            | "set"
            | "setopt"
            | "shift"
            | "source"
            | "test"
            | "trap"
            | "typeset"
            | "unset"
            | "unsetopt"
            | "vared"
            | "wait"
            | "zparseopts"
    )
}

impl Walker<'_> {
    /// Follows what the builtin `name` changes in the shell; other programs change nothing.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        arguments: &[Word],
        range: &Range<usize>,
        state: &mut State,
    ) {
        match name {
            "exit" | "logout" if self.is_program(name) => state.is_over = true,
            "return" => self.escape(false, state),
            "break" | "continue" => self.escape(true, state),
            "alias" => self.define_aliases(arguments, range),
            "declare" | "typeset" | "local" | "export" | "readonly" => {
                self.declare(name, arguments, range, state);
            }
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "wait" => {
                self.forget_named(arguments, state);
                if name == "unset" {
                    state.forget_functions();
                }
                for variable in ["REPLY", "MAPFILE", "OPTARG", "OPTIND"] {
                    if state.variable(variable).is_some() {
                        state.set(variable, Value::Unknown);
                    }
                }
            }
            "printf"
                if arguments
                    .first()
                    .is_some_and(|word| word.text.starts_with("-v") || !word.is_known()) =>
            {
                self.forget_named(arguments, state);
            }
            "test" | "[" => {
                let pairs = arguments.iter().zip(arguments.iter().skip(1));
                let named = pairs.filter(|(word, _)| {
                    !word.is_known() || matches!(word.text.as_str(), "-v" | "-R")
                });
                for (_, word) in
                    named.filter(|(option, word)| option.is_known() || word.text.contains('['))
                {
                    self.check_subscript(word);
                }
            }
            "let" => {
                for word in arguments {
                    let is_safe = word.is_known()
                        && self.is_safe_arithmetic(&word.text, true, &word.range, state);
                    if !is_safe {
                        self.unknown(
                            word.range.clone(),
                            "arithmetic with a value that may run code",
                        );
                    }
                }
                if arguments.iter().any(|word| !word.is_known()) {
                    state.forget_variables();
                }
            }
            "hash" if self.remember(arguments).is_none() => {
                self.unknown(range.clone(), "a program that is looked for elsewhere");
            }
            "set" => self.set_options(arguments, range, state),
            "shift" => state.positional = None,
            "source" | "." => state.forget(),
            "trap" => self.is_blind = true,
            "vared" | "zparseopts" | "coproc" | "enable" | "emulate" | "setopt" | "unsetopt" => {
                state.forget_variables();
            }
            _ => {}
        }
    }

    fn define_aliases(&mut self, arguments: &[Word], range: &Range<usize>) {
        for word in arguments {
            let is_option = word.text.starts_with('-') && word.text.len() > 1;
            if !word.is_known() || (is_option && word.text != "-p") {
                self.unknown(range.clone(), "an alias that is not written out");
                continue;
            }
            let Some((name, value)) = word.text.split_once('=') else {
                continue;
            };
            if crate::syntax::is_keyword(name) || value.ends_with([' ', '\t']) {
                self.unknown(range.clone(), "an alias that changes how the line is read");
            }
            let values = self.aliases.entry(name.into()).or_default();
            if values.iter().any(|known| &**known == value) {
                continue;
            }
            if values.len() < MEANINGS_MAX {
                values.push(value.into());
                self.meaning_count += 1;
            } else {
                self.unknown(range.clone(), "an alias that is defined too often");
            }
        }
    }

    /// Follows `hash`; `None` where it cannot be told which programs it puts under which names.
    fn remember(&mut self, arguments: &[Word]) -> Option<()> {
        let mut words = arguments
            .iter()
            .map(|word| word.is_known().then_some(word.text.as_str()));
        let mut path = None;
        let mut names = Vec::new();
        while let Some(word) = words.next() {
            let word = word?;
            let letters = word.strip_prefix('-').filter(|_| names.is_empty());
            let Some(letters) = letters.filter(|letters| !letters.is_empty()) else {
                names.push(word);
                continue;
            };
            let (others, value) = match letters.split_once('p') {
                Some((others, value)) => (others, Some(value)),
                None => (letters, None),
            };
            if !others.bytes().all(|letter| b"-dlrt".contains(&letter)) {
                return None;
            }
            path = match value {
                None => path,
                Some("") => Some(words.next()??),
                Some(value) => Some(value),
            };
        }
        let Some(path) = path else {
            return Some(());
        };
        for name in names {
            let paths = self.remembered.entry(name.into()).or_default();
            if paths.iter().any(|known| &**known == path) {
                continue;
            }
            if paths.len() == MEANINGS_MAX {
                return None;
            }
            paths.push(path.into());
            self.meaning_count += 1;
        }
        Some(())
    }

    fn declare(&mut self, name: &str, arguments: &[Word], range: &Range<usize>, state: &mut State) {
        let mut is_plain = true;
        for word in arguments {
            if !word.is_known() && !word.text.contains('=') {
                state.forget_variables();
                continue;
            }
            if let Some(letters) = word.text.strip_prefix(['-', '+']) {
                is_plain &= letters.chars().all(|c| "xgrpfF".contains(c));
                self.is_blind |= !letters.chars().all(|c| "xgrpfFaA".contains(c));
                if letters.contains(['i', 'n']) {
                    self.unknown(range.clone(), "a variable that is evaluated when it is set");
                }
                continue;
            }
            let (variable, value) = match word.text.split_once('=') {
                Some((variable, value)) => (variable, Some(value)),
                None => (word.text.as_str(), None),
            };
            // SECURITY: a list in quotes is read again, subscripts too.
            let is_list = value.is_some_and(|value| value.starts_with('('));
            if is_list && word.text.contains(['$', '`']) {
                self.unknown(word.range.clone(), "a list that may be read again");
            }
            let value = match value {
                Some(value) if is_plain && word.is_known() && is_name(variable) => {
                    Value::text(value)
                }
                // It keeps what it holds.
                None if matches!(name, "export" | "readonly") => continue,
                _ => Value::Unknown,
            };
            if variable.contains('[') {
                self.check_subscript(&Word {
                    text: variable.to_owned(),
                    ..word.clone()
                });
            }
            let variable = variable.split(['[', '+']).next().unwrap_or_default();
            if !is_name(variable) {
                state.forget_variables();
                continue;
            }
            self.set(variable, value, &word.range, state);
            if !matches!(name, "export" | "readonly")
                && let Some(open) = self.open_functions.last_mut()
            {
                open.locals.push(variable.to_owned());
            }
        }
    }

    fn set_options(&mut self, arguments: &[Word], range: &Range<usize>, state: &mut State) {
        let mut takes_name = false;
        for word in arguments {
            let text = word.text.as_str();
            if std::mem::take(&mut takes_name) {
                if text == "keyword" {
                    self.unknown(range.clone(), "an option that changes how the line is read");
                }
                continue;
            }
            if !word.is_known() {
                state.positional = None;
                continue;
            }
            match text.strip_prefix(['-', '+']) {
                Some(letters) if !letters.is_empty() && letters != "-" => {
                    takes_name = letters.ends_with('o');
                    if letters.contains('k') {
                        self.unknown(range.clone(), "an option that changes how the line is read");
                    }
                }
                _ => state.positional = None,
            }
        }
    }

    /// Forgets the variables that words may name.
    fn forget_named(&mut self, arguments: &[Word], state: &mut State) {
        for word in arguments {
            self.check_subscript(word);
            if !word.is_known() {
                state.forget_variables();
                continue;
            }
            let name = word.text.split('[').next().unwrap_or_default();
            // The name may be joined to its option: `-vx`.
            let joined = name.strip_prefix('-').and_then(|it| it.get(1..));
            let name = joined.unwrap_or(name);
            if is_name(name) {
                self.set(name, Value::Unknown, &word.range, state);
            }
        }
    }

    /// Notes a variable whose subscript, which is arithmetic, may run code.
    fn check_subscript(&mut self, word: &Word) {
        let subscript = word
            .text
            .split_once('[')
            .map(|(_, rest)| rest.trim_end_matches(']'));
        let is_plain = |text: &str| {
            text.bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'@' | b'*'))
        };
        if !word.is_known() || !subscript.is_none_or(is_plain) {
            self.unknown(
                word.range.clone(),
                "a variable whose subscript may run code",
            );
        }
    }
}
