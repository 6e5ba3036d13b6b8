//! Walls as Landlock rules.
//! Must not widen what it is given, but for the few devices every program expects.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, make_bitflags,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::wire::{Report, Step};
use crate::{Network, Tier, Walls};

/// Devices that may be read and written.
/// SECURITY: no terminals. Who may open /dev/pts/0 reads what a person types at Tollgate's own questions.
/// `/dev/tty` is safe: it is the terminal of the command's own session, which has none.
const WRITABLE_DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];
/// Devices that may be read.
const READABLE_DEVICES: &[&str] = &["/dev/random", "/dev/urandom"];

/// Directories of a tree of its own that die with the command.
const PRIVATE_DIRECTORIES: &[&str] = &["/dev/shm", "/tmp"];

/// The first version with scopes: signals and abstract sockets.
const SCOPES_SINCE: u32 = 6;

/// Why walls could not be built.
#[derive(Debug)]
pub(crate) struct WallError {
    /// Which wall, writable ones first; `None` if it is none of the caller's.
    pub(crate) index: Option<u16>,
    /// What the system said.
    pub(crate) errno: Errno,
}

impl WallError {
    /// The report about it; `step` is what failed if no wall did.
    pub(crate) fn report(&self, step: Step) -> Report {
        Report::Failed {
            step: self.index.map_or(step, |_| Step::Wall),
            index: self.index.unwrap_or(0),
            errno: self.errno.raw_os_error(),
        }
    }
}

impl From<Errno> for WallError {
    fn from(errno: Errno) -> Self {
        Self { index: None, errno }
    }
}

/// The version of Landlock's interface that kernel, this crate and the order agree on; zero means none.
#[expect(unsafe_code, reason = "no crate offers this question")]
pub(crate) fn abi(abi_max: u32) -> u32 {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with a null pointer, length zero and this flag the call only returns a number.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            VERSION,
        )
    };
    u32::try_from(answer).unwrap_or(0).min(abi_max)
}

/// Builds the rules; nothing is restricted before [`enforce`].
///
/// # Errors
/// When a wall is not there, is reached through a link, or the kernel refuses a rule.
pub(crate) fn build(walls: &Walls, tier: Tier, abi: u32) -> Result<RulesetCreated, WallError> {
    let version = version(abi)?;
    let mut rules = Ruleset::default()
        // Whatever this version cannot do is an error and not silently left out.
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(version))
        .map_err(errno)?;
    // A network namespace has nobody to reach but its own servers.
    if abi >= 4 && tier == Tier::Partial && walls.network != Network::Shared {
        rules = rules
            .handle_access(AccessNet::from_all(version))
            .map_err(errno)?;
    }
    if abi >= SCOPES_SINCE {
        rules = rules.scope(Scope::from_all(version)).map_err(errno)?;
    }
    let mut rules = rules.create().map_err(errno)?;

    let read = AccessFs::from_read(version);
    // Devices cannot be made.
    let mut closed = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev | ResolveUnix});
    if tier == Tier::Partial {
        // There are no sockets to make.
        closed |= AccessFs::MakeSock;
    }
    let write = AccessFs::from_all(version) & !closed;
    let device =
        make_bitflags!(AccessFs::{ReadFile | WriteFile | IoctlDev}) & AccessFs::from_all(version);

    let opened = walls.writable.iter().chain(&walls.readable);
    for (index, path) in opened.enumerate() {
        let lies_in = |closed: &[PathBuf]| closed.iter().any(|closed| path.starts_with(closed));
        let is_writable = index < walls.writable.len() && !lies_in(&walls.write_protected);
        if lies_in(&walls.masked) || (tier == Tier::Full && !is_writable) {
            continue;
        }
        let fail = |errno| WallError {
            index: u16::try_from(index).ok(),
            errno,
        };
        match open(path) {
            Ok(opened) => {
                let access = if is_writable { write } else { read };
                rules = add(rules, &opened, access).map_err(fail)?;
            }
            Err(Errno::NOENT) if !is_writable => {}
            Err(errno) => return Err(fail(errno)),
        }
    }
    if tier == Tier::Full {
        for path in PRIVATE_DIRECTORIES {
            rules = add(rules, &open(Path::new(path))?, write)?;
        }
        // The tree shows nothing that may not be read. Whatever is not in it is still closed.
        rules = add(rules, &open(Path::new("/"))?, read)?;
        // Devices and terminals of its own; nothing can be made there.
        return Ok(add(rules, &open(Path::new("/dev"))?, device)?);
    }
    let devices = WRITABLE_DEVICES.iter().map(|path| (path, device));
    for (path, access) in devices.chain(
        READABLE_DEVICES
            .iter()
            .map(|path| (path, AccessFs::ReadFile.into())),
    ) {
        if let Some(opened) = open_device(Path::new(path))? {
            rules = add(rules, &opened, access)?;
        }
    }
    Ok(rules)
}

