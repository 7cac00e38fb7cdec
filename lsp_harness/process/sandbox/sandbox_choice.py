"""The choice of a sandbox by what works on this machine."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.ownership import is_root
from lsp_harness.process.sandbox.sandbox import Confinement, NoSandbox, Sandbox

if sys.platform == "linux":
    from lsp_harness.process.sandbox.bubblewrap import Bubblewrap
    from lsp_harness.process.sandbox.landlock import Landlock
    from lsp_harness.process.sandbox.private_view import PrivateView

    SANDBOXES: tuple[type[Sandbox], ...] = (PrivateView, Bubblewrap, Landlock)
else:
    SANDBOXES: tuple[type[Sandbox], ...] = ()
"""The sandboxes, the best first: where tests run in the folder of the project itself, then where it is hidden best."""


@dataclass(frozen=True, slots=True)
class SandboxChoice:
    """The sandbox of this machine.

    Attributes:
        sandbox: The strongest one that works, or `NoSandbox`.
        problems: Name of each stronger one → why it does not work.
    """

    sandbox: Sandbox
    problems: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_confined(self) -> bool:
        """Return whether a program can be kept from changing other files."""
        return not isinstance(self.sandbox, NoSandbox)

    def confine(self, folder: Path, program: str = "") -> Confinement | None:
        """Return the assurance about programs that run on a folder, or None if they could reach the network.

        Args:
            folder: The folder of the project.
            program: The program that runs code or tools of the project.
        """
        return None if self.sandbox.has_network else Confinement(self.sandbox, folder, program)

    @property
    def warning(self) -> str:
        """Return what a user should know before programs run in this sandbox, or an empty text."""
        gaps = self.sandbox.list_gaps()
        if not gaps or not is_root():
            return ""
        return (
            f"programs of a project run as root, and only {self.sandbox.name} confines them ({'; '.join(gaps)}); run "
            "lsp-harness as an ordinary user, or allow namespaces of users"
        )

    @property
    def problem_text(self) -> str:
        """Return why the stronger sandboxes do not work, in words."""
        return "; ".join(f"{name}: {problem}" for name, problem in self.problems.items())


def choose_sandbox(candidates: Sequence[type[Sandbox]] = SANDBOXES) -> SandboxChoice:
    """Return the first sandbox that works here. It runs a program for each one it tries."""
    problems: dict[str, str] = {}
    if not candidates:
        problems["a sandbox"] = "lsp-harness has none for this system, only for Linux"
    for sandbox_class in candidates:
        sandbox = sandbox_class()
        problem = sandbox.find_problem()
        if not problem:
            return SandboxChoice(sandbox, problems)
        problems[sandbox.name] = problem
    return SandboxChoice(NoSandbox(), problems)


def find_sandbox(name: str) -> Sandbox | None:
    """Return a sandbox by its name, or None if this system cannot have it. It may not work here."""
    return next((sandbox_class() for sandbox_class in SANDBOXES if sandbox_class.name == name), None)


@cache
def machine_sandbox() -> SandboxChoice:
    """Return the sandbox of this machine. The first call takes some milliseconds, and may warn."""
    choice = choose_sandbox()
    if warning := choice.warning:
        warn_once(warning)
    return choice
