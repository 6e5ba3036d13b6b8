//! Listing a directory. Must not look into anything it finds there.

use crate::{
    beneath,
    local::Machine,
    options::Moment,
    resolve::{changed, changed_or_failed, failed},
};
use gate::{
    access::{Purpose, ReadTree},
    g3_confine::Order,
    host::{Entry, FileKind, HostError, Place},
};
use rustix::{
    fd::AsFd,
    fs::{Dir, FileType, Mode, OFlags, fstat, openat},
};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

/// The most names one listing brings.
pub const ENTRIES_MAX: usize = 100_000;

impl Machine {
    pub(crate) fn read_tree(&self, order: &Order<ReadTree>) -> Result<Vec<Entry>, HostError> {
        self.calls.check(order.call())?;
        match order.access().purpose() {
            Purpose::List => self.list(order),
            _ => Err(HostError::Failed(
                "this host cannot look into a tree for that".into(),
            )),
        }
    }

    fn list(&self, order: &Order<ReadTree>) -> Result<Vec<Entry>, HostError> {
        let target = order.target();
        let spot = self.stand(target)?;
        if spot.found.map(|found| found.kind) != Some(FileKind::Directory) {
            return Err(HostError::Failed(format!(
                "`{}` is not a directory",
                target.real
            )));
        }
        self.at(Moment::BeforeOpen);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = openat(&spot.dir, &spot.name, flags, Mode::empty());
        let dir = dir.map_err(|error| changed_or_failed(target, error))?;
        self.at(Moment::AfterOpen);
        let stat = fstat(&dir).map_err(|error| failed(target, error))?;
        if Some(beneath::found_of(&stat)) != target.found {
            return Err(changed(target));
        }
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
