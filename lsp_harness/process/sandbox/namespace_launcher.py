"""A program that gives itself a private view of the machine, and then starts another program in it.

    python namespace_launcher.py '{"folder": …, "overlays": […], …}' COMMAND…

The view is made of Linux namespaces for users, mounts, processes, the network and semaphores. Every file is where it is
outside, but can only be read. In the folders `overlays` the program can also write: an overlay of the kernel takes each
write into a scratch layer in memory, which is gone at the end. The file descriptors 0 to 2 are those of the caller.

The fields of the request:

- `folder`: the folder in which the program starts;
- `overlays`: folders whose changes go to a scratch layer;
- `writable`: folders in which the program really writes;
- `texts`: path → the file with the content that the program sees there. It can be changed in `overlays` only;
- `absent`: private files and folders that are not there for the program;
- `hidden`, `visible`: folders that are empty for the program, and what stays visible in them;
- `layer`: a folder outside of all views for the scratch layer, if memory cannot hold one;
- `layer_bytes`: the most bytes of the scratch layer;
- `makes_views`: whether the program makes views with these overlays itself, and reads everything before.

Programs of a project use it too, by importing it in a process that stays (`pytest_worker.py`). So it imports few
modules of the standard library, which makes it start fast, and runs in Python 3.8 and later.
"""

import ctypes
import errno
import json
import os
import signal
import stat
import sys

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    *(1, 2, 4, 8, 32, 4096, 16384),
    1 << 18,
)
MNT_DETACH = 2
MOUNT_SETATTR = 442
"""Number of the system call, the same on all processors."""
AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = -100, 0x8000, 1
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 4, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION = 0x20080522
KEPT_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 31)
"""Capabilities of a program of root: about owners of files and processes. None of them reaches outside of the view."""
MOST_CAPABILITIES = 64
AF_INET, SOCK_DGRAM, SIOCSIFFLAGS, INTERFACE_IS_UP = 2, 2, 0x8914, 0x41
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
PROTECTED_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs")
"""Parts of /proc by which root changes the machine itself."""
KEPT_IN_RUN = ("current-system", "booted-system", "opengl-driver", "wrappers")
"""Links in /run to the programs of NixOS."""
EXIT_UNAVAILABLE = 126
SOCKET_PATH_COLUMN = 7

libc = ctypes.CDLL(None, use_errno=True)


class MountAttributes(ctypes.Structure):
    """The attributes that a system call sets and clears (`struct mount_attr`)."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user_namespace", ctypes.c_uint64),
    )


class CapabilityHeader(ctypes.Structure):
    """The process whose capabilities are set (`struct __user_cap_header_struct`)."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class CapabilityData(ctypes.Structure):
    """One half of the capabilities of a process (`struct __user_cap_data_struct`)."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def run_in_view(request, start, prepare=None, collect=None):
    """Run a function in a new view of the machine, and return its exit status. The view ends with the function.

    This process must have one thread. It changes its own namespaces, so it is of no other use afterwards.

    Args:
        request: The view (see the description of this module).
        start: Runs in the view, and returns an exit status. It may become another program.
        prepare: Runs in the view before `start`, with the rights of this program.
        collect: Runs in the view after the end of `start`, with the rights of this program.

    Returns:
        The exit status, or minus the number of the signal that ended the process.

    Raises:
        OSError: The view cannot be made.
    """
    sockets = list_sockets()
    enter_namespaces()
    failing, failed = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(failing)
        _lead_view(request, sockets, start, prepare, collect, failed)
    os.close(failed)
    with open(failing, "rb") as stream:
        problem = stream.read().decode("utf-8", "replace")
    _, status = os.waitpid(first, 0)
    if problem:
        raise OSError(errno.EPERM, problem)
    return wait_status(status)


def _lead_view(request, sockets, start, prepare, collect, failed):
    """Be the first process of the view: make it, start the function in a child, and adopt orphans until its end."""
    code = EXIT_UNAVAILABLE
    try:
        libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        try:
            make_view(request, sockets)
            if prepare:
                prepare()
            child = os.fork()
        except Exception as error:
            os.write(failed, describe(error).encode())
            os._exit(EXIT_UNAVAILABLE)
        if child == 0:
            os.close(failed)
            _start_child(start, can_make_views=bool(request.get("makes_views")))
        os.close(failed)
        # what runs in the view has the same user, and must not read or stop this process
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        code = _reap_until(child)
        if collect:
            collect()
    finally:
        # the first process of a view cannot be ended by a signal of its own
        os._exit(code if code >= 0 else 128 - code)


def _start_child(start, can_make_views):
    code = EXIT_UNAVAILABLE
    try:
        if os.geteuid() == 0 and not can_make_views:
            # the kernel mounts no new /proc where parts of the old one are covered
            protect_proc()
        drop_rights()
        code = start()
    except OSError as error:
        sys.stderr.write(f"{describe(error)}\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


def _reap_until(child):
    while True:
        pid, status = os.wait()
        if pid == child:
            return wait_status(status)


def wait_status(status):
    """Return an exit status, or minus the number of a signal (`os.waitstatus_to_exitcode` needs Python 3.9)."""
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def describe(error):
    """Return an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"


