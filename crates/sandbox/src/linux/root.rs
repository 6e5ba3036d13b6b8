//! The file tree that a command sees: a new root that holds what the walls open and nothing else.
//! Must run as the first process of its own mount and process namespaces, before anything is confined.
//!
//! What the tree shows are bind mounts made of the old one while that was still there; links on the way to them
//! are refused. The old tree is gone afterwards, and with it every path, socket and device not listed.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags,
};

use super::mask::Masks;
use super::plan::{Kind, Place};
use super::walls::{self, WallError};
use super::wire::{Report, Step};

/// The devices a command has.
/// SECURITY: no terminals but those it makes itself. `/dev/tty` is that of its own session, which has none.
const DEVICES: &[&str] = &["full", "null", "random", "tty", "urandom", "zero"];
/// The usual names for a process' own descriptors.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("ptmx", "pts/ptmx"),
    ("stderr", "/proc/self/fd/2"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
];
/// Where new mounts are put until the root is changed: a directory that every system has.
const STAGE: &str = "/dev";
/// How much the private `/tmp` holds, in bytes. It lives in memory; `TMPDIR` is for more.
const TMP_BYTES: &str = "1g";
/// How much `/dev/shm` holds, in bytes.
const SHM_BYTES: &str = "1g";

/// What no mount of the tree has: programs that take on their owner's identity, and devices.
pub(super) const QUIET: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// Builds the tree and makes it this process' root.
///
/// # Errors
/// The report of the step that failed.
pub(crate) fn enter(places: &[Place], links: &[PathBuf]) -> Result<(), Report> {
    let umask = rustix::process::umask(Mode::empty());
    let sources = Sources::take(places, links)?;
    let built = build(sources);
    rustix::process::umask(umask);
    built
}

fn fail(step: Step) -> impl Fn(Errno) -> Report {
    move |errno| Report::Failed {
        step,
        index: 0,
        errno: errno.raw_os_error(),
    }
}

/// What is taken from the old tree, as mounts that are nowhere yet.
struct Sources<'a> {
    places: Vec<(&'a Place, Option<OwnedFd>)>,
    devices: Vec<(&'static str, OwnedFd)>,
    /// Symbolic links to make: path and target.
    links: Vec<(PathBuf, Vec<u8>)>,
}

impl<'a> Sources<'a> {
    fn take(places: &'a [Place], links: &[PathBuf]) -> Result<Self, Report> {
        // Nothing that is mounted outside later may turn up in here.
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change("/", private).map_err(fail(Step::Mounts))?;
        let mut taken = Vec::new();
        for place in places {
            match source(place) {
                Ok(None) if is_optional(place.kind) => {}
                Ok(mount) => taken.push((place, mount)),
                Err(errno) => {
                    let index = Some(place.index);
                    return Err(WallError { index, errno }.report(Step::Mounts));
                }
            }
        }
        let devices = DEVICES.iter().filter_map(|name| {
            let mount = clone_at(&format!("/dev/{name}")).ok()?;
            let is_device = kind_of(&mount) == Ok(FileType::CharacterDevice);
            is_device.then_some((*name, mount))
        });
        let devices: Vec<_> = devices.collect();
        for (_, mount) in &devices {
            // SECURITY: it takes nothing from writing to the device, but its mode and owner are the machine's.
            let closed = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_RDONLY;
            set_attributes(mount, closed, Depth::One).map_err(fail(Step::Mounts))?;
        }
        Ok(Self {
            places: taken,
            devices,
            links: root_links()
                .chain(links.iter().cloned())
                .filter_map(|link| {
                    let target = rustix::fs::readlink(&link, Vec::new()).ok()?;
                    Some((link, target.into_bytes()))
                })
                .collect(),
        })
    }
}

/// Whether nothing is shown, and nothing refused, where a place is missing.
fn is_optional(kind: Kind) -> bool {
    matches!(kind, Kind::Read | Kind::Socket)
}

/// The mount that shows a place, if it is one of the old tree's.
fn source(place: &Place) -> Result<Option<OwnedFd>, Errno> {
    if place.kind == Kind::Masked || place.is_held {
        return Ok(None);
    }
    let opened = match open(place) {
        Err(Errno::NOENT) if is_optional(place.kind) => return Ok(None),
        other => other?,
    };
    if place.kind == Kind::Socket && kind_of(&opened)? != FileType::Socket {
        return Err(Errno::NOTSOCK);
    }
    let mount = clone_of(&opened)?;
    let closed = if place.kind.is_writable() {
        QUIET
    } else {
        QUIET | MountAttrFlags::MOUNT_ATTR_RDONLY
    };
    set_attributes(&mount, closed, Depth::All)?;
    Ok(Some(mount))
}

/// Opens what a place shows. Only what is kept as it is may be a link: that is itself what is kept.
fn open(place: &Place) -> Result<OwnedFd, Errno> {
    if place.kind == Kind::Protected {
        walls::open_name(&place.path)
    } else {
        walls::open(&place.path)
    }
}

/// Symbolic links in the root directory, such as `/bin`.
fn root_links() -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir("/")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .map(|entry| entry.path())
}

