"""The limits of a program that runs in a sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

GIBIBYTE = 1 << 30
PRIVATE_FOLDERS = (Path("/tmp"), Path("/var/tmp"), Path("/run"))
"""Folders where other programs keep sockets and files of users. Sandboxes without overlays hide them."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The resources that a program with all its descendants may use.

    Attributes:
        wall_s: Time until all of them are killed.
        memory_bytes: Private memory of each process. Reserved addresses do not count, because node reserves many.
        file_bytes: Size of each file that it writes.
        output_bytes: Standard output and standard error together. The rest is dropped, and the program is killed.
        processes: Number of processes at the same time.
        layer_bytes: Size of all changes in `SandboxPolicy.overlays` together. They are kept in memory.
    """

    wall_s: float = 60.0
    memory_bytes: int = 4 * GIBIBYTE
    file_bytes: int = GIBIBYTE // 4
    output_bytes: int = 4 << 20
    processes: int = 64
    layer_bytes: int = 4 * GIBIBYTE


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """The files and resources that a program may use. Everything else of the disk can only be read.

    Attributes:
        folder: The folder in which the program starts.
        writable: Folders in which it may write.
        replaced: File → the file whose content the program sees there. Needs a sandbox with `can_replace_files`.
        hidden: Folders whose content it cannot read, such as the home of the user. What `folder`, `writable` and
            `visible` name within them stays visible.
        visible: Folders within `hidden` that the program needs, such as the environment of its interpreter.
        limits: The limits of time, memory and processes.
        overlays: Folders in which the program may write, while every change is gone after the run. Needs a sandbox with
            `has_overlays`.
        absent: Private files and folders that are not there for the program, or are empty, or cannot be read.
        layer: An empty folder for these changes, if there are `overlays`. It is on a disk.
        makes_views: Whether the program itself makes views with these overlays, one after another. It can only read.
        emptied: Folders that are empty for the program, such as that for temporary files. What `folder`, `writable` and
            `visible` name within them stays visible. If the sandbox can do that, the program may write there, and that
            is gone after the run.
        opens_sockets: Whether the program may open sockets within the sandbox. Where a sandbox has no network of its
            own, such as Landlock, it may not in any case.
        reaches_sockets: Whether sockets of other programs answer where they can be seen, such as ours for the reports
            of an agent. Only bubblewrap can do that.
    """

    folder: Path
    writable: tuple[Path, ...] = ()
    replaced: Mapping[Path, Path] = field(default_factory=dict[Path, Path])
    hidden: tuple[Path, ...] = ()
    visible: tuple[Path, ...] = ()
    limits: ResourceLimits = ResourceLimits()
    overlays: tuple[Path, ...] = ()
    absent: tuple[Path, ...] = ()
    layer: Path | None = None
    makes_views: bool = False
    emptied: tuple[Path, ...] = ()
    opens_sockets: bool = True
    reaches_sockets: bool = False