def enter_namespaces():
    """Move this process into new namespaces. Its next child is the first process in that of processes.

    Raises:
        OSError: The kernel, or its settings, do not allow namespaces of users.
    """
    uid, gid, pid = os.geteuid(), os.getegid(), os.getpid()
    if uid == 0:
        # files of other users stay theirs, as outside
        ranges = {kind: _read_ranges(kind) for kind in ("uid", "gid")}
        asking, asked = os.pipe()
        helper = os.fork()
        if helper == 0:
            # only a process outside of the new namespace may map more than one user
            os.close(asked)
            os.read(asking, 1)
            try:
                for kind, text in ranges.items():
                    _write(f"/proc/{pid}/{kind}_map", text)
            except OSError:
                os._exit(1)
            os._exit(0)
        os.close(asking)
        _check(libc.unshare(NAMESPACES), "new namespaces cannot be made")
        os.close(asked)
        if os.waitpid(helper, 0)[1]:
            raise OSError(errno.EPERM, "the users of a new namespace cannot be set")
        return
    _check(libc.unshare(NAMESPACES), "new namespaces cannot be made")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1\n")
    _write("/proc/self/gid_map", f"{gid} {gid} 1\n")


def _read_ranges(kind):
    with open(f"/proc/self/{kind}_map") as file:
        rows = [line.split() for line in file]
    return "".join(f"{inside} {inside} {count}\n" for inside, _, count in rows)


def list_sockets():
    """Return the paths of the Unix sockets of other programs, which would answer from a view, too."""
    try:
        with open("/proc/net/unix", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split(" ", SOCKET_PATH_COLUMN) for line in file]
    except OSError:
        return []
    return sorted({row[-1].strip() for row in rows if len(row) > SOCKET_PATH_COLUMN and "/" in row[-1]})


def make_view(request, sockets):
    """Mount the view in the namespaces of this process.

    Raises:
        OSError: A part of the view cannot be mounted.
    """
    overlays = drop_nested(os.path.realpath(path) for path in request.get("overlays", ()) if os.path.isdir(path))
    private = drop_nested(path for path in request.get("absent", ()) if os.path.lexists(path))
    opened = {path: open_folder(path) for path in (*overlays, *request.get("writable", ()))}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in DEVICES if os.path.exists(f"/dev/{name}")}
    visible = (*request.get("visible", ()), request["folder"])
    kept = {path: os.open(path, os.O_PATH) for path in visible if os.path.exists(path)}
    mount("none", "/", "", MS_PRIVATE | MS_REC)
    set_read_only("/", recursive=True)
    # the folder for the layers is covered by none of the other mounts, because it is opened first
    mounted = [] if request.get("makes_views") else overlays
    layers = prepare_layers(request) if mounted else None
    for folder in request.get("hidden", ()):
        hide_folder(folder, kept)
    cover_run()
    mount_proc()
    make_devices(devices)
    for path in mounted:
        mount_overlay(path, opened[path], layers, private)
    # a folder with mounts that this process does not own cannot be covered by an overlay
    remove_private(private, overlays)
    cover_sockets(sockets, overlays)
    for path in request.get("writable", ()):
        bind(opened[path], path)
        set_read_only(path, is_set=False)
    for path, source in request.get("texts", {}).items():
        if any(is_below(path, folder) for folder in overlays):
            with open(source, "rb") as file:
                write_text(path, file.read())
        else:
            mount(source, path, "", MS_BIND)
            set_read_only(path)
    # the overlays keep the layers, and nobody can reach them by a path
    if layers:
        layers.close()
    # they lead to files that the program must not reach
    for descriptor in {*opened.values(), *devices.values(), *kept.values()}:
        os.close(descriptor)
    start_loopback()


