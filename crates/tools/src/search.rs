//! Words that results of looking into a tree share. Must not look into one.

use gate::host::LeftOut;

/// A line for each reason why something was not looked at.
pub(crate) fn notes(left_out: LeftOut) -> impl Iterator<Item = String> {
    let LeftOut {
        asked,
        denied,
        unnamed,
        unreadable,
        too_large,
    } = left_out;
    [
        (
            asked,
            "reading it needs an approval",
            "reading them needs an approval",
        ),
        (
            denied,
            "a rule denies reading it",
            "a rule denies reading them",
        ),
        (
            unnamed,
            "its name is not UTF-8",
            "their names are not UTF-8",
        ),
        (
            unreadable,
            "it could not be opened",
            "they could not be opened",
        ),
        (
            too_large,
            "it is larger than 64 MiB",
            "they are larger than 64 MiB",
        ),
    ]
    .into_iter()
    .filter_map(|(count, one, more)| match count {
        0 => None,
        1 => Some(format!("(1 path is left out: {one}.)")),
        _ => Some(format!("({count} paths are left out: {more}.)")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_line() {
        let one = LeftOut {
            asked: 1,
            denied: 1,
            unnamed: 1,
            unreadable: 1,
            too_large: 1,
        };
        let lines = |it| notes(it).collect::<Vec<_>>().join("\n");
        let mut many = one;
        many += one;
        assert_eq!(notes(LeftOut::default()).count(), 0);
        insta::assert_snapshot!(lines(one), @r#"
        (1 path is left out: reading it needs an approval.)
        (1 path is left out: a rule denies reading it.)
        (1 path is left out: its name is not UTF-8.)
        (1 path is left out: it could not be opened.)
        (1 path is left out: it is larger than 64 MiB.)
        "#);
        insta::assert_snapshot!(lines(many), @r#"
        (2 paths are left out: reading them needs an approval.)
        (2 paths are left out: a rule denies reading them.)
        (2 paths are left out: their names are not UTF-8.)
        (2 paths are left out: they could not be opened.)
        (2 paths are left out: they are larger than 64 MiB.)
        "#);
    }
}
