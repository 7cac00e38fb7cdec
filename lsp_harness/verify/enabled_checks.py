"""The checks that every edit must pass."""

from lsp_harness.config.schema import Verification
from lsp_harness.verify.check_runner import Check
from lsp_harness.verify.lint_check import LintCheck
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.syntax_check import SyntaxCheck


def create_checks(settings: Verification, ruff: Ruff) -> list[Check]:
    """Return the checks that the settings enable, from cheap to expensive."""
    checks: list[Check] = []
    if settings.parse_check:
        checks.append(SyntaxCheck())
    if settings.lint:
        checks.append(LintCheck(ruff))
    return checks