class Layers:
    """The folder of the scratch layers, reached by a descriptor, because a mount may cover its path."""

    def __init__(self, path, is_memory=False):
        self._descriptor, self._is_memory = open_folder(path), is_memory
        self._count = 0

    def create(self):
        """Return the paths of a new layer and of its work folder."""
        self._count += 1
        upper, work = (f"/proc/self/fd/{self._descriptor}/{kind}{self._count}" for kind in ("upper", "work"))
        os.mkdir(upper)
        os.mkdir(work)
        return upper, work

    def close(self):
        """Hide the folder, which the overlays keep. One on the disk stays reachable where no overlay covers it."""
        if self._is_memory:
            libc.umount2(f"/proc/self/fd/{self._descriptor}".encode(), MNT_DETACH)
        os.close(self._descriptor)


def prepare_layers(request):
    """Return the folder for scratch layers, in memory, or on the disk if the kernel needs that."""
    path = request["layer"]
    size = int(request.get("layer_bytes") or 0)
    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=0700,size={size}" if size else "mode=0700")
    try:
        # an overlay notes in such an attribute that a folder was made again; old kernels have none in memory
        os.setxattr(path, "user.overlay.test", b"")
    except OSError:
        libc.umount2(os.fsencode(path), MNT_DETACH)
        bind_writable(path)
        return Layers(path)
    return Layers(path, is_memory=True)


def mount_overlay(path, lower, layers, private):
    """Mount an overlay over a folder, in whose layer private files are marked as removed."""
    upper, work = layers.create()
    copy_owner(f"/proc/self/fd/{lower}", upper)
    for removed in private:
        if is_below(removed, path):
            mark_removed(removed, path, upper)
    options = f"userxattr,lowerdir=/proc/self/fd/{lower},upperdir={upper},workdir={work}"
    try:
        mount("overlay", path, "overlay", MS_NOSUID | MS_NODEV, options)
    except OSError as error:
        reason = "other file systems are mounted in it" if error.errno == errno.EINVAL else error.strerror
        raise OSError(error.errno, f"no overlay can be mounted over {path} ({reason})") from None


def mark_removed(path, folder, upper):
    """Mark a file or folder as removed in the layer of an overlay, without reading it."""
    target = os.path.join(upper, os.path.relpath(path, folder))
    parent, source = os.path.dirname(target), os.path.dirname(path)
    missing = []
    while not os.path.isdir(parent):
        missing.append((parent, source))
        parent, source = os.path.dirname(parent), os.path.dirname(source)
    for made, origin in reversed(missing):
        os.mkdir(made)
        copy_owner(origin, made)
    os.mknod(target, stat.S_IFCHR, os.makedev(0, 0))


def remove_private(paths, overlays):
    """Cover private files and folders that lie in no overlay."""
    for path in paths:
        if not any(is_below(path, folder) for folder in overlays):
            cover(path)


def cover_sockets(paths, overlays):
    """Cover the sockets of other programs. In an overlay they do not answer anyway."""
    for path in paths:
        if not any(is_below(path, folder) for folder in overlays) and os.path.exists(path):
            cover(path)


def cover(path):
    """Make a file or a folder empty."""
    if os.path.isdir(path):
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=4k,mode=0555")
    else:
        mount("/dev/null", path, "", MS_BIND)


def hide_folder(folder, kept):
    """Make a folder empty, but for what stays visible in it."""
    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
    for path, descriptor in kept.items():
        if is_below(path, folder):
            bind(descriptor, path)
            set_read_only(path, recursive=True)
    set_read_only(folder)


def cover_run():
    """Make /run empty, where programs keep their sockets, but for links to programs."""
    links = {name: os.readlink(f"/run/{name}") for name in KEPT_IN_RUN if os.path.islink(f"/run/{name}")}
    if os.path.isdir("/run"):
        mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
        for name, target in links.items():
            os.symlink(target, f"/run/{name}")


def mount_proc():
    """Mount the processes of the view on /proc."""
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def protect_proc():
    """Keep root from changing the machine itself by /proc."""
    for name in PROTECTED_PROC:
        path = f"/proc/{name}"
        if os.path.exists(path):
            mount(path, path, "", MS_BIND | MS_REC)
            set_read_only(path, recursive=True)


