//! Finding the files below a directory, on several threads. Must not follow a link, leave the
//! directory, look into Tollgate's own state, or bring back what the walls' read filter does not show.
//!
//! Every directory is opened by its path below the one that was judged, without links, so that
//! whatever is put in the way meanwhile, the walk does not leave it.

use crate::{
    beneath,
    ignored::{Ignored, Present, Said},
    local::Machine,
    options::Moment,
};
use gate::{
    call::CallId,
    g3_confine::ReadFilter,
    host::{HostError, LeftOut, Place, Resolved},
};
use ignore::overrides::{Override, OverrideBuilder};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};
use std::{
    num::NonZero,
    path::Path,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The most files one walk finds.
pub const FILES_MAX: usize = 1_000_000;

/// More threads than this find no more: they wait for each other and for the disk.
const THREADS_MAX: usize = 8;

/// Whether names that begin with a dot are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    Skipped,
    Shown,
}

/// One walk.
pub(crate) struct Walk<'w> {
    pub(crate) machine: &'w Machine,
    pub(crate) call: CallId,
    /// The directory as it was judged.
    pub(crate) target: &'w Resolved,
    /// The same, open.
    pub(crate) root: OwnedFd,
    pub(crate) filter: ReadFilter,
    /// Which files are wanted, by their path below the directory.
    pub(crate) fits: Override,
    pub(crate) hidden: Hidden,
}

/// What a walk brings.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Absolute paths, sorted by their bytes.
    pub(crate) paths: Vec<String>,
    pub(crate) left_out: LeftOut,
}

/// A directory that waits to be looked into.
struct Task {
    /// Absolute.
    path: String,
    ignored: Arc<Ignored>,
}

/// What stands in a directory.
struct Looked {
    dir: Dir,
    /// Names, and which of them are directories.
    entries: Vec<(String, bool)>,
    present: Present,
}

/// Where, in an absolute path, the other spellings of it begin.
#[derive(Clone, Copy, Debug)]
struct Spellings {
    /// As rules have it: relative to the workspace inside it, else absolute.
    real: usize,
    /// Relative to the directory where the walk begins.
    below: usize,
    /// Relative to the highest directory whose ignore files count.
    ignored: usize,
}

/// A pattern as in a `.gitignore`; none fits everything.
///
/// # Errors
/// It is no pattern.
pub(crate) fn pattern(text: Option<&str>) -> Result<Override, HostError> {
    let invalid = |error| HostError::Failed(format!("invalid glob pattern: {error}"));
    let mut builder = OverrideBuilder::new("");
    if let Some(text) = text {
        builder.add(text).map_err(invalid)?;
    }
    builder.build().map_err(invalid)
}

/// Where, in the path of what lies below a directory, the part below it begins.
pub(crate) fn below(directory: &str) -> usize {
    directory.trim_end_matches('/').len() + 1
}

/// How many threads look at a tree.
pub(crate) fn thread_count() -> usize {
    thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(THREADS_MAX)
}

