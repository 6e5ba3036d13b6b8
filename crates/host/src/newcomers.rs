//! What a command leaves in repositories that git would run for the next one who works there: no wall could protect
//! it, for it was not there before. Looked for when the command has ended, moved away, and told.
//! Must not touch what a permit opened, what was there before, or what git makes by itself.

use crate::{
    beneath,
    git::{Repository, running},
    index::Closed,
    local::Machine,
    quarantine::{Outcome, Store, Unlocked},
};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::{OsStr, OsString},
    fs::File,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::PoisonError,
};

/// The files of settings of a repository.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];

/// What a rebase that is under way does next.
const NEXT_STEPS: &str = "rebase-merge/git-rebase-todo";

/// The most that is read of a file, in bytes. Git writes none that is larger.
const BYTES_MAX: u64 = 256 * 1024;

/// With more hooks than that, their directory is moved as a whole.
const HOOKS_MAX: usize = 32;

/// How many directories are looked through where the index looks into none.
const UNSEEN_MAX: usize = 20_000;

/// How many settings of one file are named.
const NAMES_MAX: usize = 3;

/// Repositories, as far as they can be found from a tree.
#[derive(Debug, Default)]
pub(crate) struct Repositories {
    /// Their own directories.
    directories: BTreeSet<PathBuf>,
    /// The directory of a `.git` that leads to another one, and where it leads.
    leading: Vec<(PathBuf, [PathBuf; 2])>,
    /// Directories that the index did not look into.
    unseen: BTreeSet<PathBuf>,
}

impl Repositories {
    pub(crate) fn of(closed: &Closed) -> Self {
        let mut found = Self::default();
        found.add(closed);
        found
    }

    pub(crate) fn add(&mut self, closed: &Closed) {
        self.directories.extend(closed.repositories.iter().cloned());
        self.unseen.extend(closed.unseen.iter().cloned());
        for it in &closed.work_trees {
            let ends = [&it.location.directory, &it.location.common].map(Clone::clone);
            if ends[0] != it.root.join(".git") {
                self.leading.push((it.root.clone(), ends));
            }
        }
    }

    pub(crate) fn extend(&mut self, others: &Self) {
        self.directories.extend(others.directories.iter().cloned());
        self.leading.extend(others.leading.iter().cloned());
        self.unseen.extend(others.unseen.iter().cloned());
    }

    /// Adds those outside of the tree where commands can write, and that are there tomorrow.
    fn extend_to(&mut self, writable: &[PathBuf], temp_dir: &Path) {
        let is_written = |path: &&PathBuf| {
            !path.starts_with(temp_dir) && writable.iter().any(|it| path.starts_with(it))
        };
        let ends = self.leading.iter().flat_map(|(_, ends)| ends);
        self.directories.extend(ends.filter(is_written).cloned());
    }
}

/// What was there before a command.
#[derive(Debug)]
pub(crate) struct Newcomers {
    /// What git would have run then, by the file that says so.
    before: BTreeMap<PathBuf, Said>,
    /// Files and directories of repositories that walls or the watch hold.
    held: HashSet<PathBuf>,
    writable: Vec<PathBuf>,
}

/// What a file has git run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// Settings by name, with their values.
    Settings(Vec<(String, String)>),
    /// It cannot be told: a link, or a file that is too large or cannot be read.
    Unknown,
    /// A hook, by what tells one file from another.
    Hook([i128; 3]),
    /// Lines of a rebase that is under way.
    Lines(Vec<String>),
}

impl Said {
    /// Whether there is anything that an earlier look did not find.
    fn is_new(&self, before: Option<&Self>) -> bool {
        match (self, before) {
            (Self::Settings(now), Some(Self::Settings(old))) => {
                now.iter().any(|it| !old.contains(it))
            }
            (Self::Lines(now), Some(Self::Lines(old))) => now.iter().any(|it| !old.contains(it)),
            (now, before) => before != Some(now),
        }
    }
}

impl Machine {
    /// What there is to be compared with when a command with these walls has ended. `None`: it can write nothing in
    /// the workspace.
    pub(crate) fn before_newcomers(&self, walls: &sandbox::Walls) -> Option<Newcomers> {
        let lies_there =
            |path: &PathBuf| path.starts_with(&self.workspace) || self.workspace.starts_with(path);
        if !walls.writable.iter().any(lies_there) {
            return None;
        }
        let is_of_git = |path: &&PathBuf| path.ends_with("config") || path.ends_with("hooks");
        let held = walls.write_protected.iter().filter(is_of_git);
        let mut newcomers = Newcomers {
            before: BTreeMap::new(),
            held: held.cloned().collect(),
            writable: walls.writable.clone(),
        };
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = trees.repositories();
        drop(trees);
        found.extend_to(&newcomers.writable, &self.temp_dir);
        newcomers.before = self.said_in(&found, &newcomers);
        Some(newcomers)
    }

