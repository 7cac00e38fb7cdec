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
- `makes_views`: whether the program makes views with these overlays itself, and reads everything before;
- `emptied`: folders that are empty for the program, but for `visible`. What it writes there is gone at the end;
- `opens_sockets`: whether the program may open sockets. The default is true.

Programs of a project use it too, by importing it in a process that stays (`pytest_worker.py`). So it imports few
modules of the standard library, which makes it start fast, and runs in Python 3.8 and later.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import stat
import sys

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import NoReturn, Required, TypedDict

    from lsp_harness.process.sandbox import call_filter, scratch_layers
    from lsp_harness.process.sandbox import kernel_calls as kernel

    class ViewRequest(TypedDict, total=False):
        """The fields of a request (see the description of this module)."""

        folder: Required[str]
        overlays: Sequence[str]
        writable: Sequence[str]
        texts: Mapping[str, str]
        absent: Sequence[str]
        hidden: Sequence[str]
        visible: Sequence[str]
        layer: Required[str]
        layer_bytes: int
        makes_views: bool
        emptied: Sequence[str]
        opens_sockets: bool
else:
    if __name__ == "__main__":
        # `python -I` leaves out the folder of the program
        sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    # in the Python of a project they are copied beside this file, and there is no package
    package = __package__ + "." if __package__ else ""
    call_filter = importlib.import_module(package + "call_filter")
    kernel = importlib.import_module(package + "kernel_calls")
    scratch_layers = importlib.import_module(package + "scratch_layers")

assert sys.platform == "linux"

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
OWN_PROC = ("self", "thread-self", "net", "mounts")
"""Links in /proc to the folder of the process that looks. All else that is no process is about the machine itself."""
KEPT_IN_RUN = ("current-system", "booted-system", "opengl-driver", "wrappers")
"""Links in /run to the programs of NixOS."""
ANY_WRITE = 0o222
SMALL_BYTES = 1 << 30
"""The most bytes of /run and of the shared memory. The default is the half of all memory."""
EXIT_UNAVAILABLE = 126
SOCKET_PATH_COLUMN = 7


def run_in_view(
    request: ViewRequest,
    start: Callable[[], int],
    prepare: Callable[[], None] | None = None,
    collect: Callable[[], None] | None = None,
) -> int:
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


