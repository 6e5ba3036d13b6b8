//! Which paths of a tree the rules close to commands. Walked once; after that only directories that have
//! changed are read again. Must not follow a link, nor open anything but directories.
//!
//! A directory is known by its identity and its times. One that was read while it may still have been
//! changing is read again the next time, because its times could be the same afterwards.

use crate::{beneath, git::Repository, walk::open_below};
use gate::{
    g3_confine::{ChildRules, Leave},
    host::{FileId, Place},
};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, OFlags, Stat, statat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The most names a tree may hold. Beyond that nobody could wait for the walk.
pub(crate) const NAMES_MAX: usize = 1_000_000;

/// What lies deeper is shut, so that nobody can let the walk run out of stack.
const DEPTH_MAX: usize = 256;

/// Times of files are as coarse as the ticks of the kernel.
const TICK: Duration = Duration::from_millis(50);
/// Times of files where the file system keeps whole seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// A name for which no rule was written: it tells what holds for names that do not exist yet.
const ANY: &str = "a-name-that-no-rule-was-written-for";

/// A tree with what the rules say to it.
#[derive(Debug)]
pub(crate) struct Index {
    root: PathBuf,
    place: Place,
    rules: Arc<ChildRules>,
    /// How coarse the times of files are.
    tick: Duration,
    top: Node,
}

/// What a tree shows to one command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// What may not be read, in a tree that may.
    pub(crate) masked: Vec<PathBuf>,
    /// What may be changed. The root itself, or what lies apart from each other in it.
    pub(crate) writable: Vec<PathBuf>,
    /// What may not be changed in there.
    pub(crate) write_protected: Vec<PathBuf>,
    /// Directories in there from which tools take what they execute or obey: the root, and the root of
    /// every repository.
    pub(crate) project_roots: Vec<PathBuf>,
}

/// Why a tree cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("`{}` cannot be looked through: {errno}", path.display())]
    Root { path: PathBuf, errno: Errno },
    #[error(
        "`{}` holds more than {NAMES_MAX} files and directories, so it cannot be told which of them the rules \
         close; take a smaller directory",
        .0.display()
    )]
    TooMany(PathBuf),
}

/// What this call holds permits for, by absolute path.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) read: HashSet<PathBuf>,
    pub(crate) write: HashSet<PathBuf>,
}

/// A directory as it was last read. What is allowed is only counted.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a claim of its own about a directory"
)]
struct Node {
    /// `None`: it must be read.
    stamp: Option<Stamp>,
    names: usize,
    directories: BTreeMap<OsString, Node>,
    /// Files that may not be read.
    unread: Vec<OsString>,
    /// Files that may not be changed.
    unchanged: Vec<OsString>,
    /// Files that may be changed in a directory where none may be made.
    changed: Vec<OsString>,
    /// Whether a file in it may be read, or one that is made there could be.
    is_read: bool,
    /// Whether files may be made in it.
    is_made_in: bool,
    /// Nobody looks into it: the name cannot be judged, it cannot be opened, or the rules close it.
    is_shut: bool,
    /// Whether a repository lies in it.
    is_project: bool,
    /// It is a repository's own directory, where names mean something to git alone.
    repository: Option<Repository>,
}

/// What changes when names are made in a directory, removed or renamed, or when it is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    id: FileId,
    modified_ns: i128,
    changed_ns: i128,
}

/// Nanoseconds in a second.
const SECOND_NS: i128 = 1_000_000_000;