/// Opens what lies at a path below a directory, if no link and nothing above is on the way.
pub(crate) fn open_below(
    root: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = if path.is_empty() { "." } else { path };
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(root, path, flags, Mode::empty(), resolve) {
            // Kernels before 5.6, and containers whose filter does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    let path = Path::new(path);
    let parent = beneath::directory(root, path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    openat(parent, name, flags, Mode::empty())
}

impl Walk<'_> {
    /// Walks to the end.
    ///
    /// # Errors
    /// There are too many files, or the call is over.
    pub(crate) fn files(&self) -> Result<Files, HostError> {
        let (top, is_in_tree) = self.top();
        let spellings = Spellings {
            real: match self.target.place {
                Place::Inside => below(&self.machine.workspace.to_string_lossy()),
                Place::Outside => 0,
            },
            below: below(&self.target.absolute),
            ignored: below(&top.to_string_lossy()),
        };
        let first = Task {
            path: self.target.absolute.clone(),
            ignored: self.ignored_above(top, is_in_tree),
        };
        let queue = Queue::new(first);
        let found = AtomicUsize::new(0);
        let work = || {
            let mut files = Files::default();
            while let Some(job) = queue.next() {
                let before = files.paths.len();
                let more = self.look_into(&job.task, spellings, &mut files);
                let count = files.paths.len() - before;
                let total = found.fetch_add(count, Ordering::Relaxed) + count;
                let goes_on = if total > FILES_MAX {
                    Err(HostError::Failed(format!(
                        "there are more than {FILES_MAX} files below `{}`; look at a part of it",
                        self.target.real
                    )))
                } else {
                    self.machine.calls.check(self.call).map(drop)
                };
                match goes_on {
                    Ok(()) => job.add(more),
                    Err(error) => job.stop(error),
                }
            }
            // Each thread its own part: what remains is to merge them.
            files.paths.sort_unstable();
            files
        };
        let mut all = Files::default();
        for files in on_threads(work) {
            all.paths.extend(files.paths);
            all.left_out += files.left_out;
        }
        if let Some(error) = queue.stopped() {
            return Err(error);
        }
        all.paths.sort();
        Ok(all)
    }

    /// The highest directory whose ignore files count, and whether it lies in a work tree of git.
    /// Above it only the existence of `.git` is looked at.
    fn top(&self) -> (&Path, bool) {
        let top = match self.target.place {
            Place::Inside => self.machine.workspace.as_path(),
            Place::Outside => Path::new(&self.target.absolute),
        };
        let has_git = |dir: &Path| statat(CWD, dir.join(".git"), AtFlags::SYMLINK_NOFOLLOW).is_ok();
        (top, top.ancestors().skip(1).any(has_git))
    }

    /// What the files above the directory say, from the top down to it.
    fn ignored_above(&self, top: &Path, is_in_tree: bool) -> Arc<Ignored> {
        let mut ignored = Ignored::nothing(is_in_tree);
        let Ok(below) = Path::new(&self.target.absolute).strip_prefix(top) else {
            return ignored;
        };
        let mut above: Vec<&Path> = below.ancestors().skip(1).collect();
        above.reverse();
        for path in above {
            let Ok(dir) = beneath::directory(self.machine.workspace_fd.as_fd(), path) else {
                continue;
            };
            let mut present = Present::default();
            for name in [".git", ".gitignore", ".ignore"] {
                if statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    present.note(name.as_bytes());
                }
            }
            ignored = ignored.with(dir.as_fd(), &path.to_string_lossy(), present);
        }
        ignored
    }

    /// Takes the files of one directory, and says which directories lie in it.
    fn look_into(&self, task: &Task, spellings: Spellings, files: &mut Files) -> Vec<Task> {
        self.machine.at(Moment::BeforeOpen);
        let here = task.path.get(spellings.below..).unwrap_or_default();
        let Ok(Looked {
            dir,
            entries,
            present,
        }) = self.entries(here, &mut files.left_out)
        else {
            files.left_out.unreadable += 1;
            return Vec::new();
        };
        let Ok(dir) = dir.fd() else {
            files.left_out.unreadable += 1;
            return Vec::new();
        };
        let at = task.path.get(spellings.ignored..).unwrap_or_default();
        let ignored = task.ignored.with(dir, at, present);

        let mut more = Vec::new();
        let mut path = task.path.clone();
        if !path.ends_with('/') {
            path.push('/');
        }
        let stem = path.len();
        for (name, is_directory) in entries {
            path.truncate(stem);
            path.push_str(&name);
            let spelled = |from: usize| path.get(from..).unwrap_or_default();
            if self
                .fits
                .matched(spelled(spellings.below), is_directory)
                .is_ignore()
            {
                continue;
            }
            let said = ignored.said(spelled(spellings.ignored), is_directory);
            let is_hidden = self.hidden == Hidden::Skipped && name.starts_with('.');
            if said == Said::Ignore || (is_hidden && said != Said::Keep) {
                continue;
            }
            let left_out = &mut files.left_out;
            if !is_directory {
                if self.filter.shows(spelled(spellings.real), &path, left_out) {
                    files.paths.push(path.clone());
                }
            } else if !self.machine.is_ours(Path::new(&path)) && self.filter.enters(&path, left_out)
            {
                more.push(Task {
                    path: path.clone(),
                    ignored: Arc::clone(&ignored),
                });
            }
        }
        more
    }

    /// The files and directories in a directory; `.git` is none. Links are neither.
    fn entries(&self, path: &str, left_out: &mut LeftOut) -> rustix::io::Result<Looked> {
        let fd = open_below(self.root.as_fd(), path, OFlags::DIRECTORY)?;
        let mut dir = Dir::new(fd)?;
        let mut entries = Vec::new();
        let mut present = Present::default();
        while let Some(entry) = dir.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            present.note(name);
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                let stat = statat(dir.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                kind = stat.map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            let is_directory = kind == FileType::Directory;
            if name == b".git" || !(is_directory || kind == FileType::RegularFile) {
                continue;
            }
            match str::from_utf8(name) {
                Ok(name) => entries.push((name.to_owned(), is_directory)),
                Err(_) => left_out.unnamed += 1,
            }
        }
        Ok(Looked {
            dir,
            entries,
            present,
        })
    }
}

/// Does the same work on as many threads as there are, this one among them.
pub(crate) fn on_threads<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..thread_count()).filter_map(start).collect();
        let mut done = vec![work()];
        for other in others {
            match other.join() {
                Ok(part) => done.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// The directories that wait, last in first out, and how many are looked into right now.
struct Queue {
    state: Mutex<State>,
    news: Condvar,
}

struct State {
    waiting: Vec<Task>,
    busy: usize,
    stopped: Option<HostError>,
}

/// A directory taken out; ends when it is dropped.
struct Job<'q> {
    task: Task,
    queue: &'q Queue,
}

impl Queue {
    fn new(first: Task) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: vec![first],
                busy: 0,
                stopped: None,
            }),
            news: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a directory; `None`: there are no more.
    fn next(&self) -> Option<Job<'_>> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.waiting.pop() {
                state.busy += 1;
                return Some(Job { task, queue: self });
            }
            if state.busy == 0 {
                return None;
            }
            state = self
                .news
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stopped(self) -> Option<HostError> {
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).stopped
    }
}

impl Job<'_> {
    fn add(self, more: Vec<Task>) {
        let mut state = self.queue.lock();
        // The stop of another thread holds for what this one has found too.
        if state.stopped.is_none() {
            state.waiting.extend(more);
        }
    }

    fn stop(self, why: HostError) {
        let mut state = self.queue.lock();
        state.waiting.clear();
        state.stopped.get_or_insert(why);
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        self.queue.lock().busy -= 1;
        self.queue.news.notify_all();
    }
}
