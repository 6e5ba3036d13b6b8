//! What hidden and held places are covered with in a file tree of its own.
//! Must not hold anything of the tree outside, and must not look empty where it hides something.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;

use super::root::{Depth, QUIET, clone_of, set_attributes};
use super::walls;

/// A directory of `/proc` that can neither be listed nor searched but by who may trace the first process, which
/// nobody inside may. Kernels that lack a fix of 2024 refuse no more than to list it.
const UNTRACEABLE: &str = "1/fdinfo";

/// What cannot be opened or looked into, and what is empty: of these, mounts are made to cover others.
pub(super) struct Masks {
    pub(super) file: OwnedFd,
    pub(super) directory: OwnedFd,
    /// Holds the place of what must not be made.
    pub(super) empty: OwnedFd,
}

impl Masks {
    /// Makes them in `/dev`, but for what root cannot be kept out of but by `/proc`.
    pub(super) fn make(dev: &OwnedFd, proc: &OwnedFd) -> Result<Self, Errno> {
        // SECURITY: nobody can open a device that is none, root neither. An empty file would be taken for what
        // the file holds, and git would keep it as that.
        let device = FileType::CharacterDevice;
        rustix::fs::mknodat(dev, ".file", device, Mode::empty(), 0)?;
        rustix::fs::mkdirat(dev, ".closed", Mode::empty())?;
        rustix::fs::mkdirat(dev, ".empty", Mode::from_raw_mode(0o555))?;
        let open = |name| {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(dev, name, flags, Mode::empty())
        };
        Ok(Self {
            file: open(".file")?,
            // SECURITY: to root, whom no mode keeps out, that would be an empty directory, and git would take what it
            // tracks in there for deleted.
            directory: if rustix::process::geteuid().is_root() {
                walls::open_in(proc, Path::new(UNTRACEABLE))?
            } else {
                open(".closed")?
            },
            empty: open(".empty")?,
        })
    }

    /// Leaves nothing of them but the mounts.
    pub(super) fn remove_names(dev: &OwnedFd) -> Result<(), Errno> {
        rustix::fs::unlinkat(dev, ".file", AtFlags::empty())?;
        rustix::fs::unlinkat(dev, ".closed", AtFlags::REMOVEDIR)?;
        rustix::fs::unlinkat(dev, ".empty", AtFlags::REMOVEDIR)
    }

    /// A mount of one of them that nobody can write to.
    pub(super) fn cover(opened: &OwnedFd) -> Result<OwnedFd, Errno> {
        let mount = clone_of(opened)?;
        let closed = QUIET | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        set_attributes(&mount, closed, Depth::One)?;
        Ok(mount)
    }
}
