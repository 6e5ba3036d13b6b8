//! What a line typed at a question means, and the menu that says so.
//!
//! Must not: read or write anything.

use gate::g2_admit::Scope;

/// Shown before everything is allowed.
pub(crate) const WARNING: &str = "
  For the rest of this session nothing that only a rule for `*` asks about will be asked again: every
  command, every file, every tool. Denials, narrower asks and protected files stay as they are.
  Type `everything` to allow it: ";

/// Shown before a command is let out of the sandbox, in place of the menu.
pub(crate) const ESCAPE: &str = "yes once, in full; r reject, w reject with a word";

/// What a person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Once,
    /// Keep this level, from 0.
    Keep(Scope, usize),
    /// Edit this level first.
    Edit(usize),
    Everything,
    Reject,
    RejectWithWord,
}

impl Choice {
    /// `None`: nothing that was offered. `count` is how many levels were.
    pub(crate) fn read(line: &str, count: usize) -> Option<Self> {
        let line = line.trim();
        let word = line.trim_end_matches(|it: char| it.is_ascii_digit());
        let number = line.strip_prefix(word)?;
        let level = match number {
            "" => Some(0),
            number => number.parse::<usize>().ok()?.checked_sub(1),
        };
        let level = level.filter(|level| *level < count);
        match word.trim_end() {
            "s" | "session" => Some(Self::Keep(Scope::Session, level?)),
            "p" | "project" => Some(Self::Keep(Scope::Project, level?)),
            "g" | "global" => Some(Self::Keep(Scope::Global, level?)),
            "e" | "edit" => Some(Self::Edit(level?)),
            _ if !number.is_empty() => None,
            "o" | "once" => Some(Self::Once),
            "a" => Some(Self::Everything),
            "r" | "reject" => Some(Self::Reject),
            "w" => Some(Self::RejectWithWord),
            _ => None,
        }
    }
}

/// The same where a command would leave the sandbox: no single letter is a yes.
pub(crate) fn read_escape(line: &str) -> Option<Choice> {
    match line.trim() {
        "yes" => Some(Choice::Once),
        "r" | "reject" => Some(Choice::Reject),
        "w" => Some(Choice::RejectWithWord),
        _ => None,
    }
}

/// What may be typed at a question with so many levels.
pub(crate) fn menu(count: usize) -> String {
    let keep = match count {
        0 => "",
        1 => "; kept: s in this session, p in this project, g everywhere; e edit it first",
        _ => {
            "; 1 kept: s in this session, p in this project, g everywhere; 2 kept: s2, p2, g2; \
             e or e2 edit it first"
        }
    };
    format!("o once{keep}; a everything; r reject, w reject with a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_letter_and_the_number_of_a_level() {
        let check = |line: &str, count, want| {
            assert_eq!(Choice::read(line, count), want, "{line:?} of {count}");
        };
        check("o\n", 0, Some(Choice::Once));
        check("once", 2, Some(Choice::Once));
        check("s", 0, None);
        check("s", 2, Some(Choice::Keep(Scope::Session, 0)));
        check(" p2 \n", 2, Some(Choice::Keep(Scope::Project, 1)));
        check("g 2", 2, Some(Choice::Keep(Scope::Global, 1)));
        check("global", 1, Some(Choice::Keep(Scope::Global, 0)));
        check("g3", 2, None);
        check("s0", 2, None);
        check("s99999999999999999999999", 2, None);
        check("e", 0, None);
        check("e2", 2, Some(Choice::Edit(1)));
        check("a", 0, Some(Choice::Everything));
        check("r", 0, Some(Choice::Reject));
        check("w", 0, Some(Choice::RejectWithWord));
        for nothing in [
            "",
            "y",
            "yes",
            "O",
            "oo",
            "o1",
            "r2",
            "a2",
            "2",
            "everything",
            "-1",
        ] {
            check(nothing, 2, None);
        }
    }

    #[test]
    fn only_the_whole_word_lets_a_command_out() {
        assert_eq!(read_escape(" yes\n"), Some(Choice::Once));
        assert_eq!(read_escape("r"), Some(Choice::Reject));
        assert_eq!(read_escape("w"), Some(Choice::RejectWithWord));
        for nothing in [
            "", "y", "o", "once", "YES", "yes!", "s", "p1", "g", "a", "e",
        ] {
            assert_eq!(read_escape(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn the_menu_offers_what_there_is() {
        assert!(!menu(0).contains("kept") && menu(1).contains("e edit it first"));
        assert!(menu(3).contains("s2"));
        for count in 0..4 {
            assert!(menu(count).ends_with("r reject, w reject with a word"));
        }
    }
}
