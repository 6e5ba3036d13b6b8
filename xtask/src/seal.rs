//! Proof that a tool cannot reach the machine past the gate: on a copy of this workspace it adds
//! code that tries, and every try must be refused. The checkout itself is never written to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{Outcome, check, tidy};

/// What a tool may try, as the body of a function.
const TRIES: [(&str, &str); 12] = [
    ("std::fs::write", r#"let _ = std::fs::write("a", "b");"#),
    (
        "std::fs::read_to_string",
        r#"let _ = std::fs::read_to_string("a");"#,
    ),
    ("File::open", r#"let _ = std::fs::File::open("a");"#),
    (
        "OpenOptions",
        r#"let _ = std::fs::OpenOptions::new().append(true).open("a");"#,
    ),
    (
        "Path::exists",
        r#"let _ = std::path::Path::new("a").exists();"#,
    ),
    ("a function value", "let _ = std::fs::remove_file::<&str>;"),
    (
        "a glob import",
        r#"use std::fs::*; let _ = rename("a", "b");"#,
    ),
    (
        "TcpStream",
        r#"let _ = std::net::TcpStream::connect("127.0.0.1:1");"#,
    ),
    (
        "UnixStream",
        r#"let _ = std::os::unix::net::UnixStream::connect("a");"#,
    ),
    (
        "Command",
        r#"let _ = std::process::Command::new("a").spawn();"#,
    ),
    ("the environment", r#"let _ = std::env::var("A");"#),
    ("root_authority", "let _ = gate::authority::root_authority;"),
];

/// A way to lift the lint from a try.
struct Lift {
    label: &'static str,
    /// The attribute above the function, without its brackets.
    attribute: Option<&'static str>,
}

/// None, then each level an attribute could ask for, by the names of the lints and by the name of
/// a group around them.
const LIFTS: [Lift; 5] = [
    Lift {
        label: "bare",
        attribute: None,
    },
    Lift {
        label: "allowed",
        attribute: Some("allow(clippy::disallowed_methods, clippy::disallowed_types)"),
    },
    Lift {
        label: "expected",
        attribute: Some("expect(clippy::disallowed_methods, clippy::disallowed_types)"),
    },
    Lift {
        label: "warned of",
        attribute: Some("warn(clippy::disallowed_methods, clippy::disallowed_types)"),
    },
    Lift {
        label: "allowed with all of clippy",
        attribute: Some("allow(clippy::all)"),
    },
];

/// The module that is added to the copy.
const CASE: &str = "crates/tools/src/seal_case.rs";

/// A change of one file of the copy that tidy must refuse: what, which file, the line it is made
/// at, the line put there instead, and a part of the fault.
const EDITS: [(&str, &str, &str, &str, &str); 4] = [
    (
        "edge tools -> host",
        "crates/tools/Cargo.toml",
        "[dependencies]",
        "[dependencies]\nhost.workspace = true",
        "tools: may not depend on our `host`",
    ),
    (
        "edge tools -> tempfile",
        "crates/tools/Cargo.toml",
        "[dependencies]",
        "[dependencies]\ntempfile.workspace = true",
        "tools: may not depend on outside `tempfile`",
    ),
    (
        "lib.rs of tools without its forbid",
        "crates/tools/src/lib.rs",
        "#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]",
        "",
        "tools: src/lib.rs lacks the line",
    ),
    (
        "clippy.toml of tools without std::fs::write",
        "crates/tools/clippy.toml",
        r#"    { path = "std::fs::write" },"#,
        "",
        "tools: its clippy.toml is not a copy",
    ),
];

/// Tries everything and prints each case as refused or NOT REFUSED.
///
/// # Errors
/// The copy cannot be made, or cargo cannot be started.
pub(crate) fn run(root: &Path) -> Result<Outcome> {
    let home = root.join("target/seal");
    let copy = home.join("tree");
    mirror(root, &copy)?;

    let mut missed = 0;
    let mut report = |case: &str, is_refused: bool| {
        let verdict = if is_refused { "refused" } else { "NOT REFUSED" };
        println!("seal: {case}: {verdict}");
        missed += usize::from(!is_refused);
    };

    let lib = copy.join("crates/tools/src/lib.rs");
    let plain = fs::read_to_string(&lib)?;
    fs::write(&lib, format!("{plain}\nmod seal_case;\n"))?;
    for lift in &LIFTS {
        fs::write(copy.join(CASE), case_module(lift))?;
        let refused = refused_lines(&copy, &home.join("target"))?;
        for (index, (what, _)) in TRIES.iter().enumerate() {
            let mut lines = first_line(index)..first_line(index + 1);
            let is_refused = lines.any(|line| refused.contains(&line));
            report(&format!("{what}, {}", lift.label), is_refused);
        }
    }
    fs::remove_file(copy.join(CASE))?;
    fs::write(&lib, plain)?;

    for (what, file, at, instead, fault) in EDITS {
        let path = copy.join(file);
        let before = fs::read_to_string(&path)?;
        let is_there = before.lines().any(|line| line == at);
        fs::write(&path, before.replacen(at, instead, 1))?;
        let findings = tidy::find(&copy)?;
        let is_refused = findings.faults.iter().any(|found| found.contains(fault));
        report(what, is_there && is_refused);
        fs::write(&path, before)?;
    }

    println!("seal: {missed} not refused");
    Ok(match missed {
        0 => Outcome::Clean,
        _ => Outcome::Faults,
    })
}

/// One function for each try, three lines each below a header of two.
fn case_module(lift: &Lift) -> String {
    let attribute = lift
        .attribute
        .map_or(String::new(), |attribute| format!("#[{attribute}]"));
    let functions = TRIES.iter().enumerate().map(|(index, (_, body))| {
        format!("{attribute}\npub(crate) fn try_{index}() {{ {body} }}\n\n")
    });
    format!(
        "//! A tool that tries to reach the machine.\n\n{}",
        functions.collect::<String>()
    )
}

/// 1-based line at which a try begins.
fn first_line(index: usize) -> usize {
    3 + 3 * index
}

/// One line of `cargo clippy --message-format json`.
#[derive(Debug, Deserialize)]
struct Message {
    message: Option<Diagnostic>,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    code: Option<Code>,
    spans: Vec<Span>,
}

#[derive(Debug, Deserialize)]
struct Code {
    code: String,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    is_primary: bool,
}

/// Lines of the case at which clippy reports an error of the kind that is hoped for: a disallowed
/// name, or an attribute that a `forbid` further out rules out. Any other error, above all one
/// that only says that the copy does not compile, refuses nothing.
fn refused_lines(copy: &Path, target: &Path) -> Result<BTreeSet<usize>> {
    let wanted = [
        "clippy::disallowed_methods",
        "clippy::disallowed_types",
        "E0453",
    ];
    let output = Command::new(check::cargo())
        .args([
            "clippy",
            "--package",
            "tollgate-tools",
            "--lib",
            "--no-deps",
            "--locked",
        ])
        .args(["--quiet", "--message-format", "json"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo clippy")?;
    let mut lines = BTreeSet::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(Message {
            message: Some(found),
        }) = serde_json::from_str(line)
        else {
            continue;
        };
        let code = found.code.map(|code| code.code).unwrap_or_default();
        if found.level != "error" || !wanted.contains(&code.as_str()) {
            continue;
        }
        let here = found
            .spans
            .iter()
            .filter(|span| span.is_primary && CASE.ends_with(&span.file_name));
        lines.extend(here.map(|span| span.line_start));
    }
    if lines.is_empty() {
        println!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(lines)
}

/// Makes `copy` hold what `root` holds, but for build output and version control. A file that is
/// the same already is left alone, so that a second run builds little.
fn mirror(root: &Path, copy: &Path) -> Result<()> {
    fs::create_dir_all(copy)?;
    let mut wanted = BTreeSet::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let (from, to) = (entry.path(), copy.join(entry.file_name()));
        let kind = entry.file_type()?;
        let is_left_out = entry.file_name() == "target" || entry.file_name() == ".git";
        if is_left_out {
            continue;
        }
        if kind.is_dir() {
            mirror(&from, &to)?;
            wanted.insert(to);
        } else if kind.is_file() {
            let bytes = fs::read(&from)?;
            if fs::read(&to).ok().as_ref() != Some(&bytes) {
                fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
            }
            wanted.insert(to);
        }
    }
    for entry in fs::read_dir(copy)? {
        let path: PathBuf = entry?.path();
        if wanted.contains(&path) {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_stands_on_the_lines_that_are_looked_at() {
        for lift in &LIFTS {
            let module = case_module(lift);
            let lines: Vec<&str> = module.lines().collect();
            for (index, (_, body)) in TRIES.iter().enumerate() {
                let (start, end) = (first_line(index), first_line(index + 1));
                let own = lines[start - 1..(end - 1).min(lines.len())].join("\n");
                assert!(own.contains(body), "{index}: {own}");
                assert_eq!(own.matches("fn try_").count(), 1, "{own}");
                assert_eq!(
                    own.matches("#[").count(),
                    usize::from(lift.attribute.is_some())
                );
            }
        }
    }

    #[test]
    fn a_mirror_takes_over_changes_and_drops_what_is_gone() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = (from.path(), to.path());
        fs::create_dir_all(from.join("a/target")).unwrap();
        fs::create_dir_all(to.join("old")).unwrap();
        fs::write(to.join("old/file"), "").unwrap();
        fs::write(from.join("a/kept"), "1").unwrap();
        fs::write(from.join("a/target/built"), "1").unwrap();
        mirror(from, to).unwrap();
        let first = fs::metadata(to.join("a/kept")).unwrap().modified().unwrap();
        fs::write(from.join("changed"), "2").unwrap();
        mirror(from, to).unwrap();
        assert_eq!(fs::read_to_string(to.join("changed")).unwrap(), "2");
        assert_eq!(
            fs::metadata(to.join("a/kept")).unwrap().modified().unwrap(),
            first
        );
        assert!(!to.join("old").exists() && !to.join("a/target").exists());
    }
}
