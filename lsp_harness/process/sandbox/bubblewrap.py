"""The sandbox of bubblewrap: namespaces of Linux for the files, the network and the processes."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

assert sys.platform == "linux"

from lsp_harness.process.sandbox.call_filter import LOCAL_FAMILIES, make_filter
from lsp_harness.process.sandbox.namespace_launcher import list_sockets
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import PRIVATE_FOLDERS, SandboxPolicy

PASS_FILTER = 'exec 9<"$0" && exec "$@"'
"""A script that opens the filter of system calls for bwrap, which reads it from a descriptor."""
FILTER_DESCRIPTOR = "9"


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
        empty = [folder for folder in (*PRIVATE_FOLDERS, *policy.emptied, *policy.hidden) if folder.is_dir()]
        for folder in empty:
            command += ["--tmpfs", str(folder)]
        for folder in (*policy.visible, policy.folder):
            if any(folder.is_relative_to(parent) for parent in empty) and folder.exists():
                command += ["--ro-bind", str(folder), str(folder)]
        for folder in policy.writable:
            command += ["--bind", str(folder), str(folder)]
        for file, content in policy.replaced.items():
            command += ["--ro-bind", str(content), str(file)]
        if os.geteuid() == 0:
            # root could change the machine itself there
            command += ["--remount-ro", "/proc"]
        sockets = () if policy.reaches_sockets else map(Path, list_sockets())
        for path in (*(path.resolve() for path in policy.absent), *sockets):
            if _is_seen(path, policy, empty):
                cover = ["--tmpfs", str(path), "--remount-ro"] if path.is_dir() else ["--ro-bind", "/dev/null"]
                command += [*cover, str(path)]
        # no new session: the one of this program has no terminal but our own, and its low priority
        command += [*_protect(policy), "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
        command += ["--chdir", str(policy.folder)]
        if code := make_filter(LOCAL_FAMILIES if policy.opens_sockets else ()):
            file = f"/proc/{os.getpid()}/fd/{_store_filter(code)}"
            return ["/bin/sh", "-c", PASS_FILTER, file, *command, "--seccomp", FILTER_DESCRIPTOR, "--", *argv]
        return [*command, "--", *argv]


def _is_seen(path: Path, policy: SandboxPolicy, empty: Sequence[Path]) -> bool:
    """Return whether a path is there in the sandbox, so that something can be mounted over it."""
    hiding = [len(folder.parts) for folder in empty if path.is_relative_to(folder)]
    shown = (*policy.visible, policy.folder, *policy.writable)
    showing = [len(folder.parts) for folder in shown if path.is_relative_to(folder)]
    return os.path.exists(path) and max(showing, default=0) >= max(hiding, default=0) and _is_reached(path)


def _is_reached(path: Path) -> bool:
    """Return whether this user may enter all folders above a path, as in a namespace without the rights of root.

    The sandbox cannot mount anything over another path, and the program in it cannot reach that either.
    """
    for folder in path.parents:
        state = os.stat(folder)
        if state.st_uid == os.geteuid():
            may_enter = state.st_mode & stat.S_IXUSR
        elif state.st_gid in (os.getegid(), *os.getgroups()):
            may_enter = state.st_mode & stat.S_IXGRP
        else:
            may_enter = state.st_mode & stat.S_IXOTH
        if not may_enter:
            return False
    return True


@cache
def _store_filter(code: bytes) -> int:
    """Return the descriptor of a file in memory with a filter. It lives as long as this process."""
    descriptor = os.memfd_create("call-filter")
    os.write(descriptor, code)
    return descriptor


def _protect(policy: SandboxPolicy) -> Iterator[str]:
    """Yield options that keep the metadata of git read-only inside writable folders, because it can name programs."""
    for folder in policy.writable:
        git = folder / ".git"
        if git.exists():
            yield from ("--ro-bind", str(git), str(git))
