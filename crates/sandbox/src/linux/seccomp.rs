//! The system calls a command may not make, as a seccomp filter.
//! Must not be the only wall around files: it sees numbers, never paths.

use std::collections::BTreeMap;
use std::io;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::number;
use crate::{Network, Tier};

/// Refused with EACCES, whatever the arguments.
const REFUSED: &[c_long] = &[
    // Memory of other processes. Landlock holds ptrace to the command's own processes already, which debuggers
    // and leak checkers need; these two have no such users.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // Kernel features with a record of ways out.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_fanotify_init,
    // The mount table and namespaces.
    libc::SYS_chroot,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
    // Files by number, past every path.
    libc::SYS_open_by_handle_at,
    // The machine: clock, name, modules, kernel, log, accounting, swap, quota.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_lookup_dcookie,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    libc::SYS_nfsservctl,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Answered as if the kernel did not know them, so that libraries fall back to calls a filter can read.
const UNKNOWN: &[c_long] = &[
    libc::SYS_clone3,
    // A ring opens sockets and files without the calls above.
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    // Like a change of mode, but no path has to be opened, so Landlock does not see it.
    FILE_SETATTR,
];

/// `file_setattr` of Linux 6.17, the same number on every machine.
const FILE_SETATTR: c_long = 469;
/// `open_tree_attr` of Linux 6.15, the same number on every machine; the C library crate has no name for it.
const OPEN_TREE_ATTR: c_long = 467;

/// Flags of `clone` that make namespaces.
const NAMESPACES: &[c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Requests that show what a volume holds, or did, past every path: snapshots appear where the command may read, and
/// older kernels make one of the whole volume for whoever has any file of it.
const SNAPSHOTS: &[u64] = &[
    0x5000_9401, // BTRFS_IOC_SNAP_CREATE
    0x5000_9417, // BTRFS_IOC_SNAP_CREATE_V2
    0x5000_940f, // BTRFS_IOC_SNAP_DESTROY, which asks for no mount
    0x5000_943f, // BTRFS_IOC_SNAP_DESTROY_V2
    0x4020_bc10, // BCH_IOCTL_SUBVOLUME_CREATE
    0x4020_bc11, // BCH_IOCTL_SUBVOLUME_DESTROY
];

/// Protocols of the internet that can be asked for: the default, ICMP for either family, TCP (also of several paths), UDP.
/// Others are modules which the kernel loads for whoever asks first, and that few look after.
const PROTOCOLS: &[u64] = &[0, 1, 6, 17, 58, 262];

/// Which sockets can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Only connected pairs of streams. A socket is also the way to services that run as the user outside the
    /// walls (Docker, ssh-agent, systemd), and Landlock of today does not close it.
    Pairs,
    /// Those of the internet, and what asks about its interfaces.
    Internet,
    /// These and UNIX sockets, where a file tree of its own shows none that lead out.
    Local,
}

impl Sockets {
    /// What a tier can hold.
    pub(crate) fn of(tier: Tier, network: Network) -> Self {
        match (tier, network) {
            (Tier::Full, _) => Self::Local,
            (Tier::Partial, Network::Shared) => Self::Internet,
            (Tier::Partial, Network::Private | Network::Proxied) => Self::Pairs,
        }
    }
}

/// An old way to say that the family is `AF_PACKET`.
const SOCK_PACKET: c_int = 10;

/// The bits of a socket's type that are not flags (close on exec, non-blocking).
const SOCKET_TYPE: u64 = 0xf;

/// Puts this process and all its later children behind the filter. There is no way back.
///
/// # Errors
/// When the filter cannot be made for this machine or the kernel refuses it.
pub(crate) fn enforce(sockets: Sockets) -> io::Result<()> {
    for program in programs(sockets)? {
        seccompiler::apply_filter(&program).map_err(|error| match error {
            seccompiler::Error::Prctl(source) | seccompiler::Error::Seccomp(source) => source,
            other => io::Error::other(other),
        })?;
    }
    Ok(())
}

/// The filters, by numbers, by arguments and for what is answered without being done; the kernel takes the stricter
/// answer.
fn programs(sockets: Sockets) -> io::Result<[BpfProgram; 3]> {
    let refused = REFUSED.iter().map(|&call| (call, libc::EACCES));
    let unknown = UNKNOWN.iter().map(|&call| (call, libc::ENOSYS));
    let by_number = number::program(refused.chain(unknown))?;
    let by_arguments = by_arguments(sockets).map_err(io::Error::other)?;
    let not_done = not_done().map_err(io::Error::other)?;
    Ok([by_number, by_arguments, not_done])
}

fn by_arguments(sockets: Sockets) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = conditional()?.into_iter().collect();
    rules.extend(socket_rules(sockets)?);
    answering(libc::EACCES, rules)
}

