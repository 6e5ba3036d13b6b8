//! Lines of output as programs wrote them in the sandbox, and others that look alike and are of no wall.

use super::*;

fn ground() -> Ground {
    Ground {
        workspace: "/w".into(),
        directory: "/w/sub".into(),
        command: "make".into(),
    }
}

fn said(line: &str) -> String {
    hint(&format!("before\n{line}\nafter"), Some(1), &ground())
}

/// The paths that are named, each with what would open it.
#[track_caller]
fn check(line: &str, want: &[&str]) {
    let said = said(line);
    let named: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("- "))
        .collect();
    assert_eq!(named, want, "{line}");
}

const ANY_A: &str = r#"`/w/sub/a b`: `"permission": {"read":{"sub/a b":"allow"}}` or `"permission": {"edit.command":{"sub/a b":"allow"}}`"#;
const ANY_ENV: &str = r#"`/w/sub/.env`: `"permission": {"read":{"sub/.env":"allow"}}` or `"permission": {"edit.command":{"sub/.env":"allow"}}`"#;
const HIDDEN_ENV: &str = r#"`/w/sub/.env`: hidden; `"permission": {"read":{"sub/.env":"allow"}}`"#;
const CHANGE_A: &str = r#"`/w/sub/a.c`: `"permission": {"edit.command":{"sub/a.c":"allow"}}`"#;
const CHANGE_B: &str = r#"`/w/sub/b`: `"permission": {"edit.command":{"sub/b":"allow"}}`"#;
const OUTSIDE: &str =
    r#"`/home/u/x`: `"permission": {"external_directory":{"/home/u/*":"allow"}}`"#;
const SYSTEM_DIR: &str = r#"`/opt/n`: `"permission": {"external_directory":{"/opt/*":"allow"}}`"#;
const CURSOR: &str =
    "`/w/.cursor`: protected: it asks each time, and only where the command names it";
const CLAUDE: &str =
    "`/w/CLAUDE.md`: protected: it asks each time, and only where the command names it";

#[test]
fn a_path_is_found_however_programs_speak_of_it() {
    for line in [
        "cat: a b: Permission denied",
        "cat: 'a b': Permission denied",
        "bash: line 1: a b: Permission denied",
        "PermissionError: [Errno 13] Permission denied: 'a b'",
        "Error: EACCES: permission denied, open '/w/sub/a b'",
        "grep: ../sub/./a b: Permission denied",
        "sh: 1: cannot create a b: Permission denied",
    ] {
        check(line, &[ANY_A]);
    }
    for line in [
        "cp: cannot open '.env' for reading: Permission denied",
        "head: cannot open '.env' for reading: Permission denied",
        "wc: .env: Permission denied",
        "diff: .env: Permission denied",
        "make: .env: Permission denied",
        ".env: Permission denied (os error 13)",
        "sh: 1: .: cannot open ./.env: Permission denied",
        "sed: can't read .env: Permission denied",
        "awk: cannot open .env (Permission denied)",
        "cannot open .env: Permission denied at -e line 1.",
        "fatal: could not open '.env' for reading: Permission denied",
        "tar: ./.env: Cannot open: Permission denied",
    ] {
        check(line, &[ANY_ENV]);
    }
    for line in [
        "error: .env: unsupported file type",
        "error: .env: can only add regular files, symbolic links or git-directories",
        "\tzip warning: ignoring special file: .env",
    ] {
        check(line, &[HIDDEN_ENV]);
    }
    for line in [
        "bash: line 1: a.c: Read-only file system",
        "sh: 1: cannot create a.c: Read-only file system",
        "rm: cannot remove 'a.c': Device or resource busy",
        "rm: cannot remove \u{2018}a.c\u{2019}: Device or resource busy",
        "error: could not write config file a.c: Device or resource busy",
        "error: unable to unlink old 'a.c': Device or resource busy",
        "OSError: [Errno 30] Read-only file system: 'a.c'",
        "OSError: [Errno 16] Device or resource busy: 'a.c'",
        "Error: EROFS: read-only file system, open 'a.c'",
        "Error: EBUSY: resource busy or locked, unlink 'a.c'",
        "cp: cannot create regular file 'a.c': Read-only file system",
        "touch: cannot touch 'a.c': Read-only file system",
        "chmod: changing permissions of 'a.c': Read-only file system",
        "tee: a.c: Read-only file system",
        "truncate: cannot open 'a.c' for writing: Read-only file system",
        "ln: failed to create symbolic link 'a.c': Device or resource busy",
        "install: cannot remove 'a.c': Device or resource busy",
        "dd: failed to open 'a.c': Read-only file system",
        "cannot write a.c: Read-only file system at -e line 1.",
    ] {
        check(line, &[CHANGE_A]);
    }
    for line in [
        "mv: cannot move 'a.c' to 'b': Device or resource busy",
        "OSError: [Errno 16] Device or resource busy: 'a.c' -> 'b'",
        "Error: EBUSY: resource busy or locked, rename 'a.c' -> 'b'",
    ] {
        check(line, &[CHANGE_A, CHANGE_B]);
    }
}