fn build(sources: Sources<'_>) -> Result<(), Report> {
    let mut places = sources.places.into_iter().peekable();
    let whole = places.next_if(|(place, _)| place.path == Path::new("/"));
    let is_whole = whole.is_some();
    let base = match whole {
        Some((_, Some(mount))) => mount,
        _ => tmpfs("1m", "755").map_err(fail(Step::Mounts))?,
    };
    attach_at(&base, CWD, STAGE).map_err(fail(Step::Mounts))?;
    if !is_whole {
        for name in ["dev", "proc", "tmp"] {
            make_directory(&base, name.as_ref()).map_err(fail(Step::Mounts))?;
        }
    }
    // While the old one is still there: without it the kernel refuses.
    let proc = proc().map_err(fail(Step::Proc))?;
    attach_new(&proc, &base, "proc").map_err(fail(Step::Proc))?;
    let dev = devices(&base, &sources.devices).map_err(fail(Step::Devices))?;
    let tmp = tmpfs(TMP_BYTES, "1777").map_err(fail(Step::Mounts))?;
    attach_new(&tmp, &base, "tmp").map_err(fail(Step::Mounts))?;

    let masks = Masks::make(&dev, &proc).map_err(fail(Step::Mounts))?;
    // In a tree of its own the root has no more than what is listed.
    let run = is_whole
        .then(|| hide_services(&base).map_err(fail(Step::Mounts)))
        .transpose()?;
    let mut maker = Maker {
        base: &base,
        last: None,
    };
    for (path, target) in &sources.links {
        // One that is there already comes with what is shown.
        _ = maker.link(path, target);
    }
    let mut outermost: Option<&Path> = is_whole.then_some(Path::new("/"));
    for (place, mount) in places {
        let is_inside = outermost.is_some_and(|around| place.path.starts_with(around));
        if !is_inside {
            outermost = Some(&place.path);
        }
        show(&mut maker, place, mount, &masks, is_inside).map_err(|errno| {
            let index = Some(place.index);
            WallError { index, errno }.report(Step::Mounts)
        })?;
    }
    Masks::remove_names(&dev).map_err(fail(Step::Mounts))?;
    change_root(&base).map_err(fail(Step::Mounts))?;
    let closed = QUIET | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let made = run.as_ref().unwrap_or(&base);
    set_attributes(made, closed, Depth::One).map_err(fail(Step::Mounts))
}

/// Covers the sockets of the system's and the user's services, where the whole root is shown.
fn hide_services(base: &OwnedFd) -> Result<OwnedFd, Errno> {
    let run = tmpfs("1m", "755")?;
    match attach_new(&run, base, "run") {
        // Where there is no such directory, there are none.
        Ok(()) | Err(Errno::NOENT) => Ok(run),
        Err(errno) => Err(errno),
    }
}

/// Attaches a place, with the directories to it where nothing around it is shown.
fn show<'a>(
    maker: &mut Maker<'a>,
    place: &'a Place,
    mount: Option<OwnedFd>,
    masks: &Masks,
    is_inside: bool,
) -> Result<(), Errno> {
    let there = if place.kind == Kind::Protected {
        name(maker.base, &place.path)
    } else if is_inside || mount.is_none() {
        point(maker.base, &place.path)
    } else {
        // Nothing can be there: it comes before all that lies in it.
        Err(Errno::NOENT)
    };
    let mount = match (mount, &there) {
        (Some(mount), _) => mount,
        // Nothing is there to be hidden.
        (None, Err(Errno::NOENT)) => return Ok(()),
        (None, Err(errno)) => return Err(*errno),
        (None, Ok(there)) => match (kind_of(there)?, place.kind) {
            (FileType::Directory, Kind::Masked) if !place.is_held => {
                Masks::cover(&masks.directory)?
            }
            (FileType::Directory, _) => Masks::cover(&masks.empty)?,
            _ => Masks::cover(&masks.file)?,
        },
    };
    let at = match there {
        Err(Errno::NOENT) => {
            let is_directory = kind_of(&mount)? == FileType::Directory;
            maker.point(&place.path, is_directory)?
        }
        other => other?,
    };
    attach(&mount, &at)
}

fn proc() -> Result<OwnedFd, Errno> {
    let context = rustix::mount::fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // Other users' processes inside, where the command is root and becomes them, are none of its business.
    rustix::mount::fsconfig_set_string(context.as_fd(), "hidepid", "2")?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    // SECURITY: what root may write there changes the machine, whatever namespace it is in.
    let attributes = QUIET | MountAttrFlags::MOUNT_ATTR_NOEXEC | MountAttrFlags::MOUNT_ATTR_RDONLY;
    rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Makes `/dev`, and returns it.
fn devices(base: &OwnedFd, sources: &[(&str, OwnedFd)]) -> Result<OwnedFd, Errno> {
    let dev = tmpfs(SHM_BYTES, "755")?;
    attach_new(&dev, base, "dev")?;
    for (name, mount) in sources {
        make_file(&dev, name.as_ref())?;
        attach_at(mount, &dev, name)?;
    }
    for (name, target) in DEVICE_LINKS {
        rustix::fs::symlinkat(*target, &dev, *name)?;
    }
    rustix::fs::mkdirat(&dev, "shm", Mode::from_raw_mode(0o1777))?;
    rustix::fs::mkdirat(&dev, "pts", Mode::from_raw_mode(0o755))?;
    let context = rustix::mount::fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_flag(context.as_fd(), "newinstance")?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "ptmxmode", "0666")?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "mode", "0600")?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let pts = rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    attach_at(&pts, &dev, "pts")?;
    Ok(dev)
}

