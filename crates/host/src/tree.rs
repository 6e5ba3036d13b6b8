//! Listing a directory, and looking below it. Must not look into anything beside what was judged.

use crate::{
    beneath,
    local::Machine,
    options::Moment,
    resolve::{changed, changed_or_failed, failed},
    search::Search,
    walk::{self, Files, Hidden, Walk},
};
use gate::{
    access::{GlobQuery, GrepQuery, Purpose, ReadTree},
    g3_confine::Order,
    host::{Entry, FileKind, HostError, LeftOut, Matches, Paths, Place, Tree},
};
use ignore::overrides::Override;
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{Dir, FileType, Mode, OFlags, fstat, openat},
};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

/// The most names one listing brings.
pub const ENTRIES_MAX: usize = 100_000;

impl Machine {
    pub(crate) fn read_tree(&self, order: &Order<ReadTree>) -> Result<Tree, HostError> {
        self.calls.check(order.call())?;
        match order.access().purpose() {
            Purpose::List => self.list(order).map(Tree::Listing),
            Purpose::Glob(query) => self.glob(order, query).map(Tree::Paths),
            Purpose::Grep(query) => self.grep(order, query).map(Tree::Matches),
        }
    }

    /// Opens what was judged, for reading, if it is still that.
    fn open_target(&self, order: &Order<ReadTree>, kind: OFlags) -> Result<OwnedFd, HostError> {
        let target = order.target();
        let spot = self.stand(target)?;
        self.at(Moment::BeforeOpen);
        let flags = kind | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&spot.dir, &spot.name, flags, Mode::empty());
        let opened = opened.map_err(|error| changed_or_failed(target, error))?;
        self.at(Moment::AfterOpen);
        let stat = fstat(&opened).map_err(|error| failed(target, error))?;
        if Some(beneath::found_of(&stat)) != target.found {
            return Err(changed(target));
        }
        Ok(opened)
    }

    fn glob(&self, order: &Order<ReadTree>, query: &GlobQuery) -> Result<Paths, HostError> {
        let fits = walk::pattern(Some(&query.pattern))?;
        let target = order.target();
        if target.found.map(|found| found.kind) != Some(FileKind::Directory) {
            return Err(HostError::Failed(format!(
                "glob path must be a directory: {}",
                target.absolute
            )));
        }
        let hidden = if query.names_hidden() {
            Hidden::Shown
        } else {
            Hidden::Skipped
        };
        let (_, mut files) = self.walk(order, fits, hidden)?;
        let omitted = files.paths.len().saturating_sub(query.limit);
        files.paths.truncate(query.limit);
        Ok(Paths {
            paths: files.paths,
            omitted,
            left_out: files.left_out,
        })
    }

    fn grep(&self, order: &Order<ReadTree>, query: &GrepQuery) -> Result<Matches, HostError> {
        let search = Search::new(query)?;
        let fits = walk::pattern(query.include.as_deref())?;
        let target = order.target();
        match target.found.map(|found| found.kind) {
            None => Err(HostError::Failed(format!(
                "No files found: {} does not exist",
                target.absolute
            ))),
            Some(FileKind::Other) => Err(crate::file::not_regular(target)),
            Some(FileKind::File) => {
                let mut left_out = LeftOut::default();
                let filter = order.walls().read_filter(target);
                if !filter.shows(&target.real, &target.absolute, &mut left_out) {
                    return Ok(Matches {
                        left_out,
                        ..Matches::default()
                    });
                }
                let file = self.open_target(order, OFlags::NONBLOCK)?;
                Ok(search.one(&target.absolute, file))
            }
            Some(FileKind::Directory) => {
                let (root, files) = self.walk(order, fits, Hidden::Shown)?;
                let found = search.files(self, order.call(), target, root.as_fd(), &files.paths);
                let mut matches = found?;
                matches.left_out += files.left_out;
                Ok(matches)
            }
        }
    }

    fn walk(
        &self,
        order: &Order<ReadTree>,
        fits: Override,
        hidden: Hidden,
    ) -> Result<(OwnedFd, Files), HostError> {
        let target = order.target();
        let walk = Walk {
            machine: self,
            call: order.call(),
            target,
            root: self.open_target(order, OFlags::DIRECTORY)?,
            filter: order.walls().read_filter(target),
            fits,
            hidden,
        };
        let files = walk.files()?;
        Ok((walk.root, files))
    }

    fn list(&self, order: &Order<ReadTree>) -> Result<Vec<Entry>, HostError> {
        let target = order.target();
        if target.found.map(|found| found.kind) != Some(FileKind::Directory) {
            self.stand(target)?;
            return Err(HostError::Failed(format!(
                "`{}` is not a directory",
                target.real
            )));
        }
        let dir = self.open_target(order, OFlags::DIRECTORY)?;
        // Inside the workspace a link counts as a directory if it leads to one inside.
        let (base, below) = match target.place {
            Place::Inside => (self.workspace_fd.as_fd(), Path::new(&target.real)),
            Place::Outside => (dir.as_fd(), Path::new("")),
        };
        let mut entries = Vec::new();
        for entry in Dir::read_from(&dir).map_err(|error| failed(target, error))? {
            let entry = entry.map_err(|error| failed(target, error))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == ENTRIES_MAX {
                return Err(HostError::Failed(format!(
                    "`{}` holds more than {ENTRIES_MAX} names; list a part of it with a command",
                    target.real
                )));
            }
            let is_directory = match entry.file_type() {
                FileType::Directory => true,
                FileType::Symlink | FileType::Unknown => {
                    beneath::leads_to_directory(base, &below.join(name))
                }
                _ => false,
            };
            entries.push(Entry {
                name: name.to_string_lossy().into_owned(),
                is_directory,
            });
        }
        entries.sort();
        Ok(entries)
    }
}