impl Stamp {
    fn of(stat: &Stat) -> Self {
        let time = |seconds: i128, nanoseconds: i128| seconds * SECOND_NS + nanoseconds;
        Self {
            id: beneath::id_of(stat),
            modified_ns: time(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed_ns: time(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }

    /// Whether it tells every change after a moment.
    fn is_settled_at(&self, moment: SystemTime, tick: Duration) -> bool {
        let is_whole = |time: i128| time % SECOND_NS == 0;
        let tick = if is_whole(self.changed_ns) && is_whole(self.modified_ns) {
            COARSE_TICK
        } else {
            tick
        };
        let since = u64::try_from(self.changed_ns).map(Duration::from_nanos);
        let changed = since.ok().and_then(|since| UNIX_EPOCH.checked_add(since));
        changed
            .and_then(|changed| moment.duration_since(changed).ok())
            .is_some_and(|age| age > tick)
    }
}

/// Where writing stands on the way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    /// Nothing around may be changed, so what may be is listed.
    NotYet,
    /// What is around may be changed, so what may not be is listed.
    Open,
    /// What is around may not be changed, and nothing in it is listed.
    Over,
}

impl Index {
    pub(crate) fn new(root: &Path, place: Place, rules: Arc<ChildRules>) -> Self {
        Self {
            root: root.to_owned(),
            place,
            rules,
            tick: TICK,
            top: Node::default(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The rules it was made under: under others another is made.
    pub(crate) fn rules(&self) -> &Arc<ChildRules> {
        &self.rules
    }

    /// What is closed now to a command with these permits.
    ///
    /// # Errors
    /// The tree cannot be read, or is too large.
    pub(crate) fn closed(&mut self, fd: &OwnedFd, opened: &Opened) -> Result<Closed, IndexError> {
        let path = self.root.to_string_lossy().into_owned();
        let mut survey = Survey {
            fd,
            root: &self.root,
            base: path.trim_end_matches('/').len() + 1,
            place: self.place,
            rules: &self.rules,
            tick: self.tick,
            opened,
            admitted: [self.rules.enter(&path), self.rules.enter_to_write(&path)],
            names: 0,
            depth: 0,
            closed: Closed::default(),
        };
        let stat = statat(fd, ".", AtFlags::empty());
        let stat = stat.map_err(|errno| IndexError::Root {
            path: self.root.clone(),
            errno,
        })?;
        survey.visit(&mut self.top, &self.root, &stat, Write::NotYet)?;
        Ok(survey.closed)
    }
}

/// One look at a tree.
struct Survey<'a> {
    fd: &'a OwnedFd,
    root: &'a Path,
    /// Where, in an absolute path, the part below the root begins.
    base: usize,
    place: Place,
    rules: &'a ChildRules,
    tick: Duration,
    opened: &'a Opened,
    /// What the rules say to the root outside the workspace, read and written; a directory in it is closed
    /// where they are stricter.
    admitted: [Leave; 2],
    names: usize,
    /// How many directories are around the one that is looked at.
    depth: usize,
    closed: Closed,
}

impl Survey<'_> {
    /// Lists what is closed in a directory, and says whether anything in it may be read.
    fn visit(
        &mut self,
        node: &mut Node,
        path: &Path,
        stat: &Stat,
        above: Write,
    ) -> Result<bool, IndexError> {
        let is_top = path.as_os_str().len() < self.base;
        let stamp = Stamp::of(stat);
        if self.depth > DEPTH_MAX {
            node.is_shut = true;
        } else if node.stamp != Some(stamp) {
            self.read(node, path, stamp);
        }
        self.names += node.names;
        if self.names > NAMES_MAX {
            return Err(IndexError::TooMany(self.root.to_owned()));
        }
        let is_opened = self.opened.read.contains(path);
        let first = self.closed.masked.len();
        let write = self.write(node, path, above);
        let is_file_read = self.files(node, path, write);
        let mut is_read = node.is_read || is_file_read || is_opened;
        let mut gone = Vec::new();
        for (name, below) in &mut node.directories {
            let path = path.join(name);
            let there = statat(self.fd, self.below(&path), AtFlags::SYMLINK_NOFOLLOW);
            match there {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    self.depth += 1;
                    is_read |= self.visit(below, &path, &stat, write)?;
                    self.depth -= 1;
                }
                // The next look reads the directory around again, whose times have changed.
                Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => gone.push(name.clone()),
                Err(_) => self.shut(&path, write),
            }
        }
        for name in gone {
            node.directories.remove(&name);
            node.stamp = None;
        }
        if node.is_shut || !(is_read || is_top) {
            self.closed.masked.truncate(first);
            self.closed.masked.push(path.to_owned());
            return Ok(false);
        }
        Ok(is_read)
    }

    /// What may be changed in a directory, and listed if that is otherwise than around it.
    fn write(&mut self, node: &Node, path: &Path, above: Write) -> Write {
        let is_open = !node.is_shut && (node.is_made_in || self.opened.write.contains(path));
        let write = match above {
            Write::NotYet if is_open => {
                self.closed.writable.push(path.to_owned());
                Write::Open
            }
            Write::Open if !is_open => {
                self.closed.write_protected.push(path.to_owned());
                Write::Over
            }
            Write::NotYet | Write::Open | Write::Over => above,
        };
        let is_top = path.as_os_str().len() < self.base;
        if write == Write::Open && node.repository.is_none() && (is_top || node.is_project) {
            self.closed.project_roots.push(path.to_owned());
        }
        write
    }

    /// Lists the files of a directory, and says whether a permit lets one be read.
    fn files(&mut self, node: &Node, path: &Path, write: Write) -> bool {
        let mut is_any_read = false;
        for name in &node.unread {
            let path = path.join(name);
            if self.opened.read.contains(&path) {
                is_any_read = true;
            } else {
                self.closed.masked.push(path);
            }
        }
        let names = match write {
            Write::Open => &node.unchanged,
            Write::NotYet => &node.changed,
            Write::Over => return is_any_read,
        };
        for name in names {
            let path = path.join(name);
            match write {
                Write::Open if !self.opened.write.contains(&path) => {
                    self.closed.write_protected.push(path);
                }
                Write::NotYet => self.closed.writable.push(path),
                Write::Open | Write::Over => {}
            }
        }
        is_any_read
    }

    fn shut(&mut self, path: &Path, write: Write) {
        self.closed.masked.push(path.to_owned());
        if write == Write::Open {
            self.closed.write_protected.push(path.to_owned());
        }
    }

    /// Reads a directory anew. What lies in directories that stay is kept.
    fn read(&self, node: &mut Node, path: &Path, stamp: Stamp) {
        let now = SystemTime::now();
        let mut kept = std::mem::take(&mut node.directories);
        let repository = node.repository.take();
        *node = Node {
            repository,
            ..Node::default()
        };
        let Some((real, absolute)) = self.spelled(path) else {
            node.is_shut = true;
            return;
        };
        let Ok(entries) = self.entries(path) else {
            // Its owner could open it, and a command runs as that owner.
            node.is_shut = true;
            return;
        };
        if stamp.is_settled_at(now, self.tick) {
            node.stamp = Some(stamp);
        }
        node.names = entries.len();
        if let Some(repository) = &node.repository {
            self.look_into_repository(*repository, node, (&real, &absolute), &entries);
        } else {
            self.judge(node, (&real, &absolute), &entries);
        }
        if node.is_shut {
            return;
        }
        for (name, kind) in entries {
            if kind != FileType::Directory {
                continue;
            }
            let inner = match &node.repository {
                Some(repository) => match repository.inner(&name) {
                    Some(inner) => Some(inner),
                    // Git's own names, of which no rule speaks.
                    None => continue,
                },
                None => Repository::called(&name),
            };
            node.is_project |= inner.is_some() && node.repository.is_none();
            let mut below = kept.remove(&name).unwrap_or_default();
            if below.repository != inner {
                below = Node {
                    repository: inner,
                    ..Node::default()
                };
            }
            node.directories.insert(name, below);
        }
    }

    /// Asks the rules about the files of a directory.
    fn judge(&self, node: &mut Node, (real, absolute): (&str, &str), entries: &Entries) {
        let [mut real, mut absolute] = [real, absolute].map(|path| {
            let mut path = path.to_owned();
            if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path
        });
        let stems = [real.len(), absolute.len()];
        let mut spell = |name: &str| {
            real.truncate(stems[0]);
            absolute.truncate(stems[1]);
            real.push_str(name);
            absolute.push_str(name);
            (real.clone(), absolute.clone())
        };
        let (any, any_absolute) = spell(ANY);
        let mut is_entered = true;
        node.is_made_in = self.rules.make(&any, &any_absolute) == Leave::Given;
        if self.place == Place::Outside {
            let directory = any_absolute.trim_end_matches(ANY);
            is_entered = self.rules.enter(directory) <= self.admitted[0];
            node.is_made_in &= self.rules.enter_to_write(directory) <= self.admitted[1];
        }
        if !is_entered {
            node.is_shut = true;
            return;
        }
        node.is_read = self.rules.read(&any, &any_absolute) == Leave::Given;
        for (name, kind) in entries {
            // What a link leads to is judged where it stands.
            if matches!(kind, FileType::Directory | FileType::Symlink) {
                continue;
            }
            let Some(text) = name.to_str() else {
                node.unread.push(name.clone());
                node.unchanged.push(name.clone());
                continue;
            };
            let (real, absolute) = spell(text);
            if self.rules.read(&real, &absolute) == Leave::Given {
                node.is_read = true;
            } else {
                node.unread.push(name.clone());
            }
            match (self.rules.change(&real, &absolute), node.is_made_in) {
                (Leave::Given, true) => {}
                (Leave::Given, false) => node.changed.push(name.clone()),
                (Leave::Asked | Leave::Denied, _) => node.unchanged.push(name.clone()),
            }
        }
    }

    /// Git writes in its own directory, and reads the settings there, though a tool that does is asked: what
    /// others execute is closed by name, and all of it only by a deny.
    fn look_into_repository(
        &self,
        repository: Repository,
        node: &mut Node,
        (real, absolute): (&str, &str),
        entries: &Entries,
    ) {
        let spell = |name: &str| (format!("{real}/{name}"), format!("{absolute}/{name}"));
        let (any, any_absolute) = spell(ANY);
        node.is_read = self.rules.read(&any, &any_absolute) != Leave::Denied;
        node.is_made_in = self.rules.change(&any, &any_absolute) != Leave::Denied;
        node.is_shut = !node.is_read;
        let is_there = |name: &str| entries.iter().any(|(it, _)| it == name);
        for name in repository.executed() {
            if is_there(name) || repository.is_held(name) {
                node.unchanged.push(name.into());
            }
        }
        let (config, config_absolute) = spell("config");
        if is_there("config") && self.rules.read(&config, &config_absolute) == Leave::Denied {
            node.unread.push("config".into());
        }
    }

    /// The names in a directory with their kinds.
    fn entries(&self, path: &Path) -> rustix::io::Result<Entries> {
        let below = self.below(path);
        let below = below.to_str().ok_or(Errno::ILSEQ)?;
        let below = if below == "." { "" } else { below };
        let mut dir = Dir::new(open_below(self.fd.as_fd(), below, OFlags::DIRECTORY)?)?;
        let mut entries = Vec::new();
        while let Some(entry) = dir.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                let stat = statat(dir.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            entries.push((OsStr::from_bytes(name).to_owned(), kind));
        }
        Ok(entries)
    }

    fn below<'p>(&self, path: &'p Path) -> &'p Path {
        let bytes = path.as_os_str().as_bytes();
        match bytes.get(self.base..) {
            Some(below) if !below.is_empty() => Path::new(OsStr::from_bytes(below)),
            _ => Path::new("."),
        }
    }

