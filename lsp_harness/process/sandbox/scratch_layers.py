"""Scratch layers over folders: a program reads what is there, and its changes are gone with the view.

It belongs to `namespace_launcher.py`, beside which it lies, and runs in Python 3.8 and later like that.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import stat
import sys

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsp_harness.process.sandbox import kernel_calls as kernel
else:
    kernel = importlib.import_module((__package__ + "." if __package__ else "") + "kernel_calls")

MAX_COPIED_BYTES = 8 << 20
"""Size of the largest file that is copied where a folder has no overlay of its own. Larger ones can only be read."""
MAX_ENTRIES = 2_000
"""Most entries of such a folder. Each needs a mount of its own."""
MOUNT_PATH_COLUMN = 4
ESCAPES = ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\"))
"""How characters of a path are written in /proc/self/mountinfo."""

assert sys.platform == "linux"


class Layers:
    """The folder of the scratch layers, reached by a descriptor, because a mount may cover its path.

    Args:
        path: The path of the folder.
        size: The most bytes of a layer in memory, or 0.
        is_memory: Whether the folder itself is in memory.
    """

    def __init__(self, path: str, size: int, is_memory: bool = False) -> None:
        self._descriptor, self._size, self._is_memory = kernel.open_folder(path), size, is_memory
        self._count = 0

    def cover(self, path: str, lower: int, private: Sequence[str], mounts: Sequence[str]) -> None:
        """Mount a layer over a folder.

        The kernel allows no overlay over a folder in which other file systems are mounted, such as the `node_modules`
        of a container or a program in `/tmp` that is its own image. Each entry of such a folder has a layer of its own.

        Args:
            path: The path of the folder.
            lower: A descriptor of it.
            private: Files and folders that are not there for the program.
            mounts: The places of all file systems.

        Raises:
            OSError: No layer can be mounted.
        """
        if not any(place != path and is_below(place, path) for place in mounts):
            self._mount_overlay(path, lower, private)
            return
        source = f"/proc/self/fd/{lower}"
        names = os.listdir(source)
        if len(names) > MAX_ENTRIES:
            reason = f"other file systems are mounted in it, and it has {len(names)} entries"
            raise OSError(errno.E2BIG, f"no overlay can be mounted over {path} ({reason})")
        mount_memory(path, self._size)
        for name in names:
            target = os.path.join(path, name)
            if target not in private:
                self._cover_entry(os.path.join(source, name), target, private, mounts)
        copy_owner(source, path)

    def close(self) -> None:
        """Hide the folder, which the overlays keep. One on the disk stays reachable where no overlay covers it."""
        if self._is_memory:
            kernel.unmount(f"/proc/self/fd/{self._descriptor}")
        os.close(self._descriptor)

    def _cover_entry(self, source: str, target: str, private: Sequence[str], mounts: Sequence[str]) -> None:
        """Make one entry of a folder in memory: a copy of a file or a link, or a folder with a layer."""
        try:
            status = os.lstat(source)
        except OSError:
            # a file system of another user answers no question, but it has a place
            os.mkdir(target)
            return
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), target)
            return
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            return
        opened = os.open(source, os.O_PATH | os.O_NOFOLLOW)
        try:
            if stat.S_ISDIR(status.st_mode):
                self._cover_inner_folder(target, opened, private, mounts)
            else:
                _copy_file(source, opened, target, status)
        finally:
            os.close(opened)

    def _cover_inner_folder(self, target: str, opened: int, private: Sequence[str], mounts: Sequence[str]) -> None:
        os.mkdir(target)
        copy_owner(f"/proc/self/fd/{opened}", target)
        try:
            self.cover(target, opened, private, mounts)
        except OSError:
            # a file system that cannot lie below an overlay stays away, because its sockets would answer
            if target not in mounts:
                raise

    def _mount_overlay(self, path: str, lower: int, private: Sequence[str]) -> None:
        """Mount an overlay over a folder, in whose layer private files are marked as removed."""
        self._count += 1
        upper, work = (f"/proc/self/fd/{self._descriptor}/{kind}{self._count}" for kind in ("upper", "work"))
        os.mkdir(upper)
        os.mkdir(work)
        copy_owner(f"/proc/self/fd/{lower}", upper)
        for removed in private:
            if is_below(removed, path) and removed != path:
                _mark_removed(removed, path, upper)
        options = f"userxattr,lowerdir=/proc/self/fd/{lower},upperdir={upper},workdir={work}"
        try:
            kernel.mount("overlay", path, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)
        except OSError as error:
            raise OSError(error.errno, f"no overlay can be mounted over {path} ({error.strerror})") from None


def prepare(path: str, size: int) -> Layers:
    """Return the folder for scratch layers, in memory, or on the disk if the kernel needs that.

    Args:
        path: A folder outside of the view.
        size: The most bytes of the layers, or 0.
    """
    mount_memory(path, size)
    try:
        # an overlay notes in such an attribute that a folder was made again; old kernels have none in memory
        os.setxattr(path, "user.overlay.test", b"")
    except OSError:
        kernel.unmount(path)
        kernel.bind_writable(path)
        return Layers(path, size)
    return Layers(path, size, is_memory=True)


def list_mounts() -> list[str]:
    """Return the places at which file systems are mounted."""
    with open("/proc/self/mountinfo", "rb") as file:
        fields = [line.split()[MOUNT_PATH_COLUMN] for line in file]
    for escaped, character in ESCAPES:
        fields = [field.replace(escaped, character) for field in fields]
    return sorted({os.fsdecode(field) for field in fields})


def mount_memory(path: str, size: int) -> None:
    """Mount an empty folder in memory, with a limit of bytes unless it is 0."""
    options = f"mode=0700,size={size}" if size else "mode=0700"
    kernel.mount("tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _copy_file(source: str, opened: int, target: str, status: os.stat_result) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    if status.st_size <= MAX_COPIED_BYTES:
        with contextlib.suppress(OSError):
            with open(source, "rb") as old, open(target, "wb") as new:
                new.write(old.read())
            copy_owner(source, target)
            return
    kernel.mount(f"/proc/self/fd/{opened}", target, "", kernel.MS_BIND)
    kernel.set_read_only(target)


def _mark_removed(path: str, folder: str, upper: str) -> None:
    """Mark a file or folder as removed in the layer of an overlay, without reading it."""
    target = os.path.join(upper, os.path.relpath(path, folder))
    parent, source = os.path.dirname(target), os.path.dirname(path)
    missing: list[tuple[str, str]] = []
    while not os.path.isdir(parent):
        missing.append((parent, source))
        parent, source = os.path.dirname(parent), os.path.dirname(source)
    for made, origin in reversed(missing):
        os.mkdir(made)
        copy_owner(origin, made)
    os.mknod(target, stat.S_IFCHR, os.makedev(0, 0))


def copy_owner(source: str, target: str) -> None:
    """Give a new folder the owner, the mode and the times of another one."""
    status = os.stat(source)
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        # an ordinary user cannot, and owns nearly all folders that are covered
        with contextlib.suppress(OSError):
            os.chown(target, status.st_uid, status.st_gid)
    os.chmod(target, stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
