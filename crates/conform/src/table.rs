//! Tables of tab-separated cells. What their columns mean is not known here.

use crate::vectors::VectorError;

/// A table of tab-separated cells below a header line. Empty lines and those that begin with `#`
/// are no rows.
pub(crate) struct Table {
    header: Vec<String>,
    /// The rows as they are written, each as wide as the header.
    pub(crate) lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn read(text: &str) -> Result<Self, VectorError> {
        let mut rows = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(index, line)| {
                (
                    index + 1,
                    line.split('\t').map(str::to_owned).collect::<Vec<_>>(),
                )
            });
        let (_, header) = rows.next().ok_or(VectorError::Column("op"))?;
        let mut lines = Vec::new();
        for (line, cells) in rows {
            let (found, wanted) = (cells.len(), header.len());
            if found != wanted {
                return Err(VectorError::Cells {
                    line,
                    found,
                    wanted,
                });
            }
            lines.push(cells);
        }
        Ok(Self { header, lines })
    }

    pub(crate) fn column(&self, name: &'static str) -> Result<usize, VectorError> {
        let place = self.header.iter().position(|cell| cell == name);
        place.ok_or(VectorError::Column(name))
    }
}

/// The rows of a table, as wide as its header and without it, the escapes of their cells undone.
///
/// # Errors
/// A row is not as wide as the header, or there is none.
pub fn rows(text: &str) -> Result<Vec<Vec<String>>, VectorError> {
    let lines = Table::read(text)?.lines.into_iter();
    Ok(lines
        .map(|line| line.iter().map(|cell| unescape(cell)).collect())
        .collect())
}

/// One cell of a line, its escapes undone.
pub(crate) fn cell(line: &[String], column: usize) -> String {
    unescape(raw(line, column))
}

/// One cell of a line as it is written. Every line was measured against the header, so a column that
/// was found is there.
pub(crate) fn raw(line: &[String], column: usize) -> &str {
    line.get(column).map(String::as_str).unwrap_or_default()
}

/// Undoes `\\`, `\t`, `\n` and `\r`; any other backslash stands for itself.
fn unescape(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell.chars();
    while let Some(char) = rest.next() {
        if char != '\\' {
            text.push(char);
            continue;
        }
        match rest.next() {
            Some('\\') | None => text.push('\\'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some(other) => text.extend(['\\', other]),
        }
    }
    text
}
