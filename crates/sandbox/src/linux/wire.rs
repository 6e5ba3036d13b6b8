//! The words between launcher, supervisor and child: one order there, short reports back.
//! Must not interpret what it carries; paths and arguments are bytes, not text.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::{Limits, Network, Spawn, Tier, Walls};

/// The length of every report, in bytes.
pub(crate) const FRAME_BYTES: usize = 8;
/// Tells the supervisor to end the command: SIGTERM, and SIGKILL a second later.
pub(crate) const TERMINATE: u8 = b'T';
/// Tells the supervisor to kill the command at once.
pub(crate) const KILL: u8 = b'K';

/// The largest order a supervisor reads, in bytes; the kernel takes less for one program.
const ORDER_BYTES_MAX: usize = 16 << 20;

/// What a supervisor is to do.
#[derive(Debug)]
pub(crate) struct Order {
    /// The newest version of Landlock's interface to use.
    pub(crate) abi_max: u32,
    /// What to build.
    pub(crate) tier: Tier,
    /// The command, or nothing for a trial of the walls.
    pub(crate) spawn: Option<Spawn>,
}

impl Order {
    /// The order as bytes: a length, then counted lists of counted strings, all counts `u32` in the
    /// machine's order (both ends are the same program on the same machine).
    ///
    /// # Errors
    /// When it is too long for any system to execute.
    pub(crate) fn encode(spawn: Option<&Spawn>, tier: Tier, abi_max: u32) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 4];
        bytes.extend(abi_max.to_ne_bytes());
        bytes.push(match tier {
            Tier::Partial => 0,
            Tier::Full => 1,
        });
        if let Some(spawn) = spawn {
            let env: Vec<&OsStr> = spawn
                .env
                .iter()
                .flat_map(|(name, value)| [name.as_os_str(), value])
                .collect();
            list(&mut bytes, &[&spawn.program, spawn.cwd.as_os_str()])?;
            list(
                &mut bytes,
                &spawn
                    .args
                    .iter()
                    .map(OsString::as_os_str)
                    .collect::<Vec<_>>(),
            )?;
            list(&mut bytes, &env)?;
            let walls = &spawn.walls;
            let spares: Vec<PathBuf> = walls.spares.iter().cloned().collect();
            for paths in [
                &walls.readable,
                &walls.writable,
                &walls.masked,
                &walls.write_protected,
                &spares,
                &walls.sockets,
                &walls.links,
            ] {
                let paths: Vec<&OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
                list(&mut bytes, &paths)?;
            }
            for limit in limits(&walls.limits) {
                bytes.extend(limit.unwrap_or(u64::MAX).to_ne_bytes());
            }
            bytes.push(match walls.network {
                Network::Private => 0,
                Network::Shared => 1,
                Network::Proxied => 2,
            });
        }
        let body = bytes.len() - 4;
        if body > ORDER_BYTES_MAX {
            return Err(rustix::io::Errno::TOOBIG.into());
        }
        if let Some(head) = bytes.get_mut(..4) {
            head.copy_from_slice(&count(body)?);
        }
        Ok(bytes)
    }

    /// Reads an order.
    ///
    /// # Errors
    /// When the other end closes early or sends anything else.
    pub(crate) fn read(from: &mut impl io::Read) -> io::Result<Self> {
        let mut head = [0; 4];
        from.read_exact(&mut head)?;
        let length = u32::from_ne_bytes(head) as usize;
        if length > ORDER_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Self::decode(&body).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn decode(mut body: &[u8]) -> Option<Self> {
        let abi_max = number(&mut body)?;
        let tier = match byte(&mut body)? {
            0 => Tier::Partial,
            1 => Tier::Full,
            _ => return None,
        };
        if body.is_empty() {
            return Some(Self {
                abi_max,
                tier,
                spawn: None,
            });
        }
        let [program, cwd] = <[OsString; 2]>::try_from(strings(&mut body)?).ok()?;
        let args = strings(&mut body)?;
        let mut env = Vec::new();
        let mut words = strings(&mut body)?.into_iter();
        while let Some(name) = words.next() {
            env.push((name, words.next()?));
        }
        let mut paths = || {
            Some(
                strings(&mut body)?
                    .into_iter()
                    .map(PathBuf::from)
                    .collect::<Vec<_>>(),
            )
        };
        let (readable, writable, masked) = (paths()?, paths()?, paths()?);
        let (write_protected, mut spares) = (paths()?, paths()?);
        let (sockets, links) = (paths()?, paths()?);
        let mut limit = || long(&mut body).map(|limit| (limit != u64::MAX).then_some(limit));
        let limits = Limits {
            processes: limit()?,
            memory_bytes: limit()?,
            file_bytes: limit()?,
            cpu_s: limit()?,
        };
        let network = match byte(&mut body)? {
            0 => Network::Private,
            1 => Network::Shared,
            2 => Network::Proxied,
            _ => return None,
        };
        let spawn = Spawn {
            program,
            args,
            env,
            cwd: cwd.into(),
            walls: Walls {
                readable,
                writable,
                masked,
                write_protected,
                spares: spares.pop(),
                links,
                sockets,
                limits,
                network,
            },
        };
        body.is_empty().then_some(Self {
            abi_max,
            tier,
            spawn: Some(spawn),
        })
    }
}