    /// Looks for what was not there before and has no permit, and moves it away.
    pub(crate) fn set_newcomers_aside(
        &self,
        newcomers: &Newcomers,
        is_permitted: impl Fn(&Path) -> bool,
        store: &mut Store<'_>,
        outcome: &mut Outcome,
    ) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let found = trees.look_for_repositories(self, &newcomers.writable);
        drop(trees);
        let mut found = match found {
            Ok(found) => found,
            Err(error) => {
                let failed = (self.workspace.clone(), error.to_string());
                return outcome.failed.push(failed);
            }
        };
        found.extend_to(&newcomers.writable, &self.temp_dir);
        for root in found.leading_into(&self.temp_dir) {
            let path = root.join(".git");
            if !is_permitted(&path) {
                let why = "leads git to a repository in the folder for temporary files, which is gone with this session";
                self.move_away(store, outcome, &path, why);
            }
        }
        for (path, said) in self.said_in(&found, newcomers) {
            if is_permitted(&path) || !said.is_new(newcomers.before.get(&path)) {
                continue;
            }
            match &said {
                Said::Lines(lines) => {
                    let first = lines.first().map(String::as_str).unwrap_or_default();
                    let what = format!(
                        "runs programs when the rebase goes on (`{first}`): it was left, for a rebase may need it"
                    );
                    outcome.tell(&path, &what);
                }
                Said::Settings(settings) => {
                    let names = settings.iter().map(|(name, _)| name.as_str());
                    let names: Vec<_> = names.take(NAMES_MAX).collect();
                    let why = format!(
                        "has git run programs or read more (`{}`)",
                        names.join("`, `")
                    );
                    self.move_away(store, outcome, &path, &why);
                }
                Said::Unknown => {
                    let why = "may have git run programs, for it cannot be told what it says";
                    self.move_away(store, outcome, &path, why);
                }
                Said::Hook(_) => {
                    let why = "is a program that git runs by itself";
                    self.move_away(store, outcome, &path, why);
                }
            }
        }
    }

    fn move_away(&self, store: &mut Store<'_>, outcome: &mut Outcome, path: &Path, why: &str) {
        let Some((around, name)) = path.parent().zip(path.file_name()) else {
            return;
        };
        let moved = self.directory(around).and_then(|dir| {
            // The command may have closed it.
            let _unlocked = Unlocked::new(dir.as_fd())?;
            store.take(dir.as_fd(), name, path)
        });
        match moved {
            Ok(kept_at) => {
                let what = format!("{why}, and is new: it was moved to `{}`", kept_at.display());
                outcome.tell(path, &what);
            }
            Err(error) => outcome.fail(path, error),
        }
    }

    fn directory(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let below = path.strip_prefix("/").unwrap_or(path);
        beneath::directory(self.root.as_fd(), below)
    }

    /// What git would run in these repositories, but for what is held.
    fn said_in(&self, found: &Repositories, newcomers: &Newcomers) -> BTreeMap<PathBuf, Said> {
        let mut all = BTreeMap::new();
        let mut directories = found.directories.clone();
        for path in &found.unseen {
            match self.repositories_below(path) {
                Some(below) => directories.extend(below),
                None => drop(all.insert(path.clone(), Said::Unknown)),
            }
        }
        for path in &directories {
            // What cannot be opened by us, cannot be by whoever works there.
            let Ok(dir) = self.directory(path) else {
                continue;
            };
            for name in SETTINGS {
                let file = path.join(name);
                if !newcomers.held.contains(&file) {
                    all.extend(settings_in(&dir, name).map(|said| (file, said)));
                }
            }
            let hooks = path.join("hooks");
            if !newcomers.held.contains(&hooks) {
                all.extend(hooks_in(&dir, &hooks));
            }
            all.extend(lines_in(&dir).map(|said| (path.join(NEXT_STEPS), said)));
        }
        all
    }
}

