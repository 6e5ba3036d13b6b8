//! Commands of which the program is fixed and only words are not known. It must not say what such a word is.

use super::grammar::{self, Grammar, Mark, Slot, Switch};
use super::{Input, Place, as_called, of, parse};
use crate::line::{Class, Directory, Word};

/// Whether the command is hidden by nothing but words that may become options, and no option would have its program
/// run another one, or destroy or publish what it could not before: `xargs kill`, `xargs sed -i s/a/b/`.
///
/// A script of sed can run a shell, and so could a word that became one. Only who holds what that does may go by this.
pub(crate) fn is_fixed(words: &[Word]) -> bool {
    if let Some(words) = as_called(words) {
        return is_fixed(&words);
    }
    // What is not known stands behind all else: before it, it could be anything of the rest.
    let mut behind = words
        .iter()
        .skip_while(|word| !parse::could_become_option(word));
    if !behind.all(parse::could_become_option) {
        return false;
    }
    let known: Vec<Word> = words
        .iter()
        .filter(|word| !parse::could_become_option(word))
        .cloned()
        .collect();
    let Some((grammar, true)) = known.first().and_then(|word| grammar::program(&word.text)) else {
        return false;
    };
    let readings = parse::readings(&known, grammar);
    let Some(reading) = readings.only() else {
        return false;
    };
    // What is not known stands for files alone.
    let leading = usize::from(!reading.marks.has(Mark::Given));
    let is_whole = reading.operands.len() >= leading || !has_script(grammar);
    let lacks = |used: &parse::Used<'_>| {
        let switch = used.switch;
        switch.slot.is_some() && !switch.is_optional && used.value.is_empty()
    };
    let is_whole = is_whole && !reading.switches.iter().any(lacks);
    let effects = of(&known, &Directory::Unknown);
    !readings.is_over
        && is_whole
        && is_plain(grammar)
        && effects.opaque.is_none()
        && effects.inner.is_empty()
        && effects.class <= Class::Ordinary
}

fn has_script(grammar: &Grammar) -> bool {
    let operands = grammar.operands.iter().flatten();
    operands.clone().any(|(slot, _)| *slot == Slot::Sed)
}

/// Whether neither an operand nor an option of the program is another program, and none is graver than it.
fn is_plain(grammar: &Grammar) -> bool {
    let of_sed = has_script(grammar);
    let is_plain_slot = |slot: Slot| match slot {
        Slot::Sed | Slot::Code => of_sed,
        Slot::Text
        | Slot::Seen
        | Slot::Read
        | Slot::Write
        | Slot::Out
        | Slot::Both
        | Slot::Ending => true,
        _ => false,
    };
    let mut operands = grammar.operands.iter().flatten();
    // Where all operands are names, what an option makes graver is no file.
    let is_of_names = grammar
        .operands
        .iter()
        .flatten()
        .all(|(slot, _)| *slot == Slot::Text);
    let is_plain_switch = |switch: &Switch| {
        let hides = [Mark::Opaque, Mark::Inline, Mark::Input, Mark::Publish];
        let is_graver = switch.has(Mark::Irreversible) && !is_of_names;
        let is_plain = switch.slot.is_none_or(is_plain_slot);
        is_plain && !is_graver && !hides.iter().any(|mark| switch.has(*mark))
    };
    !grammar.has_subs
        && !grammar.is_wrapper()
        && !grammar.runs_project
        && grammar.opaque.is_none()
        && grammar.place == Place::Child
        && grammar.input == Input::Data
        && grammar.operands.is_some()
        && operands.all(|(slot, _)| is_plain_slot(*slot))
        && grammar.switches.values().all(is_plain_switch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::WordKind;

    #[test]
    fn a_program_is_fixed_where_no_word_can_have_it_run_another_one() {
        for (line, want) in [
            ("kill $x", true),
            ("sed -i s/a/b/ $x", true),
            ("sed -i -e s/a/b/ $x", true),
            ("sed -i $x", false),
            ("sed -i $x s/a/b/", false),
            ("sed e $x", false),
            ("sed -f $x", false),
            ("rm $x", false),
            ("git $x", false),
            ("git add $x", false),
            ("sh $x", false),
            ("env $x", false),
            ("tar cf a $x", false),
            ("sort $x", false),
            ("find $x", false),
            ("awk 1 $x", false),
            ("xargs $x", false),
            ("make $x", false),
            ("no-such-program $x", false),
            ("./kill $x", false),
            ("$x kill", false),
        ] {
            let words = line.split(' ').map(|text| match text {
                "$x" => Word {
                    kind: WordKind::Dynamic,
                    is_single: false,
                    ..Word::literal(text, 0..0)
                },
                text => Word::literal(text, 0..0),
            });
            assert_eq!(is_fixed(&words.collect::<Vec<_>>()), want, "{line}");
        }
    }
}
