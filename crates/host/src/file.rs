//! Reading one file whole. Must not open anything but the regular file that was judged.

use crate::{
    local::Machine,
    options::Moment,
    resolve::{changed, changed_or_failed, failed},
};
use gate::{
    access::ReadFile,
    g3_confine::Order,
    host::{Content, FileKind, Found, HostError, Resolved},
};
use rustix::{
    fd::AsFd,
    fs::{Mode, OFlags, fstat, openat},
};
use std::{ffi::OsStr, fs::File, io::Read as _};

/// The largest file that is read or replaced, in bytes: its bytes, a copy and a diff of them must fit
/// in memory.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl Machine {
    pub(crate) fn read_file(&self, order: &Order<ReadFile>) -> Result<Content, HostError> {
        let target = order.target();
        self.calls.check(order.call())?;
        let spot = self.stand(target)?;
        let Some(found) = spot.found else {
            return Ok(Content::Missing);
        };
        match found.kind {
            FileKind::Directory => Ok(Content::Directory),
            FileKind::Other => Err(not_regular(target)),
            FileKind::File => self
                .bytes(&spot.dir, &spot.name, found, target)
                .map(Content::Bytes),
        }
    }

    /// The bytes of the file under a name, if it is `found`.
    pub(crate) fn bytes(
        &self,
        dir: impl AsFd,
        name: &OsStr,
        found: Found,
        target: &Resolved,
    ) -> Result<Vec<u8>, HostError> {
        self.at(Moment::BeforeOpen);
        // Whatever was put there meanwhile, opening it neither follows it nor waits for it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(dir, name, flags, Mode::empty())
            .map_err(|error| changed_or_failed(target, error))?;
        self.at(Moment::AfterOpen);
        let stat = fstat(&file).map_err(|error| failed(target, error))?;
        if crate::beneath::found_of(&stat) != found {
            return Err(changed(target));
        }
        let mut bytes = Vec::new();
        let read = File::from(file)
            .take(FILE_BYTES_MAX + 1)
            .read_to_end(&mut bytes);
        read.map_err(|error| failed(target, error))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(HostError::Failed(format!(
                "`{}` is too large: it has {} bytes and at most {FILE_BYTES_MAX} are read; take a part of it \
                 with a command",
                target.real, stat.st_size,
            )));
        }
        Ok(bytes)
    }
}

pub(crate) fn not_regular(target: &Resolved) -> HostError {
    HostError::Failed(format!(
        "`{}` is not a regular file: a FIFO, device or socket is never opened",
        target.real
    ))
}
