//! Where a path leads. Must not open what it finds, nor tell apart what exists outside: a path that
//! cannot be resolved is told in the same words whatever is in the way.

use crate::{
    beneath::{self, Spot},
    local::Machine,
    options::Moment,
    quarantine,
};
use gate::host::{FileId, HostError, Place, ResolveError, Resolved};
use rustix::{
    fd::{AsFd, BorrowedFd},
    fs::{AtFlags, CWD, readlinkat, statat},
    io::Errno,
};
use std::{
    ffi::OsString,
    io,
    os::unix::ffi::OsStringExt,
    path::{Component, Path, PathBuf},
};

/// The directory above a path that cannot be reached. No file has this identity.
const NOWHERE: FileId = FileId {
    device: 0,
    inode: 0,
};

/// Why a path leads nowhere; not said aloud.
struct Lost;

impl Machine {
    /// See `gate::host::Host::resolve`.
    pub(crate) fn resolve(&self, path: &str) -> Result<Resolved, ResolveError> {
        if path.is_empty() || path.contains('\0') {
            return Err(ResolveError("a path is empty or holds a NUL".into()));
        }
        // Taken for a name, it would be a file of the workspace that nobody meant.
        if let Some((scheme, _)) = path.split_once("://")
            && !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        {
            return Err(ResolveError(format!(
                "`{path}` is a URL, not a path; give the path of the file itself"
            )));
        }
        self.check_workspace().map_err(ResolveError)?;
        let lost = || {
            ResolveError(format!(
                "`{path}` cannot be resolved: a link on the way leads nowhere or in a circle, or something \
                 on the way is no directory or may not be entered"
            ))
        };
        let resolved = match self.lead(path) {
            Ok(resolved) => resolved,
            Err(Lost) => self.beyond(path).ok_or_else(lost)?,
        };
        if self.is_ours(Path::new(&resolved.absolute)) {
            return Err(ResolveError(format!(
                "`{path}` belongs to Tollgate and is out of reach"
            )));
        }
        self.at(Moment::Resolved);
        Ok(resolved)
    }

    fn lead(&self, path: &str) -> Result<Resolved, Lost> {
        let asked = self.workspace.join(path);
        let (real, id) = follow(&asked)?;
        let absolute = real.to_str().ok_or(Lost)?.to_owned();
        let (place, real) = match real.strip_prefix(&self.workspace) {
            Ok(below) => (Place::Inside, written(below).ok_or(Lost)?),
            Err(_) => (Place::Outside, absolute.clone()),
        };
        let named = self.spellings(&asked);
        let named = named
            .into_iter()
            .filter(|name| *name != real && *name != absolute)
            .collect();
        let mut resolved = Resolved {
            place,
            real,
            absolute,
            named,
            found: None,
            above: NOWHERE,
        };
        // Once more, by the real path and without links: whoever swaps something meanwhile is noticed.
        let spot = self.look(&resolved).map_err(|_| Lost)?;
        if spot.found.map(|found| found.id) != id {
            return Err(Lost);
        }
        resolved.found = spot.found;
        resolved.above = spot.above;
        Ok(resolved)
    }

    /// SECURITY: outside, what cannot be reached is judged like what is not there; an error would tell
    /// what exists there before anyone was asked.
    fn beyond(&self, path: &str) -> Option<Resolved> {
        let asked = self.workspace.join(path);
        let (above, (real, _)) = asked
            .ancestors()
            .skip(1)
            .find_map(|above| Some((above, real(above).ok()?)))?;
        if real.starts_with(&self.workspace) {
            return None;
        }
        let full = cleaned(&real.join(asked.strip_prefix(above).ok()?));
        let absolute = written(&full).filter(|_| !full.starts_with(&self.workspace))?;
        let named = self
            .spellings(&asked)
            .into_iter()
            .filter(|name| *name != absolute)
            .collect();
        let (place, real) = (Place::Outside, absolute.clone());
        Some(Resolved {
            place,
            real,
            absolute,
            named,
            found: None,
            above: NOWHERE,
        })
    }

    /// The path as it was named, made plain: relative if it is below the workspace, and absolute.
    fn spellings(&self, asked: &Path) -> Vec<String> {
        let clean = cleaned(asked);
        let below = clean.strip_prefix(&self.workspace).ok().and_then(written);
        below.into_iter().chain(written(&clean)).collect()
    }

    /// Looks at what stands where a resolved path leads now.
    fn look(&self, target: &Resolved) -> rustix::io::Result<Spot> {
        let (base, path) = self.way(target);
        beneath::look(base, path)
    }

    /// From which open directory, and by which path below it, a resolved path is reached.
    pub(crate) fn way<'a>(&'a self, target: &'a Resolved) -> (BorrowedFd<'a>, &'a Path) {
        match target.place {
            Place::Inside => (self.workspace_fd.as_fd(), Path::new(&target.real)),
            Place::Outside => (
                self.root.as_fd(),
                Path::new(target.absolute.trim_start_matches('/')),
            ),
        }
    }

    /// Where a resolved path leads now, if that is still what was judged.
    pub(crate) fn stand(&self, target: &Resolved) -> Result<Spot, HostError> {
        self.check_workspace().map_err(HostError::Failed)?;
        if target.above == NOWHERE {
            let why = "something on the way is no directory, may not be entered, or leads nowhere";
            return Err(HostError::Failed(format!(
                "`{}` cannot be reached: {why}",
                target.real
            )));
        }
        let spot = self
            .look(target)
            .map_err(|error| changed_or_failed(target, error))?;
        if spot.found != target.found || spot.above != target.above {
            return Err(changed(target));
        }
        Ok(spot)
    }

    /// Whether the workspace's path still leads to the directory that was opened.
    pub(crate) fn check_workspace(&self) -> Result<(), String> {
        let now = statat(CWD, &self.workspace, AtFlags::SYMLINK_NOFOLLOW);
        match now {
            Ok(stat) if beneath::id_of(&stat) == self.workspace_id => Ok(()),
            _ => Err(format!(
                "the workspace `{}` was removed or moved",
                self.workspace.display()
            )),
        }
    }

    /// Whether a real path belongs to us: neither tools nor children come near it.
    pub(crate) fn is_ours(&self, real: &Path) -> bool {
        let is_output = |below: &Path| !below.starts_with(quarantine::NAME);
        real.starts_with(&self.state_dir)
            && !real.strip_prefix(&self.session_dir).is_ok_and(is_output)
            && !real.starts_with(&self.temp_dir)
    }
}

