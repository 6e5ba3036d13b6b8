//! The files of a shell line: what is read and changed, by name, by pattern and by whole directory. Must not
//! decide, nor leave out a file that only may be touched.

use super::{Asked, simple::command_of};
use crate::{
    access::{
        Handle,
        handle::{self, Touch},
    },
    host::FileKind,
};
use command::{Below, Line, Mode, RedirectOp, Simple, TouchedPath};
use policy::Subject;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Most files that a pattern may name and still be looked at one by one.
const NAMES_MAX: usize = 512;

/// Names that begin with a dot, in a directory and one below: such as rules often speak of.
const HIDDEN: [&str; 2] = [".*", "*/.*"];

/// Names without a dot before them, in a directory and one below.
const VISIBLE: [&str; 2] = ["*", "*/*"];

/// All names in a directory and one below.
const ALL: [&str; 4] = ["*", ".*", "*/*", "*/.*"];

impl Asked<'_> {
    pub(super) fn touch(&mut self, touch: &command::Touch, line: &Line) {
        let patterns = match &touch.path {
            TouchedPath::Exact(path) => return self.exact(path, touch, line),
            TouchedPath::Unknown(why) => return self.untold(touch, why, line),
            TouchedPath::Below { directory, pattern } => {
                self.shifted(directory, touch, line);
                self.patterns(directory, pattern)
            }
        };
        let Some(patterns) = patterns else {
            return self.lost(touch);
        };
        for pattern in patterns {
            match self.host.expand(&pattern, NAMES_MAX) {
                Some(names) if names.is_empty() => self.exact(&pattern, touch, line),
                Some(names) => {
                    self.each(mode_of(touch), &pattern, &names, touch, line, Merge::None);
                    for name in names {
                        if let Ok(resolved) = self.host.resolve(&name) {
                            self.whole_directory(&Handle::new(resolved), touch, line);
                        }
                    }
                }
                None => {
                    let why = format!("`{pattern}` names more files than are looked at");
                    self.untold(touch, &why, line);
                }
            }
        }
    }

    /// A subject, or one more spelling of a directory outside that is asked about already.
    pub(super) fn push(&mut self, subject: Subject) {
        if subject.permission != "external_directory" {
            self.files.push(subject);
            return;
        }
        let key = (subject.canonical.clone(), subject.narrower);
        let known = self.outside.get(&key).copied();
        if let Some(known) = known.and_then(|at| self.files.get_mut(at)) {
            for other in subject.others {
                if !known.others.contains(&other) {
                    known.others.push(other);
                }
            }
        } else {
            self.outside.insert(key, self.files.len());
            self.files.push(subject);
        }
    }

    fn lost(&mut self, touch: &command::Touch) {
        let at = touch.range.start;
        self.hidden
            .push(format!("a path that leads nowhere at byte {at}"));
    }

    fn shifted(&mut self, path: &str, touch: &command::Touch, line: &Line) {
        if self.is_shifted(path, touch.by, line) {
            self.untold(touch, "a name before `..` may have become a link", line);
        }
    }

    fn exact(&mut self, path: &str, touch: &command::Touch, line: &Line) {
        let Some(handles) = self.ways(path) else {
            return self.lost(touch);
        };
        self.shifted(path, touch, line);
        for handle in handles {
            self.file(&handle, touch, line);
        }
    }

    fn file(&mut self, handle: &Handle, touch: &command::Touch, line: &Line) {
        let is_redirect = self.is_redirect(touch);
        // A word that only may be a path, and names nothing outside, is a word.
        let is_word = !touch.is_certain && !is_redirect;
        if is_word && handle.is_outside() && handle.resolved().found.is_none() {
            return;
        }
        if self.is_told_by_listing(touch, handle) {
            return;
        }
        let found = handle.resolved().found.map(|found| found.kind);
        let kind = match found {
            None => Kind::New,
            Some(FileKind::File) if self.overwrites(line, touch) => Kind::Overwritten,
            Some(_) => Kind::Changed,
        };
        for subject in handle::subjects(mode_of(touch), handle) {
            let subject = self.by_command(subject, touch, line, kind);
            self.push(subject);
        }
        self.whole_directory(handle, touch, line);
    }

    /// What lies in a directory that a command goes through, or gives another name.
    fn whole_directory(&mut self, handle: &Handle, touch: &command::Touch, line: &Line) {
        let found = handle.resolved().found.map(|found| found.kind);
        let Some(by) = touch.by.and_then(|by| line.commands.get(by)) else {
            return;
        };
        if found != Some(FileKind::Directory) {
            return;
        }
        let directory = handle.absolute();
        // Full walls hold what rules close deeper in it; what they name by a dot is told at once.
        let patterns: &[&str] = match (by.reads_below(), self.holds_all) {
            (None, _) | (Some(Below::Visible), true) => &[],
            (Some(Below::Visible), false) => &VISIBLE,
            (Some(Below::All), true) => &HIDDEN,
            (Some(Below::All), false) => &ALL,
        };
        // Where something only is put, or looked at, nothing in it is touched.
        if touch.mode != Mode::Read {
            return;
        }
        self.below(patterns, &[Touch::Read], directory, touch, line);
        // SECURITY: by another name, what is in it is no longer what rules speak of.
        if by.renames() {
            let named = command::Touch {
                is_certain: false,
                ..touch.clone()
            };
            let modes = [Touch::Read, Touch::Write];
            self.below(&ALL, &modes, directory, &named, line);
        }
    }

    /// What a command that takes a directory whole meets first: what lies in it and one below. What lies
    /// deeper is for the walls.
    fn below(
        &mut self,
        patterns: &[&str],
        modes: &[Touch],
        directory: &str,
        touch: &command::Touch,
        line: &Line,
    ) {
        let directory = directory.trim_end_matches('/');
        for pattern in patterns {
            let pattern = format!("{directory}/{pattern}");
            match self.host.expand(&pattern, NAMES_MAX) {
                Some(mut names) => {
                    names.retain(|name| self.may_read(name, touch, line));
                    for mode in modes {
                        let merge = Merge::Into(directory);
                        self.each(*mode, &pattern, &names, touch, line, merge);
                    }
                }
                // What only reads is stopped by each file's own walls; what moves has no second chance.
                None if modes.contains(&Touch::Write) => {
                    let why = format!("`{pattern}` names more files than are looked at");
                    let named = command::Touch {
                        is_certain: true,
                        ..touch.clone()
                    };
                    self.untold(&named, &why, line);
                }
                None => {}
            }
        }
    }

    /// Whether a command that goes through a directory may read what has this name in it.
    fn may_read(&self, name: &str, touch: &command::Touch, line: &Line) -> bool {
        let Some(by) = touch.by.and_then(|by| line.commands.get(by)) else {
            return true;
        };
        let base = name.rsplit('/').next().unwrap_or_default();
        if !by.passes_over(base) {
            return true;
        }
        let found = self.host.resolve(name).ok().and_then(|it| it.found);
        found.is_none_or(|found| found.kind != FileKind::File)
    }

    /// One subject for all names of a pattern: as a text it is what the rules see, and each name is
    /// another spelling, which only tightens.
    fn each(
        &mut self,
        mode: Touch,
        pattern: &str,
        names: &[String],
        touch: &command::Touch,
        line: &Line,
        merge: Merge<'_>,
    ) {
        let mut merged: Option<Subject> = None;
        for name in names {
            let Ok(resolved) = self.host.resolve(name) else {
                continue;
            };
            let handle = Handle::new(resolved);
            if self.is_told_by_listing(touch, &handle) {
                continue;
            }
            for subject in handle::subjects(mode, &handle) {
                if subject.permission == "external_directory" {
                    self.push(merge.of(subject));
                    continue;
                }
                let spellings = [subject.canonical.clone(), subject.source.clone()];
                let spellings = spellings.into_iter().chain(subject.others.clone());
                let all = merged.get_or_insert_with(|| {
                    let workspace = self.host.workspace().to_string_lossy();
                    let below = pattern.strip_prefix(&*workspace);
                    let canonical = below.map_or(pattern, |it| it.trim_start_matches('/'));
                    let mut all =
                        Subject::path(&subject.permission, canonical, pattern, Vec::new());
                    all.is_literal = false;
                    all
                });
                all.others.extend(spellings);
                if all.ask_because.is_none() {
                    all.ask_because = subject.ask_because;
                }
            }
        }
        let kind = if self.overwrites(line, touch) || self.meets(names, touch, line) {
            Kind::Overwritten
        } else {
            Kind::Changed
        };
        if let Some(merged) = merged {
            let merged = self.by_command(merged, touch, line, kind);
            self.push(merged);
        }
    }

    /// Whether something stands where the names of a pattern are moved to.
    fn meets(&self, names: &[String], touch: &command::Touch, line: &Line) -> bool {
        let by = touch.by.and_then(|by| line.commands.get(by));
        if touch.mode != Mode::Write || !by.is_some_and(Simple::renames) {
            return false;
        }
        let beside = line.touches.iter().filter(|it| it.by == touch.by);
        let written = beside.filter(|it| it.mode == Mode::Write && it.path != touch.path);
        let mut places = written.filter_map(|it| match &it.path {
            TouchedPath::Exact(path) => Some(path),
            TouchedPath::Below { .. } | TouchedPath::Unknown(_) => None,
        });
        places.any(|place| {
            names.iter().any(|name| {
                let base = name.rsplit('/').next().unwrap_or_default();
                let target = self.host.resolve(&format!("{place}/{base}"));
                let found = target.ok().and_then(|it| it.found);
                found.is_some_and(|found| found.kind == FileKind::File)
            })
        })
    }

    /// A file as a command touches it: rules may speak of it by a name of its own, and where the command
    /// only may touch it, catch-alls were not written for that.
    fn by_command(
        &mut self,
        mut subject: Subject,
        touch: &command::Touch,
        line: &Line,
        kind: Kind,
    ) -> Subject {
        let is_lost =
            subject.permission == "edit" && subject.is_literal && kind == Kind::Overwritten;
        if subject.permission == "edit" {
            subject.narrower = Some(match kind {
                Kind::New => "edit.new",
                Kind::Changed => "edit.command",
                Kind::Overwritten => "edit.overwrite",
            });
            subject.by = touch.by.and_then(|by| self.command(by, line));
        }
        if subject.permission != "external_directory" {
            let is_redirect = self.is_redirect(touch);
            // SECURITY: after `cd x; ls > y` it is one of two files, and surely one of them.
            // Of a file that stands in the directory it is copied to, no doubt is left.
            subject.is_possible = !touch.is_certain && !is_redirect && !is_lost;
            subject.is_beside = !is_redirect;
        }
        subject
    }

    /// Whether no more is seen of a file than that it is there, and it lies where any list of names shows that.
    fn is_told_by_listing(&self, touch: &command::Touch, handle: &Handle) -> bool {
        touch.mode == Mode::Look && !handle.is_outside() && !self.passes_names
    }

    /// Whether it is the shell that touches a file, for a command or for none.
    fn is_redirect(&self, touch: &command::Touch) -> bool {
        touch.by.is_none() || self.redirects.contains_key(&touch.range.start)
    }

    /// Whether a write takes the place of all that the file holds: a redirect that empties it, or a copy.
    fn overwrites(&self, line: &Line, touch: &command::Touch) -> bool {
        use RedirectOp::{Both, Clobber, Write};
        let redirect = self.redirects.get(&touch.range.start);
        let is_emptied = redirect.is_some_and(|op| matches!(op, Write | Clobber | Both));
        let by = touch.by.and_then(|by| line.commands.get(by));
        // What gets another name is there afterwards as it was.
        let is_source = || {
            let path = text_of(&touch.path).map(str::to_owned);
            let source = touch.by.zip(path);
            let sources = self.sources.get_or_init(|| sources(line));
            source.is_some_and(|source| sources.contains(&source))
        };
        let is_copied = by.is_some_and(Simple::replaces) && !is_source();
        // A redirect that belongs to no command is one that empties, or one that only reads.
        is_emptied || is_copied || touch.by.is_none()
    }

    fn command(&mut self, at: usize, line: &Line) -> Option<Arc<Subject>> {
        let simple = line.commands.get(at)?;
        let make = || Arc::new(command_of(self.spawn, simple));
        Some(Arc::clone(self.commands.entry(at).or_insert_with(make)))
    }

    fn untold(&mut self, touch: &command::Touch, why: &str, line: &Line) {
        let by = touch.by.and_then(|by| line.commands.get(by));
        // Walls hold a file by its name.
        let is_held = self.holds_all && !by.is_some_and(Simple::renames);
        if is_held || !touch.is_certain {
            return;
        }
        let what = match touch.mode {
            Mode::Look => "looks at",
            Mode::Read => "reads",
            Mode::Write => "changes",
        };
        let why = format!("it cannot be told what it {what}: {why}");
        match touch.by {
            Some(by) => _ = self.untold.insert((by, why)),
            None => self.loose.push(why),
        }
    }
}