#[test]
fn a_name_that_is_held_is_told_and_no_other_that_is_there() {
    for line in [
        "mkdir: cannot create directory '../.cursor': File exists",
        "FileExistsError: [Errno 17] File exists: '../.cursor'",
        "Error: EEXIST: file already exists, mkdir '../.cursor'",
        "mv: cannot move '../.cursor': Device or resource busy",
    ] {
        check(line, &[CURSOR]);
    }
    for line in [
        "sh: 1: cannot create ../CLAUDE.md: Is a directory",
        "IsADirectoryError: [Errno 21] Is a directory: '../CLAUDE.md'",
        "Error: EISDIR: illegal operation on a directory, open '/w/CLAUDE.md'",
        "mv: cannot overwrite directory '/w/CLAUDE.md' with non-directory",
        "fatal: cannot rmdir '/w/CLAUDE.md': Device or resource busy",
    ] {
        check(line, &[CLAUDE]);
    }
    let git =
        "`/w/sub/.git/config`: protected: it asks each time, and only where the command names it";
    check(
        "error: could not write config file .git/config: Device or resource busy",
        &[git],
    );
    let below = "protected: it asks each time, and only where the command names it";
    let below = format!("`/w/.cursor/x`: {below}");
    check(
        "touch: cannot touch '/w/.cursor/x': No such file or directory",
        &[&below],
    );
}

#[test]
fn what_is_missing_is_named_only_where_it_may_be_hidden() {
    check("cat: /home/u/x: No such file or directory", &[OUTSIDE]);
    check("cat: ../../home/u/x: No such file or directory", &[OUTSIDE]);
    check(
        "touch: cannot touch '../../home/u/x': No such file or directory",
        &[OUTSIDE],
    );
    check(
        "sh: 1: cannot create /home/u/x: Directory nonexistent",
        &[OUTSIDE],
    );
    check(
        "mkdir: cannot create directory '/opt/n': Read-only file system",
        &[SYSTEM_DIR],
    );
}

#[test]
fn an_ordinary_failure_is_not_of_a_wall() {
    for line in [
        "cat: a.c: No such file or directory",
        "cat: /w: No such file or directory",
        "/w/a.c:1:10: fatal error: /usr/include/x.h: No such file or directory",
        "bash: line 1: nosuch: command not found",
        "bash: ./nosuch: No such file or directory",
        "ls: cannot access 'src/x': No such file or directory",
        "mkdir: cannot create directory 'src': File exists",
        "mkdir: cannot create directory 'a/b': No such file or directory",
        "touch: cannot touch 'a/b': No such file or directory",
        "cat: src: Is a directory",
        "rm: cannot remove 'src': Is a directory",
        "FileExistsError: [Errno 17] File exists: 'src'",
        "Error: ENOENT: no such file or directory, open 'x.json'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'x.json'",
        "called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: \"No such file or directory\" }",
        "make: *** No rule to make target 'x'.  Stop.",
        "error: pathspec 'x' did not match any file(s) known to git",
        "fatal: not a git repository (or any of the parent directories): .git",
        "error[E0433]: failed to resolve: use of undeclared crate or module `x`",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored",
        "npm error Missing script: \"x\"",
        "grep: x: binary file matches",
        "python3: can't open file '/w/x.py': [Errno 2] No such file or directory",
        "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "AssertionError: expected 1, got 2",
    ] {
        assert_eq!(said(line), "", "{line}");
    }
    let line = "bash: line 1: ./run.sh: Permission denied";
    assert_eq!(hint(line, Some(126), &ground()), "", "its mode says no");
    assert_ne!(hint(line, Some(1), &ground()), "");
}

