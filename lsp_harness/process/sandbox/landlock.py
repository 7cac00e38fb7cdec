"""The sandbox of Landlock: rules of the Linux kernel that a process sets for itself and its descendants.

A filter of system calls (seccomp) refuses the sockets about which Landlock has no rules.
"""

import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from lsp_harness.process.sandbox import landlock_launcher
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

MAX_ARGUMENT_CHARS = 100_000
"""Most characters of one argument. They are ASCII, and Linux allows 131,072 bytes."""


class Landlock(Sandbox):
    """Rules about files, and a filter of sockets. It needs no other program, but it does not hide other processes."""

    name = "landlock"
    has_network = platform.machine() not in landlock_launcher.SOCKET_CALLS

    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command that runs a command under a policy."""
        if policy.replaced:
            raise ValueError("Landlock cannot replace files; copy the folder and write them there")
        rules = {
            "folder": str(policy.folder),
            "writable": [str(folder) for folder in policy.writable],
            "readable": [str(folder) for folder in _readable(policy)],
        }
        launcher = str(landlock_launcher.__file__)
        text = json.dumps(rules)
        parts = [text[start : start + MAX_ARGUMENT_CHARS] for start in range(0, len(text), MAX_ARGUMENT_CHARS)]
        return [sys.executable, "-I", "-S", launcher, str(len(parts)), *parts, *argv]


def _readable(policy: SandboxPolicy) -> list[Path]:
    """Return the folders that can be read: rules only allow, so the parents of hidden folders are listed one by one."""
    hidden = [folder.resolve() for folder in policy.hidden]
    if not hidden:
        return [Path("/")]
    return [*_siblings_of(Path("/"), hidden), *policy.visible, policy.folder]


def _siblings_of(folder: Path, hidden: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for entry in sorted(folder.iterdir()):
        # the target of a link is listed where it is, unless it is hidden
        if entry in hidden or entry.is_symlink():
            continue
        if any(path.is_relative_to(entry) for path in hidden):
            found += _siblings_of(entry, hidden)
        else:
            found.append(entry)
    return found
