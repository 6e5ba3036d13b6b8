//! What the settings of a repository have git run or obey, by path. Must not run anything, and must not decide which
//! of it may be changed.

use super::{
    config::{Entry, entries, text_of},
    location::Location,
};
use crate::index::Stamp;
use rustix::fs::{AtFlags, CWD, statat};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// How far an include is followed from another.
const DEPTH_MAX: usize = 5;

/// The most files that are read for one work tree.
const FILES_MAX: usize = 64;

/// What git and its companions look for in a directory of hooks.
pub(crate) const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Settings that name a file or a directory: `*` stands for a part in between.
const PATHS: &[&str] = &[
    "core.attributesfile",
    "gpg.ssh.allowedsignersfile",
    "init.templatedir",
];

/// Settings that hold a command.
const COMMANDS: &[&str] = &[
    "alias.*",
    "browser.*.cmd",
    "browser.*.path",
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "credential.*.helper",
    "credential.helper",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "difftool.*.cmd",
    "difftool.*.path",
    "filter.*.clean",
    "filter.*.process",
    "filter.*.smudge",
    "gc.recentobjectshook",
    "gpg.*.defaultkeycommand",
    "gpg.*.program",
    "gpg.program",
    "guitool.*.cmd",
    "hook.*.command",
    "interactive.difffilter",
    "man.*.cmd",
    "man.*.path",
    "merge.*.driver",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "pager.*",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "sendemail.*",
    "sequence.editor",
    "submodule.*.update",
    "tar.*.command",
    "trailer.*.cmd",
    "trailer.*.command",
    "uploadpack.packobjectshook",
];

/// What a setting names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A directory of hooks.
    Hooks(PathBuf),
    /// A file that counts as soon as it is there.
    File(PathBuf),
    /// A word of a command, which may name a file.
    Word(PathBuf),
}

/// The files of settings as they were last read.
#[derive(Debug, Default)]
pub(crate) struct Settings(BTreeMap<PathBuf, (Stamp, Vec<Entry>)>);

impl Settings {
    /// What is named for a work tree by its repository, and by the files of whoever works there.
    pub(crate) fn named(
        &mut self,
        root: &Path,
        location: &Location,
        home: Option<&Path>,
    ) -> Vec<Named> {
        let mut reading = Reading {
            settings: self,
            root,
            home,
            files: 0,
            found: Vec::new(),
        };
        let home = home.into_iter();
        let own = home.flat_map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
        for file in own.chain([
            location.common.join("config"),
            location.directory.join("config.worktree"),
        ]) {
            reading.read(&file, 0);
        }
        reading.found
    }

    /// The entries of a file, of which those are kept that tell every change by their times.
    fn entries(&mut self, file: &Path) -> Vec<Entry> {
        let now = SystemTime::now();
        let Ok(stat) = statat(CWD, file, AtFlags::empty()) else {
            self.0.remove(file);
            return Vec::new();
        };
        let stamp = Stamp::of(&stat);
        if let Some((_, entries)) = self.0.get(file).filter(|(at, _)| *at == stamp) {
            return entries.clone();
        }
        let mut read = text_of(file).map(|text| entries(&text)).unwrap_or_default();
        read.retain(|entry| entry.value.is_some() && kind(entry).is_some());
        if stamp.is_settled(now) {
            self.0.insert(file.to_owned(), (stamp, read.clone()));
        }
        read
    }
}

/// One work tree's settings while they are read.
struct Reading<'a> {
    settings: &'a mut Settings,
    root: &'a Path,
    home: Option<&'a Path>,
    files: usize,
    found: Vec<Named>,
}

