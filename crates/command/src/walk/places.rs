//! Where commands stand. It must not ask which directories there are.

use std::rc::Rc;
use std::sync::Arc;

use super::Walker;
use super::state::{PLACES_MAX, Places, State, Value};
use crate::effect::Move;
use crate::line::Word;

impl Walker<'_> {
    /// Follows a change of the directory.
    pub(super) fn moves(&mut self, moves: &Move, state: &mut State) -> Places {
        let old = state.places.clone();
        let new = match moves {
            Move::To(word) | Move::Push(word) => Self::places_at(word, &state.places),
            // One that was set by hand is not followed.
            Move::Back if state.variable("OLDPWD").is_some() => None,
            Move::Back => state.previous.clone(),
            Move::Home => match self.variable("HOME", state) {
                Value::Text(home) if home.starts_with('/') => {
                    Self::places_at(&Word::literal(home.to_string(), 0..0), &None)
                }
                _ => None,
            },
            Move::Pop => {
                let stack = state.stack.as_mut();
                stack
                    .and_then(|stack| Rc::make_mut(stack).pop())
                    .unwrap_or_default()
            }
            Move::Unknown => None,
        };
        match moves {
            Move::Push(_) => {
                if let Some(stack) = state.stack.as_mut() {
                    Rc::make_mut(stack).push(old.clone());
                }
            }
            Move::Unknown => state.stack = None,
            Move::To(_) | Move::Back | Move::Home | Move::Pop => {}
        }
        for name in ["PWD", "OLDPWD"] {
            if state.variable(name).is_some() {
                state.set(name, Value::Unknown);
            }
        }
        state.places = new;
        state.previous.clone_from(&old);
        old
    }

    /// The directories to which the shell may go by `word`. It takes `..` by name; only where nothing is
    /// there it lets the system go, which follows links.
    fn places_at(word: &Word, places: &Places) -> Places {
        if !word.is_known() {
            return None;
        }
        let mut found: Vec<Arc<str>> = Vec::new();
        for place in starts(word, places)?.iter() {
            let named = crate::path::join(place, &word.text);
            let reached = crate::path::reached(place, &word.text);
            // Above where it stands there is a directory.
            let is_above = is_above(&named, place) && !place.contains("/..");
            let others = (named != reached && !is_above).then_some(reached);
            for path in [Some(named), others].into_iter().flatten() {
                if !found.iter().any(|it| **it == *path) {
                    found.push(path.into());
                }
            }
        }
        (found.len() <= PLACES_MAX).then(|| found.into())
    }

    /// The directories in which a program may be started that is told to work in `word`.
    pub(super) fn places_below(word: &Word, places: &Places) -> Places {
        if !word.is_known() {
            return None;
        }
        let starts = starts(word, places)?;
        let reached = starts
            .iter()
            .map(|place| crate::path::reached(place, &word.text));
        let mut found: Vec<Arc<str>> = reached.map(Into::into).collect();
        found.dedup();
        Some(found.into())
    }
}

/// Whether a directory is another one, or one above it.
fn is_above(directory: &str, other: &str) -> bool {
    let rest = other.strip_prefix(directory.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// From where a path is followed.
fn starts(word: &Word, places: &Places) -> Places {
    if word.text.starts_with('/') {
        return Some(["/".into()].into());
    }
    places.clone()
}
