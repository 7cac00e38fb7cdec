"""More attempts of a program in a sandbox: rare system calls, new interfaces of the kernel, and races.

It lies beside `probes.py`, which runs them, and its probes have the same form.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib
import mmap
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.process.sandbox.probe_tools import IS_X86, World, as_long, call, connect, libc, system_call
else:
    tools = importlib.import_module((__package__ + "." if __package__ else "") + "probe_tools")
    IS_X86, World, call, libc = tools.IS_X86, tools.World, tools.call, tools.libc
    connect, as_long, system_call = tools.connect, tools.as_long, tools.system_call

AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400
NEW_USER, NEW_MOUNTS, NEW_PROCESSES, NEW_GROUPS = 0x10000000, 0x20000, 0x20000000, 0x02000000
MS_BIND = 4096
FILE_ROUNDS = 500


def open_path(path: object) -> int:
    return os.open(os.fspath(str(path)), os.O_PATH)


@contextmanager
def call_in_turn(first: Callable[[], object], second: Callable[[], object]) -> Iterator[None]:
    """Call two functions in turn, again and again, in another thread."""
    ended = threading.Event()

    def alternate() -> None:
        while not ended.is_set():
            with suppress(OSError):
                first()
                second()

    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def become_own_root(flags: int) -> None:
    """Become root in a new namespace of users, with other new namespaces."""
    uid, gid = os.getuid(), os.getgid()
    call(libc.unshare, NEW_USER | flags)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def mount(source: object, target: object, kind: str, flags: int = 0, options: str = "") -> None:
    call(libc.mount, str(source).encode(), str(target).encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())


def make_folder(world: World, name: str) -> Path:
    folder = Path(world.scratch, name)
    folder.mkdir()
    return folder


# -- other processes
def processes_advice(world: World) -> None:
    pages = struct.pack("=QQ", world.address & ~4095, 4096)
    system_call(440, 440, os.pidfd_open(world.victim), pages, 1, 21, 0)


def processes_pages_moved(world: World) -> str:
    pages = (ctypes.c_void_p * 1)(world.address & ~4095)
    status = (ctypes.c_int * 1)(-1)
    system_call(279, 239, world.victim, as_long(1), pages, None, status, 0)
    return str(world.secret)


def processes_pages_migrated(world: World) -> str:
    mask = struct.pack("=Q", 1)
    system_call(256, 238, world.victim, as_long(64), mask, mask)
    return str(world.secret)


def processes_compared(world: World) -> str:
    system_call(312, 272, os.getpid(), world.victim, 1, 0, 0)
    return str(world.secret)


def processes_robust_list(world: World) -> str:
    head, size = ctypes.c_void_p(), ctypes.c_size_t()
    system_call(274, 100, world.victim, ctypes.byref(head), ctypes.byref(size))
    return str(world.secret)


def processes_seized(world: World) -> None:
    call(libc.ptrace, 0x4206, world.victim, None, None)


def processes_schedule_by_new_call(world: World) -> None:
    system_call(314, 274, world.victim, struct.pack("=IIQiIQQQII", 56, 3, 0, 0, 0, 0, 0, 0, 0, 0), 0)


def processes_schedule_of_parameters(world: World) -> None:
    call(libc.sched_setparam, world.victim, struct.pack("=i", 0))
    call(libc.sched_setscheduler, world.victim, 5, struct.pack("=i", 0))


def processes_core_cookie(world: World) -> str:
    """Share the mark of processes that may run on one core."""
    call(libc.prctl, 62, as_long(1), as_long(0), as_long(0), None)
    call(libc.prctl, 62, as_long(2), as_long(world.victim), as_long(0), None)
    return str(world.secret)


def processes_signal_by_owner(world: World) -> None:
    """Let the kernel send a signal to the owner of a descriptor."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETSIG, int(signal.SIGTERM))
    fcntl.fcntl(reading, fcntl.F_SETOWN, world.victim)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")