/// The limits in the order in which they are sent.
fn limits(limits: &Limits) -> [Option<u64>; 4] {
    [
        limits.processes,
        limits.memory_bytes,
        limits.file_bytes,
        limits.cpu_s,
    ]
}

fn byte(body: &mut &[u8]) -> Option<u8> {
    let (head, rest) = body.split_first()?;
    *body = rest;
    Some(*head)
}

fn long(body: &mut &[u8]) -> Option<u64> {
    let (head, rest) = body.split_first_chunk::<8>()?;
    *body = rest;
    Some(u64::from_ne_bytes(*head))
}

fn count(value: usize) -> io::Result<[u8; 4]> {
    u32::try_from(value)
        .map(u32::to_ne_bytes)
        .map_err(|_| rustix::io::Errno::TOOBIG.into())
}

fn list(bytes: &mut Vec<u8>, strings: &[&OsStr]) -> io::Result<()> {
    bytes.extend(count(strings.len())?);
    for string in strings {
        bytes.extend(count(string.len())?);
        bytes.extend(string.as_bytes());
    }
    Ok(())
}

fn number(body: &mut &[u8]) -> Option<u32> {
    let (head, rest) = body.split_first_chunk::<4>()?;
    *body = rest;
    Some(u32::from_ne_bytes(*head))
}

fn strings(body: &mut &[u8]) -> Option<Vec<OsString>> {
    let mut found = Vec::new();
    for _ in 0..number(body)? {
        let length = number(body)? as usize;
        let (string, rest) = body.split_at_checked(length)?;
        *body = rest;
        found.push(OsString::from_vec(string.to_vec()));
    }
    Some(found)
}

/// A step between the order and the running program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Order,
    Supervise,
    Namespaces,
    Identity,
    Fork,
    Loopback,
    Listen,
    Mounts,
    Proc,
    Devices,
    Session,
    Limits,
    Directory,
    Canary,
    Wall,
    Capabilities,
    Landlock,
    Seccomp,
    Trial,
    Program,
}

impl Step {
    const ALL: [Self; 20] = [
        Self::Order,
        Self::Supervise,
        Self::Namespaces,
        Self::Identity,
        Self::Fork,
        Self::Loopback,
        Self::Listen,
        Self::Mounts,
        Self::Proc,
        Self::Devices,
        Self::Session,
        Self::Limits,
        Self::Directory,
        Self::Canary,
        Self::Wall,
        Self::Capabilities,
        Self::Landlock,
        Self::Seccomp,
        Self::Trial,
        Self::Program,
    ];

    /// The step as a verb and its object, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Order => "read the order",
            Self::Supervise => "become a supervisor",
            Self::Namespaces => "make namespaces",
            Self::Identity => "keep the user's number in a new namespace",
            Self::Fork => "fork the command",
            Self::Loopback => "start the loopback interface",
            Self::Listen => "listen for connections to the proxy",
            Self::Mounts => "build a file tree of its own",
            Self::Proc => "mount a fresh /proc",
            Self::Devices => "make a /dev of its own",
            Self::Session => "begin a session",
            Self::Limits => "set limits",
            Self::Directory => "enter the directory",
            Self::Canary => "open the file the walls are tried with",
            Self::Wall => "build a wall",
            Self::Capabilities => "drop capabilities",
            Self::Landlock => "close the file system",
            Self::Seccomp => "close system calls",
            Self::Trial => "hold the walls: the trial got out",
            Self::Program => "execute the program",
        }
    }
}

