//! Tables as they stand in `spec/shell`. It must not know what their cells mean.

/// The rows below the names of the columns, without remarks and the escapes of the cells.
pub(crate) fn rows(table: &str) -> Vec<Vec<String>> {
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let rows = table.lines().skip(1).filter(is_row);
    rows.map(|row| row.split('\t').map(unescaped).collect())
        .collect()
}

/// A backslash before any other letter stands for itself.
fn unescaped(cell: &str) -> String {
    let mut text = String::new();
    let mut letters = cell.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('\\') | None => text.push('\\'),
            Some(other) => text.extend(['\\', other]),
        }
    }
    text
}
