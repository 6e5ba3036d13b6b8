//! Which system calls are closed: sockets, namespaces, other processes, the machine.
//! Must not depend on a network beyond loopback.

use std::net::TcpListener;
use std::os::unix::net::{UnixDatagram, UnixListener};

use tollgate_sandbox::Ended;

use crate::kit::{Room, denied, run, succeed};

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

fn python(room: &Room, script: &str) -> String {
    succeed(&room.python(&format!("{CALL}{script}")))
}

#[test]
fn no_socket_can_be_made_and_pairs_of_streams_can() {
    let room = Room::new();
    let families = "for f in 'AF_INET AF_INET6 AF_UNIX AF_NETLINK AF_PACKET AF_VSOCK AF_ALG'.split():\n attempt(lambda: socket.socket(getattr(socket, f), socket.SOCK_DGRAM))\n";
    assert_eq!(python(&room, families), "EACCES\n".repeat(7));
    let pairs = "for t in (1, 1 | 0o2004000, 5, 2, 2 | 0o2000000, 3):\n attempt(lambda: socket.socketpair(socket.AF_UNIX, t))\n";
    assert_eq!(python(&room, pairs), "ok\nok\nok\nEACCES\nEACCES\nEACCES\n");
}

#[test]
fn nothing_reaches_a_listener_on_this_machine() {
    let room = Room::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let stream = UnixListener::bind(room.inside.join("stream")).unwrap();
    let datagram = UnixDatagram::bind(room.inside.join("datagram")).unwrap();
    denied(&room.bash(&format!("exec 3<> /dev/tcp/127.0.0.1/{port}")));
    denied(&room.bash(&format!("exec 3<> /dev/udp/127.0.0.1/{port}")));
    let unix = "
for kind, path in ((socket.SOCK_STREAM, 'stream'), (socket.SOCK_DGRAM, 'datagram')):
    attempt(lambda: socket.socket(socket.AF_UNIX, kind).connect(path))
    for pair in (1, 2, 5):
        attempt(lambda: socket.socketpair(socket.AF_UNIX, pair)[0].sendto(b'x', path))
        attempt(lambda: socket.socketpair(socket.AF_UNIX, pair)[0].connect(path))
";
    let answers = python(&room, unix);
    tcp.set_nonblocking(true).unwrap();
    stream.set_nonblocking(true).unwrap();
    datagram.set_nonblocking(true).unwrap();
    assert!(tcp.accept().is_err());
    assert!(stream.accept().is_err());
    assert!(datagram.recv(&mut [0; 8]).is_err(), "{answers}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn namespaces_mounts_and_new_roots_are_closed() {
    let room = Room::new();
    denied(&room.bash("unshare -U true"));
    let script = "
for flag in (0x00020000, 0x10000000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000):
    call(56, flag | 17, 0, 0, 0, 0)      # clone
call(165, 0, b'/', 0, 0x1020, 0)         # mount
call(161, b'/')                          # chroot
call(155, b'/', b'/')                    # pivot_root
call(308, 0, 0)                          # setns
call(467, 0, b'/', 0, 0, 0)              # open_tree_attr
";
    assert_eq!(python(&room, script), "EACCES\n".repeat(12));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn kernel_features_that_lead_around_the_walls_are_closed() {
    let room = Room::new();
    let refused = "
call(321, 0, 0, 0)                       # bpf
call(298, 0, 0, -1, -1, 0)               # perf_event_open
call(323, 1)                             # userfaultfd
call(248, b'user', b'x', b'x', 1, -3)    # add_key
call(250, 0, -3, 0)                      # keyctl
call(304, -1, 0, 0)                      # open_by_handle_at
call(310, os.getpid(), 0, 0, 0, 0, 0)    # process_vm_readv
call(438, 3, 0, 0)                       # pidfd_getfd
call(300, 0, 0)                          # fanotify_init
call(175, 0, 0, 0)                       # init_module
call(169, 0, 0, 0, 0)                    # reboot
call(227, 0, 0)                          # clock_settime
call(170, b'x', 1)                       # sethostname
call(103, 2, 0, 0)                       # syslog
call(135, 0x0040000)                     # personality
call(16, 1, 0x5412, b'x')                # ioctl TIOCSTI
call(133, b'dev', 0o020666, 0x103)       # mknod, character device
call(259, -100, b'dev', 0o060666, 0x103) # mknodat, block device
";
    assert_eq!(python(&room, refused), "EACCES\n".repeat(18));
    let unknown = "call(425, 4, 0)\ncall(435, 0, 0)\ncall(0x40000000 + 39)\n";
    assert_eq!(python(&room, unknown), "ENOSYS\n".repeat(3));
    assert_eq!(
        python(
            &room,
            "call(135, 0xffffffff)\ncall(133, b'fifo', 0o010600, 0)\n"
        ),
        "0\n0\n"
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn queues_of_names_cannot_be_opened() {
    let room = Room::new();
    let name = format!("tollgate-test-{}", std::process::id());
    // `mq_open` makes the queue before it is refused, so `mq_unlink` follows, or the machine runs out of them.
    let script = format!("call(240, b'{name}', 0o102, 0o600, 0)\ncall(241, b'{name}')");
    let said = python(&room, &script);
    assert_eq!(said.lines().next(), Some("EACCES"), "{said}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_call_of_another_architecture_ends_the_process() {
    // `int 0x80` with the number of getpid on 32-bit x86; without the filter it answers with a number.
    let room = Room::new();
    let script = "
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print('answered', run())
";
    assert_eq!(
        run(&room.python(script)),
        (Ended::Signal(31), String::new())
    );
}

#[test]
fn processes_outside_cannot_be_signalled_traced_or_limited() {
    let room = Room::new();
    let script = format!(
        "
for pid in (os.getppid(), {}):
    attempt(lambda: os.kill(pid, 0))
    attempt(lambda: os.kill(pid, signal.SIGKILL))
    print(libc.ptrace(0x4206, pid, 0, 0))
    import resource
    attempt(lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)))
",
        std::process::id()
    );
    assert_eq!(
        python(&room, &script),
        "EPERM\nEPERM\n-1\nEACCES\n".repeat(2)
    );
}

#[test]
fn a_command_may_signal_trace_and_limit_its_own() {
    let room = Room::new();
    let script = "
import resource
child = os.fork()
if not child:
    signal.pause()
print(libc.ptrace(0x4206, child, 0, 0))
attempt(lambda: os.kill(child, signal.SIGKILL))
attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
os.waitpid(child, 0)
";
    assert_eq!(python(&room, script), "0\nok\nok\n");
}

#[test]
fn privileges_cannot_grow_and_a_root_command_keeps_few() {
    let room = Room::new();
    let text =
        succeed(&room.bash("grep -E 'NoNewPrivs|Seccomp:|CapEff' /proc/self/status; ulimit -c"));
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [
        "CapEff:",
        capabilities,
        "NoNewPrivs:",
        "1",
        "Seccomp:",
        "2",
        "0",
    ] = words[..]
    else {
        panic!("{text}")
    };
    // chown, dac_override, fowner, fsetid, kill, setgid, setuid: bits 0, 1, 3 to 7.
    assert_eq!(
        u64::from_str_radix(capabilities, 16).unwrap() & !0b1111_1011,
        0
    );
}