/// Puts this process, which must have one thread, and all its later children behind the rules. There is no way back.
///
/// # Errors
/// When anything of the rules is not enforced.
pub(crate) fn enforce(rules: RulesetCreated) -> Result<(), Errno> {
    let status = rules.restrict_self().map_err(errno)?;
    match status {
        RestrictionStatus {
            ruleset: RulesetStatus::FullyEnforced,
            no_new_privs: true,
            ..
        } => Ok(()),
        _ => Err(Errno::NOTSUP),
    }
}

/// Lets this process signal its descendants only, where the kernel can hold that.
///
/// # Errors
/// When the kernel should be able to, but does not.
pub(crate) fn enforce_signal_scope(abi: u32) -> Result<bool, Errno> {
    if abi < SCOPES_SINCE {
        return Ok(false);
    }
    let scope = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal);
    enforce(scope.and_then(Ruleset::create).map_err(errno)?)?;
    Ok(true)
}

/// Whether walls of this version keep signals, and connections to abstract sockets, inside.
pub(crate) fn has_scopes(abi: u32) -> bool {
    abi >= SCOPES_SINCE
}

fn version(abi: u32) -> Result<ABI, Errno> {
    match i32::try_from(abi) {
        Ok(abi @ 1..) => Ok(ABI::from(abi)),
        _ => Err(Errno::NOSYS),
    }
}

fn add(
    rules: RulesetCreated,
    opened: &OwnedFd,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Errno> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(opened)?.st_mode);
    let access = if kind == FileType::Directory {
        access
    } else {
        access & AccessFs::from_file(ABI::V10)
    };
    rules
        .add_rule(PathBeneath::new(opened.as_fd(), access))
        .map_err(errno)
}

/// Opens a wall. A link on the way is an error: the path was canonical when it was chosen,
/// so somebody has put the link there since.
pub(crate) fn open(path: &Path) -> Result<OwnedFd, Errno> {
    open_at(CWD, path, OFlags::empty(), ResolveFlags::empty())
}

/// Like [`open`], but a path that ends in a link opens the link itself.
pub(crate) fn open_name(path: &Path) -> Result<OwnedFd, Errno> {
    open_at(CWD, path, OFlags::NOFOLLOW, ResolveFlags::empty())
}

/// Like [`open`], for a path that starts in a directory and may not leave it.
pub(crate) fn open_in(directory: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let base = directory.as_fd();
    open_at(base, path, OFlags::empty(), ResolveFlags::BENEATH)
}

/// Like [`open_in`], but a path that ends in a link opens the link itself.
pub(crate) fn open_name_in(directory: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let base = directory.as_fd();
    open_at(base, path, OFlags::NOFOLLOW, ResolveFlags::BENEATH)
}

fn open_at(
    start: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = resolve | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(start, path, flags, Mode::empty(), resolve)
}

/// Opens a device, or nothing if the name is missing or stands for something else.
pub(crate) fn open_device(path: &Path) -> Result<Option<OwnedFd>, Errno> {
    match open(path) {
        Ok(opened) => {
            let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
            Ok((kind == FileType::CharacterDevice).then_some(opened))
        }
        Err(Errno::NOENT | Errno::LOOP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// The error number beneath one of Landlock's errors; what has none was refused by the crate itself.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn errno(error: RulesetError) -> Errno {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(current) = source {
        if let Some(errno) = current
            .downcast_ref::<io::Error>()
            .and_then(Errno::from_io_error)
        {
            return errno;
        }
        source = current.source();
    }
    Errno::NOTSUP
}
