//! The network and the system calls of the full tier.
//! Must not depend on a network beyond loopback.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use tollgate_sandbox::{Ended, Limits, Network, Spawn};

use crate::kit::{Room, full, launcher, run_with, succeed_full};

/// Calls into the C library, and prints what comes back: the result, or the name of the error.
const CALL: &str = "
import ctypes, errno, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    print(answer if answer >= 0 else errno.errorcode[ctypes.get_errno()])
def attempt(what):
    try:
        what(); print('ok')
    except OSError as error:
        print(errno.errorcode[error.errno])
";

fn python(room: &Room, script: &str) -> Spawn {
    room.python(&format!("{CALL}{script}"))
}

#[test]
fn sockets_of_everyday_work_can_be_made_and_odd_ones_cannot() {
    let room = Room::new();
    let script = "
for family in 'AF_INET AF_INET6 AF_UNIX'.split():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        attempt(lambda: socket.socket(getattr(socket, family), kind))
attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
for kind in (1, 2, 5):
    attempt(lambda: socket.socketpair(socket.AF_UNIX, kind))
";
    assert_eq!(succeed_full(&python(&room, script)), "ok\n".repeat(10));
    let script = "
for family in 'AF_PACKET AF_VSOCK AF_ALG AF_CAN AF_TIPC AF_QIPCRTR AF_RDS AF_BLUETOOTH'.split():
    attempt(lambda: socket.socket(getattr(socket, family), socket.SOCK_DGRAM))
for protocol in range(1, 23):
    attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol))
";
    assert_eq!(succeed_full(&python(&room, script)), "EACCES\n".repeat(30));
    let raw = "attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))";
    assert_eq!(succeed_full(&python(&room, raw)), "EPERM\n");
    // SCTP, DCCP, UDP-Lite, L2TP and an old name of AF_PACKET, each of them a module of the kernel's.
    let script = "
for family in (socket.AF_INET, socket.AF_INET6):
    for kind, protocol in ((1, 132), (5, 132), (6, 0), (6, 33), (2, 136), (2, 115), (10, 3), (10, 0)):
        attempt(lambda: socket.socket(family, kind, protocol))
    for kind, protocol in ((1, 6), (2, 17)):
        attempt(lambda: socket.socket(family, kind, protocol))
";
    let answers = ["EACCES\n".repeat(8), "ok\n".repeat(2)].concat().repeat(2);
    let mut spawn = python(&room, script);
    assert_eq!(succeed_full(&spawn), answers);
    spawn.walls.network = Network::Shared;
    assert_eq!(run_with(launcher(), &spawn).1, answers);
}

#[test]
fn servers_inside_work_and_those_outside_are_out_of_reach() {
    let room = Room::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let name = format!("tollgate-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let hidden = UnixListener::bind_addr(&address).unwrap();
    let outside = UnixListener::bind(room.outside.join("socket")).unwrap();
    for listener in [&hidden, &outside] {
        listener.set_nonblocking(true).unwrap();
    }
    tcp.set_nonblocking(true).unwrap();
    let script = format!(
        "
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
client.send(b'tcp'); print(peer.recv(3).decode())
server = socket.socket(socket.AF_UNIX); server.bind('own'); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect('own')
attempt(lambda: socket.create_connection(('127.0.0.1', {port})))
attempt(lambda: socket.create_connection(('192.0.2.1', 80)))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))
attempt(lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + '{name}'))
attempt(lambda: socket.socket(socket.AF_UNIX).connect(os.environ['OUT'] + '/socket'))
"
    );
    assert_eq!(
        succeed_full(&python(&room, &script)),
        "tcp\nECONNREFUSED\nENETUNREACH\nENETUNREACH\nECONNREFUSED\nENOENT\n"
    );
    assert!(tcp.accept().is_err() && hidden.accept().is_err() && outside.accept().is_err());
}

