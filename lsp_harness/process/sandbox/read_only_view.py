"""The workspace as a command sees it that may only read.

It is the wall behind the mode `plan`: whatever a command tries, nothing outside of it changes, and it cannot read the
secrets of the user. Where the sandbox can do that, the folders for temporary files are empty, and what the command
writes there is gone at its end. Elsewhere a write fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy

TEMPORARY_FOLDERS = (Path("/tmp"), Path("/var/tmp"))
MAX_ABSENT = 600
"""Most private paths that a sandbox gets. Each needs a mount and a part of the command line of the sandbox."""
MAX_TEMPORARY_BYTES = 1 << 30
"""Size of all temporary files, which are kept in memory."""


@dataclass(frozen=True, slots=True)
class ReadOnlyView:
    """Folders that a command can read and not change, without private files, network, sockets and other processes.

    Attributes:
        sandbox: A sandbox that works here, and not `NoSandbox`.
        roots: The workspace folders.
        absent: Private files and folders, within the workspace folders, too.
        hidden: Folders that cannot be seen, such as the home of the user.
        visible: Folders within them that the command needs, such as programs.
    """

    sandbox: Sandbox
    roots: tuple[Path, ...]
    absent: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    visible: tuple[Path, ...] = ()

    def wrap(self, argv: Sequence[str], cwd: Path) -> list[str]:
        """Return the command that runs a command in the view. It can be started like any other program.

        Args:
            argv: The command.
            cwd: The folder in which it starts. It must be in a workspace folder.

        Raises:
            ValueError: The sandbox does not close the network, or the folder is not in the workspace.
        """
        if self.sandbox.has_network:
            raise ValueError(f"the sandbox {self.sandbox.name} does not confine a command")
        folder, roots = cwd.resolve(), tuple(root.resolve() for root in self.roots)
        if not any(folder.is_relative_to(root) for root in roots):
            raise ValueError(f"{cwd} is outside of the workspace folders")
        policy = SandboxPolicy(
            folder,
            hidden=tuple(path.resolve() for path in self.hidden if path.is_dir()),
            visible=(*roots, *(path.resolve() for path in self.visible if path.exists())),
            absent=_shorten(self.absent, roots),
            emptied=tuple(path for path in TEMPORARY_FOLDERS if path.is_dir()),
            opens_sockets=False,
        )
        return self.sandbox.wrap(argv, replace(policy, limits=ResourceLimits(layer_bytes=MAX_TEMPORARY_BYTES)))


def _shorten(paths: Sequence[Path], roots: Sequence[Path]) -> tuple[Path, ...]:
    """Return private paths, or, if they are very many, folders that hold them.

    Raises:
        ValueError: They are too many in too many folders.
    """
    found = tuple(dict.fromkeys(path for path in paths if path.exists()))
    while len(found) > MAX_ABSENT:
        # a workspace folder itself stays visible
        shorter = tuple(dict.fromkeys(path if path.parent in roots else path.parent for path in found))
        if len(shorter) == len(found):
            raise ValueError(f"the workspace has more than {MAX_ABSENT} files for secrets")
        found = shorter
    return found
