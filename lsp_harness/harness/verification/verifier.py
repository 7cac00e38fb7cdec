"""The linter of a workspace, and the checks that every edit must pass."""

from collections.abc import Callable
from dataclasses import dataclass

from lsp_harness.config.schema import Verification
from lsp_harness.verify.check import Check, CheckContext
from lsp_harness.verify.check_registry import create_checks
from lsp_harness.verify.ruff_linter import Ruff

CheckFactory = Callable[[Verification, CheckContext], list[Check]]
"""Returns the checks that the settings enable for an edit, from cheap to expensive."""


class UntrustedRuff(Ruff):
    """The linter of a workspace that the user does not trust.

    It never runs, because its settings are the workspace's.
    """

    @property
    def missing_reason(self) -> str:
        return "this workspace is not trusted, so no linter runs on it"


@dataclass(frozen=True, slots=True)
class Verifier:
    """The linter and the checks that verify the edits of one client.

    Attributes:
        linter: The linter.
        create_checks: Creates the checks for one edit.
    """

    linter: Ruff
    create_checks: CheckFactory = create_checks

    @classmethod
    def for_workspace(cls, *, is_trusted: bool) -> "Verifier":
        """Return the verifier that the trust of the user allows."""
        return cls(Ruff() if is_trusted else UntrustedRuff())
