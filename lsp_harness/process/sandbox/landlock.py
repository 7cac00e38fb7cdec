"""The sandbox of Landlock: rules of the Linux kernel that a process sets for itself and its descendants.

A filter of system calls (seccomp) refuses the sockets about which Landlock has no rules.
"""

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

assert sys.platform == "linux"

from lsp_harness.process.sandbox import call_filter, landlock_launcher
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import PRIVATE_FOLDERS, SandboxPolicy

DEVICES = Path("/dev")
"""The folder of the devices. Some harmless ones can be used; the others are disks and terminals of the user."""

GAPS_BEFORE = {
    3: "files outside can be emptied, because Linux is older than 6.2",
    6: "other processes get signals, because Linux is older than 6.12",
}
"""Version of the interface → what older ones leave open."""
MAX_ARGUMENT_CHARS = 100_000
"""Most characters of one argument. They are ASCII, and Linux allows 131,072 bytes."""


class Landlock(Sandbox):
    """Rules about files, and a filter of system calls. It needs no other program, and does not hide other processes."""

    name = "landlock"
    has_network = platform.machine() not in call_filter.PROCESSORS

    def list_gaps(self) -> list[str]:
        """Return what the rules of this kernel do not cover."""
        version = landlock_launcher.find_version()
        gaps = ["the names of other processes can be seen"]
        gaps += [gap for newer, gap in GAPS_BEFORE.items() if version < newer]
        if self.has_network:
            gaps.append("UDP and sockets of services are open on this processor")
        return gaps

    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command that runs a command under a policy."""
        if policy.replaced:
            raise ValueError("Landlock cannot replace files; copy the folder and write them there")
        launcher = str(landlock_launcher.__file__)
        text = json.dumps(_describe_rules(policy))
        parts = [text[start : start + MAX_ARGUMENT_CHARS] for start in range(0, len(text), MAX_ARGUMENT_CHARS)]
        return [sys.executable, "-I", "-S", launcher, str(len(parts)), *parts, *argv]


@dataclass(frozen=True, slots=True)
class ReadableTree:
    """The part of the disk that can be read. Rules only allow, so neighbours of a hidden path are listed one by one.

    Attributes:
        marks: Path → whether it is visible, with all that lies in it and has no mark.
        shown: Folders whose names can be listed although a part of them is hidden.
    """

    marks: Mapping[Path, bool]
    shown: Sequence[Path]

    def find_rules(self) -> tuple[list[Path], list[Path]]:
        """Return the paths that can be read, and the folders of which only the names can be read."""
        readable: list[Path] = []
        listed: list[Path] = []
        self._add(Path("/"), True, list(self.marks), readable, listed)
        return readable, listed

    def _add(
        self, folder: Path, is_visible: bool, marked: Sequence[Path], readable: list[Path], listed: list[Path]
    ) -> None:
        inner = [path for path in marked if path != folder and path.is_relative_to(folder)]
        if not is_visible:
            visible = [path for path in inner if self.marks[path]]
            for path in visible:
                if not any(path.is_relative_to(other) and path != other for other in visible):
                    self._add(path, True, inner, readable, listed)
        elif all(self.marks[path] for path in inner):
            readable.append(folder)
        else:
            if any(folder.is_relative_to(path) for path in self.shown):
                listed.append(folder)
            for entry in _list_entries(folder):
                # the target of a link is listed where it is, unless it is hidden
                if not entry.is_symlink():
                    self._add(entry, self.marks.get(entry, True), inner, readable, listed)


def _list_entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        # a program cannot list it, either
        return []


def _describe_rules(policy: SandboxPolicy) -> "landlock_launcher.LandlockRules":
    """Return a policy as the rules of `landlock_launcher`."""
    visible = [path.resolve() for path in (*policy.visible, policy.folder)]
    hidden = (*PRIVATE_FOLDERS, DEVICES, *policy.emptied, *policy.hidden)
    # a folder that is both hidden and visible is visible, and private files never are
    marks = {folder.resolve(): False for folder in hidden}
    marks.update(dict.fromkeys(visible, True))
    marks.update(dict.fromkeys((path.resolve() for path in policy.absent), False))
    readable, listed = ReadableTree(marks, visible).find_rules()
    return {
        "folder": str(policy.folder),
        "writable": [str(folder) for folder in policy.writable],
        "readable": [str(path) for path in readable],
        "listed": [str(folder) for folder in listed],
    }