#[test]
fn the_machines_network_is_there_if_the_walls_say_so() {
    let room = Room::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let name = format!("tollgate-test-shared-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let script = format!(
        "
socket.create_connection(('127.0.0.1', {port})).send(b'x')
attempt(lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + '{name}'))
"
    );
    let mut spawn = python(&room, &script);
    spawn.walls.network = Network::Shared;
    // Landlock alone holds this one.
    assert_eq!(succeed_full(&spawn), "EPERM\n");
    tcp.accept().unwrap();
    assert!(hidden.accept().is_err());
    let (ended, text) = run_with(launcher(), &spawn);
    assert_eq!((ended, text.as_str()), (Ended::Code(0), "EACCES\n"));
    tcp.accept().unwrap();
    // And without a word from the walls, not.
    let room = Room::new();
    let spawn = python(
        &room,
        &format!("attempt(lambda: socket.create_connection(('127.0.0.1', {port})))"),
    );
    assert_eq!(run_with(launcher(), &spawn).1, "EACCES\n");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn namespaces_mounts_and_kernel_features_are_closed() {
    let room = Room::new();
    let script = "
for flag in (0x00020000, 0x10000000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000):
    call(56, flag | 17, 0, 0, 0, 0)      # clone
call(272, 0x10000000)                    # unshare
call(165, 0, b'/', 0, 0x1020, 0)         # mount
call(166, b'/', 2)                       # umount2
call(161, b'/')                          # chroot
call(155, b'/', b'/')                    # pivot_root
call(308, 0, 0)                          # setns
call(428, -100, b'/', 1)                 # open_tree
call(429, 0, b'', 0, b'', 0)             # move_mount
call(430, b'tmpfs', 0)                   # fsopen
call(442, -100, b'/', 0, 0, 0)           # mount_setattr
call(467, 0, b'/', 0, 0, 0)              # open_tree_attr
call(321, 0, 0, 0)                       # bpf
call(298, 0, 0, -1, -1, 0)               # perf_event_open
call(323, 1)                             # userfaultfd
call(248, b'user', b'x', b'x', 1, -3)    # add_key
call(249, b'user', b'x', 0, -3)          # request_key
call(250, 0, -3, 0)                      # keyctl
call(304, -1, 0, 0)                      # open_by_handle_at
call(310, os.getpid(), 0, 0, 0, 0, 0)    # process_vm_readv
call(175, 0, 0, 0)                       # init_module
call(246, 0, 0, 0, 0)                    # kexec_load
call(227, 0, 0)                          # clock_settime
call(170, b'x', 1)                       # sethostname
call(16, 1, 0x5412, b'x')                # ioctl TIOCSTI
call(16, 1, 0x541c, b'x')                # ioctl TIOCLINUX
call(16, 1, 0x5423, b'x')                # ioctl TIOCSETD
call(133, b'dev', 0o020666, 0x103)       # mknod, character device
call(154, 0, 0, 0)                       # modify_ldt
";
    assert_eq!(succeed_full(&python(&room, script)), "EACCES\n".repeat(35));
    // Rings, clone3, file_setattr, those of later kernels, and the second set of numbers.
    let unknown = "for number in (425, 435, 469, 470, 999, 0x40000000 + 39): call(number, 4, 0)";
    assert_eq!(succeed_full(&python(&room, unknown)), "ENOSYS\n".repeat(6));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_file_cannot_be_made_to_run_as_its_owner() {
    let room = Room::new();
    let script = "
open('f', 'w').close()
fd = os.open('f', os.O_RDONLY)
call(90, b'f', 0o4755)                   # chmod
call(91, fd, 0o4755)                     # fchmod
call(268, -100, b'f', 0o4755)            # fchmodat
call(452, -100, b'f', 0o4755, 0)         # fchmodat2
call(85, b'g', 0o4755)                   # creat
call(2, b'g', 0o102, 0o4755)             # open
call(257, -100, b'g', 0o102, 0o4755)     # openat
call(133, b'g', 0o104755, 0)             # mknod
call(257, -100, b'f', 0, 0o4755)         # openat without O_CREAT reads no mode
call(90, b'f', 0o2755)
";
    let text = succeed_full(&python(&room, script));
    let (refused, rest) = text.split_at("EACCES\n".len() * 8);
    assert_eq!(refused, "EACCES\n".repeat(8));
    assert!(!rest.contains('E'), "{rest}");
    assert_eq!(
        run_with(launcher(), &room.bash("chmod u+s f")).0,
        Ended::Code(1)
    );
}

#[test]
fn a_command_may_trace_its_own_and_nobody_else() {
    let room = Room::new();
    let script = "
import time
child = os.fork()
if not child:
    signal.pause()
print(libc.ptrace(0x4206, child, 0, 0))
attempt(lambda: os.kill(child, signal.SIGKILL))
os.waitpid(child, 0)
print(libc.ptrace(0x4206, 1, 0, 0))
attempt(lambda: os.kill(1, signal.SIGKILL))
";
    assert_eq!(succeed_full(&python(&room, script)), "0\nok\n-1\nEPERM\n");
    let script = format!("attempt(lambda: os.kill({}, 0))", std::process::id());
    let answer = succeed_full(&python(&room, &script));
    assert!(answer == "ESRCH\n" || std::process::id() < 10, "{answer}");
}

#[test]
fn message_queues_and_shared_memory_are_the_commands_own() {
    let room = Room::new();
    let script = "
key = 0x746f6c6c
print(libc.shmget(key, 4096, 0o1666) >= 0, libc.shmget(key, 4096, 0) >= 0)
";
    assert_eq!(succeed_full(&python(&room, script)), "True True\n");
    assert_eq!(succeed_full(&python(&room, script)), "True True\n");
    let gone = "print(libc.shmget(0x746f6c6c, 4096, 0) >= 0)";
    assert_eq!(succeed_full(&python(&room, gone)), "False\n");
}

#[test]
fn limits_hold_and_cannot_be_raised() {
    let room = Room::new();
    let mut spawn = room.python(
        "
import mmap, resource
for name in ('NPROC', 'DATA', 'FSIZE', 'CPU', 'CORE'):
    print(*resource.getrlimit(getattr(resource, 'RLIMIT_' + name)))
try: mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); print('got it')
except (OSError, MemoryError): print('no memory')
mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
try: resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40)); print('raised')
except (OSError, ValueError): print('stays')
with open('f', 'wb') as f: f.write(b'x' * 5000)
",
    );
    spawn.walls.limits = Limits {
        processes: Some(64),
        memory_bytes: Some(256 << 20),
        file_bytes: Some(4096),
        cpu_s: Some(100),
    };
    let (ended, text) = run_with(full(), &spawn);
    let expected = "64 64\n268435456 268435456\n4096 4096\n100 100\n1 1\nno memory\nstays\n";
    assert!(
        ended == Ended::Code(1) && text.contains(expected) && text.contains("File too large"),
        "{ended:?}: {text}"
    );
    let mut spawn = room.bash("while :; do :; done");
    spawn.walls.limits.cpu_s = Some(1);
    assert!(matches!(run_with(full(), &spawn).0, Ended::Signal(9 | 24)));
    // Those limits that need no namespace hold without one.
    let mut spawn = room.bash("head -c 5000 /dev/zero > g");
    spawn.walls.limits.file_bytes = Some(4096);
    assert_ne!(run_with(launcher(), &spawn).0, Ended::Code(0));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn no_core_is_handed_to_a_program_of_the_machine_whatever_limit_is_asked_for() {
    let room = Room::new();
    // With a limit of 1 the kernel writes none and starts no program for one; with 0 it would start that.
    let script = "
import resource
for limit in ((0, 0), (0, 1), (-1, -1)):
    attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, limit))
    attempt(lambda: resource.prlimit(0, resource.RLIMIT_CORE, limit))
    attempt(lambda: resource.prlimit(os.getpid(), resource.RLIMIT_CORE, limit))
    print(*resource.getrlimit(resource.RLIMIT_CORE))
