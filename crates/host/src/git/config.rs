//! Git's own format of settings, read as git reads it: sections, quotes, continued lines, comments.
//! Must not follow an include, and must not know what a setting means.

use rustix::{
    fd::AsRawFd as _,
    fs::{FileType, Mode, OFlags, fstat, open},
};
use std::{fs::File, io::Read as _, iter::Peekable, path::Path, str::Chars};

/// The most that is read of a file, in bytes.
const BYTES_MAX: u64 = 256 * 1024;

/// One line that says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// In lower case.
    pub(super) section: String,
    /// What stands in quotes behind the section.
    pub(super) subsection: Option<String>,
    /// In lower case.
    pub(super) key: String,
    /// `None`: the key stands alone, which means yes.
    pub(super) value: Option<String>,
}

/// The text of a file, if it is a plain one and not too large. Bytes that are no text are replaced.
pub(super) fn text_of(file: &Path) -> Option<String> {
    // SECURITY: a device does something when it is opened (a watchdog starts), so it is only looked at before.
    let place = open(file, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let found = fstat(&place).ok()?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    if !is_file || u64::try_from(found.st_size).ok()? > BYTES_MAX {
        return None;
    }
    let again = format!("/proc/self/fd/{}", place.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = File::from(open(again, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    opened.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// All entries of a text. What git would refuse is read as far as it makes sense: too much is better than nothing.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut rest = text.chars().peekable();
    let mut found = Vec::new();
    let (mut section, mut subsection) = (String::new(), None);
    while let Some(first) = rest.next() {
        match first {
            '[' => (section, subsection) = header(&mut rest),
            '#' | ';' => skip_line(&mut rest),
            _ if first.is_ascii_alphabetic() => {
                let (key, value) = setting(first, &mut rest);
                found.push(Entry {
                    section: section.clone(),
                    subsection: subsection.clone(),
                    key,
                    value,
                });
            }
            _ => {}
        }
    }
    found
}

/// `section "sub"]`, or `section.sub]` as it was written once.
fn header(rest: &mut Peekable<Chars<'_>>) -> (String, Option<String>) {
    let mut name = String::new();
    let mut quoted = None;
    while let Some(next) = rest.next() {
        match next {
            ']' | '\n' => break,
            '"' => quoted = Some(quoted_name(rest)),
            _ if next.is_whitespace() => {}
            _ => name.push(next.to_ascii_lowercase()),
        }
    }
    match (quoted, name.split_once('.')) {
        (None, Some((section, sub))) => (section.to_owned(), Some(sub.to_owned())),
        (quoted, _) => (name, quoted),
    }
}

fn quoted_name(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    while let Some(next) = rest.next() {
        match next {
            '"' | '\n' => break,
            '\\' => name.extend(rest.next()),
            _ => name.push(next),
        }
    }
    name
}

fn setting(first: char, rest: &mut Peekable<Chars<'_>>) -> (String, Option<String>) {
    let mut key = first.to_ascii_lowercase().to_string();
    while let Some(next) = rest.next_if(|it| it.is_ascii_alphanumeric() || *it == '-') {
        key.push(next.to_ascii_lowercase());
    }
    while rest.next_if(|it| matches!(it, ' ' | '\t')).is_some() {}
    let value = rest.next_if_eq(&'=').map(|_| value(rest));
    if value.is_none() {
        skip_line(rest);
    }
    (key, value)
}

/// A value up to the end of its line: blanks around it do not count, but for those in quotes.
fn value(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    // As far as blanks count.
    let mut length = 0;
    let mut is_quoted = false;
    while let Some(next) = rest.next() {
        match next {
            '\n' => break,
            '"' => {
                is_quoted = !is_quoted;
                length = value.len();
                continue;
            }
            '#' | ';' if !is_quoted => {
                skip_line(rest);
                break;
            }
            '\\' => match rest.next() {
                None | Some('\n') => continue,
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => drop(value.pop()),
                Some(other) => value.push(other),
            },
            _ if next.is_whitespace() && !is_quoted => {
                if length > 0 {
                    value.push(next);
                }
                continue;
            }
            _ => value.push(next),
        }
        length = value.len();
    }
    value.truncate(length);
    value
}

fn skip_line(rest: &mut Peekable<Chars<'_>>) {
    for next in rest.by_ref() {
        if next == '\n' {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `section.sub.key=value`, a line each.
    fn said(text: &str) -> Vec<String> {
        let line = |it: Entry| {
            let sub = it
                .subsection
                .map(|sub| format!(".{sub}"))
                .unwrap_or_default();
            let value = it
                .value
                .map(|value| format!("={value}"))
                .unwrap_or_default();
            format!("{}{sub}.{}{value}", it.section, it.key)
        };
        entries(text).into_iter().map(line).collect()
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        for (text, want) in [
            ("[core]\n\thooksPath = a b  \n", &["core.hookspath=a b"][..]),
            ("[core] bare\n", &["core.bare"]),
            ("[Core]HooksPath=x;no\n", &["core.hookspath=x"]),
            (
                "[core]\nhooksPath = \"a ; b \" # no\n",
                &["core.hookspath=a ; b "],
            ),
            (
                "[core]\nhooksPath = a\\\n b\nx=y",
                &["core.hookspath=a b", "core.x=y"],
            ),
            ("[core]\nx = a\"b c\"d\n", &["core.x=ab cd"]),
            (
                "[a \"B\\\"c\"]\nk = \\\"v\\\\\\t\\n\n",
                &["a.B\"c.k=\"v\\\t\n"],
            ),
            (
                "[includeIf \"gitdir:~/x/\"]\npath = ../y\n",
                &["includeif.gitdir:~/x/.path=../y"],
            ),
            ("[branch.Main]\nremote = o\n", &["branch.main.remote=o"]),
            ("# [core]\n; x = y\n\n[core]\r\n  x = y\r\n", &["core.x=y"]),
            ("[core]\nx =\ny = z", &["core.x=", "core.y=z"]),
            ("[core]\nx = \"a\\\nb\"\n", &["core.x=ab"]),
            ("x = y\n[", &[".x=y"]),
        ] {
            assert_eq!(said(text), want, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_plain_file_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "text").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&plain, &link).unwrap();
        let pipe = dir.path().join("pipe");
        let kind = FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // A writer that does not wait finds nobody who has it open to read.
        let write = || open(&pipe, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty());
        for (path, want) in [
            (plain.as_path(), Some("text")),
            (link.as_path(), Some("text")),
            (pipe.as_path(), None),
            (dir.path(), None),
            (Path::new("/dev/full"), None),
            (Path::new("/dev/ptmx"), None),
        ] {
            assert_eq!(text_of(path).as_deref(), want, "{}", path.display());
        }
        assert_eq!(write().unwrap_err(), rustix::io::Errno::NXIO);
    }

    #[test]
    fn git_itself_reads_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        for text in [
            "[core]\n\thooksPath = a b  \n[a \"b.c\"] k = v ; x\n",
            "[core]\nx = a\\\n   b\n y = \"  q \" r\n z = a \\\" b\n",
            "[core]\n a=b#c\n d = e\\\\f\\tg\n[Other]\n K-1 = v\n",
            "[x \"\"]\nk = v\n[y]k=\"\"\n",
        ] {
            std::fs::write(&file, text).unwrap();
            let mut git = std::process::Command::new("git");
            let git = git.args(["config", "--list", "-z", "--file"]).arg(&file);
            let done = git.output().unwrap();
            let theirs = String::from_utf8(done.stdout).unwrap();
            let theirs: Vec<_> = theirs
                .split_terminator('\0')
                .map(|it| it.replacen('\n', "=", 1))
                .collect();
            assert!(!theirs.is_empty(), "{text:?}");
            assert_eq!(said(text), theirs, "{text:?}");
        }
    }
}