def processes_signal_by_owner_of_socket(world: World) -> None:
    first, second = socket.socketpair()
    fcntl.ioctl(first, 0x8901, struct.pack("=i", world.victim))
    fcntl.fcntl(first, fcntl.F_SETSIG, int(signal.SIGTERM))
    fcntl.fcntl(first, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    second.send(b"x")


def processes_signal_with_value_of_thread(world: World) -> None:
    information = struct.pack("=iii", int(signal.SIGTERM), 0, -1) + bytes(116)
    system_call(297, 240, world.victim, world.victim, int(signal.SIGTERM), information)


def processes_signal_of_group_by_descriptor(world: World) -> None:
    system_call(424, 424, os.pidfd_open(world.victim), int(signal.SIGTERM), None, 4)


def processes_signal_of_old_call(world: World) -> None:
    system_call(200, 130, world.victim, int(signal.SIGTERM))


def processes_signal_by_timer(world: World) -> None:
    event = struct.pack("=QiiI", 0, int(signal.SIGTERM), 4, world.victim) + bytes(44)
    system_call(222, 107, 0, event, ctypes.byref(ctypes.c_int()))


def processes_files(world: World) -> None:
    """Write into the files by which a process is changed."""
    texts = {
        "comm": "changed",
        "clear_refs": "1",
        "timerslack_ns": "1",
        "coredump_filter": "7f",
        "oom_adj": "10",
        "autogroup": "10",
        "loginuid": "1",
        "uid_map": "0 0 1",
        "sched": "0",
        "make-it-fail": "1",
    }
    for name, text in texts.items():
        with suppress(OSError):
            Path(f"/proc/{world.victim}/{name}").write_text(text)


def processes_memory_freed(world: World) -> None:
    system_call(448, 448, os.pidfd_open(world.victim), 0)


def _list_guards() -> Iterator[int]:
    """Yield the processes above this one that have more rights."""
    own, pid = _read_rights("self"), os.getppid()
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if _read_rights(str(pid)) != own:
            yield pid


def _read_rights(process: str) -> list[str]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return [line for line in lines if line.startswith("Seccomp")]


def processes_guard(world: World) -> str:
    """Take over a process above this one."""
    for pid in _list_guards():
        for path in (f"/proc/{pid}/mem", f"/proc/{pid}/environ", f"/proc/{pid}/root/"):
            with suppress(OSError):
                os.close(os.open(path, os.O_RDWR if path.endswith("mem") else os.O_RDONLY))
                return f"{world.secret}: {path}"
        if libc.ptrace(0x4206, pid, None, None) == 0:
            return f"{world.secret}: traced {pid}"
    return ""


def processes_guard_ended(_: World) -> None:
    """End the process that keeps the rules. Then this program would not give an answer, either."""
    for pid in _list_guards():
        os.kill(pid, signal.SIGKILL)


def processes_guard_descriptors(world: World) -> str:
    for pid in _list_guards():
        for place in range(3, 12):
            with suppress(OSError):
                system_call(438, 438, os.pidfd_open(pid), place, 0)
                return str(world.secret)
    return ""


def processes_group_of_resources(world: World) -> str:
    """Start a process in another group of processes for resources (clone3, CLONE_INTO_CGROUP)."""
    for folder in Path("/sys/fs/cgroup").rglob("cgroup.procs"):
        group = os.open(folder.parent, os.O_PATH)
        arguments = struct.pack("=11Q", 0x200000000, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0, 0, 0, group)
        result = libc.syscall(as_long(435), arguments, as_long(88))
        if result == 0:
            os._exit(0)
        if result > 0:
            os.waitpid(result, 0)
            return f"{world.secret}: {folder}"
    return ""


# -- sockets and the network
def sockets_of_packets(world: World) -> str:
    return connect(socket.AF_UNIX, socket.SOCK_SEQPACKET, world.sockets["packets"])


def sockets_of_datagrams_without_path(world: World) -> str:
    return connect(socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + world.sockets["abstract_datagrams"])


def sockets_by_descriptor(world: World) -> str:
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, f"/proc/self/fd/{open_path(world.sockets['outside'])}")


def sockets_by_link(world: World) -> str:
    os.symlink(world.sockets["outside"], Path(world.scratch, "socket"))
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, str(Path(world.scratch, "socket")))


def sockets_by_relative_path(world: World) -> str:
    os.chdir(Path(world.sockets["runtime"]).parent)
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, "s")


def sockets_of_agent(world: World) -> str:
    """Ask the agent that keeps the keys of the user."""
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, world.sockets["agent"])


def sockets_in_new_network(world: World) -> str:
    become_own_root(0x40000000)
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, world.sockets["outside"])


def sockets_sent_without_connection(world: World) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.sendto(b"changed", world.sockets["datagrams"])
    return "connected"


