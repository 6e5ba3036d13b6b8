//! A tree as it was last read: directories with their times, and the names in them of which the rules speak.
//! Must not look at the disk.

use crate::{beneath, git::Repository};
use gate::host::FileId;
use rustix::fs::Stat;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Times of files are as coarse as the ticks of the kernel.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// Times of files where the file system keeps whole seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// A directory as it was last read. What is allowed is only counted.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a claim of its own about a directory"
)]
pub(super) struct Node {
    /// `None`: it must be read.
    pub(super) stamp: Option<Stamp>,
    pub(super) names: usize,
    pub(super) directories: BTreeMap<OsString, Node>,
    /// Files that may not be read.
    pub(super) unread: Vec<OsString>,
    /// Files that may not be changed.
    pub(super) unchanged: Vec<OsString>,
    /// Files that may be changed in a directory where none may be made.
    pub(super) changed: Vec<OsString>,
    /// Links that may not be changed, and whether others obey what they lead to. A path, where the link is on its way.
    pub(super) links: Vec<(OsString, bool)>,
    /// Whether a file in it may be read, or one that is made there could be.
    pub(super) is_read: bool,
    /// Whether files may be made in it.
    pub(super) is_made_in: bool,
    /// Nobody looks into it: the name cannot be judged, it cannot be opened, or the rules close it.
    pub(super) is_shut: bool,
    /// It lies in what tools fetch or make, or is that.
    pub(super) is_made: bool,
    /// Whether a repository lies in it.
    pub(super) is_project: bool,
    /// Whether git finds a repository by something in it.
    pub(super) is_work_tree: bool,
    /// Git takes it for a repository that has no work tree.
    pub(super) is_bare: bool,
    /// It is a repository's own directory, where names mean something to git alone.
    pub(super) repository: Option<Repository>,
}

/// What changes when names are made in a directory, removed or renamed, or when it is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) id: FileId,
    pub(super) modified_ns: i128,
    pub(super) changed_ns: i128,
}

/// Nanoseconds in a second.
const SECOND_NS: i128 = 1_000_000_000;

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let time = |seconds: i128, nanoseconds: i128| seconds * SECOND_NS + nanoseconds;
        Self {
            id: beneath::id_of(stat),
            modified_ns: time(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed_ns: time(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }

    /// Whether it tells every change after a moment, where nothing is known of the file system.
    pub(crate) fn is_settled(&self, moment: SystemTime) -> bool {
        self.is_settled_at(moment, TICK)
    }

    /// Whether it tells every change after a moment.
    pub(super) fn is_settled_at(&self, moment: SystemTime, tick: Duration) -> bool {
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
pub(super) enum Write {
    /// Nothing around may be changed, so what may be is listed.
    NotYet,
    /// What is around may be changed, so what may not be is listed.
    Open,
    /// What is around may not be changed, and nothing in it is listed.
    Over,
}