impl Reading<'_> {
    fn read(&mut self, file: &Path, depth: usize) {
        self.files += 1;
        if depth > DEPTH_MAX || self.files > FILES_MAX {
            return;
        }
        for entry in self.settings.entries(file) {
            let Some((kind, value)) = kind(&entry).zip(entry.value.as_deref()) else {
                continue;
            };
            match kind {
                Kind::Include => {
                    let around = file.parent().unwrap_or(Path::new("/"));
                    if let Some(path) = self.path(around, value) {
                        // The condition of an include may hold tomorrow.
                        self.read(&path, depth + 1);
                        self.found.push(Named::File(path));
                    }
                }
                Kind::Hooks => self
                    .found
                    .extend(self.path(self.root, value).map(Named::Hooks)),
                Kind::Path => self
                    .found
                    .extend(self.path(self.root, value).map(Named::File)),
                Kind::Command => self.words(value),
            }
        }
    }

    /// The words of a command that could be files. Which of them are is for whoever looks at the disk to say.
    fn words(&mut self, command: &str) {
        let is_first = |number: usize, word: &str| number == 0 && word.contains('/');
        let is_between = |it: char| it.is_whitespace() || "'\"`;|&()<>=".contains(it);
        let words = command.trim_start_matches('!').split(is_between);
        for (number, word) in words.filter(|word| !word.is_empty()).enumerate() {
            let path = self.path(self.root, word);
            if is_first(number, word) {
                self.found.extend(path.map(Named::File));
            } else if number > 0 {
                self.found.extend(path.map(Named::Word));
            }
            // A program that is named without a folder is looked for elsewhere.
        }
    }

    fn path(&self, from: &Path, value: &str) -> Option<PathBuf> {
        let value = value.strip_prefix(":(optional)").unwrap_or(value);
        if value.is_empty() || value.contains('\0') {
            return None;
        }
        match value.strip_prefix("~/") {
            Some(below) => Some(self.home?.join(below)),
            None => Some(from.join(value)),
        }
    }
}

/// The settings of a text that have git run something, look elsewhere for hooks, or read more settings: name and
/// value.
pub(crate) fn running(text: &str) -> Vec<(String, String)> {
    let is_meant = |entry: &Entry| match kind(entry) {
        Some(Kind::Include | Kind::Hooks) => true,
        Some(Kind::Command) => !is_plain(entry),
        // An address may hold a command, where a protocol that runs it is let.
        Some(Kind::Path) | None => entry.section == "protocol" && entry.key == "allow",
    };
    let said = |entry: Entry| {
        let name = match entry.subsection {
            Some(sub) => format!("{}.{sub}.{}", entry.section, entry.key),
            None => format!("{}.{}", entry.section, entry.key),
        };
        Some((name, entry.value?))
    };
    let entries = entries(text).into_iter().filter(is_meant);
    entries.filter_map(said).collect()
}

/// Whether a text has git run nothing, read no other settings, and look for nothing elsewhere.
pub(crate) fn is_harmless(text: &str) -> bool {
    let is_elsewhere = |it: &Entry| match it.section.as_str() {
        "core" => matches!(it.key.as_str(), "attributesfile" | "worktree"),
        // Git gives up on it.
        "" => true,
        _ => false,
    };
    running(text).is_empty() && !entries(text).iter().any(is_elsewhere)
}

/// Whether a setting for a command holds none: a file watcher is also turned on and off, and an empty one is none.
fn is_plain(entry: &Entry) -> bool {
    let value = entry.value.as_deref().unwrap_or_default();
    let is_turned = ["true", "false", "yes", "no", "on", "off", "1", "0"]
        .iter()
        .any(|it| value.eq_ignore_ascii_case(it));
    value.is_empty() || is_turned && entry.key == "fsmonitor"
}

/// What a setting is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Include,
    Hooks,
    Path,
    Command,
}