def network_of_version_6(world: World) -> str:
    return connect(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", world.port))


def network_of_many_paths(world: World) -> str:
    return connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", world.port), 262)


def network_with_data_at_once(world: World) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.sendto(b"changed", 0x20000000, ("127.0.0.1", world.port))
    return "connected"


def network_to_all(world: World) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        client.sendto(b"changed", ("255.255.255.255", world.datagram_port))
    return str(world.secret)


def network_of_other_families(world: World) -> str:
    """Open sockets of families that belong to no network or to the kernel."""
    found: list[int] = []
    for family in range(3, 47):
        if family not in (10, 16):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                with suppress(OSError):
                    socket.socket(family, kind).close()
                    found.append(family)
    return world.secret + str(found) if found else ""


def network_pairs_of_other_families(world: World) -> str:
    found: list[int] = []
    for family in range(2, 47):
        with suppress(OSError):
            socket.socketpair(family, socket.SOCK_STREAM)
            found.append(family)
    return world.secret + str(found) if found else ""


def network_interfaces(world: World) -> str:
    names = {name for _, name in socket.if_nameindex()} - {"lo"}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as client:
        client.bind((0, 0))
        request = struct.pack("=IHHIIBxHiII", 32, 16, 5, 1, 0, 0, 0, 1, 0, 1)
        client.send(request)
        answer = client.recv(4096)
    is_done = struct.unpack_from("=i", answer, 16)[0] == 0
    return str(world.secret) if is_done and names & set(world.interfaces) else ""


def network_events_of_kernel(world: World) -> str:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 11) as client:
        client.bind((0, 1))
        client.send(struct.pack("=IHHIIIIHHI", 40, 3, 0, 0, os.getpid(), 1, 1, 4, 0, 1))
        client.settimeout(0.2)
        client.recv(100)
    return str(world.secret)


# -- calls by other tables
def machine_old_table(world: World) -> str:
    """Make a system call of 32-bit programs (`int 0x80`): a socket, and a change of a mode."""
    if not IS_X86:
        return ""
    code = b"\x53" + b"\xb8" + struct.pack("<I", 20) + b"\xcd\x80\x5b\xc3"
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=7)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    return str(world.secret) if function() > 0 else ""


def machine_second_table(world: World) -> str:
    if not IS_X86:
        return ""
    call(libc.syscall, as_long(0x40000000 | 39))
    return str(world.secret)


# -- the machine
def machine_domain(world: World) -> str:
    call(libc.setdomainname, b"changed", 7)
    return str(world.secret)


def machine_restart(world: World) -> str:
    # this switches a key of the console off, and nothing else
    system_call(169, 142, 0xFEE1DEAD, 672274793, 0, None)
    return str(world.secret)


def machine_modules(world: World) -> str:
    code = libc.syscall(as_long(313 if IS_X86 else 273), -1, b"", 0)
    return str(world.secret) if code >= 0 or ctypes.get_errno() == 9 else ""


def machine_ports(world: World) -> str:
    if not IS_X86:
        return ""
    system_call(172, 0, 3)
    return str(world.secret)


def machine_clock_speed(world: World) -> str:
    # no field is set, so nothing would change
    call(libc.adjtimex, struct.pack("=I", 0x4000) + bytes(204))
    return str(world.secret)


def machine_settings_of_all(world: World) -> str:
    """Open each setting of the kernel for writing, and those by which devices are switched."""
    found: list[str] = []
    names = ["sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/vm/drop_caches", "mtrr", "scsi/scsi", "acpi/wakeup"]
    paths = [f"/proc/{name}" for name in names]
    paths += ["/sys/power/state", "/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run", "/sys/kernel/debug/sched"]
    paths += [str(path) for path in Path("/proc").iterdir() if path.is_file() and path.stat().st_mode & 0o222]
    for path in paths:
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))
            found.append(path)
    return world.secret + str(found) if found else ""


def machine_settings_of_own_root(world: World) -> str:
    become_own_root(NEW_MOUNTS | 0x4000000)
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/fs/file-max"):
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))
            return world.secret + path
    return ""


def machine_settings_of_new_system(world: World) -> str:
    """Mount a file system of the kernel again, and open a setting in it for writing."""
    become_own_root(NEW_MOUNTS | 0x40000000 | 0x8000000)
    target = make_folder(world, "new")
    for kind in ("sysfs", "debugfs", "tracefs", "securityfs", "bpf", "efivarfs", "configfs", "selinuxfs", "pstore"):
        with suppress(OSError):
            mount(kind, target, kind)
            if kind != "sysfs" and kind != "bpf":
                return world.secret + kind
            os.close(os.open(target / "power/state", os.O_WRONLY))
            return world.secret + kind
    return ""


