//! The system calls a command may not make, as a seccomp filter.
//! Must not be the only wall around files: it sees numbers, never paths.

use std::collections::BTreeMap;
use std::io;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Refused with EACCES, whatever the arguments.
const REFUSED: &[c_long] = &[
    // Every socket of one's own; a pair is judged below. A socket is also the way to services that run as the
    // user outside the walls (Docker, ssh-agent, systemd), and Landlock of today does not close it.
    libc::SYS_socket,
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
];

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

/// The bits of a socket's type that are not flags (close on exec, non-blocking).
const SOCKET_TYPE: u64 = 0xf;

/// Puts this process and all its later children behind the filter. There is no way back.
///
/// # Errors
/// When the filter cannot be made for this machine or the kernel refuses it.
pub(crate) fn enforce() -> io::Result<()> {
    for program in programs().map_err(io::Error::other)? {
        seccompiler::apply_filter(&program).map_err(|error| match error {
            seccompiler::Error::Prctl(source) | seccompiler::Error::Seccomp(source) => source,
            other => io::Error::other(other),
        })?;
    }
    Ok(())
}

/// The two filters; each has one answer, and the kernel takes the strictest.
fn programs() -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    refused.extend(conditional()?);
    let unknown = UNKNOWN.iter().map(|&call| (call, Vec::new())).collect();
    // A call of another architecture (32-bit x86) kills the process: the filter could not read its numbers.
    let program = |rules, errno: c_int| {
        SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(errno.unsigned_abs()),
            arch,
        )?
        .try_into()
    };
    let mut first = foreign_numbers();
    first.extend::<BpfProgram>(program(refused, libc::EACCES)?);
    Ok([first, program(unknown, libc::ENOSYS)?])
}

/// Calls refused for some arguments only.
fn conditional() -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::BackendError> {
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
        (
            libc::SYS_socketpair,
            vec![
                rule(&[(0, (Ne, number(libc::AF_UNIX)))])?,
                // SECURITY: one end of a datagram pair may send to any named socket outside; a raw one becomes that.
                rule(&[(1, (MaskedEq(SOCKET_TYPE), number(libc::SOCK_DGRAM)))])?,
                rule(&[(1, (MaskedEq(SOCKET_TYPE), number(libc::SOCK_RAW)))])?,
            ],
        ),
        // Typing into the terminal, as if a person did.
        (
            libc::SYS_ioctl,
            vec![
                rule(&[(1, (Eq, libc::TIOCSTI))])?,
                rule(&[(1, (Eq, TIOCLINUX))])?,
            ],
        ),
        // SECURITY: limits of another process kill it (CPU time) or blind it (descriptors), the supervisor too.
        // One's own process is 0, and to read limits is to pass no new ones.
        (
            libc::SYS_prlimit64,
            vec![rule_of(&[
                (0, SeccompCmpArgLen::Dword, Ne, 0),
                (2, SeccompCmpArgLen::Qword, Ne, 0),
            ])?],
        ),
        (
            libc::SYS_personality,
            vec![rule(&[(0, (Ne, 0)), (0, (Ne, 0xffff_ffff))])?],
        ),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, device(1)?),
        (libc::SYS_mknodat, device(2)?),
    ])
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

/// The bit that marks a number of the second set.
const X32: u32 = 0x4000_0000;
/// The kernel's code for "answer with an error number".
const ERRNO: u32 = 0x0005_0000;

/// Refuses the second set of numbers of x86-64 (x32), which passes for the same architecture.
/// Three instructions in front of the filter: load the number; below bit 30 go on; answer ENOSYS.
fn foreign_numbers() -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let answer = ERRNO | libc::ENOSYS.unsigned_abs();
    let load = u16::try_from(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS).unwrap_or_default();
    let at_least = u16::try_from(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K).unwrap_or_default();
    let give = u16::try_from(libc::BPF_RET | libc::BPF_K).unwrap_or_default();
    vec![
        sock_filter {
            code: load,
            jt: 0,
            jf: 0,
            k: 0,
        },
        sock_filter {
            code: at_least,
            jt: 0,
            jf: 1,
            k: X32,
        },
        sock_filter {
            code: give,
            jt: 0,
            jf: 0,
            k: answer,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_filters_can_be_made_and_stay_within_the_kernels_limit() {
        let programs = programs().unwrap();
        assert!(
            programs
                .iter()
                .all(|program| program.len() > 10 && program.len() < 4096)
        );
    }

    #[test]
    fn no_call_is_in_two_lists() {
        let mut all: Vec<i64> = REFUSED.iter().chain(UNKNOWN).copied().collect();
        all.extend(conditional().unwrap().iter().map(|(call, _)| *call));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