/// Which directories outside are asked about for the names in one.
#[derive(Clone, Copy)]
enum Merge<'d> {
    /// Each by itself.
    None,
    /// What lies below this one, which is asked about whole, as another spelling of it.
    Into(&'d str),
}

impl Merge<'_> {
    fn of(self, subject: Subject) -> Subject {
        let Merge::Into(directory) = self else {
            return subject;
        };
        let whole = format!("{directory}/*");
        let is_below = subject.canonical.strip_prefix(directory);
        if !is_below.is_some_and(|rest| rest.starts_with('/')) || subject.canonical == whole {
            return subject;
        }
        let others = [subject.canonical].into_iter().chain(subject.others);
        let mut merged = Subject::path(&subject.permission, &whole, &whole, others.collect());
        merged.narrower = subject.narrower;
        merged.always = vec![whole];
        merged
    }
}

/// What a touch is to the rules.
fn mode_of(touch: &command::Touch) -> Touch {
    match touch.mode {
        Mode::Look | Mode::Read => Touch::Read,
        Mode::Write => Touch::Write,
    }
}

/// A file that a command gives another name, with the place of the command in the line.
pub(super) type Source = (usize, String);

/// What the commands of a line give another name: they read it, and take it away.
fn sources(line: &Line) -> HashSet<Source> {
    let renaming: Vec<bool> = line.commands.iter().map(Simple::renames).collect();
    let read = line.touches.iter().filter(|it| it.mode == Mode::Read);
    let renamed = read.filter_map(|it| {
        let by = it.by.filter(|by| renaming.get(*by) == Some(&true))?;
        Some((by, text_of(&it.path)?.to_owned()))
    });
    renamed.collect()
}

fn text_of(path: &TouchedPath) -> Option<&str> {
    match path {
        TouchedPath::Exact(path) | TouchedPath::Below { pattern: path, .. } => Some(path),
        TouchedPath::Unknown(_) => None,
    }
}

/// What a write does to what stands there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    New,
    Changed,
    Overwritten,
}

/// The redirects of a line, by where they begin.
pub(super) fn redirects(line: &Line) -> BTreeMap<usize, RedirectOp> {
    let redirects = line.commands.iter().flat_map(|it| &it.redirects);
    redirects.map(|it| (it.range.start, it.op)).collect()
}