impl Machine {
    /// The repositories in a directory that the index does not look into: its name is no text, it lies too deep, or it
    /// was closed to us, and git may enter it all the same. `None`: there is too much in it.
    fn repositories_below(&self, top: &Path) -> Option<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut left = vec![top.to_owned()];
        let mut looked = 0;
        while let Some(path) = left.pop() {
            looked += 1;
            if looked > UNSEEN_MAX {
                return None;
            }
            // Where we cannot walk, nobody can who works there; nor by a path that is too long for the system.
            let Ok(dir) = self.directory(&path) else {
                continue;
            };
            let _unlocked = Unlocked::new(dir.as_fd());
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(names) = openat(&dir, ".", flags, Mode::empty()).and_then(|it| names_in(&it))
            else {
                continue;
            };
            let has = |name: &str| names.iter().any(|it| it == name);
            let is_git = path
                .file_name()
                .is_some_and(|it| Repository::called(it).is_some());
            if is_git || has("HEAD") && (has("commondir") || has("objects") && has("refs")) {
                found.push(path.clone());
            }
            let is_directory = |name: &&OsString| {
                let stat = statat(&dir, *name, AtFlags::SYMLINK_NOFOLLOW);
                *name != "."
                    && *name != ".."
                    && stat
                        .is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Directory)
            };
            left.extend(
                names
                    .iter()
                    .filter(is_directory)
                    .map(|name| path.join(name)),
            );
        }
        Some(found)
    }
}

impl Repositories {
    /// The work trees that lead into a directory which goes with the session.
    fn leading_into(&self, temp_dir: &Path) -> Vec<PathBuf> {
        let is_there = |ends: &[PathBuf; 2]| ends.iter().any(|end| end.starts_with(temp_dir));
        let there = self.leading.iter().filter(|(_, ends)| is_there(ends));
        there.map(|(root, _)| root.clone()).collect()
    }
}

fn settings_in(dir: &OwnedFd, name: &str) -> Option<Said> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        // Git reads none of these.
        FileType::Directory => return None,
        _ => return Some(Said::Unknown),
    }
    let Some(text) = text_in(dir, name) else {
        return Some(Said::Unknown);
    };
    let settings = running(&text);
    (!settings.is_empty()).then_some(Said::Settings(settings))
}

/// The programs in a directory of hooks; the directory itself where it is none, or holds too many.
fn hooks_in(dir: &OwnedFd, path: &Path) -> Vec<(PathBuf, Said)> {
    let whole = || vec![(path.to_owned(), Said::Unknown)];
    match statat(dir, "hooks", AtFlags::SYMLINK_NOFOLLOW)
        .map(|it| FileType::from_raw_mode(it.st_mode))
    {
        Ok(FileType::Directory) => {}
        Ok(FileType::Symlink) => return whole(),
        Ok(_) | Err(_) => return Vec::new(),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let names =
        openat(dir, "hooks", flags, Mode::empty()).and_then(|hooks| Ok((names_in(&hooks)?, hooks)));
    let Ok((names, hooks)) = names else {
        return whole();
    };
    let mut found = Vec::new();
    for name in names {
        if name.as_bytes().ends_with(b".sample") {
            continue;
        }
        let Ok(stat) = statat(&hooks, &name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let is_run = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => stat.st_mode & 0o111 != 0,
            kind => kind == FileType::Symlink,
        };
        if is_run {
            let mark = [
                stat.st_ino.into(),
                stat.st_ctime.into(),
                stat.st_ctime_nsec.into(),
            ];
            found.push((path.join(name), Said::Hook(mark)));
        }
        if found.len() > HOOKS_MAX {
            return whole();
        }
    }
    found
}

/// What a rebase under way runs beside git itself.
fn lines_in(dir: &OwnedFd) -> Option<Said> {
    let text = text_in(dir, NEXT_STEPS)?;
    let is_run = |line: &&str| {
        let word = line.split_whitespace().next();
        matches!(word, Some("exec" | "x"))
    };
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(is_run)
        .map(str::to_owned)
        .collect();
    (!lines.is_empty()).then_some(Said::Lines(lines))
}

/// The text of a plain file that is not too large.
fn text_in(dir: &OwnedFd, name: &str) -> Option<String> {
    // What is no plain file must not make us wait.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let is_plain =
        |it: rustix::fs::Stat| FileType::from_raw_mode(it.st_mode) == FileType::RegularFile;
    // Looked at before it is opened: some devices begin something when they are.
    statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
        .ok()
        .filter(|it| is_plain(*it))?;
    let file = openat(dir, name, flags, Mode::empty()).ok()?;
    let stat = fstat(&file).ok().filter(|it| is_plain(*it))?;
    if u64::try_from(stat.st_size).ok()? > BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file)
        .take(BYTES_MAX)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn names_in(dir: &OwnedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    }
    Ok(names)
}
