"""The checks of a workspace, and the programs that they use."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config.schema import Verification
from lsp_harness.harness.verification.check_permission import CheckPermission
from lsp_harness.harness.verification.gated_ruff import GatedRuff
from lsp_harness.index.query.affected_tests import AffectedTest
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.session.permission.action import SUITE_TOOL, Action
from lsp_harness.verify.check import Check, CheckContext, CheckTools
from lsp_harness.verify.check_registry import create_checks
from lsp_harness.verify.project_tests.comparison import ProjectAccess, SuiteComparison
from lsp_harness.verify.ruff_linter import Ruff

CheckFactory = Callable[[Verification, CheckContext], list[Check]]
"""Returns the checks that the settings enable for an edit, from cheap to expensive."""
FindAffected = Callable[[Path, str], Awaitable[Sequence[AffectedTest]]]
"""Returns the test files that a change of a file can break. It gets the folder and the path in it."""


class UntrustedRuff(Ruff):
    """The linter of a workspace that the user does not trust.

    It never runs, because its settings are the workspace's.
    """

    @property
    def missing_reason(self) -> str:
        return "this workspace is not trusted, so no linter runs on it"


@dataclass(frozen=True, slots=True)
class Verifier:
    """The checks that verify the edits of one client.

    Attributes:
        tools: The programs that the checks use.
        create_checks: Creates the checks for one edit.
    """

    tools: CheckTools
    create_checks: CheckFactory = create_checks

    @property
    def linter(self) -> Ruff:
        """The linter."""
        return self.tools.ruff

    async def aclose(self) -> None:
        """End the programs that still run."""
        if self.tools.suites:
            await self.tools.suites.aclose()


def create_verifier(permission: CheckPermission, find_affected: FindAffected, *, is_trusted: bool) -> Verifier:
    """Return the checks that the trust of the user allows. No program runs on a workspace that is not trusted.

    Args:
        permission: Asks the permission gate before a program runs.
        find_affected: Finds the tests for a changed file.
        is_trusted: Whether the user trusts the workspace.
    """
    if not is_trusted:
        return Verifier(CheckTools(UntrustedRuff()))

    async def find_objection(command: Sequence[str]) -> str:
        return await permission.find_problem(Action(SUITE_TOOL, "execute", argv=tuple(command)), "the tests")

    access = ProjectAccess(find_affected, find_objection, machine_sandbox)
    return Verifier(CheckTools(GatedRuff(Ruff(), permission), SuiteComparison(access)))
