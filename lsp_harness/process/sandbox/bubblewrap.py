"""The sandbox of bubblewrap: namespaces of Linux for the files, the network and the processes."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

PRIVATE_FOLDERS = (Path("/tmp"), Path("/var/tmp"), Path("/run"))
"""Folders that are empty and private in the sandbox: other programs keep sockets and files of users there."""


class Bubblewrap(Sandbox):
    """Namespaces by the program `bwrap`. The program sees nothing of other processes, and there is no network.

    Args:
        program: The path of bwrap. The default is the one on PATH.
    """

    name = "bubblewrap"
    can_replace_files = True

    def __init__(self, program: str | None = None) -> None:
        self._program = program or shutil.which("bwrap") or "bwrap"

    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command that runs a command under a policy. Later mounts cover earlier ones."""
        command = [self._program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        empty = [folder for folder in (*PRIVATE_FOLDERS, *policy.hidden) if folder.is_dir()]
        for folder in empty:
            command += ["--tmpfs", str(folder)]
        for folder in (*policy.visible, policy.folder):
            if any(folder.is_relative_to(parent) for parent in empty) and folder.exists():
                command += ["--ro-bind", str(folder), str(folder)]
        for folder in policy.writable:
            command += ["--bind", str(folder), str(folder)]
        for file, content in policy.replaced.items():
            command += ["--ro-bind", str(content), str(file)]
        # no new session: the one of this program has no terminal but our own, and its low priority
        command += [*_protect(policy), "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
        return [*command, "--chdir", str(policy.folder), "--", *argv]


def _protect(policy: SandboxPolicy) -> Iterator[str]:
    """Yield options that keep the metadata of git read-only inside writable folders, because it can name programs."""
    for folder in policy.writable:
        git = folder / ".git"
        if git.exists():
            yield from ("--ro-bind", str(git), str(git))