def _lead_view(
    request: ViewRequest,
    sockets: Sequence[str],
    start: Callable[[], int],
    prepare: Callable[[], None] | None,
    collect: Callable[[], None] | None,
    failed: int,
) -> NoReturn:
    """Be the first process of the view: make it, start the function in a child, and adopt orphans until its end."""
    code = EXIT_UNAVAILABLE
    try:
        kernel.libc.prctl(kernel.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        try:
            make_view(request, sockets)
            if prepare:
                prepare()
            child = os.fork()
        except Exception as error:  # noqa: BLE001 - the caller raises it again
            os.write(failed, describe(error).encode())
            os._exit(EXIT_UNAVAILABLE)
        if child == 0:
            os.close(failed)
            _start_child(request, start)
        os.close(failed)
        # what runs in the view has the same user, and must not read or stop this process
        kernel.libc.prctl(kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
        code = _reap_until(child)
        if collect:
            collect()
    finally:
        # the first process of a view cannot be ended by a signal of its own
        os._exit(code if code >= 0 else 128 - code)


def _start_child(request: ViewRequest, start: Callable[[], int]) -> NoReturn:
    code = EXIT_UNAVAILABLE
    try:
        if os.geteuid() == 0:
            protect_proc()
        kernel.drop_rights()
        families = call_filter.LOCAL_FAMILIES if request.get("opens_sockets", True) else ()
        call_filter.set_filter(call_filter.make_filter(families))
        code = start()
    except OSError as error:
        sys.stderr.write(f"{describe(error)}\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


def _reap_until(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            return wait_status(status)


def wait_status(status: int) -> int:
    """Return an exit status, or minus the number of a signal (`os.waitstatus_to_exitcode` needs Python 3.9)."""
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def describe(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"


def enter_namespaces() -> None:
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
        kernel.check(kernel.libc.unshare(NAMESPACES), "new namespaces cannot be made")
        os.close(asked)
        if os.waitpid(helper, 0)[1]:
            raise OSError(errno.EPERM, "the user ids of a new namespace cannot be set")
        return
    kernel.check(kernel.libc.unshare(NAMESPACES), "new namespaces cannot be made")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1\n")
    _write("/proc/self/gid_map", f"{gid} {gid} 1\n")


def _read_ranges(kind: str) -> str:
    with open(f"/proc/self/{kind}_map") as file:
        rows = [line.split() for line in file]
    return "".join(f"{inside} {inside} {count}\n" for inside, _, count in rows)


def list_sockets() -> list[str]:
    """Return the paths of the Unix sockets of other programs, which would answer from a view, too."""
    try:
        with open("/proc/net/unix", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split(" ", SOCKET_PATH_COLUMN) for line in file]
    except OSError:
        return []
    return sorted({row[-1].strip() for row in rows if len(row) > SOCKET_PATH_COLUMN and "/" in row[-1]})


def make_view(request: ViewRequest, sockets: Sequence[str]) -> None:
    """Mount the view in the namespaces of this process.

    Raises:
        OSError: A part of the view cannot be mounted.
    """
    overlays = drop_nested(os.path.realpath(path) for path in request.get("overlays", ()) if os.path.isdir(path))
    private = drop_nested(path for path in request.get("absent", ()) if os.path.lexists(path))
    opened = {path: kernel.open_folder(path) for path in (*overlays, *request.get("writable", ()))}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in DEVICES if os.path.exists(f"/dev/{name}")}
    visible = (*request.get("visible", ()), request["folder"])
    kept = {path: os.open(path, os.O_PATH) for path in visible if os.path.exists(path)}
    mounts = scratch_layers.list_mounts()
    kernel.mount("none", "/", "", kernel.MS_PRIVATE | kernel.MS_REC)
    kernel.set_read_only("/", recursive=True)
    kernel.close_devices("/")
    # the folder for the layers is covered by none of the other mounts, because it is opened first
    mounted = [] if request.get("makes_views") else overlays
    layers = scratch_layers.prepare(request["layer"], int(request.get("layer_bytes") or 0)) if mounted else None
    for folder in request.get("emptied", ()):
        hide_folder(folder, kept, int(request.get("layer_bytes") or 0))
    for folder in request.get("hidden", ()):
        hide_folder(folder, kept, is_read_only=True)
    cover_run()
    mount_proc()
    if request.get("makes_views"):
        keep_hidden_proc()
    make_devices(devices)
    if layers:
        for path in mounted:
            layers.cover(path, opened[path], private, mounts)
    remove_private(private, overlays)
    cover_sockets(sockets, overlays)
    for path in request.get("writable", ()):
        kernel.bind(opened[path], path)
        kernel.set_read_only(path, is_set=False)
    for path, source in request.get("texts", {}).items():
        if any(scratch_layers.is_below(path, folder) for folder in overlays):
            with open(source, "rb") as file:
                write_text(path, file.read())
        else:
            kernel.mount(source, path, "", kernel.MS_BIND)
            kernel.set_read_only(path)
    # the overlays keep the layers, and nobody can reach them by a path
    if layers:
        layers.close()
    # they lead to files that the program must not reach
    for descriptor in {*opened.values(), *devices.values(), *kept.values()}:
        os.close(descriptor)
    kernel.start_loopback()


def remove_private(paths: Sequence[str], overlays: Sequence[str]) -> None:
    """Cover private files and folders that lie in no overlay."""
    for path in paths:
        # one in a folder that is hidden is not there any more
        if os.path.exists(path) and not any(scratch_layers.is_below(path, folder) for folder in overlays):
            cover(path)


def cover_sockets(paths: Sequence[str], overlays: Sequence[str]) -> None:
    """Cover the sockets of other programs. In an overlay they do not answer anyway."""
    for path in paths:
        if not any(scratch_layers.is_below(path, folder) for folder in overlays) and os.path.exists(path):
            try:
                cover(path)
            except FileNotFoundError:
                # its program has closed it meanwhile
                continue


def cover(path: str) -> None:
    """Make a file or a folder empty."""
    if os.path.isdir(path):
        kernel.mount("tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_RDONLY, "size=4k,mode=0555")
    else:
        kernel.mount("/dev/null", path, "", kernel.MS_BIND)


def hide_folder(folder: str, kept: Mapping[str, int], size: int = 0, is_read_only: bool = False) -> None:
    """Make a folder empty, but for what stays visible in it. It takes at most `size` bytes, unless that is 0."""
    if not os.path.isdir(folder):
        # another mount covers it
        return
    options = f"mode=0755,size={size}" if size else "mode=0755"
    kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for path, descriptor in kept.items():
        if scratch_layers.is_below(path, folder):
            kernel.bind(descriptor, path)
            kernel.set_read_only(path, recursive=True)
    if is_read_only and folder not in kept:
        kernel.set_read_only(folder)


def cover_run() -> None:
    """Make /run empty, where programs keep their sockets, but for links to programs."""
    links = {name: os.readlink(f"/run/{name}") for name in KEPT_IN_RUN if os.path.islink(f"/run/{name}")}
    if os.path.isdir("/run"):
        kernel.mount("tmpfs", "/run", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=0755,size={SMALL_BYTES}")
        for name, target in links.items():
            os.symlink(target, f"/run/{name}")


def mount_proc() -> None:
    """Mount the processes of the view on /proc."""
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)


def keep_hidden_proc() -> None:
    """Mount the processes once more where the new /dev covers them.

    The kernel mounts a new /proc in a view within this one only if an old one has no covered parts, wherever that is.
    """
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.MS_NOSUID, "mode=0700,size=4k")
    os.mkdir("/dev/proc")
    kernel.mount("proc", "/dev/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)


def protect_proc() -> None:
    """Keep root from changing the machine itself by /proc."""
    for name in os.listdir("/proc"):
        path = f"/proc/{name}"
        if not name.isdigit() and name not in OWN_PROC and os.stat(path).st_mode & (stat.S_IFDIR | ANY_WRITE):
            kernel.mount(path, path, "", kernel.MS_BIND | kernel.MS_REC)
            kernel.set_read_only(path, recursive=True)


def make_devices(devices: Mapping[str, int]) -> None:
    """Make a /dev with harmless devices, terminals and a folder for shared memory."""
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.MS_NOSUID, "mode=0755,size=1m")
    for name, descriptor in devices.items():
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY))
        kernel.mount(f"/proc/self/fd/{descriptor}", f"/dev/{name}", "", kernel.MS_BIND)
        kernel.open_device(f"/dev/{name}")
    for name in ("pts", "shm"):
        os.mkdir(f"/dev/{name}")
    kernel.mount(
        "devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"
    )
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=1777,size={SMALL_BYTES}")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links.update({name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))})
    for name, target in links.items():
        os.symlink(target, f"/dev/{name}")


def write_text(path: str, data: bytes) -> None:
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


def drop_nested(paths: Iterable[str]) -> list[str]:
    """Return paths without those that lie in another one of them, and without the root folder."""
    found: list[str] = []
    for path in sorted(set(paths)):
        if path != "/" and not any(scratch_layers.is_below(path, folder) for folder in found):
            found.append(path)
    return found


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def main() -> int:
    """Make the view, and run the command in it."""
    request, command = json.loads(sys.argv[1]), sys.argv[2:]

    def start() -> NoReturn:
        os.chdir(request["folder"])
        os.execvp(command[0], command)

    try:
        code = run_in_view(request, start)
    except OSError as error:
        sys.stderr.write(f"{describe(error)}\n")
        return EXIT_UNAVAILABLE
    return code


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # the end of an interpreter takes as long as the start of a small program
    os._exit(status if status >= 0 else 128 - status)
