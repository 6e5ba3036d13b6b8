//! What a command changed although it might not, or left for others to run, and how it could be let.
//! Must not say more than the host found.

use text::escape::visible_line;

/// What to say of changes that were undone, or are to be known; empty if there are none.
pub(crate) fn said(undone: &[String]) -> String {
    if undone.is_empty() {
        return String::new();
    }
    let mut said = String::from(
        "\nWhat the rules do not let commands change was changed, or programs were left that git would run for others:",
    );
    for change in undone {
        said.extend(["\n- ", &visible_line(change)]);
    }
    said.push_str(
        "\nA path that is a word of the command itself is asked about and then open to it; a rule of the user for \
         `edit.command` opens what is not protected for good. What was moved away, the user alone can look at: tell them.",
    );
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_a_line_of_its_own_whatever_its_name_holds() {
        assert_eq!(said(&[]), "");
        let said = said(&["`a\nb` was made".to_owned(), "`c` was removed".to_owned()]);
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("- ")).collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].contains("was made"), "{said}");
    }
}
