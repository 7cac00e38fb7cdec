"""Tests of a small project that run in the sandbox of this machine."""

from pathlib import Path

import pytest

from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.verify.project_tests.comparison import ProjectAccess, SuiteComparison


def require_sandbox() -> None:
    """Skip a test if no sandbox works on this machine."""
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")


def create_suites(test_file: str, objection: str = "") -> SuiteComparison:
    """Return the tests of a project in which every file has the same test file. Close it.

    Args:
        test_file: The test file.
        objection: Why no command may run, or an empty text.
    """

    async def find_affected(root: Path, path: str) -> list[AffectedTest]:
        return [AffectedTest(test_file, f"imports {path}", 1)]

    async def find_objection(command: object, confinement: object, facts: object) -> str:
        return objection

    return SuiteComparison(ProjectAccess(find_affected, find_objection, machine_sandbox))
