//! A file as the host resolved it. Opaque: a tool sees the path, not whether the file exists,
//! since that is content and comes with the read permit.

use crate::host::{Place, Resolved};
use policy::Subject;
use sha2::{Digest as _, Sha256};
use std::{fmt, sync::Arc};

/// One resolved path. Cheap to clone; not comparable, so that nothing leaks by comparing.
#[derive(Clone)]
pub struct Handle(Arc<Resolved>);

/// Without the identity: what a tool can print it knows.
impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.0.real).finish()
    }
}

impl Handle {
    pub(crate) fn new(resolved: Resolved) -> Self {
        Self(Arc::new(resolved))
    }

    /// The real path: relative to the workspace when inside it, else absolute.
    pub fn path(&self) -> &str {
        &self.0.real
    }

    /// The real path, absolute.
    pub fn absolute(&self) -> &str {
        &self.0.absolute
    }

    pub(crate) fn resolved(&self) -> &Resolved {
        &self.0
    }

    pub(crate) fn is_outside(&self) -> bool {
        self.0.place == Place::Outside
    }
}

/// What is done to a file, or below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// It is read, listed or searched.
    Read,
    /// It is changed.
    Write,
}

impl Touch {
    /// The permission that a file is asked under.
    fn of_file(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "edit",
        }
    }

    /// The narrower name that rules about directories outside may use.
    fn of_directory(self) -> &'static str {
        match self {
            Self::Read => "external_directory.read",
            Self::Write => "external_directory.write",
        }
    }
}

/// What the rules are asked about a file: outside the workspace its directory first, then itself.
pub(super) fn subjects(touch: Touch, handle: &Handle) -> Vec<Subject> {
    let it = handle.resolved();
    let named = it.named.clone();
    let mut subject = Subject::path(touch.of_file(), &it.real, &it.absolute, named);
    subject.always = vec![it.real.clone()];
    // SECURITY: another name of the same bytes may lie where the rules were not asked about.
    if let Some(found) = it
        .found
        .filter(|f| f.links > 1 && f.kind == crate::host::FileKind::File)
    {
        subject.ask_because = Some(format!("the file has {} names (hard links)", found.links));
    }
    external_directory(touch, handle)
        .into_iter()
        .chain([subject])
        .collect()
}

/// The ask about a directory outside the workspace, if the file lies there.
pub(super) fn external_directory(touch: Touch, handle: &Handle) -> Option<Subject> {
    if !handle.is_outside() {
        return None;
    }
    let it = handle.resolved();
    let is_directory = it
        .found
        .is_some_and(|found| found.kind == crate::host::FileKind::Directory);
    let directory = if is_directory {
        it.absolute.as_str()
    } else {
        parent(&it.absolute)
    };
    let pattern = format!("{}/*", directory.trim_end_matches('/'));
    let others = it.named.iter().filter(|path| path.starts_with('/'));
    let others = others
        .map(|path| format!("{}/*", parent(path).trim_end_matches('/')))
        .collect();
    let mut subject = Subject::path("external_directory", &pattern, &pattern, others);
    subject.narrower = Some(touch.of_directory());
    subject.always = vec![pattern];
    Some(subject)
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or(
        "/",
        |(parent, _)| if parent.is_empty() { "/" } else { parent },
    )
}

/// A fingerprint of bytes: SHA-256.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The fingerprint of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// Lower-case hexadecimal.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
