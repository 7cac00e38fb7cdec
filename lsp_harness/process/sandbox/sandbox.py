"""The interface of a sandbox, and the choice of the best one that works on this machine."""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

PROBE_TIMEOUT_S = 10.0


class Sandbox(ABC):
    """A way to confine a program.

    Attributes:
        name: The name in `doctor`, in events and in the settings.
        can_replace_files: Whether a program can see another content of a file than the disk has.
        has_overlays: Whether a program can write into a folder while nothing of the folder changes outside.
        has_network: Whether a program can reach the network.
    """

    name: ClassVar[str]
    can_replace_files: ClassVar[bool] = False
    has_overlays: ClassVar[bool] = False
    has_network: ClassVar[bool] = False

    @abstractmethod
    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command that runs a command under a policy.

        Raises:
            ValueError: The policy replaces files, and this sandbox cannot do that.
        """

    def list_gaps(self) -> list[str]:
        """Return what a program can still do here to others, in words, beside what `docs/sandbox.md` says."""
        return []

    def find_problem(self) -> str:
        """Return why this sandbox does not work here, or an empty text. It runs a program to find out."""
        try:
            command = self.wrap(["/bin/sh", "-c", "exit 0"], SandboxPolicy(Path("/")))
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if result.returncode == 0:
            return ""
        lines = result.stderr.strip().splitlines()
        return lines[-1] if lines else f"the exit status is {result.returncode}"


@dataclass(frozen=True, slots=True)
class Confinement:
    """A sandbox without network for programs that write to scratch folders only.

    Nothing that a model or a settings file writes can become one. `SandboxChoice.confine` returns it for a sandbox that
    was seen to work.

    Attributes:
        sandbox: The sandbox.
        folder: The project on which the programs run.
        program: The program that runs code or tools of the project. Empty for one of ours that only reads its files.
    """

    sandbox: Sandbox
    folder: Path
    program: str = ""

    def __post_init__(self) -> None:
        if self.sandbox.has_network:
            raise ValueError(f"the sandbox {self.sandbox.name} does not close the network")


class NoSandbox(Sandbox):
    """The choice of no sandbox, only limits of resources. Only for trusted projects whose user has agreed."""

    name = "none"
    has_network = True

    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command itself."""
        if policy.replaced:
            raise ValueError("without a sandbox, files cannot be replaced; copy the folder and write them there")
        return list(argv)

    def find_problem(self) -> str:
        """Return an empty text: running without a sandbox always works."""
        return ""
