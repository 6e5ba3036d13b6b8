//! Sources and spec files, read as plain lines: no Rust is parsed, so every rule here is one that
//! a line shows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Findings;

/// Folders with Rust sources of ours.
const SOURCES: [&str; 4] = ["crates", "examples", "fuzz", "xtask"];

/// Lines of one file, without its unit tests: above the first it is a warning, above the second a
/// fault.
const LINES_WARNED: usize = 500;
const LINES_MAX: usize = 800;

/// The open attribute that may stand nowhere; cut in two so that this line is not a finding.
const ALLOW: [&str; 2] = [concat!("#[", "allow("), concat!("#![", "allow(")];

/// The mark of work left undone, which wants an issue number in parentheses.
const UNDONE: &str = concat!("TO", "DO");

/// A source file: its path relative to the root, with `/`, and its text.
struct Source {
    name: String,
    text: String,
}

/// Checks headers, sizes and marks of every Rust file, and that every spec file is reached.
pub(super) fn check(root: &Path, findings: &mut Findings) -> Result<()> {
    let mut sources = Vec::new();
    for folder in SOURCES {
        for path in walk(&root.join(folder))? {
            if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let name = relative(root, &path);
                sources.push(Source { name, text });
            }
        }
    }
    for source in &sources {
        check_source(source, findings);
    }
    for path in walk(&root.join("spec"))? {
        let file = relative(root, &path);
        if file != "spec/README.md" && !is_reached(&file, &sources) {
            findings.fault(format!(
                "{file}: named by no Rust source, so no test reads it"
            ));
        }
    }
    Ok(())
}

fn check_source(source: &Source, findings: &mut Findings) {
    let Source { name, text } = source;
    if !text.starts_with("//! ") {
        findings.fault(format!("{name}: does not open with a `//!` line"));
    }
    let count = code_lines(text);
    let is_test = name.contains("/tests/");
    if count > LINES_MAX && !is_test {
        findings.fault(format!(
            "{name}: {count} lines without tests, over {LINES_MAX}"
        ));
    } else if count > LINES_WARNED && !is_test {
        findings.warn(format!(
            "{name}: {count} lines without tests, over {LINES_WARNED}"
        ));
    }
    for (index, line) in text.lines().enumerate() {
        let place = index + 1;
        if ALLOW.iter().any(|attribute| line.contains(attribute)) {
            findings.fault(format!(
                "{name}:{place}: `allow`: write `expect` and a reason"
            ));
        }
        if has_unnumbered_mark(line) {
            findings.fault(format!(
                "{name}:{place}: {UNDONE} without an issue: `{UNDONE}(#7)`"
            ));
        }
    }
}

/// Lines before the unit tests, which stand last in a file.
fn code_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines
        .windows(2)
        .position(|pair| pair == ["#[cfg(test)]", "mod tests {"]);
    tests.unwrap_or(lines.len())
}

/// Whether the mark stands there as a word of its own and no `(#<number>)` follows.
fn has_unnumbered_mark(line: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(UNDONE).any(|(place, mark)| {
        let (before, after) = line.split_at(place);
        let after = after.strip_prefix(mark).unwrap_or_default();
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return false;
        }
        let number = after
            .strip_prefix("(#")
            .and_then(|rest| rest.split_once(')'));
        number.is_none_or(|(number, _)| number.parse::<u32>().is_err())
    })
}

/// A spec file counts as reached if a line of Rust that is no comment names its path, or names a
/// folder above it, below `spec/`, as the end of a string (`"../../spec/vectors"`). Whether the
/// test that names it fails when it should is for review.
fn is_reached(file: &str, sources: &[Source]) -> bool {
    let mut needles = vec![file.to_owned()];
    for (place, _) in file.match_indices('/').skip(1) {
        let (folder, _) = file.split_at(place);
        needles.push(format!("{folder}\""));
        needles.push(format!("{folder}/\""));
    }
    let code = sources
        .iter()
        .flat_map(|source| source.text.lines())
        .filter(|line| !line.trim_start().starts_with("//"));
    code.into_iter()
        .any(|line| needles.iter().any(|needle| line.contains(needle.as_str())))
}

/// Every file below `folder`, sorted; nothing if there is no such folder. Build output is skipped,
/// links are not followed.
fn walk(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() && entry.file_name() != "target" {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, text: &str) -> Vec<String> {
        let mut findings = Findings::default();
        let (name, text) = (name.to_owned(), text.to_owned());
        check_source(&Source { name, text }, &mut findings);
        [findings.faults, findings.warnings].concat()
    }

    #[test]
    fn a_plain_file_has_no_fault() {
        let text = "//! What it is.\n#[expect(dead_code, reason = \"x\")]\nfn f() {}\n";
        assert_eq!(faults("crates/a/src/lib.rs", text), [""; 0]);
    }

    #[test]
    fn each_fault_of_a_file_is_listed() {
        let allow = ALLOW[1];
        let found = faults("a.rs", &format!("{allow}dead_code)]\n// {UNDONE}: this\n"));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("does not open with"), "{found:?}");
        assert!(found[1].contains("a.rs:1: `allow`"), "{found:?}");
        assert!(found[2].contains("a.rs:2: "), "{found:?}");
    }

    #[test]
    fn a_mark_wants_an_issue_number() {
        for (line, is_fault) in [
            (format!("// {UNDONE}"), true),
            (format!("// {UNDONE}: later"), true),
            (format!("// {UNDONE}(me): later"), true),
            (format!("// {UNDONE}(#): later"), true),
            (format!("// {UNDONE}(#12): later"), false),
            (format!("// {UNDONE}(#12) and {UNDONE}"), true),
            (format!("{UNDONE}S_MAX MY_{UNDONE}"), false),
        ] {
            assert_eq!(has_unnumbered_mark(&line), is_fault, "{line}");
        }
    }

    #[test]
    fn size_counts_lines_before_the_unit_tests_and_spares_tests() {
        let long = |count: usize| format!("//! x\n{}", "fn f() {}\n".repeat(count - 1));
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(900));
        assert_eq!(faults("a.rs", &(long(500) + &tests)), [""; 0]);
        assert!(faults("a.rs", &long(501))[0].contains("501 lines"));
        assert!(faults("a.rs", &long(801))[0].contains("over 800"));
        assert_eq!(faults("crates/a/tests/it/a.rs", &long(801)), [""; 0]);
    }

    #[test]
    fn a_spec_file_is_reached_by_its_path_or_by_a_folder_above_it() {
        for (line, is_there) in [
            ("include_str!(\"../../spec/a/b/c.md\")", true),
            ("let folder = \"../spec/a\";", true),
            ("let folder = \"spec/a/b/\";", true),
            ("// \"spec/a/b/c.md\"", false),
            ("let folder = \"spec\";", false),
            ("let folder = \"spec/a/bc\";", false),
        ] {
            let source = Source {
                name: "a.rs".into(),
                text: format!("//! x\n{line}\n"),
            };
            assert_eq!(is_reached("spec/a/b/c.md", &[source]), is_there, "{line}");
        }
    }
}