/// What a child tells its supervisor, and a supervisor its launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The child is behind its walls and is about to execute the program.
    Confined { abi: u32 },
    /// The program runs.
    Started { abi: u32 },
    /// A step failed with this error number; `index` counts walls as [`Walls::paths`] lists them.
    Failed { step: Step, index: u16, errno: i32 },
    /// The command exited with this code and everything it started is dead.
    Code(i32),
    /// The command was killed by this signal and everything it started is dead.
    Signal(i32),
}

impl Report {
    /// The report as bytes: kind, step, index (two), value (four).
    pub(crate) fn encode(self) -> [u8; FRAME_BYTES] {
        let (kind, step, index, value) = match self {
            Self::Confined { abi } => (b'c', 0, 0, abi.to_ne_bytes()),
            Self::Started { abi } => (b's', 0, 0, abi.to_ne_bytes()),
            Self::Failed { step, index, errno } => (b'f', step as u8, index, errno.to_ne_bytes()),
            Self::Code(code) => (b'e', 0, 0, code.to_ne_bytes()),
            Self::Signal(signal) => (b'k', 0, 0, signal.to_ne_bytes()),
        };
        let ([i0, i1], [v0, v1, v2, v3]) = (index.to_ne_bytes(), value);
        [kind, step, i0, i1, v0, v1, v2, v3]
    }

    /// Reads a report, or nothing if these bytes are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let &[kind, step, i0, i1, v0, v1, v2, v3] = bytes else {
            return None;
        };
        let value = [v0, v1, v2, v3];
        match kind {
            b'c' => Some(Self::Confined {
                abi: u32::from_ne_bytes(value),
            }),
            b's' => Some(Self::Started {
                abi: u32::from_ne_bytes(value),
            }),
            b'f' => Some(Self::Failed {
                step: *Step::ALL.get(usize::from(step))?,
                index: u16::from_ne_bytes([i0, i1]),
                errno: i32::from_ne_bytes(value),
            }),
            b'e' => Some(Self::Code(i32::from_ne_bytes(value))),
            b'k' => Some(Self::Signal(i32::from_ne_bytes(value))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Spawn {
        Spawn {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), OsString::from_vec(vec![0xff, 0xfe, b'\n'])],
            env: vec![("A".into(), "".into()), ("B".into(), "=".into())],
            cwd: OsString::from_vec(b"/tmp/\x80".to_vec()).into(),
            walls: Walls {
                readable: vec!["/usr".into()],
                masked: vec!["/usr/secret".into()],
                write_protected: vec![OsString::from_vec(b"/a\xff".to_vec()).into()],
                spares: Some("/state/held".into()),
                sockets: vec!["/run/agent".into()],
                links: vec!["/home/u/.rustup".into()],
                limits: Limits {
                    processes: Some(7),
                    cpu_s: Some(0),
                    ..Limits::default()
                },
                network: Network::Proxied,
                writable: Vec::new(),
            },
        }
    }

    #[test]
    fn an_order_survives_the_way_whatever_bytes_it_holds() {
        let bytes = Order::encode(Some(&sample()), Tier::Full, 7).unwrap();
        let order = Order::read(&mut bytes.as_slice()).unwrap();
        assert_eq!((order.abi_max, order.tier), (7, Tier::Full));
        assert_eq!(
            format!("{:?}", order.spawn.unwrap()),
            format!("{:?}", sample())
        );
    }

    #[test]
    fn an_order_cut_short_or_with_a_rest_is_refused() {
        let bytes = Order::encode(Some(&sample()), Tier::Full, 7).unwrap();
        let body = &bytes[4..];
        // Cut after number and tier it is the order for a trial, which runs nothing.
        for end in (0..5).chain(6..body.len()) {
            assert!(Order::decode(&body[..end]).is_none(), "cut at {end}");
        }
        assert!(Order::decode(&[body, b"x"].concat()).is_none());
        assert!(Order::read(&mut [255; 12].as_slice()).is_err());
    }

    #[test]
    fn every_report_survives_the_way() {
        let failures = Step::ALL.map(|step| Report::Failed {
            step,
            index: 513,
            errno: 13,
        });
        let others = [
            Report::Confined { abi: 7 },
            Report::Started { abi: 1 },
            Report::Code(-1),
            Report::Signal(9),
        ];
        for report in failures.into_iter().chain(others) {
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        assert_eq!(Report::decode(b"f\xff______"), None);
        assert_eq!(Report::decode(b"short"), None);
    }
}
