//! The walls that commands stand behind, and what a tier leaves open of one.
//! Must not say what a wall holds in the words of who asked for it: that is theirs.

use std::fmt;

/// What walls are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wall {
    /// Writing outside of what is writable.
    Write,
    /// Reading outside of what is readable.
    Read,
    /// [`crate::Walls::masked`].
    Masked,
    /// [`crate::Walls::write_protected`].
    WriteProtected,
    /// Seeing what exists outside, and changing its mode, owner and times.
    Names,
    /// Machines, and servers on this one.
    Network,
    /// [`crate::Network::Proxied`].
    Proxied,
    /// UNIX sockets outside.
    Sockets,
    /// The end of everything that a command started.
    End,
    /// Processes outside: signals, tracing, queues that they share.
    Processes,
    /// [`crate::Limits`].
    Limits,
    /// Devices.
    Devices,
    /// Mounts, modules, clocks, privileges.
    Kernel,
}

impl Wall {
    /// All there are.
    pub const ALL: [Self; 13] = [
        Self::Write,
        Self::Read,
        Self::Masked,
        Self::WriteProtected,
        Self::Names,
        Self::Network,
        Self::Proxied,
        Self::Sockets,
        Self::End,
        Self::Processes,
        Self::Limits,
        Self::Devices,
        Self::Kernel,
    ];
}

/// What is left open of a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Of which.
    pub wall: Wall,
    /// How much of it.
    pub extent: Extent,
    /// What a command can do, a phrase for people.
    pub about: &'static str,
}

/// How much of a wall is left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It holds but for this.
    Part,
    /// It does not stand.
    Whole,
}

impl Gap {
    /// The wall holds but for this.
    #[cfg(target_os = "linux")]
    pub(crate) const fn part(wall: Wall, about: &'static str) -> Self {
        Self {
            wall,
            extent: Extent::Part,
            about,
        }
    }

    /// The wall does not stand.
    #[cfg(target_os = "linux")]
    pub(crate) const fn whole(wall: Wall, about: &'static str) -> Self {
        Self {
            wall,
            extent: Extent::Whole,
            about,
        }
    }
}

/// The phrase.
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about)
    }
}