/// The limit of cores stays as it is, for who lowers it gets the machine's own program for them to run. Whoever asks
/// is told yes: no core is written anyway, and programs that hold keys do not go on where they cannot turn that off.
fn not_done() -> Result<BpfProgram, seccompiler::BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, Ne};
    let core = libc::RLIMIT_CORE.into();
    let new_alone = [
        (0, Dword, Eq, 0),
        (1, Dword, Eq, core),
        (2, Qword, Ne, 0),
        (3, Qword, Eq, 0),
    ];
    let rules = [
        (libc::SYS_setrlimit, vec![rule(&[(0, (Eq, core))])?]),
        (libc::SYS_prlimit64, vec![rule_of(&new_alone)?]),
    ];
    answering(0, rules.into())
}

/// The filter that answers what the rules match with an error number. A call of another architecture (32-bit x86)
/// kills the process: the filter could not read its numbers.
fn answering(
    errno: c_int,
    rules: BTreeMap<i64, Vec<SeccompRule>>,
) -> Result<BpfProgram, seccompiler::BackendError> {
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()
}

/// Calls refused for some arguments only.
fn conditional() -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let number = |value: c_int| u64::from(value.unsigned_abs());
    let mode = |kind: libc::mode_t| (MaskedEq(libc::S_IFMT.into()), u64::from(kind));
    let device = |argument: u8| -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        [libc::S_IFCHR, libc::S_IFBLK]
            .into_iter()
            .map(|kind| rule(&[(argument, mode(kind))]))
            .collect()
    };
    let namespaces = NAMESPACES
        .iter()
        .map(|&flag| rule(&[(0, (MaskedEq(number(flag)), number(flag)))]));
    Ok(vec![
        (libc::SYS_clone, namespaces.collect::<Result<_, _>>()?),
        // Typing into the terminal, as if a person did.
        (
            libc::SYS_ioctl,
            // The last one loads a kernel module of the caller's choice, and needs no more than a terminal of one's own.
            [libc::TIOCSTI, TIOCLINUX, libc::TIOCSETD]
                .iter()
                .chain(SNAPSHOTS)
                .map(|&request| rule(&[(1, (Eq, request))]))
                .collect::<Result<_, _>>()?,
        ),
        // SECURITY: limits of another process kill it (CPU time) or blind it (descriptors), the supervisor too.
        // One's own process is 0, and to read limits is to pass no new ones.
        (
            libc::SYS_prlimit64,
            vec![
                rule_of(&[(0, Dword, Ne, 0), (2, Qword, Ne, 0)])?,
                // The old limit would have to be told with the answer of `not_done`.
                rule_of(&[
                    (1, Dword, Eq, libc::RLIMIT_CORE.into()),
                    (2, Qword, Ne, 0),
                    (3, Qword, Ne, 0),
                ])?,
            ],
        ),
        (
            libc::SYS_personality,
            vec![rule(&[(0, (Ne, 0)), (0, (Ne, 0xffff_ffff))])?],
        ),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, [device(1)?, vec![set_user(1)?]].concat()),
        (libc::SYS_mknodat, [device(2)?, vec![set_user(2)?]].concat()),
        // A program that takes on its owner's identity, for whoever meets it outside.
        // SECURITY: `openat2` has its mode in memory, where a filter cannot look; the gaps say so.
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, vec![set_user(1)?]),
        (libc::SYS_fchmod, vec![set_user(1)?]),
        (libc::SYS_fchmodat, vec![set_user(2)?]),
        (FCHMODAT2, vec![set_user(2)?]),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, vec![set_user(1)?]),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, made_set_user(1)?),
        (libc::SYS_openat, made_set_user(2)?),
    ])
}

