"""The other places of a file: a folder that is mounted twice can be reached by two paths."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

if sys.platform == "linux":
    from lsp_harness.process.sandbox.scratch_layers import ESCAPES
else:
    # other systems have no table of mounts
    ESCAPES: tuple[tuple[bytes, bytes], ...] = ()

MOUNTS = Path("/proc/self/mountinfo")
DEVICE_COLUMN, ROOT_COLUMN, PLACE_COLUMN = 2, 3, 4


@dataclass(frozen=True, slots=True)
class Mount:
    """A file system, or a part of one, at a place.

    Attributes:
        device: The number of the file system.
        root: The folder of the file system that is mounted.
        place: The folder at which it is mounted.
    """

    device: str
    root: PurePosixPath
    place: PurePosixPath


def find_other_places(paths: Iterable[Path], table: bytes | None = None) -> list[Path]:
    """Return the other paths by which files and folders, or parts of them, can be reached.

    Examples are mounts by `mount --bind`, subvolumes, and the whole disk below `/mnt/wslg/distro` of WSL.

    Args:
        paths: Absolute paths without links.
        table: The table of mounts. The default is that of this process.
    """
    mounts = read_mounts(_read_table() if table is None else table)
    twice = {mount.device for mount in mounts if sum(other.device == mount.device for other in mounts) > 1}
    if not twice:
        return []
    found: dict[Path, None] = {}
    known = set(paths)
    for path in known:
        own = _find_mount(path, mounts)
        if own is None or own.device not in twice:
            continue
        inner = own.root / path.relative_to(own.place)
        for other in mounts:
            if other.device != own.device or other is own:
                continue
            if inner.is_relative_to(other.root):
                found[Path(other.place, inner.relative_to(other.root))] = None
            elif other.root.is_relative_to(inner):
                found[Path(other.place)] = None
    # where another mount covers a place, there is hardly anything of this name
    return sorted(place for place in found if place not in known and os.path.lexists(place))


def read_mounts(table: bytes) -> list[Mount]:
    """Return the mounts of a table in the form of /proc/self/mountinfo, the latest last."""
    found: list[Mount] = []
    for line in table.splitlines():
        fields = line.split()
        root, place = (_decode(fields[column]) for column in (ROOT_COLUMN, PLACE_COLUMN))
        found.append(Mount(fields[DEVICE_COLUMN].decode(), PurePosixPath(root), PurePosixPath(place)))
    return found


def _decode(field: bytes) -> str:
    for escaped, character in ESCAPES:
        field = field.replace(escaped, character)
    return field.decode("utf-8", "surrogateescape")


def _find_mount(path: Path, mounts: Sequence[Mount]) -> Mount | None:
    """Return the mount in which a path lies: the innermost one, and of those at one place the latest."""
    holding = [mount for mount in mounts if path.is_relative_to(mount.place)]
    return max(reversed(holding), key=lambda mount: len(mount.place.parts), default=None)


def _read_table() -> bytes:
    try:
        return MOUNTS.read_bytes()
    except OSError:
        return b""
