//! The lines whose words tell all they do, as a table. It must not judge files.

use crate::{command, read, table::rows};

#[test]
fn a_line_is_told_exactly_where_the_table_says_so() {
    let rows = rows(include_str!("../../../../spec/shell/told.tsv"));
    let mut wrong = Vec::new();
    let mut counts = [0, 0];
    for row in rows {
        let [line, expected, why] = row.as_slice() else {
            panic!("{row:?}")
        };
        let wanted = match expected.as_str() {
            "yes" => true,
            "no" => false,
            other => panic!("{other}"),
        };
        counts[usize::from(wanted)] += 1;
        let found = read(line);
        let is_told = found.unknown.is_empty() && found.commands.iter().all(|it| it.is_told);
        if is_told != wanted {
            wrong.push(format!("{line} ({why}): {found:#?}"));
        }
    }
    assert!(counts[0] >= 80 && counts[1] >= 60, "{counts:?}");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What only looks and is plain is told as well.
#[test]
fn every_plain_command_that_only_looks_is_told() {
    let rows = rows(include_str!("../../../../spec/shell/readonly.tsv"));
    for row in rows.iter().filter(|row| row[1] == "yes") {
        let line = &row[0];
        let found = read(line);
        let is_known = |it: &command::Touch| !matches!(it.path, command::TouchedPath::Unknown(_));
        let is_plain = found.unknown.is_empty()
            && found.touches.iter().all(is_known)
            && found.commands.iter().all(command::Simple::is_literal);
        let looks = |it: &&command::Simple| is_plain && it.class == command::Class::ReadOnly;
        for command in found.commands.iter().filter(looks) {
            assert!(command.is_told, "{line}");
        }
    }
}
