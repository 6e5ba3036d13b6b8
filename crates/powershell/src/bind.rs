//! Gives the words of a command to its parameters, as PowerShell does. It must not say what they do.

use command::WordKind;

use crate::data::{Cmdlet, Slot};
use crate::lex::{Argument, Value};

/// What the parameters of a command got.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    /// Each parameter that is there, by its place in the table, with its values.
    pub given: Vec<(usize, Vec<Value>)>,
    /// Whether a word could not be given to any.
    pub is_faulty: bool,
}

impl Bound {
    /// The values of the parameters that have a slot.
    pub(crate) fn values<'b>(
        &'b self,
        cmdlet: &'static Cmdlet,
        fits: impl Fn(Slot) -> bool + 'b,
    ) -> impl Iterator<Item = &'b Value> {
        let of = move |place: usize| cmdlet.parameters.get(place).and_then(|it| it.slot);
        self.given
            .iter()
            .filter(move |(place, _)| of(*place).is_some_and(&fits))
            .flat_map(|(_, values)| values)
    }
}

/// Gives `arguments` to the parameters of `cmdlet`.
pub(crate) fn bind(cmdlet: &Cmdlet, arguments: &[Argument]) -> Bound {
    let mut bound = Bound::default();
    let mut loose: Vec<&Argument> = Vec::new();
    let mut left = arguments.iter().peekable();
    while let Some(argument) = left.next() {
        let Some((name, attached)) = parameter_name(argument) else {
            loose.push(argument);
            continue;
        };
        let Some(place) = find(cmdlet, &name) else {
            bound.is_faulty = true;
            continue;
        };
        let takes_value = cmdlet
            .parameters
            .get(place)
            .is_some_and(|it| it.slot.is_some());
        let values = match attached {
            Some(value) => vec![value],
            None if !takes_value => Vec::new(),
            None => {
                let next = left.next_if(|it| parameter_name(it).is_none());
                bound.is_faulty |= next.is_none();
                next.map(|it| it.values.clone()).unwrap_or_default()
            }
        };
        bound.given.push((place, values));
    }
    let is_given = |place: &usize| bound.given.iter().any(|(it, _)| it == place);
    let mut positions: Vec<usize> = cmdlet.positions.clone();
    positions.retain(|place| !is_given(place));
    for (index, argument) in loose.into_iter().enumerate() {
        // Several parameters take all words that are left.
        let last = positions.last().filter(|place| {
            let slot = cmdlet.parameters.get(**place).and_then(|it| it.slot);
            matches!(slot, Some(Slot::Text | Slot::Block))
        });
        let is_splat = argument
            .values
            .iter()
            .any(|it| it.word.text.starts_with('@') && !it.word.is_single);
        match positions.get(index).or(last) {
            Some(&place) if !is_splat => bound.given.push((place, argument.values.clone())),
            _ => bound.is_faulty = true,
        }
    }
    bound
}

/// The name of a parameter in lower case, and the value that a colon joins to it.
fn parameter_name(argument: &Argument) -> Option<(String, Option<Value>)> {
    let first = argument.values.first().filter(|it| it.is_bare)?;
    let rest = first.word.text.strip_prefix('-')?;
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '?' || c == '-') {
        return None;
    }
    let Some((name, value)) = rest.split_once(':') else {
        return Some((rest.to_ascii_lowercase(), None));
    };
    let name = name.to_ascii_lowercase();
    if value.is_empty() {
        return Some((name, None));
    }
    let mut attached = first.clone();
    value.clone_into(&mut attached.word.text);
    if argument.values.len() > 1 {
        attached.word.kind = WordKind::Dynamic;
    }
    Some((name, Some(attached)))
}

/// The parameter of that name, or the only one whose name starts so.
fn find(cmdlet: &Cmdlet, name: &str) -> Option<usize> {
    let exact = |it: &crate::data::Parameter| it.names.iter().any(|it| it == name);
    if let Some(place) = cmdlet.parameters.iter().position(exact) {
        return Some(place);
    }
    let starts = |it: &crate::data::Parameter| it.names.iter().any(|it| it.starts_with(name));
    let mut found = cmdlet
        .parameters
        .iter()
        .enumerate()
        .filter(|(_, it)| starts(it));
    let (place, _) = found.next()?;
    found.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::command_of;

    #[test]
    fn a_name_may_be_shortened_while_only_one_fits() {
        let of = |command: &str, name: &str| {
            let cmdlet = command_of(command).unwrap();
            find(cmdlet, name).map(|it| cmdlet.parameters[it].names[0].clone())
        };
        assert_eq!(of("remove-item", "rec").as_deref(), Some("recurse"));
        assert_eq!(of("remove-item", "p"), None);
        assert_eq!(of("remove-item", "lp").as_deref(), Some("literalpath"));
        assert_eq!(of("remove-item", "ea").as_deref(), Some("erroraction"));
        assert_eq!(of("get-content", "t"), None);
        assert_eq!(of("get-content", "head").as_deref(), Some("totalcount"));
        assert_eq!(of("get-content", "nope"), None);
    }
}
