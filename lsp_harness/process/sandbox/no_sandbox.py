"""No sandbox: a program runs with all rights of the user."""

from collections.abc import Sequence

from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy


class NoSandbox(Sandbox):
    """Nothing but the limits of resources. Only for trusted projects whose user has agreed."""

    name = "none"
    has_network = True

    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command itself."""
        if policy.replaced:
            raise ValueError("without a sandbox, files cannot be replaced; copy the folder and write them there")
        return list(argv)

    def find_problem(self) -> str:
        """Return nothing: it always works."""
        return ""