def machine_groups(world: World) -> str:
    """Mount the groups of processes for resources again, in a namespace of our own, and change one."""
    become_own_root(NEW_MOUNTS | NEW_GROUPS)
    target = make_folder(world, "groups")
    for kind, options in (
        ("cgroup2", ""),
        ("cgroup", "memory"),
        ("cgroup", "freezer"),
        ("cgroup", "none,name=systemd"),
    ):
        with suppress(OSError):
            mount(kind, target, kind, 0, options)
            for name in ("cgroup.procs", "cgroup.kill", "cgroup.freeze", "memory.max", "tasks", "release_agent"):
                with suppress(OSError):
                    os.close(os.open(target / name, os.O_WRONLY))
                    return f"{world.secret}: {kind} {options} {name}"
            with suppress(OSError):
                (target / "probe").mkdir()
                (target / "probe").rmdir()
                return f"{world.secret}: {kind} {options} mkdir"
    return ""


def machine_root_turned(world: World) -> str:
    system_call(155, 41, os.fsencode(world.outside), os.fsencode(world.outside))
    return str(world.secret)


def machine_terminals_hung_up(world: World) -> str:
    call(libc.vhangup)
    return str(world.secret)


def machine_watch_of_all_files(world: World) -> str:
    system_call(300, 262, 0x200, 0)
    return str(world.secret)


def machine_new_file_system(world: World) -> str:
    """Open the disk of the machine as a file system of our own."""
    become_own_root(NEW_MOUNTS)
    context = system_call(430, 430, b"ext4", 0)
    for name in os.listdir("/sys/class/block"):
        with suppress(OSError):
            system_call(431, 431, context, 1, b"source", f"/dev/{name}".encode(), 0)
            system_call(431, 431, context, 6, None, None, 0)
            return str(world.secret)
    return ""


def machine_real_time(world: World) -> str:
    """Run before all others."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    return str(world.secret)


def machine_priority_raised(world: World) -> str:
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    return str(world.secret)


def machine_memory_locked(world: World) -> str:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if hard == resource.RLIM_INFINITY:
        return ""
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard + 1, hard + 1))
    except ValueError as error:
        raise PermissionError(1, str(error)) from error
    return str(world.secret)


# -- objects of the kernel
def objects_queue(world: World) -> str:
    opened = system_call(240, 180, world.queue.encode(), os.O_RDWR | os.O_NONBLOCK, 0, None)
    buffer = ctypes.create_string_buffer(9000)
    system_call(243, 183, opened, buffer, ctypes.c_size_t(9000), None, None)
    return buffer.value.decode()


def objects_queue_removed(world: World) -> None:
    system_call(241, 181, world.queue.encode())


def objects_memory_made_private(world: World) -> None:
    """Take over the owner of shared memory."""
    call(libc.shmctl, world.memory, 1, bytes(200))


def objects_semaphore_used(world: World) -> None:
    call(libc.semop, world.semaphores, struct.pack("=Hhh", 0, 1, 0), ctypes.c_size_t(1))


def objects_message_sent(world: World) -> None:
    call(libc.msgsnd, world.messages, (1).to_bytes(8, sys.byteorder) + b"changed", ctypes.c_size_t(7), 0o4000)


def objects_keys_of_session(world: World) -> str:
    system_call(250, 219, 1, b"lsp-harness-joined")
    return str(world.secret)


# -- devices
def devices_terminal_taken(world: World) -> str:
    """Make the terminal of somebody else our own."""
    os.setsid()
    terminal = os.open(world.terminal, os.O_RDWR)
    fcntl.ioctl(terminal, 0x540E, 1)
    return str(world.secret)


def devices_own_terminal_input(world: World) -> str:
    """Type into the terminal behind the standard descriptors."""
    for descriptor in range(3):
        for request in (0x5412, 0x541C):
            with suppress(OSError):
                fcntl.ioctl(descriptor, request, b"\n")
                return str(world.secret)
    return ""


def devices_of_virtual_machines(world: World) -> str:
    names = ("kvm", "fuse", "vhost-vsock", "loop-control", "uinput", "net/tun", "userfaultfd", "rtc0", "vsock", "ptmx")
    found = [name for name in names[:-1] if os.path.exists(f"/dev/{name}") and _can_open(f"/dev/{name}")]
    return world.secret + str(found) if found else ""


def _can_open(path: str) -> bool:
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        return True
    return False


# -- limits
def limits_of_core_files(world: World) -> str:
    """Let the kernel start the program of the machine for crashes: a limit of 1 is the only one that forbids it."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_CORE)[0]
    return "" if limit == min(1, world.core_limit) or (world.core_limit < 0 and limit == 1) else str(world.secret)