    /// A path as rules have it, and absolute.
    fn spelled(&self, path: &Path) -> Option<(String, String)> {
        let absolute = path.to_str()?.to_owned();
        let real = match self.place {
            Place::Inside => absolute.get(self.base..).unwrap_or_default().to_owned(),
            Place::Outside => absolute.clone(),
        };
        Some((real, absolute))
    }
}

/// The names in a directory with their kinds.
type Entries = Vec<(OsString, FileType)>;

#[cfg(test)]
mod tests {
    use super::*;
    use conform::testkit::{Action, Bench, MemoryHost};
    use proptest::prelude::*;
    use rustix::fs::{CWD, Mode, openat};
    use std::fs;

    type Rules<'a> = &'a [(&'a str, &'a str, Action)];

    fn rules(rules: Rules<'_>) -> Arc<ChildRules> {
        let mut all = vec![("*", "*", Action::Allow)];
        all.extend(rules);
        let bench = Bench::on(MemoryHost::with(&[]), &all);
        Arc::new(ChildRules::of(&bench.rules.current()))
    }

    struct Tree {
        dir: tempfile::TempDir,
        index: Index,
    }

    impl Tree {
        fn new(files: &[&str], said: Rules<'_>) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            for file in files {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                if !file.ends_with('/') {
                    fs::write(path, "").unwrap();
                }
            }
            let index = Index::new(&root, Place::Inside, rules(said));
            Self { dir, index }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.dir.path().canonicalize().unwrap().join(path)
        }

        fn closed_to(&mut self, opened: &Opened) -> [Vec<String>; 3] {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let fd = openat(CWD, self.index.root(), flags, Mode::empty()).unwrap();
            let closed = self.index.closed(&fd, opened).unwrap();
            let below = |paths: Vec<PathBuf>| {
                let root = self.index.root();
                let text = |path: PathBuf| path.strip_prefix(root).unwrap().display().to_string();
                let mut all: Vec<String> = paths.into_iter().map(text).collect();
                all.sort();
                all
            };
            [closed.masked, closed.writable, closed.write_protected].map(below)
        }

        fn closed(&mut self) -> [Vec<String>; 3] {
            self.closed_to(&Opened::default())
        }
    }

    #[track_caller]
    fn check(files: &[&str], said: Rules<'_>, want: [&[&str]; 3]) {
        let got = Tree::new(files, said).closed();
        let want = want.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(got, want, "masked, writable, write protected");
    }

    #[test]
    fn what_the_rules_do_not_allow_is_closed_file_by_file() {
        let files = [
            "a",
            ".env",
            "sub/.env",
            "sub/.env.example",
            "sub/b",
            "AGENTS.md",
        ];
        check(
            &files,
            &[("edit", "sub/b", Action::Ask)],
            [&[".env", "sub/.env"], &[""], &["AGENTS.md", "sub/b"]],
        );
    }

    #[test]
    fn the_narrower_names_decide_what_commands_change() {
        let said: Rules<'_> = &[
            ("edit", "*", Action::Ask),
            ("edit.new", "*", Action::Allow),
            ("edit.command", "*", Action::Allow),
            ("edit", "b", Action::Ask),
        ];
        check(&["a", "b"], said, [&[], &[""], &["b"]]);
    }

    #[test]
    fn a_directory_in_which_nothing_may_be_read_or_made_is_closed_whole() {
        let said: Rules<'_> = &[
            ("read", "private/*", Action::Deny),
            ("edit", "vendor/*", Action::Deny),
        ];
        let files = [
            "private/a",
            "private/sub/b",
            "vendor/c",
            "vendor/sub/d",
            "e",
        ];
        check(&files, said, [&["private"], &[""], &["vendor"]]);
    }

    #[test]
    fn a_directory_with_something_open_in_it_stays() {
        let said: Rules<'_> = &[
            ("read", "*", Action::Deny),
            ("read", "src/*", Action::Allow),
            ("edit", "*", Action::Deny),
            ("edit", "src/*", Action::Allow),
            ("edit", "notes.md", Action::Allow),
        ];
        let files = ["a", "src/b", "docs/c", "notes.md"];
        let masked: &[&str] = &["a", "docs", "notes.md"];
        check(&files, said, [masked, &["notes.md", "src"], &[]]);
    }

    #[test]
    fn git_writes_in_its_own_directory_but_for_what_it_executes() {
        let git = [
            "a",
            ".git/HEAD",
            ".git/config",
            ".git/objects/aa/b",
            ".git/worktrees/w/config.worktree",
        ];
        let held = [
            ".git/config",
            ".git/hooks",
            ".git/info/attributes",
            ".git/worktrees/w/config.worktree",
        ];
        check(&git, &[], [&[], &[""], &held]);
        let deny = &[
            ("edit", "*.git/*", Action::Deny),
            ("read", "*.git/config", Action::Deny),
        ];
        check(&git, deny, [&[".git/config"], &[""], &[".git"]]);
        let module = [
            ".git/HEAD",
            ".git/modules/a/b/config",
            ".git/modules/a/b/hooks/x",
        ];
        let held = [
            ".git/config",
            ".git/hooks",
            ".git/info/attributes",
            ".git/modules/a/b/config",
            ".git/modules/a/b/hooks",
        ];
        check(&module, &[], [&[], &[""], &held]);
    }

    #[test]
    fn a_permit_opens_exactly_what_it_names() {
        let mut tree = Tree::new(&[".env", "sub/.env", "AGENTS.md", "CLAUDE.md"], &[]);
        let opened = Opened {
            read: HashSet::from([tree.path(".env")]),
            write: HashSet::from([tree.path("AGENTS.md")]),
        };
        let [masked, _, protected] = tree.closed_to(&opened);
        assert_eq!(
            (masked, protected),
            (vec!["sub/.env".into()], vec!["CLAUDE.md".into()])
        );
        let [masked, ..] = tree.closed();
        assert_eq!(masked, [".env", "sub/.env"], "it was for one call");
    }

    #[test]
    fn a_link_is_judged_where_it_leads_to_and_a_name_that_is_no_text_is_closed() {
        use std::os::unix::{ffi::OsStrExt as _, fs::symlink};
        let mut tree = Tree::new(&["secret.pem"], &[]);
        symlink("secret.pem", tree.path(".env")).unwrap();
        fs::write(tree.path("").join(OsStr::from_bytes(b"x\xff")), "").unwrap();
        let [masked, _, protected] = tree.closed();
        assert_eq!(masked.len(), 2, "{masked:?}");
        assert!(masked.contains(&"secret.pem".to_owned()));
        assert_eq!(protected.len(), 1, "{protected:?}");
    }

    #[test]
    fn what_lies_too_deep_is_shut() {
        let deep = format!("{}x", "d/".repeat(DEPTH_MAX + 3));
        let [masked, ..] = Tree::new(&[&deep], &[]).closed();
        assert_eq!(masked, ["d/".repeat(DEPTH_MAX + 1).trim_end_matches('/')]);
    }

    /// One change to the disk; names are few, so that they meet.
    #[derive(Clone, Debug)]
    enum Change {
        Write(String),
        Remove(String),
        Rename(String, String),
    }

    fn some_path() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["a", "b", ".env", ".git", "config", "AGENTS.md"]);
        prop::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"))
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            3 => some_path().prop_map(Change::Write),
            1 => some_path().prop_map(Change::Remove),
            2 => (some_path(), some_path()).prop_map(|(from, to)| Change::Rename(from, to)),
        ]
    }

    /// What cannot be done is not done.
    fn apply(root: &Path, change: &Change) {
        match change {
            Change::Write(path) => {
                let path = root.join(path);
                let around = path.parent().unwrap();
                drop(fs::create_dir_all(around).and_then(|()| fs::write(&path, "")));
            }
            Change::Remove(path) => {
                let path = root.join(path);
                drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
            }
            Change::Rename(from, to) => drop(fs::rename(root.join(from), root.join(to))),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn what_is_remembered_is_what_a_new_walk_finds(
            steps in prop::collection::vec(prop::collection::vec(change(), 0..4), 1..8),
        ) {
            let said: Rules<'_> = &[("read", "a/b/*", Action::Deny), ("edit", "*/a", Action::Ask)];
            let mut tree = Tree::new(&["a/b/.env", "b/a"], said);
            // No more than the kernel's own, so that most of what is known holds from step to step.
            tree.index.tick = Duration::from_millis(11);
            for changes in steps {
                std::thread::sleep(tree.index.tick);
                let root = tree.path("");
                for change in &changes {
                    apply(&root, change);
                }
                let got = tree.closed();
                let kept = std::mem::take(&mut tree.index.top);
                let want = tree.closed();
                tree.index.top = kept;
                prop_assert_eq!(got, want);
            }
        }
    }
}