def make_devices(devices):
    """Make a /dev with harmless devices, terminals and a folder for shared memory."""
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=0755,size=1m")
    for name, descriptor in devices.items():
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY))
        mount(f"/proc/self/fd/{descriptor}", f"/dev/{name}", "", MS_BIND)
    for name in ("pts", "shm"):
        os.mkdir(f"/dev/{name}")
    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links.update({name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))})
    for name, target in links.items():
        os.symlink(target, f"/dev/{name}")


def write_text(path, data):
    """Write a text over a file in an overlay, and forget what Python compiled from the old one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    if path.endswith(".py"):
        folder, name = os.path.split(path)
        cache = os.path.join(folder, "__pycache__")
        names = os.listdir(cache) if os.path.isdir(cache) else ()
        compiled = [os.path.join(cache, file) for file in names if file.startswith(name[:-2]) and file.endswith(".pyc")]
        for file in (*compiled, f"{path}c"):
            if os.path.exists(file):
                os.unlink(file)


def copy_owner(source, target):
    """Give a new folder the owner, the mode and the times of another one."""
    status = os.stat(source)
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.chown(target, status.st_uid, status.st_gid)
        except OSError:
            # an ordinary user cannot, and owns nearly all folders that are covered
            pass
    os.chmod(target, stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def start_loopback():
    """Let programs of the view reach each other at 127.0.0.1."""
    control = libc.socket(AF_INET, SOCK_DGRAM, 0)
    _check(control, "a socket cannot be made")
    flags = INTERFACE_IS_UP.to_bytes(2, sys.byteorder)
    _check(libc.ioctl(control, ctypes.c_ulong(SIOCSIFFLAGS), b"lo".ljust(16, b"\0") + flags + bytes(22)), "no loopback")
    os.close(control)


def drop_rights():
    """Give up the rights to change the view. Programs of root keep those about owners of files.

    Raises:
        OSError: The kernel refuses.
    """
    kept = KEPT_CAPABILITIES if os.geteuid() == 0 else ()
    for number in range(MOST_CAPABILITIES):
        if number not in kept and libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0):
            break
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    mask = sum(1 << number for number in kept)
    data = (CapabilityData * 2)(CapabilityData(mask, mask, 0), CapabilityData(mask >> 32, mask >> 32, 0))
    header = CapabilityHeader(CAPABILITY_VERSION, 0)
    _check(libc.capset(ctypes.byref(header), data), "the capabilities cannot be dropped")
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS failed")


def drop_nested(paths):
    """Return paths without those that lie in another one of them, and without the root folder."""
    found = []
    for path in sorted(set(paths)):
        if path != "/" and not any(is_below(path, folder) for folder in found):
            found.append(path)
    return found


def open_folder(path):
    """Return a descriptor of a folder, which stays the same when something is mounted over its path."""
    return os.open(path, os.O_PATH | os.O_DIRECTORY)


def bind(descriptor, path):
    """Mount an opened file or folder on a path, which is made if it is not there."""
    source = f"/proc/self/fd/{descriptor}"
    if not os.path.lexists(path):
        if os.path.isdir(source):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    mount(source, path, "", MS_BIND | MS_REC)


def bind_writable(path):
    """Mount a folder on itself, so that it can be written."""
    mount(path, path, "", MS_BIND)
    set_read_only(path, is_set=False)


def is_below(path, folder):
    """Return whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def mount(source, target, kind, flags=0, options=""):
    """Mount a file system.

    Raises:
        OSError: The kernel refuses.
    """
    result = libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _check(result, f"{kind or 'a folder'} cannot be mounted on {target}")


def set_read_only(path, is_set=True, recursive=False):
    """Let a mount be read only, or not."""
    attributes = MountAttributes(MOUNT_ATTR_RDONLY if is_set else 0, 0 if is_set else MOUNT_ATTR_RDONLY, 0, 0)
    result = libc.syscall(
        ctypes.c_long(MOUNT_SETATTR),
        AT_FDCWD,
        os.fsencode(path),
        AT_RECURSIVE if recursive else 0,
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _check(result, f"{path} cannot be made {'read-only' if is_set else 'writable'}")


def _check(result, problem):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{problem}: {os.strerror(code)}")


def _write(path, text):
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def main():
    """Make the view, and run the command in it."""
    request, command = json.loads(sys.argv[1]), sys.argv[2:]

    def start():
        os.chdir(request["folder"])
        os.execvp(command[0], command)

    try:
        code = run_in_view(request, start)
    except OSError as error:
        sys.stderr.write(f"{describe(error)}\n")
        return EXIT_UNAVAILABLE
    return code


if __name__ == "__main__":
    raise SystemExit(main())