/// What stands there is not what was judged.
pub(crate) fn changed(target: &Resolved) -> HostError {
    HostError::Changed(format!(
        "`{}` is no longer what was decided about",
        target.real
    ))
}

/// A link or a gap where there was none is a change; the rest is the machine's.
pub(crate) fn changed_or_failed(target: &Resolved, error: Errno) -> HostError {
    match error {
        Errno::LOOP
        | Errno::NOENT
        | Errno::NOTDIR
        | Errno::XDEV
        | Errno::NXIO
        | Errno::EXIST
        | Errno::ISDIR => changed(target),
        _ => failed(target, error),
    }
}

/// The machine could not; names the path as it was judged and no other.
pub(crate) fn failed(target: &Resolved, error: impl Into<io::Error>) -> HostError {
    HostError::Failed(format!("`{}`: {}", target.real, error.into()))
}

/// Most links to nothing that are followed one after another, as many as the kernel follows.
const HOPS_MAX: usize = 40;

/// The real path behind `asked`, and what stands there. What does not exist is taken as it is written,
/// below the deepest directory that does; a link to it leads there, for that is where a write would go.
fn follow(asked: &Path) -> Result<(PathBuf, Option<FileId>), Lost> {
    let mut existing = asked.to_path_buf();
    let mut rest = Vec::new();
    let mut hops = 0;
    loop {
        match real(&existing) {
            Ok((mut real, id)) => {
                real.extend(rest.iter().rev());
                return Ok((real, rest.is_empty().then_some(id)));
            }
            Err(Errno::NOENT) if is_absent(&existing) => {}
            Err(Errno::NOENT) if hops < HOPS_MAX => {
                hops += 1;
                existing = next(&existing)?;
                continue;
            }
            Err(_) => return Err(Lost),
        }
        match existing.components().next_back() {
            Some(Component::Normal(name)) => rest.push(name.to_owned()),
            // `..` behind what does not exist has no meaning.
            _ => return Err(Lost),
        }
        existing.pop();
    }
}

/// Where a link leads by its own words.
fn next(link: &Path) -> Result<PathBuf, Lost> {
    let target = readlinkat(CWD, link, Vec::new()).map_err(|_| Lost)?;
    let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
    Ok(link.parent().ok_or(Lost)?.join(target))
}

/// A link to nothing is there, though what it leads to is not.
fn is_absent(path: &Path) -> bool {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).err() == Some(Errno::NOENT)
}

/// Follows links as the kernel does, but none of the magic ones below `/proc`.
#[cfg(target_os = "linux")]
fn real(path: &Path) -> rustix::io::Result<(PathBuf, FileId)> {
    use rustix::{
        fd::AsRawFd,
        fs::{Mode, OFlags, ResolveFlags, fstat, openat2},
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let end = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => return real_by_name(path),
        opened => opened?,
    };
    let known_as = format!("/proc/self/fd/{}", end.as_raw_fd());
    let name = readlinkat(CWD, known_as, Vec::new())?.into_bytes();
    Ok((
        OsString::from_vec(name).into(),
        beneath::id_of(&fstat(&end)?),
    ))
}

#[cfg(not(target_os = "linux"))]
fn real(path: &Path) -> rustix::io::Result<(PathBuf, FileId)> {
    real_by_name(path)
}

/// The same by reading each link as text, which gives magic links no power either.
fn real_by_name(path: &Path) -> rustix::io::Result<(PathBuf, FileId)> {
    let code = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let real = path.canonicalize().map_err(code)?;
    let stat = statat(CWD, &real, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((real, beneath::id_of(&stat)))
}

/// Without `.` and `..`, by the letters alone.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => clean.push(part),
        }
    }
    clean
}

/// As text; a workspace itself is `.`.
fn written(path: &Path) -> Option<String> {
    if path.as_os_str().is_empty() {
        Some(".".into())
    } else {
        path.to_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaning_goes_by_the_letters() {
        for (path, want) in [
            ("/a/./b/../c", "/a/c"),
            ("/../x", "/x"),
            ("/a/..", "/"),
            ("/a//b/", "/a/b"),
        ] {
            assert_eq!(cleaned(Path::new(path)), Path::new(want), "{path}");
        }
    }

    #[test]
    fn both_ways_to_a_real_path_agree() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", temp.path().join("link")).unwrap();
        for name in ["a", "link", "link/../a"] {
            let path = temp.path().join(name);
            assert_eq!(real(&path).unwrap(), real_by_name(&path).unwrap(), "{name}");
        }
        assert!(
            real(&temp.path().join("none")).is_err()
                && real_by_name(&temp.path().join("none")).is_err()
        );
    }
}
