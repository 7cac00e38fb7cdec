"""More attempts of a program in a sandbox: rare system calls, new interfaces of the kernel, and races.

It lies beside `probes.py`, which runs them, and its probes have the same form.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib
import mmap
import os
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.process.sandbox.probe_tools import IS_X86, World, as_long, call, libc, system_call
else:
    tools = importlib.import_module((__package__ + "." if __package__ else "") + "probe_tools")
    IS_X86, World, call, libc = tools.IS_X86, tools.World, tools.call, tools.libc
    as_long, system_call = tools.as_long, tools.system_call

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


# -- files
def files_by_path_descriptor(world: World) -> None:
    os.write(os.open(f"/proc/self/fd/{open_path(world.file)}", os.O_WRONLY), b"changed")


def files_by_new_open(world: World) -> None:
    """Open for writing by openat2, with the root folder as a folder of our own."""
    how = struct.pack("=QQQ", os.O_RDWR, 0, 0x10)
    opened = system_call(437, 437, os.open("/", os.O_PATH), os.fsencode(world.file), how, 24)
    os.write(opened, b"changed")


def files_without_name(world: World) -> None:
    opened = os.open(world.folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    call(libc.linkat, AT_FDCWD, f"/proc/self/fd/{opened}".encode(), AT_FDCWD, f"{world.folder}/new".encode(), 0x400)


def files_second_name_by_descriptor(world: World) -> None:
    name = Path(world.scratch, "second")
    source = f"/proc/self/fd/{open_path(world.file)}".encode()
    call(libc.linkat, AT_FDCWD, source, AT_FDCWD, os.fsencode(name), AT_SYMLINK_FOLLOW)
    name.write_text("changed")


def files_second_name_by_empty_path(world: World) -> None:
    name = Path(world.scratch, "second")
    call(libc.linkat, open_path(world.file), b"", AT_FDCWD, os.fsencode(name), AT_EMPTY_PATH)
    name.write_text("changed")


def files_second_name_outside(world: World) -> None:
    Path(world.scratch, "own").write_text("new")
    os.link(Path(world.scratch, "own"), Path(world.folder, "new"))


def _rename(world: World, source: object, target: object, flags: int) -> None:
    names = (os.fsencode(str(source)), AT_FDCWD, os.fsencode(str(target)))
    system_call(316, 276, AT_FDCWD, names[0], *names[1:], flags)


def files_exchanged(world: World) -> None:
    own = Path(world.scratch, "own")
    own.write_text("changed")
    _rename(world, own, world.file, 2)


def files_renamed_with_mark(world: World) -> None:
    _rename(world, world.file, Path(world.folder, "new"), 4)


def files_moved_here(world: World) -> None:
    os.rename(world.folder, Path(world.scratch, "stolen"))


def files_folder_replaced(world: World) -> None:
    os.unlink(world.file)
    os.rename(make_folder(world, "own"), world.folder)


def files_upper_folder_renamed(world: World) -> None:
    os.rename(world.outside, f"{world.outside}-renamed")


def files_allocated(world: World) -> None:
    opened = os.open(world.file, os.O_RDONLY)
    call(libc.fallocate, opened, 3, as_long(0), as_long(4))


def files_copied_over(world: World) -> None:
    Path(world.scratch, "own").write_text("changed")
    source = os.open(Path(world.scratch, "own"), os.O_RDONLY)
    os.copy_file_range(source, os.open(world.file, os.O_RDONLY), 7)


def files_by_mapping(world: World) -> None:
    opened = os.open(world.file, os.O_RDONLY)
    with mmap.mmap(opened, 4, mmap.MAP_SHARED, mmap.PROT_READ):
        with open("/proc/self/maps") as maps:
            start = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(world.file))
        call(libc.mprotect, ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), 3)
        ctypes.memmove(start, b"chan", 4)
        call(libc.msync, ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), 4)


def files_by_own_memory(world: World) -> None:
    """Write into a mapping that can only be read, past its rights, as a debugger does."""
    opened = os.open(world.file, os.O_RDONLY)
    with mmap.mmap(opened, 4, mmap.MAP_PRIVATE, mmap.PROT_READ):
        with open("/proc/self/maps") as maps:
            start = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(world.file))
        memory = os.open("/proc/self/mem", os.O_RDWR)
        os.pwrite(memory, b"chan", start)


def files_by_pipe_pages(world: World) -> None:
    """Put a page of the file into a pipe, and write into the pipe (CVE-2022-0847)."""
    reading, writing = os.pipe()
    os.write(writing, bytes(65536))
    os.read(reading, 65536)
    os.splice(os.open(world.file, os.O_RDONLY), writing, 1, offset_src=0)
    os.write(writing, b"chan")


def files_spliced(world: World) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"changed")
    os.splice(reading, os.open(world.file, os.O_RDONLY), 7)


def files_cloned(world: World) -> None:
    Path(world.scratch, "own").write_text("changed")
    fcntl.ioctl(os.open(world.file, os.O_RDONLY), 0x40049409, os.open(Path(world.scratch, "own"), os.O_RDONLY))


def files_by_asynchronous_write(world: World) -> None:
    context = ctypes.c_ulong(0)
    system_call(206, 0, 4, ctypes.byref(context))
    text = ctypes.create_string_buffer(b"changed")
    order = struct.pack(
        "=QIIHhIQQqQII", 0, 0, 0, 1, 0, os.open(world.file, os.O_RDONLY), ctypes.addressof(text), 7, 0, 0, 0, 0
    )
    buffer = ctypes.create_string_buffer(order)
    pointer = ctypes.c_void_p(ctypes.addressof(buffer))
    system_call(209, 2, context, 1, ctypes.byref(pointer))


def files_by_swapped_folder(world: World) -> None:
    """Write by a folder that is now our own, and then a link to one outside."""
    own, link = make_folder(world, "own"), Path(world.scratch, "link")
    (own / "file").write_text("")

    def turn(target: object) -> None:
        os.symlink(str(target), f"{link}-new")
        os.replace(f"{link}-new", link)

    with call_in_turn(lambda: turn(own), lambda: turn(world.folder)):
        for _ in range(FILE_ROUNDS):
            with suppress(OSError):
                os.close(os.open(link / "file", os.O_WRONLY | os.O_TRUNC))
            with suppress(OSError):
                os.rename(own / "file", link / "new")
            (own / "file").write_text("")


def files_by_own_overlay(world: World) -> None:
    become_own_root(NEW_MOUNTS)
    lower, work, target = (make_folder(world, name) for name in ("lower", "work", "target"))
    for place in (work, Path(world.folder)):
        with suppress(OSError):
            mount(
                "overlay", target, "overlay", 0, f"lowerdir={lower},upperdir={world.folder},workdir={place},userxattr"
            )
            (target / "new").write_text("new")


def files_by_new_mount(world: World) -> None:
    """Copy the mount of the folder by the new interface, and make the copy writable."""
    become_own_root(NEW_MOUNTS)
    for flags in (1, 0x8001):
        with suppress(OSError):
            tree = system_call(428, 428, AT_FDCWD, os.fsencode(world.folder), flags)
            attributes = struct.pack("=QQQQ", 0, 1, 0, 0)
            with suppress(OSError):
                system_call(442, 442, tree, b"", AT_EMPTY_PATH, attributes, 32)
            os.write(os.open("file", os.O_WRONLY, dir_fd=tree), b"changed")


def files_for_swap(world: World) -> str:
    call(libc.swapon, os.fsencode(world.file), 0)
    return str(world.secret)


def files_for_accounts(world: World) -> None:
    call(libc.acct, os.fsencode(world.file))


def files_lease(world: World) -> str:
    """Let others wait when they open the file for writing."""
    fcntl.fcntl(os.open(world.file, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
    return str(world.secret)


def files_hint(world: World) -> None:
    opened = os.open(world.file, os.O_RDONLY)
    fcntl.fcntl(opened, 1036, struct.pack("=Q", 3))


# -- modes, owners, times, attributes
def modes_by_empty_path(world: World) -> None:
    system_call(452, 452, open_path(world.file), b"", 0o666, AT_EMPTY_PATH)


def modes_times_without_path(world: World) -> None:
    times = struct.pack("=4q", 1, 0, 1, 0)
    system_call(280, 88, os.open(world.file, os.O_RDONLY), None, times, 0)


def modes_times_by_empty_path(world: World) -> None:
    system_call(280, 88, open_path(world.file), b"", struct.pack("=4q", 1, 0, 1, 0), AT_EMPTY_PATH)


def modes_times_of_link(world: World) -> None:
    os.utime(Path(world.folder, "link"), (1, 1), follow_symlinks=False)


def modes_times_touched(world: World) -> None:
    os.utime(world.file)


def modes_owner_by_empty_path(world: World) -> None:
    system_call(260, 54, open_path(world.file), b"", os.getuid(), os.getgid(), AT_EMPTY_PATH)


def modes_owner_of_inner_link(world: World) -> None:
    os.lchown(Path(world.folder, "link"), os.getuid(), os.getgid())


def modes_list_of_users(world: World) -> None:
    """Let everybody read and write the file, by an access control list."""
    entries = [(1, 6, 0xFFFFFFFF), (2, 6, 65533), (4, 6, 0xFFFFFFFF), (0x10, 6, 0xFFFFFFFF), (0x20, 6, 0xFFFFFFFF)]
    text = struct.pack("=I", 2) + b"".join(struct.pack("=HHI", *entry) for entry in entries)
    os.setxattr(world.file, "system.posix_acl_access", text)


def modes_rights_of_program(world: World) -> None:
    os.setxattr(world.file, "security.capability", struct.pack("=IIIII", 0x02000001, 1, 0, 0, 0))


def modes_attribute_removed(world: World) -> None:
    os.removexattr(world.file, "user.kept")


def modes_attribute_by_new_call(world: World) -> None:
    value = ctypes.create_string_buffer(b"changed")
    order = struct.pack("=QII", ctypes.addressof(value), 7, 0)
    system_call(463, 463, AT_FDCWD, os.fsencode(world.file), 0, b"user.probe", order, 16)


def modes_flags_by_new_call(world: World) -> None:
    system_call(469, 469, AT_FDCWD, os.fsencode(world.file), struct.pack("=QIIIII", 0x40, 0, 0, 0, 0, 0), 24, 0)


def modes_by_other_requests(world: World) -> None:
    """Change the version, the encryption and the check sums of a file, by a descriptor for reading."""
    opened = os.open(world.file, os.O_RDONLY)
    folder = os.open(world.folder, os.O_RDONLY)
    for request in (0x40087602, 0x40086604, 0x6609, 0x660C, 0x800C6613, 0x40806685, 0x4004F50D, 0x40105820):
        for descriptor in (opened, folder):
            with suppress(OSError):
                fcntl.ioctl(descriptor, request, bytes(128))


def modes_by_names_of_process(world: World) -> None:
    """Name the file by the folder of this process, which is another one for whoever looks."""
    opened = open_path(world.file)
    os.chdir(world.folder)
    os.symlink("/proc/self/cwd/file", Path(world.scratch, "self"))
    os.symlink(f"/proc/thread-self/fd/{opened}", Path(world.scratch, "thread"))
    names = ("//proc/self/cwd/file", "/proc/./self/cwd/file", f"/proc/self/./fd/{opened}", f"/dev/fd/{opened}")
    for name in (
        *names,
        Path(world.scratch, "self"),
        Path(world.scratch, "thread"),
        "file",
        "../" + world.name + "/file",
    ):
        with suppress(OSError):
            os.chmod(name, 0o666)


def modes_with_swapped_path(world: World) -> None:
    """Write another path into memory while the kernel reads it."""
    own = Path(world.scratch, "own")
    own.write_text("")
    paths = [os.fsencode(str(path)).ljust(200, b"\0") for path in (own, world.file)]
    buffer = ctypes.create_string_buffer(paths[0], 200)
    with call_in_turn(lambda: ctypes.memmove(buffer, paths[0], 200), lambda: ctypes.memmove(buffer, paths[1], 200)):
        for _ in range(FILE_ROUNDS):
            libc.chmod(buffer, 0o666)


def modes_with_swapped_folder(world: World) -> None:
    """Go to another folder while the mode of a file with a relative path is changed."""
    own = make_folder(world, "own")
    (own / "file").write_text("")
    with call_in_turn(lambda: os.chdir(own), lambda: os.chdir(world.folder)):
        for _ in range(FILE_ROUNDS):
            libc.chmod(b"file", 0o666)


def modes_with_swapped_descriptor(world: World) -> None:
    own = Path(world.scratch, "own")
    own.write_text("")
    used, mine, theirs = open_path(own), open_path(own), open_path(world.file)
    with call_in_turn(lambda: os.dup2(mine, used), lambda: os.dup2(theirs, used)):
        for _ in range(FILE_ROUNDS):
            libc.syscall(as_long(452), used, b"", 0o666, AT_EMPTY_PATH)


def modes_in_other_root(world: World) -> None:
    """Make the folder outside the root folder, below which a folder of our own seems to be."""
    become_own_root(NEW_MOUNTS)
    os.chroot(world.folder)
    os.chmod("/file", 0o666)


def modes_by_moved_file(world: World) -> None:
    """Move a file of our own away while its mode is changed, and put a link in its place."""
    own = Path(world.scratch, "own")

    def take() -> None:
        own.write_text("")

    def link() -> None:
        os.symlink(world.file, f"{own}-new")
        os.replace(f"{own}-new", own)
        own.unlink()

    with call_in_turn(take, link):
        for _ in range(FILE_ROUNDS):
            libc.chmod(os.fsencode(str(own)), 0o666)


# -- private files
def private_files_of_programs(world: World) -> str:
    """Read what other programs keep in the home: keys of clouds, tokens, browsers, histories, letters."""
    found = ""
    for path in world.secrets:
        with suppress(OSError):
            found += f"{path}: {Path(path).read_text()}\n"
    return found


def private_target_of_link(world: World) -> str:
    return Path(world.target).read_text()


def private_attribute(world: World) -> str:
    return os.getxattr(world.private["key"], "user.note").decode()


def private_attribute_of_folder(world: World) -> str:
    return os.getxattr(Path(world.private["key"]).parent, "user.note").decode()


def private_by_new_open(world: World) -> str:
    how = struct.pack("=QQQ", os.O_RDONLY, 0, 0x10)
    opened = system_call(437, 437, os.open("/", os.O_PATH), os.fsencode(world.private["token"]), how, 24)
    return os.read(opened, 100).decode()


def private_by_new_mount(world: World) -> str:
    """Copy the mounts above a private file by the new interface, without those on it."""
    become_own_root(NEW_MOUNTS)
    for folder in Path(world.private["token"]).parents:
        for flags in (1, 0x8001):
            with suppress(OSError):
                tree = system_call(428, 428, AT_FDCWD, os.fsencode(str(folder)), flags)
                name = str(Path(world.private["token"]).relative_to(folder))
                return os.read(os.open(name, os.O_RDONLY, dir_fd=tree), 100).decode()
    return ""


def private_by_moved_mount(world: World) -> str:
    """Move a mount that covers a private file away."""
    become_own_root(NEW_MOUNTS)
    target = make_folder(world, "moved")
    for folder in Path(world.private["token"]).parents:
        with suppress(OSError):
            mount(folder, target, "", 8192)
            with suppress(OSError):
                return Path(world.private["token"]).read_text()
    return ""


def private_by_own_overlay(world: World) -> str:
    """Look below an overlay by one of our own over the same folder."""
    become_own_root(NEW_MOUNTS)
    target, empty = make_folder(world, "target"), make_folder(world, "empty")
    folder = Path(world.private["key"]).parents[1]
    mount("overlay", target, "overlay", 0, f"lowerdir={folder}:{empty},userxattr")
    return (target / ".ssh" / "id_ed25519").read_text()


def private_by_descriptors_of_all(world: World) -> str:
    found = ""
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if stat.S_ISREG(path.stat().st_mode) and path.stat().st_size < 1000:
                found += path.read_text()
    return found


def private_by_maps_of_all(world: World) -> str:
    found = ""
    for path in Path("/proc").glob("[0-9]*/map_files/*"):
        with suppress(OSError):
            if path.stat().st_size < 1000:
                found += path.read_text()
    return found


def private_in_new_proc(world: World) -> str:
    become_own_root(NEW_MOUNTS | NEW_PROCESSES)
    target, found = make_folder(world, "proc"), ""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        with suppress(OSError):
            mount("proc", target, "proc")
            for path in target.glob("[0-9]*/environ"):
                with suppress(OSError):
                    os.write(writing, path.read_bytes()[:2000])
            with suppress(OSError):
                os.close(os.open(target / "sys/kernel/core_pattern", os.O_WRONLY))
                os.write(writing, world.secret.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as stream:
        found = stream.read().decode(errors="replace")
    os.waitpid(child, 0)
    return found


def private_memory_of_kernel(world: World) -> str:
    for path in ("/proc/kcore", "/proc/kmsg", "/dev/kmem", "/dev/mem", "/dev/port"):
        with suppress(OSError):
            os.close(os.open(path, os.O_RDONLY))
            return world.secret + path
    return ""


def private_namespaces(world: World) -> str:
    for kind in ("user", "mnt", "pid", "net", "ipc"):
        with suppress(OSError):
            call(libc.setns, os.open(f"/proc/{world.victim}/ns/{kind}", os.O_RDONLY), 0)
            return str(world.secret)
    call(libc.setns, os.pidfd_open(world.victim), NEW_MOUNTS)
    return Path(world.private["token"]).read_text()


def private_terminal(world: World) -> str:
    """Open the terminal of the user that started all this."""
    os.close(os.open("/dev/tty", os.O_RDWR))
    return str(world.secret)
