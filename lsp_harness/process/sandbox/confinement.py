"""The assurance that a program can harm neither the user nor anybody else."""

from dataclasses import dataclass
from pathlib import Path

from lsp_harness.process.sandbox.sandbox import Sandbox


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