fn tmpfs(size: &str, mode: &str) -> Result<OwnedFd, Errno> {
    let context = rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "size", size)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "mode", mode)?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, QUIET)
}

/// A mount of what is opened, with all that is mounted below, which is nowhere yet.
pub(super) fn clone_of(opened: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    rustix::mount::open_tree(opened, c"", flags)
}

/// The same of a path whose directory is the system's own. A link stands for itself.
fn clone_at(path: &str) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    rustix::mount::open_tree(CWD, path, flags)
}

fn attach(mount: &OwnedFd, at: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", at, c"", flags)
}

fn attach_at(mount: &OwnedFd, base: impl AsFd, name: &str) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", base, name, flags)
}

/// Attaches one of the tree's own mounts, over whatever a whole tree has there.
fn attach_new(mount: &OwnedFd, base: &OwnedFd, name: &str) -> Result<(), Errno> {
    attach(mount, &point(base, Path::new(name))?)
}

fn kind_of(opened: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(opened)?.st_mode))
}

/// Opens a path of the new tree. No link is followed: one may have been planted.
fn point(base: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let path = path.strip_prefix("/").unwrap_or(path);
    walls::open_in(base, path)
}

/// The same of a name that may be a link: a mount on it covers the link, and not what it leads to.
fn name(base: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let path = path.strip_prefix("/").unwrap_or(path);
    walls::open_name_in(base, path)
}

/// Where places are made, which come sorted: the next one is often beside the last.
struct Maker<'a> {
    base: &'a OwnedFd,
    /// The directory that the last one was made in, and its path.
    last: Option<(&'a Path, OwnedFd)>,
}

impl<'a> Maker<'a> {
    /// Makes an empty file or directory where a place will be shown, and the directories to it.
    fn point(&mut self, path: &'a Path, is_directory: bool) -> Result<OwnedFd, Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let around = self.around(path)?;
        if is_directory {
            return make_directory(around, name);
        }
        make_file(around, name)?;
        walls::open_in(around, Path::new(name))
    }

    fn link(&mut self, path: &'a Path, target: &[u8]) -> Result<(), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        rustix::fs::symlinkat(target, self.around(path)?, name)
    }

    /// The directory around a path, made if it is missing.
    fn around(&mut self, path: &'a Path) -> Result<&OwnedFd, Errno> {
        let around = path.parent().unwrap_or(Path::new("/"));
        if around == Path::new("/") {
            return Ok(self.base);
        }
        let last = self.last.take().filter(|(at, _)| *at == around);
        let (at, made) = match last {
            Some(last) => last,
            None => (around, self.make(around)?),
        };
        Ok(&self.last.insert((at, made)).1)
    }

    fn make(&self, path: &Path) -> Result<OwnedFd, Errno> {
        if let Ok(there) = point(self.base, path) {
            return Ok(there);
        }
        let mut at = self.base.try_clone().map_err(|_| Errno::MFILE)?;
        for part in path.components() {
            if let Component::Normal(part) = part {
                at = make_directory(&at, part)?;
            }
        }
        Ok(at)
    }
}

fn make_file(around: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(0o444);
    rustix::fs::mknodat(around, name, FileType::RegularFile, mode, 0)
}

fn make_directory(around: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match rustix::fs::mkdirat(around, name, Mode::from_raw_mode(0o555)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(around, name, flags, Mode::empty())
}

/// Makes the new tree the root and lets go of the old one.
fn change_root(base: &OwnedFd) -> Result<(), Errno> {
    rustix::process::fchdir(base)?;
    rustix::process::pivot_root(".", ".")?;
    // The old root lies on top of the new one now.
    rustix::mount::unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")
}

/// How far attributes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    One,
    All,
}

/// Sets attributes of a mount; those it has stay.
#[expect(unsafe_code, reason = "no crate offers this call")]
pub(super) fn set_attributes(
    mount: &OwnedFd,
    attributes: MountAttrFlags,
    depth: Depth,
) -> Result<(), Errno> {
    /// `struct mount_attr` of the kernel.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let value = Attributes {
        set: attributes.bits().into(),
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    let recursive = if depth == Depth::All {
        libc::AT_RECURSIVE
    } else {
        0
    };
    // SAFETY: the descriptor is open, the path is an empty C string, and the pointer leads to a structure of
    // the kernel's layout and of the size passed, which lives through the call and is only read.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const value,
            size_of::<Attributes>(),
        )
    };
    if answer == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }
}