limits = ctypes.create_string_buffer(16)
print(libc.syscall(160, 4, limits), *resource.getrlimit(resource.RLIMIT_CORE))
";
    let answers = ["ok\nEACCES\nEACCES\n1 1\n".repeat(3).as_str(), "0 1 1\n"].concat();
    assert_eq!(succeed_full(&python(&room, script)), answers);
    assert_eq!(run_with(launcher(), &python(&room, script)).1, answers);
    let (ended, _) = run_with(full(), &room.bash("ulimit -c 0 && kill -SEGV $$"));
    assert_eq!(ended, Ended::Signal(11));
    assert_eq!(fs::read_dir(&room.inside).unwrap().count(), 0);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn no_snapshot_of_a_volume_can_be_made_or_removed() {
    let room = Room::new();
    // Whatever the file system is: without the filter it would not know most of these.
    let script = "
fd = os.open('.', os.O_RDONLY)
for request in (0x50009401, 0x50009417, 0x5000940f, 0x5000943f, 0x4020bc10, 0x4020bc11):
    call(16, fd, request, ctypes.create_string_buffer(4096))
";
    assert_eq!(succeed_full(&python(&room, script)), "EACCES\n".repeat(6));
    assert_eq!(
        run_with(launcher(), &python(&room, script)).1,
        "EACCES\n".repeat(6)
    );
}