#[test]
fn words_without_a_path_are_told_without_one() {
    for line in [
        "Error: Permission denied (os error 13)",
        "bind: Operation not permitted",
        "EACCES",
        "ssh: Permission denied (publickey).",
        "sed: cannot rename ./sedGjTEdO: Device or resource busy",
        "error: could not lock config file /dev/null: Permission denied",
    ] {
        check(line, &[]);
        assert!(said(line).contains("may come from it"), "{line}");
    }
}

#[test]
fn who_reaches_no_machine_is_told_how_one_is_reached() {
    for line in [
        "ssh: Could not resolve hostname example.com: Temporary failure in name resolution",
        "bash: connect: Network is unreachable",
        "Error: getaddrinfo EAI_AGAIN example.com",
        "curl: (6) Could not resolve host: example.com",
    ] {
        check(line, &[]);
        assert!(said(line).contains("only through the proxy"), "{line}");
    }
}

#[test]
fn files_that_git_could_not_change_are_named_with_the_command_that_does() {
    let output = "error: unable to unlink old '.vscode/settings.json': Read-only file system\n\
                  error: unable to unlink old 'AGENTS.md': Device or resource busy\n\
                  error: unable to unlink old 'it is.md': Device or resource busy\n\
                  error: unable to unlink old 'AGENTS.md': Device or resource busy\n\
                  warning: unable to unlink '.mcp.json': Device or resource busy\nSwitched to branch 'x'";
    let said = left_by_git(output, "git checkout x");
    let named = "`git restore .vscode/settings.json AGENTS.md 'it is.md'; rm .mcp.json`";
    assert!(said.contains(named), "{said}");
    assert!(said.contains("do not commit them"), "{said}");
    let said = left_by_git(output, "git merge x");
    let named = "`touch -c .vscode/settings.json AGENTS.md 'it is.md' .mcp.json && git merge x`";
    assert!(said.contains(named), "{said}");
    let stopped = "fatal: cannot rmdir 'CLAUDE.md': Device or resource busy";
    let said = left_by_git(stopped, "git checkout x");
    assert!(
        said.contains("`touch -c CLAUDE.md && git checkout x`"),
        "{said}"
    );
    assert!(left_by_git(stopped, "git `\n").contains("&& ...`"));
    for output in [
        "Switched to branch 'x'",
        "error: unable to unlink old 'a': Directory not empty",
        "error: unable to create file a: File name too long",
    ] {
        assert_eq!(left_by_git(output, "git checkout x"), "", "{output}");
    }
}

#[test]
fn a_machine_that_was_refused_is_named_with_its_rule() {
    assert_eq!(refused(&[]), "");
    let said = refused(&["example.com:443".to_owned()]);
    let rule = r#"`example.com:443`: `"permission": {"network":{"example.com:443":"allow"}}`"#;
    assert!(said.ends_with(rule), "{said}");
}

#[test]
fn few_paths_are_named_and_each_once() {
    let lines: Vec<String> = (0..9)
        .map(|n| format!("cat: {}: Permission denied", n / 2))
        .collect();
    let said = hint(&lines.join("\n"), Some(1), &ground());
    assert_eq!(said.matches("\n- ").count(), NAMED_MAX);
}