fn kind(entry: &Entry) -> Option<Kind> {
    let (section, key) = (entry.section.as_str(), entry.key.as_str());
    match (section, key) {
        ("include" | "includeif", "path") => return Some(Kind::Include),
        ("core", "hookspath") => return Some(Kind::Hooks),
        _ => {}
    }
    let is_about = |pattern: &&str| {
        let mut parts = pattern.split('.');
        let first = parts.next() == Some(section);
        let last = parts.next_back();
        // `*` in between stands for a subsection, and at the end for any key.
        let between = parts.next();
        let is_between = match (between, entry.subsection.as_deref()) {
            (None, None) => true,
            (Some(between), Some(sub)) => between == "*" || between.eq_ignore_ascii_case(sub),
            (None, Some(_)) => last == Some("*"),
            (Some(_), None) => false,
        };
        first && is_between && (last == Some("*") || last == Some(key))
    };
    if PATHS.iter().any(is_about) {
        return Some(Kind::Path);
    }
    // Of these, others are commands of git itself.
    let is_shell = |value: &str| value.starts_with('!');
    let is_git = matches!(section, "alias" | "submodule");
    let is_command = !is_git || entry.value.as_deref().is_some_and(is_shell);
    (is_command && COMMANDS.iter().any(is_about)).then_some(Kind::Command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// What a repository's settings name, relative to its work tree.
    fn named(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        for (name, text) in files {
            fs::write(root.join(name), text).unwrap();
        }
        let location = Location::of(&root).unwrap();
        let home = root.join("home");
        let mut settings = Settings::default();
        let found = settings.named(&root, &location, Some(&home));
        let text = |it: Named| {
            let (kind, path) = match it {
                Named::Hooks(path) => ("hooks", path),
                Named::File(path) => ("file", path),
                Named::Word(path) => ("word", path),
            };
            let path = path.strip_prefix(&root).unwrap_or(&path).to_owned();
            format!("{kind} {}", path.display())
        };
        found.into_iter().map(text).collect()
    }

    #[test]
    fn paths_and_the_words_of_commands_are_named() {
        for (settings, want) in [
            ("[core]\nhooksPath = a/b", &["hooks a/b"][..]),
            ("[core]\nhooksPath = ~/h\nbare", &["hooks home/h"]),
            ("[core]\nhooksPath = /x", &["hooks /x"]),
            ("[core]\nattributesFile = :(optional)x", &["file x"]),
            (
                "[core]\nfsmonitor = ./w \"--a=b c\"",
                &["file w", "word --a", "word b", "word c"],
            ),
            ("[core]\nfsmonitor = true\npager = less", &[]),
            ("[core \"x\"]\npager = ./no", &[]),
            ("[diff \"x.y\"]\ntextconv = sh c.sh", &["word c.sh"]),
            ("[diff]\ntextconv = ./no\nexternal = ./d", &["file d"]),
            ("[filter \"x\"]\nrequired\nclean = ./c", &["file c"]),
            ("[alias]\na = log x\nb = !./y", &["file y"]),
            (
                "[submodule \"s\"]\nupdate = merge x\nurl = ./x\npath = ./y",
                &[],
            ),
            ("[credential \"https://x\"]\nhelper = !./y", &["file y"]),
            (
                "[gpg \"ssh\"]\nallowedSignersFile = s\nprogram = ./p",
                &["file s", "file p"],
            ),
            ("[user]\nname = ./x\n[remote \"o\"]\nurl = ./y", &[]),
        ] {
            assert_eq!(named(&[(".git/config", settings)]), want, "{settings}");
        }
    }

    #[test]
    fn what_has_git_run_something_is_told_from_what_git_writes_itself() {
        for (text, want) in [
            (
                "[core]\n\tbare = false\n\tlogallrefupdates = true\n",
                &[][..],
            ),
            ("[core]\nfsmonitor = ./mon\nbare", &["core.fsmonitor"]),
            ("[core]\nfsmonitor = True\nuntrackedCache = true", &[]),
            ("[core]\nfsmonitor", &[]),
            ("[core]\nhooksPath = h", &["core.hookspath"]),
            ("[core]\nhooksPath =", &["core.hookspath"]),
            ("[include]\npath = x", &["include.path"]),
            (
                "[includeIf \"gitdir:/\"]\npath = x",
                &["includeif.gitdir:/.path"],
            ),
            (
                "[filter \"lfs\"]\nprocess = git-lfs filter-process\nrequired = true",
                &["filter.lfs.process"],
            ),
            ("[alias]\nst = status\nx = !x", &["alias.x"]),
            (
                "[protocol \"ext\"]\nallow = always",
                &["protocol.ext.allow"],
            ),
            (
                "[remote \"o\"]\nurl = https://x.invalid/y\nfetch = +refs/heads/*:refs/remotes/o/*\n\
                 [branch \"m\"]\nremote = o\nmerge = refs/heads/m\n\
                 [submodule \"s\"]\nactive = true\nurl = https://x.invalid/s",
                &[],
            ),
            ("[credential]\nhelper =", &[]),
            ("[core]\npager = less", &["core.pager"]),
        ] {
            let names: Vec<_> = running(text).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, want, "{text}");
        }
    }

    #[test]
    fn includes_are_followed_so_far_and_no_further() {
        let include =
            |next: &str| format!("[include]\npath = {next}\n[core]\nhooksPath = in-{next}\n");
        let texts = ["../1", "2", "3", "4", "5", "6", "7"].map(include);
        let names = [".git/config", "1", "2", "3", "4", "5", "6"];
        let files: Vec<_> = names
            .into_iter()
            .zip(texts.iter().map(String::as_str))
            .collect();
        let found = named(&files);
        assert!(found.contains(&"hooks in-6".to_owned()), "{found:?}");
        assert!(!found.contains(&"hooks in-7".to_owned()), "{found:?}");
        let round = named(&[(".git/config", "[include]\npath = config\n")]);
        assert!(round.len() <= DEPTH_MAX + 1, "{round:?}");
    }
}