/// Which sockets and pairs of them are refused.
fn socket_rules(
    sockets: Sockets,
) -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let number = |value: c_int| u64::from(value.unsigned_abs());
    let family = |family: c_int| (0, (Ne, number(family)));
    let internet = [
        family(libc::AF_INET),
        family(libc::AF_INET6),
        family(libc::AF_NETLINK),
    ];
    // What interfaces there are; every other part of netlink is for those who run the machine.
    let netlink = rule(&[
        (0, (Eq, number(libc::AF_NETLINK))),
        (2, (Ne, number(libc::NETLINK_ROUTE))),
    ])?;
    let mut odd = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let family = (0, (Eq, number(family)));
        let others = PROTOCOLS.iter().map(|&protocol| (2, (Ne, protocol)));
        odd.push(rule(
            &std::iter::once(family.clone())
                .chain(others)
                .collect::<Vec<_>>(),
        )?);
        for kind in [libc::SOCK_DCCP, SOCK_PACKET] {
            odd.push(rule(&[
                family.clone(),
                (1, (MaskedEq(SOCKET_TYPE), number(kind))),
            ])?);
        }
    }
    odd.push(netlink);
    let made = match sockets {
        Sockets::Pairs => Vec::new(),
        Sockets::Internet => [vec![rule(&internet)?], odd].concat(),
        Sockets::Local => {
            let all = [&internet[..], &[family(libc::AF_UNIX)]].concat();
            [vec![rule(&all)?], odd].concat()
        }
    };
    let mut pairs = vec![rule(&[family(libc::AF_UNIX)])?];
    if sockets != Sockets::Local {
        // SECURITY: one end of a datagram pair may send to any named socket outside; a raw one becomes that.
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            pairs.push(rule(&[(1, (MaskedEq(SOCKET_TYPE), number(kind)))])?);
        }
    }
    // Without a rule the call is refused whatever its arguments.
    Ok(vec![
        (libc::SYS_socket, made),
        (libc::SYS_socketpair, pairs),
    ])
}

/// `fchmodat2` of Linux 6.6, the same number on every machine.
const FCHMODAT2: c_long = 452;

/// A mode with the bit that makes a program run as its owner.
fn set_user(argument: u8) -> Result<SeccompRule, seccompiler::BackendError> {
    let bit = u64::from(libc::S_ISUID);
    rule(&[(argument, (SeccompCmpOp::MaskedEq(bit), bit))])
}

/// The same for calls that make a file, and read the mode only then.
fn made_set_user(flags: u8) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let bit = u64::from(libc::S_ISUID);
    let is_set = (flags + 1, (SeccompCmpOp::MaskedEq(bit), bit));
    [libc::O_CREAT, libc::O_TMPFILE]
        .into_iter()
        .map(|flag| {
            let flag = u64::from(flag.unsigned_abs());
            rule(&[
                (flags, (SeccompCmpOp::MaskedEq(flag), flag)),
                is_set.clone(),
            ])
        })
        .collect()
}

/// `TIOCLINUX`, the console's own paste; the C library crate has no name for it everywhere.
const TIOCLINUX: u64 = 0x541c;

/// All conditions on 32-bit arguments must hold: (argument, (operator, value)).
fn rule(
    conditions: &[(u8, (SeccompCmpOp, u64))],
) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions.iter().cloned();
    let conditions: Vec<_> = conditions
        .map(|(at, (op, value))| (at, SeccompCmpArgLen::Dword, op, value))
        .collect();
    rule_of(&conditions)
}

fn rule_of(
    conditions: &[(u8, SeccompCmpArgLen, SeccompCmpOp, u64)],
) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions.iter().cloned();
    let conditions =
        conditions.map(|(at, length, op, value)| SeccompCondition::new(at, length, op, value));
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_filters_can_be_made_and_stay_within_the_kernels_limit() {
        for sockets in [Sockets::Pairs, Sockets::Internet, Sockets::Local] {
            let programs = programs(sockets).unwrap();
            assert!(
                programs
                    .iter()
                    .all(|program| program.len() > 10 && program.len() < 4096)
            );
        }
    }

    #[test]
    fn no_call_is_in_two_lists() {
        let mut all: Vec<i64> = REFUSED.iter().chain(UNKNOWN).copied().collect();
        all.extend(conditional().unwrap().iter().map(|(call, _)| *call));
        all.extend([libc::SYS_socket, libc::SYS_socketpair, libc::SYS_setrlimit]);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
